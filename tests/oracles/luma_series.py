"""The luma of a clip frame by frame, in float64 numpy, written to be read beside its definition.

The second opinion on the light pass of the signal family, and what tests of the temporal facts
feed them with.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LumaColumns:
    """One entry per frame; luma in [0, 1], NaN where there is no frame before."""

    index: Any
    time_s: Any
    luma_mean: Any
    luma_std: Any
    motion: Any
    acceleration: Any
    cells: Any


def luma(frame):
    """Y of a uint8 (H, W, 3) or (H, W) frame, in [0, 1]."""
    if frame.ndim == 2:
        return frame.astype(np.float64) / 255
    return frame.astype(np.float64) @ [0.299, 0.587, 0.114] / 255


def cell_means(y):
    """Mean luma of the 4x4 parts between rows and columns floor(i H / 4), floor(i W / 4)."""
    rows, columns = (np.arange(5) * n // 4 for n in y.shape)
    sums = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            part = y[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
            sums[i, j] = part.mean() if part.size else y.mean()
    return sums


def luma_series(frames, frame_rate=24.0, times_s=None):
    """The columns of uint8 frames, shown at a steady rate, at given times, or without time
    (``frame_rate=None``)."""
    ys = [luma(frame) for frame in frames]
    nan, count = float("nan"), len(ys)
    if times_s is None and frame_rate is not None:
        times_s = np.arange(count) / frame_rate
    first = [np.abs(b - a).mean() for a, b in itertools.pairwise(ys)]
    second = [np.abs(c - 2 * b + a).mean() for a, b, c in zip(ys, ys[1:], ys[2:], strict=False)]
    return LumaColumns(
        index=np.arange(count, dtype=np.int64),
        time_s=None if times_s is None else np.asarray(times_s, np.float64),
        luma_mean=np.array([y.mean() for y in ys]),
        luma_std=np.array([y.std() for y in ys]),
        motion=np.array([nan, *first][:count]),
        acceleration=np.array([nan, nan, *second][:count]),
        cells=np.array([cell_means(y) for y in ys]).reshape(count, 4, 4),
    )

"""Changes of a scene that are no defects: cuts and fades, from the series of a clip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from screentest.verdicts.swings import LEVELS, Swing
from screentest.verdicts.timeline import runs_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from screentest.metrics.temporal import TemporalSeries
    from screentest.verdicts.temporal_policy import TemporalLimits

__all__ = ["Change", "cuts", "fades"]

NEAR = 4
"""Frames on either side of a cut that it is compared with."""

OF_A_SWING = 0.5
"""Share of a frame's change that the height of a swing must hold to account for it."""

LARGEST_STEP = 0.5
"""A fade takes more than two steps: none may be more than this share of it."""


class Change(NamedTuple):
    """``frames`` is an inclusive pair of display indices; a cut's is the first frame after it.
    ``says`` goes before the place: ``cut at``, ``fade to dark over``.
    """

    code: str
    frames: tuple[int, int]
    value: float
    says: str


def cuts(
    series: TemporalSeries, limits: TemporalLimits, swings: Iterable[Swing]
) -> Iterator[Change]:
    """Frames that differ from the one before far more than any of their neighbours do.

    A flash and the return from it change as much: frames are left out whose change a swing of
    brightness accounts for.
    """
    heights = {
        at: abs(swing.height) for swing in swings for at in range(swing.first, swing.last + 2)
    }
    motion = LEVELS * np.asarray(series.motion, dtype=np.float64)
    known = np.nan_to_num(motion)
    least = limits.cut_levels.value
    for at in np.flatnonzero(known >= least).tolist():
        around = np.concatenate((known[max(0, at - NEAR) : at], known[at + 1 : at + 1 + NEAR]))
        if heights.get(at, 0.0) >= OF_A_SWING * known[at] or not len(around):
            continue
        if known[at] >= limits.cut_ratio.value * around.max():
            frame = int(series.index[at])
            yield Change("cut", (frame, frame), float(known[at]), "cut at")


def fades(series: TemporalSeries, limits: TemporalLimits) -> Iterator[Change]:
    """Stretches over which brightness goes one way and the picture's contrast goes with it.

    Contrast is what tells a fade from a pan towards something bright.
    """
    index = np.asarray(series.index, dtype=np.int64)
    mean = LEVELS * np.asarray(series.luma_mean, dtype=np.float64)
    spread = np.asarray(series.luma_std, dtype=np.float64)
    if len(mean) < 2:
        return
    steps = np.diff(mean, prepend=mean[0])
    for sign in (1.0, -1.0):
        for first, last in runs_of(sign * steps > 0.0, index):
            start = first - 1
            moved = abs(float(mean[last] - mean[start]))
            enough = moved >= limits.fade_levels.value
            if not enough or last - start < limits.fade_frames.value:
                continue
            ends = sorted((float(spread[start]), float(spread[last])))
            largest = float(np.abs(steps[first : last + 1]).max())
            if ends[0] > limits.fade_contrast.value * ends[1] or largest > LARGEST_STEP * moved:
                continue
            frames = (int(index[start]), int(index[last]))
            yield Change("fade", frames, moved, f"fade {_where_to(mean, spread, start, last)} over")


def _where_to(
    mean: npt.NDArray[np.float64],
    spread: npt.NDArray[np.float64],
    start: int,
    last: int,
) -> str:
    """``to black``, ``from white``: the end with less contrast names it."""
    end, word = (last, "to") if spread[last] < spread[start] else (start, "from")
    other = start if end == last else last
    return f"{word} {'dark' if mean[end] < mean[other] else 'bright'}"

"""Changes of a scene that are no defects: cuts and fades, from the series of a clip."""

from __future__ import annotations

import math
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

HELD = 0.1
"""Share of a frame's change below which those around it are held. Then one looks as far as pictures
are held that judder: one that is shown five times is no scene of five frames."""

OF_A_SWING = 0.5
"""Share of a frame's change that the height of a swing must hold to account for it."""

DRIFT = 0.1
"""Share of its largest step below which brightness only drifts, before or after a fade."""

PURE = 64.0
"""Levels from black or white within which the colour lies that a fade goes to or comes from."""

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
    held = max(NEAR, math.floor(1.0 / max(limits.judder_fresh.value, 1e-6)))
    for at in np.flatnonzero(known >= least).tolist():
        around = _around(known, at, NEAR)
        if len(around) and around.max() < HELD * known[at]:
            around = _around(known, at, held)
        if heights.get(at, 0.0) >= OF_A_SWING * known[at] or not len(around):
            continue
        if known[at] >= limits.cut_ratio.value * around.max():
            frame = int(series.index[at])
            yield Change("cut", (frame, frame), float(known[at]), "cut at")


def _around(series: npt.NDArray[np.float64], at: int, reach: int) -> npt.NDArray[np.float64]:
    """The entries before and after one, up to ``reach`` of each."""
    return np.concatenate((series[max(0, at - reach) : at], series[at + 1 : at + 1 + reach]))


def fades(series: TemporalSeries, limits: TemporalLimits) -> Iterator[Change]:
    """Stretches over which brightness goes one way and the picture's contrast goes with it.

    Contrast is what tells a fade from a pan towards something bright, and the colour that both
    point at from a dissolve: where the contrast is r times what it was, the mean has gone 1 - r of
    the way to that colour.
    """
    index = np.asarray(series.index, dtype=np.int64)
    mean = LEVELS * np.asarray(series.luma_mean, dtype=np.float64)
    spread = np.asarray(series.luma_std, dtype=np.float64)
    if len(mean) < 2:
        return
    steps = np.diff(mean, prepend=mean[0])
    for sign in (1.0, -1.0):
        for first, last in runs_of(sign * steps > 0.0, index):
            size = np.abs(steps[first : last + 1])
            strong = first + np.flatnonzero(size >= DRIFT * size.max())
            start, last = int(strong[0]) - 1, int(strong[-1])
            moved = abs(float(mean[last] - mean[start]))
            enough = moved >= limits.fade_levels.value
            if not enough or last - start < limits.fade_frames.value:
                continue
            ends = sorted((float(spread[start]), float(spread[last])))
            if ends[0] > limits.fade_contrast.value * ends[1] or size.max() > LARGEST_STEP * moved:
                continue
            if not _is_pure(mean, spread, start, last):
                continue
            frames = (int(index[start]), int(index[last]))
            yield Change("fade", frames, moved, f"fade {_where_to(mean, spread, start, last)} over")


def _is_pure(
    mean: npt.NDArray[np.float64], spread: npt.NDArray[np.float64], start: int, last: int
) -> bool:
    """Whether the colour that mean and contrast point at is about black or white."""
    low, high = (start, last) if spread[start] < spread[last] else (last, start)
    if spread[low] >= spread[high]:
        return True
    left = float(spread[low] / spread[high])
    colour = (float(mean[low]) - left * float(mean[high])) / (1.0 - left)
    return not PURE < colour < LEVELS - PURE


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

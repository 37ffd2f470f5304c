"""The temporal facts of a clip, from the luma series of its frames."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.temporal.excursions import drift_of, excursions, shared
from screentest.metrics.temporal.facts import (
    IMPL,
    Cadence,
    RegionFlicker,
    TemporalFacts,
    TemporalSeries,
)
from screentest.metrics.temporal.rhythm import MIN_CYCLES, cadence_of, dominant, hertz

__all__ = ["MIN_FLICKER_FRAMES", "LumaSeries", "temporal_facts"]

MIN_FLICKER_FRAMES = 8
"""Below this the ends, whose other side is not known, outweigh what lies between."""

STILL_LEVELS = 0.05
"""A definition, not a limit: below it two frames are as good as one."""

LEVELS = 255.0

_F64 = NDArray[np.float64]


class LumaSeries(Protocol):
    """The columns that are read of the signal family's series, one entry per frame.

    Luma in [0, 1]; ``motion`` is NaN for the first frame, ``acceleration`` for the first two;
    ``cells`` is (T, 4, 4), the mean luma of the parts of the picture.
    """

    @property
    def index(self) -> NDArray[np.int64]: ...
    @property
    def time_s(self) -> _F64 | None: ...
    @property
    def luma_mean(self) -> _F64: ...
    @property
    def luma_std(self) -> _F64: ...
    @property
    def motion(self) -> _F64: ...
    @property
    def acceleration(self) -> _F64: ...
    @property
    def cells(self) -> _F64: ...


def temporal_facts(
    series: LumaSeries, clip: ClipInfo, damage: Sequence[Damage] = ()
) -> TemporalFacts:
    """What the luma of a clip does over time.

    A pure function: the same series give the same bits. What needs more frames than there are, or
    a movement that is not there, is ``None`` and named in ``unmeasured``. Where the display index
    jumps (frames lost to damage) excursions start anew, and rhythm is read from the longest run.

    Returns:
        The facts. A clip whose frames are all the same reads 0 in everything but ``still_share``
        (1) and has no cadence. A linear fade, a cut and a pan that brightens steadily have a
        ``flicker_strength`` of 0.
    """
    index = np.asarray(series.index, dtype=np.int64)
    count = len(index)
    runs = list(_runs(index))
    per_frame = _series(series, index, runs)
    gaps: list[Unmeasured] = []
    mean, moving = per_frame.luma_mean, np.isfinite(per_frame.motion)
    values: dict[str, float | None] = {}
    if count >= 2:
        values["luma_flicker"] = 100.0 * float(mean.std()) / max(float(mean.mean()), 1e-6)
    else:
        gaps += _short(("luma_flicker",), 2, count)
    if moving.any():
        steps = per_frame.motion[moving]
        values["motion_energy"] = LEVELS * float(steps.mean())
        values["still_share"] = float(np.mean(LEVELS * steps < STILL_LEVELS))
        values["motion_energy_per_s"] = _per_second(per_frame, moving)
    else:
        gaps += _short(("motion_energy", "still_share"), 2, count)
    acceleration = _without_first(series.acceleration, runs, 2)
    second = acceleration[np.isfinite(acceleration)]
    if len(second):
        values["jerk_ratio"] = float(second.mean()) / max(
            float(per_frame.motion[moving].mean()), 1e-9
        )
    else:
        gaps += _short(("jerk_ratio",), 3, count)
    longest = max(runs, key=lambda run: run[1] - run[0], default=(0, -1))
    span = slice(longest[0], longest[1] + 1)
    regions: tuple[RegionFlicker, ...] = ()
    if longest[1] - longest[0] + 1 >= MIN_FLICKER_FRAMES:
        values |= _flicker(per_frame, span)
        regions = tuple(_regions(per_frame, span))
    else:
        gaps += _short(("flicker_strength", "region_flicker"), MIN_FLICKER_FRAMES, count)
        gaps += _short(("flicker", "flash"), MIN_FLICKER_FRAMES, count)
    cadence = _cadence(per_frame, longest)
    if cadence is None:
        gaps += _no_cadence(longest, count)
    return TemporalFacts(
        impl=IMPL,
        clip=clip,
        damage=tuple(damage),
        frames_read=count,
        regions=regions,
        cadence=cadence,
        series=per_frame,
        unmeasured=tuple(gaps),
        **values,
    )


def _runs(index: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Inclusive positions of the stretches of consecutive display indices."""
    if not len(index):
        return
    cuts = np.flatnonzero(np.diff(index) != 1)
    starts = [0, *(cuts + 1).tolist()]
    ends = [*cuts.tolist(), len(index) - 1]
    yield from zip(starts, ends, strict=True)


def _series(
    given: LumaSeries, index: NDArray[np.int64], runs: Sequence[tuple[int, int]]
) -> TemporalSeries:
    count = len(index)
    mean = np.asarray(given.luma_mean, dtype=np.float64)
    cells = np.asarray(given.cells, dtype=np.float64).reshape(count, 16)
    # A picture of less than four rows or columns has parts without a pixel.
    empty = ~np.isfinite(cells).all(axis=0)
    cells = np.where(empty, 0.0, cells)
    weights = cells.mean(axis=0) if count else np.zeros(16)
    alone, common, drift = np.full(count, np.nan), np.full(count, np.nan), np.full(count, np.nan)
    parts = np.full((count, 16), np.nan)
    for first, last in runs:
        if last - first + 1 < 3:
            continue
        at = slice(first, last + 1)
        alone[at] = excursions(LEVELS * mean[at])
        for part in range(16):  # one by one: a clip of hours has large columns
            parts[at, part] = excursions(LEVELS * cells[at, part])
        common[at] = shared(parts[at], weights)
        parts[at, empty] = np.nan
        drift[at] = drift_of(LEVELS * mean[at] - alone[at])
    return TemporalSeries(
        index=index,
        time_s=None if given.time_s is None else np.asarray(given.time_s, dtype=np.float64),
        luma_mean=mean,
        luma_std=np.asarray(given.luma_std, dtype=np.float64),
        motion=_without_first(given.motion, runs, 1),
        excursion=alone,
        shared=common,
        drift=drift,
        regions=parts.reshape(count, 4, 4),
    )


def _without_first(column: _F64, runs: Sequence[tuple[int, int]], frames: int) -> _F64:
    """The column without the first frames of each run, whose earlier ones were lost."""
    kept = np.array(column, dtype=np.float64)
    for first, last in runs:
        kept[first : min(first + frames, last + 1)] = np.nan
    return kept


def _per_second(series: TemporalSeries, moving: NDArray[np.bool_]) -> float | None:
    if series.time_s is None:
        return None
    steps = np.diff(series.time_s, prepend=np.nan)[moving]
    spanned = float(steps.sum())
    if not math.isfinite(spanned) or spanned <= 0.0:
        return None
    return LEVELS * float(series.motion[moving].sum()) / spanned


def _flicker(series: TemporalSeries, span: slice) -> dict[str, float | None]:
    measured = series.shared[np.isfinite(series.shared)]
    strength = float(np.abs(measured).mean())
    luma = LEVELS * float(series.luma_mean.mean())
    stretch = series.shared[span]
    frequency, periodicity = dominant(stretch)
    times = None if series.time_s is None else series.time_s[span]
    return {
        "flicker_strength": strength,
        "flicker_gain": 100.0 * strength / luma if luma > 0.0 else 0.0,
        "flicker_frequency": frequency,
        "flicker_hz": hertz(frequency, stretch, times),
        "flicker_periodicity": periodicity,
    }


def _regions(series: TemporalSeries, span: slice) -> Iterator[RegionFlicker]:
    times = None if series.time_s is None else series.time_s[span]
    for row in range(4):
        for column in range(4):
            part = series.regions[:, row, column]
            measured, stretch = part[np.isfinite(part)], part[span]
            if not len(measured):
                continue
            frequency, periodicity = dominant(stretch)
            yield RegionFlicker(
                row=row,
                column=column,
                strength=float(np.abs(measured).mean()),
                frequency=frequency,
                frequency_hz=hertz(frequency, stretch, times),
                periodicity=periodicity,
            )


def _cadence(series: TemporalSeries, run: tuple[int, int]) -> Cadence | None:
    first, last = run
    if last - first < 2 * MIN_CYCLES:
        return None
    at = slice(first + 1, last + 1)
    speed = series.motion[at]
    if series.time_s is not None:
        # Per second: a frame that is shown for longer may move further.
        steps = np.diff(series.time_s[first : last + 1])
        if bool((steps > 0.0).all()):
            speed = speed / (steps / float(np.median(steps)))
    return cadence_of(speed, first=int(series.index[first + 1]))


def _no_cadence(run: tuple[int, int], count: int) -> Iterator[Unmeasured]:
    least = 2 * MIN_CYCLES + 1
    if run[1] - run[0] + 1 < least:
        yield from _short(("cadence_strength", "judder"), least, count)
    else:
        for axis in ("cadence_strength", "judder"):
            yield Unmeasured(axis, "nothing moves, so there is no rhythm", applies=False)


def _short(names: Sequence[str], least: int, count: int) -> Iterator[Unmeasured]:
    has = "this is one" if count == 1 else f"this has {count}"
    for name in names:
        yield Unmeasured(name, f"needs {least} frames in a row; {has}")

"""Repeated frames: which pairs repeat, which runs stand still, which are stray duplicates."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from screentest.verdicts.timeline import Timeline, runs_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from screentest.metrics.integrity import FrameSeries
    from screentest.verdicts.policy import Limits

__all__ = ["Hold", "Stillness"]

LEVELS = 255.0
"""Full scale in 8-bit levels: the series' luma lies in [0, 1]."""

STAMP_ROUNDING_S = 1e-3
"""12 frames at 24 per second must count as half a second, whatever the stamps were rounded to."""


class Hold(NamedTuple):
    """Frames ``first..last`` (positions in the series) that show one picture."""

    first: int
    last: int

    @property
    def repeats(self) -> int:
        """Frames that repeat the one before."""
        return self.last - self.first


class Stillness:
    """The repeats of a clip under a policy's limits."""

    def __init__(self, series: FrameSeries, limits: Limits, timeline: Timeline) -> None:
        self._limits = limits
        self._timeline = timeline
        self._index = np.asarray(series.index, dtype=np.int64)
        self._change = np.asarray(series.change, dtype=np.float64)
        self._rms = LEVELS * series.rms_difference
        self._means = LEVELS * np.stack(
            [
                np.asarray(column, dtype=np.float64)
                for column in (series.luma_mean, series.red, series.green, series.blue)
            ]
        )
        self.repeats = self._repeats()
        # Where only a few frames were read, the worst spot of a pair is not known. Such a pair is
        # no repeat, but one that is as alike as a repeat says nothing about noise either.
        self.indistinct = np.isnan(self._change) & (self._rms <= limits.frozen_rms.value)
        self.holds = self._holds()

    def _repeats(self) -> npt.NDArray[np.bool_]:
        """Per frame: does it repeat the one before? False where that frame was not read."""
        # `change` sees every sample but only says how much the worst spot moved; `rms` sees the
        # whole frame. A pair whose rms is not known is left to `change`.
        quiet = ~(self._rms > self._limits.frozen_rms.value)
        # Where the frame before was not read there is no change (NaN), hence no repeat.
        return (self._change <= self._limits.frozen_change.value) & quiet

    def _holds(self) -> list[Hold]:
        """Every run of repeats, ended where its mean colour has drifted from its first frame."""
        holds: list[Hold] = []
        for first_repeat, last in runs_of(self.repeats, self._index):
            first = first_repeat - 1
            while first < last:
                moved = np.abs(
                    self._means[:, first + 1 : last + 1] - self._means[:, first : first + 1]
                )
                drifted = np.flatnonzero(moved.max(axis=0) > self._limits.frozen_drift.value)
                end = first + int(drifted[0]) if len(drifted) else last
                if end > first:
                    holds.append(Hold(first, end))
                first = end + 1
        return holds

    def frames_of(self, hold: Hold) -> tuple[int, int]:
        """The display indices of a hold."""
        return int(self._index[hold.first]), int(self._index[hold.last])

    @cached_property
    def frozen(self) -> list[Hold]:
        """The holds long enough to be called frozen, rejoined across the refresh of a key frame."""
        frozen: list[Hold] = []
        for hold in self.holds:
            if not self._is_frozen(hold):
                continue
            if frozen and self._is_refresh(frozen[-1], hold):
                frozen[-1] = Hold(frozen[-1].first, hold.last)
            else:
                frozen.append(hold)
        return frozen

    def _is_frozen(self, hold: Hold) -> bool:
        limits = self._limits
        if hold.repeats < limits.frozen_min_repeats.value:
            return False
        duration = self._timeline.duration(*self.frames_of(hold))
        if duration is None:
            return hold.repeats + 1 >= limits.frozen_min_frames.value
        return duration >= limits.frozen_min_s.value - STAMP_ROUNDING_S

    def _is_refresh(self, before: Hold, after: Hold) -> bool:
        changed = after.first
        # A run that drift ended is followed by a repeat: that is a fade, not a refresh.
        return (
            changed == before.last + 1
            and bool(self._index[changed] == self._index[before.last] + 1)
            and not self.repeats[changed]
            and bool(self._rms[changed] <= self._limits.frozen_refresh_rms.value)
            and bool(self._change[changed] <= self._limits.frozen_refresh_change.value)
        )

    def duplicates(self) -> npt.NDArray[np.int64]:
        """Positions of the repeats outside the frozen stretches that are plainly copies.

        Plainly: the picture moves before and after them, and they differ far less than it moves.
        """
        moving = self._rms[~self.repeats & np.isfinite(self._rms)]
        typical = float(np.median(moving)) if len(moving) else 0.0
        least = self._limits.duplicate_ratio.value * typical
        found: list[int] = []
        for hold in self.holds:
            inside = any(f.first <= hold.first and hold.last <= f.last for f in self.frozen)
            # A hold beside a quiet pair is a picture that comes to rest, or one that a coder still
            # refines, not a frame delivered twice.
            flanks = self._rms[[p for p in (hold.first, hold.last + 1) if 0 < p < len(self._rms)]]
            if inside or bool((flanks < least).any()):
                continue
            copies = np.arange(hold.first + 1, hold.last + 1)
            found += copies[~(self._rms[copies] > least)].tolist()
        return np.asarray(found, dtype=np.int64)

"""Swings of brightness: which excursions of a series count, and which follow each other as one
flicker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from screentest.metrics.temporal.excursions import WIDTH
from screentest.verdicts.timeline import Timeline, runs_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from screentest.metrics.temporal import TemporalFacts
    from screentest.verdicts.temporal_policy import TemporalLimits

__all__ = ["LEVELS", "Swing", "Swings"]

LEVELS = 255.0
"""Full scale in 8-bit levels: luma lies in [0, 1]."""


SHADOW = 0.2
"""Of the height of the flash that casts it: more than frames drift in WIDTH frames, as a rule."""


class Swing(NamedTuple):
    """Positions ``first..last`` that stand out on one side, by ``height`` levels at most."""

    first: int
    last: int
    height: float


class Swings:
    """The swings of a clip under a policy's limits.

    Attributes:
        shared: those of most of the picture, in order.
        flickers: the chains of shared swings that are long enough to be flicker, however slow.
    """

    def __init__(self, facts: TemporalFacts, limits: TemporalLimits, timeline: Timeline) -> None:
        self._limits = limits
        self._timeline = timeline
        series = facts.series
        self._index = np.asarray(series.index, dtype=np.int64)
        self._motion = _motion_near(np.asarray(series.motion, dtype=np.float64))
        heights = np.asarray(series.shared, dtype=np.float64)
        drift = limits.excursion_drift.value * np.nan_to_num(series.drift)
        heights = np.where(np.abs(heights) >= drift, heights, 0.0)
        self.shared = _without_shadows(self.of(heights, limits.excursion_levels.value))
        least = limits.flicker_swings.value
        self.flickers = [chain for chain in self.chains(self.shared) if len(chain) >= least]

    def of(self, heights: npt.NDArray[np.float64], least: float) -> list[Swing]:
        """Runs of one sign that reach ``least`` and cannot be the motion around them."""
        size = np.abs(np.nan_to_num(heights))
        counts = size >= np.maximum(least, self._limits.excursion_motion.value * self._motion)
        return sorted(
            Swing(first, last, sign * float(size[first : last + 1].max()))
            for sign in (1.0, -1.0)
            for first, last in runs_of(counts & (sign * heights > 0.0), self._index)
        )

    def chains(self, swings: list[Swing]) -> list[list[Swing]]:
        """Swings that follow each other within ``flicker_gap`` frames."""
        chains: list[list[Swing]] = []
        for swing in swings:
            if chains and self._gap(chains[-1][-1], swing) <= self._limits.flicker_gap.value:
                chains[-1].append(swing)
            else:
                chains.append([swing])
        return chains

    def _gap(self, one: Swing, next_one: Swing) -> int:
        """Frames from the start of one to the start of the next."""
        return int(self._index[next_one.first]) - int(self._index[one.first])

    def is_quick(self, chain: list[Swing]) -> bool:
        """Whether it swings fast enough for flicker; true where time is not known."""
        first, last = int(self._index[chain[0].first]), int(self._index[chain[-1].first])
        spanned = self._timeline.duration(first, last - 1)
        if not spanned:
            return True
        return (len(chain) - 1) / spanned >= self._limits.flicker_rate.value

    def flashes(self) -> list[Swing]:
        """Swings that are part of no flicker and stand out of what moves. One alone is little
        evidence beside motion, many in a chain are more, so it must be larger."""
        limits = self._limits
        taken = {swing for chain in self.flickers for swing in chain}
        return [
            swing
            for swing in self.shared
            if swing not in taken
            and abs(swing.height)
            >= max(
                limits.flash_levels.value,
                limits.flash_motion.value * float(self._motion[swing.first : swing.last + 1].max()),
            )
        ]


def _without_shadows(swings: list[Swing]) -> list[Swing]:
    """A flash bars the view of one side to the frames next to it, so that where brightness drifts
    they seem to stand out the other way, by a little."""
    reach = 2 * WIDTH  # swings that near in the list cannot all lie within WIDTH frames
    return [
        swing
        for at, swing in enumerate(swings)
        if not any(
            abs(swing.height) < SHADOW * abs(other.height)
            and other.first - swing.last <= WIDTH
            and swing.first - other.last <= WIDTH
            for other in swings[max(0, at - reach) : at + reach + 1]
        )
    ]


def _motion_near(motion: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Per frame the smaller motion of the steps into it and out of it, in levels."""
    into = LEVELS * np.nan_to_num(motion)
    out = np.append(into[1:], 0.0)
    near: npt.NDArray[np.float64] = np.minimum(into, out)
    if len(near) > 1:
        near[0], near[-1] = out[0], into[-1]
    return near

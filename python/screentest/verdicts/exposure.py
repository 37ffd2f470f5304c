"""Jumps of brightness inside the windows that tracks are followed through.

Trackers hold a patch's brightness for constant. A gain that changes by 2 % on one frame alone moves
nothing and yet reads as warble, so whoever reads a ratio must see the jump first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from screentest.verdicts.judgement import Defect
from screentest.verdicts.temporal import judge_temporal
from screentest.verdicts.timeline import listed

if TYPE_CHECKING:
    from screentest.metrics.tracks.facts import (
        TrackFacts,
    )
    from screentest.verdicts.control import Side
    from screentest.verdicts.tracks_policy import TrackLimits

__all__ = ["Exposure", "changed_light", "exposure_of"]


class Exposure(NamedTuple):
    """``frames`` are the display indices whose brightness jumps from the frame before, ``largest``
    is the largest jump, in 8-bit levels."""

    frames: tuple[int, ...]
    largest: float


def exposure_of(facts: TrackFacts, limits: TrackLimits) -> Exposure:
    """The jumps of a clip: steps of ``exposure_levels`` or more that are ``exposure_ratio`` times
    the window's median step, so that a fade has none. A jitter has many: where most steps are
    large and they go up and down in turn, every one of them counts.
    """
    jumps: dict[int, float] = {}
    for window in facts.windows:
        steps = np.diff(np.asarray(window.brightness, dtype=np.float64))
        if not len(steps):
            continue
        size = np.abs(steps)
        usual = float(np.median(size))
        # A jitter goes back on itself; a fade of the same steps does not.
        wanders = float(size.sum()) > 2.0 * abs(float(steps.sum()))
        least = limits.exposure_levels.value
        if not wanders or usual < least:
            least = max(least, limits.exposure_ratio.value * usual)
        for at in np.flatnonzero(size >= least).tolist():
            jumps[window.start + at + 1] = float(size[at])
    return Exposure(tuple(sorted(jumps)), max(jumps.values(), default=0.0))


def changed_light(candidate: Side, control: Side, limits: TrackLimits) -> list[Defect]:
    """Changes of brightness that the candidate has and its control has not: ``flicker`` and
    ``flash`` of the temporal verdict, where its facts are at hand, and ``exposure_step``."""
    found: list[Defect] = []
    if candidate.temporal is not None:
        before = () if control.temporal is None else judge_temporal(control.temporal).defects
        known = {defect.code for defect in before}
        found += [
            defect
            for defect in judge_temporal(candidate.temporal).defects
            if defect.code in ("flicker", "flash") and defect.code not in known
        ]
    own, other = (exposure_of(side.tracks, limits) for side in (candidate, control))
    as_often = len(other.frames) >= len(own.frames) and other.largest >= 0.5 * own.largest
    if own.frames and not as_often:
        frames = (own.frames[0], own.frames[-1])
        found.append(
            Defect(
                severity="warn",
                code="exposure_step",
                value=own.largest,
                limit=limits.exposure_levels.value,
                unit="8-bit levels",
                frames=frames,
                seconds=candidate.seconds(frames),
                message=f"the candidate's brightness jumps by up to {own.largest:.1f} levels where "
                f"the control's does not ({'frame' if len(own.frames) == 1 else 'frames'} "
                f"{listed(own.frames)})",
            )
        )
    return found

"""Jumps of brightness inside the windows that tracks are followed through.

Trackers hold a patch's brightness for constant. A gain that changes by 2 % on one frame alone moves
nothing and yet reads as warble, so whoever reads a ratio must see the jump first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from screentest.verdicts.judgement import Defect, Note
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
    """By display index the jump of brightness from the frame before, in 8-bit levels, ascending."""

    jumps: dict[int, float]

    @property
    def frames(self) -> tuple[int, ...]:
        """The frames that jump."""
        return tuple(self.jumps)

    @property
    def largest(self) -> float:
        """The largest jump; 0 of none."""
        return max(self.jumps.values(), default=0.0)


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
    return Exposure(dict(sorted(jumps.items())))


def changed_light(candidate: Side, control: Side, limits: TrackLimits) -> list[Defect]:
    """Changes of brightness that the candidate has and its control has not: ``exposure_step``, and
    where its facts are at hand what the temporal verdict names: ``flicker``, ``flash``, ``cut`` and
    ``fade``.
    """
    found: list[Defect] = []
    if candidate.temporal is not None:
        before = () if control.temporal is None else judge_temporal(control.temporal).defects
        known = {defect.code for defect in before}
        found += [
            defect
            for defect in judge_temporal(candidate.temporal).defects
            if defect.code in ("flicker", "flash") and defect.code not in known
        ]
    scenes = _scenes(candidate, control)
    found += [_scene(notes) for notes in scenes.values()]
    cuts = {note.frames[0] for note in scenes.get("cut", ()) if note.frames is not None}
    own, other = (exposure_of(side.tracks, limits) for side in (candidate, control))
    own = Exposure({at: size for at, size in own.jumps.items() if at not in cuts})
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


def _scenes(candidate: Side, control: Side) -> dict[str, list[Note]]:
    """By code the cuts and fades inside the candidate's windows, where it has more of them than its
    control: what was followed ends there, though nothing bends."""
    if candidate.temporal is None:
        return {}
    theirs = () if control.temporal is None else judge_temporal(control.temporal).notes
    found: dict[str, list[Note]] = {}
    for note in judge_temporal(candidate.temporal).notes:
        if _within(candidate, note):
            found.setdefault(note.code, []).append(note)
    return {
        code: notes
        for code, notes in found.items()
        if len(notes) > sum(note.code == code for note in theirs)
    }


def _within(side: Side, note: Note) -> bool:
    """Whether a window holds a frame of the change together with the one before."""
    if note.frames is None:
        return False
    first, last = note.frames
    # A fade's first frame is the last that is whole; a cut's is the first of what follows.
    first += first < last
    return any(
        window.start < last and first < window.start + window.frames
        for window in side.tracks.windows
    )


def _scene(notes: Sequence[Note]) -> Defect:
    note = notes[0]
    more = f" and {len(notes) - 1} more" if len(notes) > 1 else ""
    return Defect(
        severity="warn",
        code=note.code,
        value=note.value,
        limit=None,
        unit=note.unit,
        frames=note.frames,
        seconds=note.seconds,
        message=f"the candidate has a {note.message}{more} where its control has none, or fewer: "
        "tracks end there",
    )

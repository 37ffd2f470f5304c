"""A candidate beside its control, before any ratio: does it stand still, has it lost its texture?

What does not move holds its shape perfectly and what has no texture has no tracks, so neither can
be told from the ratio of two stabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.judgement import Defect, Severity
from screentest.verdicts.timeline import plural

if TYPE_CHECKING:
    from screentest.metrics.integrity import IntegrityFacts
    from screentest.metrics.temporal import TemporalFacts
    from screentest.metrics.tracks.facts import (
        TrackFacts,
        TrackWindow,
    )
    from screentest.verdicts.tracks_policy import TrackLimits

__all__ = ["MIN_TRACKS", "Side", "lost_texture", "moves", "stands_still"]

MIN_TRACKS = 8
"""Corners, and tracks alive, below which a window has no shape."""


class Side(NamedTuple):
    """What is known of one of the two clips."""

    tracks: TrackFacts
    temporal: TemporalFacts | None = None
    integrity: IntegrityFacts | None = None

    @property
    def frozen(self) -> Defect | None:
        """The screen's own finding that the picture stands still, and its longest stretch."""
        if self.integrity is None:
            return None
        found = judge_integrity(self.integrity).defects
        return next((defect for defect in found if defect.code == "frozen"), None)

    @property
    def frozen_share(self) -> float:
        """Frames of that stretch over those of the clip."""
        found, integrity = self.frozen, self.integrity
        if found is None or found.frames is None or integrity is None:
            return 0.0
        return (found.frames[1] - found.frames[0] + 1) / max(1, integrity.frames)

    def seconds(self, frames: tuple[int, int] | None) -> tuple[float, float] | None:
        """The time of a stretch of frames, where the rate is constant and known."""
        clip = self.tracks.clip
        if frames is None or not clip.frame_rate or not clip.constant_frame_rate:
            return None
        start = clip.start_s or 0.0
        return (
            round(start + frames[0] / clip.frame_rate, 6),
            round(start + (frames[1] + 1) / clip.frame_rate, 6),
        )


def stands_still(candidate: Side, control: Side, limits: TrackLimits) -> Defect | None:
    """``frozen``: a candidate that stands still where its control moves.

    By its motion energy, by the integrity screen, or by its windows: in the last two a part of the
    clip counts, and rejects from ``frozen_share`` of it.
    """
    if not moves(control, limits):
        return None
    energy = None if candidate.temporal is None else candidate.temporal.motion_energy
    if energy is not None and energy < limits.frozen_levels.value:
        text = f"frames differ by {energy:.3f} levels on average"
        return _still(candidate, energy, limits.frozen_levels.value, "8-bit levels", text)
    limit = limits.frozen_share.value
    screened, share = candidate.frozen, candidate.frozen_share
    if screened is not None and share - control.frozen_share >= limit:
        return _still(candidate, share, limit, "share of frames", screened.message, screened.frames)
    windows = candidate.tracks.windows
    standing = [window for window in windows if _stands(window, limits)]
    share, kept = share_of(standing, windows), _standing_share(control, limits)
    if share <= kept:
        return None
    return _still(
        candidate,
        share,
        limit,
        "share of windows",
        f"{len(standing)} of {plural(len(windows), 'window')} show one picture",
        span_of(standing),
        "reject" if share - kept >= limit else "warn",
    )


def moves(side: Side, limits: TrackLimits) -> bool:
    """Whether something moves in most of a clip."""
    if side.frozen_share >= limits.frozen_share.value:
        return False
    if side.temporal is not None and side.temporal.motion_energy is not None:
        return side.temporal.motion_energy >= limits.frozen_levels.value
    return _standing_share(side, limits) < 1.0


def _standing_share(side: Side, limits: TrackLimits) -> float:
    windows = side.tracks.windows
    return share_of([window for window in windows if _stands(window, limits)], windows)


def _stands(window: TrackWindow, limits: TrackLimits) -> bool:
    """Whether every frame of a window is the same: nothing moves and brightness holds."""
    light = window.brightness
    if len(light) < 2 or max(light) - min(light) >= limits.frozen_levels.value:
        return False
    # Without tracks there is brightness alone, which a flat scene of one colour holds as well.
    return window.motion is not None and window.motion <= limits.frozen_px.value


def _still(
    candidate: Side,
    value: float,
    limit: float,
    unit: str,
    text: str,
    frames: tuple[int, int] | None = None,
    severity: Severity = "reject",
) -> Defect:
    return Defect(
        severity=severity,
        code="frozen",
        value=value,
        limit=limit,
        unit=unit,
        frames=frames,
        seconds=candidate.seconds(frames),
        message=f"the candidate stands still where the control moves: {text}; what does not move "
        "holds its shape perfectly, so its ratio says nothing",
    )


def lost_texture(candidate: Side, control: Side, limits: TrackLimits) -> Defect | None:
    """``texture_collapse``: windows without corners, where the control's have them."""
    windows, others = candidate.tracks.windows, control.tracks.windows
    bare = [window for window in windows if window.seeded < MIN_TRACKS]
    share = share_of(bare, windows)
    kept = share_of([window for window in others if window.seeded < MIN_TRACKS], others)
    if share <= kept:
        return None
    limit, frames = limits.collapse_share.value, span_of(bare)
    return Defect(
        severity="reject" if share - kept >= limit else "warn",
        code="texture_collapse",
        value=share,
        limit=limit,
        unit="share of windows",
        frames=frames,
        seconds=candidate.seconds(frames),
        message=f"{len(bare)} of {plural(len(windows), 'window')} of the candidate have no texture "
        f"to follow (fewer than {MIN_TRACKS} corners), where the control has it "
        f"({plural(sum(window.seeded for window in others), 'corner')})",
    )


def share_of(part: Sequence[object], whole: Sequence[object]) -> float:
    """How many of a whole, 0 of nothing."""
    return len(part) / len(whole) if whole else 0.0


def span_of(windows: Sequence[TrackWindow]) -> tuple[int, int]:
    """First and last frame of some windows; they may overlap."""
    return (windows[0].start, max(window.start + window.frames - 1 for window in windows))

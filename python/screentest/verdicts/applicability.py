"""Which axes were not calibrated for a clip's kind of picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screentest.metrics.facts import Unmeasured
from screentest.metrics.integrity import TEMPORAL_AXES

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo
    from screentest.metrics.integrity import IntegrityFacts

__all__ = ["gaps_of", "is_complete", "why_not_levels", "why_not_whole_frames"]

PROGRESSIVE = frozenset({None, "", "progressive", "unknown"})

PICTURE_AXES = ("noise", "blank", "grid", "black")


def is_complete(facts: IntegrityFacts) -> bool:
    """Whether every frame of the clip was looked at, and compared with the one before."""
    return facts.depth == "full" and facts.frames_read >= facts.frames


def gaps_of(facts: IntegrityFacts) -> dict[str, Unmeasured]:
    """Per axis the reason why it gives no verdict. What was found while measuring comes first."""
    gaps: dict[str, Unmeasured] = {}
    for gap in (*facts.unmeasured, *_uncalibrated(facts)):
        gaps.setdefault(gap.axis, gap)
    return gaps


def why_not_levels(clip: ClipInfo) -> str | None:
    """Why limits in levels of luma say nothing about a clip, or ``None`` where they do."""
    if clip.hdr is not None:
        return (
            f"the limits were calibrated on standard dynamic range; this clip is {clip.hdr.upper()}"
        )
    if clip.alpha == "transparent":
        return (
            "the picture is partly transparent, so what is seen depends on what lies behind; "
            "say alpha= to choose"
        )
    return None


def why_not_whole_frames(clip: ClipInfo) -> str | None:
    """Why two frames of a clip cannot be compared as two moments, or ``None`` where they can."""
    if "interlaced" in clip.flags or clip.field_order not in PROGRESSIVE:
        return (
            f"interlaced (field order {clip.field_order or 'unknown'}): a frame is two "
            "moments, and the limits were calibrated on whole frames"
        )
    return None


def _uncalibrated(facts: IntegrityFacts) -> Iterator[Unmeasured]:
    for axes, reason in (
        (PICTURE_AXES, why_not_levels(facts.clip)),
        (TEMPORAL_AXES, why_not_whole_frames(facts.clip)),
    ):
        if reason is not None:
            for axis in axes:
                yield Unmeasured(axis, reason)

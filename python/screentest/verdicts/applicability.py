"""Which axes a clip can carry at all, and which were not calibrated for its kind of picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screentest.metrics.facts import Unmeasured

if TYPE_CHECKING:
    from screentest.metrics.integrity import IntegrityFacts

__all__ = ["gaps_of", "is_complete"]

GRID_MIN_PX = 512
"""The populations behind the grid limit are 1.40 apart at this extent and overlap at 384 px."""

PROGRESSIVE = frozenset({None, "", "progressive", "unknown"})

PICTURE_AXES = ("noise", "blank", "grid", "black")

TEMPORAL_AXES = ("noise", "frozen", "duplicate")

UNSAMPLED_AXES = ("frozen", "duplicate", "black", "non_finite", "damaged")


def is_complete(facts: IntegrityFacts) -> bool:
    """Whether every frame of the clip was looked at, and compared with the one before."""
    return facts.depth == "full" and facts.frames_read >= facts.frames


def gaps_of(facts: IntegrityFacts) -> dict[str, Unmeasured]:
    """Per axis the reason why it gives no verdict. What was found while measuring comes first."""
    gaps: dict[str, Unmeasured] = {}
    for gap in (*facts.unmeasured, *_inapplicable(facts), *_uncalibrated(facts), *_unread(facts)):
        gaps.setdefault(gap.axis, gap)
    return gaps


def _inapplicable(facts: IntegrityFacts) -> Iterator[Unmeasured]:
    if facts.frames == 1:
        for axis in TEMPORAL_AXES:
            yield Unmeasured(axis, "needs 2 frames; this is one", applies=False)
    width, height = facts.clip.width, facts.clip.height
    if max(width, height) < GRID_MIN_PX:
        yield Unmeasured(
            "grid",
            f"needs {GRID_MIN_PX} px on one side; this is {width}x{height}",
            applies=False,
        )


def _uncalibrated(facts: IntegrityFacts) -> Iterator[Unmeasured]:
    clip = facts.clip
    if clip.hdr is not None:
        for axis in PICTURE_AXES:
            yield Unmeasured(
                axis,
                f"the limits were calibrated on standard dynamic range; this clip is "
                f"{clip.hdr.upper()}",
            )
    if clip.alpha == "transparent":
        for axis in PICTURE_AXES:
            yield Unmeasured(
                axis,
                "the picture is partly transparent, so what is seen depends on what lies behind; "
                "say alpha= to choose",
            )
    if "interlaced" in clip.flags or clip.field_order not in PROGRESSIVE:
        for axis in TEMPORAL_AXES:
            yield Unmeasured(
                axis,
                f"interlaced (field order {clip.field_order or 'unknown'}): a frame is two "
                "moments, and the limits were calibrated on whole frames",
            )


def _unread(facts: IntegrityFacts) -> Iterator[Unmeasured]:
    if not facts.frames_read:
        for axis in (*PICTURE_AXES, *TEMPORAL_AXES):
            yield Unmeasured(axis, "no frame could be read")
    if facts.grid_peak_ratio is None:
        yield Unmeasured("grid", "no frame gave a spectrum")
    if facts.depth == "sampled":
        for axis in UNSAMPLED_AXES:
            yield Unmeasured(
                axis,
                f"depth='sampled' read {facts.frames_read} of {facts.frames} frames; "
                "use depth='full'",
            )

"""May two clips be compared frame by frame? A pure judgement of their pairing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from screentest.verdicts.timeline import listed, plural

if TYPE_CHECKING:
    from screentest.metrics.pairing import PairingFacts

__all__ = ["RATE_TOLERANCE", "Alignment", "judge_pairing"]

RATE_TOLERANCE = 0.01
"""Clips whose rates differ by more are not of the same moments, whatever their counts: 24 against
25 is 4 %. Measured rates of one clip in two containers differ by less than a tenth of this."""


class Alignment(msgspec.Struct, frozen=True):
    """Whether frame ``i`` of the candidate is frame ``i`` of the reference throughout, and if not,
    each reason in a sentence."""

    aligned: bool
    reasons: tuple[str, ...] = ()


def judge_pairing(facts: PairingFacts) -> Alignment:
    """Aligned: as many frames at the same rate, none early, late, left out or put in.

    A frame that repeats the one before in place, and a clip that freezes, are damage of the
    candidate and stay aligned. Differences in tags, depth or format stay aligned. Without evidence
    of a shift (``lag_evidence`` false) equal counts are believed.

    >>> from screentest.metrics.pairing import PairingFacts
    >>> facts = PairingFacts(
    ...     frames_reference=60, frames_candidate=45, lag_evidence=True, missing_at_end=15
    ... )
    >>> judge_pairing(facts).reasons
    ('the candidate has 45 frames, the reference 60: the last 15 are missing',)
    """
    reasons = tuple(_reasons(facts))
    return Alignment(not reasons, reasons)


def _reasons(facts: PairingFacts) -> Iterator[str]:
    yield from _rate(facts)
    if facts.frames_reference != facts.frames_candidate:
        yield _counts(facts)
    elif facts.missing_at_end:
        yield (
            f"the candidate ends {plural(facts.missing_at_end, 'frame')} before the reference's "
            f"last, though both have {plural(facts.frames_reference, 'frame')}"
        )
    elif facts.extra_at_end:
        yield (
            f"the candidate goes on {plural(facts.extra_at_end, 'frame')} after the reference's "
            f"last, though both have {plural(facts.frames_reference, 'frame')}"
        )
    if facts.lag > 0:
        yield (
            f"the candidate starts {plural(facts.lag, 'frame')} in: its frame 0 shows frame "
            f"{facts.lag} of the reference"
        )
    elif facts.lag < 0:
        yield (
            f"the candidate starts {plural(-facts.lag, 'frame')} early: its frame {-facts.lag} "
            "shows frame 0 of the reference"
        )
    if facts.dropped:
        yield (
            f"the candidate leaves out {_frames(facts.dropped)} of the reference; "
            "what follows is early"
        )
    inserted = _inserted(facts)
    if inserted > 0 and facts.repeated:
        yield (
            f"the candidate repeats {plural(inserted, 'frame')} more than it replaces (it repeats "
            f"at {_frames(facts.repeated)}); what follows is late"
        )


def _rate(facts: PairingFacts) -> Iterator[str]:
    for difference in facts.differences:
        if difference.field != "frame_rate":
            continue
        one, two = float(difference.reference), float(difference.candidate)
        if abs(one - two) > RATE_TOLERANCE * max(one, two):
            yield (
                f"the candidate has {two:.6g} frames per second, the reference {one:.6g}: frames "
                "of one index are of different moments"
            )


def _counts(facts: PairingFacts) -> str:
    said = (
        f"the candidate has {plural(facts.frames_candidate, 'frame')}, the reference "
        f"{facts.frames_reference}"
    )
    if facts.missing_at_end:
        said += f": {_last(facts.missing_at_end)} missing"
    elif facts.extra_at_end:
        said += f": {_last(facts.extra_at_end)} more than the reference has"
    told = facts.lag_evidence or facts.lag or 0 in (facts.frames_reference, facts.frames_candidate)
    if (facts.missing_at_end or facts.extra_at_end) and not told:
        said += ", if both start together"
    return said


def _last(count: int) -> str:
    return "the last one is" if count == 1 else f"the last {count} are"


def _inserted(facts: PairingFacts) -> int:
    """Frames put in: what the counts say once all else is accounted for."""
    shift = facts.frames_reference - facts.missing_at_end + facts.extra_at_end
    return facts.lag + len(facts.dropped) - (shift - facts.frames_candidate)


def _frames(frames: tuple[int, ...]) -> str:
    return ("frame " if len(frames) == 1 else "frames ") + listed(frames)

"""A clip against a delivery spec: what was ordered, item by item."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from screentest.metrics.facts import Unmeasured
from screentest.verdicts.judgement import Defect
from screentest.verdicts.timeline import listed, percent, plural, runs_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from screentest.metrics.integrity import IntegrityFacts
    from screentest.verdicts.delivery import Delivery
    from screentest.verdicts.stillness import Hold, Stillness
    from screentest.verdicts.timeline import Timeline

__all__ = ["Ordered", "Sights", "judge_delivery"]


@dataclass(frozen=True)
class Sights:
    """What was seen of the axes that a spec can tighten; ``None`` where there is no number."""

    timeline: Timeline
    index: npt.NDArray[np.int64]
    gaps: Mapping[str, Unmeasured]
    dark: npt.NDArray[np.bool_] | None
    still: Stillness | None
    duplicates: npt.NDArray[np.int64] | None


class Ordered(NamedTuple):
    """Breaches of the spec, and items that could not be compared."""

    defects: list[Defect]
    gaps: list[Unmeasured]


def judge_delivery(facts: IntegrityFacts, spec: Delivery, sights: Sights) -> Ordered:
    """Compare a clip with what was ordered. An item without a number is a gap, never a pass."""
    ordered = Ordered([], [])
    _duration(facts, spec, ordered)
    _frame_rate(facts, spec, ordered)
    _frames_and_size(facts, spec, ordered)
    _audio(facts, spec, ordered)
    _freeze(facts, spec, sights, ordered)
    _black(facts, spec, sights, ordered)
    _duplicates(facts, spec, sights, ordered)
    return ordered


def _breach(ordered: Ordered, code: str, value: float, limit: float, unit: str, text: str) -> None:
    ordered.defects.append(
        Defect(severity="reject", code=code, value=value, limit=limit, unit=unit, message=text)
    )


def _duration(facts: IntegrityFacts, spec: Delivery, ordered: Ordered) -> None:
    wanted, has = spec.duration_s, facts.clip.duration_s
    if wanted is None:
        return
    if has is None:
        reason = "the clip has no time stamps and no frame_rate, so its duration is not known"
        ordered.gaps.append(Unmeasured("spec_duration", reason))
    elif _off(has, wanted, spec.resolved_duration_tolerance_s):
        _breach(
            ordered,
            "spec_duration",
            has,
            wanted,
            "s",
            f"the clip lasts {has:.3f} s; {wanted:g} s were ordered, give or take "
            f"{spec.resolved_duration_tolerance_s:g} s",
        )


def _frame_rate(facts: IntegrityFacts, spec: Delivery, ordered: Ordered) -> None:
    wanted, has = spec.frame_rate, facts.clip.frame_rate
    if wanted is None:
        return
    if has is None:
        reason = "the clip has no time stamps and no frame_rate was stated"
        ordered.gaps.append(Unmeasured("spec_frame_rate", reason))
    elif facts.clip.constant_frame_rate is False:
        _breach(
            ordered,
            "spec_frame_rate",
            has,
            wanted,
            "frames/s",
            f"the frame rate varies ({has:.3f} per second on average); a constant {wanted:g} was "
            "ordered",
        )
    elif _off(has, wanted, spec.resolved_frame_rate_tolerance):
        _breach(
            ordered,
            "spec_frame_rate",
            has,
            wanted,
            "frames/s",
            f"the clip runs at {has:.3f} frames per second; {wanted:g} were ordered",
        )


def _frames_and_size(facts: IntegrityFacts, spec: Delivery, ordered: Ordered) -> None:
    if spec.frames is not None and facts.frames != spec.frames:
        _breach(
            ordered,
            "spec_frames",
            float(facts.frames),
            float(spec.frames),
            "frames",
            f"the clip has {plural(facts.frames, 'frame')}; {spec.frames} were ordered",
        )
    for side, wanted, has in (
        ("wide", spec.width, facts.clip.width),
        ("high", spec.height, facts.clip.height),
    ):
        if wanted is not None and has != wanted:
            _breach(
                ordered,
                "spec_size",
                float(has),
                float(wanted),
                "px",
                f"the picture is {has} px {side}; {wanted} px were ordered",
            )


def _audio(facts: IntegrityFacts, spec: Delivery, ordered: Ordered) -> None:
    if spec.audio is None:
        return
    streams = len(facts.clip.audio)
    if spec.audio and facts.clip.kind != "video":
        reason = f"the source is {facts.clip.kind}, which carries no sound; pass the file"
        ordered.gaps.append(Unmeasured("spec_audio", reason))
    elif spec.audio and not streams:
        text = "the file has no audio stream; one was ordered"
        _breach(ordered, "spec_audio", 0.0, 1.0, "streams", text)
    elif not spec.audio and streams:
        text = f"the file has {plural(streams, 'audio stream')}; none was ordered"
        _breach(ordered, "spec_audio", float(streams), 0.0, "streams", text)


def _freeze(facts: IntegrityFacts, spec: Delivery, sights: Sights, ordered: Ordered) -> None:
    wanted, still = spec.longest_freeze_s, sights.still
    if wanted is None or facts.frames == 1:
        return
    if still is None:
        ordered.gaps.append(_from_axis("spec_longest_freeze", "frozen", sights))
        return
    if not sights.timeline.has_time:
        reason = "the clip has no time stamps and no frame_rate, so a freeze has no duration"
        ordered.gaps.append(Unmeasured("spec_longest_freeze", reason))
        return
    # Runs rejoined at key frames come first, so that equal lengths prefer the longer story.
    holds: list[Hold] = [*still.frozen, *still.holds]
    if not holds:
        return
    longest = max(holds, key=lambda hold: hold.repeats)
    first, last = still.frames_of(longest)
    duration = sights.timeline.duration(first, last)
    if duration is None or duration <= wanted:
        return
    ordered.defects.append(
        Defect(
            severity="reject",
            code="frozen",
            value=duration,
            limit=wanted,
            unit="s",
            frames=(first, last),
            seconds=sights.timeline.span(first, last),
            message=f"the picture stands still for {duration:.2f} s, "
            f"{percent((last - first + 1) / max(1, facts.frames))} of the clip: "
            f"{sights.timeline.where(first, last)}; at most {wanted:g} s were ordered",
        )
    )


def _black(facts: IntegrityFacts, spec: Delivery, sights: Sights, ordered: Ordered) -> None:
    wanted, dark = spec.black_frames, sights.dark
    if wanted is None:
        return
    if dark is None:
        ordered.gaps.append(_from_axis("spec_black_frames", "black", sights))
        return
    count = int(dark.sum())
    if count <= wanted:
        return
    runs = [(int(sights.index[a]), int(sights.index[b])) for a, b in runs_of(dark, sights.index)]
    span = (runs[0][0], runs[-1][1])
    ordered.defects.append(
        Defect(
            severity="reject",
            code="black",
            value=float(count),
            limit=float(wanted),
            unit="frames",
            frames=span,
            seconds=sights.timeline.span(*span),
            message=f"{plural(count, 'black frame')}, {percent(count / max(1, facts.frames))} of "
            f"the clip: {listed([sights.timeline.where(*run) for run in runs], most=4)}; at most "
            f"{wanted} were ordered",
        )
    )


def _duplicates(facts: IntegrityFacts, spec: Delivery, sights: Sights, ordered: Ordered) -> None:
    wanted, positions = spec.duplicate_frames, sights.duplicates
    if wanted is None or facts.frames == 1:
        return
    if positions is None:
        ordered.gaps.append(_from_axis("spec_duplicate_frames", "duplicate", sights))
        return
    frames = sights.index[positions].tolist()
    if len(frames) <= wanted:
        return
    span = (frames[0], frames[-1])
    ordered.defects.append(
        Defect(
            severity="reject",
            code="duplicate",
            value=float(len(frames)),
            limit=float(wanted),
            unit="frames",
            frames=span,
            seconds=sights.timeline.span(*span),
            message=f"{plural(len(frames), 'frame')} repeating the one before: {listed(frames)}; "
            f"at most {wanted} were ordered",
        )
    )


def _from_axis(item: str, axis: str, sights: Sights) -> Unmeasured:
    return Unmeasured(item, sights.gaps[axis].reason)


def _off(has: float, wanted: float, tolerance: float) -> bool:
    # A tolerance of 0 still forgives the last bit of a decimal fraction.
    return abs(has - wanted) > tolerance and not math.isclose(has, wanted, rel_tol=1e-12)

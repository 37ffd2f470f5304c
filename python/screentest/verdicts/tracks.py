"""The track verdict: do things in the candidate hold their shape as well as in its control?

Pure: facts and a policy in, a verdict out. Alone, ``track_stability`` says as much about the scene
as about the render, so nothing is judged without a control: another take of the same scene, of any
size and length. What could not be measured is never a pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from screentest.metrics.facts import Unmeasured
from screentest.verdicts.applicability import why_not_levels, why_not_whole_frames
from screentest.verdicts.control import Side, lost_texture, moves, stands_still
from screentest.verdicts.exposure import changed_light
from screentest.verdicts.judgement import Defect, Note, Severity, Verdict
from screentest.verdicts.tracks_policy import TrackPolicyLike, as_track_policy

if TYPE_CHECKING:
    from screentest.metrics.integrity import IntegrityFacts
    from screentest.metrics.temporal import TemporalFacts
    from screentest.metrics.tracks.facts import (
        TrackFacts,
    )
    from screentest.verdicts.tracks_policy import TrackPolicy

__all__ = ["SCOPE_NOTE", "TrackVerdict", "track_verdict"]

SCOPE_NOTE = (
    "Says whether things hold their shape as they move, compared with the control. It says nothing "
    "about what is shown, and nothing where the picture has no texture to follow."
)

AXIS = "track_stability_ratio"

MEASURED = (
    "track_stability",
    "track_survival",
    "track_jitter",
    "track_rigidity_error",
    "motion_magnitude",
)


class TrackVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on a candidate, with the numbers that led to it.

    ``ratio`` is the candidate's stability over the control's, ``None`` where either is missing or
    the control's is next to nothing. ``measured`` holds what is known of both, by metric name, the
    control's as ``control_<name>``. Where brightness jumps in the candidate alone, the first defect
    says so, before the warble that it may have caused.
    """

    verdict: Verdict
    ratio: float | None
    defects: tuple[Defect, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    notes: tuple[Note, ...] = ()
    measured: dict[str, float]
    policy: str
    policy_sha256: str

    @property
    def passed(self) -> bool:
        """True for ``pass`` alone: what could not be measured has not passed."""
        return self.verdict == "pass"


def track_verdict(
    candidate: TrackFacts,
    reference: TrackFacts | None = None,
    *,
    policy: TrackPolicyLike = None,
    candidate_temporal: TemporalFacts | None = None,
    reference_temporal: TemporalFacts | None = None,
    candidate_integrity: IntegrityFacts | None = None,
    reference_integrity: IntegrityFacts | None = None,
) -> TrackVerdict:
    """Judge a candidate against its control, the reference; sizes and lengths may differ.

    In this order: a candidate without corners against a control that can be tracked is
    ``texture_collapse``; one that stands still while the control moves is ``frozen``; a control
    that cannot be tracked, or none, leaves it unmeasured; a ratio under the floor is ``warble``,
    one over the ceiling ``over_smoothing``, unless the control's tracks die so fast that the
    ceiling says nothing; both only if the tracks that stayed in the picture say so too. The
    temporal and integrity facts of the same two clips add what tracks cannot see: a flicker, and a
    picture that stands still but for what its coder refines.

    Numbers measured by different versions (``impl``) are not compared.
    """
    policy = as_track_policy(policy)
    judge = _Judge(
        policy,
        Side(candidate, candidate_temporal, candidate_integrity),
        None if reference is None else Side(reference, reference_temporal, reference_integrity),
    )
    defects, gaps, notes = judge.judged()
    verdict: Verdict = "pass"
    if any(defect.severity == "reject" for defect in defects):
        verdict = "reject"
    elif gaps:
        verdict = "unmeasured"
    return TrackVerdict(
        verdict=verdict,
        ratio=judge.ratio,
        defects=tuple(defects),
        unmeasured=tuple(gaps),
        notes=tuple(notes),
        measured=dict(_measured(candidate, reference, judge.ratio)),
        policy=policy.name,
        policy_sha256=policy.sha256,
    )


def _measured(
    candidate: TrackFacts, reference: TrackFacts | None, ratio: float | None
) -> Iterator[tuple[str, float]]:
    for prefix, facts in (("", candidate), ("control_", reference)):
        for name in MEASURED:
            value = None if facts is None else getattr(facts, name)
            if value is not None:
                yield prefix + name, value
    if ratio is not None:
        yield AXIS, ratio


class _Judge:
    def __init__(self, policy: TrackPolicy, candidate: Side, reference: Side | None) -> None:
        self.limits, self.severities = policy.limits, policy.severities
        self.ours, self.theirs = candidate, reference
        self.candidate = candidate.tracks
        self.reference = None if reference is None else reference.tracks

    @property
    def ratio(self) -> float | None:
        """The candidate's stability over the control's."""
        if self.reference is None or self.candidate.impl != self.reference.impl:
            return None
        ours, theirs = self.candidate.track_stability, self.reference.track_stability
        if ours is None or theirs is None or theirs <= self.limits.control_stability.value:
            return None
        ratio: float = ours / theirs
        return ratio

    def judged(self) -> tuple[list[Defect], list[Unmeasured], list[Note]]:
        reference = self.reference
        if reference is None:
            return [], [Unmeasured(AXIS, "there is no reference to compare with")], []
        reason = self._why_incomparable(reference)
        if reason is not None:
            return [], [Unmeasured(AXIS, reason)], []
        assert self.theirs is not None
        untracked = self._why_untracked(reference)
        found = []
        if untracked is None:
            # Before the freeze: a flat picture stands still as well, and that says less.
            found.append(lost_texture(self.ours, self.theirs, self.limits))
        found.append(stands_still(self.ours, self.theirs, self.limits))
        defects = [defect for defect in found if defect is not None]
        if any(defect.severity == "reject" for defect in defects):
            return defects, [], []
        if untracked is not None:
            return defects, [Unmeasured(AXIS, untracked)], []
        ratio = self.ratio
        if ratio is None:
            reason = _why(self.candidate, "no window of the candidate could be tracked")
            return defects, [Unmeasured(AXIS, reason)], []
        broken, ceiling = self._ratio(reference, ratio)
        if broken is None:
            # The floor has been measured and holds, whatever the ceiling says.
            return defects, [], [ceiling or _note("scope", ratio, SCOPE_NOTE)]
        lighting = changed_light(self.ours, self.theirs, self.limits)
        return [*lighting, _perhaps(broken) if lighting else broken, *defects], [], []

    def _why_incomparable(self, reference: TrackFacts) -> str | None:
        """Why the two have no common measure, or ``None``."""
        for whose, facts in (("candidate", self.candidate), ("reference", reference)):
            reason = why_not_whole_frames(facts.clip)
            if reason is not None:
                return f"the {whose} is {reason}"
            reason = why_not_levels(facts.clip)
            if reason is not None:
                return f"the {whose}: {reason}"
        if self.candidate.impl != reference.impl:
            return (
                f"the candidate was measured by {self.candidate.impl}, the reference by "
                f"{reference.impl}; measure both again"
            )
        ours, theirs = (facts.clip.frame_rate for facts in (self.candidate, reference))
        if ours is not None and theirs is not None and abs(ours - theirs) > 0.01 * theirs:
            return (
                f"the candidate has {ours:.4g} frames per second, the reference {theirs:.4g}: "
                "things move another way between frames; bring both to one rate"
            )
        spans = [max((w.frames for w in f.windows), default=0) for f in (self.candidate, reference)]
        if 0 < 2 * min(spans) <= max(spans):
            return (
                f"tracks were followed for {spans[0]} frames in the candidate and for {spans[1]} "
                "in the reference: fewer are lost in fewer frames"
            )
        return None

    def _why_untracked(self, reference: TrackFacts) -> str | None:
        """Why the control cannot be compared with, or ``None``."""
        stability, survival = reference.track_stability, reference.track_survival
        if stability is None or survival is None:
            return "the control could not be tracked: " + _why(
                reference, "none of its windows has corners to follow"
            )
        if survival < self.limits.control_survival.value:
            return (
                f"{100 * survival:.0f} % of the control's tracks survive, fewer than the "
                f"{100 * self.limits.control_survival.value:.0f} % that a comparison needs"
            )
        if stability <= self.limits.control_stability.value:
            return "no track of the control holds its shape, so there is no ratio to it"
        assert self.theirs is not None
        if moves(self.ours, self.limits) and not moves(self.theirs, self.limits):
            return (
                "the control stands still and the candidate moves: what does not move holds its "
                "shape perfectly, so no candidate that moves comes up to it"
            )
        return None

    def _ratio(self, reference: TrackFacts, ratio: float) -> tuple[Defect | None, Note | None]:
        """What the ratio breaks, or the note that it can break nothing."""
        limits = self.limits
        floor, ceiling = limits.warble_ratio.value, limits.over_smoothing_ratio.value
        numbers = (
            f"track stability {self.candidate.track_stability:.3f} against "
            f"{reference.track_stability:.3f} of the control, a ratio of {ratio:.3f}"
        )
        inside = self._inside(reference)
        if not floor <= ratio <= ceiling and floor <= inside <= ceiling:
            # A faster camera takes more out of sight; what stays in sight decides.
            reason = (
                f"{numbers}, is {inside:.3f} without the tracks that left the picture: things "
                "leave the two at another rate, and those that stay hold their shape as well"
            )
            return None, _note("left_the_picture", ratio, reason)
        if ratio < floor:
            text = f"things do not hold their shape: {numbers}, where {floor:g} is the floor"
            text += self._which_half(reference)
            return self._broken(self.severities.warble, "warble", ratio, floor, text), None
        if ratio <= ceiling:
            return None, None
        survival = reference.track_survival or 0.0
        if survival < limits.ceiling_survival.value:
            reason = (
                f"a ratio of {ratio:.3f} says nothing about over-smoothing: only "
                f"{100 * survival:.0f} % of the control's tracks survive, and the ceiling needs "
                f"{100 * limits.ceiling_survival.value:.0f} %"
            )
            return None, _note("ceiling_unmeasured", ratio, reason)
        text = f"the picture is smoother than its control: {numbers}, where {ceiling:g} is the "
        text += "ceiling; fine texture that moves has gone, or the two clips are swapped"
        severity = self.severities.over_smoothing
        return self._broken(severity, "over_smoothing", ratio, ceiling, text), None

    def _inside(self, reference: TrackFacts) -> float:
        """The ratio of the tracks that did not leave the picture."""
        ours, theirs = self.candidate.stability_inside, reference.stability_inside
        return (ours or 0.0) / theirs if theirs else 0.0

    def _broken(
        self, severity: Severity, code: str, ratio: float, limit: float, message: str
    ) -> Defect:
        return Defect(
            severity=severity, code=code, value=ratio, limit=limit, unit="ratio", message=message
        )

    def _which_half(self, reference: TrackFacts) -> str:
        """Whether tracks die or bend, which are two faults."""
        parts = []
        for name, what, unit in (
            ("track_survival", "survival", ""),
            ("track_jitter", "jitter", ""),
            ("track_rigidity_error", "rigidity error", " %"),
        ):
            ours, theirs = getattr(self.candidate, name), getattr(reference, name)
            if ours is not None and theirs is not None:
                parts.append(f"{what} {ours:.3f}{unit} against {theirs:.3f}{unit}")
        return f" ({', '.join(parts)})" if parts else ""


def _perhaps(defect: Defect) -> Defect:
    return msgspec.structs.replace(
        defect,
        message=defect.message + "; perhaps because of what is named first, which ends or misleads "
        "tracks though nothing bends",
    )


def _note(code: str, ratio: float, message: str) -> Note:
    return Note(code=code, value=ratio, unit="ratio", message=message)


def _why(facts: TrackFacts, otherwise: str) -> str:
    """The reason that the facts give for having no stability."""
    for gap in facts.unmeasured:
        if gap.axis.startswith("track"):
            return str(gap.reason)
    return otherwise

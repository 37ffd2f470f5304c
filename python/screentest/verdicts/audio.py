"""The audio verdict: is the sound whole, and as close to its reference as the caller asks?

Pure: facts and a policy in, a verdict out. Defects alone suffice for a pass: what needs a
reference, the picture or a checklist decides where a policy has a budget for it, or requires it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from screentest.errors import PolicyError
from screentest.metrics.facts import Unmeasured
from screentest.verdicts.audio_defects import ALONE, SoundJudge
from screentest.verdicts.audio_fidelity import judge_pair
from screentest.verdicts.audio_policy import (
    AXES,
    TIERS,
    AudioPolicyLike,
    as_audio_policy,
    budgets_of,
)
from screentest.verdicts.audio_tiers import Tier, judge_content, judge_sync, length_note
from screentest.verdicts.judgement import Defect, Judgement, fold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from screentest.metrics.audio.facts import AudioFacts
    from screentest.metrics.audio_content.facts import AudioContentFacts
    from screentest.metrics.audio_pair.facts import AudioPairFacts
    from screentest.metrics.sync.facts import SyncFacts
    from screentest.verdicts.audio_policy import AudioPolicy

__all__ = ["SCOPE_NOTE", "check_axes", "judge_audio"]

SCOPE_NOTE = (
    "Says whether the sound is whole, and how far it lies from a reference, the picture's events "
    "and a checklist where these are given. It does not say whether it sounds good. Event sync is "
    "not lip sync."
)

_SKIPPED = {
    "audio_pair": "there is no reference to compare with",
    "sync": "there is no picture to compare with",
    "audio_content": "there is no checklist",
}


def judge_audio(
    facts: AudioFacts | None,
    policy: AudioPolicyLike = None,
    *,
    missing: str | None = None,
    reference: AudioFacts | None = None,
    pair: AudioPairFacts | None = None,
    sync: SyncFacts | None = None,
    reference_sync: SyncFacts | None = None,
    content: AudioContentFacts | None = None,
    skipped: Iterable[Unmeasured] = (),
    require: Iterable[str] = (),
) -> Judgement:
    """Judge the facts of one sound: ``pass``, ``reject`` or ``unmeasured``, with every reason.

    Args:
        facts: of the sound by itself; ``None`` where there is none.
        policy: limits, severities and budgets, or the path of a TOML file with them.
        missing: why there is no soundtrack where one is expected: a reject.
        reference: facts of the reference by itself. What good sounds share and the reference does
            not have is a loss.
        pair: the sound against its reference. Only budgets of the policy reject.
        sync: the sound against the picture.
        reference_sync: the same of the reference.
        content: the sound against a checklist.
        skipped: why a tier (``"audio_pair"``, ``"sync"``, ``"audio_content"``) was not measured.
            One that nobody asked for is listed as one that does not apply, unless it is required.
        require: axes that must have been measured, besides those of the policy.

    A reject outweighs an axis that is required and unmeasured, which outweighs a pass. A metric
    that has a budget is required, and with a ``pair`` that there is a number of it.

    Raises:
        PolicyError: the policy contradicts itself, or ``require`` names what is no axis.
    """
    policy = as_audio_policy(policy)
    skipped = tuple(skipped)
    insisted = (
        frozenset(check_axes(require)) | _budgeted(policy) | set(policy.required) & set(TIERS)
    )
    # Whoever names a reference asks for a comparison.
    if pair is not None or any(gap.axis == "audio_pair" and gap.applies for gap in skipped):
        insisted |= {"audio_pair"}
    defects, gaps = _alone(facts, reference, policy, missing)
    tiers = {
        "audio_pair": None if pair is None else judge_pair(pair, policy),
        "sync": None if sync is None else judge_sync(sync, reference_sync, policy),
        "audio_content": None if content is None else judge_content(content, policy),
    }
    notes = []
    reasons = {gap.axis: gap for gap in skipped}
    for name, tier in tiers.items():
        unasked = Unmeasured(name, _SKIPPED[name], applies=False)
        told = tier or Tier(gaps=[reasons.get(name, unasked)])
        defects += told.defects
        gaps += told.gaps
        notes += told.notes
    if facts is not None and sync is not None and (told_length := length_note(facts, sync.clip)):
        notes.append(told_length)
    gaps += _unmet(policy, tiers, gaps)
    # What decides applies, whatever the material.
    gaps = [
        msgspec.structs.replace(gap, applies=gap.applies or gap.axis in insisted) for gap in gaps
    ]
    verdict = fold(defects, gaps, required=policy.required, insisted=insisted)
    if facts is None and verdict == "pass":
        verdict = "unmeasured"
    return Judgement(
        verdict=verdict,
        defects=tuple(sorted(defects, key=lambda defect: defect.severity != "reject")),
        unmeasured=tuple(gaps),
        notes=tuple(notes),
    )


def check_axes(require: Iterable[str]) -> tuple[str, ...]:
    """The axes that a caller insists on.

    Raises:
        PolicyError: one of them is none (``unknown_axis``).
    """
    axes = (require,) if isinstance(require, str) else tuple(require)
    for axis in axes:
        if axis not in AXES:
            raise PolicyError(
                f"require names {axis!r}, which is no axis; the axes are {', '.join(AXES)}",
                code="unknown_axis",
                axis=str(axis),
            )
    return axes


def _alone(
    facts: AudioFacts | None,
    reference: AudioFacts | None,
    policy: AudioPolicy,
    missing: str | None,
) -> tuple[list[Defect], list[Unmeasured]]:
    if facts is not None:
        judge = SoundJudge(facts, policy, reference)
        return judge.defects(), list(judge.gaps())
    reason = missing or "there is no sound"
    gaps = [Unmeasured(axis, reason) for axis in ALONE]
    if missing is None:
        return [], gaps
    defect = Defect(
        severity="reject",
        code="missing",
        value=0.0,
        limit=1.0,
        unit="soundtracks",
        message=f"the soundtrack is missing: {missing}",
    )
    return [defect], gaps


def _budgeted(policy: AudioPolicy) -> frozenset[str]:
    """The metrics that have a budget."""
    tables = (policy.fidelity, policy.sync, policy.content)
    return frozenset(name for table in tables for name, _ in budgets_of(table))


def _unmet(
    policy: AudioPolicy, tiers: Mapping[str, Tier | None], gaps: list[Unmeasured]
) -> list[Unmeasured]:
    """Budgets without a number that no gap speaks of: their tier was skipped, or a reference is
    missing."""
    known = {gap.axis: gap.reason for gap in gaps}
    found = []
    for name, table in zip(TIERS, (policy.fidelity, policy.sync, policy.content), strict=True):
        tier = tiers[name]
        for metric, _ in budgets_of(table):
            if metric in known or (tier is not None and tier.values.get(metric) is not None):
                continue
            reason = known.get(name, "there is no reference to compare with")
            found.append(Unmeasured(metric, reason))
    return found

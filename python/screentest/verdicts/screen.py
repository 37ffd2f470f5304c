"""One verdict on a clip from its screens: is it a render at all, what does it do over time, and is
its sound whole?

Pure, as they are. The integrity screen decides whether there is anything to judge; the temporal
screens are asked for on top, so what they could not measure is listed and decides only by request.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from screentest.errors import ScreentestError
from screentest.metrics.facts import Unmeasured
from screentest.metrics.temporal.facts import AXES, TemporalFacts
from screentest.verdicts.audio import judge_audio
from screentest.verdicts.audio_policy import TIERS, ContentBudgets, FidelityBudgets, SyncBudgets
from screentest.verdicts.audio_tiers import length_note
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.judgement import Defect, Judgement, fold
from screentest.verdicts.temporal import judge_temporal

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo
    from screentest.metrics.audio.facts import AudioFacts
    from screentest.metrics.integrity import IntegrityFacts
    from screentest.verdicts.audio_policy import AudioPolicy
    from screentest.verdicts.delivery import Delivery
    from screentest.verdicts.policy import Policy
    from screentest.verdicts.temporal_policy import TemporalPolicy

__all__ = ["SOUND_AXIS", "join_sound", "judge_both"]

SOUND_AXIS = "audio"
"""The sound as a whole, as ``require`` names it."""


def judge_both(
    facts: IntegrityFacts,
    temporal: TemporalFacts | ScreentestError,
    policy: Policy | None = None,
    temporal_policy: TemporalPolicy | None = None,
    spec: Delivery | None = None,
    require: Iterable[str] = (),
) -> Judgement:
    """Judge the facts of one clip by the integrity screen and by the temporal screens.

    A reject of either rejects. ``temporal`` may be the error that kept the temporal family from
    measuring (NaN samples): its axes are then unmeasured for that reason. ``require`` may name axes
    of both; a temporal axis that it does not name never makes the verdict ``unmeasured``, whatever
    the ``required`` of ``temporal_policy``.

    Raises :class:`~screentest.errors.PolicyError` for an unknown axis in ``require``.
    """
    insisted = frozenset(require)
    screened = judge_integrity(facts, policy, spec, insisted - set(AXES))
    if isinstance(temporal, TemporalFacts):
        timed = judge_temporal(temporal, policy=temporal_policy)
    else:
        reason = " ".join(temporal.message.split())
        gaps = tuple(Unmeasured(axis, reason) for axis in AXES)
        timed = Judgement(verdict="unmeasured", unmeasured=gaps)
    verdicts = {
        screened.verdict,
        fold(timed.defects, timed.unmeasured, required=(), insisted=insisted),
    }
    defects = (*screened.defects, *timed.defects)
    return Judgement(
        verdict=next(word for word in ("reject", "unmeasured", "pass") if word in verdicts),
        defects=tuple(sorted(defects, key=lambda defect: defect.severity != "reject")),
        unmeasured=(*screened.unmeasured, *timed.unmeasured),
        notes=timed.notes,
    )


def join_sound(
    picture: Judgement,
    sound: AudioFacts | str,
    policy: AudioPolicy,
    clip: ClipInfo,
    *,
    looked_at: bool = True,
    insisted: bool = False,
) -> Judgement:
    """The judgement of a clip's picture with what is wrong with its sound by itself, and a note
    where the two are of different length.

    The sound's defects are called ``audio_<code>``. ``sound`` may be the reason why there are no
    facts: a soundtrack that is there and cannot be read leaves a clip unmeasured, one that was not
    ``looked_at`` only where a caller ``insisted``.
    """
    defects: tuple[Defect, ...] = ()
    gaps: list[Unmeasured] = []
    notes = picture.notes
    if isinstance(sound, str):
        gaps = [Unmeasured(SOUND_AXIS, sound, applies=looked_at)]
    else:
        # Nothing but the sound is here, so what a caller asks of a pair cannot be kept or broken.
        alone = msgspec.structs.replace(
            policy,
            required=tuple(axis for axis in policy.required if axis not in TIERS),
            fidelity=FidelityBudgets(),
            sync=SyncBudgets(),
            content=ContentBudgets(),
        )
        if note := length_note(sound, clip):
            notes = (*notes, note)
        judged = judge_audio(sound, alone)
        defects = tuple(
            msgspec.structs.replace(defect, code=f"{SOUND_AXIS}_{defect.code}")
            for defect in judged.defects
        )
        if judged.verdict == "unmeasured":
            known = {gap.axis: gap.reason for gap in judged.unmeasured}
            reason = next(known[axis] for axis in alone.required if axis in known)
            # So short a sound is no fault of the clip's.
            gaps = [Unmeasured(SOUND_AXIS, reason, applies=False)]
    verdict = fold(
        defects, gaps, required=(SOUND_AXIS,), insisted=(SOUND_AXIS,) if insisted else ()
    )
    verdicts = {picture.verdict, verdict}
    return Judgement(
        verdict=next(word for word in ("reject", "unmeasured", "pass") if word in verdicts),
        defects=tuple(
            sorted((*picture.defects, *defects), key=lambda defect: defect.severity != "reject")
        ),
        unmeasured=(*picture.unmeasured, *gaps),
        notes=notes,
    )

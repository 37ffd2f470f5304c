"""What a screen of one clip gives: the verdict with everything that led to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from screentest.errors import ScreentestError
from screentest.metrics.facts import Unmeasured
from screentest.reports import canonical
from screentest.reports.screening import error_record, screening_record
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.judgement import Defect, Note, Verdict

if TYPE_CHECKING:
    from screentest.metrics.audio.facts import AudioFacts
    from screentest.metrics.integrity import IntegrityFacts
    from screentest.metrics.temporal import TemporalFacts
    from screentest.screening.hearing import Heard
    from screentest.screening.request import Asked

__all__ = ["Screening", "ScreeningError", "judged"]


class Screening(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one clip with its defects, its gaps and the facts that it was judged by.

    ``facts`` can be judged again under another policy with
    :func:`~screentest.verdicts.integrity.judge_integrity`; nothing is decoded twice. Where the
    temporal screens were asked for, ``temporal_policy`` names their policy, ``notes`` are the cuts
    and fades they saw, and ``temporal`` the facts that
    :func:`~screentest.verdicts.temporal.judge_temporal` takes: ``None`` for a clip with NaN
    samples, whose axes ``unmeasured`` lists. Where the clip has a soundtrack, ``audio_policy``
    names its policy, and ``audio`` are the facts that
    :func:`~screentest.verdicts.audio.judge_audio` takes, ``None`` where it was not heard.
    """

    source: str
    verdict: Verdict
    defects: tuple[Defect, ...]
    unmeasured: tuple[Unmeasured, ...]
    facts: IntegrityFacts
    policy: str
    policy_sha256: str
    spec: dict[str, Any] | None = None
    notes: tuple[Note, ...] = ()
    temporal: TemporalFacts | None = None
    temporal_policy: str | None = None
    temporal_policy_sha256: str | None = None
    audio: AudioFacts | None = None
    audio_policy: str | None = None
    audio_policy_sha256: str | None = None

    @property
    def passed(self) -> bool:
        """True for ``pass`` alone: what could not be measured has not passed."""
        return self.verdict == "pass"

    @property
    def frames(self) -> int:
        """Frames in the clip."""
        return self.facts.frames

    @property
    def frames_read(self) -> int:
        """Frames that were looked at."""
        return self.facts.frames_read

    @property
    def depth(self) -> str:
        """``full`` or ``sampled``."""
        return self.facts.depth

    def to_dict(self) -> dict[str, Any]:
        """The record that ``screentest screen --json`` prints, as plain data."""
        return screening_record(self)

    def to_json(self) -> bytes:
        """The record as canonical JSON (RFC 8785): equal screenings are equal bytes."""
        return canonical.dumps(self.to_dict())

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {canonical.printable(self.source)}"]
        lines += [f"  {defect.severity} {defect.code}: {defect.message}" for defect in self.defects]
        lines += [f"  note {note.code}: {note.message}" for note in self.notes]
        lines += [f"  not measured, {gap.axis}: {gap.reason}" for gap in self.unmeasured]
        return "\n".join(lines)


class ScreeningError(msgspec.Struct, frozen=True, kw_only=True):
    """An input of a batch that could not be judged: which, a stable code, and one line.

    ``temporal`` says that the batch asked for the temporal screens.
    """

    source: str
    code: str
    message: str
    temporal: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The record that ``screentest screen --json`` prints for such an input."""
        return error_record(self.source, self.code, self.message, temporal=self.temporal)

    def to_json(self) -> bytes:
        """The record as canonical JSON (RFC 8785)."""
        return canonical.dumps(self.to_dict())


def judged(
    facts: IntegrityFacts,
    temporal: TemporalFacts | ScreentestError | None,
    heard: Heard,
    asked: Asked,
) -> Screening:
    """Facts and what was heard, judged as was asked for."""
    policy, spec, limits = asked.policy, asked.spec, asked.temporal
    require = tuple(axis for axis in asked.require if axis != "audio")
    if temporal is None or limits is None:
        judgement = judge_integrity(facts, policy, spec, require)
    else:
        from screentest.verdicts.screen import judge_both

        judgement = judge_both(facts, temporal, policy, limits, spec, require)
    insisted = len(require) < len(asked.require)
    if heard is None and insisted:
        heard = "the clip has no audio stream"
    if heard is not None and asked.audio is not None:
        from screentest.verdicts.screen import join_sound

        full = asked.depth == "full"
        judgement = join_sound(
            judgement, heard, asked.audio, facts.clip, looked_at=full, insisted=insisted
        )
    sound_policy = None if heard is None else asked.audio
    return Screening(
        source=facts.clip.source,
        verdict=judgement.verdict,
        defects=judgement.defects,
        unmeasured=judgement.unmeasured,
        facts=facts,
        policy=policy.name,
        policy_sha256=policy.sha256,
        spec=None if spec is None else spec.asked_for(),
        notes=judgement.notes,
        temporal=None if isinstance(temporal, ScreentestError) else temporal,
        temporal_policy=None if limits is None else limits.name,
        temporal_policy_sha256=None if limits is None else limits.sha256,
        audio=None if isinstance(heard, str) else heard,
        audio_policy=None if sound_policy is None else sound_policy.name,
        audio_policy_sha256=None if sound_policy is None else sound_policy.sha256,
    )

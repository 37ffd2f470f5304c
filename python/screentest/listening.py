"""Listen to a sound: is it whole, as close to its reference as asked, and in time?

:func:`audio_verdict` measures and judges; :func:`draw_sound` shows what was heard.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import msgspec

from screentest import compute
from screentest.errors import InputError, MediaError
from screentest.metrics.facts import Unmeasured
from screentest.reports import canonical
from screentest.reports.audio import audio_record
from screentest.side_by_side import name_of
from screentest.verdicts.audio import check_axes, judge_audio
from screentest.verdicts.audio_policy import as_audio_policy
from screentest.verdicts.judgement import Defect, Note, Verdict

if TYPE_CHECKING:
    from screentest.media.sound import Sound
    from screentest.metrics.audio.facts import AudioFacts
    from screentest.metrics.audio_content.facts import AudioContentFacts
    from screentest.metrics.audio_pair.facts import AudioPairFacts
    from screentest.metrics.sync.facts import SyncFacts
    from screentest.verdicts.audio_policy import AudioPolicyLike

__all__ = ["Listening", "audio_verdict", "draw_sound"]

NO_SOUND = ("no_audio_stream", "no_samples")
"""Errors of a source that can be read and holds no sound."""

NO_PICTURE = ("no_video_stream", "no_frames")


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one sound with its defects, its gaps and the facts that it was judged by.

    ``facts`` is ``None`` where the soundtrack is missing. What was not asked for or could not be
    measured is ``None`` as well, and ``unmeasured`` says why: ``applies`` is false where nobody
    asked for it. The facts can be judged again under
    another policy with :func:`~screentest.verdicts.audio.judge_audio`; nothing is decoded twice.
    """

    source: str
    reference_source: str | None = None
    verdict: Verdict
    defects: tuple[Defect, ...] = ()
    notes: tuple[Note, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    facts: AudioFacts | None = None
    reference: AudioFacts | None = None
    pair: AudioPairFacts | None = None
    sync: SyncFacts | None = None
    reference_sync: SyncFacts | None = None
    content: AudioContentFacts | None = None
    policy: str
    policy_sha256: str

    @property
    def passed(self) -> bool:
        """True for ``pass`` alone: what could not be measured has not passed."""
        return self.verdict == "pass"

    def to_dict(self) -> dict[str, Any]:
        """The record that ``screentest audio --json`` prints, as plain data."""
        return audio_record(self)

    def to_json(self) -> bytes:
        """The record as canonical JSON (RFC 8785): equal sounds are equal bytes."""
        return canonical.dumps(self.to_dict())

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {canonical.printable(self.source)}"]
        lines += [f"  {defect.severity} {defect.code}: {defect.message}" for defect in self.defects]
        lines += [f"  note {note.code}: {note.message}" for note in self.notes]
        gaps = [gap for gap in self.unmeasured if gap.applies]
        lines += [f"  not measured, {gap.axis}: {gap.reason}" for gap in gaps]
        return "\n".join(lines)


def audio_verdict(
    candidate: Any,
    reference: Any = None,
    frames: Any = None,
    fps: float | None = None,
    *,
    reference_frames: Any = None,
    checklist: Any = None,
    transcriber: Any = None,
    audio_judge: Any = None,
    policy: AudioPolicyLike = None,
    require: Iterable[str] = (),
    expect_sound: bool = False,
    sync: bool = True,
    threads: int | None = None,
    **read_options: Any,
) -> Listening:
    """Judge a sound by itself, and against whatever else is given.

    Args:
        candidate: the sound in question: whatever :func:`~screentest.media.read_audio` opens, a
            video among them.
        reference: the same of what it ought to sound like. A candidate without a soundtrack is
            rejected where the reference has one.
        frames: the candidate's picture, for its time against the sound: whatever
            :func:`~screentest.media.open_clip` opens; frames in memory need ``fps``. Without it a
            video's own.
        fps: frames per second of ``frames`` and ``reference_frames`` in memory.
        reference_frames: the reference's picture, likewise.
        checklist: what ought to be heard: a
            :class:`~screentest.metrics.audio_content.Checklist` or the path of one.
        transcriber: writes down what is said, for the checklist's speech.
        audio_judge: answers the checklist's questions about events.
        policy: limits, severities and budgets, or the path of a TOML file with them.
        require: axes that must have been measured, besides those of the policy.
        expect_sound: reject a candidate without a soundtrack even without a reference.
        sync: look at the picture at all.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **read_options: passed to :func:`~screentest.media.read_audio` for both sounds.

    Returns:
        The verdict, with facts and reasons: a rejected sound is a result.

    Raises:
        MediaError: a source cannot be read, or holds no sound where nothing says that it should
            (``no_audio_stream``, ``no_samples``).
        ProtocolError: the two are of different sample rates; nothing is resampled.
        InputError: an argument is wrong.
        PolicyError: the policy contradicts itself.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> hush = np.zeros((48_000, 2), np.float32)
        >>> heard = audio_verdict(hush, sample_rate=48_000)
        >>> heard.verdict, [defect.code for defect in heard.defects]
        ('reject', ['silent'])
    """
    checked = as_audio_policy(policy)
    require = check_axes(require)
    if fps is not None and frames is None and reference_frames is None:
        raise InputError("fps= describes frames in memory; none were given")
    asked = {"audio_pair": reference, "sync": frames, "audio_content": checklist}
    asked_for = frozenset(name for name, given in asked.items() if given is not None)
    listener = _Listener(compute.threads(threads), fps, read_options, asked_for)
    with listener.opened:
        ours, no_sound = listener.open(candidate)
        theirs, no_reference = (None, None) if reference is None else listener.open(reference)
        if ours is None:
            assert no_sound is not None
            if theirs is None and not expect_sound:
                raise no_sound
            listener.skip_all("there is no sound")
        facts = None if ours is None else listener.alone(ours)
        reference_facts = None if theirs is None else listener.alone(theirs)
        if facts is not None and facts.non_finite:
            ours, checklist = None, None
            listener.skip_all("samples of the sound are NaN or infinite")
        pair = None
        if ours is None:
            pass
        elif no_reference is not None:
            listener.skip("audio_pair", f"of the reference: {_told(no_reference, reference)}")
        elif reference_facts is not None and reference_facts.non_finite:
            listener.skip("audio_pair", "samples of the reference are NaN or infinite")
        elif theirs is not None and reference_facts is not None and facts is not None:
            pair = listener.pair(theirs, ours, (reference_facts, facts))
        offset = reference_offset = None
        if not sync:
            listener.skipped["sync"] = Unmeasured("sync", "nobody asked for it", applies=False)
        elif ours is not None:
            offset = listener.offset(candidate, ours, frames)
            measured = offset is not None and offset.av_sync_offset_ms is not None
            if measured and theirs is not None:
                reference_offset = listener.offset(reference, theirs, reference_frames, ours=False)
        content = None
        if checklist is not None and ours is not None:
            content = listener.content(ours, checklist, transcriber, audio_judge)
    judgement = judge_audio(
        facts,
        checked,
        missing=None if no_sound is None else _told(no_sound, candidate),
        reference=reference_facts,
        pair=pair,
        sync=offset,
        reference_sync=reference_offset,
        content=content,
        skipped=listener.skipped.values(),
        require=require,
    )
    notes = judgement.notes
    if no_reference is not None:
        told = f"there is nothing to compare with: {_told(no_reference, reference)}"
        notes += (Note(code="reference_without_sound", value=None, unit="1", message=told),)
    return Listening(
        source=name_of(candidate) if facts is None else facts.sound.source,
        reference_source=None
        if reference is None
        else name_of(reference)
        if reference_facts is None
        else reference_facts.sound.source,
        verdict=judgement.verdict,
        defects=judgement.defects,
        notes=notes,
        unmeasured=judgement.unmeasured,
        facts=facts,
        reference=reference_facts,
        pair=pair,
        sync=offset,
        reference_sync=reference_offset,
        content=content,
        policy=checked.name,
        policy_sha256=checked.sha256,
    )


def _told(error: MediaError, source: Any) -> str:
    """What is wrong with a source, in a line that names it already."""
    return " ".join(error.message.removeprefix(f"{name_of(source)}: ").split())


class _Listener:
    """Opens and measures; keeps why a tier was not measured."""

    def __init__(
        self,
        threads: int,
        fps: float | None,
        read_options: dict[str, Any],
        asked_for: frozenset[str],
    ) -> None:
        self.threads, self.fps, self.read_options = threads, fps, read_options
        self.asked_for = asked_for
        self.opened = ExitStack()
        self.skipped: dict[str, Unmeasured] = {}

    def open(self, source: Any) -> tuple[Sound, None] | tuple[None, MediaError]:
        """The sound, or the error that says that there is none."""
        from screentest.media import read_audio
        from screentest.media.sound import Sound

        if isinstance(source, Sound):
            # Whoever opened it closes it.
            return read_audio(source, **self.read_options), None
        try:
            return self.opened.enter_context(read_audio(source, **self.read_options)), None
        except MediaError as error:
            if error.code not in NO_SOUND:
                raise
            return None, error

    def skip(self, tier: str, reason: str) -> None:
        """Why a tier that was asked for is not measured."""
        self.skipped[tier] = Unmeasured(tier, reason)

    def skip_all(self, reason: str) -> None:
        """Nothing that was asked for is compared, for this reason."""
        for tier in (*self.asked_for, "sync"):
            self.skipped[tier] = Unmeasured(tier, reason, applies=tier in self.asked_for)

    def alone(self, sound: Sound) -> AudioFacts:
        from screentest.metrics.audio import measure_audio

        return measure_audio(sound, threads=self.threads)

    def pair(
        self, reference: Sound, candidate: Sound, facts: tuple[AudioFacts, AudioFacts]
    ) -> AudioPairFacts:
        from screentest.metrics.audio_pair import measure_audio_pair

        return measure_audio_pair(reference, candidate, facts=facts, threads=self.threads)

    def content(
        self, sound: Sound, checklist: Any, transcriber: Any, judge: Any
    ) -> AudioContentFacts:
        from screentest.metrics.audio_content import measure_content

        return measure_content(sound, checklist, transcriber=transcriber, judge=judge)

    def offset(
        self, source: Any, sound: Sound, frames: Any, *, ours: bool = True
    ) -> SyncFacts | None:
        """The sound against the picture; ``None`` where there is no picture."""
        from screentest.metrics.sync import measure_sync

        own = frames is None
        clip = _own_picture(source) if own else frames
        if clip is None:
            return None
        rate = self.fps is not None and _needs_rate(clip)
        options: dict[str, Any] = {"frame_rate": self.fps} if rate else {}
        try:
            return measure_sync(clip, sound, threads=self.threads, **options)
        except MediaError as error:
            # What was not asked for by name is no reason to give no verdict at all.
            if not own:
                raise
            if ours:
                none = error.code in NO_PICTURE
                told = "the file has no picture" if none else f"of the picture: {error.message}"
                self.skipped["sync"] = Unmeasured("sync", told, applies=not none)
            return None


def _own_picture(source: Any) -> Any:
    """What the picture that goes with a sound can be opened from, if anything."""
    from screentest.media.open import is_in_memory
    from screentest.media.sound import Sound

    if isinstance(source, Sound):
        path = source.info.source
        return path if source.info.kind == "file" and os.path.isfile(path) else None
    return None if is_in_memory(source) else source


def _needs_rate(clip: Any) -> bool:
    from screentest.media.clip import Clip
    from screentest.media.open import is_in_memory

    if isinstance(clip, Clip):
        return False
    if isinstance(clip, (str, os.PathLike)):
        # A folder of stills has no clock of its own.
        return os.path.isdir(os.fspath(clip))
    return is_in_memory(clip)


def draw_sound(
    result: Listening,
    candidate: Any,
    png: str | os.PathLike[str],
    *,
    reference: Any = None,
    **read_options: Any,
) -> None:
    """Draw what :func:`audio_verdict` judged, over time: waveform, spectrogram, loudness, defects.

    Args:
        result: the verdict, with its facts.
        candidate: the sound that was judged, read again.
        png: the file to write, whole or not at all.
        reference: what it was compared with, drawn below, with the difference of the two.
        **read_options: passed to :func:`~screentest.media.read_audio` for both sounds.

    Raises:
        MissingBackendError: Pillow is not installed (``pip install 'screentest[report]'``).
        InputError: the soundtrack is missing, so there is nothing to draw.
    """
    from screentest.media import read_audio
    from screentest.reports.overlay.sound_sheet import write_sound_png

    if result.facts is None:
        raise InputError("the soundtrack is missing, so there is nothing to draw")
    with ExitStack() as opened:
        ours = opened.enter_context(read_audio(candidate, **read_options))
        theirs = None
        if reference is not None and result.reference is not None:
            theirs = opened.enter_context(read_audio(reference, **read_options))
        write_sound_png(result, ours, png, theirs)

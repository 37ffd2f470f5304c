"""Screen clips: measure, judge, and say what, where and how bad.

:func:`screen` reads one source, :func:`screen_many` many files within one compute budget, and
:class:`Screener` takes frames as a generator makes them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from screentest import compute
from screentest.errors import InputError, MediaError, PolicyError, ScreentestError
from screentest.metrics.facts import Unmeasured
from screentest.reports import canonical
from screentest.reports.screening import describe_error, error_record, screening_record
from screentest.side_by_side import check_sources, name_of, results_in_order
from screentest.verdicts.delivery import Delivery, DeliveryLike, as_delivery
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.judgement import Defect, Note, Verdict
from screentest.verdicts.policy import AXES, Policy, PolicyLike, as_policy

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.hearing import Heard
    from screentest.media.clip import Clip, Frame
    from screentest.media.info import ClipInfo
    from screentest.metrics.audio.facts import AudioFacts
    from screentest.metrics.integrity import IntegrityAccumulator, IntegrityFacts
    from screentest.metrics.temporal import TemporalAccumulator, TemporalFacts
    from screentest.verdicts.audio_policy import AudioPolicy, AudioPolicyLike
    from screentest.verdicts.temporal_policy import TemporalPolicy, TemporalPolicyLike

__all__ = ["Screener", "Screening", "ScreeningError", "screen", "screen_many"]

Depth = Literal["full", "sampled"]


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


def screen(
    source: Any,
    *,
    policy: PolicyLike = None,
    spec: DeliveryLike = None,
    depth: Depth = "full",
    require: Iterable[str] = (),
    temporal: bool = False,
    temporal_policy: TemporalPolicyLike = None,
    audio: bool = True,
    audio_policy: AudioPolicyLike = None,
    threads: int | None = None,
    **open_options: Any,
) -> Screening:
    """Screen one clip: is it a render at all, and if not, what is wrong, where and how badly.

    ``source`` is whatever :func:`~screentest.media.open_clip` opens: a path, a folder of images, a
    ``(T, H, W, 3)`` array, a list of images, an opened clip; ``open_options`` are its options
    (``layout``, ``value_range``, ``bit_depth``, ``frame_rate``, ``alpha``, ``decoder``, ...).
    ``policy`` and ``spec`` are a :class:`~screentest.verdicts.policy.Policy` and a
    :class:`~screentest.verdicts.delivery.Delivery`, or the paths of their TOML files; ``require``
    names axes that must have been measured. ``depth="sampled"`` reads only the frames that the
    calibrated axes need, and lists the other axes as not measured.

    ``temporal=True`` adds the temporal screens, from the same decode: brightness that flickers, a
    flash, motion that comes in a rhythm, with cuts and fades as notes. They read every pixel where
    the screen reads a grid: a file takes about a third longer, frames in memory two to three times
    as long, and ``depth="sampled"`` is refused. Their axes (``flicker``, ``flash``,
    ``judder``) decide about ``unmeasured`` only where ``require`` names them. ``temporal_policy``
    is their :class:`~screentest.verdicts.temporal_policy.TemporalPolicy`, or the path of its TOML
    file.

    A file's soundtrack is screened as well, while the picture is decoded: silent, clipped, cut off,
    one channel dead, damaged. Its defects are called ``audio_<code>``; ``audio_policy`` is an
    :class:`~screentest.verdicts.audio_policy.AudioPolicy`, or the path of its TOML file. A
    soundtrack that cannot be read leaves the clip unmeasured. ``audio=False`` leaves the sound
    out; so does ``depth="sampled"``, which lists ``audio`` as not measured. A clip without sound is
    judged by its picture, unless ``require`` names ``audio``.

    A failed screen is a result. Raises :class:`~screentest.errors.MediaError` for a source that
    cannot be read, :class:`~screentest.errors.InputError` for a wrong argument,
    :class:`~screentest.errors.PolicyError` for a policy or spec that contradicts itself, and
    ``FileNotFoundError``.

    >>> import numpy as np
    >>> clip = np.random.default_rng(0).integers(0, 256, (6, 96, 128, 3), np.uint8)
    >>> result = screen(clip)
    >>> result.verdict, [defect.code for defect in result.defects]
    ('reject', ['noise'])
    """
    sound = _sound(audio, audio_policy)
    asked = _asked(policy, spec, depth, require, temporal, temporal_policy, sound)
    return _screen(source, asked, compute.threads(threads), open_options)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a clip is judged by; ``temporal`` and ``audio`` are ``None`` where these screens are not
    asked for."""

    policy: Policy
    spec: Delivery | None
    depth: Depth
    require: tuple[str, ...]
    temporal: TemporalPolicy | None
    audio: AudioPolicy | None


def _sound(audio: bool, policy: AudioPolicyLike) -> AudioPolicy | None:
    if not isinstance(audio, bool):
        raise InputError(
            f"audio={audio!r}: True or False was expected; a policy goes to audio_policy"
        )
    if not audio:
        if policy is not None:
            raise InputError("an audio policy was given, but audio=False leaves the sound out")
        return None
    from screentest.verdicts.audio_policy import as_audio_policy

    return as_audio_policy(policy)


def _asked(
    policy: PolicyLike,
    spec: DeliveryLike,
    depth: Depth,
    require: Iterable[str],
    temporal: bool,
    temporal_policy: TemporalPolicyLike,
    audio: AudioPolicy | None = None,
) -> _Asked:
    """The request, checked as far as it can be before anything is opened."""
    if not isinstance(temporal, bool):
        raise InputError(
            f"temporal={temporal!r}: True or False was expected; a policy goes to temporal_policy"
        )
    if temporal_policy is not None and not temporal:
        raise InputError(
            "a temporal policy was given, but the temporal screens were not asked for: "
            "say temporal=True (--temporal) as well"
        )
    if temporal and depth == "sampled":
        raise InputError(
            "the temporal screens need every frame, and depth='sampled' reads ten: "
            "use depth='full', or leave temporal out"
        )
    limits = None
    if temporal:
        from screentest.verdicts.temporal_policy import as_temporal_policy

        limits = as_temporal_policy(temporal_policy)
    axes = _axes(require, temporal, audio is not None)
    return _Asked(as_policy(policy), as_delivery(spec), _depth(depth), axes, limits, audio)


def _screen(source: Any, asked: _Asked, threads: int, open_options: dict[str, Any]) -> Screening:
    from screentest.media import open_clip
    from screentest.media.clip import Clip

    if isinstance(source, Clip):
        if open_options:
            raise InputError(
                f"an opened clip takes no {', '.join(sorted(open_options))}; "
                "give it to open_clip instead"
            )
        return _judged(*_seen_and_heard(source, source, asked, threads), asked)
    with open_clip(source, threads=threads, **open_options) as clip:
        measured = _seen_and_heard(source, clip, asked, threads)
    return _judged(*measured, asked)


def _seen_and_heard(
    source: Any, clip: Clip, asked: _Asked, threads: int
) -> tuple[IntegrityFacts, TemporalFacts | ScreentestError | None, Heard]:
    if asked.audio is None:
        return *_measured(clip, asked, threads), None
    if asked.depth == "sampled":
        sound = "a sampled screen reads ten frames and no sound" if clip.info.audio else None
        return *_measured(clip, asked, threads), sound
    from screentest.hearing import hearing

    with hearing(source, clip, threads) as heard:
        return *_measured(clip, asked, threads), heard()


def _measured(
    clip: Clip, asked: _Asked, threads: int
) -> tuple[IntegrityFacts, TemporalFacts | ScreentestError | None]:
    """The facts from one decode. The second are ``None`` where nobody asked for them, and an error
    where the clip has none."""
    from screentest.metrics.integrity import measure_integrity

    if asked.temporal is None:
        return measure_integrity(clip, depth=asked.depth, threads=threads), None
    from screentest.metrics.families import choose, resolve_options
    from screentest.metrics.one_pass import run

    families = choose(("integrity", "temporal"))
    found = run(clip, families, resolve_options(families, None, windows=1), threads)
    if "integrity" in found.refused:
        raise found.refused["integrity"]
    return found.facts["integrity"], (found.facts | found.refused)["temporal"]


def _judged(
    facts: IntegrityFacts,
    temporal: TemporalFacts | ScreentestError | None,
    heard: Heard,
    asked: _Asked,
) -> Screening:
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
        judgement = join_sound(judgement, heard, asked.audio, looked_at=full, insisted=insisted)
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


def screen_many(
    sources: Iterable[Any],
    *,
    policy: PolicyLike = None,
    spec: DeliveryLike = None,
    depth: Depth = "full",
    require: Iterable[str] = (),
    temporal: bool = False,
    temporal_policy: TemporalPolicyLike = None,
    audio: bool = True,
    audio_policy: AudioPolicyLike = None,
    threads: int | None = None,
    **open_options: Any,
) -> Generator[Screening | ScreeningError, None, None]:
    """Screen many sources within one compute budget; results come in the order of the sources.

    A source that cannot be read gives a :class:`ScreeningError` and the batch goes on; a wrong
    argument raises before the first source is opened. ``sources`` may be a generator: it is read
    only a little ahead of the results. Closing the iterator drops what has not begun.
    """
    check_sources(sources)
    sound = _sound(audio, audio_policy)
    asked = _asked(policy, spec, depth, require, temporal, temporal_policy, sound)

    def one(source: Any, each: int) -> Screening | ScreeningError:
        try:
            return _screen(source, asked, each, open_options)
        except (ScreentestError, OSError) as error:
            code, message = describe_error(error)
            return ScreeningError(
                source=name_of(source), code=code, message=message, temporal=temporal
            )

    return results_in_order(one, sources, compute.threads(threads))


class Screener:
    """Screens frames as a generator makes them, in constant memory: push each, then finish.

    A frame is what one frame of :func:`screen` may be: ``(H, W, 3)`` or ``(H, W)``, uint8, uint16
    with ``bit_depth``, or float in [0, 1] unless ``value_range`` says otherwise; all of one size
    and type. A frame may be overwritten once the next has been pushed; where one buffer serves for
    all, the frames are copied.

    Give ``frames`` if the number is known: the calibrated axes then read exactly the pairs that
    they read of a file, and a generator that stops early is rejected as damaged. ``frame_rate``
    gives the defects their seconds. ``temporal`` adds the temporal screens, as in :func:`screen`.

    >>> import numpy as np
    >>> screener = Screener(frame_rate=24)
    >>> for _ in range(48):
    ...     screener.push(np.zeros((96, 128, 3), np.uint8))
    >>> screener.finish().defects[0].code
    'blank'
    """

    def __init__(
        self,
        *,
        frames: int | None = None,
        width: int | None = None,
        height: int | None = None,
        frame_rate: float | None = None,
        policy: PolicyLike = None,
        spec: DeliveryLike = None,
        require: Iterable[str] = (),
        temporal: bool = False,
        temporal_policy: TemporalPolicyLike = None,
        source: str = "<frames>",
        layout: str | None = None,
        value_range: tuple[float, float] | None = None,
        bit_depth: int | None = None,
        alpha: Any = None,
        threads: int | None = None,
    ) -> None:
        from screentest.media.open import is_rate

        self._asked = _asked(policy, spec, "full", require, temporal, temporal_policy)
        self._threads = compute.threads(threads)
        for name, count in (("frames", frames), ("width", width), ("height", height)):
            if count is not None and (isinstance(count, bool) or count < 1):
                raise InputError(f"{name}={count!r}: a whole number of at least 1 was expected")
        if frame_rate is not None and not is_rate(frame_rate):
            raise InputError(f"frame_rate={frame_rate!r}: frames per second above 0 were expected")
        self._frames, self._frame_rate, self._source = frames, frame_rate, source
        self._size = (width, height)
        self._options = {
            "layout": layout,
            "value_range": value_range,
            "bit_depth": bit_depth,
            "alpha": alpha,
        }
        self._pushed = 0
        self._first: ClipInfo | None = None
        self._accumulator: IntegrityAccumulator | None = None
        self._temporal: TemporalAccumulator | ScreentestError | None = None
        self._finished = False

    @property
    def pushed(self) -> int:
        """Frames taken so far."""
        return self._pushed

    def push(self, frame: Any, *, time_s: float | None = None) -> None:
        """Take the next frame, shown at ``time_s`` (default: by its index and ``frame_rate``).

        Raises :class:`~screentest.errors.MediaError` for a frame that cannot be read as described
        or differs from the first in size or type, and :class:`~screentest.errors.InputError` for a
        frame too many or after :meth:`finish`.
        """
        from screentest.media import open_clip
        from screentest.media.clip import Frame

        if self._finished:
            raise InputError("the screener has finished; make a new one for the next clip")
        if self._frames is not None and self._pushed >= self._frames:
            raise InputError(f"frames={self._frames} was said, and this would be one more")
        options = {key: value for key, value in self._options.items() if value is not None}
        with open_clip(frame, **options) as clip:
            info = clip.info
            if info.frames != 1:
                raise MediaError(
                    f"push takes one frame at a time; this is {info.frames}", code="many_frames"
                )
            planes = next(iter(clip.frames())).planes
            accumulator = self._accumulator or self._begin(info, clip.format)
        self._check_like_the_first(info)
        if info.alpha == "transparent":
            # One frame that shows what lies behind it makes the clip one that does.
            self._first = info
        if time_s is None and self._frame_rate is not None:
            time_s = self._pushed / self._frame_rate
        pushed = Frame(self._pushed, time_s, planes)
        accumulator.push(pushed)
        self._push_temporal(pushed)
        self._pushed += 1

    def finish(self) -> Screening:
        """Judge what was pushed. Raises ``MediaError`` if that is nothing."""
        if self._accumulator is None or self._first is None:
            raise MediaError(f"{self._source}: no frames were pushed", code="no_frames")
        self._finished = True
        rate, count = self._frame_rate, self._pushed
        clip = msgspec.structs.replace(
            self._first,
            source=self._source,
            kind="array",
            frames=count if self._frames is None else self._frames,
            frame_rate=rate,
            constant_frame_rate=None if rate is None else True,
            duration_s=None if rate is None else count / rate,
        )
        facts, over_time = self._accumulator.finish(clip), self._temporal
        if over_time is None or isinstance(over_time, ScreentestError):
            return _judged(facts, over_time, None, self._asked)
        return _judged(facts, over_time.finish(clip), None, self._asked)

    def _push_temporal(self, frame: Frame) -> None:
        if self._temporal is None or isinstance(self._temporal, ScreentestError):
            return
        try:
            self._temporal.push_many([frame])
        except MediaError as error:
            if error.code != "non_finite":
                raise
            # The integrity screen counts such samples; over time they mean nothing.
            self._temporal = error

    def _begin(self, info: ClipInfo, format: FrameFormat) -> IntegrityAccumulator:
        from screentest.metrics.integrity import IntegrityAccumulator

        for name, wanted, has in (
            ("width", self._size[0], info.width),
            ("height", self._size[1], info.height),
        ):
            if wanted is not None and wanted != has:
                raise MediaError(f"frame 0 has {name} {has}, {name}={wanted} was said")
        self._first = info
        self._accumulator = IntegrityAccumulator(
            format, frames=self._frames, threads=self._threads, reused_buffers=True
        )
        if self._asked.temporal is not None:
            from screentest.metrics.family import Begin
            from screentest.metrics.temporal import TemporalAccumulator

            self._temporal = TemporalAccumulator(
                Begin(format=format, frames=self._frames, threads=self._threads)
            )
        return self._accumulator

    def _check_like_the_first(self, info: ClipInfo) -> None:
        first = self._first
        assert first is not None
        had = (first.width, first.height, first.pixel_format, first.bit_depth)
        has = (info.width, info.height, info.pixel_format, info.bit_depth)
        if has != had:
            raise MediaError(
                f"frame {self._pushed} is {info.width}x{info.height} {info.pixel_format}; the "
                f"first was {first.width}x{first.height} {first.pixel_format}",
                code="frames_differ",
            )


def _depth(depth: Depth) -> Depth:
    if depth not in ("full", "sampled"):
        raise InputError(f"depth is {depth!r}; 'full' or 'sampled' was expected")
    return depth


def _axes(require: Iterable[str], temporal: bool, audio: bool) -> tuple[str, ...]:
    axes = (require,) if isinstance(require, str) else tuple(require)
    if all(axis in AXES for axis in axes):
        return axes
    from screentest.metrics.temporal import AXES as TEMPORAL_AXES

    known = (*AXES, *(TEMPORAL_AXES if temporal else ()), *(("audio",) if audio else ()))
    for axis in axes:
        if axis in known:
            continue
        if axis in TEMPORAL_AXES:
            told = "an axis of the temporal screens: say temporal=True (--temporal) as well"
        elif axis == "audio":
            told = "but the sound is left out: a file is heard unless audio=False (--no-audio)"
        else:
            told = f"which is no axis; the axes are {', '.join(known)}"
        raise PolicyError(f"require names {axis!r}, {told}", code="unknown_axis", axis=str(axis))
    return axes

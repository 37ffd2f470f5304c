"""Screening of what can be opened, one by one and many within one compute budget."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

from screentest import compute
from screentest.errors import InputError, ScreentestError
from screentest.reports.screening import describe_error
from screentest.screening.request import Asked, Depth, asked_for, sound_policy_of
from screentest.screening.result import Screening, ScreeningError, judged
from screentest.side_by_side import check_sources, name_of, results_in_order
from screentest.verdicts.delivery import DeliveryLike
from screentest.verdicts.policy import PolicyLike

if TYPE_CHECKING:
    from screentest.media.clip import Clip
    from screentest.metrics.integrity import IntegrityFacts
    from screentest.metrics.temporal import TemporalFacts
    from screentest.screening.hearing import Heard
    from screentest.verdicts.audio_policy import AudioPolicyLike
    from screentest.verdicts.temporal_policy import TemporalPolicyLike

__all__ = ["screen", "screen_many"]


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
    sound = sound_policy_of(audio, audio_policy)
    asked = asked_for(policy, spec, depth, require, temporal, temporal_policy, sound)
    return _screen(source, asked, compute.threads(threads), open_options)


def _screen(source: Any, asked: Asked, threads: int, open_options: dict[str, Any]) -> Screening:
    from screentest.media import open_clip
    from screentest.media.clip import Clip

    if isinstance(source, Clip):
        if open_options:
            raise InputError(
                f"an opened clip takes no {', '.join(sorted(open_options))}; "
                "give it to open_clip instead"
            )
        return judged(*_seen_and_heard(source, source, asked, threads), asked)
    with open_clip(source, threads=threads, **open_options) as clip:
        measured = _seen_and_heard(source, clip, asked, threads)
    return judged(*measured, asked)


def _seen_and_heard(
    source: Any, clip: Clip, asked: Asked, threads: int
) -> tuple[IntegrityFacts, TemporalFacts | ScreentestError | None, Heard]:
    if asked.audio is None:
        return *_measured(clip, asked, threads), None
    if asked.depth == "sampled":
        sound = "a sampled screen reads ten frames and no sound" if clip.info.audio else None
        return *_measured(clip, asked, threads), sound
    from screentest.screening.hearing import hearing

    with hearing(source, clip, threads) as heard:
        return *_measured(clip, asked, threads), heard()


def _measured(
    clip: Clip, asked: Asked, threads: int
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
    sound = sound_policy_of(audio, audio_policy)
    asked = asked_for(policy, spec, depth, require, temporal, temporal_policy, sound)

    def one(source: Any, each: int) -> Screening | ScreeningError:
        try:
            return _screen(source, asked, each, open_options)
        except (ScreentestError, OSError) as error:
            code, message = describe_error(error)
            return ScreeningError(
                source=name_of(source), code=code, message=message, temporal=temporal
            )

    return results_in_order(one, sources, compute.threads(threads))

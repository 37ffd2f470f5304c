"""Whether a sound holds what a checklist asks for."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest import media
from screentest.errors import InputError
from screentest.metrics.audio_content.answers import parse_answer
from screentest.metrics.audio_content.checklist import (
    Checklist,
    ChecklistItem,
    load_checklist,
    parse_checklist,
)
from screentest.metrics.audio_content.facts import AudioContentFacts, ContentAnswer
from screentest.metrics.audio_content.names import IMPL
from screentest.metrics.audio_content.protocols import AudioJudge, Transcriber, identity_of
from screentest.metrics.audio_content.words import find_words, words_of
from screentest.metrics.facts import Unmeasured

__all__ = ["measure_content"]

_LONGEST_REASON = 200


def measure_content(
    source: Any,
    checklist: Checklist | Mapping[str, Any] | str | os.PathLike[str],
    *,
    transcriber: Transcriber | None = None,
    judge: AudioJudge | None = None,
    **read_options: Any,
) -> AudioContentFacts:
    """Whether a sound holds the words and events that were asked for, from 0 to 1, more is better.

    Args:
        source: an open :class:`~screentest.media.Sound` (left open), or anything that
            :func:`screentest.media.read_audio` reads. It is in memory as a whole while models
            listen to it.
        checklist: what was asked for: a :class:`Checklist`, the path of one, or its mapping.
        transcriber: writes down what is said; asked once, and only if the checklist has speech.
        judge: asked for each event.
        **read_options: passed to :func:`~screentest.media.read_audio` (``sample_rate=``,
            ``stream=``...).

    Returns:
        The facts. A kind that the checklist does not ask for is unmeasured and does not apply; one
        without its model, or whose model fails or gives no answer that counts, is unmeasured with
        the reason. An empty transcript is an answer: nothing is said. A sound with NaN or infinite
        samples is given to no model.

    Raises:
        MediaError: the source has no sound, or cannot be read.
        InputError: an argument is wrong, the checklist contradicts itself, or a model has not the
            method of its protocol (``bad_instrument``).
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> class Deaf:
        ...     def transcribe(self, samples, sample_rate_hz):
        ...         return ""
        >>> asked = {"name": "call", "items": [{"id": "hello", "kind": "speech", "text": "Hello"}]}
        >>> silence = np.zeros((8000, 1), np.float32)
        >>> facts = measure_content(silence, asked, transcriber=Deaf(), sample_rate=8000)
        >>> facts.audio_speech_exact, facts.audio_speech_fuzzy, facts.audio_event_recall
        (0.0, 0.0, None)
    """
    asked = _given(checklist)
    _has_method(transcriber, Transcriber, "transcriber", "transcribe(samples, sample_rate_hz)")
    _has_method(judge, AudioJudge, "judge", "ask(samples, sample_rate_hz, question)")
    speech, events = asked.of_kind("speech"), asked.of_kind("audio-event")
    is_listened_to = (transcriber is not None and speech) or (judge is not None and events)
    sound = media.read_audio(source, **read_options)
    try:
        samples = sound.samples if is_listened_to else np.empty((0, 1), np.float32)
        rate = sound.info.sample_rate_hz
        spoiled = _non_finite(samples, rate)
        samples = samples.view()
        samples.flags.writeable = False
        transcript, unheard = _transcribe(transcriber, samples, rate, spoiled, speech)
        answers = {
            **{item.id: _compared(item, transcript, unheard) for item in speech},
            **{item.id: _asked(item, judge, samples, rate, spoiled) for item in events},
        }
        info = sound.info
    finally:
        if sound is not source:
            sound.close()
    ordered = tuple(answers[item.id] for item in asked.items)
    values, unmeasured = _pooled(ordered)
    return AudioContentFacts(
        impl=IMPL,
        sound=info,
        checklist=asked.name,
        checklist_sha256=asked.sha256,
        transcriber=None if transcriber is None else _printable(identity_of(transcriber)),
        judge=None if judge is None else _printable(identity_of(judge)),
        transcript=transcript,
        answers=ordered,
        unmeasured=unmeasured,
        **values,
    )


def _given(checklist: Any) -> Checklist:
    if isinstance(checklist, Checklist):
        return checklist
    if isinstance(checklist, str | os.PathLike):
        return load_checklist(checklist)
    return parse_checklist(checklist)


def _has_method(instrument: Any, protocol: type, argument: str, method: str) -> None:
    if instrument is not None and not isinstance(instrument, protocol):
        raise InputError(
            f"{argument}={type(instrument).__name__}: it has no method {method}",
            code="bad_instrument",
            argument=argument,
        )


def _non_finite(samples: NDArray[np.float32], rate: int) -> str | None:
    """Why nobody can listen to these samples, looked at by the second."""
    blocks = (samples[at : at + rate] for at in range(0, len(samples), rate))
    bad = sum(block.size - int(np.count_nonzero(np.isfinite(block))) for block in blocks)
    return f"{bad} of its samples are NaN or infinite" if bad else None


def _transcribe(
    transcriber: Transcriber | None,
    samples: NDArray[np.float32],
    rate: int,
    spoiled: str | None,
    speech: tuple[ChecklistItem, ...],
) -> tuple[str | None, str]:
    """What is said, and else the reason why nobody knows."""
    if not speech:
        return None, ""
    if transcriber is None:
        return None, "no transcriber was given (transcriber=, --transcriber)"
    if spoiled:
        return None, spoiled
    return _said(lambda: transcriber.transcribe(samples, rate), "the transcriber")


def _compared(item: ChecklistItem, transcript: str | None, unheard: str) -> ContentAnswer:
    if transcript is None:
        return _answer(item, reason=unheard)
    found = find_words(words_of(item.text), words_of(transcript))
    return _answer(item, answer=found.stretch, exact=found.exact, likeness=found.likeness)


def _asked(
    item: ChecklistItem,
    judge: AudioJudge | None,
    samples: NDArray[np.float32],
    rate: int,
    spoiled: str | None,
) -> ContentAnswer:
    if judge is None:
        return _answer(item, reason="no judge was given (audio_judge=)")
    if spoiled:
        return _answer(item, reason=spoiled)
    words, reason = _said(lambda: judge.ask(samples, rate, item.question), "the judge")
    if words is None:
        return _answer(item, reason=reason)
    heard, reason = parse_answer(words)
    return _answer(item, answer=words, heard=heard, reason=reason or None)


def _answer(item: ChecklistItem, **found: Any) -> ContentAnswer:
    return ContentAnswer(
        id=item.id,
        kind=item.kind,
        weight=item.weight,
        asked=item.asked,
        group=item.group,
        **found,
    )


def _said(ask: Callable[[], Any], who: str) -> tuple[str | None, str]:
    """A model's words, or one line that says why there are none. Whatever it raises is its own
    failure, and the next question is asked all the same."""
    try:
        words = ask()
    except Exception as error:
        return None, f"{who} failed: {_one_line(error)}"
    if isinstance(words, str):
        return _printable(words), ""
    if inspect.iscoroutine(words):
        words.close()
    return None, f"{who} returned a {type(words).__name__}, where a str was expected"


def _one_line(error: Exception) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error that cannot say what it is has at least a type
        text = ""
    line = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return _printable(line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 3]}...")


def _printable(text: str) -> str:
    """Without halves of surrogate pairs, which no report could be written with."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _pooled(
    answers: tuple[ContentAnswer, ...],
) -> tuple[dict[str, float], tuple[Unmeasured, ...]]:
    """The metrics that have a value, and the others."""
    speech = [answer for answer in answers if answer.kind == "speech"]
    events = [answer for answer in answers if answer.kind == "audio-event"]
    columns: dict[str, tuple[list[ContentAnswer], list[float | bool | None], str]] = {
        "audio_event_recall": (events, [answer.heard for answer in events], "events"),
        "audio_speech_exact": (speech, [answer.exact for answer in speech], "speech items"),
        "audio_speech_fuzzy": (speech, [answer.likeness for answer in speech], "speech items"),
    }
    values: dict[str, float] = {}
    unmeasured: list[Unmeasured] = []
    for name, (asked, numbers, what) in columns.items():
        if not asked:
            unmeasured.append(Unmeasured(name, f"the checklist has no {what}", applies=False))
        elif reason := _missing(asked, numbers, what):
            unmeasured.append(Unmeasured(name, reason))
        else:
            weights = [answer.weight for answer in asked]
            values[name] = _weighted([float(n) for n in numbers if n is not None], weights)
    return values, tuple(unmeasured)


def _missing(
    asked: list[ContentAnswer], numbers: list[float | bool | None], what: str
) -> str | None:
    reasons = [a.reason for a, number in zip(asked, numbers, strict=True) if number is None]
    if not reasons:
        return None
    if len(set(reasons)) == 1 and len(reasons) == len(asked):
        return reasons[0]
    return f"{len(reasons)} of {len(asked)} {what} have no answer; of the first: {reasons[0]}"


def _weighted(numbers: Iterable[float], weights: list[float]) -> float:
    """The weighted mean; 1 exactly where every number is. No sum of weights is too large for it."""
    heaviest = max(weights)
    shares = [weight / heaviest for weight in weights]
    parts = [share * number for share, number in zip(shares, numbers, strict=True)]
    return math.fsum(parts) / math.fsum(shares)

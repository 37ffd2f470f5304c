"""Whether a sound holds what was asked for: words and events, item by item."""

from __future__ import annotations

from typing import Literal

import msgspec

from screentest.media.info import SoundInfo
from screentest.metrics.facts import Unmeasured

__all__ = ["AudioContentFacts", "ContentAnswer"]


class ContentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one item of the checklist.

    Attributes:
        id: the item's.
        kind: ``"speech"`` or ``"audio-event"``.
        weight: the item's.
        asked: the words, or the question.
        answer: of speech the closest stretch of the transcript, as the words that were compared;
            of an event the judge's words; ``None`` where there are none.
        exact: of speech: the words were said, to the letter.
        likeness: of speech: from 0 to 1, how like the words the closest stretch is.
        heard: of an event: yes or no; ``None`` where the judge gave no answer that counts.
        reason: why the item has no answer that counts.
        group: the item's label.
    """

    id: str
    kind: Literal["speech", "audio-event"]
    weight: float
    asked: str
    answer: str | None = None
    exact: bool | None = None
    likeness: float | None = None
    heard: bool | None = None
    reason: str | None = None
    group: str = ""


class AudioContentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one sound against a checklist.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        sound: what was listened to.
        checklist: name of the checklist.
        checklist_sha256: digest of its items.
        transcriber: name and version of the transcriber, ``None`` where none was given.
        judge: the same of the judge.
        transcript: what was said, as the transcriber heard it.
        answers: every item of the checklist, in its order.
        audio_event_recall: weighted share of the events that are heard; ``None`` unless the judge
            answered for every one of them.
        audio_speech_exact: weighted share of the speech items that are said to the letter.
        audio_speech_fuzzy: weighted mean of their likeness.
        unmeasured: metrics that have no value, with the reason.
    """

    impl: str
    sound: SoundInfo
    checklist: str
    checklist_sha256: str
    transcriber: str | None = None
    judge: str | None = None
    transcript: str | None = None
    answers: tuple[ContentAnswer, ...] = ()
    audio_event_recall: float | None = None
    audio_speech_exact: float | None = None
    audio_speech_fuzzy: float | None = None
    unmeasured: tuple[Unmeasured, ...] = ()

"""Whether a sound holds what was asked for: the words, and the events.

A :class:`Checklist` says what was asked for, a :class:`Transcriber` what is said, an
:class:`AudioJudge` whether an event is heard. None of them comes with a verdict, and of what could
not be asked or was not answered the facts say so: silence of an instrument is no measurement.

To the letter means to the letter: a near match counts in ``audio_speech_fuzzy`` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.audio_content.checklist import (
        Checklist,
        ChecklistItem,
        load_checklist,
        parse_checklist,
    )
    from screentest.metrics.audio_content.facts import AudioContentFacts, ContentAnswer
    from screentest.metrics.audio_content.measure import measure_content
    from screentest.metrics.audio_content.names import IMPL, METRICS
    from screentest.metrics.audio_content.protocols import AudioJudge, Transcriber
    from screentest.metrics.audio_content.transcribers import TRANSCRIBERS, transcriber_named

__all__ = [
    "IMPL",
    "METRICS",
    "TRANSCRIBERS",
    "AudioContentFacts",
    "AudioJudge",
    "Checklist",
    "ChecklistItem",
    "ContentAnswer",
    "Transcriber",
    "load_checklist",
    "measure_content",
    "parse_checklist",
    "transcriber_named",
]

__getattr__, __dir__ = lazily(
    __name__,
    __all__,
    ("names", "facts", "protocols", "transcribers", "checklist", "measure"),
)

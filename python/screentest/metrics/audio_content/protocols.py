"""The models that listen, which the caller brings."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["AudioJudge", "Transcriber", "identity_of"]


@runtime_checkable
class Transcriber(Protocol):
    """Writes down what is said.

    It may have ``name`` and ``version``, which the facts quote; without a name they quote its type.
    What it raises is the reason why the speech is unmeasured.
    """

    def transcribe(self, samples: NDArray[np.float32], sample_rate_hz: int) -> str:
        """What is said, as plain text; empty where nothing is.

        Args:
            samples: ``(N, C)`` in [-1, 1], every channel at the rate of the source. Read-only:
                whoever wants to change them copies them.
            sample_rate_hz: samples per second and channel.
        """
        ...


@runtime_checkable
class AudioJudge(Protocol):
    """Answers a question about a sound. As for its name and what it raises, see
    :class:`Transcriber`."""

    def ask(self, samples: NDArray[np.float32], sample_rate_hz: int, question: str) -> str:
        """The answer, which begins with yes or no (see
        :mod:`screentest.metrics.audio_content.answers`).

        The question is the author's, word for word: whoever hands it to a model adds how to answer
        it, and that only what is heard counts.

        Args:
            samples, sample_rate_hz: as for :meth:`Transcriber.transcribe`.
            question: one, of the kind that yes or no answers.
        """
        ...


def identity_of(instrument: Any) -> str:
    """How facts quote an instrument: its name, else its type, and its version if it says one."""
    said = [_text(instrument, "name") or type(instrument).__name__, _text(instrument, "version")]
    return " ".join(part for part in said if part)


def _text(instrument: Any, attribute: str) -> str:
    try:
        value = getattr(instrument, attribute, None)
    except Exception:  # a property may fail, and what it would have said is no measurement
        return ""
    return " ".join(value.split()) if isinstance(value, str) else ""

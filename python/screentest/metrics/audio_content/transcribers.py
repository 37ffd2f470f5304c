"""The transcribers that screentest brings, by name."""

from __future__ import annotations

import difflib

from screentest.errors import InputError
from screentest.metrics.audio_content.protocols import Transcriber

__all__ = ["TRANSCRIBERS", "transcriber_named"]

TRANSCRIBERS = ("pocketsphinx",)
"""What :func:`transcriber_named` knows."""


def transcriber_named(name: str) -> Transcriber:
    """One of :data:`TRANSCRIBERS`, ready to listen.

    Raises:
        InputError: there is none of this name (``unknown_transcriber``).
        MissingBackendError: its extra is not installed.
    """
    if name == "pocketsphinx":
        from screentest.metrics.audio_content.pocketsphinx import PocketsphinxTranscriber

        return PocketsphinxTranscriber()
    near = difflib.get_close_matches(str(name), TRANSCRIBERS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"expected {' or '.join(TRANSCRIBERS)}"
    raise InputError(
        f"no transcriber is called {name!r}; {hint}", code="unknown_transcriber", transcriber=name
    )

"""CMU PocketSphinx as a transcriber: small, on the CPU, with its model of US English inside.

It hears clearly spoken English over little else: of clear synthesised voices it gets 2 to 6 % of
the words wrong, of a book read aloud a third, with noise 20 dB below the speech about half; of
other languages, song and accents it writes nonsense. A transcript that lacks the words says that
this transcriber did not hear them. Nothing tells it what was asked for: a grammar of the words
asked would make it hear them.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest.errors import InputError, MissingBackendError

__all__ = ["PocketsphinxTranscriber"]

# What the acoustic model was trained on.
_RATE_HZ = 16000
# The detector of speech is late for a soft beginning: without this much more, "the" is heard as
# "a" and "please" as "lee's".
_MARGIN_S = 0.3
# The decoder's memory grows with what it hears in one go. Speech without a pause is cut where it
# is quietest in the last sixth of so much.
_LONGEST_S = 60
_SEARCHED_S = 10


class PocketsphinxTranscriber:
    """Stretches of speech are found by the detector that comes with it and written down one by one.

    Every call starts afresh, so what was heard before changes nothing. Calls from several threads
    do not meet.

    Raises:
        MissingBackendError: pocketsphinx is not installed.
    """

    name = "pocketsphinx en-us"

    def __init__(self) -> None:
        self._library = _library()
        self.version = importlib.metadata.version("pocketsphinx")

    def transcribe(self, samples: NDArray[np.float32], sample_rate_hz: int) -> str:
        """What is said, in lower case; empty where no speech is found.

        Args:
            samples: ``(N, C)`` or ``(N,)`` in [-1, 1]; the mean of the channels is heard.
            sample_rate_hz: any; resampled to 16 kHz.

        Raises:
            InputError: samples are NaN or infinite, or of another shape.
        """
        speech = _resampled(samples, sample_rate_hz)
        if speech.size == 0:
            return ""
        decoder = self._library.Decoder(loglevel="FATAL")
        words: list[str] = []
        for first, last in self._stretches(speech):
            decoder.start_utt()
            decoder.process_raw(speech[first:last].tobytes(), full_utt=True)
            decoder.end_utt()
            heard = decoder.hyp()
            if heard is not None and heard.hypstr:
                words.append(heard.hypstr)
        return " ".join(words)

    def _stretches(self, speech: NDArray[np.int16]) -> Iterator[tuple[int, int]]:
        """First and last sample (exclusive) of each stretch that may hold speech."""
        merged: list[list[float]] = []
        for start_s, end_s in self._spoken(speech):
            if merged and start_s - _MARGIN_S <= merged[-1][1]:
                merged[-1][1] = end_s + _MARGIN_S
            else:
                merged.append([max(0.0, start_s - _MARGIN_S), end_s + _MARGIN_S])
        for start_s, end_s in merged:
            first = round(start_s * _RATE_HZ)
            last = min(round(end_s * _RATE_HZ), speech.size)
            while last - first > _LONGEST_S * _RATE_HZ:
                cut = _quietest(speech, first + (_LONGEST_S - _SEARCHED_S) * _RATE_HZ)
                yield first, cut
                first = cut
            yield first, last

    def _spoken(self, speech: NDArray[np.int16]) -> Iterator[tuple[float, float]]:
        """From when to when the detector hears speech, in seconds."""
        detector = self._library.Endpointer(sample_rate=_RATE_HZ)
        frame = detector.frame_bytes // speech.itemsize
        start_s = 0.0
        for at in range(0, speech.size, frame):
            heard = detector.in_speech
            part = speech[at : at + frame].tobytes()
            if at + frame < speech.size:
                detector.process(part)
            else:
                detector.end_stream(part)
            if detector.in_speech and not heard:
                start_s = detector.speech_start
            elif heard and not detector.in_speech:
                yield start_s, detector.speech_end


def _library() -> Any:
    try:
        import pocketsphinx
    except ImportError as error:
        raise MissingBackendError(
            f"the transcriber pocketsphinx is not installed ({error}); "
            "pip install 'screentest[speech]'",
            extra="speech",
        ) from None
    return pocketsphinx


def _resampled(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.int16]:
    """The mean of the channels at 16 kHz in 16 bits, by FFmpeg's resampler."""
    import av

    given = np.asarray(samples)
    if given.ndim not in (1, 2):
        raise InputError(f"samples of shape {given.shape}: expected (N, C) or (N,)")
    resampler = av.AudioResampler(format="s16", layout="mono", rate=_RATE_HZ)
    made: list[av.AudioFrame] = []
    for at in range(0, len(given), rate_hz):
        block = given[at : at + rate_hz]
        mono = block if block.ndim == 1 else block.mean(axis=1, dtype=np.float64)
        if not np.isfinite(mono).all():
            raise InputError("samples are NaN or infinite: nobody can listen to them")
        plane = np.clip(mono, -1.0, 1.0).astype(np.float32)[np.newaxis]
        frame = av.AudioFrame.from_ndarray(plane, format="fltp", layout="mono")
        frame.sample_rate = rate_hz
        made += resampler.resample(frame)
    if len(given):
        made += resampler.resample(None)
    parts = [frame.to_ndarray()[0].astype(np.int16, copy=False) for frame in made]
    return np.concatenate(parts) if parts else np.empty(0, np.int16)


def _quietest(speech: NDArray[np.int16], first: int) -> int:
    """The middle of the quietest 20 ms of the samples from ``first`` on where a cut is looked
    for."""
    block = _RATE_HZ // 50
    searched = speech[first : first + _SEARCHED_S * _RATE_HZ].astype(np.float64)
    energy = (searched.reshape(-1, block) ** 2).sum(axis=1)
    return first + int(energy.argmin()) * block + block // 2

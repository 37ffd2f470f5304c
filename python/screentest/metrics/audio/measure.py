"""A sound in, facts out."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest import compute
from screentest.media.background import in_background
from screentest.media.sound import Sound, read_audio
from screentest.metrics.audio.accumulator import AudioAccumulator
from screentest.metrics.audio.facts import AudioFacts

__all__ = ["measure_audio"]

# Seconds of sound decoded ahead of the meter.
_AHEAD = 2


def measure_audio(source: Any, *, threads: int | None = None, **read_options: Any) -> AudioFacts:
    """Levels, clipping, silence, stereo, spectral flatness, true peak and loudness of a sound.

    Args:
        source: an open :class:`~screentest.media.Sound` (left open), or anything that
            :func:`screentest.media.read_audio` opens.
        threads: compute budget; default ``min(4, CPUs)``.
        **read_options: passed to :func:`~screentest.media.read_audio` (``sample_rate=``,
            ``channel_layout=``, ``stream=``...).

    Returns:
        The facts, the same bits for any number of threads. Levels are in dB of full scale and
        never below -120. Silence has levels of -120 and no loudness; a sound shorter than 0.4 s, or
        wholly below -70 LUFS, has no loudness either, and each says why. With a NaN or infinite
        sample nothing is measured but how many there are and where.

    Raises:
        MediaError: the source has no sound, or cannot be read.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> tone = 0.5 * np.sin(2 * np.pi * 997 * np.arange(48000) / 48000)
        >>> facts = measure_audio(np.stack([tone, -tone], axis=1), sample_rate=48000)
        >>> round(facts.audio_peak_dbfs, 2), round(facts.audio_lufs, 2)
        (-6.02, -6.02)
        >>> facts.audio_channel_correlation
        -1.0
    """
    budget = compute.threads(threads)
    sound = read_audio(source, **read_options)
    with nullcontext() if sound is source else closing(sound):
        accumulator = AudioAccumulator(sound.info, threads=budget)
        for block in in_background(lambda: _blocks(sound), _AHEAD, "screentest-sound"):
            accumulator.push(block)
        return accumulator.finish(sound.damage)


def _blocks(sound: Sound) -> Generator[NDArray[np.float32], None, None]:
    yield from sound.blocks()

"""How loud, how clean, how silent a sound is, from its samples alone.

Loudness is that of ITU-R BS.1770-4 and EBU R 128, true peak that of its annex 2, loudness range
that of EBU Tech 3342. Each channel counts by its place: the low-frequency effects do not count, the
surrounds count 1.41. Mono is one channel: it is never counted twice, so a file of mono reads 3 LU
less than the same signal in both channels of stereo.

What is not known is not a number. No sound, a sound shorter than a block of 400 ms, silence, and a
sound that lies wholly under the gate are four different answers, and each has its reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.audio.accumulator import AudioAccumulator
    from screentest.metrics.audio.facts import AudioFacts, AudioSeries, ChannelFacts
    from screentest.metrics.audio.measure import measure_audio
    from screentest.metrics.audio.names import IMPL, METRICS

__all__ = [
    "IMPL",
    "METRICS",
    "AudioAccumulator",
    "AudioFacts",
    "AudioSeries",
    "ChannelFacts",
    "measure_audio",
]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "facts", "accumulator", "measure"))

"""How far a sound moved from its reference: in time, samples, spectrum, loudness, and where most.

The two are laid over each other at the lag, of up to 50 ms, at which they correlate most strongly;
an inverted copy correlates as strongly as an upright one, and the facts say which it is. What they
then share is compared as a programme, the mean of the channels, and channel by channel. Every
metric has its worst second, so that a person can listen to it.

A change of the sampler gives another take, not damage: the ratios here mean something only where
the samples should correspond, as after another codec, a cache or a change of precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.audio_pair.facts import (
        AudioPairFacts,
        PairChannel,
        PairSeries,
        WorstSecond,
    )
    from screentest.metrics.audio_pair.measure import measure_audio_pair
    from screentest.metrics.audio_pair.names import IMPL, METRICS

__all__ = [
    "IMPL",
    "METRICS",
    "AudioPairFacts",
    "PairChannel",
    "PairSeries",
    "WorstSecond",
    "measure_audio_pair",
]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "facts", "measure"))

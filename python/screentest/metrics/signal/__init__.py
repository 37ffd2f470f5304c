"""What a clip's pictures are like and how they change: detail, tone, flicker, motion.

None of it needs a model or a reference, and none is a quality by itself: a gate compares the
populations of two arms. Every frame is read once; the spectrum is that of the whole picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.signal.accumulator import SignalAccumulator
    from screentest.metrics.signal.clip_score import (
        ClipScore,
        load_clip_score,
        save_clip_score,
        score_clip,
    )
    from screentest.metrics.signal.facts import FEATURES, SignalFacts, SignalSeries
    from screentest.metrics.signal.measure import measure_signal
    from screentest.metrics.signal.names import IMPL, METRICS
    from screentest.metrics.signal.pooling import pool_signal

__all__ = [
    "FEATURES",
    "IMPL",
    "METRICS",
    "ClipScore",
    "SignalAccumulator",
    "SignalFacts",
    "SignalSeries",
    "load_clip_score",
    "measure_signal",
    "pool_signal",
    "save_clip_score",
    "score_clip",
]

__getattr__, __dir__ = lazily(
    __name__, __all__, ("names", "facts", "pooling", "accumulator", "measure", "clip_score")
)

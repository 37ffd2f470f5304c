"""Edges, what lies beside them, and texture: detail that needs no model.

Luma is blurred by a Gaussian of 1.2 pixels. The steepest twentieth of the blurred picture are its
edges; what the blur takes away in the two pixels beside them is overshoot, and elsewhere texture.
None of it is quality by itself: a sharp render overshoots more than a soft one. ``ringing_excess``
sets a candidate beside its reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.detail.accumulator import DetailAccumulator
    from screentest.metrics.detail.facts import DetailFacts, DetailSeries
    from screentest.metrics.detail.measure import measure_detail
    from screentest.metrics.detail.names import FRAMES, IMPL, METRICS

__all__ = [
    "FRAMES",
    "IMPL",
    "METRICS",
    "DetailAccumulator",
    "DetailFacts",
    "DetailSeries",
    "measure_detail",
]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "facts", "accumulator", "measure"))

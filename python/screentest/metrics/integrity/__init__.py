"""Is this a render at all: reference-free facts of a clip, cheap enough for every render.

The correlation, contrast and lattice numbers are taken from five adjacent pairs spread over the
clip. At ``depth="full"`` every frame is looked at once besides, on a fixed grid of pixels and rows,
for what changes over time; at ``depth="sampled"`` no other frame is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.integrity.accumulator import IntegrityAccumulator
    from screentest.metrics.integrity.facts import (
        Depth,
        FrameSeries,
        GridLine,
        IntegrityFacts,
        unmeasured_axes,
    )
    from screentest.metrics.integrity.measure import measure_integrity
    from screentest.metrics.integrity.names import (
        AXES,
        EVERY_FRAME_AXES,
        IMPL,
        TEMPORAL_AXES,
    )

__all__ = [
    "AXES",
    "EVERY_FRAME_AXES",
    "IMPL",
    "TEMPORAL_AXES",
    "Depth",
    "FrameSeries",
    "GridLine",
    "IntegrityAccumulator",
    "IntegrityFacts",
    "measure_integrity",
    "unmeasured_axes",
]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "facts", "accumulator", "measure"))

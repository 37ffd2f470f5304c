"""What brightness and motion do over time: reference-free facts of every frame's mean luma.

Flicker is told from fades, cuts, flashes and motion by its shape in time, and by whether most of
the picture shares it; so it is measured on clips that move. The numbers themselves need no pixels:
:func:`temporal_facts` takes the luma series of any pass over a clip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.temporal.accumulator import TemporalAccumulator
    from screentest.metrics.temporal.facts import (
        AXES,
        Cadence,
        RegionFlicker,
        TemporalFacts,
        TemporalSeries,
    )
    from screentest.metrics.temporal.from_series import LumaSeries, temporal_facts
    from screentest.metrics.temporal.measure import measure_temporal
    from screentest.metrics.temporal.names import IMPL, METRICS

__all__ = [
    "AXES",
    "IMPL",
    "METRICS",
    "Cadence",
    "LumaSeries",
    "RegionFlicker",
    "TemporalAccumulator",
    "TemporalFacts",
    "TemporalSeries",
    "measure_temporal",
    "temporal_facts",
]

__getattr__, __dir__ = lazily(
    __name__, __all__, ("names", "facts", "from_series", "accumulator", "measure")
)

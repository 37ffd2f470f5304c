"""What brightness and motion do over time: reference-free facts of every frame's mean luma.

Flicker is told from fades, cuts, flashes and motion by its shape in time, and by whether most of
the picture shares it; so it is measured on clips that move. The numbers themselves need no pixels:
:func:`temporal_facts` takes the luma series of any pass over a clip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    from screentest.metrics.temporal.names import IMPL

__all__ = [
    "AXES",
    "IMPL",
    "Cadence",
    "LumaSeries",
    "RegionFlicker",
    "TemporalAccumulator",
    "TemporalFacts",
    "TemporalSeries",
    "measure_temporal",
    "temporal_facts",
]

# Loaded when first used: the names of the metrics must cost no numpy, and judging facts no kernel.
_HOMES = {
    "AXES": "facts",
    "IMPL": "names",
    "Cadence": "facts",
    "LumaSeries": "from_series",
    "RegionFlicker": "facts",
    "TemporalAccumulator": "accumulator",
    "TemporalFacts": "facts",
    "TemporalSeries": "facts",
    "measure_temporal": "measure",
    "temporal_facts": "from_series",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

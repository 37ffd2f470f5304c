"""Edges, what lies beside them, and texture: detail that needs no model.

Luma is blurred by a Gaussian of 1.2 pixels. The steepest twentieth of the blurred picture are its
edges; what the blur takes away in the two pixels beside them is overshoot, and elsewhere texture.
None of it is quality by itself: a sharp render overshoots more than a soft one. ``ringing_excess``
sets a candidate beside its reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

# Loaded when first used: the names of the metrics cost neither numpy nor a kernel.
_HOMES = {
    "FRAMES": "names",
    "IMPL": "names",
    "METRICS": "names",
    "DetailAccumulator": "accumulator",
    "DetailFacts": "facts",
    "DetailSeries": "facts",
    "measure_detail": "measure",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

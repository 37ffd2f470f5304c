"""How much does it move: dense optical flow between neighbouring frames, by OpenCV.

Farneback's flow on grey pictures of at most 384 rows, of up to 24 pairs of frames. ``motion_mag``
says how far things move, ``flow_residual`` how much of the change that does not explain: the later
frame is fetched along the flow and compared with the earlier one. ``warp_error`` is the published
form of the latter, which fetches the earlier frame the wrong way and so measures motion again.

OpenCV comes with the ``flow`` extra. Its results have the same bits for any number of threads; its
version is part of every number's ``impl``, and another CPU may round the last bits otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from screentest.metrics.flow.accumulator import FlowAccumulator
    from screentest.metrics.flow.facts import FlowFacts, FlowSeries
    from screentest.metrics.flow.measure import measure_flow
    from screentest.metrics.flow.names import IMPL, METRICS, PAIRS

__all__ = [
    "IMPL",
    "METRICS",
    "PAIRS",
    "FlowAccumulator",
    "FlowFacts",
    "FlowSeries",
    "measure_flow",
]

# Loaded when first used: the names of the metrics cost neither numpy nor a kernel.
_HOMES = {
    "IMPL": "names",
    "METRICS": "names",
    "PAIRS": "names",
    "FlowAccumulator": "accumulator",
    "FlowFacts": "facts",
    "FlowSeries": "facts",
    "measure_flow": "measure",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

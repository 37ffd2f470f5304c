"""How much does it move: dense optical flow between neighbouring frames, by OpenCV.

Farneback's flow on grey pictures of at most 384 rows, of up to 24 pairs of frames. ``motion_mag``
says how far things move, ``flow_residual`` how much of the change that does not explain: the later
frame is fetched along the flow and compared with the earlier one. ``warp_error`` is the published
form of the latter, which fetches the earlier frame the wrong way and so measures motion again.

OpenCV comes with the ``flow`` extra. Its results have the same bits for any number of threads; its
version is part of every number's ``impl``, and another CPU may round the last bits otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

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

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "facts", "accumulator", "measure"))

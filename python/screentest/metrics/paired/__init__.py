"""Every metric of a clip and its reference, in one pass over both.

``requests`` says what can be asked for, ``frames`` brings the clips' frames together, ``run`` hands
them to the metrics, and ``measure`` is the whole.
"""

from __future__ import annotations

from screentest.metrics.paired.facts import PairFacts
from screentest.metrics.paired.frames import Pairs, check_sizes, open_both, pairs_by_time
from screentest.metrics.paired.measure import measure_pair
from screentest.metrics.paired.requests import (
    PAIRED_METRICS,
    asks,
    check_metrics,
    metric_impls,
)

__all__ = [
    "PAIRED_METRICS",
    "PairFacts",
    "Pairs",
    "asks",
    "check_metrics",
    "check_sizes",
    "measure_pair",
    "metric_impls",
    "open_both",
    "pairs_by_time",
]

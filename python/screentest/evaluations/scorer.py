"""How two clips are compared: the one place that knows the paired metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from screentest.media.clip import Clip
    from screentest.metrics.paired import PairFacts

__all__ = ["PairedScorer", "Scorer"]


class Scorer(Protocol):
    """What an evaluation asks of the metrics."""

    def check(self, metrics: Sequence[str]) -> tuple[str, ...]:
        """The names in order; ``InputError`` for one that is unknown."""

    def impls(self, metrics: Sequence[str]) -> dict[str, str]:
        """``impl`` of every metric asked for."""

    def measure(
        self, reference: Clip, candidate: Clip, metrics: Sequence[str], threads: int
    ) -> PairFacts:
        """The facts of one pair."""


class PairedScorer:
    """The registered paired metrics."""

    def check(self, metrics: Sequence[str]) -> tuple[str, ...]:
        from screentest.metrics.paired import check_metrics

        return check_metrics(metrics)

    def impls(self, metrics: Sequence[str]) -> dict[str, str]:
        from screentest.metrics.paired import metric_impls

        return dict(metric_impls(metrics))

    def measure(
        self, reference: Clip, candidate: Clip, metrics: Sequence[str], threads: int
    ) -> PairFacts:
        from screentest.metrics.paired import measure_pair

        return measure_pair(reference, candidate, metrics=metrics, threads=threads)

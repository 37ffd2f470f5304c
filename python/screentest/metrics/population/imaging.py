"""Detail and tone of the candidate's pictures over the reference's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from screentest.metrics.population.facts import BenchmarkFacts
from screentest.metrics.population.ratios import (
    DETAIL,
    IMAGING,
    TONE,
    Pair,
    imaging_log,
    log_ratio,
    median,
)

__all__ = ["imaging", "pair_logs"]


def pair_logs(pair: Pair) -> dict[str, float]:
    """ln of candidate over reference per statistic of detail and tone."""
    return {name: log_ratio(name, pair) for name in IMAGING}


def imaging(pairs: Sequence[Pair]) -> BenchmarkFacts:
    """``imaging_index`` and what it is made of; 1 for equal arms.

    Per statistic the median over prompts of the ratio; ``detail_retention`` and
    ``tonal_retention`` are the geometric means of three of them each, the index weighs detail
    twice. ``imaging_worst_prompt`` is the index of the prompt that keeps least.
    """
    logs = [pair_logs(pair) for pair in pairs]
    middle = {name: median(each[name] for each in logs) for name in IMAGING}
    return BenchmarkFacts(
        values={
            "imaging_index": math.exp(imaging_log(middle)),
            "imaging_worst_prompt": math.exp(min(map(imaging_log, logs))),
            "detail_retention": math.exp(math.fsum(middle[n] for n in DETAIL) / len(DETAIL)),
            "tonal_retention": math.exp(math.fsum(middle[n] for n in TONE) / len(TONE)),
            **{f"ratio_{name}": math.exp(value) for name, value in middle.items()},
        }
    )

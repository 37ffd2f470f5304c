"""From the numbers of each clip to the benchmarks: plain Python, so that a stored report can be
derived again anywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from screentest.metrics.population.distributional import distributional
from screentest.metrics.population.facts import BenchmarkFacts
from screentest.metrics.population.imaging import imaging, pair_logs
from screentest.metrics.population.ratios import Pair, Scalars, imaging_log
from screentest.metrics.population.statistic import pooled, shown, spread_logs
from screentest.metrics.population.structure import STILL_STRUCTURE, STRUCTURE
from screentest.metrics.population.temporal import TEMPORAL
from screentest.metrics.signal.facts import nothing_to_compare

__all__ = ["Derived", "degenerate", "derive", "is_still"]


class Derived(NamedTuple):
    """Everything but the intervals and the power.

    Attributes:
        benchmarks: by name.
        values: per pair the statistics of the pair.
        logs: per statistic that spreads over prompts, the logarithm of each pair's that has one.
        scales: what each feature was divided by.
    """

    benchmarks: dict[str, BenchmarkFacts]
    values: list[dict[str, float]]
    logs: dict[str, list[float]]
    scales: dict[str, float]


def degenerate(clip: Scalars) -> bool:
    """Whether nothing may be compared with a clip: no contrast, or half the frames flat."""
    return nothing_to_compare(clip["contrast"], clip["flat_frames"], clip["n_frames"])


def is_still(pairs: Sequence[Pair]) -> bool:
    """Whether every clip is one picture."""
    return all(clip["n_frames"] == 1 for pair in pairs for clip in (pair.reference, pair.candidate))


def derive(
    pairs: Sequence[Pair],
    p_value: Callable[[Sequence[float]], float],
    full: Callable[[Mapping[str, float]], Sequence[float]],
) -> Derived:
    """The benchmarks of pairs none of whose clips is degenerate.

    Args:
        pairs: at least one; all of stills or none.
        p_value: of the paired test.
        full: the full-covariance Fréchet distance of each pair, given the scales.
    """
    details = [pair_logs(pair) for pair in pairs]
    indices = [imaging_log(each) for each in details]
    values = [
        {"imaging_index": math.exp(index)}
        | {f"ratio_{name}": math.exp(value) for name, value in each.items()}
        for index, each in zip(indices, details, strict=True)
    ]
    logs = {"imaging_index": indices}
    logs |= {f"ratio_{name}": [each[name] for each in details] for name in details[0]}
    benchmarks = {"imaging": imaging(pairs)}
    tables = {"temporal": TEMPORAL, "structure": STRUCTURE}
    for benchmark, table in ({"structure": STILL_STRUCTURE} if is_still(pairs) else tables).items():
        benchmarks[benchmark], read = pooled(pairs, table)
        for each in table:
            found = read[each.name]
            if each.kind != "min":  # that of the median has it
                for at, value in found.items():
                    values[at][each.name] = shown(each.kind, value)
            spread = spread_logs(each.kind, list(found.values()))
            if spread is not None and each.name in benchmarks[benchmark].values:
                logs[each.name] = spread
    moved = distributional(pairs, p_value, full)
    benchmarks["distributional"] = moved.facts
    for name, distances in (
        ("population_frechet", moved.distances),
        ("population_frechet_full", moved.full_distances),
    ):
        for of_pair, distance in zip(values, distances, strict=False):
            of_pair[name] = distance
    return Derived(benchmarks, values, logs, moved.scales)

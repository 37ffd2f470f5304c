"""Which statistics of detail and tone have moved over the prompts beyond chance, and how far the
frames' features lie apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from screentest.metrics.population.facts import BenchmarkFacts
from screentest.metrics.population.frechet import (
    diagonal_distance,
    has_features,
    homogeneous,
    scales,
)
from screentest.metrics.population.holm import holm
from screentest.metrics.population.imaging import pair_logs
from screentest.metrics.population.ratios import IMAGING, Pair, median

__all__ = ["LEAST_PROMPTS", "Distributional", "distributional", "effect_sizes", "significant"]

LEAST_PROMPTS = 6
"""A paired test over fewer has next to no degrees of freedom."""

SPREAD_FLOOR = 0.01
"""Of the deviation that an effect is divided by: eight prompts that all move by a tenth of a
percent are no large effect."""

LEVEL = 0.05
PRACTICAL = 0.02
"""A statistic has moved where its Holm p is below the one and its median ratio at least the other
from 1."""

TESTS = ("significant_features", "rms_effect_size", "max_effect_size")
DISTANCES = ("population_frechet", "population_frechet_worst", "population_frechet_full")


class Distributional(NamedTuple):
    """The benchmark, the distances of each pair, and what features were divided by.

    There is no distance of any pair where the benchmark has none.
    """

    facts: BenchmarkFacts
    distances: list[float]
    full_distances: list[float]
    scales: dict[str, float]


def distributional(
    pairs: Sequence[Pair],
    p_value: Callable[[Sequence[float]], float],
    full: Callable[[Mapping[str, float]], Sequence[float]],
) -> Distributional:
    """Paired tests of six statistics, and the Fréchet distances.

    Args:
        pairs: at least one; with fewer than 6 nothing is measured.
        p_value: of a two-sided t test that log-ratios have a mean of 0.
        full: the full-covariance distance of each pair, given the scales.
    """
    n = len(pairs)
    if n < LEAST_PROMPTS:
        reason = f"{n} prompt{'' if n == 1 else 's'}; a test over them needs {LEAST_PROMPTS}"
        return Distributional(
            BenchmarkFacts(unmeasured=dict.fromkeys((*TESTS, *DISTANCES), reason)), [], [], {}
        )
    values, note = _tests(pairs, p_value)
    notes = (note,) if note else ()
    distances, scale, lacking = _distances(pairs)
    if lacking:
        facts = BenchmarkFacts(
            values=values, unmeasured=dict.fromkeys(DISTANCES, lacking), notes=notes
        )
        return Distributional(facts, [], [], scale)
    wholly = list(full(scale))
    values["population_frechet"] = statistics.median(distances)
    values["population_frechet_worst"] = max(distances)
    values["population_frechet_full"] = statistics.median(wholly)
    return Distributional(BenchmarkFacts(values=values, notes=notes), distances, wholly, scale)


def _tests(
    pairs: Sequence[Pair], p_value: Callable[[Sequence[float]], float]
) -> tuple[dict[str, float], str]:
    logs = [pair_logs(pair) for pair in pairs]
    moved, effects, p = {}, {}, {}
    for name in IMAGING:
        values = [each[name] for each in logs]
        mean = math.fsum(values) / len(values)
        moved[name] = mean / max(statistics.stdev(values), SPREAD_FLOOR)
        effects[name] = math.exp(median(values))
        p[name] = p_value(values)
    adjusted = holm(p)
    beyond = significant(adjusted, effects)
    found: dict[str, float] = {
        "significant_features": float(len(beyond)),
        **effect_sizes(list(moved.values())),
        **{f"dz_{name}": value for name, value in moved.items()},
        **{f"effect_{name}": value for name, value in effects.items()},
        **{f"holm_p_{name}": value for name, value in adjusted.items()},
    }
    told = ", ".join(f"{name} {100 * (effects[name] - 1):+.1f} %" for name in beyond)
    return found, f"moved over the prompts beyond chance: {told}" if told else ""


def significant(adjusted: Mapping[str, float], effects: Mapping[str, float]) -> list[str]:
    """The features that moved: by their Holm p and their median ratio."""
    return [
        name for name in IMAGING if adjusted[name] < LEVEL and abs(effects[name] - 1) >= PRACTICAL
    ]


def effect_sizes(moved: Sequence[float]) -> dict[str, float]:
    """What the paired effects of all features are together."""
    return {
        "rms_effect_size": math.sqrt(math.fsum(v * v for v in moved) / len(moved)),
        "max_effect_size": max(map(abs, moved)),
    }


def _distances(pairs: Sequence[Pair]) -> tuple[list[float], dict[str, float], str]:
    """Per pair, the scales, and why there are none."""
    for pair in pairs:
        if not (has_features(pair.reference) and has_features(pair.candidate)):
            return [], {}, f"the record of a clip of {pair.prompt!r} has no features"
    references = [pair.reference for pair in pairs]
    scale = scales(references)
    distances = [diagonal_distance(pair, scale) for pair in pairs]
    alike = homogeneous(references)
    # Equal clips are equal on any scale.
    if alike and any(distances):
        return [], scale, (
            f"the prompts look alike ({', '.join(alike)} hardly differ between the references), so "
            "nothing says what a large distance is: use prompts that differ"
        )  # fmt: skip
    return distances, scale, ""

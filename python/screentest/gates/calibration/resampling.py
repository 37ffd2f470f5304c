"""What a population would have read with its prompts drawn anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from screentest.gates.reference_facts import aggregate, metric_of
from screentest.gates.report import ReferenceFacts
from screentest.gates.statistics import VIDEO
from screentest.metrics.population.facts import PopulationFacts
from screentest.metrics.population.ratios import IMAGING, imaging_log, median

__all__ = ["DRAWS", "SEED", "Pooled", "pooled_of", "redrawn"]

DRAWS = 1000
SEED = 20260901
"""Of every resampling, so that the same populations give the same bytes."""

_LEAST = 1e-12
"""Of a ratio; its logarithm has to exist."""

_KINDS: Mapping[str, tuple[str, str]] = {
    "imaging_index": ("imaging_index", "ratio"),
    "imaging_worst_prompt": ("imaging_index", "min"),
    "jerk_excess": ("jerk_excess", "excess"),
    "flicker_ratio": ("flicker_ratio", "ratio"),
    "motion_ratio": ("motion_ratio", "ratio"),
    "frozen_share_excess": ("frozen_share_excess", "max"),
    "track_stability_worst": ("track_stability_ratio", "min"),
    "population_frechet_worst": ("population_frechet", "max"),
    "grid_ratio": ("grid_ratio", "ratio"),
}
"""Which values of the prompts a statistic is made of, and how; of the others the plain median."""


class Pooled(NamedTuple):
    """One statistic of a population, prompt by prompt.

    Attributes:
        per_prompt: what each prompt reads, by the prompt's place; one may be missing.
        pool: the statistic over the prompts at these places, each of which has a value.
    """

    per_prompt: Mapping[int, float]
    pool: Callable[[Sequence[int]], float]


def pooled_of(facts: PopulationFacts | ReferenceFacts) -> dict[str, Pooled]:
    """Every statistic that has a value in these facts and one for each prompt.

    A count of features that differ beyond chance has none for one prompt.
    """
    if isinstance(facts, ReferenceFacts):
        return _of_a_reference(facts)
    known = {name for each in facts.benchmarks.values() for name in each.values if name in VIDEO}
    return {
        name: found
        for name in sorted(known)
        if (found := _of_a_population(name, facts)) is not None
    }


def redrawn(pool: Pooled, seed: int = SEED, draws: int = DRAWS) -> tuple[float, ...]:
    """The statistic over prompts drawn with replacement, ``draws`` times; nothing for one prompt.

    >>> pool = Pooled({0: 1.0, 1: 3.0}, lambda places: float(len(set(places))))
    >>> sorted(set(redrawn(pool, draws=20)))
    [1.0, 2.0]
    """
    places = sorted(pool.per_prompt)
    if len(places) < 2:
        return ()
    chosen = np.random.Generator(np.random.PCG64(seed)).integers(
        0, len(places), (draws, len(places))
    )
    return tuple(pool.pool([places[at] for at in row]) for row in chosen.tolist())


def _of_a_population(name: str, facts: PopulationFacts) -> Pooled | None:
    source, kind = _KINDS.get(name, (name, "median"))
    own = {at: p.values[source] for at, p in enumerate(facts.prompts) if source in p.values}
    if not own:
        return None
    if name == "imaging_index":
        return _index(own, facts)
    if kind in ("min", "max"):
        extreme: Callable[[list[float]], float] = min if kind == "min" else max
        return Pooled(own, lambda places: extreme([own[at] for at in places]))
    if kind == "median":
        return Pooled(own, lambda places: median(own[at] for at in places))
    # Of an even number, the middle of the logarithms is taken.
    shift = 1.0 if kind == "excess" else 0.0
    logs = {at: math.log(max(value + shift, _LEAST)) for at, value in own.items()}
    return Pooled(own, lambda places: math.exp(median(logs[at] for at in places)) - shift)


def _index(own: Mapping[int, float], facts: PopulationFacts) -> Pooled | None:
    """The median of each statistic over the prompts, and then the index."""
    ratios = [
        {name: prompt.values.get(f"ratio_{name}", 0.0) for name in IMAGING}
        for prompt in facts.prompts
    ]
    if not all(value > 0.0 for each in ratios for value in each.values()):
        return None
    logs = [{name: math.log(value) for name, value in each.items()} for each in ratios]

    def index(places: Sequence[int]) -> float:
        middle = {name: median(logs[at][name] for at in places) for name in IMAGING}
        return math.exp(imaging_log(middle))

    return Pooled(own, index)


def _of_a_reference(facts: ReferenceFacts) -> dict[str, Pooled]:
    found = {}
    for name in facts.values:
        own = {at: row.values[name] for at, row in enumerate(facts.rows) if name in row.values}
        found[name] = Pooled(own, partial(_aggregated, facts, name))
    return found


def _aggregated(facts: ReferenceFacts, name: str, places: Sequence[int]) -> float:
    rows = [facts.rows[at] for at in places]
    return aggregate(rows, (metric_of(name),))[0][name]

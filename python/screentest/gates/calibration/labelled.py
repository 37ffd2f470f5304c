"""Populations of clips that a person has labelled clean or degraded, and what each reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from screentest.gates.calibration.resampling import pooled_of, redrawn
from screentest.gates.report import ReferenceFacts
from screentest.metrics.population.facts import PopulationFacts

__all__ = ["Population", "Read", "degenerate", "read_population"]


class Population(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of clips that a person has labelled.

    Attributes:
        name: what the evidence calls it; each its own.
        degraded: whether it ought to fail.
        facts: what was measured of it.
        hardware: what it was rendered on, where that is known.
    """

    name: str
    degraded: bool
    facts: PopulationFacts | ReferenceFacts
    hardware: str = ""


class Read(NamedTuple):
    """A population's values by statistic, those of each prompt, and those of prompts drawn anew."""

    population: Population
    values: dict[str, float]
    per_prompt: dict[str, Mapping[int, float]]
    draws: dict[str, tuple[float, ...]]


def degenerate(population: Population) -> bool:
    """Whether a clip of it has nothing to compare, so that it reads nothing."""
    facts = population.facts
    return isinstance(facts, PopulationFacts) and bool(
        facts.degenerate_candidates or facts.degenerate_references
    )


def read_population(population: Population) -> Read:
    """Its values, and what they would have been with other draws of its prompts."""
    facts = population.facts
    values = (
        dict(facts.values)
        if isinstance(facts, ReferenceFacts)
        else {name: v for each in facts.benchmarks.values() for name, v in each.values.items()}
    )
    pools = pooled_of(facts)
    return Read(
        population,
        values,
        {name: pool.per_prompt for name, pool in pools.items()},
        {name: redrawn(pool) for name, pool in pools.items()},
    )

"""Prompts in words, and how many of them would tell a statistic from its bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.gates.budget import Budget, BudgetTable
    from screentest.metrics.population.facts import PopulationFacts

__all__ = ["MOST", "prompts_to_tell", "some", "widest_need"]

_SHOWN = 6
"""Names that a message lists before it counts the rest."""

MOST = 1000
"""More prompts than anybody renders: a value that close to its bound is on it."""

_SEEN, _FOUND = 1.959964, 0.841621
"""Normal quantiles of a two-sided 5 % and of 80 %."""

EXCESSES = frozenset({"jerk_excess"})
"""Statistics that are a ratio less 1."""


def some(names: Sequence[str]) -> str:
    """The first names of many, quoted, and how many there are besides.

    >>> some(["a", "b"]), some("abcdefgh")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f' and 2 more")
    """
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def prompts_to_tell(value: float, budget: Budget, spread: float) -> int | None:
    """Prompts over which a paired test at 5 % tells the value from its nearest bound with 80 %
    power, if it stays where it is; ``None`` where it lies on the bound.

    Args:
        value: of the statistic, a ratio or a ratio less 1.
        budget: its bounds.
        spread: standard deviation of its logarithm over prompts.

    The test is of the mean over prompts, at the spread that these have, where the gate takes a
    median: a guide to how many to render, not a promise.

    The normal approximation with a term for the t distribution (Guenther 1981): pure, and within
    one prompt of the exact answer from 4 prompts on.
    """
    shift = 1.0 if budget.name in EXCESSES else 0.0
    ratios = [bound + shift for bound in (budget.low, budget.high) if bound is not None]
    if value + shift <= 0.0:
        return None
    apart = [
        abs(math.log(value + shift) - math.log(ratio)) if ratio > 0.0 else math.inf
        for ratio in ratios
    ]
    distance = min(apart)
    if distance == 0.0:
        return None
    effect = distance / max(spread, 1e-12)
    return max(3, math.ceil(((_SEEN + _FOUND) / effect) ** 2 + _SEEN**2 / 2.0))


def widest_need(facts: PopulationFacts, table: BudgetTable) -> tuple[str, int] | None:
    """The budget that takes most prompts to decide, and how many; of those that have a spread."""
    values: Mapping[str, float] = {
        name: value
        for benchmark in facts.benchmarks.values()
        for name, value in benchmark.values.items()
    }
    needs = [
        (needed, budget.name)
        for budget in table.budgets
        if budget.name in values
        and budget.name in facts.power
        and (spread := facts.power[budget.name].spread) is not None
        and (needed := prompts_to_tell(values[budget.name], budget, spread)) is not None
    ]
    if not needs:
        return None
    needed, name = max(needs)
    return name, needed

"""What a control says about the budgets of its run: which transfer, and what is noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.gates.budget import BudgetTable
    from screentest.gates.report import BudgetRow, RepeatControl
    from screentest.metrics.population.facts import PopulationFacts

__all__ = ["beyond_noise", "exceeded", "unverified", "within_noise"]


def within_noise(control: RepeatControl, table: BudgetTable) -> dict[str, str]:
    """Budgets that do not tell the change from noise."""
    found = {
        budget.name: "the repeat control has no number for it, so noise is not told from the change"
        for budget in table.budgets
        if budget.name not in control.values
    }
    for name, said in exceeded("repeat control", control.values, table).items():
        found[name] = f"{said}: two renders of the same settings lie as far apart, so it is noise"
    return found


def beyond_noise(rows: Iterable[BudgetRow], control: RepeatControl | None) -> Iterator[str]:
    """Of each budget that failed and that the repeat keeps, that the change did it."""
    if control is None:
        return
    for row in rows:
        if row.counts and row.passed is False:
            yield (
                f"{row.budget.name} reads {row.value:.6g}, outside {row.budget.describe()}, where "
                f"a repeat of the same settings reads {control.values[row.budget.name]:.6g}: a "
                "regression, not noise"
            )


def exceeded(control: str, values: Mapping[str, float], table: BudgetTable) -> dict[str, str]:
    """Budgets that a control does not keep itself, and so say nothing about a change."""
    return {
        budget.name: f"the {control} reads {values[budget.name]:.6g} itself, outside "
        f"{budget.describe()}"
        for budget in table.budgets
        if budget.name in values and not budget.check(values[budget.name])
    }


def unverified(
    values: Mapping[str, float],
    facts: PopulationFacts,
    table: BudgetTable,
    waived: tuple[str, ...],
) -> Iterator[str]:
    """Budgets that the run has a number for and the null control has none."""
    known = {name for benchmark in facts.benchmarks.values() for name in benchmark.values}
    for budget in table.budgets:
        if budget.name in known and budget.name not in values and budget.name not in waived:
            yield f"the null control has no {budget.name}, so its budget is not known to transfer"

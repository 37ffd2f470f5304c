"""Budgets as the page of a gate shows them: each with its axis, and by how much it is missed."""

from __future__ import annotations

from dataclasses import dataclass

from screentest.errors import InputError
from screentest.gates.allowance import of_prompt, prompt_values, room_taken
from screentest.gates.reference_facts import metric_of
from screentest.gates.report import BenchmarkResult, BudgetRow, GateReport
from screentest.gates.statistics import REFERENCE
from screentest.metrics import registry
from screentest.reports.gate import bounds, outcome
from screentest.reports.html.gate_axis import Axis, budget_axis
from screentest.reports.html.gate_cards import interval_of
from screentest.reports.html.gate_prompts import plain_name
from screentest.reports.html.text import beside, cut, sentence, short, show, unit_word

__all__ = ["BenchmarkView", "BudgetView", "benchmark_view"]


@dataclass(frozen=True, slots=True)
class BudgetView:
    """One budget as the page shows it; ``state`` is the word of its icon, ``told`` says it."""

    name: str
    title: str
    says: str
    state: str
    told: str
    value: str
    unit: str
    exact: str
    interval: str
    bounds: str
    by: str
    why: str
    room: float | None
    axis: Axis | None
    summary: str
    provenance: str
    prompts: int


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """One benchmark: its own verdict, notes, and budgets."""

    name: str
    verdict: str
    notes: tuple[str, ...]
    budgets: tuple[BudgetView, ...]


def benchmark_view(report: GateReport, result: BenchmarkResult) -> BenchmarkView:
    """One benchmark with every budget of it."""
    return BenchmarkView(
        name=show(result.name),
        verdict=result.verdict,
        notes=tuple(sentence(show(note)) for note in result.notes),
        budgets=tuple(_budget(report, result, row) for row in result.budgets),
    )


def _budget(report: GateReport, result: BenchmarkResult, row: BudgetRow) -> BudgetView:
    budget, value = row.budget, row.value
    state, why = _state(row)
    interval = None if value is None else result.intervals.get(budget.name)
    statistic = of_prompt(budget.name)
    prompts = [
        (index, f"{index + 1}. {cut(show(prompt), 48)}", values[statistic])
        for index, (prompt, values) in enumerate(prompt_values(report))
        if statistic in values
    ]
    control = report.null_control or report.repeat_control
    read = None if control is None else control.values.get(budget.name)
    axis = None
    if value is not None or prompts or read is not None:
        whole = budget.name == "significant_features"
        axis = budget_axis(budget, value, interval, prompts, read, whole=whole)
    near = None if value is None else _nearest(row)
    says, unit = _known(budget.name)
    shown = "–" if value is None else beside(value, near)
    return BudgetView(
        name=show(budget.name),
        title=sentence(plain_name(show(budget.name))),
        says=says,
        state=state,
        told=outcome(row).lower(),
        value=shown,
        unit=unit,
        exact="" if value is None else repr(float(value)),
        interval=interval_of(interval),
        bounds=bounds(budget),
        by=_missed(row),
        why=show(why) if why else "",
        room=None if value is None else room_taken(budget, value),
        axis=axis,
        summary=f"{budget.describe()}: {shown}"
        + (f", {interval_of(interval)}" if interval else ""),
        provenance=show(budget.provenance),
        prompts=len(prompts),
    )


def _state(row: BudgetRow) -> tuple[str, str]:
    """(icon, why it does not count or has no number)."""
    if row.inapplicable or (row.value is not None and row.disregarded):
        return "idle", row.inapplicable or row.disregarded
    if row.value is None:
        return "unknown", row.unmeasured or row.disregarded
    return ("kept", "") if row.passed else ("broken", "")


def _nearest(row: BudgetRow) -> float:
    assert row.value is not None
    bounds = [bound for bound in (row.budget.low, row.budget.high) if bound is not None]
    return min(bounds, key=lambda bound: abs(bound - (row.value or 0.0)))


def _missed(row: BudgetRow) -> str:
    """By how much a bound is missed."""
    if row.value is None or row.passed is not False:
        return ""
    near = _nearest(row)
    side = "below" if row.value < near else "above"
    missed = f"{short(abs(row.value - near))} {side} {near:g}"
    if not near:
        return missed
    share = abs(row.value / near - 1)
    if share > 2:
        return f"{missed} ({row.value / near:.2g} times it)"
    return f"{missed} ({100 * share:.2g}\u00a0%)"


def _known(statistic: str) -> tuple[str, str]:
    """(what it says, unit); a statistic of a paired metric has the metric's own."""
    metrics = [statistic] if statistic not in REFERENCE else [statistic, metric_of(statistic)]
    for name in metrics:
        try:
            spec = registry.spec(name)
        except InputError:
            continue
        return sentence(spec.says), unit_word(spec.unit)
    return "", ""

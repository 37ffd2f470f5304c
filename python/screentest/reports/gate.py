"""What a person reads of a gate report on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from screentest.gates.allowance import farthest_out, is_broken, prompt_values, worst_prompts
from screentest.gates.budget import shipped
from screentest.gates.reference_facts import metric_of
from screentest.gates.statistics import BENCHMARKS, REFERENCE
from screentest.reports.canonical import one_line

if TYPE_CHECKING:
    from screentest.gates.budget import Budget, BudgetTable
    from screentest.gates.report import (
        BenchmarkResult,
        BudgetRow,
        GateReport,
        NullControl,
        RepeatControl,
    )

__all__ = ["bounds", "control_lines", "gate_lines", "outcome"]

WORST = 3
"""Prompts that are shown: enough to look at, few enough to be looked at."""


_HEAD = ("", "value", "95 % interval", "budget", "room", "")


def gate_lines(report: GateReport) -> list[str]:
    """The verdict and why, each budget beside its value, the worst prompts, what was not measured
    and what no such verdict can see. Each is one printable line, whoever wrote the report."""
    return [one_line(line) for line in _lines(report)]


def control_lines(control: NullControl | RepeatControl) -> list[str]:
    """The conditions of a control and what it reads; of a null control, which budgets it shows not
    to transfer."""
    lines = [f"CONTROL  {control.protocol.line()}"]
    unverified: Sequence[str] = getattr(control, "unverified", ())
    untrusted: Mapping[str, str] = getattr(control, "untrusted", {})
    width = max(map(len, (*control.values, *unverified)))
    for name, value in sorted(control.values.items()):
        said = f"  does not transfer: {untrusted[name]}" if name in untrusted else ""
        lines.append(f"  {name:<{width}}  {value:.4g}{said}")
    lines += [f"  {name:<{width}}  not measured: its budget is unproven" for name in unverified]
    return [one_line(line) for line in lines]


def _lines(report: GateReport) -> Iterator[str]:
    yield f"{report.verdict.upper()}  {report.protocol.line()}"
    yield from (f"  {reason}" for reason in report.reasons)
    if report.would_fail:
        yield f"  would fail were the comparison valid: {', '.join(report.would_fail)}"
    if report.table is not None:
        yield f"  budgets {_table(report.table)}{_controls(report)}"
    cells = [row for each in report.benchmarks.values() for row in _rows(each)]
    # Distances of one trajectory have no interval: nothing is drawn anew.
    head = [name if any(column) else "" for name, *column in zip(_HEAD, *cells, strict=True)]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    if cells:
        yield _row(head, widths)
    for result in report.benchmarks.values():
        yield from _benchmark(result, widths)
    yield from _power(report)
    if shown := [*_worst(report)]:
        yield "  worst prompts"
        yield from shown
    if report.blind:
        yield "  cannot see"
    yield from (f"    {blind}" for blind in report.blind)


def _table(table: BudgetTable) -> str:
    """Its name and version, which anybody may give a table, and whether its bounds are those that
    ship."""
    origin = "as shipped" if table.sha256 == shipped(table.kind).sha256 else "not as shipped"
    return f"{table.name!r}, version {table.version}, {origin}"


def _controls(report: GateReport) -> str:
    if report.null_control is not None:
        return f"; null control: {_transfer(report.null_control)}"
    if report.repeat_control is not None:
        return "; with a repeat control"
    return "" if report.population is None else "; no null control"


def _transfer(control: NullControl) -> str:
    count = len(control.untrusted)
    if not count:
        return "it keeps every budget"
    return (
        f"{count} {'budget does' if count == 1 else 'budgets do'} not transfer, so place some of "
        "your own (screentest calibrate)"
    )


def _benchmark(result: BenchmarkResult, widths: Sequence[int]) -> Iterator[str]:
    yield f"  {result.name}: {_word(result)}"
    yield from (_row(row, widths) for row in _rows(result))
    decided = {row.budget.name for row in result.budgets}
    for what, reasons in (
        ("not measured", result.unmeasured),
        ("does not apply", result.inapplicable),
    ):
        alike: dict[str, list[str]] = {}
        for name, why in sorted(reasons.items()):
            if name not in decided:
                alike.setdefault(why, []).append(name)
        yield from (f"    {', '.join(names)} {what}: {why}" for why, names in alike.items())
    yield from (f"    note: {note}" for note in result.notes)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"    {'  '.join(padded)}".rstrip()


def _word(result: BenchmarkResult) -> str:
    if not result.budgets:
        return "not judged, no budget"
    if all(row.inapplicable for row in result.budgets):
        return "does not apply"
    return result.verdict


def _rows(result: BenchmarkResult) -> list[tuple[str, ...]]:
    """Each budget, and what could have one and was measured without."""
    rows = [_cells(row, result) for row in result.budgets]
    bounded = {row.budget.name for row in result.budgets}
    for name in REFERENCE if result.name == "reference" else BENCHMARKS.get(result.name, ()):
        if name in result.values and name not in bounded:
            rows.append((name, f"{result.values[name]:.4g}", "", "", "", "no budget"))
    return rows


def _cells(row: BudgetRow, result: BenchmarkResult) -> tuple[str, ...]:
    name = row.budget.name
    interval = result.intervals.get(name)
    spread = "" if interval is None else f"[{interval.low:.4g}, {interval.high:.4g}]"
    value = "-" if row.value is None else f"{row.value:.4g}"
    why = row.unmeasured or row.inapplicable or row.disregarded
    told = outcome(row) + (f": {why}" if why else "")
    return name, value, spread, bounds(row.budget), _margin(row), told


def _margin(row: BudgetRow) -> str:
    """How far inside the nearest bound the value lies; outside it has a minus."""
    if row.value is None:
        return ""
    low, high = row.budget.low, row.budget.high
    inside = [] if low is None else [row.value - low]
    inside += [] if high is None else [high - row.value]
    # What rounds to nothing has no sign of its own.
    return f"{min(inside) + 0.0:+.3g}"


def bounds(budget: Budget) -> str:
    """``0.92 to 1.25``, ``at least 0.85``, ``at most 0.2``."""
    if budget.low is not None and budget.high is not None:
        return f"{budget.low:g} to {budget.high:g}"
    if budget.low is not None:
        return f"at least {budget.low:g}"
    return f"at most {budget.high:g}"


def outcome(row: BudgetRow) -> str:
    """How a budget came out, in a word or two."""
    if row.inapplicable:
        return "does not apply"
    if row.value is None:
        return "not measured"
    if row.disregarded:
        return "disregarded"
    return "met" if row.passed else "NOT MET"


def _power(report: GateReport) -> Iterator[str]:
    """What the prompts could have shown, of the statistics that a budget bounds."""
    if report.population is None:
        return
    known = report.population.power
    powers = {row.budget.name: known[row.budget.name] for row in report.rows()
              if row.budget.name in known}  # fmt: skip
    seen = [
        f"{name} {power.detectable:.1%}"
        for name, power in powers.items()
        if power.detectable is not None
    ]
    if seen:
        yield (
            f"  {report.population.n} prompts show a change (80 % power at 5 %) from: "
            f"{', '.join(seen)}"
        )
    needed = [
        f"{name} {power.prompts_needed}"
        for name, power in powers.items()
        if power.prompts_needed is not None
    ]
    if needed and report.verdict == "indeterminate":
        yield f"  prompts that a change of 2 % would show over: {', '.join(needed)}"


def _worst(report: GateReport) -> Iterator[str]:
    """The prompts to look at first, each with the statistic that lies farthest out; none that
    nothing tells from the others."""
    values = prompt_values(report)
    for index in worst_prompts(report)[:WORST]:
        prompt, read = values[index]
        name = farthest_out(report, read)[1]
        if not name and not is_broken(report, index):
            continue
        told = f"  {name} {read[name]:.4g}{_frame(report, index, name)}" if name else ""
        yield f"    {prompt!r}{told}{_clips(report, index)}"


def _frame(report: GateReport, index: int, statistic: str) -> str:
    if report.reference is None:
        return ""
    worst = report.reference.rows[index].worst_frame
    metric = metric_of(statistic)
    return f" at frame {worst[metric]}" if metric in worst else ""


def _clips(report: GateReport, index: int) -> str:
    if report.population is not None:
        reference, candidate = report.population.prompts[index].sources
    elif report.reference is not None:
        reference, candidate = report.reference.rows[index].sources
    return f"  {candidate} against {reference}" if reference or candidate else ""

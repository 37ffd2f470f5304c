"""The page of a gate: the verdict and why, then everything that it hangs on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from screentest.errors import InputError
from screentest.gates.allowance import of_prompt, prompt_values, room_taken
from screentest.gates.reference_facts import metric_of
from screentest.gates.report import BenchmarkResult, BudgetRow, GateReport
from screentest.gates.statistics import REFERENCE
from screentest.metrics import registry
from screentest.reports.html.charts import HIGH, WIDE
from screentest.reports.html.filmstrip import arms_panel
from screentest.reports.html.gate_axis import Axis, budget_axis
from screentest.reports.html.gate_cards import (
    control_card,
    interval_of,
    not_measured,
    power_rows,
    protocol_card,
    statistics,
    versions,
)
from screentest.reports.html.gate_model import GateEvidence
from screentest.reports.html.gate_prompts import plain_name, prompt_columns, prompt_rows
from screentest.reports.html.gate_series import arms_chart
from screentest.reports.html.page import render, require_report_extra, write_page
from screentest.reports.html.text import beside, counted, cut, short, show, unit_word

__all__ = ["gate_page"]

# The verdict and its reasons fit one screen; what is cut there stands in full below.
_REASONS, _REASON, _MISSED = 4, 210, 6
# Three lines on a phone.
_SHORT = 130
# Charts of more prompts than this make a page slow that nobody reads to its end.
_SERIES = 12

_SAYS = {
    "pass": "Every budget that counts is kept.",
    "fail": "At least one budget is not kept.",
    "indeterminate": "No verdict follows from this comparison.",
    "degenerate": "There is nothing to compare.",
}


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


def gate_page(
    report: GateReport,
    path: str | os.PathLike[str],
    *,
    digest: str | None = None,
    evidence: GateEvidence | None = None,
    impls: Mapping[str, str] | None = None,
) -> None:
    """Write the page of one gate; an existing file is replaced whole or not at all.

    Args:
        report: the report.
        path: of the HTML file.
        digest: that of the sealed report, which the page names.
        evidence: series and pictures of some prompts.
        impls: versions of the metrics by name, as the sealed report has them.

    Raises:
        MissingBackendError: jinja2 is not installed (``pip install 'screentest[report]'``).
        InputError: the evidence is of prompts that the report does not have.
        OSError: the file cannot be written.
    """
    require_report_extra()
    write_page(path, render("gate.html", _context(report, digest, evidence, impls), own="gate"))


def _context(
    report: GateReport,
    digest: str | None,
    evidence: GateEvidence | None,
    impls: Mapping[str, str] | None,
) -> dict[str, Any]:
    protocol = report.protocol
    benchmarks = [_benchmark(report, result) for result in report.benchmarks.values()]
    budgets = [budget for each in benchmarks for budget in each.budgets]
    missed = [budget for budget in budgets if budget.state == "broken"]
    # The list of what is missed says it, and by how much.
    named = f"failed: {', '.join(budget.name for budget in missed)}"
    missed.sort(key=lambda budget: -(budget.room or 0.0))
    reasons = [_upper(show(reason)) for reason in report.reasons if reason != named]
    columns = prompt_columns(report)
    rows = prompt_rows(report, columns)
    prompts = [show(prompt) for prompt, _ in prompt_values(report)]
    control = control_card(report)
    series, left_out = _series(evidence, prompts)
    strips = _strips(evidence, prompts)
    return {
        "title": f"{report.verdict}: {cut(show(protocol.candidate_arm), 60)} against "
        f"{cut(show(protocol.reference_arm), 60)}",
        "reference": show(protocol.reference_arm),
        "candidate": show(protocol.candidate_arm),
        "kind": f"{'Reference' if report.reference is not None else 'Population'} gate",
        "by_reference": report.reference is not None,
        "purpose": protocol.purpose.value,
        "verdict": report.verdict,
        "sentence": _sentence(report),
        "reasons": [cut(reason, _REASON) for reason in reasons[:_REASONS]],
        "reasons_left": len(reasons) - _REASONS,
        "all_reasons": reasons
        if len(reasons) > _REASONS or any(len(reason) > _SHORT for reason in reasons)
        else [],
        "missed": missed,
        "most_missed": _MISSED,
        "line": show(protocol.line()),
        "pairs": counted(len(prompts), "pair"),
        "stamped": counted(protocol.n, "prompt"),
        "digest": None if digest is None else show(digest),
        "benchmarks": benchmarks,
        "budgets": budgets,
        "statistics": statistics(report.benchmarks),
        "control": control,
        "control_name": None if control is None else control.title.lower(),
        "columns": columns,
        "rows": rows,
        "outside": sum(bool(row.outside) for row in rows),
        "box": (WIDE, HIGH),
        "series": series,
        "shown_series": {each["index"] for each in series},
        "shown_strips": {each["index"] for each in strips},
        "series_left": left_out,
        "strips": strips,
        "two_takes": protocol.lane.value == "population",
        "has_evidence": evidence is not None,
        "not_measured": not_measured(report, evidence),
        "blind": [_upper(show(each)) for each in report.blind],
        "card": protocol_card(protocol),
        "prompts": [show(prompt) for prompt in protocol.prompts],
        "power": power_rows(report),
        "versions": versions(report, digest, impls),
        "links": _links(bool(budgets), rows, series, evidence),
    }


def _sentence(report: GateReport) -> str:
    rows = list(report.rows())
    counted_rows = [row for row in rows if row.counts]
    broken = sum(row.passed is False for row in counted_rows)
    if report.verdict == "fail":
        return f"{counted(broken, 'budget is', 'budgets are')} not kept, of {len(rows)}."
    if report.verdict == "pass":
        return f"{counted(len(counted_rows), 'budget')} counted, and every one is kept."
    return _SAYS[report.verdict]


def _upper(text: str) -> str:
    """As a sentence; the name of a statistic stays as it is."""
    if "_" in text.split(" ", 1)[0]:
        return text
    return f"{text[:1].upper()}{text[1:]}"


def _benchmark(report: GateReport, result: BenchmarkResult) -> BenchmarkView:
    return BenchmarkView(
        name=show(result.name),
        verdict=result.verdict,
        notes=tuple(_upper(show(note)) for note in result.notes),
        budgets=tuple(_budget(report, result, row) for row in result.budgets),
    )


def _budget(report: GateReport, result: BenchmarkResult, row: BudgetRow) -> BudgetView:
    budget, value = row.budget, row.value
    state, told, why = _state(row)
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
        title=_upper(plain_name(show(budget.name))),
        says=says,
        state=state,
        told=told,
        value=shown,
        unit=unit,
        exact="" if value is None else repr(float(value)),
        interval=interval_of(interval),
        bounds=_bounds(row),
        by=_missed(row),
        why=show(why) if why else "",
        room=None if value is None else room_taken(budget, value),
        axis=axis,
        summary=f"{budget.describe()}: {shown}"
        + (f", {interval_of(interval)}" if interval else ""),
        provenance=show(budget.provenance),
        prompts=len(prompts),
    )


def _state(row: BudgetRow) -> tuple[str, str, str]:
    """(icon, word, why it does not count or has no number)."""
    if row.inapplicable:
        return "idle", "nothing to measure", row.inapplicable
    if row.value is None:
        return "unknown", "not measured", row.unmeasured or row.disregarded
    if row.disregarded:
        return "idle", "disregarded", row.disregarded
    return ("kept", "kept", "") if row.passed else ("broken", "not kept", "")


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


def _bounds(row: BudgetRow) -> str:
    low, high = row.budget.low, row.budget.high
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    return f"at least {low:g}" if low is not None else f"at most {high:g}"


def _known(statistic: str) -> tuple[str, str]:
    """(what it says, unit); a statistic of a paired metric has the metric's own."""
    metrics = [statistic] if statistic not in REFERENCE else [statistic, metric_of(statistic)]
    for name in metrics:
        try:
            spec = registry.spec(name)
        except InputError:
            continue
        return _upper(spec.says), unit_word(spec.unit)
    return "", ""


def _series(evidence: GateEvidence | None, prompts: list[str]) -> tuple[list[dict[str, Any]], int]:
    """Charts by prompt, and how many prompts have theirs left out."""
    if evidence is None:
        return [], 0
    told = []
    for each in evidence.prompts:
        charts = [chart for name, one in each.series.items() if (chart := arms_chart(name, one))]
        if charts:
            told.append(
                {"index": each.prompt, "prompt": _of(prompts, each.prompt), "charts": charts}
            )
    return told[:_SERIES], max(0, len(told) - _SERIES)


def _strips(evidence: GateEvidence | None, prompts: list[str]) -> list[dict[str, Any]]:
    if evidence is None:
        return []
    return [
        {
            "index": each.prompt,
            "prompt": _of(prompts, each.prompt),
            "panel": arms_panel(each.frames),
        }
        for each in evidence.prompts
        if each.frames
    ]


def _of(prompts: list[str], index: int) -> str:
    if not 0 <= index < len(prompts):
        raise InputError(
            f"the evidence is of prompt {index}; the report has {len(prompts)}",
            code="evidence_prompt",
        )
    return prompts[index]


def _links(
    budgets: bool, rows: list[Any], series: list[Any], evidence: GateEvidence | None
) -> list[tuple[str, str]]:
    told = [("budgets", "Budgets")] if budgets else []
    told += [("prompts", "Prompts")] if rows else []
    told += [("series", "Frame by frame")] if series else []
    told += [("strips", "Pictures")] if evidence is not None and evidence.prompts else []
    return [
        *told,
        ("not-measured", "Not measured"),
        ("blind", "Not seen"),
        ("card", "Protocol"),
        ("versions", "Versions"),
    ]

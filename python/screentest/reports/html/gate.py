"""The page of a gate: the verdict and why, then everything that it hangs on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from screentest.errors import InputError
from screentest.gates.allowance import prompt_values
from screentest.gates.report import GateReport
from screentest.reports.html.charts import HIGH, WIDE
from screentest.reports.html.filmstrip import arms_panel
from screentest.reports.html.gate_budgets import benchmark_view
from screentest.reports.html.gate_cards import (
    control_card,
    not_measured,
    power_rows,
    protocol_card,
    statistics,
    versions,
)
from screentest.reports.html.gate_model import GateEvidence
from screentest.reports.html.gate_prompts import prompt_columns, prompt_rows
from screentest.reports.html.gate_series import arms_chart
from screentest.reports.html.page import render, require_report_extra, write_page
from screentest.reports.html.text import counted, cut, sentence, show

__all__ = ["gate_page"]

# The verdict and its reasons fit one screen; what is cut there stands in full below.
_REASONS, _REASON, _MISSED = 4, 210, 6
# Three lines on a phone.
_SHORT = 130
# Charts of more prompts than this make a page slow that nobody reads to its end.
_SERIES = 12

_SAYS = {
    "indeterminate": "No verdict follows from this comparison.",
    "degenerate": "There is nothing to compare.",
}


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
    benchmarks = [benchmark_view(report, result) for result in report.benchmarks.values()]
    budgets = [budget for each in benchmarks for budget in each.budgets]
    missed = [budget for budget in budgets if budget.state == "broken"]
    # The list of what is missed says it, and by how much.
    named = f"failed: {', '.join(budget.name for budget in missed)}"
    missed.sort(key=lambda budget: -(budget.room or 0.0))
    reasons = [sentence(show(reason)) for reason in report.reasons if reason != named]
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
        "sentence": _outcome(report),
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
        "blind": [sentence(show(each)) for each in report.blind],
        "card": protocol_card(protocol),
        "prompts": [show(prompt) for prompt in protocol.prompts],
        "power": power_rows(report),
        "versions": versions(report, digest, impls),
        "links": _links(bool(budgets), rows, series, evidence),
    }


def _outcome(report: GateReport) -> str:
    rows = list(report.rows())
    counted_rows = [row for row in rows if row.counts]
    broken = sum(row.passed is False for row in counted_rows)
    if report.verdict == "fail":
        return f"{counted(broken, 'budget is', 'budgets are')} not met, of {len(rows)}."
    if report.verdict == "pass":
        return f"{counted(len(counted_rows), 'budget')} counted, and every one is met."
    return _SAYS[report.verdict]


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

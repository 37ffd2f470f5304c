"""What the page of an evaluation says, ready for its template."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from screentest.reports.html.charts import HIGH, WIDE, Histogram, histogram
from screentest.reports.html.filmstrip import strip_panel
from screentest.reports.html.model import EvaluationView, SampleRow
from screentest.reports.html.text import counted, number, show, unit_word

__all__ = ["evaluation_context"]

# The page's script shows the samples in leaves of this many; without a script the first stays.
PAGE_ROWS = 100
# About 100 bytes each: a browser reads 2 MB at once, and the rest is in the records.
MOST_ROWS = 20_000

_STATES = {"scored": "scored", "skipped": "skipped", "missing": "missing"}


@dataclass(frozen=True, slots=True)
class AggregateRow:
    """One metric of one group; texts only."""

    metric: str
    mean: str
    exact: str
    unit: str
    interval: str
    std: str
    count: str
    identical: str
    missing: int
    skipped: str
    reason: str
    impl: str
    spread: Histogram | None


@dataclass(frozen=True, slots=True)
class Group:
    """One group's table."""

    name: str
    rows: tuple[AggregateRow, ...]
    samples: int


def evaluation_context(view: EvaluationView) -> dict[str, Any]:
    """Everything that ``evaluation.html`` shows."""
    units = _units(view)
    metrics = _metrics(view)
    rows = sorted(view.samples, key=lambda row: (row.state == "scored", row.group, row.key))
    kept = rows[:MOST_ROWS]
    groups = [_group(view, name, units) for name in view.aggregate]
    return {
        "title": show(view.title),
        "predictions": show(view.predictions),
        "ground_truth": show(view.ground_truth),
        "glance": _glance(view),
        "notes": [show(note) for note in view.notes],
        "groups": groups,
        "has_spread": any(row.spread for group in groups for row in group.rows),
        "box": (WIDE, HIGH),
        "strips": [strip_panel(strip, units.get(strip.metric, "")) for strip in view.filmstrips],
        "skips": _skips(view),
        "metrics": metrics,
        "units": [unit_word(units.get(name)) for name in metrics],
        "first_rows": [_sample(row, metrics, units) for row in kept[:PAGE_ROWS]],
        "more_rows": len(rows) - PAGE_ROWS,
        "left_out": len(rows) - len(kept),
        "all_rows": len(rows),
        "data": _data(kept, metrics, units),
        "page_rows": PAGE_ROWS,
        "facts": [(show(name), show(value)) for name, value in view.facts],
    }


def _units(view: EvaluationView) -> dict[str, str]:
    return {
        name: str(row.get("unit") or "")
        for rows in view.aggregate.values()
        for name, row in rows.items()
    }


def _metrics(view: EvaluationView) -> list[str]:
    """The columns of the sample table: every metric of the aggregate, in its order."""
    names: dict[str, None] = {}
    for rows in view.aggregate.values():
        names.update(dict.fromkeys(rows))
    for sample in view.samples:
        names.update(dict.fromkeys(sample.metrics))
    return list(names)


def _glance(view: EvaluationView) -> list[tuple[str, str]]:
    states = Counter(row.state for row in view.samples)
    told = [("Samples", f"{len(view.samples):,}"), ("Scored", f"{states['scored']:,}")]
    told += [(word.capitalize(), f"{states[word]:,}") for word in ("skipped", "missing")]
    told.append(("Groups", f"{len(view.aggregate):,}"))
    return told


def _group(view: EvaluationView, name: str, units: Mapping[str, str]) -> Group:
    samples = [row for row in view.samples if row.group == name]
    rows = tuple(
        _aggregate(metric, row, samples, units) for metric, row in view.aggregate[name].items()
    )
    return Group(show(name), rows, len(samples))


def _aggregate(
    metric: str, row: Mapping[str, Any], samples: list[SampleRow], units: Mapping[str, str]
) -> AggregateRow:
    unit = units.get(metric, "")
    interval = row.get("ci95", row.get("interval"))
    mean, std = row.get("mean"), row.get("std")
    skipped = row.get("n_skipped") or {}
    values = [value for sample in samples if (value := sample.metrics.get(metric)) is not None]
    return AggregateRow(
        metric=metric,
        mean=number(mean, unit),
        exact="" if mean is None else repr(float(mean)),
        unit=unit_word(unit),
        interval="–"
        if interval is None
        else f"{number(interval[0], unit)} to {number(interval[1], unit)}",
        std=number(std, unit),
        count=f"{row.get('count', 0):,}",
        identical=f"{row.get('n_identical') or 0:,}",
        missing=int(row.get("n_missing") or 0),
        skipped=", ".join(f"{count:,} {code}" for code, count in skipped.items()) or "0",
        reason=show(row["reason"]) if row.get("reason") else "",
        impl=show(row.get("impl")),
        spread=histogram([float(value) for value in values], unit_word(unit), mean, interval),
    )


def _skips(view: EvaluationView) -> list[tuple[str, str, list[SampleRow]]]:
    """(reason, how many, samples), the most frequent reason first."""
    together: dict[str, list[SampleRow]] = {}
    for row in view.samples:
        if row.state != "scored":
            together.setdefault(row.reason or row.state, []).append(row)
    ordered = sorted(together.items(), key=lambda item: (-len(item[1]), item[0]))
    return [(show(reason), counted(len(rows), "sample"), rows) for reason, rows in ordered]


def _sample(row: SampleRow, metrics: list[str], units: Mapping[str, str]) -> dict[str, Any]:
    return {
        "group": show(row.group),
        "key": show(row.key),
        "state": _STATES[row.state],
        "cells": [_cell(row, name, units.get(name, "")) for name in metrics],
        "note": _note(row),
    }


def _cell(row: SampleRow, name: str, unit: str) -> str:
    value = row.metrics.get(name)
    if value is not None and math.isfinite(value):
        return number(value, unit)
    state = row.states.get(name)
    return state if state in ("identical", "unmeasured") else "–"


def _note(row: SampleRow) -> str:
    said = [row.reason or "", row.detail or "", *row.warnings]
    return show(" · ".join(part for part in said if part)) if any(said) else ""


def _data(rows: list[SampleRow], metrics: list[str], units: Mapping[str, str]) -> str:
    """The samples for the page's script: [group, key, state, note, cell texts, sort values].

    It stands inside a script element, so the signs that could end one are spelled out.
    """
    listed = []
    for row in rows:
        told = _sample(row, metrics, units)
        sort: list[float | None] = []
        for name in metrics:
            value = row.metrics.get(name)
            sort.append(float(value) if value is not None and math.isfinite(value) else None)
        listed.append(
            [told["group"], told["key"], told["state"], told["note"], told["cells"], sort]
        )
    text = json.dumps(listed, separators=(",", ":"))  # ASCII: U+2028 and its like are escaped
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

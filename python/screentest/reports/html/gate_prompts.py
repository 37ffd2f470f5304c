"""The table of prompts on the page of a gate: every statistic of every pair, the worst first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.gates.allowance import (
    is_ratio,
    neutral,
    prompt_budgets,
    prompt_values,
    worst_prompts,
)
from screentest.gates.budget import Budget
from screentest.gates.report import GateReport
from screentest.reports.gate import bounds
from screentest.reports.html.text import beside, short, show

__all__ = ["Cell", "Column", "Fact", "PromptRow", "plain_name", "prompt_columns", "prompt_rows"]

# What a reader looks for from left to right; others follow in the order of the facts.
_ORDER = (
    "imaging_index",
    "ratio_sharpness",
    "ratio_hf_ratio",
    "ratio_local_contrast",
    "ratio_contrast",
    "ratio_saturation",
    "ratio_detail_entropy",
    "population_frechet",
    "motion_ratio",
    "frozen_share_excess",
    "jerk_excess",
    "flicker_ratio",
    "shimmer_ratio",
    "track_stability_ratio",
    "grid_ratio",
)

_SPELLED = {"frechet": "Fréchet", **{name.lower(): name for name in ("PSNR", "SSIM", "MS", "LPIPS",
                                                                    "DISTS", "VMAF")}}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One statistic: how its column is called, the bounds that its cells are held against, and
    whether its bars start at no change in the middle (else at 0, on the left)."""

    name: str
    label: str
    bounds: str
    middle: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One number; ``bar`` is (start, length) in percent of the cell, ``exact`` what sorts."""

    text: str
    exact: str
    bar: tuple[float, float] | None
    outside: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a prompt's detail."""

    name: str
    reference: str
    candidate: str
    ratio: str


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One pair; ``rank`` is its place among the worst, ``outside`` the statistics that leave their
    bounds, ``state`` why it has no numbers, in a word and in full."""

    index: int
    prompt: str
    seed: str
    rank: int
    state: tuple[str, str] | None
    outside: tuple[str, ...]
    cells: tuple[Cell, ...]
    facts: tuple[Fact, ...]
    notes: tuple[tuple[str, str], ...]


def plain_name(statistic: str) -> str:
    """How a statistic is called in a heading.

    >>> plain_name("ratio_local_contrast"), plain_name("population_frechet"), plain_name("vmaf_min")
    ('local contrast ratio', 'population Fréchet', 'VMAF min')
    """
    of_one = statistic.removeprefix("ratio_")
    name = " ".join(_SPELLED.get(word, word) for word in of_one.split("_"))
    return f"{name} ratio" if of_one != statistic and not name.endswith("ratio") else name


def prompt_columns(report: GateReport) -> tuple[Column, ...]:
    """The statistics that at least one pair has."""
    there: dict[str, None] = {}
    for _, values in prompt_values(report):
        there.update(dict.fromkeys(values))
    names = [name for name in _ORDER if name in there]
    names += [name for name in there if name not in names]
    budgets = prompt_budgets(report.table)
    return tuple(
        Column(
            name,
            plain_name(name),
            bounds(budgets[name]) if name in budgets else "",
            neutral(name) is not None,
        )
        for name in names
    )


def prompt_rows(report: GateReport, columns: Sequence[Column]) -> list[PromptRow]:
    """Every pair, the worst first."""
    budgets = prompt_budgets(report.table)
    pairs = prompt_values(report)
    reach = {column.name: _reach(column.name, pairs) for column in columns}
    ranks = {index: rank for rank, index in enumerate(worst_prompts(report))}
    rows = []
    for index in ranks:
        prompt, values = pairs[index]
        cells = tuple(
            _cell(values.get(c.name), c.name, budgets.get(c.name), reach[c.name]) for c in columns
        )
        seeds = report.protocol.seeds
        rows.append(
            PromptRow(
                index=index,
                prompt=show(prompt),
                seed=str(seeds[index] if 1 < len(seeds) > index else seeds[0]),
                rank=ranks[index],
                state=_state(report, index),
                outside=tuple(
                    column.label
                    for column, cell in zip(columns, cells, strict=True)
                    if cell.outside
                ),
                cells=cells,
                facts=tuple(_facts(report, index)),
                notes=tuple(_notes(report, index)),
            )
        )
    return rows


def _scaled(statistic: str, value: float) -> float | None:
    """Distance from no change in the scale of the statistic; the value where it has none."""
    if is_ratio(statistic):
        return math.log(value) if value > 0 else None
    return value - (neutral(statistic) or 0.0)


def _reach(statistic: str, pairs: Sequence[tuple[str, Mapping[str, float]]]) -> float:
    found = [_scaled(statistic, values[statistic]) for _, values in pairs if statistic in values]
    return max((abs(number) for number in found if number is not None), default=0.0)


def _cell(value: float | None, statistic: str, budget: Budget | None, reach: float) -> Cell:
    if value is None:
        return Cell("–", "", None, False)
    outside = budget is not None and not budget.check(value)
    text = short(value)
    if budget is not None:
        near = min(
            (bound for bound in (budget.low, budget.high) if bound is not None),
            key=lambda bound: abs(bound - value),
        )
        text = beside(value, near)
    scaled = _scaled(statistic, value)
    bar = None
    if scaled is None:
        bar = (0.0, 50.0)
    elif reach:
        share = round(50 * scaled / reach, 1)
        bar = (50.0 + min(share, 0.0), abs(share))
        if neutral(statistic) is None:
            bar = (0.0, 2 * abs(share))
    return Cell(text, repr(float(value)), bar, outside)


def _state(report: GateReport, index: int) -> tuple[str, str] | None:
    facts = report.population
    if facts is not None:
        arms = [
            arm
            for arm, those in (
                ("reference", facts.degenerate_references),
                ("candidate", facts.degenerate_candidates),
            )
            if index in those
        ]
        said = f"nothing to compare in the {' and the '.join(arms)}"
        return ("degenerate", said) if arms else None
    row = report.reference.rows[index] if report.reference is not None else None
    if row is None or not row.misaligned:
        return None
    return "not aligned", f"not aligned: {'; '.join(map(show, row.misaligned))}"


def _facts(report: GateReport, index: int) -> list[Fact]:
    if report.population is None:
        return []
    pair = report.population.prompts[index]
    names = [*pair.reference, *(name for name in pair.candidate if name not in pair.reference)]
    return [
        Fact(
            name.replace("_", " "),
            short(pair.reference.get(name), 4),
            short(pair.candidate.get(name), 4),
            short(pair.values[f"ratio_{name}"]) if f"ratio_{name}" in pair.values else "",
        )
        for name in names
    ]


def _notes(report: GateReport, index: int) -> list[tuple[str, str]]:
    if report.population is not None:
        pair = report.population.prompts[index]
        return _files(pair.sources, pair.contents)
    if report.reference is None:
        return []
    row = report.reference.rows[index]
    told = [("Frames compared", f"{row.frames:,}")]
    told += [
        (f"Worst frame of {plain_name(name)}", f"{frame:,}")
        for name, frame in row.worst_frame.items()
    ]
    told += [
        (plain_name(name), f"not measured: {show(why)}") for name, why in row.unmeasured.items()
    ]
    return told + _files(row.sources, row.contents)


def _files(
    sources: tuple[str, str], contents: tuple[str | None, str | None]
) -> list[tuple[str, str]]:
    told = []
    for arm, source, content in zip(("Reference", "Candidate"), sources, contents, strict=True):
        if source:
            told.append((f"{arm} clip", show(source)))
        if content:
            told.append((f"{arm} content", show(content)))
    return told

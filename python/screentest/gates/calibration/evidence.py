"""What a file of budgets says of its bounds: provenance for people, evidence for whoever checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from screentest.gates.budget import Budget
from screentest.gates.calibration.bound import Bound
from screentest.gates.calibration.labelled import Population, Read, degenerate
from screentest.gates.calibration.placing import RULE
from screentest.gates.calibration.resampling import DRAWS, SEED
from screentest.gates.report import ReferenceFacts, ReferenceRow
from screentest.metrics.population.facts import PromptFacts

__all__ = ["budgets_of", "evidence_of"]


def budgets_of(bounds: Sequence[Bound], clean: Sequence[Read]) -> Iterator[Budget]:
    """The bounds that were placed, with a provenance written from their numbers."""
    by_name: dict[str, list[Bound]] = {}
    for bound in bounds:
        if bound.bound is not None:
            by_name.setdefault(bound.statistic, []).append(bound)
    for statistic, placed in by_name.items():
        ends = {each.side: each.bound for each in placed}
        told = "; ".join(f"{each.side}: {_told(each, clean)}" for each in placed)
        if any(each.provisional for each in placed):
            told = f"provisional; {told}"
        yield Budget(name=statistic, low=ends.get("low"), high=ends.get("high"), provenance=told)


def _told(bound: Bound, clean: Sequence[Read]) -> str:
    prompts = sorted({each.population.facts.n for each in clean})
    of = "" if not prompts else f" of {len(clean)} x {'/'.join(map(str, prompts))} prompts"
    said = f"clean {_short(bound.clean)} at worst ({bound.clean_of}{of}"
    if bound.interval is not None:
        said += f", 95 % {_short(bound.interval[0])} to {_short(bound.interval[1])}"
    said += ")"
    if bound.degraded is not None:
        said += f", failing {_short(bound.degraded)} ({bound.degraded_of})"
    said += f", margin {_short(bound.margin)}"
    if bound.margin_spreads is not None:
        said += f" or {bound.margin_spreads:.1f} spreads"
    return f"{said}; {bound.reason}" if bound.reason else said


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def evidence_of(
    populations: Sequence[Population],
    read: Sequence[Read],
    bounds: Sequence[Bound],
    family: str,
    hardware: str,
    missed: Sequence[str],
) -> dict[str, Any]:
    """Populations, their clips and every value, and each bound with its margin or its reason."""
    known = {each.population.name: each for each in read}
    rows = [bound for bound in bounds if bound.bound is not None]
    return {
        "rule": RULE,
        "draws": DRAWS,
        "seed": SEED,
        "family": family or None,
        "hardware": hardware or None,
        "missed": list(missed),
        "unplaced": [
            {"statistic": each.statistic, "side": each.side, "reason": each.reason}
            for each in bounds
            if each.bound is None
        ],
        "bounds": [msgspec.to_builtins(each) for each in rows],
        "populations": [_of_population(each, known.get(each.name)) for each in populations],
    }


def _of_population(population: Population, read: Read | None) -> dict[str, Any]:
    facts = population.facts
    rows: Sequence[ReferenceRow | PromptFacts] = (
        facts.rows if isinstance(facts, ReferenceFacts) else facts.prompts
    )
    impls = facts.impls if isinstance(facts, ReferenceFacts) else {"population": facts.impl}
    return {
        "name": population.name,
        "label": "degraded" if population.degraded else "clean",
        "hardware": population.hardware or None,
        "impls": dict(impls),
        "degenerate": degenerate(population) or None,
        "values": {} if read is None else dict(sorted(read.values.items())),
        "prompts": [
            {
                "prompt": row.prompt,
                "clips": list(row.sources),
                "contents": [content or "" for content in row.contents],
                "values": {}
                if read is None
                else {n: v[at] for n, v in sorted(read.per_prompt.items()) if at in v},
            }
            for at, row in enumerate(rows)
        ],
    }

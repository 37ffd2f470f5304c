"""Budgets from labelled populations: what ought to pass, and what ought not.

Pure: facts in, a table with its evidence out. Where the facts come from, and what happens to a file
of budgets that is there already, is :mod:`screentest.calibrating`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from screentest.errors import InputError
from screentest.gates.budget import STATISTICS, Budget, BudgetTable, Kind
from screentest.gates.placing import RULE, Bound, Reading, Side, place_bound, sides_of
from screentest.gates.report import ReferenceFacts, ReferenceRow
from screentest.gates.resampling import DRAWS, SEED, pooled_of, redrawn
from screentest.gates.statistics import IMAGE, REFERENCE, VIDEO
from screentest.metrics.population.facts import PopulationFacts, PromptFacts

__all__ = ["Placement", "Population", "place_budgets"]

IDENTITY = "identity"
"""Name of the clean population that is each reference against itself."""

_EXTREMES = ("imaging_worst_prompt", "track_stability_worst", "frozen_share_excess")
"""Of one prompt. Prompts drawn anew never read worse than the worst there is, so one population
tells too little of its spread: of 100 more of 8 prompts, 6 to 24 read beyond the bound in
simulations (normal, heavy-tailed and skewed; backstop and placed), with two populations 11 at most.
Of medians it is 2 at most (normal)."""

_ORDER: Mapping[Kind, tuple[str, ...]] = {"video": VIDEO, "image": IMAGE, "reference": REFERENCE}

_IDENTICAL: Mapping[str, float] = {
    "jerk_excess": 0.0,
    "frozen_share_excess": 0.0,
    "significant_features": 0.0,
    "population_frechet": 0.0,
    "psnr_mean": 99.0,
    "psnr_worst": 99.0,
    "lpips_mean": 0.0,
    "lpips_worst": 0.0,
    "dists_mean": 0.0,
    "dists_worst": 0.0,
    "vmaf": 100.0,
    "vmaf_mean": 100.0,
    "vmaf_min": 100.0,
}
"""What a clip against itself reads; every other statistic is 1."""


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


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """What labelled populations say about where budgets lie.

    Attributes:
        table: the budgets that could be placed; ``None`` where none could.
        bounds: every side of every statistic, with its margin or with why it has no bound.
        evidence: what a budgets file keeps: the rule, the populations and the bounds.
        missed: degraded populations that keep every bound.
        notes: what a person should know before trusting the table.
    """

    table: BudgetTable | None
    bounds: tuple[Bound, ...]
    evidence: dict[str, Any]
    missed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Read(NamedTuple):
    """A population's values by statistic, those of each prompt, and those of prompts drawn anew."""

    population: Population
    values: dict[str, float]
    per_prompt: dict[str, Mapping[int, float]]
    draws: dict[str, tuple[float, ...]]


def place_budgets(
    populations: Sequence[Population],
    *,
    kind: Kind = "video",
    name: str = "calibrated",
    version: int = 1,
    family: str = "",
    hardware: str = "",
) -> Placement:
    """A bound for each side of each statistic, between the worst clean population and the nearest
    degraded one; see :data:`~screentest.gates.placing.RULE`.

    Args:
        populations: clean and degraded ones. Without a clean one, that side is each reference
            against itself and every bound is provisional.
        kind: the gate that the budgets are for.
        name: of the table; reports quote it.
        version: of the table.
        family: of the model, for the evidence.
        hardware: what the renders ran on, for the evidence.

    Raises:
        InputError: no population, one name twice, a clean population that is degenerate, or facts
            of another gate than ``kind``.
    """
    _check(populations, kind)
    read = [_read(each) for each in populations if not _degenerate(each)]
    clean = [each for each in read if not each.population.degraded]
    degraded = [each for each in read if each.population.degraded]
    bounds = [
        _place(statistic, side, clean, degraded)
        for statistic in _ORDER[kind]
        for side in sides_of(statistic)
    ]
    budgets = tuple(_budgets(bounds, clean))
    table = None
    if budgets:
        table = BudgetTable(name=name, kind=kind, version=version, budgets=budgets)
    caught = {population for bound in bounds for population in bound.caught}
    missed = tuple(each.population.name for each in degraded if each.population.name not in caught)
    return Placement(
        table=table,
        bounds=tuple(bounds),
        evidence=_evidence(populations, read, bounds, family, hardware, missed),
        missed=missed,
        notes=tuple(_notes(populations, clean, degraded, missed)),
    )


def _check(populations: Sequence[Population], kind: Kind) -> None:
    if kind not in STATISTICS:
        raise InputError(f"kind {kind!r}: expected one of {', '.join(STATISTICS)}")
    if not populations:
        raise InputError("no population: give at least one that is clean or degraded")
    names = [each.name for each in populations]
    for each in populations:
        if names.count(each.name) > 1:
            raise InputError(f"two populations are called {each.name!r}: give each its own name")
        of_a_reference = isinstance(each.facts, ReferenceFacts)
        if of_a_reference != (kind == "reference"):
            raise InputError(
                f"{each.name}: facts of {'one' if of_a_reference else 'another'} trajectory, and "
                f"the budgets are for the {kind} gate"
            )
        if isinstance(each.facts, PopulationFacts):
            still = each.facts.still
            if still != (kind == "image"):
                raise InputError(
                    f"{each.name}: {'stills' if still else 'clips of several frames'}, and the "
                    f"budgets are for the {kind} gate: --kind {'image' if still else 'video'}"
                )
        if _degenerate(each) and not each.degraded:
            raise InputError(
                f"{each.name}: clips with nothing to compare (no contrast, or half their frames "
                "flat) among what is said to be clean",
                code="degenerate",
            )


def _degenerate(population: Population) -> bool:
    facts = population.facts
    return isinstance(facts, PopulationFacts) and bool(
        facts.degenerate_candidates or facts.degenerate_references
    )


def _read(population: Population) -> _Read:
    facts = population.facts
    values = (
        dict(facts.values)
        if isinstance(facts, ReferenceFacts)
        else {name: v for each in facts.benchmarks.values() for name, v in each.values.items()}
    )
    pools = pooled_of(facts)
    return _Read(
        population,
        values,
        {name: pool.per_prompt for name, pool in pools.items()},
        {name: redrawn(pool) for name, pool in pools.items()},
    )


def _place(statistic: str, side: Side, clean: Sequence[_Read], degraded: Sequence[_Read]) -> Bound:
    bad = _readings(statistic, degraded)
    if not clean:
        identical = Reading(IDENTITY, _IDENTICAL.get(statistic, 1.0))
        return place_bound(statistic, side, [identical], bad, spread_known=False)
    good = _readings(statistic, clean)
    if len(good) < len(clean):
        lacking = [e.population.name for e in clean if statistic not in e.values]
        reason = f"not measured in {', '.join(lacking)}: {_why(statistic, clean)}"
        return Bound(statistic=statistic, side=side, reason=reason)
    return place_bound(statistic, side, good, bad, interval=_interval(good, side))


def _readings(statistic: str, read: Sequence[_Read]) -> list[Reading]:
    return [
        Reading(each.population.name, each.values[statistic], each.draws.get(statistic, ()))
        for each in read
        if statistic in each.values
    ]


def _why(statistic: str, read: Sequence[_Read]) -> str:
    for each in read:
        facts = each.population.facts
        parts = [facts] if isinstance(facts, ReferenceFacts) else [*facts.benchmarks.values()]
        for part in parts:
            said = getattr(part, "inapplicable", {}).get(statistic) or part.unmeasured.get(
                statistic
            )
            if said and statistic not in each.values:
                return str(said)
    return "the facts have no value"


def _interval(clean: Sequence[Reading], side: Side) -> tuple[float, float] | None:
    """95 % of the worst clean value over populations and prompts drawn anew."""
    if not all(each.draws for each in clean):
        return None
    g = np.random.Generator(np.random.PCG64(SEED + 1))
    chosen = g.integers(0, len(clean), (DRAWS, len(clean))).tolist()
    drawn = g.integers(0, len(clean[0].draws), (DRAWS, len(clean))).tolist()
    worst = max if side == "high" else min
    values = sorted(
        worst(clean[at].draws[draw] for at, draw in zip(row, draws, strict=True))
        for row, draws in zip(chosen, drawn, strict=True)
    )
    return values[int(0.025 * DRAWS)], values[int(0.975 * DRAWS)]


def _budgets(bounds: Sequence[Bound], clean: Sequence[_Read]) -> Iterator[Budget]:
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


def _told(bound: Bound, clean: Sequence[_Read]) -> str:
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


def _notes(
    populations: Sequence[Population],
    clean: Sequence[_Read],
    degraded: Sequence[_Read],
    missed: Sequence[str],
) -> Iterator[str]:
    if not clean:
        yield (
            "no spread between clean renders is known: the clean side is each reference against "
            "itself, and every bound is provisional; render the clean arm again and give both"
        )
    elif len(clean) == 1 and any(name in clean[0].values for name in _EXTREMES):
        yield (
            "one clean population: its worst prompt says little about that of the next, so bounds "
            "of worst prompts would fail about one clean run in ten; give two or more"
        )
    if not degraded:
        yield "no degraded population: every bound is a backstop beyond what is clean"
    for each in populations:
        if _degenerate(each):
            yield f"{each.name} has nothing to compare; a gate calls it degenerate without a bound"
        elif each.facts.n < 8:
            yield f"{each.name} has {each.facts.n} prompts; a gate wants 8"
    for name in missed:
        yield f"no bound catches {name}: it would pass"


def _evidence(
    populations: Sequence[Population],
    read: Sequence[_Read],
    bounds: Sequence[Bound],
    family: str,
    hardware: str,
    missed: Sequence[str],
) -> dict[str, Any]:
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


def _of_population(population: Population, read: _Read | None) -> dict[str, Any]:
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
        "degenerate": _degenerate(population) or None,
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

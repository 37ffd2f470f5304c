"""Budgets from labelled populations: what ought to pass, and what ought not.

Pure: facts in, a table with its evidence out. Where the facts come from, and what happens to a file
of budgets that is there already, is :mod:`screentest.calibrating`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from screentest.errors import InputError
from screentest.gates.budget import STATISTICS, BudgetTable, Kind
from screentest.gates.calibration.bound import Bound, Reading, Side, sides_of
from screentest.gates.calibration.evidence import budgets_of, evidence_of
from screentest.gates.calibration.labelled import Population, Read, degenerate, read_population
from screentest.gates.calibration.placing import place_bound
from screentest.gates.calibration.resampling import DRAWS, SEED
from screentest.gates.report import ReferenceFacts
from screentest.gates.statistics import IMAGE, REFERENCE, VIDEO
from screentest.gates.verdict import MIN_PROMPTS
from screentest.metrics.population.facts import PopulationFacts

__all__ = ["Placement", "Population", "place_budgets"]

IDENTITY = "identity"
"""Name of the clean population that is each reference against itself."""

_EXTREMES = (
    "imaging_worst_prompt",
    "track_stability_worst",
    "frozen_share_excess",
    "population_frechet_worst",
)
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
    "population_frechet_worst": 0.0,
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
    degraded one; see :data:`~screentest.gates.calibration.placing.RULE`.

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
    read = [read_population(each) for each in populations if not degenerate(each)]
    clean = [each for each in read if not each.population.degraded]
    degraded = [each for each in read if each.population.degraded]
    bounds = _place_all(_ORDER[kind], clean, degraded)
    budgets = tuple(budgets_of(bounds, clean))
    table = None
    if budgets:
        table = BudgetTable(name=name, kind=kind, version=version, budgets=budgets)
    missed = _missed(bounds, degraded)
    return Placement(
        table=table,
        bounds=tuple(bounds),
        evidence=evidence_of(populations, read, bounds, family, hardware, missed),
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
        if degenerate(each) and not each.degraded:
            raise InputError(
                f"{each.name}: clips with nothing to compare (no contrast, or half their frames "
                "flat) among what is said to be clean",
                code="degenerate",
            )


def _place_all(
    statistics: Sequence[str], clean: Sequence[Read], degraded: Sequence[Read]
) -> list[Bound]:
    """Every bound; one with less than the whole margin only for a population that no other
    catches."""
    names = {each.population.name for each in degraded}
    bounds = [
        _place(statistic, side, clean, degraded, names)
        for statistic in statistics
        for side in sides_of(statistic)
    ]
    for name in _missed(bounds, degraded):
        tried = [
            (_place(old.statistic, old.side, clean, degraded, names - {name}), at)
            for at, old in enumerate(bounds)
        ]
        found = [(bound, at) for bound, at in tried if name in bound.caught]
        if found:
            bound, at = max(found, key=lambda each: (each[0].margin_spreads or 0.0, -each[1]))
            bounds[at] = bound
            names -= {name}
    return bounds


def _missed(bounds: Sequence[Bound], degraded: Sequence[Read]) -> tuple[str, ...]:
    caught = {population for bound in bounds for population in bound.caught}
    return tuple(each.population.name for each in degraded if each.population.name not in caught)


def _place(
    statistic: str,
    side: Side,
    clean: Sequence[Read],
    degraded: Sequence[Read],
    elsewhere: Collection[str],
) -> Bound:
    bad = _readings(statistic, degraded)
    if not clean:
        identical = Reading(IDENTITY, _IDENTICAL.get(statistic, 1.0))
        return place_bound(
            statistic, side, [identical], bad, spread_known=False, elsewhere=elsewhere
        )
    good = _readings(statistic, clean)
    if len(good) < len(clean):
        lacking = [e.population.name for e in clean if statistic not in e.values]
        where = f" in {', '.join(lacking)}" if good else ""
        reason = f"not measured{where}: {_why(statistic, clean)}"
        return Bound(statistic=statistic, side=side, reason=reason)
    return place_bound(
        statistic, side, good, bad, interval=_interval(good, side), elsewhere=elsewhere
    )


def _readings(statistic: str, read: Sequence[Read]) -> list[Reading]:
    return [
        Reading(each.population.name, each.values[statistic], each.draws.get(statistic, ()))
        for each in read
        if statistic in each.values
    ]


def _why(statistic: str, read: Sequence[Read]) -> str:
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


def _notes(
    populations: Sequence[Population],
    clean: Sequence[Read],
    degraded: Sequence[Read],
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
        if degenerate(each):
            yield f"{each.name} has nothing to compare; a gate calls it degenerate without a bound"
        elif each.facts.n < MIN_PROMPTS:
            yield f"{each.name} has {each.facts.n} prompts; a gate wants {MIN_PROMPTS}"
    for name in missed:
        yield f"no bound catches {name}: it would pass"

"""How much of a budget's room a value takes, and so which prompts are the worst: for showing alone,
no verdict hangs on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from screentest.gates.budget import Budget, BudgetTable
from screentest.gates.reference_facts import METRICS
from screentest.metrics import registry

if TYPE_CHECKING:
    from screentest.gates.report import GateReport

__all__ = [
    "farthest_out",
    "is_broken",
    "is_ratio",
    "neutral",
    "of_prompt",
    "prompt_budgets",
    "prompt_values",
    "room_taken",
    "worst_prompts",
]

_OF_A_PROMPT = {
    "imaging_worst_prompt": "imaging_index",
    "track_stability_worst": "track_stability_ratio",
    "population_frechet_worst": "population_frechet",
}


def is_ratio(statistic: str) -> bool:
    """Whether half and double are equally far from no change.

    >>> is_ratio("flicker_ratio"), is_ratio("imaging_index"), is_ratio("jerk_excess")
    (True, True, False)
    """
    return statistic.startswith(("ratio_", "imaging_", "track_stability_")) or statistic.endswith(
        ("_ratio", "_retention")
    )


def neutral(statistic: str) -> float | None:
    """What no change reads, ``None`` where there is no such number (PSNR has none).

    >>> neutral("motion_ratio"), neutral("population_frechet"), neutral("psnr_mean")
    (1.0, 0.0, None)
    """
    if is_ratio(statistic) or statistic.startswith(("ssim_", "ms_ssim_")):
        return 1.0
    if statistic.startswith("vmaf"):
        return 100.0
    return None if statistic.startswith("psnr_") else 0.0


def of_prompt(statistic: str) -> str:
    """The statistic of one prompt that a statistic over all prompts is made of."""
    return _OF_A_PROMPT.get(statistic, statistic)


def prompt_budgets(table: BudgetTable | None) -> dict[str, Budget]:
    """The bounds that each prompt is shown against, by the statistic of one prompt.

    A bound of the worst prompt goes before the bound of the median: it is meant for one prompt.
    """
    if table is None:
        return {}
    found = {budget.name: budget for budget in table.budgets if budget.name not in _OF_A_PROMPT}
    return found | {
        _OF_A_PROMPT[budget.name]: budget for budget in table.budgets if budget.name in _OF_A_PROMPT
    }


def room_taken(budget: Budget, value: float) -> float:
    """Share of the way from no change to the bound: 0 for no change, 1 on the bound, more outside.

    Ratios are measured by their logarithm; one of 0 or below is infinitely far. Where no change has
    no number, or one outside the bounds, the bound's own size is the measure, and a value inside
    reads below 1.

    >>> budget = Budget(name="population_frechet", high=0.2, provenance="...")
    >>> [round(room_taken(budget, value), 3) for value in (0.05, 0.2, 0.3)]
    [0.25, 1.0, 1.5]
    """
    best = neutral(budget.name)
    log = is_ratio(budget.name) and all(
        bound is None or bound > 0 for bound in (budget.low, budget.high)
    )
    if log and value <= 0:
        return math.inf if budget.low is not None else 0.0
    if value == best and budget.check(value):
        return 0.0

    def scaled(number: float) -> float:
        return math.log(number) if log else number

    shares = []
    for bound, sign in ((budget.low, -1.0), (budget.high, 1.0)):
        if bound is None:
            continue
        room = 0.0 if best is None else sign * (scaled(bound) - scaled(best))
        if room <= 0:
            room = abs(scaled(bound)) or 1.0
        shares.append(max(0.0, 1.0 + sign * (scaled(value) - scaled(bound)) / room))
    return max(shares)


def prompt_values(report: GateReport) -> tuple[tuple[str, Mapping[str, float]], ...]:
    """(prompt, statistics of that pair by name), in the order of the run."""
    if report.population is not None:
        return tuple((each.prompt, each.values) for each in report.population.prompts)
    if report.reference is not None:
        return tuple((row.prompt, row.values) for row in report.reference.rows)
    return ()


def worst_prompts(report: GateReport) -> tuple[int, ...]:
    """Indices of the prompts, the one first that takes most of the room of any budget.

    Pairs that are not aligned or have nothing to compare go before all others. Distances without
    budgets are ranked by the worst frame of the first metric. Where there is neither, a prompt
    keeps its place at the end.
    """
    taken = []
    for index, (_, values) in enumerate(prompt_values(report)):
        most = math.inf if is_broken(report, index) else farthest_out(report, values)[0]
        taken.append((-most, index))
    return tuple(index for _, index in sorted(taken))


def farthest_out(report: GateReport, values: Mapping[str, float]) -> tuple[float, str]:
    """How far out the statistics of one prompt lie, more is worse, and by which of them; 0 and no
    name where nothing says."""
    budgets = prompt_budgets(report.table)
    shares = [(room_taken(budgets[name], values[name]), name) for name in values if name in budgets]
    if shares:
        return max(shares)
    if report.table is None and report.reference is not None:
        for metric in report.reference.metrics:
            if (name := METRICS[metric][-1]) in values:
                rises = registry.spec(metric).direction == "up"
                return -values[name] if rises else values[name], name
    return 0.0, ""


def is_broken(report: GateReport, index: int) -> bool:
    """Whether a pair has nothing that could be ranked: it is not aligned, or a clip is blank."""
    if report.population is not None:
        facts = report.population
        return index in (*facts.degenerate_references, *facts.degenerate_candidates)
    return report.reference is not None and bool(report.reference.rows[index].misaligned)

"""Draws of prompts from the bank through the gate: how often it says what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from screentest.gates.budget import shipped
from screentest.gates.judge import judge_population
from screentest.metrics.population.derive import derive
from screentest.metrics.population.facts import ArmClip, PopulationFacts, PromptFacts
from screentest.metrics.population.names import IMPL
from screentest.metrics.population.ratios import Pair
from screentest.metrics.population.scalars import clip_scalars, moving_level
from screentest.metrics.population.significance import paired_p
from screentest.protocol import Protocol
from tests.oracles import clips

__all__ = ["Outcome", "described", "facts_of", "judged", "rates", "rounded", "simulate", "wilson"]

QUANTILES = (0.001, 0.01, 0.05, 0.5, 0.95, 0.99, 0.999)


class Outcome(NamedTuple):
    """What the gate said of one draw."""

    verdict: str
    failed: tuple[str, ...]
    values: dict[str, float]


def described(references: Sequence[ArmClip], candidates: Sequence[ArmClip]) -> list[Pair]:
    """Pairs as the statistics take them, once for all draws."""
    return [
        Pair(f"prompt {at}", clip_scalars(r, level), clip_scalars(c, level))
        for at, (r, c) in enumerate(zip(references, candidates, strict=True))
        for level in (moving_level(r),)
    ]


def facts_of(pairs: Sequence[Pair]) -> PopulationFacts:
    """The statistics without their intervals, on which no verdict hangs."""
    found = derive(pairs, paired_p, lambda _scale: [0.0] * len(pairs))
    return PopulationFacts(
        impl=IMPL,
        prompts=tuple(
            PromptFacts(prompt=p.prompt, reference=p.reference, candidate=p.candidate, values=v)
            for p, v in zip(pairs, found.values, strict=True)
        ),
        benchmarks=found.benchmarks,
    )


def judged(pairs: Sequence[Pair], kind: str = "video") -> Outcome:
    facts = facts_of(pairs)
    first = pairs[0].reference
    protocol = Protocol(
        family="ltx-2.3", reference_arm="reference", candidate_arm="candidate",
        changes=("compile",), width=int(first["width"]), height=int(first["height"]),
        frames=int(first["n_frames"]), steps=8, seeds=(0,),
        prompts=tuple(pair.prompt for pair in pairs), execution_lane="compiled", hardware="made",
    )  # fmt: skip
    report = judge_population(facts, protocol, shipped(kind))
    values = {row.budget.name: row.value for row in report.rows() if row.value is not None}
    failed = tuple(row.budget.name for row in report.rows() if row.passed is False)
    return Outcome(report.verdict, failed, values)


def simulate(arms: Sequence[Sequence[Pair]], n: int, draws: int, seed: int, kind: str = "video",
             bad: Sequence[Pair] = ()) -> list[Outcome]:  # fmt: skip
    """``draws`` times n prompts without repetition; each prompt's pair comes from one of ``arms``
    at random, and where there is ``bad``, that of one prompt from there."""
    g = clips.rng(seed)
    found = []
    for _ in range(draws):
        prompts = g.choice(len(arms[0]), n, replace=False)
        which = g.integers(0, len(arms), n)
        pairs = [arms[arm][at] for arm, at in zip(which, prompts, strict=True)]
        if bad:
            pairs[0] = bad[prompts[0]]
        found.append(judged(pairs, kind))
    return found


def wilson(count: int, of: int) -> tuple[float, float]:
    from scipy.stats import binomtest

    ends = binomtest(count, of).proportion_ci(method="wilson")
    return round(float(ends.low), 4), round(float(ends.high), 4)


def rates(outcomes: Sequence[Outcome], *, every: bool = True) -> dict:
    """Shares of the draws, with 95 % Wilson intervals, and what the statistics read: ``every``
    quantile, or the middle and the ends."""
    of = len(outcomes)
    fails = sum(o.verdict == "fail" for o in outcomes)
    names = list(dict.fromkeys(name for o in outcomes for name in o.values))
    return {
        "draws": of,
        "fail": fails / of,
        "fail_interval": wilson(fails, of),
        "indeterminate": sum(o.verdict == "indeterminate" for o in outcomes) / of,
        "degenerate": sum(o.verdict == "degenerate" for o in outcomes) / of,
        "failed": {
            name: count / of
            for name in names
            if (count := sum(name in o.failed for o in outcomes))
        },
        "quantiles": {
            name: _quantiles([o.values[name] for o in outcomes if name in o.values], every)
            for name in names
        },
    }  # fmt: skip


def _quantiles(values: Sequence[float], every: bool) -> dict[str, float]:
    wanted = QUANTILES if every else (0.05, 0.5, 0.95)
    found = np.quantile(values, wanted)
    return {f"{100 * q:g} %": rounded(v) for q, v in zip(wanted, found, strict=True)}


def rounded(value: float) -> float:
    return 0.0 if value == 0 else round(float(value), 3 - math.floor(math.log10(abs(value))))

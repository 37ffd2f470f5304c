"""What a stored record of two arms contradicts itself in: its numbers are derived again from those
of its clips."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from screentest.metrics.population.derive import Derived, degenerate, derive
from screentest.metrics.population.facts import BenchmarkFacts, PopulationFacts
from screentest.metrics.population.names import IMPL
from screentest.metrics.population.ratios import Pair
from screentest.metrics.population.scalars import LARGEST

__all__ = ["inconsistencies"]

_CLOSE = 1e-7
"""Relative, and absolute below 1: the logarithms and p-values of another machine."""


def inconsistencies(facts: PopulationFacts) -> Iterator[str]:
    """Sentences that each name a number and what the rest says it is; none for a record that nobody
    has edited.

    Every statistic is derived again, and the spreads; of ``population_frechet_full`` the median of
    the pairs' own. Not so the ends of intervals, detectable effects and prompts needed, on which
    nothing rests. Needs no scipy.
    """
    if facts.impl != IMPL:
        yield f"the statistics are {facts.impl}; this version derives {IMPL}"
        return
    if not facts.prompts:
        yield "there is no prompt"
        return
    pairs = [Pair(p.prompt, p.reference, p.candidate) for p in facts.prompts]
    wrong = list(_impossible(pairs))
    if wrong:
        yield from wrong
        return
    try:
        yield from _degenerate(facts, pairs)
        if facts.degenerate_references or facts.degenerate_candidates:
            if facts.benchmarks:
                yield "a clip has nothing to compare, and there are benchmarks"
            return
        wholly = [p.values.get("population_frechet_full", math.nan) for p in facts.prompts]
        found = derive(pairs, t_test_p, lambda _: wholly)
    except KeyError as error:
        yield f"a clip has no {error.args[0]}"
        return
    yield from _compare(facts, found)


def _impossible(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        for arm, clip in (("reference", pair.reference), ("candidate", pair.candidate)):
            for name, value in clip.items():
                least = 1.0 if name == "n_frames" else -LARGEST if name[:5] == "mean_" else 0.0
                if not least <= value <= LARGEST**2:
                    yield f"the {arm} of {pair.prompt!r} has {name} {value}, as no clip has"


def _degenerate(facts: PopulationFacts, pairs: Sequence[Pair]) -> Iterator[str]:
    for arm, said, clips in (
        ("reference", facts.degenerate_references, [pair.reference for pair in pairs]),
        ("candidate", facts.degenerate_candidates, [pair.candidate for pair in pairs]),
    ):
        found = tuple(at for at, clip in enumerate(clips) if degenerate(clip))
        if found != tuple(said):
            yield f"degenerate clips of the {arm} are {list(said)}; its numbers say {list(found)}"


def _compare(facts: PopulationFacts, found: Derived) -> Iterator[str]:
    for at, (prompt, values) in enumerate(zip(facts.prompts, found.values, strict=True)):
        yield from _differ(f"prompt {at}", prompt.values, values)
    if set(facts.benchmarks) != set(found.benchmarks):
        yield (
            f"benchmarks are {', '.join(facts.benchmarks) or 'none'}; expected "
            f"{', '.join(found.benchmarks)}"
        )
        return
    for name, benchmark in found.benchmarks.items():
        yield from _benchmark(name, facts.benchmarks[name], benchmark, found.logs)
    yield from _differ("scales", facts.scales, found.scales)
    if set(facts.power) != set(found.logs):
        yield "power is told of other statistics than those that spread over prompts"
        return
    for name, logs in found.logs.items():
        spread = _deviation(logs)
        said = facts.power[name].spread
        if (said is None) != (spread is None) or not _close(said or 0.0, spread or 0.0):
            yield f"the spread of {name} is {said}; its prompts spread by {spread}"


def _benchmark(
    name: str, said: BenchmarkFacts, found: BenchmarkFacts, logs: Mapping[str, Sequence[float]]
) -> Iterator[str]:
    yield from _differ(name, said.values, found.values)
    for what in ("unmeasured", "inapplicable"):
        theirs, ours = set(getattr(said, what)), set(getattr(found, what))
        if theirs != ours:
            yield f"{name}: {what} are {sorted(theirs)}; the clips say {sorted(ours)}"
    expected = {s for s in found.values if s in logs and len(logs[s]) > 1}
    if set(said.intervals) != expected:
        yield f"{name}: intervals are told of other statistics than those that have one"
    for statistic, ends in said.intervals.items():
        if not ends.low <= ends.high:
            yield f"{name}: the interval of {statistic} runs from {ends.low} to {ends.high}"


def _differ(where: str, said: Mapping[str, float], found: Mapping[str, float]) -> Iterator[str]:
    for name in sorted({*said, *found}):
        theirs, ours = said.get(name), found.get(name)
        if theirs is None or ours is None or not _close(theirs, ours):
            yield f"{where}: {name} is {theirs}; the numbers of the clips say {ours}"


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _deviation(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def t_test_p(logs: Sequence[float]) -> float:
    """p of the paired t test, by the closed form for whole degrees of freedom (Abramowitz and
    Stegun 26.7.3 and 26.7.4): what scipy measured is checked where there is no scipy.

    >>> round(t_test_p([0.01, 0.02, -0.005, 0.03, 0.015, 0.01, 0.02, 0.0]), 8)
    0.01688979
    """
    n = len(logs)
    if max(logs) - min(logs) <= 1e-12:
        return 1.0 if abs(math.fsum(logs)) <= 1e-12 * n else 0.0
    deviation = _deviation(logs) or math.inf
    t = abs(math.fsum(logs)) / n / deviation * math.sqrt(n)
    freedom = n - 1
    angle = math.atan(t / math.sqrt(freedom))
    cos2 = math.cos(angle) ** 2
    odd = freedom % 2
    term, total = (math.cos(angle), 0.0) if odd else (1.0, 0.0)
    for k in range(3 if odd else 2, freedom + 1, 2):
        total += term
        term *= cos2 * (k - 1) / k
    within = math.sin(angle) * total
    if odd:
        within = 2.0 / math.pi * (angle + within)
    return min(1.0, max(0.0, 1.0 - within))

"""What a stored record of two arms contradicts itself in: its numbers are derived again from those
of its clips."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from screentest.metrics.population.derive import Derived, degenerate, derive
from screentest.metrics.population.distributional import effect_sizes, significant
from screentest.metrics.population.facts import BenchmarkFacts, PopulationFacts, PromptFacts
from screentest.metrics.population.names import IMPL
from screentest.metrics.population.ratios import DETAIL, IMAGING, TONE, Pair, imaging_log
from screentest.metrics.population.scalars import LARGEST
from screentest.metrics.population.verify_sampling import interval_faults, two_sided_p

__all__ = ["inconsistencies", "odd_values", "t_test_p"]

_EXTENTS = ("n_frames", "width", "height")
_ALWAYS = (*_EXTENTS, "flat_frames", "tracks_seen")
_COUNTS = frozenset({*_ALWAYS, "corners"})
_MOST = dict.fromkeys(("tracks_seen", "frozen_share", "track_stability", "stability_inside"), 1.0)
"""Of shares and of what is there or is not."""

_CLOSE = 1e-7
"""Relative, and absolute below 1: the logarithms and p-values of another machine."""


def inconsistencies(facts: PopulationFacts) -> Iterator[str]:
    """Sentences that each name a number and what the rest says it is; none for a record that nobody
    has edited.

    Every statistic is derived again. The ends of intervals are held between percentiles of draws of
    the prompts, the full-covariance distance of a pair between the least and the most that its
    means and variances leave; over the prompts it is the median of the pairs'. What a test could
    have seen is not derived from the spread again. Needs no scipy.
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
            derived = (
                facts.benchmarks,
                facts.power,
                facts.scales,
                *(p.values for p in facts.prompts),
            )
            if any(derived):
                yield "a clip has nothing to compare, and there are statistics of pairs"
            return
        wholly = [p.values.get("population_frechet_full", math.nan) for p in facts.prompts]
        found = derive(pairs, t_test_p, lambda _: wholly)
    except KeyError as error:
        yield f"a clip has no {error.args[0]}"
        return
    yield from _compare(facts, found)


def odd_values(values: Mapping[str, float]) -> Iterator[str]:
    """Sentences about statistics of two arms that do not go together, where the record of the clips
    was not kept: what is made of others is made of them again."""
    try:
        logs = {name: math.log(values[f"ratio_{name}"]) for name in IMAGING}
        made = {
            "imaging_index": math.exp(imaging_log(logs)),
            "detail_retention": math.exp(math.fsum(logs[n] for n in DETAIL) / len(DETAIL)),
            "tonal_retention": math.exp(math.fsum(logs[n] for n in TONE) / len(TONE)),
        }
        if "significant_features" in values:
            effects = {name: values[f"effect_{name}"] for name in IMAGING}
            made |= {f"effect_{name}": values[f"ratio_{name}"] for name in IMAGING}
            made |= effect_sizes([values[f"dz_{name}"] for name in IMAGING])
            adjusted = {name: values[f"holm_p_{name}"] for name in IMAGING}
            made["significant_features"] = float(len(significant(adjusted, effects)))
    except KeyError as error:
        yield f"there is no {error.args[0]}, which others are made of"
        return
    except ValueError:
        yield "a ratio is not above 0"
        return
    yield from _differ("what is made of others", {name: values.get(name) for name in made}, made)


def _impossible(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        for arm, clip in (("reference", pair.reference), ("candidate", pair.candidate)):
            if lacking := [name for name in _ALWAYS if name not in clip]:
                yield f"the {arm} of {pair.prompt!r} has no {lacking[0]}, as every clip has"
                continue
            for name, value in clip.items():
                least = 1.0 if name in _EXTENTS else -LARGEST if name[:5] == "mean_" else 0.0
                most = clip["n_frames"] if name == "flat_frames" else _MOST.get(name, LARGEST**2)
                whole = name not in _COUNTS or value == int(value)
                if not (least <= value <= most and whole):
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
        if "population_frechet_full" in prompt.values and "population_frechet_full" in values:
            yield from _out_of_reach(at, prompt, found.scales)
    if set(facts.benchmarks) != set(found.benchmarks):
        yield (
            f"benchmarks are {', '.join(facts.benchmarks) or 'none'}; expected "
            f"{', '.join(found.benchmarks)}"
        )
        return
    for name, benchmark in found.benchmarks.items():
        yield from _benchmark(name, facts.benchmarks[name], benchmark, found)
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
    name: str, said: BenchmarkFacts, found: BenchmarkFacts, derived: Derived
) -> Iterator[str]:
    yield from _differ(name, said.values, found.values)
    for what in ("unmeasured", "inapplicable"):
        theirs, ours = getattr(said, what), getattr(found, what)
        if theirs.keys() != ours.keys():
            yield f"{name}: {what} are {sorted(theirs)}; the clips say {sorted(ours)}"
        elif theirs != ours:
            odd = next(statistic for statistic in ours if theirs[statistic] != ours[statistic])
            yield f"{name}: why {odd} is {what} is not what the clips say"
    if said.notes != found.notes:
        yield f"{name}: the notes are others than the clips give"
    expected = {s for s in found.values if len(derived.logs.get(s, ())) > 1}
    if set(said.intervals) != expected:
        yield f"{name}: intervals are told of other statistics than those that have one"
        return
    yield from (f"{name}: {fault}" for fault in interval_faults(said.intervals, derived))


def _out_of_reach(at: int, pair: PromptFacts, scales: Mapping[str, float]) -> Iterator[str]:
    """The distance with covariances, of which the record holds the diagonal alone: between the
    least and the most of two Gaussians of these means and these total variances. Shrinking keeps
    the total."""
    theirs, ours = pair.reference, pair.candidate
    apart = math.fsum(
        ((ours[f"mean_{n}"] - theirs[f"mean_{n}"]) / u) ** 2 for n, u in scales.items()
    )
    first, second = (
        math.fsum(clip[f"var_{n}"] / u**2 for n, u in scales.items()) for clip in (theirs, ours)
    )
    least, most = apart + (math.sqrt(first) - math.sqrt(second)) ** 2, apart + first + second
    value = pair.values["population_frechet_full"]
    # It is kept to six decimals, and its terms to what an eigenvalue is good for.
    slack = 1e-6 + 1e-7 * most
    if not least - slack <= value <= most + slack:
        yield (
            f"prompt {at}: population_frechet_full is {value}; the numbers of its clips put it "
            f"between {least:.6g} and {most:.6g}"
        )


def _differ(
    where: str, said: Mapping[str, float | None], found: Mapping[str, float]
) -> Iterator[str]:
    for name in sorted({*said, *found}):
        theirs, ours = said.get(name), found.get(name)
        if theirs is None or ours is None or not _close(theirs, ours):
            yield f"{where}: {name} is {theirs}; what it is made of says {ours}"


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _deviation(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def t_test_p(logs: Sequence[float]) -> float:
    """p of the paired t test, by a closed form: what scipy measured is checked where there is
    no scipy.

    >>> round(t_test_p([0.01, 0.02, -0.005, 0.03, 0.015, 0.01, 0.02, 0.0]), 8)
    0.01688979
    """
    n = len(logs)
    if max(logs) - min(logs) <= 1e-12:
        return 1.0 if abs(math.fsum(logs)) <= 1e-12 * n else 0.0
    deviation = _deviation(logs) or math.inf
    return two_sided_p(abs(math.fsum(logs)) / n / deviation * math.sqrt(n), n - 1)

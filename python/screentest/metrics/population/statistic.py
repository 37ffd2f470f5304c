"""One statistic of two arms: what it is of a pair, and how the pairs become one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from screentest.metrics.population.facts import BenchmarkFacts
from screentest.metrics.population.ratios import Missing, Pair, median

__all__ = ["Kind", "Statistic", "pooled", "shown", "spread_logs"]

Kind: TypeAlias = Literal["ratio", "excess", "median", "max", "min"]
"""``ratio``: of logarithms, the ratio at their median; ``excess``: that less 1; the others are of
the values as they are."""

LEAST_RATIO = 0.01
"""A plain ratio below a hundredth has nothing left to spread over."""


class Statistic(NamedTuple):
    """What a pair reads, and how pairs are pooled.

    Attributes:
        name: its key in reports.
        kind: how pairs become one number.
        of: what one pair reads, as a logarithm for ``ratio`` and ``excess``.
    """

    name: str
    kind: Kind
    of: Callable[[Pair], float | Missing]


def shown(kind: Kind, value: float) -> float:
    """A pair's or the pooled value as reports have it."""
    if kind == "ratio":
        return math.exp(value)
    return math.expm1(value) if kind == "excess" else value


def spread_logs(kind: Kind, values: Sequence[float]) -> list[float] | None:
    """The logarithms whose spread over prompts says what a test can see; ``None`` where an extreme
    of the prompts was taken."""
    if kind in ("max", "min"):
        return None
    if kind == "median":
        return [math.log(max(value, LEAST_RATIO)) for value in values]
    return list(values)


def pooled(
    pairs: Sequence[Pair], statistics: Sequence[Statistic]
) -> tuple[BenchmarkFacts, Mapping[str, Mapping[int, float]]]:
    """The benchmark, and per statistic what each pair reads, by the pair's place.

    One pair where it should have been measured and was not leaves a statistic unmeasured; pairs
    where it has no meaning are left out, and if they all are, it is inapplicable.
    """
    values: dict[str, float] = {}
    unmeasured: dict[str, str] = {}
    inapplicable: dict[str, str] = {}
    notes: list[str] = []
    read: dict[str, dict[int, float]] = {}
    for each in statistics:
        found = [each.of(pair) for pair in pairs]
        gaps = [(at, gap) for at, gap in enumerate(found) if isinstance(gap, Missing)]
        lacking = [(at, gap) for at, gap in gaps if gap.applies]
        held = {at: value for at, value in enumerate(found) if not isinstance(value, Missing)}
        read[each.name] = held
        if lacking:
            unmeasured[each.name] = _told(lacking, pairs)
        elif not held:
            inapplicable[each.name] = _told(gaps, pairs)
        else:
            values[each.name] = shown(each.kind, _pool(each.kind, list(held.values())))
            if gaps:
                left = f"{each.name} leaves out {len(gaps)} of {len(pairs)} prompts"
                notes.append(f"{left}: {_told(gaps, pairs)}")
    facts = BenchmarkFacts(
        values=values, unmeasured=unmeasured, inapplicable=inapplicable, notes=tuple(notes)
    )
    return facts, read


def _pool(kind: Kind, values: list[float]) -> float:
    if kind == "max":
        return max(values)
    return min(values) if kind == "min" else median(values)


def _told(gaps: Sequence[tuple[int, Missing]], pairs: Sequence[Pair]) -> str:
    at, gap = gaps[0]
    if len(gaps) == len(pairs):
        return gap.reason
    return f"{gap.reason} ({len(gaps)} of {len(pairs)} prompts, the first {pairs[at].prompt!r})"

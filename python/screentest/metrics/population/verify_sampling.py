"""What a stored record says of other draws of its prompts, held against its prompts: the ends of
intervals, and the p of a test. Needs no scipy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from screentest.metrics.population.derive import Derived
from screentest.metrics.population.facts import Interval
from screentest.metrics.population.samples import samples_of
from screentest.metrics.population.significance import LEVEL, SEED
from screentest.metrics.population.statistic import shown

__all__ = ["interval_faults", "two_sided_p"]

_RESAMPLES = 1999
_WITHIN = 0.02
"""An end is a percentile of resamples, and theirs differ from ours by chance: by 0.4 percentage
points in the standard deviation where they are others, and less where they are the same."""

_ROUNDED = 1e-7
"""Relative, and absolute below 1."""


def interval_faults(said: Mapping[str, Interval], found: Derived) -> Iterator[str]:
    """Sentences about ends that do not lie where resamples of the prompts put them."""
    for statistic, ends in said.items():
        if not ends.low <= ends.high:
            yield f"the interval of {statistic} runs from {ends.low} to {ends.high}"
        samples = samples_of(statistic, found)
        n = len(samples.rows)
        drawn = np.concatenate(
            [samples.of(samples.rows[places]) for places in _places(n, max(1, 200_000 // n))]
        )
        for end, value, level in (
            ("low", ends.low, LEVEL / 2.0),
            ("high", ends.high, 1.0 - LEVEL / 2.0),
        ):
            least, most = (
                shown(samples.kind, float(limit))
                for limit in np.quantile(drawn, (level - _WITHIN, level + _WITHIN))
            )
            if not least - _slack(least) <= value <= most + _slack(most):
                yield (
                    f"the {end} end of the interval of {statistic} is {value}; draws of its "
                    f"prompts put it between {least:.6g} and {most:.6g}"
                )


def _places(n: int, rows: int) -> Iterator[np.ndarray]:
    """Places of prompts drawn with replacement, some resamples at a time."""
    rng = np.random.default_rng(SEED)
    for start in range(0, _RESAMPLES, rows):
        yield rng.integers(0, n, (min(rows, _RESAMPLES - start), n))


def two_sided_p(t: float, freedom: int) -> float:
    """p of a t from 0 on, by the closed form for whole degrees of freedom (Abramowitz and Stegun
    26.7.3 and 26.7.4).

    >>> round(two_sided_p(2.364624, 7), 6)
    0.05
    """
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


def _slack(value: float) -> float:
    return _ROUNDED * max(1.0, abs(value))

"""What a stored record says of other draws of its prompts, held against its prompts: the ends of
intervals and what a test could have seen. Needs no scipy."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping

import numpy as np

from screentest.metrics.population.derive import Derived
from screentest.metrics.population.facts import Interval, Power
from screentest.metrics.population.samples import samples_of
from screentest.metrics.population.significance import EFFECT, LEVEL, POWER, SEED
from screentest.metrics.population.statistic import shown

__all__ = ["chance", "interval_faults", "power_faults", "two_sided_p"]

_RESAMPLES = 1999
_WITHIN = 0.02
"""An end is a percentile of resamples, and theirs differ from ours by chance: by 0.4 percentage
points in the standard deviation where they are others, and less where they are the same."""

_ROUNDED = 1e-7
"""Relative, and absolute below 1."""

_CHANCE = 1e-5
"""What two ways to work out a power may differ by, and one prompt in forty thousand."""

_NONE = 1e-9
"""A spread of logarithms that is a rounding."""

_CERTAIN = 15.0
"""A noncentrality from which on a test of 3 prompts or more finds its effect."""


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


def power_faults(name: str, said: Power, spread: float | None, n: int) -> Iterator[str]:
    """Sentences about what a test over n prompts of this spread could not have seen."""
    if spread is None:
        if said.detectable is not None or said.prompts_needed is not None:
            yield f"{name} has no spread, and yet it is told what a test of it could see"
        return
    if said.detectable is None or said.prompts_needed is None:
        yield f"what a test of {name} could have seen is not told"
        return
    if not _is_detectable(said.detectable, spread, n):
        yield (
            f"a test of {name} over {n} prompts that spread by {spread:.6g} does not find "
            f"{said.detectable:.6g} in 80 % of the cases"
        )
    if not _is_needed(said.prompts_needed, spread):
        yield (
            f"{name}, whose prompts spread by {spread:.6g}, does not need {said.prompts_needed} of "
            "them to show 2 %"
        )


def _is_detectable(detectable: float, spread: float, n: int) -> bool:
    if spread <= _NONE:
        return 0.0 <= detectable <= 1e3 * _NONE
    if not detectable > 0.0:
        return False
    return abs(chance(math.log1p(detectable) / spread * math.sqrt(n), n) - POWER) <= _CHANCE


def _is_needed(prompts: int, spread: float) -> bool:
    effect = math.log1p(EFFECT) / max(spread, 1e-12)
    if prompts < 3 or chance(min(effect * math.sqrt(prompts), _CERTAIN), prompts) < POWER - _CHANCE:
        return False
    fewer = prompts - 1
    return prompts == 3 or chance(min(effect * math.sqrt(fewer), _CERTAIN), fewer) < POWER + _CHANCE


@functools.lru_cache(4096)
def chance(noncentrality: float, n: int) -> float:
    """Of a two-sided paired t test at 5 % of n pairs to find an effect on its own side.

    By Simpson's rule over the deviation that the test divides by.

    >>> round(chance(0.5 * 34**0.5, 34), 4)
    0.8078
    """
    freedom = n - 1
    limit = _critical(freedom)
    half = 9.0 / math.sqrt(2.0 * freedom)
    low, steps = max(0.0, 1.0 - half), 800
    width = (1.0 + half - low) / steps
    constant = math.log(2.0) + freedom / 2.0 * math.log(freedom / 2.0) - math.lgamma(freedom / 2.0)
    total = []
    for at in range(steps + 1):
        s = low + at * width
        weight = 1.0 if at in (0, steps) else 4.0 if at % 2 else 2.0
        if s == 0.0:
            density = math.exp(constant) if freedom == 1 else 0.0
        else:
            density = math.exp(constant + (freedom - 1) * math.log(s) - freedom * s * s / 2.0)
        total.append(
            weight * density * 0.5 * math.erfc((limit * s - noncentrality) / math.sqrt(2.0))
        )
    return width / 3.0 * math.fsum(total)


@functools.lru_cache(1024)
def _critical(freedom: int) -> float:
    """The t that a two-sided test at 5 % takes."""
    if freedom > 200:
        # Abramowitz and Stegun 26.7.5; the next term is below 1e-8.
        z = 1.959963984540054
        return (
            z
            + (z**3 + z) / (4.0 * freedom)
            + (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / (96.0 * freedom**2)
            + (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / (384.0 * freedom**3)
        )
    low, high = 1.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if two_sided_p(middle, freedom) > LEVEL else (low, middle)
    return low


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

"""Where one bound goes between what clean populations read and what degraded ones do."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from screentest.gates.calibration.bound import (
    AXES,
    COUNTS,
    LINEAR,
    NO_BACKSTOP,
    Axis,
    Bound,
    Reading,
    Side,
)

__all__ = ["BACKSTOP_SPREADS", "MARGIN_SPREADS", "RULE", "place_bound"]

MARGIN_SPREADS = 3.0
"""Spreads of the clean populations that a bound keeps from the worst of them."""

LEAST_SHARE = 0.25
"""Of the gap to the nearest degraded population: a spread that few populations tell may be too
small."""

CLEAR_SPREADS = 2.0
"""A degraded population this near to the worst clean one cannot be told from it: the bound between
them would lie within one spread of both."""

MOVED_SPREADS = 1.0
"""A degraded population that shifts a statistic by less does not move it."""

BACKSTOP_SPREADS = 6.0
"""Where nothing degraded says how far is too far."""

BACKSTOP_RATIO = 10.0
"""A backstop farther from the worst clean value, on the logarithmic axis, would stop nothing."""

RULE = (
    "A bound lies beyond the worst clean population by 3 spreads, at least a quarter and at most "
    "half of the way to the nearest degraded population that is clear of it: beyond the 95 % "
    "interval of the worst clean value, and by 6 spreads, or by 2 where no other bound catches "
    "that population. The spread is the standard deviation of the statistic over a clean "
    "population drawn at random with its prompts drawn anew. Ratios are placed on the logarithmic "
    "axis, counts on the next whole number. Where degraded populations move a statistic and cannot "
    "be told from the worst clean one, there is no bound; where none moves it, or only ones that "
    "are caught elsewhere, there is a backstop 6 spreads beyond the worst clean population, and "
    "none where its spread is not known or the backstop would be ten times the worst clean value."
)
"""What a budgets file says of how its bounds were placed."""


def place_bound(
    statistic: str,
    side: Side,
    clean: Sequence[Reading],
    degraded: Sequence[Reading],
    *,
    interval: tuple[float, float] | None = None,
    spread_known: bool = True,
    elsewhere: Collection[str] = (),
) -> Bound:
    """One bound by :data:`RULE`.

    Args:
        statistic: its name says which axis it is placed on.
        side: which one.
        clean: what the clean populations read; at least one.
        degraded: what the degraded ones read.
        interval: 95 % interval of the worst clean value.
        spread_known: false where the clean side is the identity alone.
        elsewhere: populations that another bound catches, so that this one need not: they count as
            clear only where they leave room for the whole margin on both sides.

    >>> place_bound("psnr_mean", "low", [Reading("again", 41.0)], [Reading("worse", 33.0)]).bound
    37.0
    """
    clean_side = _view(statistic, side, clean, interval, spread_known)
    along, far, known = clean_side.along, clean_side.far, clean_side.known
    told_apart = [
        reading
        for reading in degraded
        if along(reading.value) > clean_side.reach
        and along(reading.value) - far >= CLEAR_SPREADS * known
        and not (statistic in COUNTS and reading.value < clean_side.worst.value + 1)
    ]
    clear = [
        reading
        for reading in told_apart
        if reading.population not in elsewhere
        or along(reading.value) - far >= 2 * MARGIN_SPREADS * known
    ]
    unclear = tuple(
        sorted(
            reading.population
            for reading in degraded
            if reading not in told_apart and _moved(reading, clean_side)
        )
    )
    common = Bound(
        statistic=statistic,
        side=side,
        clean=clean_side.worst.value,
        clean_of=clean_side.worst.population,
        interval=interval,
        spread=clean_side.spread,
        unclear=unclear,
    )
    if clear:
        return _between(common, clean_side, clear, degraded)
    if unclear and not told_apart:
        return msgspec.structs.replace(
            common,
            reason=f"clean and degraded overlap: {', '.join(unclear)} cannot be told from the "
            f"worst clean population ({clean_side.worst.population})",
        )
    return _beyond_clean(common, clean_side, bool(told_apart))


class _View(NamedTuple):
    """The clean side as it lies on the axis of placing, with worse always further along.

    ``far`` is where the worst clean value lies and ``reach`` the end of its interval; ``known`` is
    the spread where it counts, else 0.
    """

    statistic: str
    axis: Axis
    sign: float
    worst: Reading
    far: float
    reach: float
    centre: float
    spread: float | None
    known: float

    def along(self, value: float) -> float:
        """Where a value lies."""
        return self.sign * self.axis.to(value)

    def at(self, place: float) -> float:
        """The value that lies there."""
        return self.axis.back(self.sign * place)


def _view(
    statistic: str,
    side: Side,
    clean: Sequence[Reading],
    interval: tuple[float, float] | None,
    spread_known: bool,
) -> _View:
    axis, sign = AXES.get(statistic, LINEAR), 1.0 if side == "high" else -1.0
    places = {reading: sign * axis.to(reading.value) for reading in clean}
    worst = max(clean, key=lambda reading: (places[reading], reading.population))
    far = reach = places[worst]
    if interval is not None:
        reach = max(far, sign * axis.to(interval[1 if side == "high" else 0]))
    spread = _spread(clean, axis) if spread_known else None
    return _View(
        statistic=statistic,
        axis=axis,
        sign=sign,
        worst=worst,
        far=far,
        reach=reach,
        centre=statistics.median(places.values()),
        spread=spread,
        # A count has a next value instead of a spread.
        known=0.0 if statistic in COUNTS else spread or 0.0,
    )


def _between(
    common: Bound, clean: _View, clear: Sequence[Reading], degraded: Sequence[Reading]
) -> Bound:
    """The bound between the worst clean value and the nearest that is clear of it."""
    nearest = min(clear, key=lambda reading: (clean.along(reading.value), reading.population))
    gap = clean.along(nearest.value) - clean.far
    step = min(max(MARGIN_SPREADS * clean.known, LEAST_SHARE * gap), gap / 2)
    if clean.spread is None:
        step = gap / 2
    bound = clean.at(clean.far + step)
    if clean.statistic in COUNTS:
        bound = float(math.floor(bound))
    else:
        bound = _rounded(bound, (clean.worst.value, nearest.value))
    margin = clean.along(bound) - clean.far
    reason = ""
    if clean.spread is None:
        reason = "no spread between clean renders is known: it lies midway"
    elif margin < 0.95 * MARGIN_SPREADS * clean.known:
        reason = f"a margin of {margin / clean.known:.2g} spreads is all that the gap allows"
    beyond = (each for each in degraded if clean.sign * each.value > clean.sign * bound)
    return msgspec.structs.replace(
        common,
        bound=bound,
        kind="placed",
        reason=reason,
        provisional=bool(reason),
        degraded=nearest.value,
        degraded_of=nearest.population,
        margin=abs(bound - clean.worst.value),
        margin_spreads=margin / clean.known if clean.known else None,
        caught=tuple(sorted(each.population for each in beyond)),
    )


def _beyond_clean(common: Bound, clean: _View, caught_elsewhere: bool) -> Bound:
    """A backstop, where one means something."""
    moves = "what moves it a little is caught elsewhere" if caught_elsewhere else (
        "no degraded population moves it"
    )  # fmt: skip
    if clean.statistic in COUNTS:
        reason = moves
    elif clean.spread is None:
        reason = f"{moves}, and no spread between clean renders is known"
    elif not clean.spread:
        reason = f"{moves}, and the clean ones do not vary in it"
    elif (common.statistic, common.side) in NO_BACKSTOP:
        reason = f"{moves}, and to move on this side is no damage"
    elif clean.axis is not LINEAR and BACKSTOP_SPREADS * clean.spread > math.log(BACKSTOP_RATIO):
        reason = f"{moves}, and clean ones differ so much that a backstop would stop nothing"
    else:
        step = BACKSTOP_SPREADS * clean.spread
        ends = clean.worst.value, clean.at(clean.far + 2 * step)
        bound = _rounded(clean.at(clean.far + step), ends)
        return msgspec.structs.replace(
            common,
            bound=bound,
            kind="backstop",
            provisional=True,
            reason=f"a backstop: {moves}",
            margin=abs(bound - clean.worst.value),
            margin_spreads=(clean.along(bound) - clean.far) / clean.spread,
        )
    return msgspec.structs.replace(common, reason=reason)


def _spread(clean: Sequence[Reading], axis: Axis) -> float | None:
    """Of a clean population at random with its prompts drawn anew; ``None`` for one value."""
    if len(clean) < 2 and not clean[0].draws:
        return None
    drawn = [[axis.to(value) for value in each.draws or (each.value,)] for each in clean]
    means = [math.fsum(values) / len(values) for values in drawn]
    middle = math.fsum(means) / len(means)
    within = [
        math.fsum((value - mean) ** 2 for value in values) / len(values)
        for values, mean in zip(drawn, means, strict=True)
    ]
    between = [(mean - middle) ** 2 for mean in means]
    variance = math.fsum(within) / len(within)
    if len(between) > 1:
        variance += math.fsum(between) / (len(between) - 1)
    # Sums of equal numbers leave the last bits.
    return math.sqrt(variance) if variance > 1e-24 else 0.0


def _moved(reading: Reading, clean: _View) -> bool:
    """Whether a degraded population reads otherwise than clean ones, prompts drawn anew and all."""
    drawn = sorted(map(clean.along, reading.draws or (reading.value,)))
    nearest = drawn[int(0.025 * len(drawn))]
    shift = clean.along(reading.value) - clean.centre
    return nearest > clean.centre and shift > MOVED_SPREADS * clean.known


def _rounded(bound: float, between: tuple[float, float]) -> float:
    """The shortest decimal within a fiftieth of the way, for people to read."""
    for digits in range(16):
        short = round(bound, digits)
        if abs(short - bound) <= 0.02 * abs(between[1] - between[0]):
            return short
    return bound

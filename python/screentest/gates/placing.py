"""Where one bound goes between what clean populations read and what degraded ones do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

__all__ = [
    "BACKSTOP_SPREADS",
    "MARGIN_SPREADS",
    "RULE",
    "Bound",
    "Reading",
    "Side",
    "place_bound",
    "sides_of",
]

Side: TypeAlias = Literal["low", "high"]

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

RULE = (
    "A bound lies beyond the worst clean population by 3 spreads, at least a quarter and at most "
    "half of the way to the nearest degraded population that is clear of it: beyond the 95 % "
    "interval of the worst clean value, and by 2 spreads. The spread is the standard deviation of "
    "the statistic over a clean population drawn at random with its prompts drawn anew. Ratios are "
    "placed on the logarithmic axis. Where degraded populations move a statistic and none is "
    "clear, there is no bound; where none moves it, there is a backstop 6 spreads beyond the worst "
    "clean population, and none where its spread is not known."
)
"""What a budgets file says of how its bounds were placed."""


class Reading(NamedTuple):
    """What one population reads of one statistic: its value, and what it read with its prompts
    drawn anew (empty where that is not known)."""

    population: str
    value: float
    draws: tuple[float, ...] = ()


class Bound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One side of one statistic: the bound, or why there is none.

    Attributes:
        statistic: what is bounded.
        side: ``low`` or ``high``.
        bound: ``None`` where none was placed.
        kind: ``placed`` between clean and degraded, ``backstop`` beyond clean alone, ``none``.
        reason: why there is no bound, or what there is to know of one that is provisional.
        provisional: whether the evidence is thinner than the rule wants.
        clean: the worst clean value, and ``clean_of`` its population.
        interval: 95 % interval of the worst clean value.
        spread: of the clean populations, on the axis of placing.
        degraded: the nearest value that is clear of them, and ``degraded_of`` its population.
        margin: distance of the bound from the worst clean value, in the statistic's unit.
        margin_spreads: the same in spreads.
        caught: degraded populations beyond the bound.
        unclear: those that move the statistic and cannot be told from the worst clean one.
    """

    statistic: str
    side: Side
    bound: float | None = None
    kind: Literal["placed", "backstop", "none"] = "none"
    reason: str = ""
    provisional: bool = False
    clean: float | None = None
    clean_of: str = ""
    interval: tuple[float, float] | None = None
    spread: float | None = None
    degraded: float | None = None
    degraded_of: str = ""
    margin: float | None = None
    margin_spreads: float | None = None
    caught: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()


class _Axis(NamedTuple):
    """How a statistic is laid out for placing; ``sign`` turns the low side into a high one."""

    to: Callable[[float], float]
    back: Callable[[float], float]


def _ratio(least: float, shift: float = 0.0) -> _Axis:
    """Logarithmic; below ``least`` there is nothing left to tell apart."""
    return _Axis(lambda value: math.log(max(value + shift, least)), lambda x: math.exp(x) - shift)


_LINEAR = _Axis(lambda value: value, lambda x: x)

_AXES: Mapping[str, _Axis] = {
    "imaging_index": _ratio(0.05),
    "imaging_worst_prompt": _ratio(0.05),
    "jerk_excess": _ratio(0.05, shift=1.0),
    "flicker_ratio": _ratio(0.05),
    "motion_ratio": _ratio(0.05),
    "track_stability_ratio": _ratio(0.05),
    "track_stability_worst": _ratio(0.05),
    "grid_ratio": _ratio(0.05),
    "population_frechet": _ratio(0.01),
}
"""Of the statistics that are no differences."""

_COUNTS = frozenset({"significant_features"})

_TWO_SIDED = frozenset(
    {"imaging_index", "jerk_excess", "flicker_ratio", "motion_ratio", "track_stability_ratio"}
)
_LOW = frozenset({"imaging_worst_prompt", "track_stability_worst"})
_NO_BACKSTOP: frozenset[tuple[str, Side]] = frozenset(
    # Less flicker, more motion and steadier things are no damage by themselves.
    {("flicker_ratio", "low"), ("motion_ratio", "high"), ("track_stability_ratio", "high")}
)


def sides_of(statistic: str) -> tuple[Side, ...]:
    """On which sides a statistic can be out of bounds.

    >>> sides_of("imaging_index"), sides_of("psnr_mean"), sides_of("lpips_worst")
    (('low', 'high'), ('low',), ('high',))
    """
    if statistic in _TWO_SIDED:
        return ("low", "high")
    similar = statistic.startswith(("psnr", "ssim", "ms_ssim", "vmaf"))
    return ("low",) if similar or statistic in _LOW else ("high",)


def place_bound(
    statistic: str,
    side: Side,
    clean: Sequence[Reading],
    degraded: Sequence[Reading],
    *,
    interval: tuple[float, float] | None = None,
    spread_known: bool = True,
) -> Bound:
    """One bound by :data:`RULE`.

    Args:
        statistic: its name says which axis it is placed on.
        side: which one.
        clean: what the clean populations read; at least one.
        degraded: what the degraded ones read.
        interval: 95 % interval of the worst clean value.
        spread_known: false where the clean side is the identity alone.

    >>> place_bound("psnr_mean", "low", [Reading("again", 41.0)], [Reading("worse", 33.0)]).bound
    37.0
    """
    axis, sign = _AXES.get(statistic, _LINEAR), 1.0 if side == "high" else -1.0

    def along(value: float) -> float:
        return sign * axis.to(value)

    worst = max(clean, key=lambda reading: (along(reading.value), reading.population))
    far = along(worst.value)
    spread = _spread(clean, axis) if spread_known else None
    known = spread or 0.0
    reach = far if interval is None else max(far, along(interval[1 if side == "high" else 0]))
    centre = _median([along(reading.value) for reading in clean])
    clear = [
        reading
        for reading in degraded
        if along(reading.value) > reach and along(reading.value) - far >= CLEAR_SPREADS * known
        and not (statistic in _COUNTS and reading.value < worst.value + 1)
    ]  # fmt: skip
    unclear = tuple(
        sorted(
            reading.population
            for reading in degraded
            if reading not in clear and _moved(reading, along, centre, known)
        )
    )
    common = Bound(
        statistic=statistic,
        side=side,
        clean=worst.value,
        clean_of=worst.population,
        interval=interval,
        spread=spread,
        unclear=unclear,
    )
    if clear:
        nearest = min(clear, key=lambda reading: (along(reading.value), reading.population))
        gap = along(nearest.value) - far
        step = min(max(MARGIN_SPREADS * known, LEAST_SHARE * gap), gap / 2)
        if spread is None:
            step = gap / 2
        bound = axis.back(sign * (far + step))
        if statistic in _COUNTS:
            bound = float(math.floor(bound))
        else:
            bound = _rounded(bound, (worst.value, nearest.value))
        reason = _thin(spread, abs(along(bound) - far), statistic)
        return msgspec.structs.replace(
            common,
            bound=bound,
            kind="placed",
            reason=reason,
            provisional=bool(reason),
            degraded=nearest.value,
            degraded_of=nearest.population,
            margin=abs(bound - worst.value),
            margin_spreads=(along(bound) - far) / spread if spread else None,
            caught=_beyond(degraded, bound, sign),
        )
    if unclear:
        return msgspec.structs.replace(
            common,
            reason=f"clean and degraded overlap: {', '.join(unclear)} cannot be told from the "
            f"worst clean population ({worst.population})",
        )
    if not spread or (statistic, side) in _NO_BACKSTOP or statistic in _COUNTS:
        why = (
            ", and no spread between clean renders is known"
            if spread is None
            else ", and the clean ones do not vary in it"
            if not spread
            else ", and to move on this side is no damage"
        )
        return msgspec.structs.replace(
            common,
            reason=f"no degraded population moves it{why if statistic not in _COUNTS else ''}",
        )
    end = axis.back(sign * (far + BACKSTOP_SPREADS * spread))
    bound = _rounded(end, (worst.value, axis.back(sign * (far + 2 * BACKSTOP_SPREADS * spread))))
    return msgspec.structs.replace(
        common,
        bound=bound,
        kind="backstop",
        provisional=True,
        reason="a backstop: no degraded population moves it",
        margin=abs(bound - worst.value),
        margin_spreads=(along(bound) - far) / spread,
    )


def _spread(clean: Sequence[Reading], axis: _Axis) -> float | None:
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


def _moved(reading: Reading, along: Callable[[float], float], centre: float, spread: float) -> bool:
    drawn = sorted(along(value) for value in reading.draws) or [along(reading.value)]
    nearest = drawn[int(0.025 * len(drawn))]
    return nearest > centre and along(reading.value) - centre > MOVED_SPREADS * spread


def _thin(spread: float | None, margin: float, statistic: str) -> str:
    if spread is None:
        return "no spread between clean renders is known: it lies midway"
    if statistic not in _COUNTS and margin < 0.95 * MARGIN_SPREADS * spread:
        return f"a margin of {margin / spread:.2g} spreads is all that the gap allows"
    return ""


def _beyond(degraded: Sequence[Reading], bound: float, sign: float) -> tuple[str, ...]:
    beyond = (each for each in degraded if sign * each.value > sign * bound)
    return tuple(sorted(each.population for each in beyond))


def _rounded(bound: float, between: tuple[float, float]) -> float:
    """The shortest decimal within a fiftieth of the way, for people to read."""
    for digits in range(16):
        short = round(bound, digits)
        if abs(short - bound) <= 0.02 * abs(between[1] - between[0]):
            return short
    return bound


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

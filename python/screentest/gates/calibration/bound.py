"""One bound of one statistic: what it is, on which sides there is one, and on which axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

__all__ = [
    "AXES",
    "COUNTS",
    "LINEAR",
    "NO_BACKSTOP",
    "Axis",
    "Bound",
    "Reading",
    "Side",
    "sides_of",
]

Side: TypeAlias = Literal["low", "high"]


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


class Axis(NamedTuple):
    """How a statistic is laid out for placing; ``sign`` turns the low side into a high one."""

    to: Callable[[float], float]
    back: Callable[[float], float]


def _ratio(least: float, shift: float = 0.0) -> Axis:
    """Logarithmic; below ``least`` there is nothing left to tell apart."""
    return Axis(lambda value: math.log(max(value + shift, least)), lambda x: math.exp(x) - shift)


LINEAR = Axis(lambda value: value, lambda x: x)

AXES: Mapping[str, Axis] = {
    "imaging_index": _ratio(0.05),
    "imaging_worst_prompt": _ratio(0.05),
    "jerk_excess": _ratio(0.05, shift=1.0),
    "flicker_ratio": _ratio(0.05),
    "motion_ratio": _ratio(0.05),
    "track_stability_ratio": _ratio(0.05),
    "track_stability_worst": _ratio(0.05),
    "grid_ratio": _ratio(0.05),
    "population_frechet": _ratio(0.01),
    "population_frechet_worst": _ratio(0.01),
}
"""Of the statistics that are no differences."""

COUNTS = frozenset({"significant_features"})

_TWO_SIDED = frozenset(
    {"imaging_index", "jerk_excess", "flicker_ratio", "motion_ratio", "track_stability_ratio"}
)
_LOW = frozenset({"imaging_worst_prompt", "track_stability_worst"})
NO_BACKSTOP: frozenset[tuple[str, Side]] = frozenset(
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

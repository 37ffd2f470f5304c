"""What is drawn of a budget: the room it allows, the value in it, every prompt as a dot.

Places along the axis are percent of its width, so that text and dots keep their size on any screen;
heights are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from screentest.gates.budget import Budget
from screentest.reports.html.gate_scale import Mark, Scale, Tick
from screentest.reports.html.text import short

__all__ = ["Axis", "Dot", "budget_axis"]

# Percent of the axis that a label, and a dot, takes on a phone.
_LABEL = 12.5
_DOT, _LEVELS, _STEP = 2.4, 5, 8.5
# More prompts than this stand closer, in smaller dots.
_MANY = 40
_SMALL_DOT, _MORE_LEVELS, _SMALL_STEP = 1.4, 9, 5.0
# Pixels: the dots' lane ends here, then the value, then the control.
_DOTS, _VALUE, _CONTROL = 46, 59, 75


@dataclass(frozen=True, slots=True)
class Dot:
    """One prompt."""

    prompt: int
    x: float
    y: float
    outside: bool
    says: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Everything that is drawn of one budget."""

    height: int
    band: tuple[float, float]
    low: Tick | None
    high: Tick | None
    ticks: tuple[Tick, ...]
    alike: float | None
    dots: tuple[Dot, ...]
    value: Mark | None
    interval: tuple[float, float] | None
    control: Mark | None
    off: int
    crowd: bool
    value_y: int = _VALUE
    control_y: int = _CONTROL


def budget_axis(
    budget: Budget,
    value: float | None,
    interval: Sequence[float] | None,
    prompts: Sequence[tuple[int, str, float]],
    control: float | None,
    *,
    whole: bool = False,
) -> Axis:
    """The axis of one budget.

    Args:
        budget: the bounds.
        value: what was measured.
        interval: its 95 % interval.
        prompts: (index, name, value) of each prompt that has one.
        control: what the control read.
        whole: whether the statistic is a count.
    """
    numbers = [value, control, *(interval or ()), *(number for _, _, number in prompts)]
    scale = Scale(budget, [number for number in numbers if number is not None], whole=whole)
    place = scale.place
    low, high = (None if bound is None else place(bound).x for bound in (budget.low, budget.high))
    crowded = low is not None and high is not None and high - low < _LABEL
    # An end without a bound: the room reaches to the edge.
    left, right = 0.0 if low is None else low, 100.0 if high is None else high
    named = [x for x in (low, high) if x is not None]
    free = [tick for tick in scale.ticks() if all(abs(tick.x - x) >= _LABEL for x in named)]
    return Axis(
        height=_CONTROL + 28 if control is not None else _VALUE + 26,
        band=(left, round(right - left, 2)),
        low=_limit(low, budget.low, crowded, "end"),
        high=_limit(high, budget.high, crowded, "start"),
        ticks=tuple(free),
        alike=scale.alike(),
        dots=tuple(_swarm(prompts, scale, budget)),
        value=None if value is None else place(value),
        interval=None if interval is None else (place(interval[0]).x, place(interval[1]).x),
        control=None if control is None else place(control),
        off=sum(bool(place(number).off) for _, _, number in prompts),
        crowd=len(prompts) > _MANY,
    )


def _limit(x: float | None, bound: float | None, crowded: bool, outward: str) -> Tick | None:
    if x is None:
        return None
    inward = "start" if x < _LABEL / 2 else "end" if x > 100 - _LABEL / 2 else "middle"
    return Tick(x, f"{bound:g}", outward if crowded else inward)


def _swarm(prompts: Sequence[tuple[int, str, float]], scale: Scale, budget: Budget) -> list[Dot]:
    """The prompts' dots, stacked where they would hide each other."""
    crowd = len(prompts) > _MANY
    levels, wide, step = (
        (_MORE_LEVELS, _SMALL_DOT, _SMALL_STEP) if crowd else (_LEVELS, _DOT, _STEP)
    )
    ends = [-math.inf] * levels
    dots = []
    for x, prompt, name, number in sorted((scale.place(v).x, p, n, v) for p, n, v in prompts):
        free = (level for level in range(levels) if x - ends[level] >= wide)
        level = next(free, min(range(levels), key=lambda at: ends[at]))
        ends[level] = x
        said = f"{name}: {short(number)}"
        dots.append(Dot(prompt, x, _DOTS - step * level, not budget.check(number), said))
    return dots

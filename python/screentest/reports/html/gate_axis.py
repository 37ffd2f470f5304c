"""Geometry of a budget's axis: the room it allows, the value in it, every prompt as a dot.

Places along the axis are percent of its width, so that text and dots keep their size on any screen;
heights are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from screentest.gates.allowance import is_ratio, neutral
from screentest.gates.budget import Budget
from screentest.reports.html.text import short, tick_labels

__all__ = ["Axis", "Dot", "Mark", "Tick", "budget_axis"]

# A value this many times the room beyond a bound is drawn at the edge: the room stays visible.
_BEYOND = 8
# Percent of the axis that a label, and a dot, takes on a phone.
_LABEL = 12.5
_DOT = 1.7
_LEVELS = 5
_LEFT, _SPAN = 2.0, 96.0
# Pixels: the dots' lane ends here, then the value, then the control.
_DOTS, _VALUE, _CONTROL = 42, 54, 70
_STEP = 6.5


@dataclass(frozen=True, slots=True)
class Tick:
    """A label under the axis; ``anchor`` is the side it hangs on."""

    x: float
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Mark:
    """A number's place; ``off`` is the side on which it lies beyond the axis, else empty."""

    x: float
    off: str = ""


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
    log: bool
    off: int
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
    bounds = [bound for bound in (budget.low, budget.high) if bound is not None]
    log = is_ratio(budget.name) and all(bound > 0 for bound in bounds)
    to = math.log if log else float
    best = neutral(budget.name)
    numbers = [value, control, *(interval or ()), *(number for _, _, number in prompts)]
    seen = [to(n) for n in numbers if n is not None and (n > 0 or not log)]
    start, end = _ends(
        [to(bound) for bound in bounds], None if best is None else to(best), seen, whole
    )

    def place(number: float) -> Mark:
        if log and number <= 0:
            return Mark(_LEFT, "left")
        share = (to(number) - start) / (end - start)
        side = "left" if share < -1e-9 else "right" if share > 1 + 1e-9 else ""
        return Mark(round(_LEFT + _SPAN * min(1.0, max(0.0, share)), 2), side)

    low = None if budget.low is None else place(budget.low).x
    high = None if budget.high is None else place(budget.high).x
    crowded = low is not None and high is not None and high - low < _LABEL
    # An end without a bound: the room reaches to the edge.
    band = (0.0 if low is None else low, 100.0 if high is None else high)
    named = [x for x in (low, high) if x is not None]
    taken = {} if interval is None else {"interval": (place(interval[0]).x, place(interval[1]).x)}
    dots = tuple(_swarm(prompts, place, budget))
    off = sum(bool(place(number).off) for _, _, number in prompts)
    return Axis(
        height=_CONTROL + 26 if control is not None else _VALUE + 26,
        band=(band[0], round(band[1] - band[0], 2)),
        low=None if low is None else Tick(low, f"{budget.low:g}", _hung(low, crowded, "end")),
        high=None
        if high is None
        else Tick(high, f"{budget.high:g}", _hung(high, crowded, "start")),
        ticks=tuple(
            tick
            for tick in _ticks(start, end, log, whole, place)
            if all(abs(tick.x - x) >= _LABEL for x in named)
        ),
        alike=None if best is None or place(best).off else place(best).x,
        dots=dots,
        value=None if value is None else place(value),
        interval=taken.get("interval"),
        control=None if control is None else place(control),
        log=log,
        off=off,
    )


def _ends(
    bounds: list[float], best: float | None, seen: list[float], whole: bool
) -> tuple[float, float]:
    """Both ends of the axis, in its own scale."""
    low, high = min(bounds), max(bounds)
    least = min([low, *([] if best is None else [best])])
    most = max([high, *([] if best is None else [best])])
    room = most - least or abs(most) * 0.25 or 1.0
    start = max(min([least, *seen]), least - _BEYOND * room)
    end = min(max([most, *seen]), most + _BEYOND * room)
    if whole:
        return start - 0.4, max(end, start + 3) + 0.4
    pad = 0.07 * (end - start) or 0.25 * room
    return start - pad, end + pad


def _hung(x: float, crowded: bool, outward: str) -> str:
    if crowded:
        return outward
    return "start" if x < _LABEL / 2 else "end" if x > 100 - _LABEL / 2 else "middle"


def _ticks(
    start: float, end: float, log: bool, whole: bool, place: Callable[[float], Mark]
) -> list[Tick]:
    first, last = (math.exp(start), math.exp(end)) if log else (start, end)
    if log and last / first > 4:
        powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
        steps = (1, 2, 5) if last / first < 1000 else (1,)
        values = [step * 10.0**power for power in powers for step in steps]
        labels = [f"{value:g}" for value in values]
    else:
        size = _round_step((last - first) / 5)
        size = max(size, 1.0) if whole else size
        count = math.floor(last / size) - math.ceil(first / size) + 1
        values = [(math.ceil(first / size) + i) * size for i in range(count)]
        labels = tick_labels(values) if len(values) > 1 else [short(value) for value in values]
    return [
        Tick(place(value).x, label)
        for value, label in zip(values, labels, strict=True)
        if not place(value).off
    ]


def _round_step(raw: float) -> float:
    size = 10.0 ** math.floor(math.log10(raw))
    return next(factor * size for factor in (1, 2, 5, 10) if factor * size >= raw * 0.999)


def _swarm(
    prompts: Sequence[tuple[int, str, float]], place: Callable[[float], Mark], budget: Budget
) -> list[Dot]:
    """The prompts' dots, stacked where they would hide each other."""
    ends = [-math.inf] * _LEVELS
    dots = []
    for x, prompt, name, number in sorted((place(v).x, p, n, v) for p, n, v in prompts):
        free = (level for level in range(_LEVELS) if x - ends[level] >= _DOT)
        level = next(free, min(range(_LEVELS), key=lambda at: ends[at]))
        ends[level] = x
        said = f"{name}: {short(number)}"
        y = _DOTS - _STEP * level
        dots.append(Dot(prompt, x, y, not budget.check(number), said))
    return dots

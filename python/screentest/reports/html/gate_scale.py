"""Where a number stands along the axis of a budget, in percent of the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from screentest.gates.allowance import is_ratio, neutral
from screentest.gates.budget import Budget
from screentest.reports.html.text import short, tick_labels

__all__ = ["Mark", "Scale", "Tick"]

# Distances without an upper end, which differ by powers of ten: 0.07 is clean, 5 is noise.
_DISTANCES = frozenset({"population_frechet", "population_frechet_worst"})
# A value this many times the room beyond a bound is drawn at the edge: the room stays visible.
_BEYOND = 8
_LEFT, _SPAN = 2.0, 96.0


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


class Scale:
    """An axis that shows the bounds, no change, and all numbers that are not too far beyond.

    Ratios and distances stand by their logarithm where no bound is 0 or below; a number of 0 then
    lies off the left end. ``whole`` is for counts.
    """

    def __init__(self, budget: Budget, numbers: Sequence[float], *, whole: bool = False) -> None:
        bounds = [bound for bound in (budget.low, budget.high) if bound is not None]
        distance = budget.name in _DISTANCES
        self.whole = whole
        self.log = (distance or is_ratio(budget.name)) and min(bounds) > 0
        # The logarithm of no distance lies nowhere.
        self.best = None if self.log and distance else neutral(budget.name)
        seen = [self._to(number) for number in numbers if number > 0 or not self.log]
        anchors = [self._to(bound) for bound in bounds]
        if self.best is not None:
            anchors.append(self._to(self.best))
        least, most = min(anchors), max(anchors)
        room = most - least or (1.0 if self.log else abs(most) / 4 or 1.0)
        start = max(min([least, *seen]), least - _BEYOND * room)
        end = min(max([most, *seen]), most + _BEYOND * room)
        pad = 0.07 * (end - start) or 0.25 * room
        if whole:
            end, pad = max(end, start + 3), 0.4
        self.start, self.end = start - pad, end + pad

    def place(self, number: float) -> Mark:
        """The place of a number, at an edge where it lies beyond it."""
        if self.log and number <= 0:
            return Mark(_LEFT, "left")
        share = (self._to(number) - self.start) / (self.end - self.start)
        side = "left" if share < -1e-9 else "right" if share > 1 + 1e-9 else ""
        return Mark(round(_LEFT + _SPAN * min(1.0, max(0.0, share)), 2), side)

    def alike(self) -> float | None:
        """The place of no change, if it has one."""
        return None if self.best is None else self.place(self.best).x

    def ticks(self) -> list[Tick]:
        """Round numbers along the axis."""
        marks = ((self.place(value), label) for value, label in self._round())
        return [Tick(mark.x, label) for mark, label in marks if not mark.off]

    def _to(self, number: float) -> float:
        return math.log(number) if self.log else float(number)

    def _round(self) -> list[tuple[float, str]]:
        first, last = self.start, self.end
        if self.log:
            first, last = math.exp(first), math.exp(last)
        if self.log and last / first > 4:
            powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
            steps = (1, 2, 5) if last / first < 100 else (1,)
            values = [step * 10.0**power for power in powers for step in steps]
            return [(value, f"{value:g}") for value in values]
        size = _round_step((last - first) / 5)
        size = max(size, 1.0) if self.whole else size
        count = math.floor(last / size) - math.ceil(first / size) + 1
        values = [(math.ceil(first / size) + i) * size for i in range(count)]
        labels = tick_labels(values) if len(values) > 1 else [short(value) for value in values]
        return list(zip(values, labels, strict=True))


def _round_step(raw: float) -> float:
    size = 10.0 ** math.floor(math.log10(raw))
    return next(factor * size for factor in (1, 2, 5, 10) if factor * size >= raw * 0.999)

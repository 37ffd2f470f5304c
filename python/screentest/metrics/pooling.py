"""How many values become one: the same bits at once, one by one, and from halves.

Sums are exact, so that neither the order of the values nor the way they were cut into parts changes
a bit of a mean or a deviation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from screentest.errors import InputError
from screentest.metrics.spec import WORDS, Pool

__all__ = ["KEEP_VALUES", "ExactSum", "Tally", "pool"]

KEEP_VALUES: tuple[Pool, ...] = ("median", "harmonic_mean")
"""Pools that need every value again at the end."""


def pool(kind: Pool, values: Iterable[float]) -> float:
    """One number of many.

    ``"mean"`` is the exact sum, rounded, over the count; ``"median"`` the middle value, or halfway
    between the two middle ones; ``"harmonic_mean"`` n / Σ 1/v, and 0 if any value is 0 or less;
    ``"min"`` and ``"max"``.

    Raises:
        InputError: there is no value (``no_values``), one is NaN or infinite
            (``non_finite_value``), or ``kind`` is no pool (``unknown_word``).

    >>> pool("mean", [1.0, 2.0, 6.0]), pool("median", [1.0, 2.0, 6.0, 7.0])
    (3.0, 4.0)
    >>> pool("harmonic_mean", [1.0, 2.0, 4.0]) == 3 / 1.75
    True
    """
    if kind not in WORDS["pool"]:
        raise InputError(
            f"pool={kind!r}: expected one of {', '.join(WORDS['pool'])}", code="unknown_word"
        )
    tally = Tally(keep=kind in KEEP_VALUES)
    for value in values:
        tally.add(float(value) + 0.0)
    return tally.pooled(kind)


# The smallest float64 is 2^-1074, and every float64 a whole multiple of it.
_UNIT_BITS = 1074


class ExactSum:
    """The sum of any number of float64 without rounding, as a whole multiple of a tiny unit."""

    __slots__ = ("_unit_bits", "_units")

    def __init__(self, *, squares: bool = False) -> None:
        self._unit_bits = _UNIT_BITS * (2 if squares else 1)
        self._units = 0

    @classmethod
    def of(cls, value: float) -> ExactSum:
        """A single value."""
        one = cls()
        numerator, denominator = value.as_integer_ratio()
        one.add(numerator, denominator.bit_length() - 1)
        return one

    @property
    def units(self) -> int:
        """The sum, in units of 2^-1074 (squares: 2^-2148)."""
        return self._units

    def add(self, numerator: int, denominator_bits: int) -> None:
        """Add ``numerator / 2**denominator_bits``."""
        self._units += numerator << (self._unit_bits - denominator_bits)

    def merge(self, other: ExactSum) -> None:
        """Add another sum."""
        self._units += other._units

    def over(self, count: int) -> float:
        """The sum, rounded, over a count; rounded once where the sum is beyond float64."""
        try:
            return self._units / (1 << self._unit_bits) / count
        except OverflowError:
            return self._units / (count << self._unit_bits)

    def text(self) -> str:
        """The sum without loss, as ``0x1.8`` is written ``0x3p-1``."""
        zeros = (self._units & -self._units).bit_length() - 1 if self._units else 0
        return f"{self._units >> zeros:#x}p{zeros - self._unit_bits}"

    def restore(self, text: str) -> None:
        """Take up what :meth:`text` gave. Raises ValueError for any other text."""
        found = re.fullmatch(r"(-?0x[0-9a-f]+)p(-?[0-9]{1,5})", text)
        if found is None or (shift := int(found[2]) + self._unit_bits) < 0 or shift > 4096:
            raise ValueError(f"{text[:40]!r} is no exact sum")
        self._units = int(found[1], 16) << shift


class Tally:
    """What is kept of values: their number, sums and extremes, and themselves if ``keep``."""

    __slots__ = ("count", "least", "most", "squares", "total", "values")

    def __init__(self, *, keep: bool = False) -> None:
        self.count = 0
        self.total = ExactSum()
        self.squares = ExactSum(squares=True)
        self.least: float | None = None
        self.most: float | None = None
        self.values: list[float] | None = [] if keep else None

    def add(self, value: float) -> None:
        """Take in one value. Raises InputError where it is NaN or infinite."""
        if not math.isfinite(value):
            raise InputError(
                f"{value}: expected a finite number; what was not measured is no value",
                code="non_finite_value",
            )
        numerator, denominator = value.as_integer_ratio()
        bits = denominator.bit_length() - 1
        self.count += 1
        self.total.add(numerator, bits)
        self.squares.add(numerator * numerator, 2 * bits)
        self.least = value if self.least is None else min(self.least, value)
        self.most = value if self.most is None else max(self.most, value)
        if self.values is not None:
            self.values.append(value)

    def merge(self, other: Tally) -> None:
        """Take in the values of another tally after one's own."""
        self.count += other.count
        self.total.merge(other.total)
        self.squares.merge(other.squares)
        if other.least is not None and other.most is not None:
            self.least = other.least if self.least is None else min(self.least, other.least)
            self.most = other.most if self.most is None else max(self.most, other.most)
        if self.values is not None:
            self.values += other.values or []

    def pooled(self, kind: Pool) -> float:
        """The values as one. Raises InputError where there is none."""
        if self.least is None or self.most is None:
            raise InputError("there is no value to pool", code="no_values")
        if kind == "mean":
            # Rounding twice may leave the range of the values by a bit.
            return min(max(self.total.over(self.count), self.least), self.most)
        if kind == "min":
            return self.least
        if kind == "max":
            return self.most
        assert self.values is not None
        return _median(self.values) if kind == "median" else _harmonic(self.values)

    def is_possible(self) -> bool:
        """Whether one set of values can have this count, these sums and these extremes."""
        if self.least is None or self.most is None or self.count < 1:
            return (self.count, self.least, self.most) == (0, None, None) and not (
                self.total.units or self.squares.units
            )
        low, high = (ExactSum.of(end).units for end in (self.least, self.most))
        total, squares, count = self.total.units, self.squares.units, self.count
        if count == 1:
            return low == high == total and squares == total**2
        return (
            low * count <= total <= high * count
            and count * squares >= total**2
            and squares >= low**2 + high**2
        )

    def deviation(self) -> float | None:
        """The standard deviation (n - 1) of the exact sums; ``None`` below two values."""
        if self.count < 2:
            return None
        # n Σv² - (Σv)² over n (n - 1), in units of 2^-2148: the root's are 2^-1074.
        spread = self.count * self.squares.units - self.total.units**2
        divisor = self.count * (self.count - 1)
        # Sixty-four bits more than the root has keep its rounding right.
        extra = 64
        root = math.isqrt((spread << (2 * extra)) // divisor)
        return root / (1 << (_UNIT_BITS + extra))


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    low, high = ordered[half - 1], ordered[half]
    middle = (low + high) / 2
    return middle if math.isfinite(middle) else low / 2 + high / 2


def _harmonic(values: list[float]) -> float:
    least = min(values)
    if least <= 0:
        return 0.0
    # A power of two over each changes no rounding, and no quotient overflows.
    exponent = math.frexp(least)[1] - 1
    one = math.ldexp(1.0, exponent)
    found = math.ldexp(len(values) / math.fsum(one / value for value in values), exponent)
    return min(max(found, least), max(values))

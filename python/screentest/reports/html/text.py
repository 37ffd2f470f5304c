"""Numbers and lists as people read them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from screentest.reports.canonical import printable
from screentest.verdicts.timeline import stretches

__all__ = [
    "base_name",
    "beside",
    "counted",
    "cut",
    "number",
    "ranges",
    "sentence",
    "short",
    "show",
    "tick_labels",
    "unit_word",
]

# Units that mean "a plain number" and take no room beside it.
_UNITLESS = frozenset({"", "1", "ratio", "score", "none", "unitless"})


def number(value: float | None, unit: str = "") -> str:
    """The value without its unit; a dash where there is none.

    >>> number(41.8724, "dB"), number(0.98765432), number(0.0000123), number(None)
    ('41.87', '0.98765', '1.230e-05', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    if unit.lower() == "db" or size >= 10:
        return f"{value:.2f}"
    if size >= 1e-3 or value == 0:
        return f"{value:.5f}" if size < 2 else f"{value:.4f}"
    return f"{value:.3e}"


def short(value: float | None, decimals: int = 3) -> str:
    """A ratio or a statistic in a narrow column; a dash where there is none.

    >>> short(1.00482), short(0.0681), short(8907.43), short(0.00004), short(-0.0), short(None)
    ('1.005', '0.068', '8,907', '4e-05', '0', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    if value == round(value) and size < 1e7:
        return f"{value + 0.0:,.0f}"
    if size >= 1e7 or size < 0.5 * 10.0**-decimals:
        return f"{value:.3g}"
    return f"{value:,.{max(0, decimals - max(0, math.floor(math.log10(size))))}f}"


def beside(value: float, bound: float | None) -> str:
    """A value in as many decimals as tell it from the bound that it is held against.

    >>> beside(0.91998, 0.92), beside(0.87, 0.92), beside(0.92, 0.92)
    ('0.91998', '0.870', '0.920')
    """
    for decimals in range(3, 10):
        told = short(value, decimals)
        if bound is None or value == bound or told != short(bound, decimals):
            return told
    return repr(value)


def cut(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis.

    >>> cut("a fox in the snow", 9)
    'a fox in…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def sentence(text: str) -> str:
    """With a capital; the name of a statistic stays as it is.

    >>> sentence("failed: it"), sentence("vmaf_min was not measured")
    ('Failed: it', 'vmaf_min was not measured')
    """
    return text if "_" in text.split(" ", 1)[0] else f"{text[:1].upper()}{text[1:]}"


def unit_word(unit: str | None) -> str:
    """The unit as it stands in a column; nothing for a plain number."""
    return "" if unit is None or unit.lower() in _UNITLESS else unit


def tick_labels(values: Sequence[float]) -> list[str]:
    """Labels of evenly spaced ticks, with as many decimals as tell them apart.

    >>> tick_labels([0.9, 0.95, 1.0])
    ['0.90', '0.95', '1.00']
    """
    step = abs(values[1] - values[0]) if len(values) > 1 else 1.0
    if step and (step < 1e-5 or max(map(abs, values)) >= 1e6):
        return [f"{value:.3g}" for value in values]
    decimals = 0
    while decimals < 6 and abs(round(step, decimals) - step) > step * 1e-6:
        decimals += 1
    return [f"{value:.{decimals}f}" for value in values]


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 frame``, ``2,000 frames``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def ranges(indices: Iterable[int], most: int = 40) -> str:
    """Ascending indices with runs closed up.

    >>> ranges([3, 4, 5, 9])
    '3–5, 9'
    """
    words = [f"{a}" if a == b else f"{a}–{b}" for a, b in stretches(indices)]
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return ", ".join(words)


def base_name(source: str) -> str:
    """The last part of a path; the whole of anything else."""
    return os.path.basename(source.rstrip("/")) or source


def show(value: Any) -> str:
    """Any fact as text: none is a dash, floats are short, undecodable bytes are escaped."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(show(item) for item in value) or "–"
    return printable(str(value))

"""Geometry of the charts. The template draws it as SVG; labels are text of the page.

A chart's picture stretches to the page, so coordinates are in a box of :data:`WIDE` by
:data:`HIGH`, y pointing down.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from screentest.reports.html.text import number, tick_labels

__all__ = [
    "HIGH",
    "WIDE",
    "Histogram",
    "SeriesChart",
    "bounds",
    "histogram",
    "line_path",
    "per_column",
    "runs",
    "series_chart",
]

WIDE, HIGH = 720, 160

# More points than this a screen cannot show; then a column shows its frames' range and median.
_COLUMNS = 720


@dataclass(frozen=True, slots=True)
class SeriesChart:
    """One metric over the candidate's frames.

    ``line`` and ``band`` are SVG paths (``band`` is empty where each column is one frame),
    ``identical`` a path of rectangles where the frames are equal, ``worst`` the worst frame's point
    as a path. ``ticks`` are y labels from top to bottom, ``data`` is what the page's script reads
    values from.
    """

    name: str
    unit: str
    line: str
    band: str
    identical: str
    worst: str
    ticks: tuple[str, ...]
    first: int
    last: int
    summary: str
    data: str
    binned: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """How one metric is spread over samples: bars, and where the mean and its interval lie."""

    bars: str
    mean: str
    interval: str
    low: str
    high: str
    most: int
    count: int
    summary: str


def series_chart(
    name: str,
    unit: str,
    frames: NDArray[np.int64],
    values: NDArray[np.float64],
    *,
    direction: str = "up",
) -> SeriesChart | None:
    """The chart of one metric, ``None`` where no frame has a number.

    ``values`` are per compared pair: infinite where the frames are identical, NaN where there is
    none; ``frames`` the candidate's index of each.
    """
    finite = np.isfinite(values)
    if not len(values) or not (finite.any() or np.isposinf(values).any()):
        return None
    count = len(values)
    columns = min(count, _COLUMNS)
    edges = np.arange(columns + 1) * count // columns
    low, high = bounds(values[finite]) if finite.any() else (0.0, 1.0)
    ticks = np.linspace(high, low, 5 if high > low else 2)
    middles, lows, highs, same = per_column(values, edges)
    x = (np.arange(columns) + 0.5) * WIDE / columns

    def y(value: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((high - value) / (high - low) * HIGH)

    worst_at = _worst(values, finite, direction)
    worst = ""
    if worst_at is not None:
        worst = f"M{(worst_at + 0.5) * WIDE / count:.1f},{float(y(values[worst_at])):.1f}h0"
    return SeriesChart(
        name=name,
        unit=unit,
        line=line_path(x, y(middles), np.isfinite(middles)),
        band=_band(x, y(lows), y(highs)) if columns < count else "",
        identical=_blocks(same, columns),
        worst=worst,
        ticks=tuple(tick_labels(list(ticks))) if finite.any() else (),
        first=int(frames[0]),
        last=int(frames[-1]),
        summary=_series_summary(name, unit, frames, values, worst_at),
        data=json.dumps(
            {
                "f": [int(frames[a]) for a in edges[:-1]],
                "l": [int(frames[b - 1]) for b in edges[1:]],
                "v": [
                    "identical" if s else number(float(v), unit) if math.isfinite(v) else None
                    for v, s in zip(middles, same, strict=True)
                ],
            },
            separators=(",", ":"),
        ),
        binned=-(-count // columns),
    )


def histogram(
    values: Sequence[float],
    unit: str,
    mean: float | None,
    interval: Sequence[float] | None,
) -> Histogram | None:
    """The distribution of finite values; ``None`` for fewer than two."""
    data = np.asarray([value for value in values if math.isfinite(value)])
    if len(data) < 2:
        return None
    low, high = float(data.min()), float(data.max())
    if high == low:
        pad = abs(low) * 1e-3 or 1e-6
        low, high = low - pad, high + pad
    bins = int(np.clip(math.ceil(2 * len(data) ** (1 / 3)), 4, 32))
    counts, _ = np.histogram(data, bins=bins, range=(low, high))
    most = int(counts.max())
    wide = WIDE / bins
    bars = "".join(
        f"M{i * wide + 1:.1f},{HIGH}v{-HIGH * n / most:.1f}h{wide - 2:.1f}V{HIGH}z"
        for i, n in enumerate(counts)
        if n
    )

    def x(value: float) -> float:
        return min(1.0, max(0.0, (value - low) / (high - low))) * WIDE

    span = ""
    if interval is not None:
        a, b = x(interval[0]), x(interval[1])
        span = f"M{a:.1f},0H{max(b, a + 1):.1f}V{HIGH}H{a:.1f}z"
    return Histogram(
        bars=bars,
        mean="" if mean is None else f"M{x(mean):.1f},0V{HIGH}",
        interval=span,
        low=number(low, unit),
        high=number(high, unit),
        most=most,
        count=len(data),
        summary=f"{len(data)} samples, {number(low, unit)} to {number(high, unit)} {unit}".rstrip(),
    )


def bounds(values: NDArray[np.float64]) -> tuple[float, float]:
    """Round ends around the values whose quarters are round as well."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        pad = abs(low) * 0.05 or 1.0
        low, high = low - pad, high + pad
    raw = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(raw))
    for factor in (1, 2, 2.5, 5, 10, 20, 25):
        step = factor * size
        start = math.floor(low / step) * step
        end = start + 4 * step
        if end >= high - step * 1e-9:
            # A score whose best is 1 has nothing above it.
            over = end - 1 if high <= 1 < end else 0.0
            return start - over, end - over
    return low, high


def per_column(
    values: NDArray[np.float64], edges: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """(median, lowest, highest, all identical) of the frames in each column."""
    middles, lows, highs, same = [], [], [], []
    for a, b in pairwise(edges):
        part = values[a:b]
        finite = part[np.isfinite(part)]
        same.append(not len(finite) and bool(np.isposinf(part).any()))
        middles.append(np.median(finite) if len(finite) else np.nan)
        lows.append(finite.min() if len(finite) else np.nan)
        highs.append(finite.max() if len(finite) else np.nan)
    return np.asarray(middles), np.asarray(lows), np.asarray(highs), np.asarray(same)


def line_path(x: NDArray[np.float64], y: NDArray[np.float64], there: NDArray[np.bool_]) -> str:
    """The line through the points that are there, as an SVG path."""
    pieces, pen = [], False
    for at, (a, b) in enumerate(zip(x, y, strict=True)):
        if there[at]:
            alone = not pen and not (at + 1 < len(there) and there[at + 1])
            pieces.append(f"{'L' if pen else 'M'}{a:.1f},{b:.1f}{'h0' if alone else ''}")
        pen = bool(there[at])
    return "".join(pieces)


def _band(x: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> str:
    pieces = []
    for a, b in runs(np.isfinite(low)):
        up = "L".join(f"{x[i]:.1f},{high[i]:.1f}" for i in range(a, b))
        down = "L".join(f"{x[i]:.1f},{low[i]:.1f}" for i in range(b - 1, a - 1, -1))
        pieces.append(f"M{up}L{down}z")
    return "".join(pieces)


def _blocks(there: NDArray[np.bool_], columns: int) -> str:
    wide = WIDE / columns
    return "".join(f"M{a * wide:.1f},0H{b * wide:.1f}V{HIGH}H{a * wide:.1f}z"
                   for a, b in runs(there))  # fmt: skip


def runs(there: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Stretches of true entries: the first of each, and the one after its last."""
    ends = np.flatnonzero(np.diff(np.concatenate(([False], there, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(ends[::2], ends[1::2], strict=True)]


def _worst(values: NDArray[np.float64], finite: NDArray[np.bool_], direction: str) -> int | None:
    if direction == "target" or not finite.any():
        return None
    filled = np.where(finite, values, np.inf if direction == "up" else -np.inf)
    return int(filled.argmin() if direction == "up" else filled.argmax())


def _series_summary(
    name: str,
    unit: str,
    frames: NDArray[np.int64],
    values: NDArray[np.float64],
    worst_at: int | None,
) -> str:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return f"{name}: every frame is identical"
    said = f"{name} per frame, {number(float(finite.min()), unit)} to "
    said += f"{number(float(finite.max()), unit)} {unit}".rstrip()
    return said if worst_at is None else f"{said}, worst at frame {int(frames[worst_at])}"

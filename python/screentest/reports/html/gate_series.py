"""Both arms over one clip, frame by frame."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from screentest.reports.html.charts import HIGH, WIDE, bounds, line_path, per_column
from screentest.reports.html.gate_model import ArmSeries
from screentest.reports.html.text import short, tick_labels

__all__ = ["ArmsChart", "arms_chart"]

# Two lines, and what the script reads of them: some 6 KB at most.
_COLUMNS = 180


@dataclass(frozen=True, slots=True)
class ArmsChart:
    """One series of a pair. ``reference`` and ``candidate`` are SVG paths, ``data`` is what the
    page's script reads values from."""

    name: str
    unit: str
    reference: str
    candidate: str
    ticks: tuple[str, ...]
    last: int
    summary: str
    data: str
    binned: int


def arms_chart(name: str, series: ArmSeries) -> ArmsChart | None:
    """The chart of one series, ``None`` where there is less than two frames or no number."""
    arms = (series.reference, series.candidate)
    frames = max(map(len, arms))
    finite = np.concatenate([arm[np.isfinite(arm)] for arm in arms])
    if frames < 2 or not len(finite):
        return None
    columns = min(frames, _COLUMNS)
    edges = np.arange(columns + 1) * frames // columns
    low, high = bounds(finite)
    middles = [_middles(arm, frames, edges) for arm in arms]
    x = (np.arange(columns) + 0.5) * WIDE / columns
    paths = [line_path(x, (high - m) / (high - low) * HIGH, np.isfinite(m)) for m in middles]
    return ArmsChart(
        name=name,
        unit=series.unit,
        reference=paths[0],
        candidate=paths[1],
        ticks=tuple(tick_labels(list(np.linspace(high, low, 5)))),
        last=frames - 1,
        summary=f"{name} per frame: reference {_span(arms[0])}, candidate {_span(arms[1])}"
        + (f" {series.unit}" if series.unit else ""),
        data=json.dumps(
            {
                "f": [int(edge) for edge in edges[:-1]],
                "l": [int(edge) - 1 for edge in edges[1:]],
                "v": [
                    f"{_told(a)} → {_told(b)}" if math.isfinite(a) or math.isfinite(b) else None
                    for a, b in zip(*middles, strict=True)
                ],
            },
            separators=(",", ":"),
            ensure_ascii=False,
        ),
        binned=-(-frames // columns),
    )


def _middles(
    arm: NDArray[np.float64], frames: int, edges: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The median of each column; where an arm has ended there is none."""
    whole = np.full(frames, np.nan)
    whole[: len(arm)] = arm
    return per_column(whole, edges)[0]


def _told(value: float) -> str:
    return short(value) if math.isfinite(value) else "none"


def _span(arm: NDArray[np.float64]) -> str:
    finite = arm[np.isfinite(arm)]
    if not len(finite):
        return "none"
    return f"{short(float(finite.min()))} to {short(float(finite.max()))}"

"""How a clip's numbers run over its frames: panels on one axis of time, windows shaded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest.errors import InputError
from screentest.files import write_atomically
from screentest.reports.html.charts import bounds, per_column, runs
from screentest.reports.html.text import tick_labels
from screentest.reports.overlay.pens import Pen, PngPen, SvgPen
from screentest.reports.overlay.words import clip_line

if TYPE_CHECKING:
    from screentest.metrics.signal import SignalFacts
    from screentest.metrics.tracks.facts import TrackFacts

__all__ = ["Panel", "check_series_path", "panels", "write_series"]

_F64 = NDArray[np.float64]

_WIDE, _LEFT, _RIGHT = 1000, 76, 20
_HEAD, _TITLE, _HIGH, _FOOT = 64, 26, 84, 60
_PLOT = _WIDE - _LEFT - _RIGHT

_INK, _FAINT, _RULE = (30, 33, 40), (98, 104, 116), (222, 225, 231)
_LINE, _BAND, _WINDOW = (27, 94, 170), (27, 94, 170), (255, 165, 60)

_BLANK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One chart. Each line is (display index of each entry, values), NaN where there is none.

    The axis begins at 0, so that a small change looks small; without ``from_zero`` it spans at
    least ``span``. ``most`` is its end where that is fixed.
    """

    title: str
    unit: str
    lines: tuple[tuple[NDArray[np.int64], _F64], ...]
    note: str = ""
    most: float | None = None
    from_zero: bool = True
    span: float = 0.0


def check_series_path(path: str | os.PathLike[str]) -> str:
    """The form that a file's name asks for, ``svg`` or ``png``.

    Raises:
        InputError: another one.
    """
    form = os.path.splitext(os.fspath(path))[1].lower().lstrip(".")
    if form not in ("svg", "png"):
        raise InputError(
            f"{os.fspath(path)}: series are drawn as .svg or .png: give a name that ends in one",
            code="bad_drawing",
        )
    return form


def write_series(
    signal: SignalFacts, tracks: TrackFacts | None, path: str | os.PathLike[str]
) -> None:
    """Draw a clip's numbers over its frames, as SVG or PNG by the name of the file.

    Luma, motion, jerk, shimmer and sharpness of every frame, and how many tracks of each window
    still live, over one axis of frames and seconds; the windows of ``tracks`` are shaded. Of more
    frames than the chart has columns, a column shows the median and the range. An existing file is
    replaced whole or not at all.

    Raises:
        InputError: the name ends in neither.
        MissingBackendError: a PNG needs Pillow (``pip install 'screentest[report]'``).
        OSError: the file cannot be written.
    """
    form = check_series_path(path)
    shown = panels(signal, tracks)
    high = _HEAD + len(shown) * (_TITLE + _HIGH) + _FOOT
    title = os.path.basename(signal.clip.source) or signal.clip.source
    pen: Pen = SvgPen(_WIDE, high, title) if form == "svg" else PngPen(_WIDE, high)
    pen.text((_LEFT, 24), title, 16, _INK)
    about = clip_line(tracks) if tracks else f"{signal.clip.width}x{signal.clip.height}"
    pen.text((_LEFT, 46), about, 12, _FAINT)
    if tracks is not None and tracks.windows:
        pen.rectangle((_WIDE - _RIGHT - 160, 39), (14, 14), _WINDOW, 0.25)
        pen.text((_WIDE - _RIGHT - 138, 46), "windows of the tracks", 12, _FAINT)
    _Axes(pen, signal, tracks).draw(shown, high - _FOOT)
    write_atomically(Path(path), pen.finish())


def panels(signal: SignalFacts, tracks: TrackFacts | None = None) -> list[Panel]:
    """What :func:`write_series` draws, from top to bottom."""
    series = signal.series
    index, motion = series.index, series.motion
    steps = motion + np.concatenate(([np.nan], motion[:-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        jerk = np.where(steps > _BLANK, 2.0 * series.acceleration / steps, np.nan)
        shimmer = np.where(series.highpass > _BLANK, series.shimmer / series.highpass, np.nan)
    made = [
        Panel(
            "luma, mean",
            "8-bit levels",
            ((index, 255.0 * series.luma_mean),),
            _of_clip("luma_flicker", signal.flicker, " %"),
            from_zero=False,
            span=8.0,
        ),
        Panel(
            "motion: luma's mean change from the frame before",
            "8-bit levels",
            ((index, 255.0 * motion),),
            _of_clip("motion_energy", signal.motion_energy, " levels"),
        ),
        Panel(
            "jerk: luma's second difference over the mean of its two steps",
            "ratio, 0 steady to 2 back and forth",
            ((index, jerk),),
            _of_clip("jerk_ratio", signal.jerk_ratio),
            most=2.0,
        ),
        Panel(
            "shimmer: change of fine detail, of its size",
            "ratio",
            ((index, shimmer),),
            _of_clip("shimmer", signal.shimmer),
        ),
        Panel(
            "sharpness: variance of luma's Laplacian",
            "squared 8-bit levels",
            ((index, series.laplacian_variance),),
            _of_clip("sharpness", signal.sharpness),
        ),
    ]
    if tracks is not None and tracks.trajectories:
        living = tuple(
            (
                np.arange(len(each.positions), dtype=np.int64) + each.start,
                100.0 * np.isfinite(each.positions[:, :, 0]).mean(axis=1),
            )
            for each in tracks.trajectories
            if each.positions.shape[1]
        )
        note = _of_clip("track_survival", tracks.track_survival)
        made.append(Panel("tracks alive, of those begun", "%", living, note, most=100.0))
    return [panel for panel in made if any(np.isfinite(v).any() for _, v in panel.lines)]


def _of_clip(name: str, value: float | None, unit: str = "") -> str:
    return f"{name} not measured" if value is None else f"{name} of the clip {value:.4g}{unit}"


class _Axes:
    """One axis of frames for all panels."""

    def __init__(self, pen: Pen, signal: SignalFacts, tracks: TrackFacts | None) -> None:
        self.pen, self.series, self.tracks = pen, signal.series, tracks
        self.start_s = signal.clip.start_s or 0.0
        self.first = int(signal.series.index[0])
        self.count = int(signal.series.index[-1]) - self.first + 1

    def x(self, frame: float) -> float:
        """The middle of a frame's column."""
        return _LEFT + (frame - self.first + 0.5) / self.count * _PLOT

    def draw(self, shown: Sequence[Panel], bottom: float) -> None:
        top = float(_HEAD)
        for panel in shown:
            self._panel(panel, top + _TITLE)
            top += _TITLE + _HIGH
        pen = self.pen
        pen.text((_LEFT - 24, bottom + 16), "frame", 11, _FAINT, "r")
        if self.series.time_s is not None:
            pen.text((_LEFT - 24, bottom + 34), "s", 11, _FAINT, "r")
        for frame in self._ticks():
            x = self.x(frame)
            pen.line(((x, bottom), (x, bottom + 5)), _FAINT, 1)
            pen.text((x, bottom + 16), f"{frame}", 11, _INK, "m")
            at = int(np.searchsorted(self.series.index, frame))
            if self.series.time_s is not None and self.series.index[at] == frame:
                time_s = float(self.series.time_s[at]) - self.start_s
                pen.text((x, bottom + 34), f"{time_s:.2f}", 11, _FAINT, "m")

    def _ticks(self) -> list[int]:
        least = max(1.0, self.count / 12)
        size = 10 ** int(np.floor(np.log10(least)))
        step = next(f * size for f in (1, 2, 5, 10) if f * size >= least)
        last = self.first + self.count - 1
        return list(range(-(-self.first // step) * step, last + 1, step))

    def _panel(self, panel: Panel, top: float) -> None:
        pen = self.pen
        low, high = _limits(panel)
        pen.text((_LEFT, top - 10), f"{panel.title} ({panel.unit})", 12, _INK)
        pen.text((_WIDE - _RIGHT, top - 10), panel.note, 11, _FAINT, "r")
        for window in self.tracks.windows if self.tracks else ():
            left, right = (self.x(f) - 0.5 / self.count * _PLOT
                           for f in (window.start, window.start + window.frames))  # fmt: skip
            pen.rectangle((left, top), (right - left, _HIGH - 8), _WINDOW, 0.14)
        levels = np.linspace(high, low, 5)
        for level, label in zip(levels.tolist(), tick_labels(levels.tolist()), strict=True):
            y = top + (high - level) / (high - low) * (_HIGH - 8)
            pen.line(((_LEFT, y), (_WIDE - _RIGHT, y)), _RULE, 1)
            pen.text((_LEFT - 8, y), label, 10, _FAINT, "r")
        for index, values in panel.lines:
            scaled = top + (high - values) / (high - low) * (_HIGH - 8)
            self._line(index, scaled)

    def _line(self, index: NDArray[np.int64], y: _F64) -> None:
        """A line, or where frames outnumber columns the median over the range of each."""
        columns = min(len(index), _PLOT)
        edges = np.arange(columns + 1) * len(index) // columns
        middles, lows, highs, _ = per_column(y, edges)
        x = [self.x(float(index[a:b].mean())) for a, b in pairwise(edges)]
        for points in _stretches(x, middles):
            if columns < len(index):
                a, b = x.index(points[0][0]), x.index(points[-1][0]) + 1
                outline = list(zip(x[a:b], lows[a:b].tolist(), strict=True))
                outline += list(zip(x[a:b], highs[a:b].tolist(), strict=True))[::-1]
                self.pen.area(outline, _BAND, 0.22)
            self.pen.line(points, _LINE, 1.4)


def _stretches(x: Sequence[float], y: _F64) -> Iterator[list[tuple[float, float]]]:
    for a, b in runs(np.isfinite(y)):
        yield list(zip(x[a:b], y[a:b].tolist(), strict=True))


def _limits(panel: Panel) -> tuple[float, float]:
    """The ends of the axis; round numbers, and so are its quarters."""
    found = np.concatenate([values[np.isfinite(values)] for _, values in panel.lines])
    if panel.from_zero:
        if panel.most is not None:
            return 0.0, panel.most
        return bounds(np.array([0.0, float(found.max()) or 1.0]))
    middle, half = float(found.min() + found.max()) / 2, panel.span / 2
    return bounds(np.append(found, (middle - half, middle + half)))

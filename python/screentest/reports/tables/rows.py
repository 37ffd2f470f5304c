"""Measurements as rows: one for each file, or one for each frame.

A table of files has one column per metric, empty (null) where it is unmeasured; ``unmeasured`` says
why, and ``<family>_impl`` which version the numbers are of. A table of frames has the columns of
every family's series as ``<family>.<number>``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest.reports.canonical import printable

if TYPE_CHECKING:
    from screentest.measuring import Measurement
    from screentest.metrics.spec import MetricSpec

__all__ = ["FileRows", "FrameRows", "Row"]

Row: TypeAlias = dict[str, Any]

_FIXED = {
    "source": str,
    "status": str,
    "error": str,
    "content": str,
    "decoder": str,
    "luma_domain": str,
    "frames": int,
    "width": int,
    "height": int,
    "frame_rate": float,
    "duration_s": float,
}

_FRAME = {"source": str, "frame": int, "time_s": float}


class FileRows:
    """One row a file. ``families`` are those asked for, with their metrics."""

    def __init__(self, families: Mapping[str, Sequence[MetricSpec]]) -> None:
        self._families = families
        metrics = {spec.name: float for specs in families.values() for spec in specs}
        self.columns: dict[str, type] = {
            **_FIXED,
            **{f"{name}_impl": str for name in families},
            **metrics,
            "unmeasured": str,
        }
        self.meaning = {
            spec.name: {"impl": spec.impl, "unit": spec.unit, "direction": spec.direction}
            for specs in families.values()
            for spec in specs
        }

    def error_rows(self, source: str, message: str) -> list[Row]:
        """The row of a file that could not be read."""
        said = {"source": source, "status": "error", "error": message}
        return [dict.fromkeys(self.columns) | {key: printable(text) for key, text in said.items()}]

    def rows(self, result: Measurement) -> list[Row]:
        """The row of one file."""
        clip = result.clip
        row: Row = dict.fromkeys(self.columns)
        row |= {
            "source": printable(result.source),
            "status": "incomplete" if result.unmeasured else "measured",
            "content": result.content,
            "decoder": clip.decoder,
            "luma_domain": clip.luma_domain,
            "frames": clip.frames,
            "width": clip.width,
            "height": clip.height,
            "frame_rate": clip.frame_rate,
            "duration_s": clip.duration_s,
            "unmeasured": "; ".join(f"{k}: {v}" for k, v in result.unmeasured.items()) or None,
        }
        for name, facts in result.facts.items():
            row[f"{name}_impl"] = facts.impl
        row |= {name: value for name, value in result.values.items() if name in row}
        return [row]

    def settle(self) -> list[Row]:
        """Nothing waits: the columns are known beforehand."""
        return []


class FrameRows:
    """One row a frame. A family whose facts hold no series has no columns.

    Which columns there are shows with the first file that every family could measure. What comes
    before it waits; :meth:`settle` gives it out, with the columns that there are.
    """

    def __init__(self, families: Sequence[str]) -> None:
        self._families = families
        self._waiting: list[dict[str, dict[str, Any]]] = []
        self._names: list[str] = []
        self.columns: dict[str, type] = dict(_FRAME)
        self.meaning: dict[str, dict[str, str]] = {}
        self._known = False

    def error_rows(self, source: str, message: str) -> list[Row]:
        """A file that could not be read has no frames."""
        del source, message
        return []

    def rows(self, result: Measurement) -> list[Row]:
        """The rows of one file, or of none while the columns are not known."""
        self._waiting.append(_series_of(result))
        self._names.append(printable(result.source))
        if self._known or set(result.facts) == set(self._families):
            return self.settle()
        return []

    def settle(self) -> list[Row]:
        """The rows that waited."""
        if not self._known and self._waiting:
            for series in self._waiting:
                for name, columns in series.items():
                    self.columns |= {
                        f"{name}.{key}": _type_of(array)
                        for key, array in columns.items()
                        if key not in ("index", "time_s")
                    }
            self._known = True
        rows: list[Row] = []
        for source, series in zip(self._names, self._waiting, strict=True):
            rows += self._rows_of(source, series)
        self._waiting, self._names = [], []
        return rows

    def _rows_of(self, source: str, series: dict[str, dict[str, Any]]) -> list[Row]:
        by_frame: dict[int, Row] = {}
        blank = {**dict.fromkeys(self.columns), "source": source}
        for name, columns in series.items():
            lists = {key: array.tolist() for key, array in columns.items()}
            times = lists.pop("time_s", None)
            for at, index in enumerate(lists.pop("index")):
                row = by_frame.setdefault(index, {**blank, "frame": index})
                if times is not None:
                    row["time_s"] = times[at]
                for key, values in lists.items():
                    column = f"{name}.{key}"
                    if column in self.columns:
                        row[column] = _finite(values[at])
        return [by_frame[index] for index in sorted(by_frame)]


def _series_of(measurement: Measurement) -> dict[str, dict[str, Any]]:
    """{family: {name: array of one number a frame}}; an array of more is split up."""
    found: dict[str, dict[str, Any]] = {}
    for name, facts in measurement.facts.items():
        series = getattr(facts, "series", None)
        if not is_dataclass(series):
            continue
        columns: dict[str, Any] = {}
        for one in fields(series):
            array = getattr(series, one.name)
            if array is None or not hasattr(array, "reshape"):
                continue
            if array.ndim == 1:
                columns[one.name] = array
                continue
            flat = array.reshape(len(array), -1)
            shape = array.shape[1:]
            for at in range(flat.shape[1]):
                columns[f"{one.name}_{_place(at, shape)}"] = flat[:, at]
        if "index" in columns:
            found[name] = columns
    return found


def _place(at: int, shape: tuple[int, ...]) -> str:
    """The position of a flat index, as ``row_column``."""
    parts = []
    for extent in reversed(shape):
        at, rest = divmod(at, extent)
        parts.append(str(rest))
    return "_".join(reversed(parts))


def _type_of(array: Any) -> type:
    return int if array.dtype.kind in "iub" else float


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value

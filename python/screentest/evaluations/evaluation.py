"""What an evaluation gives back: the table, a row for every record, and what was left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from screentest.evaluations.aggregate import Aggregate
from screentest.evaluations.records import Skip
from screentest.reports.canonical import printable
from screentest.reports.plain import tool

__all__ = ["SCHEMA", "Counts", "Evaluation", "Row"]

SCHEMA = "screentest/evaluation@1"


@dataclass(frozen=True, slots=True)
class Row:
    """One record, small enough to keep many. ``prediction`` and ``ground_truth`` are the files
    that were compared, ``None`` where a renderer made the frames. ``here``: this run scored it, or
    found its record current."""

    place: str
    group: str
    key: str
    mode: str
    metrics: dict[str, float | None]
    states: dict[str, str]
    skips: tuple[Skip, ...]
    warnings: tuple[str, ...]
    prediction: Path | None
    ground_truth: Path | None
    window: tuple[int, int, int, int] | None
    here: bool


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Samples: ``found`` by the glob, ``chosen`` of them, ``share`` of those for this shard;
    ``scored`` and ``skipped`` of the share (``reused`` of both had a current record; a sample that
    has one metric and lacks another is in both).
    ``others`` are records under the outputs that this choice does not contain; ``trimmed`` are
    pairs of which one clip was cut to the other's length; ``unpredicted`` are ground truths without
    a prediction."""

    found: int
    chosen: int
    share: int
    scored: int
    skipped: int
    reused: int
    others: int
    trimmed: int = 0
    unpredicted: int = 0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation that ran to its end; a bad score is a result, and so is a skip.

    ``aggregate`` is what ``metrics_aggregate.json`` holds: ``{group: {metric: {...}}}`` over every
    record under ``out``, those of other shards included. ``unanswered`` names metrics that were
    asked for and that no sample of this run's share has; ``unpredicted`` are the keys of ground
    truth that no prediction has.
    """

    mode: str
    out: Path
    predictions_dir: Path | None
    gt_dir: Path
    metrics: tuple[str, ...]
    shard: tuple[int, int] | None
    computed: bool
    counts: Counts
    aggregate: Aggregate
    rows: tuple[Row, ...]
    unanswered: tuple[str, ...]
    unpredicted: tuple[str, ...] = ()

    @property
    def skips(self) -> list[tuple[Row, Skip]]:
        """Everything of this run's share that was skipped, sorted by place."""
        return [(row, skip) for row in self.rows if row.here for skip in row.skips]

    @property
    def status(self) -> str:
        """``"done"``, or ``"nothing_scored"`` where a metric that was asked for has no answer."""
        return "nothing_scored" if self.unanswered else "done"

    def to_json(self) -> bytes:
        """One canonical JSON document, without wall time."""
        from screentest.reports.canonical import dumps

        skips = self.skips
        return dumps(
            {
                "schema": SCHEMA,
                "status": self.status,
                "tool": tool(),
                "mode": self.mode,
                "out": printable(str(self.out)),
                "predictions_dir": _text(self.predictions_dir),
                "gt_dir": printable(str(self.gt_dir)),
                "metrics": list(self.metrics),
                "shard": None if self.shard is None else list(self.shard),
                "computed": self.computed,
                "samples": msgspec.to_builtins(self.counts),
                "aggregate": self.aggregate,
                "unanswered": list(self.unanswered),
                "unpredicted": [printable(key) for key in self.unpredicted],
                "skipped": dict(sorted(Counter(skip.code for _, skip in skips).items())),
                "skips": [
                    {"place": printable(row.place), "group": row.group, "key": row.key}
                    | _builtins(skip)
                    for row, skip in skips
                ],
                "warnings": [
                    {"place": printable(row.place), "message": message}
                    for row in self.rows
                    if row.here
                    for message in row.warnings
                ],
            }
        )


def _text(path: Path | None) -> str | None:
    return None if path is None else printable(str(path))


def _builtins(skip: Skip) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(skip)
    return plain

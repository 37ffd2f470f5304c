"""The record of one sample: ``metrics.json`` at the sample's place under the outputs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from screentest.files import write_atomically
from screentest.metrics.facts import Score
from screentest.reports.plain import plain, tool

__all__ = [
    "AGGREGATE",
    "BENCHMARK",
    "FILE_NAME",
    "SCHEMA",
    "Record",
    "Skip",
    "read_record",
    "scan_records",
    "write_record",
]

SCHEMA = "screentest/eval-sample@1"
FILE_NAME = "metrics.json"
AGGREGATE = "metrics_aggregate.json"
BENCHMARK = "benchmark.json"


class Skip(msgspec.Struct, frozen=True):
    """Metrics that a sample has no number for, and why; ``code`` is what aggregates count by."""

    metrics: tuple[str, ...]
    code: str
    message: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one sample. No wall time, no NaN; equal records are equal bytes.

    ``metrics`` is ``{name: number}``, null where there is none: then ``states`` says
    ``"identical"`` or ``"unmeasured"``, and ``scores`` holds everything that was measured.
    ``requested`` are the metrics asked for; ``skips`` names those without a score.
    ``content`` is what the numbers depend on: the hashes of both files, how the ground truth was
    cut, the decoder, and the metrics with their ``impl``. A record with the same is not made again.

    ``frames`` counts the frames of each and those compared; ``trim`` how many of each were left
    out at the end. ``window`` is the part of the ground truth that was compared, (x, y, width,
    height), where its ``padding`` or ``alignment`` made it a part. ``pairing`` is what the pairing
    report found, and ``warnings`` says in words what of it deserves a look.
    """

    schema: str = SCHEMA
    tool: dict[str, str] = msgspec.field(default_factory=tool)
    mode: str
    group: str
    key: str
    place: str
    state: Literal["scored", "skipped"]
    prediction: str | None
    ground_truth: str | None
    requested: tuple[str, ...]
    content: dict[str, Any]
    metrics: dict[str, float | None] = {}
    states: dict[str, str] = {}
    scores: tuple[Score, ...] = ()
    skips: tuple[Skip, ...] = ()
    frames: dict[str, int] | None = None
    trim: dict[str, int] | None = None
    padding: tuple[int, int, int, int] | None = None
    alignment: int | None = None
    window: tuple[int, int, int, int] | None = None
    pairing: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()

    def to_json(self) -> bytes:
        """The canonical bytes."""
        from screentest.reports.canonical import dumps

        return dumps(plain(msgspec.to_builtins(self, enc_hook=_number)))

    @property
    def gaps(self) -> tuple[Skip, ...]:
        """Every metric asked for that has no answer: the skips, and scores that say unmeasured."""
        names: dict[str, list[str]] = {}
        for score in self.scores:
            if score.state == "unmeasured":
                names.setdefault(score.reason or "no reason was given", []).append(score.name)
        found = (Skip(tuple(who), "unmeasured", why) for why, who in names.items())
        return (*self.skips, *found)

    @property
    def is_final(self) -> bool:
        """Whether scoring the same files again would give the same. A metric that was not
        measured may be, once what it lacked is installed; a file that could not be read, too."""
        return all(score.state != "unmeasured" for score in self.scores) and not (
            self.content.get("unread")
        )


def _number(value: Any) -> Any:
    """What a metric left in its details as a number or array of numpy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise NotImplementedError


def write_record(out: Path, folder: str, record: Record) -> None:
    """Write a record to its place, whole or not at all."""
    path = out / folder / FILE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, record.to_json())


def read_record(path: Path) -> Record | None:
    """The record in a file; ``None`` where there is none, or another program's ``metrics.json``."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    try:
        record = msgspec.json.decode(data, type=Record)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return record if record.schema == SCHEMA else None


def scan_records(out: Path, places: Iterable[str] = ()) -> Iterator[tuple[str, Path]]:
    """(place, path) of every ``metrics.json`` below the outputs, sorted by place.

    ``places`` are looked at in any case: one may lie behind a link, which a walk does not follow.
    """
    found = {place for place in places if (out / place / FILE_NAME).is_file()}
    for folder, _, names in os.walk(out):
        if FILE_NAME in names:
            found.add(os.path.relpath(folder, out).replace(os.sep, "/"))
    for place in sorted(found, key=os.fsencode):
        yield place, out / place / FILE_NAME

"""From the records on disk to the aggregate and the evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from screentest.evaluations.aggregate import Aggregate, aggregate, request_of
from screentest.evaluations.evaluation import Counts, Evaluation, Row
from screentest.evaluations.plan import Plan, Request, Subject
from screentest.evaluations.records import AGGREGATE, Record, read_record, scan_records
from screentest.files import write_atomically
from screentest.reports.canonical import dumps, printable

__all__ = ["aggregate_until_settled", "evaluation_of"]

_Signature: TypeAlias = list[tuple[str, int, int, int]]


def aggregate_until_settled(request: Request, plan: Plan) -> tuple[Aggregate, dict[str, Record]]:
    """Write the aggregate over every record, and again if records came in meanwhile.

    Shards end when they please: whoever writes last looks once more after writing, so the file that
    stays has seen every record.
    """
    expected = {
        subject.place.folder: (printable(subject.place.group), request.names(subject.mode))
        for subject in plan.subjects
    }
    while True:
        before = _signature(request.out, expected)
        records = {}
        for place, path in scan_records(request.out, expected):
            record = read_record(path)
            if record is not None:
                records[place] = record
        table = aggregate(records, expected)
        write_atomically(request.out / AGGREGATE, dumps(table))
        if _signature(request.out, expected) == before:
            return table, records


def _signature(out: Path, places: Iterable[str]) -> _Signature:
    """Place, inode, size and time of every record: a replaced record has another inode."""
    found = []
    for place, path in scan_records(out, places):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue  # a link to nowhere
        found.append((place, status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def evaluation_of(
    request: Request,
    mine: list[Subject],
    counts: Counts,
    table: Aggregate,
    records: Mapping[str, Record],
    unpredicted: tuple[str, ...] = (),
) -> Evaluation:
    """The evaluation of this run's share, over the records of all."""
    subjects = {subject.place.folder: subject for subject in mine}
    rows = tuple(
        _row(request, place, records[place], subjects.get(place)) for place in sorted(records)
    )
    return Evaluation(
        mode=request.mode,
        out=request.out,
        predictions_dir=request.predictions_dir,
        gt_dir=request.gt_dir,
        metrics=request.names("wam" if request.mode == "joint" else request.mode),
        shard=request.shard,
        computed=request.compute_metrics,
        counts=counts,
        aggregate=table,
        rows=rows,
        unanswered=_unanswered(request, mine, rows) if request.compute_metrics else (),
        unpredicted=unpredicted,
    )


def _unanswered(request: Request, mine: list[Subject], rows: tuple[Row, ...]) -> tuple[str, ...]:
    """Metrics that this share's samples were asked for and none of them has, mode by mode."""
    unanswered = []
    for mode in dict.fromkeys(one.mode for one in mine):
        asked = request.names(mode)
        answered = {
            request_of(name, asked)
            for row in rows
            if row.here and row.mode == mode
            for name, state in row.states.items()
            if state != "unmeasured"
        }
        where = f"{mode}/" if request.mode == "joint" else ""
        unanswered += [where + name for name in asked if name not in answered]
    return tuple(unanswered)


def _row(request: Request, place: str, record: Record, subject: Subject | None) -> Row:
    prediction = truth = None
    if subject is not None:
        prediction = None if subject.prediction is None else subject.prediction.path
        truth = subject.ground_truth
        if record.mode == "inverse_dynamics":
            truth = subject.ground_truth_action or truth
    else:
        if record.prediction is not None and request.predictions_dir is not None:
            prediction = request.predictions_dir / record.prediction
        if record.ground_truth is not None:
            truth = request.gt_dir / record.ground_truth
    return Row(
        place=place,
        group=record.group,
        key=record.key,
        mode=record.mode,
        metrics=dict(record.metrics),
        states=dict(record.states),
        skips=record.gaps,
        warnings=record.warnings,
        prediction=prediction,
        ground_truth=truth,
        window=record.window,
        here=subject is not None,
    )

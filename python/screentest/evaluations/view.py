"""An evaluation as its page shows it: rows, and filmstrips of the worst samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.errors import ScreentestError
from screentest.evaluations.evaluation import Evaluation, Row
from screentest.reports.canonical import printable
from screentest.reports.html import EvaluationView, Filmstrip, FilmstripFrame, SampleRow

if TYPE_CHECKING:
    from screentest.media.clip import Clip, Frame

__all__ = ["evaluation_view"]

# Enough to see what kind of failure it is, few enough that a page stays near a megabyte.
_STRIPS = 8
_INSTANTS = 5


def evaluation_view(evaluation: Evaluation, *, threads: int | None = None) -> EvaluationView:
    """The evaluation as a page's input. Decodes a few frames of the worst samples; a sample whose
    files are no longer there has no filmstrip."""
    facts = [
        ("Mode", evaluation.mode),
        ("Metrics", ", ".join(evaluation.metrics)),
        ("Records", str(evaluation.out)),
        ("Samples", f"{evaluation.counts.found:,} found, {evaluation.counts.chosen:,} chosen"),
    ]
    if evaluation.shard is not None:
        facts.append(("Shard", f"{evaluation.shard[0]} of {evaluation.shard[1]}"))
    missing = evaluation.counts.chosen - len(evaluation.rows)
    notes = []
    if missing > 0:
        notes.append(f"{missing:,} chosen samples have no record yet: other shards may be at work")
    for name in evaluation.unanswered:
        notes.append(f"No sample has a value of {name}.")
    predictions = evaluation.predictions_dir
    return EvaluationView(
        title=evaluation.out.name or str(evaluation.out),
        predictions="rendered frames" if predictions is None else str(predictions),
        ground_truth=str(evaluation.gt_dir),
        aggregate=evaluation.aggregate,
        samples=[_sample(row) for row in evaluation.rows],
        filmstrips=list(_filmstrips(evaluation, threads)),
        facts=facts,
        notes=notes,
    )


def _sample(row: Row) -> SampleRow:
    # A sample may lack one metric and have another.
    scored = bool(row.metrics)
    return SampleRow(
        group=row.group,
        key=row.key,
        state="scored" if scored else "skipped",
        metrics=row.metrics,
        states=row.states,
        reason=row.skips[0].code if row.skips else None,
        detail="; ".join(skip.message for skip in row.skips) or None,
        prediction=None if row.prediction is None else str(row.prediction),
        ground_truth=None if row.ground_truth is None else str(row.ground_truth),
        warnings=row.warnings,
    )


def _filmstrips(evaluation: Evaluation, threads: int | None) -> Iterator[Filmstrip]:
    rows = {printable(row.place): row for row in evaluation.rows}
    shown: set[str] = set()
    for group, metric, worst in _worst(evaluation):
        row = rows.get(worst["place"])
        if row is None or row.place in shown or len(shown) >= _STRIPS:
            continue
        frames = _frames(row, threads)
        if frames:
            shown.add(row.place)
            yield Filmstrip(group, row.key, metric, worst["value"], frames)


def _worst(evaluation: Evaluation) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(group, metric, entry): the worst of every group and metric, then the next of each."""
    ranked = [
        (group, metric, row.get("worst") or [])
        for group, metrics in evaluation.aggregate.items()
        for metric, row in metrics.items()
    ]
    for rank in range(max((len(entries) for _, _, entries in ranked), default=0)):
        for group, metric, entries in ranked:
            if rank < len(entries):
                yield group, metric, entries[rank]


def _frames(row: Row, threads: int | None) -> list[FilmstripFrame]:
    from screentest.media import open_clip

    if row.prediction is None or row.ground_truth is None:
        return []
    try:
        with ExitStack() as stack:
            truth, made = (
                stack.enter_context(open_clip(path, threads=threads))
                for path in (row.ground_truth, row.prediction)
            )
            count = min(truth.info.frames or 0, made.info.frames or 0)
            if not count:
                return []
            at = sorted({int(i) for i in np.linspace(0, count - 1, _INSTANTS)})
            truths, predictions = _pictures(truth, at), _pictures(made, at)
    except (ScreentestError, OSError):
        return []
    if row.window is not None:
        x, y, width, height = row.window
        truths = {i: picture[y : y + height, x : x + width] for i, picture in truths.items()}
    return [FilmstripFrame(i, truths.get(i), predictions.get(i)) for i in at]


def _pictures(clip: Clip, indices: list[int]) -> dict[int, Any]:
    from screentest._native import rgb8

    def picture(frame: Frame) -> Any:
        return rgb8(clip.format, frame.planes)

    return {frame.index: picture(frame) for frame in clip.frames_at(indices)}

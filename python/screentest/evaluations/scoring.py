"""One sample: what its numbers depend on, whether they are known already, and its record."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from screentest.errors import MediaError, ScreentestError
from screentest.evaluations.action_error import IMPL as ACTION_IMPL
from screentest.evaluations.action_error import NAME as ACTION_MSE
from screentest.evaluations.action_files import EXTENSIONS
from screentest.evaluations.layout import Prediction
from screentest.evaluations.pairs import PairResult, compare_actions, compare_videos
from screentest.evaluations.plan import ACTION_MODES, VIDEO_MODES, Request, Subject
from screentest.evaluations.records import FILE_NAME, Record, Skip, read_record
from screentest.evaluations.renderers import Rendered
from screentest.evaluations.sample_file import Statement, read_statement, state
from screentest.evaluations.scorer import Scorer
from screentest.media.content import digest_bytes, digest_path
from screentest.reports.canonical import printable

__all__ = ["Known", "Scoring", "beside"]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a sample before it is scored: its content, what it states about itself,
    and the record of the same content where there is one."""

    content: dict[str, Any]
    statement: Statement
    fault: MediaError | None
    stamps: dict[str, Any]
    record: Record | None


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores samples of one request. Safe to share between threads."""

    request: Request
    scorer: Scorer
    impls: Mapping[str, str]
    decoder: str
    renderer: Mapping[str, str | None] | None
    threads: int = field(default=1)

    def look_up(self, subject: Subject) -> Known:
        """Hash what a sample's numbers depend on, and find a record made of the same."""
        mode, one = subject.mode, subject.prediction
        sources: dict[str, Path] = {}
        # What a renderer is given decides what it makes.
        if mode in VIDEO_MODES or one is None:
            sources["ground_truth"] = subject.ground_truth
        if subject.ground_truth_action is not None and (mode in ACTION_MODES or one is None):
            sources["ground_truth_action"] = subject.ground_truth_action
        if one is not None and mode in VIDEO_MODES:
            sources["prediction"] = one.path
        if one is not None and mode in ACTION_MODES:
            sources["prediction_action"] = action_of(one, mode)
        content: dict[str, Any] = dict.fromkeys(sources)
        stamps = {name: _stamp(path) for name, path in sources.items()}
        for name, path in sources.items():
            try:
                content[name] = digest_path(path)
            except FileNotFoundError:
                continue
            except (OSError, MediaError):
                content["unread"] = True
        statement, fault = Statement(), None
        try:
            folder = (subject.ground_truth_action or subject.ground_truth).parent
            statement = read_statement(one, folder, subject.place.key)
        except MediaError as error:
            fault = error
        except OSError as error:
            fault = MediaError(str(error), code="bad_sample_file")
        content |= {
            "padding": None if statement.padding is None else list(statement.padding),
            "alignment": statement.alignment,
            "metrics": {name: self._impl(name) for name in self.request.names(mode)},
            "decoder": self.decoder if mode in VIDEO_MODES else None,
            "renderer": None if self.renderer is None else dict(self.renderer),
            "sample_file": None if fault is None else fault.message,
        }
        if statement.mask is not None:
            content["mask"] = digest_bytes(json.dumps(statement.mask).encode())
        content = _as_json(content)
        record = read_record(self.request.out / subject.place.folder / FILE_NAME)
        if record is not None and not self._is_current(record, subject, content):
            record = None
        return Known(content, statement, fault, stamps, record)

    def score(
        self, subject: Subject, known: Known, rendered: Rendered | ScreentestError | None
    ) -> Record:
        """Score a sample; whatever keeps it from being scored is in the record."""
        mode, names = subject.mode, self.request.names(subject.mode)
        content, statement, fault = known.content, known.statement, known.fault
        one = subject.prediction
        made: ScreentestError | None = rendered if isinstance(rendered, ScreentestError) else None
        video: Any = one and one.path
        action: Any = one and action_of(one, mode)
        options: Mapping[str, Any] = {}
        if isinstance(rendered, Rendered):
            video, action, options = rendered.video, rendered.action, rendered.options or {}
            try:
                statement = _merged(statement, rendered)
            except MediaError as error:
                fault = error
        obstacle = fault if made is None else made
        if obstacle is not None:
            skip = Skip(names, obstacle.code, printable(obstacle.message))
            if made is not None:
                content = {**content, "unread": True}
            return self._record(subject, content, statement, [PairResult(skips=(skip,))])
        results = []
        if mode in VIDEO_MODES:
            results.append(
                compare_videos(
                    subject.ground_truth,
                    video,
                    statement,
                    self.request.metrics,
                    self.scorer,
                    threads=self.threads,
                    options=options,
                )
            )
        if mode in ACTION_MODES:
            assert subject.ground_truth_action is not None
            results.append(
                compare_actions(subject.ground_truth_action, action, statement, ACTION_MSE)
            )
        changed = [name for name, stamp in known.stamps.items() if stamp[1] != _stamp(stamp[0])[1]]
        if changed:
            message = f"{', '.join(changed)} changed while it was read"
            results = [PairResult(skips=(Skip(names, "changed_while_read", message),))]
        if changed or any(result.retry for result in results):
            content = {**content, "unread": True}
        return self._record(subject, content, statement, results)

    def _record(
        self,
        subject: Subject,
        content: dict[str, Any],
        statement: Statement,
        results: Sequence[PairResult],
    ) -> Record:
        scores = tuple(score for result in results for score in result.scores)
        skips = tuple(skip for result in results for skip in result.skips)
        first = results[0]
        one, request = subject.prediction, self.request
        truth = subject.ground_truth
        if subject.mode not in VIDEO_MODES and subject.ground_truth_action is not None:
            truth = subject.ground_truth_action
        return Record(
            mode=subject.mode,
            group=printable(subject.place.group),
            key=printable(subject.place.key),
            place=printable(subject.place.folder),
            state="scored" if any(s.state != "unmeasured" for s in scores) else "skipped",
            prediction=printable(_below(one.path, request.predictions_dir)) if one else None,
            ground_truth=printable(_below(truth, request.gt_dir)),
            requested=request.names(subject.mode),
            content=content,
            metrics={score.name: score.value for score in scores},
            states={score.name: score.state for score in scores},
            scores=scores,
            skips=skips,
            frames=first.frames,
            trim=first.trim,
            padding=statement.padding,
            alignment=statement.alignment,
            window=first.window,
            pairing=first.pairing,
            warnings=first.warnings,
        )

    def _impl(self, name: str) -> str | None:
        return ACTION_IMPL if name == ACTION_MSE else self.impls.get(name)

    def _is_current(self, record: Record, subject: Subject, content: dict[str, Any]) -> bool:
        same = (record.mode, record.group, record.key) == (
            subject.mode,
            printable(subject.place.group),
            printable(subject.place.key),
        )
        return same and record.content == content and record.is_final


def action_of(prediction: Prediction, mode: str) -> Path:
    """Where the predicted actions of a sample are: the prediction itself, or beside the video."""
    if mode == "inverse_dynamics":
        return prediction.path
    return beside(prediction)


def beside(prediction: Prediction) -> Path:
    """The actions beside a predicted video: ``action.*`` by ``vision.mp4``, else the same stem."""
    path = prediction.path
    stem = "action" if path.stem == "vision" else path.stem
    candidates = [path.parent / f"{stem}{end}" for end in EXTENSIONS]
    return next((one for one in candidates if one.exists()), candidates[0])


def _merged(statement: Statement, rendered: Rendered) -> Statement:
    said = state(
        rendered.padding,
        rendered.alignment,
        mask=rendered.action_valid_mask,
        where="what the renderer returned",
    )
    return Statement(
        statement.padding if said.padding is None else said.padding,
        statement.alignment if said.alignment is None else said.alignment,
        statement.mask if said.mask is None else said.mask,
    )


def _stamp(path: Path) -> tuple[Path, tuple[int, int, int] | None]:
    try:
        status = os.stat(path)
    except OSError:
        return path, None
    return path, (status.st_ino, status.st_size, status.st_mtime_ns)


def _below(path: Path, root: Path | None) -> str:
    if root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()


def _as_json(content: dict[str, Any]) -> dict[str, Any]:
    """As it will be when it is read back, so that equal content compares equal."""
    read: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(content))
    return read

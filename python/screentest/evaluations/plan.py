"""From a request to the sorted list of samples to score, before anything is opened."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from screentest.errors import InputError
from screentest.evaluations.action_error import NAME as ACTION_MSE
from screentest.evaluations.action_files import EXTENSIONS
from screentest.evaluations.layout import (
    DEFAULT_GROUP,
    Place,
    Prediction,
    check_glob,
    find_predictions,
)
from screentest.evaluations.records import AGGREGATE, BENCHMARK, FILE_NAME
from screentest.evaluations.renderers import MODES, Renderer
from screentest.evaluations.selection import Shard, Strategy, check_choice, choose
from screentest.reports.canonical import printable

__all__ = ["ACTION_MODES", "VIDEO_MODES", "Plan", "Request", "Subject", "make_plan"]

VIDEO_MODES = frozenset(("vision", "forward_dynamics", "wam"))
ACTION_MODES = frozenset(("inverse_dynamics", "wam"))
_JOINT = ("forward_dynamics", "inverse_dynamics", "wam")
_GLOB = {"inverse_dynamics": "**/action.*"}
_DEFAULT_GLOB = "**/vision.mp4"
_STATEMENT = ".sample.json"
_OUTPUTS = frozenset((FILE_NAME, AGGREGATE, BENCHMARK))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an evaluation was asked for; see :func:`~screentest.evaluations.evaluate_videos`."""

    out: Path
    gt_dir: Path
    predictions_dir: Path | None = None
    mode: str = "vision"
    predictions_glob: str | None = None
    gt_extension: str | None = None
    metrics: tuple[str, ...] = ("psnr",)
    compute_metrics: bool = True
    renderer: Renderer | None = None
    num_samples: int | None = None
    strategy: Strategy = "deterministic_random"
    seed: int = 42
    stride: int = 1
    dataset: str | None = None
    shard: Shard | None = None
    threads: int | None = None
    workers: int | None = None
    benchmark: bool = False

    def names(self, mode: str) -> tuple[str, ...]:
        """The metrics of a mode, as they are asked for."""
        videos = self.metrics if mode in VIDEO_MODES else ()
        return (*videos, ACTION_MSE) if mode in ACTION_MODES else videos

    @property
    def video_extension(self) -> str:
        """What is behind a key in a ground-truth video's name."""
        said = self.gt_extension
        return ".mp4" if said is None or said.endswith(EXTENSIONS) else said

    @property
    def action_extensions(self) -> tuple[str, ...]:
        """What may be behind a key in a ground-truth action's name."""
        said = self.gt_extension
        return (said,) if said is not None and said.endswith(EXTENSIONS) else EXTENSIONS


@dataclass(frozen=True, slots=True)
class Subject:
    """One sample to score. ``prediction`` is ``None`` where a renderer makes it; a renderer is
    given both ground truths, whichever is scored."""

    place: Place
    mode: str
    prediction: Prediction | None
    ground_truth: Path
    ground_truth_action: Path | None


@dataclass(frozen=True, slots=True)
class Plan:
    """``subjects`` are the chosen samples of every shard, sorted by place; ``found`` counts all.
    ``unpredicted`` are the keys of ground truth that no prediction has."""

    subjects: list[Subject]
    found: int
    groups: tuple[str, ...]
    unpredicted: tuple[str, ...] = ()


def make_plan(request: Request) -> Plan:
    """The samples of a request.

    Raises ``FileNotFoundError`` for a folder that is not there and
    :class:`~screentest.errors.InputError` for a request that selects nothing or makes no sense.
    """
    if request.mode not in MODES:
        raise InputError(
            f"mode={request.mode!r}: expected one of {', '.join(MODES)}", code="bad_mode"
        )
    check_choice(request.num_samples, request.strategy, request.stride)
    if not request.gt_dir.is_dir():
        raise FileNotFoundError(2, "no such folder of ground truth", str(request.gt_dir))
    modes = _JOINT if request.mode == "joint" else (request.mode,)
    if request.renderer is not None:
        found = [subject for mode in modes for subject in _rendered(request, mode)]
    else:
        found = [subject for mode in modes for subject in _existing(request, mode)]
    if not found:
        raise InputError(f"{request.gt_dir}: no sample to score", code="no_samples")
    for subject in found:
        if not _OUTPUTS.isdisjoint(subject.place.folder.split("/")):
            raise InputError(
                f"{subject.place.folder}: its record needs a folder of the name of an output; "
                f"{', '.join(sorted(_OUTPUTS))} cannot be names of groups or samples",
                code="name_taken",
            )
    groups: dict[str, list[Subject]] = defaultdict(list)
    for subject in found:
        groups[subject.place.group].append(subject)
    label = request.dataset or DEFAULT_GROUP
    chosen = [
        subject
        for group in groups.values()
        for subject in choose(
            group,
            label=label,
            num_samples=request.num_samples,
            strategy=request.strategy,
            seed=request.seed,
            stride=request.stride,
        )
    ]
    chosen.sort(key=lambda subject: os.fsencode(subject.place.folder))
    named = tuple(sorted(map(printable, groups)))
    return Plan(chosen, len(found), named, _unpredicted(request, found))


def _unpredicted(request: Request, found: list[Subject]) -> tuple[str, ...]:
    """What a model was to render and did not: a mean over the rest must not look whole."""
    if request.renderer is not None or request.mode == "joint":
        return ()
    videos = request.mode in VIDEO_MODES
    extensions = (request.video_extension,) if videos else request.action_extensions
    there = {subject.place.key for subject in found}
    return tuple(key for key in _keys(request.gt_dir, extensions) if key not in there)


def _existing(request: Request, mode: str) -> list[Subject]:
    """The samples whose predictions are there."""
    root = request.predictions_dir
    if root is None:
        raise InputError("a folder of predictions or a renderer is needed", code="no_predictions")
    joint = request.mode == "joint"
    default = _GLOB.get(mode, _DEFAULT_GLOB)
    # In a joint run, one glob cannot be that of the videos and of the actions.
    said = None if joint and mode == "inverse_dynamics" else request.predictions_glob
    predictions = find_predictions(
        root / mode if joint else root,
        check_glob(default if said is None else said),
        leave_out=(request.out, request.gt_dir),
    )
    predictions = [one for one in predictions if not _is_ours(one)]
    subjects = []
    for one in predictions if joint else _of_dataset(predictions, request.dataset):
        place = one.place
        if joint:
            place = Place(f"{mode}/{place.folder}", mode, place.key)
        subjects.append(_subject(request, request.gt_dir, place, mode, one))
    return subjects


def _is_ours(prediction: Prediction) -> bool:
    """Whether a file that the glob matched is a statement, or what a run wrote beside it."""
    name = prediction.path.name
    return name.endswith(_STATEMENT) or name in _OUTPUTS


def _of_dataset(predictions: list[Prediction], dataset: str | None) -> list[Prediction]:
    """The predictions of the group that ``dataset`` names; it names samples without a group."""
    if dataset is None:
        return predictions
    inside = [
        one
        for one in predictions
        if one.place.group == dataset or one.place.group.startswith(f"{dataset}/")
    ]
    if inside:
        return inside
    groups = sorted({one.place.group for one in predictions})
    if groups == [DEFAULT_GROUP]:
        return [replace(one, place=replace(one.place, group=dataset)) for one in predictions]
    raise InputError(
        f"dataset={dataset!r}: the predictions have {', '.join(groups)}", code="unknown_dataset"
    )


def _rendered(request: Request, mode: str) -> list[Subject]:
    """The samples that a renderer is called for: those with ground truth, of one dataset."""
    extensions = request.action_extensions
    if mode in VIDEO_MODES:
        extensions = (request.video_extension,)
    folder, group = _dataset_folder(request, extensions)
    keys = _keys(folder, extensions)
    joint = request.mode == "joint"
    subjects = []
    for key in keys:
        parts = [mode] if joint else [] if group == DEFAULT_GROUP else [group]
        place = Place("/".join((*parts, key, "0")), mode if joint else group, key)
        subjects.append(_subject(request, folder, place, mode, None))
    return subjects


def _dataset_folder(request: Request, extensions: tuple[str, ...]) -> tuple[Path, str]:
    """The folder of ground truth and the group's name: the dataset asked for, or the first."""
    root, said = request.gt_dir, request.dataset
    if said is not None and _keys(root / said, extensions):
        return root / said, said
    if _keys(root, extensions):
        return root, said or DEFAULT_GROUP
    inside = [name for name in sorted(os.listdir(root)) if _keys(root / name, extensions)]
    if said is not None or not inside:
        there = f"; there are {', '.join(inside)}" if inside else ""
        raise InputError(
            f"{root}: no ground truth with {' or '.join(extensions)}"
            f"{f' in dataset {said!r}' if said else ''}{there}",
            code="unknown_dataset" if said else "no_samples",
        )
    return root / inside[0], inside[0]


def _keys(folder: Path, extensions: tuple[str, ...]) -> list[str]:
    if not folder.is_dir():
        return []
    names = [
        name
        for name in os.listdir(folder)
        if not name.startswith(".") and not name.endswith(_STATEMENT)
    ]
    keys = {
        name.removesuffix(extension)
        for name in names
        for extension in extensions
        if extension and name.endswith(extension)
    }
    return sorted(keys, key=os.fsencode)


def _subject(
    request: Request, folder: Path, place: Place, mode: str, prediction: Prediction | None
) -> Subject:
    candidates = [folder / f"{place.key}{end}" for end in request.action_extensions]
    action = next((path for path in candidates if path.exists()), None)
    if action is None and mode in ACTION_MODES:
        action = candidates[0]
    return Subject(
        place, mode, prediction, folder / f"{place.key}{request.video_extension}", action
    )

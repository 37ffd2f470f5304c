"""``evaluate_videos``: a folder of predicted videos against a folder of ground truth."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from screentest.errors import InputError
from screentest.evaluations.engine import Progress, run
from screentest.evaluations.evaluation import Evaluation
from screentest.evaluations.plan import Request
from screentest.evaluations.renderers import Renderer, load_renderer
from screentest.evaluations.scorer import PairedScorer, Scorer
from screentest.evaluations.selection import Shard, Strategy

__all__ = ["evaluate_videos"]

PathLike: TypeAlias = str | os.PathLike[str]


def evaluate_videos(
    out: PathLike,
    predictions_dir: PathLike | None,
    gt_dir: PathLike,
    *,
    mode: str = "vision",
    predictions_glob: str | None = None,
    gt_extension: str | None = None,
    metrics: Sequence[str] = ("psnr",),
    compute_metrics: bool = True,
    renderer: str | Renderer | None = None,
    num_samples: int | None = None,
    sample_selection_strategy: Strategy = "deterministic_random",
    sample_selection_seed: int = 42,
    sample_stride: int = 1,
    dataset: str | None = None,
    shard: Shard | None = None,
    threads: int | None = None,
    workers: int | None = None,
    benchmark: bool = False,
    progress: Progress | None = None,
    scorer: Scorer | None = None,
) -> Evaluation:
    """Score every prediction against ``<gt_dir>/<key><gt_extension>``.

    Writes ``metrics.json`` at each sample's place under ``out``, and ``metrics_aggregate.json``
    over every record there. A sample whose record is of the same files, metrics and ``impl`` is
    not scored again, so a run that was killed goes on where it was.

    Args:
        out: where records and aggregate go; may be ``predictions_dir`` itself.
        predictions_dir: predictions that exist; ``None`` with a ``renderer``.
        gt_dir: ground truth; with a renderer, each file in it is a sample.
        mode: ``vision`` and ``forward_dynamics`` score videos, ``inverse_dynamics`` actions,
            ``wam`` both; ``joint`` scores the latter three one after the other, from the folders
            of those names below ``predictions_dir``, and has the modes for groups. The actions of a
            ``wam`` sample lie beside its video: ``action.*`` by ``vision.mp4``, else the same stem.
        predictions_glob: which files are predictions, default ``**/vision.mp4``
            (``**/action.*`` in mode ``inverse_dynamics``).
        gt_extension: what follows the key in a ground truth's name, default ``.mp4``; empty for
            folders of images. Actions are looked for as .npy, .npz, .json and .safetensors.
        metrics: paired metrics by name.
        compute_metrics: ``False`` renders and aggregates without scoring.
        renderer: a function, or ``"module:function"``, that makes what is scored; see
            :mod:`screentest.evaluations.renderers`.
        num_samples, sample_selection_strategy, sample_selection_seed, sample_stride: which samples
            of each group (each mode in a joint run); see :mod:`screentest.evaluations.selection`.
        dataset: with predictions, the group to score, or the name of samples without a group; with
            a renderer, the folder of ground truth (default: the first that holds any). It also
            seeds the choice; the seeding label is ``default`` where none is given, for every group
            alike, so that groups with the same keys are compared on the same samples.
        shard: (index from 0, count): which part of the sorted list this process scores.
        threads: threads in all; ``workers``: samples at a time, default one per thread.
        benchmark: write ``benchmark.json``.
        progress: called once with the number of samples, then with each outcome in order.
        scorer: stands in for the registered metrics.

    A sample that cannot be scored is a counted skip with its reason, never a number.

    Raises:
        FileNotFoundError: one of the folders does not exist.
        InputError: nothing matches, an option makes no sense, or two samples have one place.
    """
    scorer = scorer or PairedScorer()
    names = scorer.check((metrics,) if isinstance(metrics, str) else tuple(metrics))
    if not names:
        raise InputError("metrics: at least one name was expected", code="no_metrics")
    if renderer is not None and predictions_dir is not None:
        raise InputError(
            "predictions_dir and renderer exclude each other: score what is there, or what the "
            "renderer makes",
            code="two_sources",
        )
    request = Request(
        out=Path(out),
        gt_dir=Path(gt_dir),
        predictions_dir=None if predictions_dir is None else Path(predictions_dir),
        mode=mode,
        predictions_glob=predictions_glob,
        gt_extension=_extension(gt_extension),
        metrics=names,
        compute_metrics=compute_metrics,
        renderer=load_renderer(renderer) if isinstance(renderer, str) else renderer,
        num_samples=num_samples,
        strategy=sample_selection_strategy,
        seed=sample_selection_seed,
        stride=sample_stride,
        dataset=dataset,
        shard=shard,
        threads=threads,
        workers=workers,
        benchmark=benchmark,
    )
    return run(request, scorer, progress)


def _extension(said: str | None) -> str | None:
    """``mp4`` means ``.mp4``; what has a dot, and the empty one, is taken as it is."""
    return f".{said}" if said and "." not in said else said

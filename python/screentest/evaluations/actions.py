"""``evaluate_actions``: a folder of predicted actions against a folder of raw ground truth."""

from __future__ import annotations

from pathlib import Path

from screentest.errors import InputError
from screentest.evaluations.action_files import EXTENSIONS
from screentest.evaluations.engine import Progress, run
from screentest.evaluations.evaluation import Evaluation
from screentest.evaluations.plan import Request
from screentest.evaluations.renderers import Renderer, load_renderer
from screentest.evaluations.selection import Shard, Strategy
from screentest.evaluations.videos import PathLike

__all__ = ["evaluate_actions"]


def evaluate_actions(
    out: PathLike,
    predictions_dir: PathLike | None,
    gt_dir: PathLike,
    *,
    predictions_glob: str | None = None,
    gt_extension: str | None = None,
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
) -> Evaluation:
    """Mean squared error of every predicted action against ``<gt_dir>/<key>.*``.

    Actions are ``(T, A)`` in .npy, .npz, JSON or safetensors; the two files need not be of one
    kind. ``action_valid_mask`` (length A or ``(T, A)``) says which numbers count: the ground truth
    file's, else the sample's statement's, else the prediction's. No valid channel, a NaN that
    counts, or shapes that differ are counted skips.

    ``predictions_glob`` is ``**/action.*`` by default, ``gt_extension`` whichever of the four is
    there. Everything else is as in :func:`~screentest.evaluations.evaluate_videos`.
    """
    if gt_extension and "." not in gt_extension:
        gt_extension = f".{gt_extension}"
    if gt_extension is not None and not gt_extension.endswith(EXTENSIONS):
        raise InputError(
            f"gt_extension={gt_extension!r}: actions are read from {', '.join(EXTENSIONS)}",
            code="unknown_action_format",
        )
    if renderer is not None and predictions_dir is not None:
        raise InputError("predictions_dir and renderer exclude each other", code="two_sources")
    request = Request(
        out=Path(out),
        gt_dir=Path(gt_dir),
        predictions_dir=None if predictions_dir is None else Path(predictions_dir),
        mode="inverse_dynamics",
        predictions_glob=predictions_glob,
        gt_extension=gt_extension,
        metrics=(),
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
    return run(request, progress=progress)

"""``evaluate_actions``: a folder of predicted actions against a folder of raw ground truth."""

from __future__ import annotations

from screentest.errors import InputError
from screentest.evaluations.action_files import EXTENSIONS
from screentest.evaluations.engine import Progress
from screentest.evaluations.evaluation import Evaluation
from screentest.evaluations.renderers import Renderer
from screentest.evaluations.selection import Shard, Strategy
from screentest.evaluations.videos import PathLike, evaluate_videos

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
    return evaluate_videos(
        out,
        predictions_dir,
        gt_dir,
        mode="inverse_dynamics",
        predictions_glob=predictions_glob,
        gt_extension=gt_extension,
        compute_metrics=compute_metrics,
        renderer=renderer,
        num_samples=num_samples,
        sample_selection_strategy=sample_selection_strategy,
        sample_selection_seed=sample_selection_seed,
        sample_stride=sample_stride,
        dataset=dataset,
        shard=shard,
        threads=threads,
        workers=workers,
        benchmark=benchmark,
        progress=progress,
    )

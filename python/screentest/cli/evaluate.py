"""``screentest eval videos`` and ``screentest eval actions``: folders of predictions."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from screentest.cli import exit_codes, output

if TYPE_CHECKING:
    from screentest.evaluations import Evaluation

__all__ = ["HELP", "actions", "app", "videos"]

HELP = "Score a folder of predictions against ground truth."

app = typer.Typer(help=HELP, no_args_is_help=True, add_completion=False)

_MODES = "vision, forward_dynamics, inverse_dynamics, wam or joint"

_WHAT = "What is done"
_WHICH = "Which samples"
"""Headings of the help."""

Out: TypeAlias = Annotated[
    str,
    typer.Option("-o", "--output-dir", metavar="OUT", help="Where records and aggregate go."),
]
PredictionsDir: TypeAlias = Annotated[
    str | None, typer.Option(metavar="P", help="The predictions (leave out with --renderer).")
]
GtDir: TypeAlias = Annotated[
    str, typer.Option(metavar="G", help="The ground truth: G/<key><extension>.")
]
PredictionsGlob: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="GLOB",
        help="Which files are predictions (default: **/vision.mp4; for actions **/action.*).",
    ),
]
GtExtension: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="EXT",
        help="What follows the key (default: .mp4; for actions .npy, .npz, .json, .safetensors).",
    ),
]
ComputeMetrics: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--compute-metrics/--no-compute-metrics",
        help="Score; without, only render and rebuild the aggregate.",
        rich_help_panel=_WHAT,
    ),
]
RendererName: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="MODULE:FUNCTION", help="Makes each sample from its ground truth."),
]
NumSamples: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", help="At most N samples per group or mode.", rich_help_panel=_WHICH),
]
StrategyName: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="Which N of them: deterministic_random or first.",
        rich_help_panel=_WHICH,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(metavar="S", help="Seed of the choice.", rich_help_panel=_WHICH)
]
Stride: TypeAlias = Annotated[
    int,
    typer.Option(
        metavar="K", help="Every K-th sample by name, before N are chosen.", rich_help_panel=_WHICH
    ),
]
Dataset: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Seeds the choice and names the group, or picks one.",
        rich_help_panel=_WHICH,
    ),
]
ShardText: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="I/N",
        help="Score part I of N, counted from 0 (default: RANK and WORLD_SIZE, as torchrun sets "
        "them).",
        rich_help_panel=_WHICH,
    ),
]
Threads: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", help="Threads in all (default: up to 4).")
]
Workers: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", help="Samples at a time (default: one per thread).")
]
Benchmark: TypeAlias = Annotated[
    bool, typer.Option("--benchmark", help="Write the timings to OUT/benchmark.json.")
]
FailOnSkip: TypeAlias = Annotated[
    bool, typer.Option("--fail-on-skip", help="Exit with 1 where a sample was skipped.")
]
Html: TypeAlias = Annotated[
    str | None, typer.Option(metavar="FILE", help="Also write a page (the 'report' extra).")
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="One JSON document on stdout in place of the tables.")
]


@app.command("videos", epilog=exit_codes.HELP)
def videos(
    out: Out,
    gt_dir: GtDir,
    predictions_dir: PredictionsDir = None,
    mode: Annotated[
        str, typer.Option(metavar="MODE", help=f"What is scored: {_MODES}.")
    ] = "vision",
    predictions_glob: PredictionsGlob = None,
    gt_extension: GtExtension = None,
    metrics: Annotated[
        str, typer.Option(metavar="NAME,...", help="Paired metrics by name, with commas.")
    ] = "psnr",
    compute_metrics: ComputeMetrics = True,
    renderer: RendererName = None,
    num_samples: NumSamples = None,
    sample_selection_strategy: StrategyName = "deterministic_random",
    sample_selection_seed: Seed = 42,
    sample_stride: Stride = 1,
    dataset: Dataset = None,
    shard: ShardText = None,
    threads: Threads = None,
    workers: Workers = None,
    benchmark: Benchmark = False,
    fail_on_skip: FailOnSkip = False,
    html: Html = None,
    as_json: AsJson = False,
) -> int:
    """Score every predicted video against the ground truth of its key.

    A prediction is <group>/<key>/<output_index>/vision.mp4 or any other file that the glob matches;
    it goes with G/<key>.mp4. Each sample's metrics.json and metrics_aggregate.json are written to
    OUT. A sample that was scored before is not scored again; a killed run goes on where it was.

    The actions of inverse_dynamics are **/action.*, those of wam lie beside the video; joint takes
    the folders of the three modes below P.
    """
    from screentest.evaluations import evaluate_videos

    return _evaluate(
        evaluate_videos,
        (out, predictions_dir, gt_dir),
        {
            "mode": mode,
            "predictions_glob": predictions_glob,
            "gt_extension": gt_extension,
            "metrics": tuple(name.strip() for name in metrics.split(",") if name.strip()),
            "compute_metrics": compute_metrics,
            "renderer": renderer,
            "num_samples": num_samples,
            "sample_selection_strategy": sample_selection_strategy,
            "sample_selection_seed": sample_selection_seed,
            "sample_stride": sample_stride,
            "dataset": dataset,
            "threads": threads,
            "workers": workers,
            "benchmark": benchmark,
        },
        shard,
        fail_on_skip=fail_on_skip,
        html=html,
        as_json=as_json,
    )


@app.command("actions", epilog=exit_codes.HELP)
def actions(
    out: Out,
    gt_dir: GtDir,
    predictions_dir: PredictionsDir = None,
    predictions_glob: PredictionsGlob = None,
    gt_extension: GtExtension = None,
    compute_metrics: ComputeMetrics = True,
    renderer: RendererName = None,
    num_samples: NumSamples = None,
    sample_selection_strategy: StrategyName = "deterministic_random",
    sample_selection_seed: Seed = 42,
    sample_stride: Stride = 1,
    dataset: Dataset = None,
    shard: ShardText = None,
    threads: Threads = None,
    workers: Workers = None,
    benchmark: Benchmark = False,
    fail_on_skip: FailOnSkip = False,
    html: Html = None,
    as_json: AsJson = False,
) -> int:
    """Mean squared error of every predicted action, (T, A) numbers, against the ground truth.

    .npy, .npz, JSON and safetensors are read. With an action_valid_mask only the valid channels
    count; no valid channel, a NaN or shapes that differ are counted skips.
    """
    from screentest.evaluations import evaluate_actions

    return _evaluate(
        evaluate_actions,
        (out, predictions_dir, gt_dir),
        {
            "predictions_glob": predictions_glob,
            "gt_extension": gt_extension,
            "compute_metrics": compute_metrics,
            "renderer": renderer,
            "num_samples": num_samples,
            "sample_selection_strategy": sample_selection_strategy,
            "sample_selection_seed": sample_selection_seed,
            "sample_stride": sample_stride,
            "dataset": dataset,
            "threads": threads,
            "workers": workers,
            "benchmark": benchmark,
        },
        shard,
        fail_on_skip=fail_on_skip,
        html=html,
        as_json=as_json,
    )


def _evaluate(
    evaluate: Any,
    folders: tuple[str, str | None, str],
    options: dict[str, Any],
    shard: str | None,
    *,
    fail_on_skip: bool,
    html: str | None,
    as_json: bool,
) -> int:
    from screentest.evaluations.selection import environment_shard, parse_shard

    part = environment_shard() if shard is None else parse_shard(shard)
    if shard is None and part is not None:
        output.note(f"shard {part[0]}/{part[1]} by RANK and WORLD_SIZE")
    if html is not None:
        from screentest.reports.html import require_report_extra

        # A missing extra, or a folder that is not there, should not cost a run.
        require_report_extra()
        if not os.path.isdir(os.path.dirname(html) or "."):
            raise FileNotFoundError(errno.ENOENT, "no such folder", os.path.dirname(html))
    with ExitStack() as bars:
        watch = _Watch(bars)
        evaluation = evaluate(*folders, shard=part, progress=watch, **options)
    if html is not None:
        _write_page(evaluation, html, options["threads"])
    if as_json:
        output.result_bytes(evaluation.to_json())
    else:
        from screentest.cli.evaluate_tables import tables

        for line in tables(evaluation):
            output.result(line)
    return _status(evaluation, fail_on_skip)


def _status(evaluation: Evaluation, fail_on_skip: bool) -> int:
    codes = [exit_codes.DONE]
    if fail_on_skip and evaluation.skips:
        codes.append(exit_codes.NOT_PASSED)
    if evaluation.unanswered:
        named = ", ".join(evaluation.unanswered)
        output.note(f"no sample has a value of {named}")
        codes.append(exit_codes.NOT_JUDGED)
    return exit_codes.worst(codes)


def _write_page(evaluation: Evaluation, path: str, threads: int | None) -> None:
    from screentest.evaluations.view import evaluation_view
    from screentest.reports.html import evaluation_page

    evaluation_page(evaluation_view(evaluation, threads=threads), path)


def _told(skip: Any) -> str:
    if skip.code == "unmeasured":
        return f"{', '.join(skip.metrics)} not measured: {skip.message}"
    return f"skipped: {skip.message}"


class _Watch:
    """Says on stderr what is going on: a bar, and a line for each skip and each warning. What one
    metric lacks is said once, since every sample lacks it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._bar: output.Bar | None = None
        self._said: set[Any] = set()

    def __call__(self, total: int, outcome: Any) -> None:
        if self._bar is None:
            self._bar = self._stack.enter_context(output.progress(total, "scoring"))
        if outcome is None:
            return
        record = outcome.record
        if record is not None:
            gaps = [gap for gap in record.gaps if gap not in self._said]
            self._said.update(gap for gap in gaps if gap.code == "unmeasured")
            lines = [_told(gap) for gap in gaps] + list(record.warnings)
            if lines:
                with self._bar.paused():
                    for line in lines:
                        output.note(output.shown(f"{outcome.place}: {line}"))
        self._bar.step()

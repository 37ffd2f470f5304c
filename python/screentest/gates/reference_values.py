"""Numbers of a pair for the reference gate: each metric's frames as one mean and one worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from screentest.gates.reference_facts import METRICS, PSNR_CAP_DB
from screentest.gates.report import ReferenceRow

if TYPE_CHECKING:
    from screentest.metrics.facts import Score
    from screentest.metrics.paired import PairFacts

__all__ = ["with_values"]

_NO_ERROR = 1e-12
"""Mean squared error of frames that are equal but for how a float was rounded."""


def with_values(
    row: ReferenceRow, facts: PairFacts, metrics: Sequence[str], lacking: dict[str, str]
) -> tuple[ReferenceRow, dict[str, str]]:
    """The row with the numbers of its pair, and the version of each metric that gave one; none for
    frames that do not go together."""
    if row.misaligned:
        return row, {}
    scores = {score.name: score for score in facts.scores}
    values: dict[str, float] = {}
    unmeasured: dict[str, str] = {}
    worst: dict[str, int] = {}
    impls: dict[str, str] = {}
    for metric in metrics:
        score = scores.get(metric)
        if metric in lacking or score is None or score.state == "unmeasured":
            why = lacking.get(metric) or (score and score.reason) or "not measured"
            unmeasured |= dict.fromkeys(METRICS[metric], why)
            continue
        of_frames = facts.series["mse" if metric == "psnr" else metric]
        values |= _POOL[metric](score, of_frames.tolist())
        impls[metric] = score.impl
        if score.worst_frame is not None:
            worst[metric] = score.worst_frame
    domains = {str(score.details["from"]) for score in facts.scores if "from" in score.details}
    return (
        msgspec.structs.replace(
            row,
            values=values,
            unmeasured=unmeasured,
            worst_frame=worst,
            domain="+".join(sorted(domains)),
        ),
        impls,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _psnr(_score: Score, mse: Sequence[float]) -> dict[str, float]:
    decibels = [
        PSNR_CAP_DB if error < _NO_ERROR else min(PSNR_CAP_DB, -10.0 * math.log10(error))
        for error in mse
    ]
    return {"psnr_mean": _mean(decibels), "psnr_worst": min(decibels)}


def _ssim(score: Score, frames: Sequence[float]) -> dict[str, float]:
    return {f"{score.name}_mean": _mean(frames), f"{score.name}_worst": min(frames)}


def _distance(score: Score, frames: Sequence[float]) -> dict[str, float]:
    return {f"{score.name}_mean": _mean(frames), f"{score.name}_worst": max(frames)}


def _vmaf(score: Score, frames: Sequence[float]) -> dict[str, float]:
    return {
        "vmaf": float(score.details["harmonic_mean"]),
        "vmaf_mean": _mean(frames),
        "vmaf_min": min(frames),
    }


_POOL: dict[str, Callable[[Score, Sequence[float]], dict[str, float]]] = {
    "psnr": _psnr,
    "ssim": _ssim,
    "ms_ssim": _ssim,
    "lpips": _distance,
    "dists": _distance,
    "vmaf": _vmaf,
}

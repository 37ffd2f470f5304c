"""From the numbers of each frame to the scores of a clip; one place for calls and accumulators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest.metrics import identity
from screentest.metrics.facts import Score
from screentest.metrics.fidelity.names import FIDELITY, MS_SSIM_SCALES, FidelityMetric

__all__ = ["decibels", "scores_of"]

Series = NDArray[np.float64]


def decibels(mse: Series) -> Series:
    """PSNR in dB of mean squared errors whose peak is 1; infinite where the error is 0."""
    with np.errstate(divide="ignore"):
        found: Series = -10.0 * np.log10(mse)
    return found


def scores_of(
    name: str,
    columns: dict[str, Series],
    frames: NDArray[np.int64],
    *,
    plane_sizes: tuple[int, ...] = (),
    impl_suffix: str = "",
    details: dict[str, Any] | None = None,
) -> tuple[list[Score], Series]:
    """The scores that ``name`` asks for, and its value at each frame.

    ``columns`` holds the kernel's numbers of each compared pair, ``frames`` the candidate's index
    of each; ``plane_sizes`` the samples of Y, Cb and Cr.
    """
    metric = FIDELITY[name]
    more = dict(details or {})
    if metric.unit == "dB":
        return _psnr(metric, _squared(name, columns, plane_sizes), frames, more)
    values = columns[name]
    if f"{name}_scales" in columns:
        scales = more["scales"] = int(columns[f"{name}_scales"].min())
        more["clipped_scales"] = int(columns[f"{name}_clipped"].sum())
        # Fewer scales are another quantity, and its numbers must not meet those of five.
        impl_suffix += f"+{scales}scales" if scales < MS_SSIM_SCALES else ""
    # Equal planes have an error of exactly 0 and an SSIM of exactly 1, and no others have.
    perfect = 0.0 if metric.direction == "down" else 1.0
    identical = values == perfect
    worst = int(np.argmax(values) if metric.direction == "down" else np.argmin(values))
    differs = not identical.all()
    score = identity.score(
        name,
        math.fsum(values) / len(values),
        state="measured" if differs else "identical",
        impl_suffix=impl_suffix,
        frames=len(values),
        worst=float(values[worst]) if differs else None,
        worst_frame=int(frames[worst]) if differs else None,
        identical_frames=int(identical.sum()),
        details=more,
    )
    return [score], values


def _squared(name: str, columns: dict[str, Series], sizes: tuple[int, ...]) -> Series:
    if name == "psnr":
        return columns["mse"]
    if name != "psnr_avg":
        return columns[name.replace("psnr", "mse")]
    planes = [columns[key] for key in ("mse_y", "mse_cb", "mse_cr") if key in columns]
    weights = np.array(sizes, dtype=np.float64) / sum(sizes)
    total: Series = np.stack(planes, axis=1) @ weights
    return total


def _psnr(
    metric: FidelityMetric, squared: Series, frames: NDArray[np.int64], details: dict[str, Any]
) -> tuple[list[Score], Series]:
    """The mean of each frame's PSNR over the frames that differ, the PSNR of the error pooled over
    all frames, and the worst frame's."""
    values = decibels(squared)
    differs = squared > 0
    count = int(differs.sum())
    mean = pooled = lowest = None
    frame = None
    if count:
        mean = math.fsum(values[differs]) / count
        pooled = -10.0 * math.log10(math.fsum(squared) / len(squared))
        worst = int(np.argmax(squared))
        lowest, frame = float(values[worst]), int(frames[worst])
    parts = (("", mean), ("_pooled", pooled), ("_worst", lowest))
    scores = [
        identity.score(
            f"{metric.name}{suffix}",
            value,
            state="measured" if count else "identical",
            frames=len(values),
            worst=lowest,
            worst_frame=frame,
            identical_frames=len(values) - count,
            details=details,
        )
        for suffix, value in parts
    ]
    return scores, values

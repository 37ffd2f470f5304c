"""The signal metrics by name."""

from __future__ import annotations

from screentest.metrics.facts import Direction
from screentest.metrics.spec import Dimension, MetricSpec, Modality, Pool

__all__ = ["IMPL", "METRICS"]

IMPL = "signal@2"
"""Changes when any fact of this family could change."""


def _metric(
    name: str,
    says: str,
    unit: str,
    *,
    bounds: tuple[float | None, float | None] = (0.0, 1.0),
    dimension: Dimension = "quality",
    modality: Modality = "any",
    direction: Direction = "target",
    pool: Pool = "mean",
    headline: bool = False,
    note: str = "",
    version: int = 1,
) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension=dimension,
        modality=modality,
        unit=unit,
        direction=direction,
        impl=f"{name}@{version}",
        family="signal",
        bounds=bounds,
        pool=pool,
        headline=headline,
        note=note,
    )


_CONTENT = "depends on what is shown: compare with a control of the same prompts"

METRICS: tuple[MetricSpec, ...] = (
    _metric(
        "sharpness",
        "variance of the Laplacian of luma",
        "levels^2",
        bounds=(0.0, None),
        note=_CONTENT,
    ),
    _metric(
        "sharpness_p10",
        "the same of the frame at the 10th percentile",
        "levels^2",
        bounds=(0.0, None),
        note=_CONTENT,
    ),
    _metric(
        "hf_ratio",
        "share of the spectrum's energy above a quarter cycle per pixel",
        "1",
        note=_CONTENT,
        version=2,
    ),
    _metric(
        "detail_entropy", "entropy of luma in 64 bins", "bit", bounds=(0.0, 6.0), note=_CONTENT
    ),
    _metric("contrast", "standard deviation of luma", "1", bounds=(0.0, 0.5), note=_CONTENT),
    _metric("saturation", "largest less smallest of red, green and blue", "1", note=_CONTENT),
    _metric("local_contrast", "luma less its 3x3 mean, in size", "1", note=_CONTENT),
    _metric("brightness", "mean luma", "1", note=_CONTENT),
    _metric(
        "luma_flicker",
        "deviation of the frames' mean luma, of its mean",
        "%",
        bounds=(0.0, None),
        dimension="temporal",
        modality="video",
        direction="down",
        note="a fade or a cut raises it as well; the temporal family tells them apart",
    ),
    _metric(
        "jerk_ratio",
        "second difference of luma over time, of the first",
        "1",
        # Of T frames (T - 2) second differences of at most twice the largest first one.
        bounds=(0.0, None),
        dimension="temporal",
        modality="video",
        direction="down",
        note="1.73 for noise that is new in each frame; a frozen clip reads 0, which is not good",
    ),
    _metric(
        "shimmer",
        "change of the high-passed luma, of its size",
        "1",
        bounds=(0.0, None),
        dimension="temporal",
        modality="video",
        note="fast motion raises it as well",
    ),
    _metric(
        "motion_energy",
        "change of luma from frame to frame",
        "levels",
        bounds=(0.0, 255.0),
        dimension="temporal",
        modality="video",
        note=_CONTENT,
    ),
    _metric(
        "motion_energy_per_s",
        "the same per second of the time stamps",
        "levels/s",
        bounds=(0.0, None),
        dimension="temporal",
        modality="video",
        note="compares clips of different or varying frame rate",
    ),
    _metric(
        "flat_frames",
        "frames with a deviation of luma below 1e-4",
        "frames",
        bounds=(0.0, None),
        direction="down",
    ),
)

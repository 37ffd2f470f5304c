"""The statistics of two arms by name.

Of the six statistics of detail and tone, reports hold ``ratio_<metric>``, ``dz_<metric>``,
``effect_<metric>`` and ``holm_p_<metric>`` besides: what the ones below are made of.
"""

from __future__ import annotations

from screentest.metrics.facts import Direction
from screentest.metrics.spec import Dimension, MetricSpec, Modality

__all__ = ["IMPL", "METRICS"]

IMPL = "population@1"
"""Changes when any fact of this family could change."""


def _metric(
    name: str,
    says: str,
    dimension: Dimension,
    *,
    modality: Modality = "video",
    unit: str = "1",
    direction: Direction = "down",
    target: float | None = None,
    bounds: tuple[float | None, float | None] = (0.0, None),
    headline: bool = False,
    gated: bool = False,
    source: str = "",
    note: str = "",
) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension=dimension,
        modality=modality,
        unit=unit,
        direction=direction,
        target=target,
        impl=f"{name}@1",
        family="population",
        bounds=bounds,
        paired=True,
        headline=headline,
        gated=gated,
        extra="gate",
        source=source,
        note=note,
    )


METRICS: tuple[MetricSpec, ...] = (
    _metric(
        "imaging_index",
        "detail and tone over the reference's: median over prompts, detail twice",
        "quality",
        modality="any",
        direction="target",
        target=1.0,
        gated=True,
        note="noise raises it, so it has two bounds",
    ),
    _metric(
        "imaging_worst_prompt",
        "the same of the prompt that keeps least",
        "quality",
        modality="any",
        direction="up",
        gated=True,
        note="another seed moves a single prompt by more than most changes do",
    ),
    _metric(
        "detail_retention",
        "sharpness, hf_ratio and local_contrast over the reference's",
        "quality",
        modality="any",
        direction="target",
        target=1.0,
    ),
    _metric(
        "tonal_retention",
        "contrast, saturation and detail_entropy over the reference's",
        "quality",
        modality="any",
        direction="target",
        target=1.0,
    ),
    _metric(
        "jerk_excess",
        "jerk_ratio over the reference's less 1: median over prompts",
        "temporal",
        direction="target",
        target=0.0,
        bounds=(-1.0, None),
        gated=True,
        note="unsteady pictures and noise raise it, frozen ones lower it",
    ),
    _metric(
        "flicker_ratio",
        "luma_flicker over the reference's: median over prompts",
        "temporal",
        direction="target",
        target=1.0,
        gated=True,
        note="0.05 % of flicker is none",
    ),
    _metric(
        "shimmer_ratio",
        "shimmer over the reference's: median over prompts",
        "temporal",
        direction="target",
        target=1.0,
    ),
    _metric(
        "motion_ratio",
        "motion_energy over the reference's: median over prompts",
        "temporal",
        direction="target",
        target=1.0,
        gated=True,
        note="depends on what is shown; 0.5 at half the speed",
    ),
    _metric(
        "frozen_share_excess",
        "share of steps that stand still less the reference's: the prompt with most",
        "temporal",
        direction="target",
        target=0.0,
        bounds=(-1.0, 1.0),
        gated=True,
        note="a step stands still below 5 % of the reference's motion",
    ),
    _metric(
        "track_stability_worst",
        "track_stability over the reference's: the prompt that keeps least",
        "similarity",
        direction="up",
        gated=True,
        note="0 where the candidate has lost its texture",
    ),
    _metric(
        "grid_ratio",
        "grid_peak_ratio over the reference's: median over prompts",
        "quality",
        modality="any",
        direction="target",
        target=1.0,
        gated=True,
        note="a ratio up to 4 is no lattice; says nothing where no side has 512 px",
    ),
    _metric(
        "significant_features",
        "features of detail and tone that moved beyond chance",
        "distributional",
        modality="any",
        bounds=(0.0, 6.0),
        headline=True,
        gated=True,
        source="Holm 1979",
        note="needs 8 pairs to mean what its limit says",
    ),
    _metric(
        "rms_effect_size",
        "root mean square of the six paired effects, in deviations over prompts",
        "distributional",
        modality="any",
    ),
    _metric(
        "max_effect_size",
        "the largest of them",
        "distributional",
        modality="any",
    ),
    _metric(
        "population_frechet",
        "distance of the clips' feature distributions, median over pairs",
        "distributional",
        gated=True,
        note="in deviations of the reference's frames; unmeasured where the prompts look alike",
    ),
    _metric(
        "population_frechet_worst",
        "the same of the pair that lies farthest apart",
        "distributional",
        gated=True,
    ),
    _metric(
        "population_frechet_full",
        "the same with the covariances of the features, median over pairs",
        "distributional",
        source="Ledoit and Wolf 2004",
        note="covariances are shrunk: a clip has few frames",
    ),
)

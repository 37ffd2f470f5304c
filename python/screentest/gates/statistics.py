"""The statistics that each benchmark decides on, by name: what a budget may bound."""

from __future__ import annotations

__all__ = ["BENCHMARKS", "IMAGE", "REFERENCE", "VIDEO"]

IMAGING = ("imaging_index", "imaging_worst_prompt")
TEMPORAL = ("jerk_excess", "flicker_ratio", "motion_ratio", "frozen_share_excess")
STRUCTURE = ("track_stability_ratio", "track_stability_worst", "grid_ratio")
DISTRIBUTIONAL = ("significant_features", "population_frechet", "population_frechet_worst")

BENCHMARKS = {
    "imaging": IMAGING,
    "temporal": TEMPORAL,
    "structure": STRUCTURE,
    "distributional": DISTRIBUTIONAL,
}
"""Benchmark -> the statistics that its verdict may hang on."""

VIDEO = (*IMAGING, *TEMPORAL, *STRUCTURE, *DISTRIBUTIONAL)
IMAGE = (*IMAGING, "grid_ratio", *DISTRIBUTIONAL)

REFERENCE = (
    "psnr_mean",
    "psnr_worst",
    "ssim_mean",
    "ssim_worst",
    "ms_ssim_mean",
    "ms_ssim_worst",
    "lpips_mean",
    "lpips_worst",
    "dists_mean",
    "dists_worst",
    "vmaf",
    "vmaf_mean",
    "vmaf_min",
)

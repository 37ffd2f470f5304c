"""Planned: how a set of clips differs from another set."""

from __future__ import annotations

from typing import Any

from screentest.metrics.catalogue.planned import planned

__all__ = ["PLANNED"]

_SETS: dict[str, Any] = {
    "dimension": "distributional", "unit": "1", "direction": "down", "family": "population",
    "paired": True, "gated": True,
}  # fmt: skip

PLANNED = (
    planned("significant_features", "features of detail and tone that moved beyond chance",
            modality="any", headline=True, bounds=(0.0, 6.0), **_SETS,
            note="needs 8 pairs to mean what its limit says"),
    planned("population_frechet", "distance of the clips' feature distributions, median over pairs",
            modality="video", bounds=(0.0, None), **_SETS,
            note="unbounded where the reference hardly varies: gate on it with a calibration of "
            "your own"),
    planned("audio_lufs_population_delta", "mean loudness minus the reference's, of many pairs",
            dimension="distributional", modality="audio", unit="LU", direction="target",
            target=0.0, family="population", paired=True, headline=True,
            note="audio_lufs_delta is of one pair"),
)  # fmt: skip

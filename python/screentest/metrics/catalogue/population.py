"""Planned: how a set of clips differs from another set."""

from __future__ import annotations

from screentest.metrics.catalogue.planned import planned

__all__ = ["PLANNED"]

PLANNED = (
    planned("audio_lufs_population_delta", "mean loudness minus the reference's, of many pairs",
            dimension="distributional", modality="audio", unit="LU", direction="target",
            target=0.0, family="population", paired=True, headline=True,
            note="audio_lufs_delta is of one pair"),
)  # fmt: skip

"""Planned: sound, alone and against a reference, and its time against the picture's."""

from __future__ import annotations

from typing import Any

from screentest.metrics.catalogue.planned import planned

__all__ = ["PLANNED"]

_SYNC: dict[str, Any] = {"dimension": "temporal", "modality": "av", "family": "sync"}

PLANNED = (
    planned("audio_lufs_population_delta", "mean loudness minus the reference's, of many pairs",
            dimension="distributional", modality="audio", unit="LU", direction="target",
            target=0.0, family="population", paired=True, headline=True,
            note="audio_lufs_delta is of one pair"),
    planned("av_sync_drift_ms", "size of the change of the audio's offset against the reference's",
            unit="ms", direction="down", bounds=(0.0, None), paired=True, headline=True,
            gated=True, **_SYNC, note="of events; lip sync is not measured"),
    planned("av_sync_offset_ms", "by how much the sound is late", unit="ms", direction="target",
            target=0.0, **_SYNC, note="positive where the sound is late"),
    planned("av_sync_confidence", "correlation of sound and picture at that offset", unit="1",
            direction="up", bounds=(-1.0, 1.0), **_SYNC),
)  # fmt: skip

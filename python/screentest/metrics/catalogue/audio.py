"""Planned: sound, alone and against a reference, and its time against the picture's."""

from __future__ import annotations

from typing import Any

from screentest.metrics.catalogue.planned import planned

__all__ = ["PLANNED"]

_SOUND: dict[str, Any] = {"dimension": "quality", "modality": "audio", "family": "audio"}
_LEVEL: dict[str, Any] = {**_SOUND, "direction": "target"}
_DEFECT: dict[str, Any] = {**_SOUND, "direction": "down"}
_SHARE: dict[str, Any] = {**_DEFECT, "unit": "1", "bounds": (0.0, 1.0)}
_SYNC: dict[str, Any] = {"dimension": "temporal", "modality": "av", "family": "sync"}
_LOUDNESS = "ITU-R BS.1770-4, EBU R 128"

PLANNED = (
    planned("audio_lufs_population_delta", "mean loudness minus the reference's, of many pairs",
            dimension="distributional", modality="audio", unit="LU", direction="target",
            target=0.0, family="population", paired=True, headline=True,
            note="audio_lufs_delta is of one pair"),
    planned("audio_rms_dbfs", "root mean square level", unit="dBFS", **_LEVEL),
    planned("audio_lufs", "integrated loudness", unit="LUFS", **_LEVEL, source=_LOUDNESS),
    planned("audio_spectral_flatness", "spectral flatness: 0 is a tone, 1 is white noise",
            unit="1", bounds=(0.0, 1.0), **_LEVEL),
    planned("audio_channel_correlation", "correlation of left and right", unit="1",
            bounds=(-1.0, 1.0), **_LEVEL),
    planned("audio_side_dbfs", "level of half of left minus right", unit="dBFS", **_LEVEL,
            note="absent for mono; the floor is mono, all of the sound is antiphase"),
    planned("audio_peak_dbfs", "largest sample", unit="dBFS", **_DEFECT,
            note="a ceiling: low is no better"),
    planned("audio_true_peak_dbtp", "largest value between the samples", unit="dBTP", **_DEFECT,
            source=_LOUDNESS, note="a ceiling: low is no better"),
    planned("audio_clip_fraction", "share of the samples at full scale", **_SHARE),
    planned("audio_silence_fraction", "share of the 50 ms blocks below -60 dBFS", **_SHARE),
    planned("audio_max_silence_run", "longest silence, as a share of the sound", headline=True,
            **_SHARE),
    planned("audio_dc_offset", "largest mean of a channel", **_SHARE),
    planned("audio_stereo_separation_db", "level minus that of left minus right", unit="dB",
            **_DEFECT, note="absent for mono; large is one sound in both channels"),
    planned("av_sync_drift_ms", "size of the change of the audio's offset against the reference's",
            unit="ms", direction="down", bounds=(0.0, None), paired=True, headline=True,
            gated=True, **_SYNC, note="of events; lip sync is not measured"),
    planned("av_sync_offset_ms", "by how much the sound is late", unit="ms", direction="target",
            target=0.0, **_SYNC, note="positive where the sound is late"),
    planned("av_sync_confidence", "correlation of sound and picture at that offset", unit="1",
            direction="up", bounds=(-1.0, 1.0), **_SYNC),
)  # fmt: skip

"""The metrics of the time between sound and picture by name."""

from __future__ import annotations

from typing import Any

from screentest.metrics.spec import MetricSpec

__all__ = ["IMPL", "METRICS"]

IMPL = "sync@1"
"""Changes when any value of this family could change."""

_NOTE = "of events; lip sync is not measured"


def _metric(name: str, says: str, note: str = _NOTE, **fixed: Any) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension="temporal",
        modality="av",
        impl=f"{name}@1",
        family="sync",
        note=note,
        **fixed,
    )


METRICS: tuple[MetricSpec, ...] = (
    _metric(
        "av_sync_drift_ms",
        "size of the change of the audio's offset against the reference's",
        unit="ms",
        direction="down",
        bounds=(0.0, None),
        paired=True,
        headline=True,
        gated=True,
    ),
    _metric(
        "av_sync_offset_ms",
        "by how much the sound is late",
        note=f"positive where the sound is late; {_NOTE}",
        unit="ms",
        direction="target",
        target=0.0,
    ),
    _metric(
        "av_sync_confidence",
        "correlation of sound and picture at that offset",
        unit="1",
        direction="up",
        bounds=(-1.0, 1.0),
    ),
)

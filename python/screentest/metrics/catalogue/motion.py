"""Planned: what moves, how steadily, and how much of it a candidate keeps."""

from __future__ import annotations

from typing import Any

from screentest.metrics.catalogue.planned import planned

__all__ = ["PLANNED"]

_TRACKS: dict[str, Any] = {"modality": "video", "family": "tracks", "unit": "1"}
PLANNED = (
    planned("track_stability_ratio", "track stability over that of a control",
            dimension="similarity", direction="target", target=1.0, bounds=(0.0, None),
            paired=True, headline=True, gated=True, **_TRACKS,
            note="low is warble, high is over-smoothing; holds between two takes of a prompt"),
    planned("track_stability", "share of the tracked points that move coherently",
            dimension="quality", direction="up", bounds=(0.0, 1.0), **_TRACKS,
            note="depends on the content: only its ratio to a control is judged"),
    planned("track_survival", "share of the tracked points that live to their window's end",
            dimension="quality", direction="up", bounds=(0.0, 1.0), **_TRACKS,
            note="depends on the content"),
    planned("track_jitter", "acceleration of the tracks over their speed", dimension="quality",
            direction="down", bounds=(0.0, None), pool="median", **_TRACKS),
    planned("track_rigidity_error", "change of the distance between neighbouring tracks",
            dimension="quality", direction="down", bounds=(0.0, None), pool="median",
            **{**_TRACKS, "unit": "%"}),
)  # fmt: skip

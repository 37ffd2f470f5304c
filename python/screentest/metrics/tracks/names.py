"""The track metrics by name."""

from __future__ import annotations

from screentest.metrics.facts import Direction
from screentest.metrics.spec import MetricSpec, Pool

__all__ = ["IMPL", "METRICS", "RATIO"]

IMPL = "tracks@1"
"""Changes when any fact of this family could change."""

_CONTENT = "depends on what is shown: only its ratio to a control is judged"


def _metric(
    name: str,
    says: str,
    unit: str,
    *,
    direction: Direction,
    bounds: tuple[float | None, float | None] = (0.0, None),
    pool: Pool = "median",
    note: str = _CONTENT,
) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension="quality",
        modality="video",
        unit=unit,
        direction=direction,
        impl=f"{name}@1",
        family="tracks",
        bounds=bounds,
        pool=pool,
        options=("windows",),
        source="Shi and Tomasi 1994; Bouguet 2001",
        note=note,
    )


RATIO = "track_stability_ratio"
"""The paired metric: what a candidate keeps of its control's stability."""

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name=RATIO,
        says="track stability over that of a control",
        dimension="similarity",
        modality="video",
        unit="1",
        direction="target",
        target=1.0,
        impl=f"{RATIO}@1",
        family="tracks",
        bounds=(0.0, None),
        paired=True,
        headline=True,
        gated=True,
        options=("windows",),
        note="low is warble, high is over-smoothing; holds between two takes of a prompt; a change "
        "of exposure lowers it, a freeze raises it",
    ),
    _metric(
        "track_stability",
        "share of the tracked points that live and move coherently",
        "1",
        direction="up",
        bounds=(0.0, 1.0),
        pool="mean",
    ),
    _metric(
        "track_survival",
        "share of the tracked points that live to their window's end",
        "1",
        direction="up",
        bounds=(0.0, 1.0),
        pool="mean",
    ),
    _metric(
        "track_jitter",
        "acceleration of the tracks over their speed, the camera taken out",
        "1",
        direction="down",
    ),
    _metric(
        "track_rigidity_error",
        "how much the distances of neighbouring tracks change from step to step",
        "%",
        direction="down",
    ),
    _metric(
        "motion_magnitude",
        "mean length of the tracks' steps, in pixels of the working size",
        "px/frame",
        direction="target",
        note="what is right depends on the scene",
    ),
)

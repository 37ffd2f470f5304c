"""The temporal metrics by name. ``luma_flicker`` and ``jerk_ratio`` are the signal family's, whose
luma series this family reads over time."""

from __future__ import annotations

from screentest.metrics.facts import Direction
from screentest.metrics.spec import MetricSpec

__all__ = ["IMPL", "METRICS"]

IMPL = "temporal@1"
"""Changes when any value of this family could change."""


def _metric(
    name: str,
    says: str,
    unit: str,
    bounds: tuple[float, float | None],
    direction: Direction = "down",
    note: str = "",
) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension="temporal",
        modality="video",
        unit=unit,
        direction=direction,
        impl=f"{name}@1",
        family="temporal",
        bounds=bounds,
        note=note,
    )


METRICS: tuple[MetricSpec, ...] = (
    _metric(
        "flicker_strength",
        "mean height by which the brightness that most of the picture shares leaves its course "
        "for at most four frames",
        "levels",
        bounds=(0.0, 255.0),
    ),
    _metric(
        "region_flicker",
        "the same within one sixteenth of the picture, the worst of the sixteen",
        "levels",
        bounds=(0.0, 255.0),
        note="things that move through a sixteenth raise it as well",
    ),
    _metric(
        "cadence_strength",
        "share of the variation of motion that a repeating pattern of up to 30 frames explains",
        "1",
        bounds=(0.0, 1.0),
        note="near 1 where frames are held in a rhythm: on twos, 3:2, every fifth frame twice",
    ),
    _metric(
        "still_share",
        "share of the frames that differ from the one before by less than 0.05 levels on average",
        "1",
        bounds=(0.0, 1.0),
        direction="target",
        note="what is right depends on the scene; a freeze is located by the screen",
    ),
)

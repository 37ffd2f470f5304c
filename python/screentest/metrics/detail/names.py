"""The metrics of edges, what lies beside them, and texture."""

from __future__ import annotations

from typing import Any

from screentest.metrics.spec import MetricSpec

__all__ = ["FRAMES", "IMPL", "METRICS", "PAIRED"]

IMPL = "detail/1"
"""Changes when any value of this family could change."""

FRAMES = 16
"""Frames that are read of a clip unless said otherwise, evenly spread."""


def _detail(name: str, says: str, **fixed: Any) -> MetricSpec:
    given = {
        "dimension": "quality",
        "modality": "any",
        "unit": "1",
        "direction": "target",
        "impl": f"{name}@1",
        "family": "detail",
        "bounds": (0.0, None),
        "options": ("frames",),
        **fixed,
    }
    return MetricSpec(name=name, says=says, **given)


METRICS: tuple[MetricSpec, ...] = (
    _detail(
        "edge_overshoot",
        "fine detail in the two pixels beside the strongest edges, over the contrast",
        note="no quality by itself: real detail raises it as ringing does, so it orders renders "
        "the wrong way round; never gated, and read only as ringing_excess against a reference",
    ),
    _detail(
        "edge_strength",
        "slope of blurred luma that the steepest twentieth of the picture reaches",
        unit="1/px",
        note="luma in [0, 1] per pixel; what size and sharpness it should have depends on the "
        "content",
    ),
    _detail(
        "edge_density",
        "share of the picture where blurred luma rises by 0.02 per pixel or more",
        bounds=(0.0, 1.0),
        note="a step of 15 levels of 255 reaches it; how much there should be depends on the "
        "content",
    ),
    _detail(
        "texture_residual",
        "mean of what a blur of 1.2 pixels takes away, off the edges and the band beside them",
        note="luma in [0, 1]; noise raises it as texture does",
    ),
    _detail(
        "ringing_excess",
        "edge_overshoot of the candidate less the reference's",
        dimension="similarity",
        bounds=(None, None),
        target=0.0,
        options=(),
        paired=True,
        reference_only=True,
        note="sharpening and ringing raise it, fewer sampling steps may lower it; a hint that asks "
        "for a look, never a pass by itself",
    ),
)
"""What is measured of a clip, then what is measured of a pair."""

PAIRED: dict[str, MetricSpec] = {spec.name: spec for spec in METRICS if spec.paired}
"""Those of a pair, by name."""

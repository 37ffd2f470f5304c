"""What the integrity family measures by name, and the axes that its facts speak for."""

from __future__ import annotations

from screentest.metrics.spec import MetricSpec

__all__ = ["AXES", "EVERY_FRAME_AXES", "IMPL", "METRICS", "TEMPORAL_AXES"]

IMPL = "integrity/1"
"""Changes when any value of this family could change."""

AXES = ("noise", "blank", "grid", "frozen", "duplicate", "black", "non_finite", "damaged")
"""Every axis, in the order of reports."""

TEMPORAL_AXES = ("noise", "frozen", "duplicate")
"""Axes that compare frames, so that a single frame has none of them."""

EVERY_FRAME_AXES = ("frozen", "duplicate", "black", "non_finite", "damaged")
"""Axes that a sample of frames cannot speak for."""

METRICS = (
    MetricSpec(
        name="adjacent_frame_corr",
        says="median correlation of neighbouring frames' luma, over five pairs",
        dimension="temporal",
        modality="video",
        unit="1",
        direction="up",
        impl=IMPL,
        family="integrity",
        bounds=(-1.0, 1.0),
        pool="median",
        headline=True,
        gated=True,
        note="tells noise from a render and no more: a frozen clip reads 1, a melted one above a "
        "clean one",
    ),
    MetricSpec(
        name="frame_std_min",
        says="smallest contrast of the sampled frames: standard deviation of luma",
        dimension="quality",
        modality="video",
        unit="1",
        direction="up",
        impl=IMPL,
        family="integrity",
        bounds=(0.0, 0.5),
        pool="min",
        note="near 0 is a blank frame; a larger one is no better picture",
    ),
    MetricSpec(
        name="grid_peak_ratio",
        says="strongest lattice in the picture: its spectral line over the median beside it",
        dimension="quality",
        modality="video",
        unit="1",
        direction="down",
        impl=IMPL,
        family="integrity",
        bounds=(0.0, None),
        pool="max",
        gated=True,
        note="unmeasured where neither side has 512 px; a real periodic picture reads high as well",
    ),
)

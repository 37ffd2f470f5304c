"""The metrics of dense optical flow."""

from __future__ import annotations

from typing import Any

from screentest.metrics.spec import MetricSpec

__all__ = ["IMPL", "METRICS", "PAIRED", "PAIRS"]

IMPL = "flow/1"
"""Changes when any value of this family could change; facts add OpenCV's version."""

PAIRS = 24
"""Pairs of neighbouring frames that are read of a clip, evenly spread."""

_FARNEBACK = (
    "Farneback, Two-Frame Motion Estimation Based on Polynomial Expansion, SCIA 2003; as OpenCV "
    "computes it at a height of 384"
)


def _flow(name: str, says: str, **fixed: Any) -> MetricSpec:
    given = {
        "dimension": "temporal",
        "modality": "video",
        "unit": "1",
        "impl": f"{name}@1",
        "family": "flow",
        "extra": "flow",
        "source": _FARNEBACK,
        **fixed,
    }
    return MetricSpec(name=name, says=says, **given)


METRICS: tuple[MetricSpec, ...] = (
    _flow(
        "motion_mag",
        "mean length of the flow from a frame to the next, at the working size",
        unit="px/frame",
        direction="target",
        bounds=(0.0, None),
        note="pixels of a picture brought to at most 384 rows; frames that are equal read up to "
        "about 1e-3, the solver's noise, so less than that is none",
    ),
    _flow(
        "motion_mag_per_s",
        "the same per second of the clip",
        unit="px/s",
        direction="target",
        bounds=(0.0, None),
        note="unmeasured without time stamps",
    ),
    _flow(
        "motion_mag_share",
        "the same per frame, as a share of the picture's height",
        unit="1/frame",
        direction="target",
        bounds=(0.0, None),
        note="compares clips of different size",
    ),
    _flow(
        "flow_residual",
        "what the flow does not explain of a frame's change, over its contrast",
        direction="down",
        bounds=(0.0, None),
        note="the later frame is fetched along the flow; pairs with a flat frame are left out and "
        "counted; a change of brightness raises it like a change of shape",
    ),
    _flow(
        "unwarped_residual",
        "the whole change from a frame to the next, over its contrast",
        direction="target",
        bounds=(0.0, None),
        note="what flow_residual is to be read beside: motion times texture",
    ),
    _flow(
        "warp_error",
        "published flow-warp error: the earlier frame fetched against its motion",
        impl="warp_error@1+against_the_flow",
        direction="down",
        bounds=(0.0, None),
        source=f"{_FARNEBACK}; cozy-eval 0.7.6",
        note="kept to be compared with published numbers: it fetches the earlier frame at x + "
        "flow, which doubles the motion instead of removing it, so it mostly says how much a "
        "textured picture moves; judge by flow_residual. Pairs whose later frame is flat are "
        "left out",
    ),
    _flow(
        "flow_epe",
        "mean distance of the candidate's flow from the reference's, at the working size",
        unit="px/frame",
        direction="down",
        bounds=(0.0, None),
        paired=True,
        reference_only=True,
    ),
    _flow(
        "flow_divergence",
        "the same over the length of the reference's flow",
        direction="down",
        bounds=(0.0, None),
        paired=True,
        reference_only=True,
        note="unmeasured where the reference stands still",
    ),
    _flow(
        "motion_mag_ratio",
        "length of the candidate's flow over the reference's",
        direction="target",
        bounds=(0.0, None),
        target=1.0,
        paired=True,
        reference_only=True,
        note="does not tell over-smoothing from a render again; unmeasured where the reference "
        "stands still",
    ),
    _flow(
        "warp_error_delta",
        "warp_error of the candidate less the reference's",
        impl="warp_error_delta@1+against_the_flow",
        direction="target",
        target=0.0,
        paired=True,
        reference_only=True,
        source=f"{_FARNEBACK}; cozy-eval 0.7.6",
        note="see warp_error; judge by flow_residual_delta",
    ),
    _flow(
        "flow_residual_delta",
        "flow_residual of the candidate less the reference's",
        direction="target",
        target=0.0,
        paired=True,
        reference_only=True,
    ),
)
"""What is measured of a clip, then what is measured of a pair."""

PAIRED: dict[str, MetricSpec] = {spec.name: spec for spec in METRICS if spec.paired}
"""Those of a pair, by name."""

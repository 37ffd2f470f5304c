"""Scores of a pair, made of what a metric's specification says and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from screentest.metrics.facts import Score

if TYPE_CHECKING:
    from screentest.metrics.spec import MetricSpec

__all__ = ["score_of", "unmeasured_of", "worst_of"]


def score_of(
    spec: MetricSpec,
    value: float,
    *,
    impl: str = "",
    frames: int,
    identical_frames: int = 0,
    worst: tuple[float, int] | None = None,
    details: dict[str, Any] | None = None,
) -> Score:
    """The score of a metric that gave a number. ``impl`` is what the number depends on besides the
    specification's; ``worst`` a value and the candidate's frame."""
    identical = identical_frames == frames
    return Score(
        name=spec.name,
        value=value,
        state="identical" if identical else "measured",
        unit=spec.unit,
        impl=spec.impl + impl,
        direction=spec.direction,
        frames=frames,
        worst=None if worst is None or identical else worst[0],
        worst_frame=None if worst is None or identical else worst[1],
        identical_frames=identical_frames,
        details=details or {},
    )


def unmeasured_of(
    spec: MetricSpec, reason: str, *, impl: str = "", details: dict[str, Any] | None = None
) -> Score:
    """The score of a metric that gave no number."""
    return Score(
        name=spec.name,
        value=None,
        state="unmeasured",
        unit=spec.unit,
        impl=spec.impl + impl,
        direction=spec.direction,
        reason=reason,
        details=details or {},
    )


def worst_of(spec: MetricSpec, values: Sequence[float], frames: Sequence[int]) -> tuple[float, int]:
    """The worst of some values, by the metric's direction, and its frame; the first of equals."""
    if spec.direction == "up":
        bad = [-value for value in values]
    elif spec.direction == "down":
        bad = list(values)
    else:
        bad = [abs(value - (spec.target or 0.0)) for value in values]
    at = bad.index(max(bad))
    return values[at], frames[at]

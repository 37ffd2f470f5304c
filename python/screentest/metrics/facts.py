"""Shapes that every metric family shares."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

__all__ = ["Direction", "Score", "State", "Unmeasured"]

State: TypeAlias = Literal["measured", "identical", "unmeasured"]
Direction: TypeAlias = Literal["up", "down", "target"]


class Unmeasured(msgspec.Struct, frozen=True):
    """An axis that gave no number, and why. ``applies`` is false when the axis has no meaning for
    this material (a one-frame clip has no motion); then it does not decide a verdict."""

    axis: str
    reason: str
    applies: bool = True


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One number about a clip, or about a pair of them; ``(name, impl)`` says which, and different
    ``impl`` do not compare.

    ``state`` is ``"identical"`` where every sample that the metric reads is equal in both: then an
    infinite ``value`` (PSNR) is ``None``. ``"unmeasured"`` has a ``reason`` and no value.
    ``direction`` says which way is better. ``worst`` and ``worst_frame`` are the worst frame's
    value and its index in the clip (of a pair, in the candidate), ``None`` for a single pooled
    number or where every frame is identical. ``identical_frames`` of ``frames`` are equal; a mean
    in dB leaves them out. ``details`` holds what one metric alone has to say: levels, model,
    weights. :func:`screentest.metrics.identity.score` makes one of a registered metric.
    """

    name: str
    value: float | None
    state: State
    unit: str
    impl: str
    direction: Direction
    frames: int = 0
    worst: float | None = None
    worst_frame: int | None = None
    identical_frames: int = 0
    reason: str | None = None
    details: dict[str, Any] = {}

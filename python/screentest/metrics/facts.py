"""Shapes that every metric family shares."""

from __future__ import annotations

import msgspec

__all__ = ["Unmeasured"]


class Unmeasured(msgspec.Struct, frozen=True):
    """An axis that gave no number, and why. ``applies`` is false when the axis has no meaning for
    this material (a one-frame clip has no motion); then it does not decide a verdict."""

    axis: str
    reason: str
    applies: bool = True

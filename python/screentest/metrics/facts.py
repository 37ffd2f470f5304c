"""Shapes that every metric family shares."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["Unmeasured", "median"]


def median(values: NDArray[np.float64]) -> float:
    """The middle value, or the mean of the two middle ones. Not empty, no NaN.

    numpy's own takes 80 microseconds for five values, more than measuring a frame.

    >>> median(np.array([3.0, 1.0, 2.0])), median(np.array([4.0, 1.0, 2.0, 3.0]))
    (2.0, 2.5)
    """
    ordered = np.sort(values)
    count = len(ordered)
    return float((ordered[(count - 1) // 2] + ordered[count // 2]) / 2)


class Unmeasured(msgspec.Struct, frozen=True):
    """An axis that gave no number, and why. ``applies`` is false when the axis has no meaning for
    this material (a one-frame clip has no motion); then it does not decide a verdict."""

    axis: str
    reason: str
    applies: bool = True

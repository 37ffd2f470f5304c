"""Ratios of two clips' statistics, with a floor under each so that none divides by nothing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = [
    "DETAIL",
    "FLOORS",
    "IMAGING",
    "TONE",
    "Missing",
    "Pair",
    "Scalars",
    "imaging_log",
    "log_ratio",
    "median",
]

Scalars = Mapping[str, float]
"""Statistics of one clip by name."""

DETAIL = ("sharpness", "hf_ratio", "local_contrast")
TONE = ("contrast", "saturation", "detail_entropy")
IMAGING = (*DETAIL, *TONE)

FLOORS: Mapping[str, float] = {
    # Rounding R, G and B to 8 bits alone gives a variance of the Laplacian of 0.75.
    "sharpness": 1.0,
    # The same rounding as a share of the energy of a picture of contrast 0.15.
    "hf_ratio": 2e-5,
    # The same rounding again: its mean |hp| is 0.15 of 255 levels.
    "local_contrast": 5e-4,
    # One level of 255.
    "contrast": 0.004,
    # 1.3 levels between the largest and the smallest of R, G and B: what is left of grey after
    # 4:2:0 and back.
    "saturation": 0.005,
    # A picture that lies in one of the 64 bins but for one pixel in a hundred reads 0.08 bit.
    "detail_entropy": 0.1,
    # A linear fade has no second difference; 0.5 and more is what moving pictures read.
    "jerk_ratio": 0.05,
    # Percent. A rounding of the mean luma by an eighth of a level.
    "flicker": 0.05,
    # Moving pictures read 0.2 to 1.5; below this the high-passed luma stands still.
    "shimmer": 0.02,
    # 8-bit levels: the limit under which the verdict on tracks calls a clip frozen.
    "motion_energy": 0.05,
    # Clean pictures read up to 3.9, a lattice from 5.8 on.
    "grid_peak_ratio": 4.0,
}
"""Per statistic, the value below which two clips are told to be alike in it."""


class Pair(NamedTuple):
    """Statistics of the two clips of a prompt."""

    prompt: str
    reference: Scalars
    candidate: Scalars


class Missing(NamedTuple):
    """Why a pair has no value.

    Attributes:
        reason: for people.
        applies: whether there is something to measure that was not; else the reference has nothing
            of what is measured.
    """

    reason: str
    applies: bool


def log_ratio(name: str, pair: Pair) -> float:
    """ln of the candidate's statistic over the reference's, both floored."""
    floor = FLOORS[name]
    ours, theirs = max(pair.candidate[name], floor), max(pair.reference[name], floor)
    return math.log(ours) - math.log(theirs)


def median(logs: Iterable[float]) -> float:
    """Median of log-ratios: of an even number, the geometric mean of the middle two ratios."""
    return statistics.median(logs)


def imaging_log(logs: Mapping[str, float]) -> float:
    """ln of the imaging index: two thirds detail, one third tone, each a geometric mean."""
    detail = math.fsum(logs[name] for name in DETAIL) / len(DETAIL)
    tone = math.fsum(logs[name] for name in TONE) / len(TONE)
    return (2.0 * detail + tone) / 3.0

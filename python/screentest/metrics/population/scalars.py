"""One clip of an arm as plain numbers by name: all that the statistics of two arms are made of."""

from __future__ import annotations

import math
import statistics

import numpy as np

from screentest.errors import InputError, ProtocolError
from screentest.metrics.population.facts import ArmClip
from screentest.metrics.population.ratios import FLOORS
from screentest.metrics.signal.clip_score import ClipScore
from screentest.metrics.signal.facts import FEATURES

__all__ = [
    "FROZEN_SHARE_OF",
    "LARGEST",
    "as_arm_clip",
    "check_clip",
    "clip_scalars",
    "moving_level",
]

FROZEN_SHARE_OF = 0.05
"""A step stands still that moves less than this share of what the reference moves in a step."""

_TRACKS = ("corners", "track_stability", "stability_inside", "grid_peak_ratio")
LARGEST = 1e9
"""No statistic of a picture comes near it; beyond it a quotient might overflow."""


def as_arm_clip(given: ArmClip | ClipScore) -> ArmClip:
    """A clip with its score; a bare score says that nobody looked for tracks.

    Raises:
        ProtocolError: it is neither.
    """
    if isinstance(given, ArmClip):
        return given
    if isinstance(given, ClipScore):
        return ArmClip(score=given)
    raise ProtocolError(
        f"a {type(given).__name__} was given as a clip of an arm: expected an ArmClip or a "
        "ClipScore (score_clip makes one of a file)",
        code="bad_clip",
    )


def check_clip(clip: ArmClip, what: str) -> None:
    """Refuse a clip with numbers that no picture gives.

    Args:
        clip: of one arm.
        what: the words for it, e.g. ``"the candidate of 'a cat'"``.

    Raises:
        InputError: a number is NaN, infinite, negative or beyond any picture's, or an array has
            entries for another number of frames (``code="non_finite"``). The message names clip and
            frame.
    """
    score = clip.score
    named = f"{what} ({clip.source})" if clip.source else what
    if score.n_frames < 1:
        _refuse(f"{named} has {score.n_frames} frames; expected at least one")
    numbers = {**score.metrics(), "flat_frames": score.flat_frames}
    numbers |= {name: value for name in _TRACKS if (value := getattr(clip, name)) is not None}
    for name, value in numbers.items():
        if not 0.0 <= value <= LARGEST:
            _refuse(f"{named}: {name} is {value}; expected a number from 0 to {LARGEST:g}")
    for name, array, width in (("features", score.features, len(FEATURES)),
                               ("motion", score.motion, 1)):  # fmt: skip
        if not len(array):
            continue
        rows = array.reshape(len(array), -1)
        if rows.shape != (score.n_frames, width):
            _refuse(
                f"{named}: {name} of shape {array.shape}; expected none, or a row for each of its "
                f"{score.n_frames} frames"
            )
        wrong = np.flatnonzero(~(np.abs(rows) <= LARGEST).all(axis=1))
        if len(wrong):
            _refuse(f"{named}: {name} of frame {wrong[0]} are not finite numbers of a picture")


def _refuse(message: str) -> None:
    raise InputError(f"{message}; measure the clip again", code="non_finite")


def clip_scalars(clip: ArmClip, level: float | None) -> dict[str, float]:
    """The numbers of one clip; what was not measured is missing.

    Args:
        clip: checked by :func:`check_clip`.
        level: what the reference of the pair moves in a step (:func:`moving_level`), if known.
    """
    score = clip.score
    found: dict[str, float] = {
        "n_frames": score.n_frames,
        "width": score.width,
        "height": score.height,
        "flat_frames": score.flat_frames,
        **score.metrics(),
        "tracks_seen": float(clip.tracks_seen),
    }
    found |= {name: value for name in _TRACKS if (value := getattr(clip, name)) is not None}
    if level is not None and score.n_frames > 1 and len(score.motion):
        still = int((score.motion[1:] < FROZEN_SHARE_OF * level).sum())
        found["frozen_share"] = still / (score.n_frames - 1)
    if len(score.features):
        # Column by column in Python: the same bits on every processor.
        for name, column in zip(FEATURES, score.features.T.tolist(), strict=True):
            mean = math.fsum(column) / len(column)
            found[f"mean_{name}"] = mean
            found[f"var_{name}"] = math.fsum((v - mean) ** 2 for v in column) / len(column)
    return {name: float(value) for name, value in found.items()}


def moving_level(clip: ArmClip) -> float | None:
    """Median motion of the steps of a clip in which anything moves, in 8-bit levels; ``None``
    where the motion was not kept or nothing moves.

    A clip drawn on twos repeats every other frame: the median of all its steps would be nothing.
    """
    moving = [m for m in clip.score.motion[1:].tolist() if m >= FLOORS["motion_energy"]]
    return statistics.median(moving) if moving else None

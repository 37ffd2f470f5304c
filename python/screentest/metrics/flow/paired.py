"""The motion of a candidate beside its reference's: both flows of a pair of frames, in step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute
from screentest.errors import InputError
from screentest.metrics.facts import Score
from screentest.metrics.flow import opencv
from screentest.metrics.flow.ahead import Ahead
from screentest.metrics.flow.fields import PairMotion, dense_flow, mean_length, motion_of
from screentest.metrics.flow.names import PAIRED, PAIRS
from screentest.metrics.identity import score, worst_of
from screentest.metrics.sampling import Spread

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame
    from screentest.metrics.spec import MetricSpec

__all__ = ["STILL", "PairedFlow", "impl"]

STILL = 1e-3
"""Pixels per frame below which nothing moves: as much is the solver's noise."""


def impl(name: str) -> str:
    """Which version of a paired metric this installation gives."""
    return PAIRED[name].impl + _version()


class PairedFlow:
    """Flow metrics of a pair of clips, pushed pair by pair; an instrument of the comparison.

    Of the pairs of frames pushed, up to 24 are measured that are followed by the next frame in both
    clips; they are those that :class:`~screentest.metrics.flow.FlowAccumulator` reads of a clip.

    Args:
        names: paired metrics of the family.
        formats: of the reference and the candidate; their sizes must be equal.
        pairs: how many pairs of frames will come; ``None`` if that is not known.
        threads: pairs of neighbouring frames that are worked on side by side.

    Raises:
        InputError: the sizes differ; nothing is resized.
        MissingBackendError: OpenCV is not installed.
    """

    def __init__(
        self,
        names: Sequence[str],
        formats: tuple[FrameFormat, FrameFormat],
        *,
        pairs: int | None,
        threads: int = 1,
    ) -> None:
        sizes = [(format.width, format.height) for format in formats]
        if sizes[0] != sizes[1]:
            raise InputError(
                f"the clips' sizes differ: {sizes[0]} and {sizes[1]}; nothing is resized",
                code="size_mismatch",
            )
        opencv.load()
        self.names = tuple(names)
        self._formats = formats
        self._spread = Spread(PAIRS) if pairs is None else None
        self._starts = frozenset(_native.pair_starts(pairs or 0, PAIRS))
        self._expected = pairs
        self._position = 0
        self._held: _Held | None = None
        self._apart = 0
        self._found: list[tuple[int, int]] = []
        self._ahead: Ahead[_Both] = Ahead(threads)

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Takes one pair of frames."""
        position, self._position = self._position, self._position + 1
        frames = (reference, candidate)
        starts = self._is_start(position)
        held, self._held = self._held, None
        follows = held is not None and held.indices == (reference.index - 1, candidate.index - 1)
        self._apart += held is not None and not follows
        if not (starts or follows):
            return
        first, second = (
            _native.grey8(format, frame.planes, simd=compute.simd_level())
            for format, frame in zip(self._formats, frames, strict=True)
        )
        if held is not None and follows:
            self._found.append((held.position, held.indices[1]))
            self._ahead.add(partial(_both, held.greys, (first, second)))
        if starts:
            self._held = _Held(position, (reference.index, candidate.index), (first, second))

    def _is_start(self, position: int) -> bool:
        return (
            self._spread.keeps(position) if self._spread is not None else position in self._starts
        )

    def finish(self) -> tuple[list[Score], dict[str, NDArray[Any]]]:
        """The scores in the order of ``names``. There are no values for every pair of frames."""
        both = self._ahead.results()
        rows = [(frame, pair) for (_, frame), pair in zip(self._found, both, strict=True)]
        if self._spread is not None:
            ideal = _native.pair_starts(self._position, PAIRS)
            kept = set(self._spread.nearest(ideal, [position for position, _ in self._found]))
            rows = [
                row
                for row, (position, _) in zip(rows, self._found, strict=True)
                if position in kept
            ]
        format = self._formats[0]
        details = {
            "working_size": list(_native.working_size(format.width, format.height)),
            "pairs_not_neighbours": self._apart,
        }
        if rows:
            return [_score(PAIRED[name], rows, details) for name in self.names], {}
        if self._position < 2:
            has = "there is 1" if self._position == 1 else f"there are {self._position}"
            reason = f"needs 2 pairs of frames; {has}"
        else:
            reason = "no sampled frame is followed by the next one in both clips"
        details |= {"pairs": 0}
        return [_unmeasured(PAIRED[name], reason, details) for name in self.names], {}

    def close(self) -> None:
        """Ends the threads; may be called twice."""
        self._ahead.close()


@dataclass(frozen=True, slots=True)
class _Held:
    """The first frames of a pair whose next have yet to come."""

    position: int
    indices: tuple[int, int]
    greys: tuple[NDArray[np.uint8], NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class _Both:
    """What a pair of neighbouring frames shows in both clips. ``distance`` is the mean distance of
    the two flows; ``identical`` says that all four pictures are two."""

    reference: PairMotion
    candidate: PairMotion
    distance: float
    identical: bool


_Greys = tuple[NDArray[np.uint8], NDArray[np.uint8]]


def _both(first: _Greys, second: _Greys) -> _Both:
    with opencv.one_thread() as cv2:
        flows = [dense_flow(cv2, first[side], second[side]) for side in (0, 1)]
        reference, candidate = (
            motion_of(cv2, first[side], second[side], flows[side]) for side in (0, 1)
        )
    identical = all(np.array_equal(a, b) for a, b in (first, second))
    return _Both(reference, candidate, mean_length(flows[1] - flows[0]), identical)


# ------------------------------------------------------------------------------ from pair to score

_Row = tuple[int, _Both]
"""The candidate's frame that a pair begins with, and the pair."""


def _score(spec: MetricSpec, rows: list[_Row], details: dict[str, Any]) -> Score:
    if spec.name in _OVER_CONTRAST:
        return _over_contrast(spec, rows, details)
    return _of_flows(spec, rows, details)


_OVER_CONTRAST: dict[str, Callable[[PairMotion], float | None]] = {
    "warp_error_delta": lambda motion: motion.warp_error,
    "flow_residual_delta": lambda motion: motion.residual,
}


def _over_contrast(spec: MetricSpec, rows: list[_Row], details: dict[str, Any]) -> Score:
    """The mean difference of a number that a flat frame has not."""
    pick = _OVER_CONTRAST[spec.name]
    values, frames, identical = [], [], 0
    for frame, pair in rows:
        ours, theirs = pick(pair.candidate), pick(pair.reference)
        if ours is not None and theirs is not None:
            values.append(ours - theirs)
            frames.append(frame)
            identical += pair.identical
    details = {**details, "pairs": len(values), "pairs_flat": len(rows) - len(values)}
    if not values:
        reason = f"all {len(rows)} pairs hold a flat frame: there is nothing to follow"
        return _unmeasured(spec, reason, details)
    worst = worst_of(spec.name, values, frames)
    return _measured(spec, math.fsum(values) / len(values), len(values), identical, worst, details)


def _of_flows(spec: MetricSpec, rows: list[_Row], details: dict[str, Any]) -> Score:
    """Distance and length of the two flows."""
    count = len(rows)
    distances = [pair.distance for _, pair in rows]
    apart = math.fsum(distances) / count
    reference, reference_moves = _length([pair.reference for _, pair in rows])
    candidate, candidate_moves = _length([pair.candidate for _, pair in rows])
    details = {
        **details,
        "pairs": count,
        "motion_mag_reference": reference,
        "motion_mag_candidate": candidate,
    }
    identical = sum(pair.identical for _, pair in rows)
    worst = None
    if spec.name == "flow_epe":
        value, worst = apart, worst_of(spec.name, distances, [frame for frame, _ in rows])
    elif identical == count:
        # However little the two move, they move alike.
        value = 1.0 if spec.name == "motion_mag_ratio" else 0.0
    elif not reference_moves:
        reason = (
            f"the reference stands still ({reference:.1e} px/frame): there is no motion to "
            "compare with"
        )
        return _unmeasured(spec, reason, details)
    elif spec.name == "flow_divergence":
        value = apart / reference
    else:
        value = candidate / reference if candidate_moves else 0.0
    return _measured(spec, value, count, identical, worst, details)


def _length(motions: list[PairMotion]) -> tuple[float, bool]:
    """Mean length of some flows, and whether that is more than the solver's noise."""
    mean = math.fsum(motion.motion for motion in motions) / len(motions)
    return mean, mean >= STILL and not all(motion.still for motion in motions)


def _unmeasured(spec: MetricSpec, reason: str, details: dict[str, Any]) -> Score:
    return score(spec.name, None, reason=reason, impl_suffix=_version(), details=details)


def _measured(
    spec: MetricSpec,
    value: float,
    pairs: int,
    identical: int,
    worst: tuple[float, int] | None,
    details: dict[str, Any],
) -> Score:
    same = identical == pairs
    worst_value, worst_frame = (None, None) if worst is None or same else worst
    return score(
        spec.name,
        value,
        state="identical" if same else "measured",
        frames=pairs,
        worst=worst_value,
        worst_frame=worst_frame,
        identical_frames=identical,
        impl_suffix=_version(),
        details=details,
    )


def _version() -> str:
    version = opencv.version()
    return "" if version is None else f"+opencv-{version}"

"""Motion of frames as they come: the one way in which it is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute
from screentest.metrics.facts import Unmeasured
from screentest.metrics.flow import opencv
from screentest.metrics.flow.ahead import Ahead
from screentest.metrics.flow.facts import NAMES, FlowFacts, FlowSeries
from screentest.metrics.flow.fields import PairMotion, dense_flow, motion_of
from screentest.metrics.flow.names import IMPL, PAIRS
from screentest.metrics.ranges import SampleCheck
from screentest.metrics.sampling import Spread

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame
    from screentest.media.info import ClipInfo, Damage

__all__ = ["FlowAccumulator", "impl", "wanted_frames"]


def impl() -> str:
    """Which version of the numbers this installation gives."""
    version = opencv.version()
    return IMPL if version is None else f"{IMPL}+opencv-{version}"


def wanted_frames(frames: int) -> list[int]:
    """Display indices that a clip of so many frames is read at, ascending."""
    starts = _native.pair_starts(frames, PAIRS)
    return sorted({k for start in starts for k in (start, start + 1)})


class FlowAccumulator:
    """Takes frames as they come and keeps one grey picture and a few numbers per pair.

    Args:
        format: how the planes of every frame are read.
        frames: how many frames the clip has. If it is not known, the pairs are the nearest of up to
            48 evenly spaced ones.
        threads: pairs that are worked on side by side; it changes no bit of the facts.

    Without OpenCV it takes frames all the same, and its facts say what to install.
    """

    def __init__(self, format: FrameFormat, *, frames: int | None, threads: int = 1) -> None:
        self._format = format
        self._frames = frames
        self._spread = Spread(PAIRS) if frames is None else None
        self._starts = frozenset(_native.pair_starts(frames or 0, PAIRS))
        self._missing = opencv.missing()
        self._check = SampleCheck(format)
        self._ahead: Ahead[PairMotion] = Ahead(threads if self._missing is None else 1)
        self._pairs: list[_Pair] = []
        self._held: _Held | None = None
        self._read = 0
        self._last = -1

    def push_many(self, frames: Sequence[Frame]) -> None:
        """Takes the next frames, in display order. Of those that no pair needs nothing is read.

        Raises:
            MediaError: a sample is NaN or infinite, or leaves the range it is said to have.
            InputError: the planes do not fit the format.
        """
        for frame in frames:
            self._push(frame)

    def _push(self, frame: Frame) -> None:
        self._last = max(self._last, frame.index)
        starts = self._is_start(frame.index)
        held, self._held = self._held, None
        ends = held is not None and held.index + 1 == frame.index
        if self._missing is not None or not (starts or ends):
            return
        self._read += 1
        self._check.take(frame, _native.scan_samples(self._format, frame.planes))
        grey = _native.grey8(self._format, frame.planes, simd=compute.simd_level())
        if held is not None and ends:
            known = held.time_s is not None and frame.time_s is not None
            step = (frame.time_s or 0.0) - (held.time_s or 0.0) if known else math.nan
            self._pairs.append(_Pair(held.index, step))
            self._ahead.add(partial(_motion, held.grey, grey))
        if starts:
            self._held = _Held(frame.index, frame.time_s, grey)

    def _is_start(self, index: int) -> bool:
        return self._spread.keeps(index) if self._spread is not None else index in self._starts

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> FlowFacts:
        """The facts of the frames pushed.

        Raises:
            MediaError: the values cannot have the range they are said to.
        """
        self._check.finish()
        motions = self._ahead.results()
        frames = self._last + 1 if self._frames is None else self._frames
        chosen = _native.pair_starts(frames, PAIRS)
        if self._spread is not None:
            chosen = self._spread.nearest(chosen, [pair.start for pair in self._pairs])
        among = set(chosen)
        kept = [
            (pair, motion)
            for pair, motion in zip(self._pairs, motions, strict=True)
            if pair.start in among
        ]
        series = _series(kept)
        width, height = _native.working_size(self._format.width, self._format.height)
        means = _means(series, height)
        return FlowFacts(
            impl=impl(),
            clip=clip,
            damage=tuple(damage),
            working_width=width,
            working_height=height,
            frames=frames,
            frames_read=self._read,
            pairs=len(kept),
            pairs_flat=int(np.isnan(series.flow_residual).sum()),
            pairs_unread=0 if self._missing is not None else len(chosen) - len(kept),
            **means,
            series=series,
            unmeasured=self._unmeasured(means, frames, len(kept)),
        )

    def _unmeasured(
        self, means: dict[str, float | None], frames: int, pairs: int
    ) -> tuple[Unmeasured, ...]:
        gaps = []
        for name in NAMES:
            if means[name] is not None:
                continue
            applies = frames > 1
            if self._missing is not None:
                reason = self._missing
            elif not applies:
                reason = "needs 2 frames; this is one"
            elif not pairs:
                reason = "no two neighbouring frames could be read"
            elif name == "motion_mag_per_s":
                reason = "there are no time stamps: say frame_rate="
            else:
                reason = f"all {pairs} pairs hold a flat frame: there is nothing to follow"
            gaps.append(Unmeasured(name, reason, applies=applies))
        return tuple(gaps)


@dataclass(frozen=True, slots=True)
class _Held:
    """The first frame of a pair whose second has yet to come."""

    index: int
    time_s: float | None
    grey: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair by its first frame, and the seconds to its second (NaN without time stamps)."""

    start: int
    step_s: float


def _motion(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> PairMotion:
    with opencv.one_thread() as cv2:
        return motion_of(cv2, first, second, dense_flow(cv2, first, second))


def _series(pairs: list[tuple[_Pair, PairMotion]]) -> FlowSeries:
    def column(pick: Callable[[PairMotion], float | None]) -> NDArray[np.float64]:
        values = [pick(motion) for _, motion in pairs]
        return np.array([math.nan if v is None else v for v in values], dtype=np.float64)

    return FlowSeries(
        start=np.array([pair.start for pair, _ in pairs], dtype=np.int64),
        step_s=np.array([pair.step_s for pair, _ in pairs], dtype=np.float64),
        motion_mag=column(lambda motion: motion.motion),
        flow_residual=column(lambda motion: motion.residual),
        unwarped_residual=column(lambda motion: motion.unwarped),
        warp_error=column(lambda motion: motion.warp_error),
    )


def _means(series: FlowSeries, height: int) -> dict[str, float | None]:
    def mean(values: NDArray[np.float64]) -> float | None:
        there = values[~np.isnan(values)]
        return math.fsum(there) / len(there) if len(there) else None

    motion = mean(series.motion_mag)
    seconds = math.fsum(series.step_s)
    rate = math.fsum(series.motion_mag) / seconds if seconds > 0 else None
    return {
        "motion_mag": motion,
        "motion_mag_per_s": rate,
        "motion_mag_share": None if motion is None else motion / height,
        "flow_residual": mean(series.flow_residual),
        "unwarped_residual": mean(series.unwarped_residual),
        "warp_error": mean(series.warp_error),
    }

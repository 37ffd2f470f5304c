"""Detail of frames as they come: the one way in which it is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.metrics.detail.facts import FLAT_STD, NAMES, DetailFacts, DetailSeries
from screentest.metrics.detail.names import FRAMES, IMPL
from screentest.metrics.facts import Unmeasured
from screentest.metrics.ranges import SampleCheck
from screentest.metrics.sampling import Spread, strip

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame
    from screentest.media.info import ClipInfo, Damage

__all__ = ["DetailAccumulator", "FrameDetail", "check_frames"]


def check_frames(count: object) -> int:
    """How many frames to read, refused unless it is a whole number of at least 1."""
    if type(count) is not int or count < 1:
        raise InputError(
            f"frames={count!r}: expected a whole number of at least 1",
            code="bad_frames",
            frames=repr(count),
        )
    return count


class FrameDetail:
    """Measures single frames of one format, and checks their samples."""

    def __init__(self, format: FrameFormat, *, threads: int) -> None:
        self._kernel = _native.DetailKernel(format, threads=threads, simd=compute.simd_level())
        self.check = SampleCheck(format)

    def measure(self, frame: Frame) -> dict[str, float]:
        """The numbers of a frame; ``edge_overshoot`` is NaN where no edge stands out.

        Raises:
            MediaError: a sample is NaN or infinite, or leaves the range it is said to have.
        """
        found, scan = self._kernel.measure(frame.planes)
        self.check.take(frame, scan)
        overshoot = found["edge_overshoot"]
        if found["luma_std"] < FLAT_STD or not found["band_pixels"]:
            overshoot = math.nan
        return {
            "edge_overshoot": overshoot,
            "edge_strength": found["edge_strength"],
            "edge_density": found["edge_density"],
            "texture_residual": found["texture_residual"],
            "luma_std": found["luma_std"],
        }


class DetailAccumulator:
    """Takes frames as they come and keeps a few numbers of those that are read.

    Args:
        format: how the planes of every frame are read.
        frames: how many frames the clip has. If it is not known, the frames read are the nearest of
            up to twice as many evenly spaced ones.
        count: how many frames are read, evenly spread, the first and the last among them.
        threads: threads of the kernel; they change no bit of the facts.
    """

    def __init__(
        self, format: FrameFormat, *, frames: int | None, count: int = FRAMES, threads: int = 1
    ) -> None:
        self._count = check_frames(count)
        self._frames = frames
        self._spread = Spread(count) if frames is None else None
        self._wanted = frozenset(strip(frames or 0, count))
        self._detail = FrameDetail(format, threads=threads)
        self._rows: list[tuple[int, dict[str, float]]] = []
        self._last = -1

    def push_many(self, frames: Sequence[Frame]) -> None:
        """Takes the next frames, in display order. What the strip leaves out is not read.

        Raises:
            MediaError: a sample is NaN or infinite, or leaves the range it is said to have.
            InputError: the planes do not fit the format.
        """
        for frame in frames:
            self._last = max(self._last, frame.index)
            if self._reads(frame.index):
                self._rows.append((frame.index, self._detail.measure(frame)))

    def _reads(self, index: int) -> bool:
        return self._spread.keeps(index) if self._spread is not None else index in self._wanted

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> DetailFacts:
        """The facts of the frames pushed.

        Raises:
            MediaError: no frame was read, or the values cannot have the range they are said to.
        """
        if not self._rows:
            raise MediaError(f"{clip.source}: no frames", code="no_frames")
        self._detail.check.finish()
        rows, frames = self._rows, self._frames
        if self._spread is not None:
            frames = self._last + 1
            kept = set(self._spread.nearest(strip(frames, self._count)))
            rows = [row for row in rows if row[0] in kept]
        columns = {name: np.array([row[name] for _, row in rows]) for name in rows[0][1]}
        series = DetailSeries(index=np.array([i for i, _ in rows], dtype=np.int64), **columns)
        means = {name: _mean(columns[name]) for name in NAMES}
        none = f"in none of {len(rows)} frames"
        reasons = {
            "edge_overshoot": f"{none} does an edge stand out of a picture that is not flat",
            "texture_residual": f"{none} is there a pixel off the edges",
        }
        return DetailFacts(
            impl=IMPL,
            clip=clip,
            damage=tuple(damage),
            frames=frames or 0,
            frames_read=len(rows),
            frames_without_edges=int(np.isnan(series.edge_overshoot).sum()),
            **means,
            series=series,
            unmeasured=tuple(
                Unmeasured(name, reason) for name, reason in reasons.items() if means[name] is None
            ),
        )


def _mean(values: NDArray[np.float64]) -> float | None:
    there = values[~np.isnan(values)]
    return math.fsum(there) / len(there) if len(there) else None

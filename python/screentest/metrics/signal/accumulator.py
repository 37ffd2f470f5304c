"""Signal statistics of frames as they come."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.media.clip import Array, Frame
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.ranges import refuse_samples, refuse_unlikely_range
from screentest.metrics.signal.facts import SignalFacts, SignalSeries
from screentest.metrics.signal.pooling import pool_signal

__all__ = ["SignalAccumulator"]


class SignalAccumulator:
    """Takes every frame of a clip in display order and keeps some thirty numbers of each.

    Args:
        format: how the planes of every frame are read.
        features: ``False`` takes luma and its changes alone, at a tenth of the cost.
        threads: threads of the kernels.

    Memory is five planes of luma (three without features), the spectrum of a frame per thread, and
    200 bytes per frame.
    """

    def __init__(
        self, format: _native.FrameFormat, *, features: bool = True, threads: int = 1
    ) -> None:
        self._format = format
        self._features = features
        self._native = _native.SignalAccumulator(
            format, features=features, threads=threads, simd=compute.simd_level()
        )
        # Eight bytes a frame each, where a list of Python's numbers takes forty.
        self._indices = array("q")
        self._times = array("d")
        self._timed = True
        self._last: tuple[Array, ...] | None = None

    def push(self, frame: Frame) -> None:
        """Measures one frame; see :meth:`push_many`."""
        self.push_many([frame])

    def push_many(self, frames: Sequence[Frame]) -> None:
        """Measures the next frames, side by side. How they are cut into calls changes no bit.

        Raises:
            MediaError: a sample is NaN or infinite (``code="non_finite"``), or lies outside the
                range that the samples are said to have; nothing is kept of any of the frames.
            InputError: the planes do not fit the format.
        """
        if not frames:
            return
        try:
            self._native.push_many([frame.planes for frame in frames])
        except InputError as error:
            if error.code in ("non_finite", "out_of_range"):
                refuse_samples(self._format, frames)
            raise
        self._indices.extend(frame.index for frame in frames)
        self._timed = self._timed and all(frame.time_s is not None for frame in frames)
        if self._timed:
            self._times.extend(frame.time_s or 0.0 for frame in frames)
        if self._format.value_range is not None:
            self._last = tuple(plane.copy() for plane in frames[-1].planes)

    def series(self) -> SignalSeries:
        """The numbers of the frames taken so far."""
        columns = self._native.series()
        return SignalSeries(
            index=np.array(self._indices, np.int64),
            time_s=np.array(self._times, np.float64) if self._timed else None,
            **columns,
        )

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> SignalFacts:
        """The facts of the frames taken.

        Raises:
            MediaError: there was none, or the values cannot have the range they are said to have.
        """
        if not self._indices:
            raise MediaError(f"{clip.source}: no frames to measure", code="no_frames")
        refuse_unlikely_range(self._format, self._native.value_extremes, self._last)
        return pool_signal(self.series(), clip, damage, features=self._features)

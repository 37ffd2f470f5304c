"""Facts of frames as they come: the one way in which they are measured."""

from __future__ import annotations

import math
import statistics
from array import array
from collections.abc import Sequence

import numpy as np

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.media.clip import Frame
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.integrity.candidates import Known, Thinned, sampled_frames
from screentest.metrics.integrity.facts import (
    Depth,
    FrameSeries,
    GridLine,
    IntegrityFacts,
    unmeasured_axes,
)
from screentest.metrics.integrity.names import IMPL
from screentest.metrics.ranges import refuse_samples, refuse_unlikely_range

__all__ = ["IntegrityAccumulator"]


class IntegrityAccumulator:
    """Takes frames as they come and keeps a few numbers of each; :meth:`finish` gives the facts.

    Args:
        format: how the planes of every frame are read.
        frames: how many frames the clip has. If it is not known, the sampled pairs are the nearest
            of up to 32 evenly spaced ones, and the facts say which they were.
        depth: ``"full"``, or ``"sampled"`` to be fed :meth:`sampled_frames` alone.
        threads: threads of the kernels.
        reused_buffers: frames may lie in memory that is overwritten before the next push.

    Memory is the first and the last frame, a small luma plane, two sums of gradients per candidate
    frame and 96 bytes per frame.
    """

    def __init__(
        self,
        format: _native.FrameFormat,
        *,
        frames: int | None,
        depth: Depth = "full",
        threads: int = 1,
        reused_buffers: bool = False,
    ) -> None:
        if depth == "sampled" and frames is None:
            raise InputError(
                'depth="sampled" needs the number of frames: give frames=', code="frames_missing"
            )
        self.depth: Depth = depth
        self._format = format
        self._native = _native.IntegrityAccumulator(
            format, threads=threads, simd=compute.simd_level()
        )
        self._candidates: Known | Thinned = (
            Thinned(self._native) if frames is None else Known(frames)
        )
        self._frames = frames
        self._times = array("d")
        self._timed = True
        self._first: Frame | None = None
        self._moved = 0.0
        self._previous: Frame | None = None
        self._reused_buffers = reused_buffers
        self._own_frames = False

    def sampled_frames(self) -> list[int]:
        """Display indices that the sampled axes read, ascending."""
        return sampled_frames(self._frames or 0)

    def push(self, frame: Frame) -> None:
        """Measures one frame. Frames come in display order; a gap starts a new run.

        Raises:
            MediaError: a value lies outside the range that the samples are said to have.
            InputError: the planes do not fit the format.
        """
        if self._reused_buffers:
            frame = self._owned(frame)
        self.push_many([frame])

    def push_many(self, frames: Sequence[Frame]) -> None:
        """Measures frames side by side. Their memory must stay as it is until the next push.

        Raises:
            MediaError: as :meth:`push`.
            InputError: as :meth:`push`; nothing is kept of any of the frames.
        """
        previous = self._previous
        adjacent = previous is not None and previous.index + 1 == frames[0].index
        full = self.depth == "full"
        batch = [
            (
                frame.index,
                frame.planes,
                self._candidates.keeps(frame.index),
                self._candidates.is_start(frame.index - 1),
                full,
            )
            for frame in frames
        ]
        before = previous.planes if adjacent and previous is not None else None
        counted = self._native.push_many(batch, before)
        for frame, (non_finite, outside) in zip(frames, counted, strict=True):
            # A frame with a NaN often holds wild values beside it; the NaN is the finding.
            if outside and not non_finite and not self._native.non_finite_samples:
                refuse_samples(self._format, [frame])
            self._timed = self._timed and frame.time_s is not None
            if self._timed:
                self._times.append(frame.time_s or 0.0)
            self._previous = frame
            if self._first is None:
                self._first = _copied(frame) if self._reused_buffers else frame
            # A loop comes back to where it began, so frames on the way are asked too.
            elif full and frame.index & (frame.index - 1) == 0:
                self._moved = max(self._moved, self._change_from_first() or 0.0)

    def _owned(self, frame: Frame) -> Frame:
        """A copy of a frame whose memory the caller reuses, once that shows."""
        previous = self._previous
        if previous is not None and not self._own_frames:
            self._own_frames = np.may_share_memory(previous.planes[0], frame.planes[0])
            if self._own_frames:
                # What was there is gone; of the first frame there is a copy.
                first = self._first
                kept = first is not None and first.index == previous.index
                self._previous = first if kept else None
        return _copied(frame) if self._own_frames else frame

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> IntegrityFacts:
        """The facts of the frames pushed.

        Raises:
            MediaError: no frame was pushed, or the values cannot have the range they are said to.
        """
        raw = self._native.series()
        read = len(raw["index"])
        if read == 0:
            raise MediaError(f"{clip.source}: no frames", code="no_frames")
        if not self._native.non_finite_samples:
            last = None if self._previous is None else self._previous.planes
            refuse_unlikely_range(self._format, self._native.value_extremes, last)
        times = np.array(self._times, np.float64) if self._timed else None
        series = FrameSeries(time_s=times, **raw)
        frames = int(series.index[-1]) + 1 if self._frames is None else self._frames
        # Plain lists: for the five pairs of a sampled screen numpy costs more than the kernels.
        position = {index: at for at, index in enumerate(series.index.tolist())}
        wanted = self._candidates.starts(frames)
        read_pairs = [(k, position[k + 1]) for k in wanted if k + 1 in position]
        pairs = [(k, at, float(series.corr[at])) for k, at in read_pairs]
        pairs = [pair for pair in pairs if math.isfinite(pair[2])]
        starts = [k for k, _, _ in pairs]
        corr = [value for _, _, value in pairs]
        aligned = [float(series.corr_aligned[at]) for _, at, _ in pairs]
        grid_frames = [k for k in wanted if k in position]
        grid = self._native.grid(grid_frames) if grid_frames else None
        peak, repeated = (None, None) if grid is None else map(_line, grid)
        # Of a clip without a pair, whatever was read.
        ends = [at for _, at, _ in pairs]
        stds = series.luma_std[[*ends, *(at - 1 for at in ends)]] if pairs else series.luma_std
        return IntegrityFacts(
            impl=IMPL,
            clip=clip,
            damage=tuple(damage),
            depth=self.depth,
            frames=frames,
            frames_read=read,
            adjacent_frame_corr=statistics.median(corr) if starts else None,
            adjacent_frame_corr_aligned=statistics.median(aligned) if starts else None,
            corr_starts=tuple(starts),
            corr_series=tuple(corr),
            corr_aligned_series=tuple(aligned),
            frame_std_min=float(stds.min()),
            grid_peak_ratio=None if peak is None else peak.ratio,
            grid_period_px=None if peak is None else peak.period_px,
            grid_axis=None if peak is None else peak.axis,
            grid_phase_px=None if peak is None else peak.phase_px,
            grid_line=repeated,
            first_frame_change=self._first_frame_change(),
            grid_frames=tuple(grid_frames) if grid else (),
            non_finite_samples=self._native.non_finite_samples,
            non_finite_frames=tuple(self._native.non_finite_runs),
            non_finite_first=self._native.first_non_finite,
            series=series,
            unmeasured=unmeasured_axes(
                depth=self.depth,
                frames=frames,
                frames_read=read,
                size=(self._format.width, self._format.height),
                has_pairs=bool(starts),
                has_grid=grid is not None,
            ),
        )

    def _first_frame_change(self) -> float | None:
        at_the_end = self._change_from_first()
        return None if at_the_end is None else max(self._moved, at_the_end)

    def _change_from_first(self) -> float | None:
        """Compares the last frame pushed with the first, if little moved from frame to frame."""
        first, last = self._first, self._previous
        if self.depth == "sampled" or first is None or last is None or first is last:
            return None
        changes = self._native.series()["change"][1:]
        if not (changes < _native.INTEGRITY_CONFIRM_BELOW).all():
            return None
        ends = _native.IntegrityAccumulator(self._format, simd=compute.simd_level())
        ends.push(0, first.planes)
        ends.push(1, last.planes, first.planes, change=True)
        return float(ends.series()["change"][1])


def _line(line: tuple[float, float, float, float, str]) -> GridLine:
    ratio, period_px, phase_px, amplitude_levels, axis = line
    return GridLine(
        ratio=ratio,
        period_px=period_px,
        phase_px=phase_px,
        amplitude_levels=amplitude_levels,
        axis="y" if axis == "y" else "x",
    )


def _copied(frame: Frame) -> Frame:
    planes = tuple(plane.copy() for plane in frame.planes)
    return Frame(frame.index, frame.time_s, planes, frame.corrupt)

"""When something happens in the picture: how much of each frame is suddenly new."""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass

import numpy as np

from screentest import _native, compute
from screentest.media.clip import Array, Frame
from screentest.metrics.ranges import SampleCheck
from screentest.metrics.sync.cuts import CutFinder

__all__ = ["Picture", "PictureOnsets"]

# A cell is compared with what it was over the last quarter second and the last second: what comes
# back within half of that is no event, so a flash begins and does not end.
_SHORT_S, _LONG_S = 0.25, 1.0
# At low frame rates these hold hardly a frame, and three of which one is the flash have a median.
_LEAST = 5
# Motion that was there a tenth of a second ago, here or in a cell beside it, is no event.
_MOTION_S = 0.1
_AGAIN = 2.0
_LEAST_MOTION = 2
# Grids are in whole steps of a sixteenth of an 8-bit level, so that sums of them are exact.
_LEVEL = 16.0
# Coding noise and the steps of a slow fade move the mean of a cell by no more than two levels.
_FLOOR = 2 * _LEVEL
# Cells along the longer side, at most: an event of a thirtieth of the picture fills one.
_CELLS = 32


@dataclass(frozen=True, slots=True)
class Picture:
    """What the frames of a clip say.

    Attributes:
        time_s: when each frame is shown; ``None`` if one has no time stamp.
        rise: how much is suddenly new in each frame: levels summed over the cells.
        new: how much is new in it at all, sudden or not, in the same unit.
        cuts_s: when the cuts are; their frames have nothing new.
        frames: how many were read.
    """

    time_s: Array | None
    rise: Array
    new: Array
    cuts_s: tuple[float, ...]
    frames: int


class PictureOnsets:
    """Takes every frame of a clip in display order; memory is a second of small grids.

    Each frame is reduced to the mean luma of about 32 x 18 cells. What is new in a cell is the
    lesser of its changes from the frame before and from what it was lately (the medians of a
    quarter second and of a second), so that an object that goes as it came is one event and not
    two. Of that counts what exceeds the last tenth of a second in this cell and the eight around
    it: an object that passes from cell to cell and a camera that pans are always new, and never
    suddenly. The rise is summed over the cells, so nothing that happens elsewhere cancels it.
    """

    def __init__(self, format: _native.FrameFormat) -> None:
        self._format = format
        self._check = SampleCheck(format)
        self._recent: deque[tuple[float, Array]] = deque()
        self._moved: deque[tuple[float, Array]] = deque()
        self._cuts = CutFinder()
        self._times = array("d")
        self._rises = array("d")
        self._news = array("d")
        self._frames = 0
        self._timed = True

    def push(self, frame: Frame) -> None:
        """Takes the next frame.

        Raises:
            MediaError: a sample is NaN, infinite, or out of the range that was said.
            InputError: the planes do not fit the format.
        """
        self._check.take(frame, _native.scan_samples(self._format, frame.planes))
        self._frames += 1
        if frame.time_s is None:
            self._timed = False
        if not self._timed:
            return
        now = float(frame.time_s or 0.0)
        grid = _pooled(
            _native.pairing_signature(self._format, frame.planes, simd=compute.simd_level())
        )
        self._times.append(now)
        rise, new = self._compared(now, grid)
        self._rises.append(rise)
        self._news.append(new)

    def finish(self) -> Picture:
        """What the frames so far say.

        Raises:
            MediaError: the values cannot have the range they are said to have.
        """
        self._check.finish()
        rise, new = np.array(self._rises, np.float64), np.array(self._news, np.float64)
        cuts = self._cuts.finish()
        for index, _ in cuts:
            # The frame after it is still unlike what was there before.
            rise[index : index + 2] = new[index : index + 2] = 0.0
        return Picture(
            time_s=np.array(self._times, np.float64) if self._timed else None,
            rise=rise,
            new=new,
            cuts_s=tuple(time for _, time in cuts),
            frames=self._frames,
        )

    def _compared(self, now: float, grid: Array) -> tuple[float, float]:
        """How much of a grid is suddenly new, and how much is new at all."""
        if not self._recent:
            self._recent.append((now, grid))
            self._cuts.take(now, grid, None)
            return 0.0, 0.0
        change = np.abs(grid - self._recent[-1][1])
        self._cuts.take(now, grid, change)
        fresh = np.zeros_like(grid)
        lively = change > _FLOOR
        if lively.any():
            fresh[lively] = np.minimum(change[lively], self._departure(now, grid, lively)) - _FLOOR
            np.maximum(fresh, 0.0, out=fresh)
        rise = 0.0
        # Of the first change it is not known whether it was going on before.
        if self._moved:
            before = np.max([moved for _, moved in self._moved], axis=0)
            rise = float(np.maximum(fresh - _AGAIN * _spread(before), 0.0).sum())
        self._keep(now, grid, fresh)
        return rise / _LEVEL, float(fresh.sum()) / _LEVEL

    def _departure(self, now: float, grid: Array, lively: Array) -> Array:
        """How far the lively cells are from what they were lately."""
        past = np.stack([g[lively] for _, g in self._recent])
        short = sum(t >= now - _SHORT_S for t, _ in self._recent)
        short = min(len(past), max(short, _LEAST))
        here = grid[lively]
        from_short = np.abs(here - np.median(past[-short:], axis=0))
        from_long = np.abs(here - np.median(past, axis=0))
        least: Array = np.minimum(from_short, from_long)
        return least

    def _keep(self, now: float, grid: Array, fresh: Array) -> None:
        self._recent.append((now, grid))
        self._moved.append((now, fresh))
        for queue, span, least in (
            (self._recent, _LONG_S, _LEAST),
            (self._moved, _MOTION_S, _LEAST_MOTION),
        ):
            while len(queue) > least and queue[0][0] < now - span:
                queue.popleft()


def _pooled(signature: Array) -> Array:
    """The signature in cells of 2 x 2 blocks where it has many, rounded down to whole steps; an odd
    last row or column goes with the one before it."""
    grid = signature.astype(np.int64)
    if max(grid.shape) <= _CELLS:
        return grid.astype(np.float64)
    count = np.ones((1, 1), np.int64)
    for axis in (0, 1):
        size = grid.shape[axis]
        starts = np.arange(0, max(1, size - 1), 2)
        grid = np.add.reduceat(grid, starts, axis=axis)
        sizes = np.diff(np.append(starts, size))
        count = count * (sizes[:, None] if axis == 0 else sizes[None, :])
    return (grid // count).astype(np.float64)


def _spread(grid: Array) -> Array:
    """The largest of each cell and the eight around it."""
    for axis in (0, 1):
        wide = grid.copy()
        first = [slice(None), slice(None)]
        last = [slice(None), slice(None)]
        first[axis], last[axis] = slice(1, None), slice(None, -1)
        one, other = tuple(first), tuple(last)
        np.maximum(wide[one], grid[other], out=wide[one])
        np.maximum(wide[other], grid[one], out=wide[other])
        grid = wide
    return grid

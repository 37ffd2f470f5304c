"""Cuts: most of the picture becomes another one, at once and for good."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from screentest.media.clip import Array

__all__ = ["CutFinder"]

# A cell changed if its mean luma moved by eight 8-bit levels, of which grids hold sixteenths; a cut
# changes half of the cells.
_CHANGED = 8 * 16.0
_SHARE = 0.5
# What was before and what follows is looked at for this long: a flash is over by then.
_AROUND_S = 0.25
# Light that goes on leaves the pattern of the picture as it was.
_ALIKE = 0.5
# A camera that swings changes the picture before and after; a cut is this many times that.
_ABRUPT = 2.0


@dataclass(slots=True)
class _Candidate:
    index: int
    time_s: float
    size: float
    moving: float
    before: Array
    grids: list[Array] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)


class CutFinder:
    """Takes the grids of a clip's frames as they come, and says which begin another shot."""

    def __init__(self) -> None:
        self._index = 0
        self._open: list[_Candidate] = []
        self._cuts: list[tuple[int, float]] = []
        self._recent: deque[tuple[float, Array, float]] = deque()

    def take(self, time_s: float, grid: Array, change: Array | None) -> None:
        """The next frame, with its change from the one before."""
        size = 0.0 if change is None else float(change.mean())
        for one in self._open:
            one.grids.append(grid)
            one.changes.append(size)
        while self._open and time_s >= self._open[0].time_s + _AROUND_S:
            self._settle(self._open.pop(0))
        if change is not None and (change > _CHANGED).mean() >= _SHARE:
            before = np.median([grid for _, grid, _ in self._recent], axis=0)
            # The first frame has no change.
            sizes = [size for _, _, size in self._recent if size]
            moving = float(np.median(sizes)) if sizes else 0.0
            self._open.append(_Candidate(self._index, time_s, size, moving, before, [grid]))
        self._recent.append((time_s, grid, size))
        while len(self._recent) > 1 and self._recent[0][0] < time_s - _AROUND_S:
            self._recent.popleft()
        self._index += 1

    def finish(self) -> list[tuple[int, float]]:
        """Index and time of the first frame of each shot but the first."""
        while self._open:
            self._settle(self._open.pop(0))
        return self._cuts

    def _settle(self, one: _Candidate) -> None:
        after = np.median(np.stack(one.grids), axis=0)
        lasting = (np.abs(after - one.before) > _CHANGED).mean() >= _SHARE
        following = float(np.median(one.changes)) if one.changes else 0.0
        abrupt = one.size >= _ABRUPT * max(one.moving, following)
        if lasting and abrupt and _likeness(one.before, after) < _ALIKE:
            self._cuts.append((one.index, one.time_s))


def _likeness(a: Array, b: Array) -> float:
    """Correlation of two grids; 1 where both are flat, 0 where one of them is."""
    a, b = a - a.mean(), b - b.mean()
    flat = [float(np.abs(grid).max()) < _CHANGED for grid in (a, b)]
    if any(flat):
        return float(all(flat))
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))

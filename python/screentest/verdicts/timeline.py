"""Where in a clip: runs of frames, their times as shown, and how a sentence names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from screentest.media.info import ClipInfo

__all__ = ["Timed", "Timeline", "listed", "percent", "plural", "runs_of", "stretches"]


class Stamped(Protocol):
    """A number per frame with the frame's index and time."""

    @property
    def index(self) -> npt.NDArray[np.int64]: ...
    @property
    def time_s(self) -> npt.NDArray[np.float64] | None: ...


class Timed(Protocol):
    """Facts of a clip that keep a series of its frames."""

    @property
    def clip(self) -> ClipInfo: ...
    @property
    def series(self) -> Stamped: ...


def runs_of(mask: npt.NDArray[np.bool_], index: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Inclusive (first, last) positions of the runs of true entries.

    A run ends where the display index jumps, since nobody looked at the frames between.

    >>> list(runs_of(np.array([True, True, False, True]), np.array([0, 1, 2, 3])))
    [(0, 1), (3, 3)]
    >>> list(runs_of(np.array([True, True]), np.array([0, 7])))
    [(0, 0), (1, 1)]
    """
    positions = np.flatnonzero(mask)
    if not len(positions):
        return
    broken = (np.diff(positions) != 1) | (np.diff(index[positions]) != 1)
    cuts = np.flatnonzero(broken)
    starts = positions[np.concatenate(([0], cuts + 1))]
    ends = positions[np.concatenate((cuts, [len(positions) - 1]))]
    yield from zip(starts.tolist(), ends.tolist(), strict=True)


class Timeline:
    """Frame indices as seconds: the file's stamps, else the stated rate, else unknown."""

    def __init__(self, facts: Timed) -> None:
        series = facts.series
        self._index = np.asarray(series.index, dtype=np.int64)
        self._rate = facts.clip.frame_rate or None
        self._stamps: npt.NDArray[np.float64] | None = None
        if series.time_s is not None and len(series.time_s) == len(self._index):
            stamps = np.asarray(series.time_s, dtype=np.float64)
            if bool(np.isfinite(stamps).all()):
                self._stamps = stamps

    @property
    def has_time(self) -> bool:
        """Whether seconds are known at all."""
        return self._rate is not None or (self._stamps is not None and len(self._stamps) > 1)

    def span(self, first: int, last: int) -> tuple[float, float] | None:
        """(start, end) in seconds of frames ``first..last`` as shown, ``None`` without time.

        The end is when the next frame appears; for the clip's last frame, one frame later.
        """
        start, end = self._start_of(first), self._start_of(last + 1)
        if start is None:
            return None
        if end is None or end < start:
            last_start = self._start_of(last)
            held = self._frame_s()
            if last_start is None or held is None:
                return None
            end = last_start + held
        # Stamps are fractions of a clock; a microsecond says all that a person or a seek needs.
        return (round(start, 6), round(end, 6))

    def duration(self, first: int, last: int) -> float | None:
        """How long frames ``first..last`` are on screen, in seconds."""
        span = self.span(first, last)
        return None if span is None else span[1] - span[0]

    def _start_of(self, frame: int) -> float | None:
        if self._stamps is None:
            return None if self._rate is None else frame / self._rate
        position = int(np.searchsorted(self._index, frame))
        if position < len(self._index) and self._index[position] == frame:
            return float(self._stamps[position])
        return None

    def _frame_s(self) -> float | None:
        if self._stamps is not None and len(self._stamps) > 1:
            # The median step, not the last one: a hold at the end must not lengthen the clip.
            steps = np.diff(self._stamps) / np.maximum(np.diff(self._index), 1)
            step = float(np.median(steps))
            if step > 0.0:
                return step
        return None if self._rate is None else 1.0 / self._rate

    def where(self, first: int, last: int) -> str:
        """The stretch in words: ``frames 59 to 119 (1.97 to 4.00 s)``.

        One frame reads ``frame 21 (0.70 s)``.
        """
        span = self.span(first, last)
        if first == last:
            return f"frame {first}" + ("" if span is None else f" ({span[0]:.2f} s)")
        text = f"frames {first} to {last}"
        return text if span is None else f"{text} ({span[0]:.2f} to {span[1]:.2f} s)"


def plural(count: int, noun: str) -> str:
    """``1 frame``, ``2 frames``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(items: Sequence[object], most: int = 8) -> str:
    """The first few items and how many more.

    >>> listed([3, 5, 9], most=2)
    '3, 5 and 1 more'
    """
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def stretches(indices: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each stretch of consecutive indices; they ascend.

    >>> stretches([3, 4, 5, 9])
    [(3, 5), (9, 9)]
    """
    runs: list[tuple[int, int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def percent(share: float) -> str:
    """A share as a person reads it: ``51 %``, and ``0.4 %`` where whole percents say nothing."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"

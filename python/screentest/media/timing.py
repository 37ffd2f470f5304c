"""Frame rate, constancy and duration, from the time stamps of the frames themselves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from screentest.media.clip import Array
from screentest.media.packets import PacketTable

__all__ = ["Timing", "is_constant", "measure_timing", "steady_timing"]


@dataclass(frozen=True, slots=True)
class Timing:
    """``times_s`` and ``durations_s`` are per frame in display order; ``None`` means unknown."""

    times_s: Array | None = None
    durations_s: Array | None = None
    frame_rate: float | None = None
    constant: bool | None = None
    start_s: float | None = None
    duration_s: float | None = None
    rate_mismatch: bool = False


def measure_timing(table: PacketTable, time_base: Fraction, declared: Fraction | None) -> Timing:
    """Timing of the shown frames.

    The rate is (frames - 1) over the time from the first to the last stamp. Where the header's rate
    explains that time to within one tick of the clock, the header's exact fraction is taken, since
    a millisecond clock cannot carry 30000/1001.
    """
    if not table.times_known:
        return Timing()
    ticks = np.array([table.pts[i] for i in table.shown], dtype=np.int64)
    tick_s = float(time_base)
    times = ticks * tick_s
    last = table.durations[table.shown[-1]]
    count = len(ticks)
    span = int(ticks[-1] - ticks[0])
    if not last and count > 1:
        last = round(span / (count - 1))
    if not last and declared:
        last = round(1 / (declared * time_base))
    durations = np.append(np.diff(times), last * tick_s)
    duration_s = float((span + last) * tick_s)
    if count < 2 or span <= 0:
        return Timing(
            times_s=times,
            durations_s=durations,
            start_s=float(times[0]),
            duration_s=duration_s or None,
        )
    constant = is_constant(ticks)
    rate = Fraction(count - 1) / (span * time_base)
    mismatch = False
    if declared and constant:
        expected = (count - 1) / (declared * time_base)
        if abs(expected - span) <= 1:
            rate = declared
        else:
            # Rounding each stamp leaves up to a tick at either end; a real contradiction is more.
            mismatch = abs(expected - span) > 2 and abs(declared / rate - 1) > Fraction(1, 1000)
    return Timing(
        times_s=times,
        durations_s=durations,
        frame_rate=float(rate),
        constant=constant,
        start_s=float(times[0]),
        duration_s=duration_s,
        rate_mismatch=mismatch,
    )


def steady_timing(frames: int, frame_rate: float) -> Timing:
    """Timing of frames that follow each other at a rate that the caller stated."""
    return Timing(
        times_s=np.arange(frames) / frame_rate,
        durations_s=np.full(frames, 1 / frame_rate),
        frame_rate=float(frame_rate),
        constant=True,
        start_s=0.0,
        duration_s=frames / frame_rate,
    )


def is_constant(ticks: Array) -> bool:
    """True if every stamp lies within one tick of the straight line from the first to the last.

    Where the clock is so coarse that a tick is a large part of a frame, a quarter of the frame
    interval is the limit instead, so that one dropped frame still shows.
    """
    count = len(ticks)
    if count < 3:
        return True
    steps = count - 1
    span = int(ticks[-1] - ticks[0])
    line = ticks[0] + np.arange(count) * (span / steps)
    limit = min(1.0, span / steps / 4)
    return bool(np.abs(ticks - line).max() <= limit + 1e-6)

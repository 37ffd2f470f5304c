"""Temporal facts of a whole clip."""

from __future__ import annotations

from itertools import islice
from typing import Any

from screentest import compute
from screentest.media import open_clip
from screentest.media.clip import Clip
from screentest.metrics.family import Begin
from screentest.metrics.temporal.accumulator import TemporalAccumulator
from screentest.metrics.temporal.facts import TemporalFacts

__all__ = ["measure_temporal"]

_BATCH = 16
"""Frames that are measured side by side."""


def measure_temporal(source: Any, *, threads: int | None = None, **options: Any) -> TemporalFacts:
    """Facts that tell flicker, flashes, fades, cuts and an uneven cadence from each other.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``frame_rate=``, ``layout=``...).

    Returns:
        The facts. A single frame has none of these numbers, two or three have few; each that is
        ``None`` is named in ``unmeasured``.

    Raises:
        MediaError: the source cannot be read, or holds NaN or infinite samples.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.
    """
    budget = compute.threads(threads)
    if isinstance(source, Clip):
        return _measure(source, budget)
    with open_clip(source, threads=budget, **options) as clip:
        return _measure(clip, budget)


def _measure(clip: Clip, threads: int) -> TemporalFacts:
    begin = Begin(
        format=clip.format, frames=clip.info.frames, threads=threads, times_s=clip.times_s
    )
    accumulator = TemporalAccumulator(begin)
    frames = clip.frames(ahead=threads > 1)
    while batch := list(islice(frames, _BATCH)):
        accumulator.push_many(batch)
    return accumulator.finish(clip.info, clip.damage)

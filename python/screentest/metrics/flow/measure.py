"""Motion of a whole clip."""

from __future__ import annotations

from typing import Any

from screentest import compute
from screentest.media import open_clip
from screentest.media.clip import Clip
from screentest.metrics.flow.accumulator import FlowAccumulator, wanted_frames
from screentest.metrics.flow.facts import FlowFacts

__all__ = ["measure_flow"]


def measure_flow(source: Any, *, threads: int | None = None, **options: Any) -> FlowFacts:
    """How much a clip moves, and how much of its change that motion explains.

    Up to 24 pairs of neighbouring frames, evenly spread, are read; a file is sought in.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens.
        threads: compute budget of decoder and flow together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``value_range=``, ``layout=``...).

    Returns:
        The facts. Equal frames read about 1e-3 px or less, the solver's noise. Flat frames have no
        residual and one frame has no motion; both are named in ``unmeasured``, and so is every
        number where OpenCV is not installed (the ``flow`` extra).

    Raises:
        MediaError: the source cannot be read, or a sample is NaN, infinite or out of its range.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> facts = measure_flow(np.zeros((1, 64, 64, 3), np.uint8))
        >>> [gap.axis for gap in facts.unmeasured][:2]
        ['motion_mag', 'motion_mag_per_s']
    """
    budget = compute.threads(threads)
    if isinstance(source, Clip):
        return _measure(source, budget)
    with open_clip(source, threads=budget, **options) as clip:
        return _measure(clip, budget)


def _measure(clip: Clip, threads: int) -> FlowFacts:
    count = clip.info.frames
    accumulator = FlowAccumulator(clip.format, frames=count, threads=threads)
    frames = clip.frames() if count is None else clip.frames_at(wanted_frames(count))
    for frame in frames:
        accumulator.push_many([frame])
    return accumulator.finish(clip.info, clip.damage)

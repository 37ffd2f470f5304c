"""Facts of a whole clip."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute
from screentest.errors import InputError
from screentest.media import open_clip
from screentest.media.clip import Clip, Frame
from screentest.metrics.integrity.accumulator import IntegrityAccumulator
from screentest.metrics.integrity.facts import Depth, FrameSeries, IntegrityFacts

__all__ = ["measure_integrity"]


def measure_integrity(
    source: Any, *, depth: Depth = "full", threads: int | None = None, **options: Any
) -> IntegrityFacts:
    """Facts that tell a render from noise, a blank, a lattice, a freeze or a damaged file.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens.
        depth: ``"full"`` looks at every frame once; ``"sampled"`` reads at most ten and seeks to
            them in a file.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``value_range=``, ``layout=``...).

    Returns:
        The facts. Identical frames correlate at 1; flat ones at 0, with a deviation of 0. NaN and
        infinite samples are counted, and read as black for everything else. A single frame has no
        temporal numbers; a side below 512 px has no lattice: both are named in ``unmeasured``.

    Raises:
        MediaError: the source cannot be read, or its values leave the range they are said to have.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> ramp = np.tile(np.arange(64, dtype=np.uint8)[:, None], (1, 64))
        >>> facts = measure_integrity(np.stack([ramp, ramp, 63 - ramp]), layout="THW")
        >>> facts.corr_series
        (1.0, -1.0)
    """
    if depth not in ("full", "sampled"):
        raise InputError(f'depth={depth!r}: expected "full" or "sampled"', code="bad_depth")
    budget = compute.threads(threads)
    if isinstance(source, Clip):
        return _measure(source, depth, budget)
    with open_clip(source, threads=budget, **options) as clip:
        return _measure(clip, depth, budget)


def _measure(clip: Clip, depth: Depth, threads: int) -> IntegrityFacts:
    accumulator = IntegrityAccumulator(
        clip.format, frames=clip.info.frames, depth=depth, threads=threads
    )
    # Frames in memory are there for the taking; decoded ones come one at a time.
    size = _BATCH if clip.info.kind == "array" else 1
    wanted = _wanted(clip, accumulator, threads)
    while batch := list(islice(wanted, size)):
        accumulator.push_many(batch)
    facts = accumulator.finish(clip.info, clip.damage)
    if depth == "full":
        _search_more_pairs(clip, facts, threads)
    return facts


_BATCH = 16
"""Frames of an array that are measured side by side; two a thread at the largest budget in use."""


def _wanted(clip: Clip, accumulator: IntegrityAccumulator, threads: int) -> Iterator[Frame]:
    if accumulator.depth == "full":
        return clip.frames(ahead=threads > 1)
    return clip.frames_at(accumulator.sampled_frames())


# A pair speaks about noise if both frames have contrast and differ. These are looser than any
# sensible policy, so that a judge who finds no evidence among the sampled pairs finds it here.
_EVIDENCE_STD = 0.02
_EVIDENCE_CHANGE = 1.0
_EVIDENCE_PAIRS = 3


def _speaks(series: FrameSeries) -> NDArray[np.bool_]:
    before = np.concatenate([[0.0], series.luma_std[:-1]])
    contrast = (series.luma_std >= _EVIDENCE_STD) & (before >= _EVIDENCE_STD)
    speaks: NDArray[np.bool_] = (
        contrast & (series.change >= _EVIDENCE_CHANGE) & np.isfinite(series.corr)
    )
    return speaks


def _search_more_pairs(clip: Clip, facts: IntegrityFacts, threads: int) -> None:
    """Aligns a few more pairs where few sampled ones speak: a fade, a freeze, doubled frames."""
    series = facts.series
    speaks = _speaks(series)
    sampled = np.isin(series.index - 1, facts.corr_starts)
    unsearched = speaks & np.isnan(series.corr_aligned)
    if (speaks & sampled).sum() >= _EVIDENCE_PAIRS or not unsearched.any():
        return
    ends = np.flatnonzero(unsearched)
    chosen = ends[np.unique(np.linspace(0, len(ends) - 1, _native.INTEGRITY_PAIRS).astype(int))]
    wanted = sorted({int(i) for end in chosen for i in series.index[end - 1 : end + 1]})
    again = _native.IntegrityAccumulator(clip.format, threads=threads, simd=compute.simd_level())
    previous: Frame | None = None
    for frame in clip.frames_at(wanted):
        adjacent = previous is not None and previous.index + 1 == frame.index
        again.push(
            frame.index,
            frame.planes,
            previous.planes if adjacent and previous is not None else None,
            align=True,
        )
        previous = frame
    found = again.series()
    where = np.searchsorted(series.index, found["index"])
    better = np.isfinite(found["corr_aligned"]) & np.isnan(series.corr_aligned[where])
    series.corr_aligned[where[better]] = found["corr_aligned"][better]

"""A few more pairs, where those that were sampled say too little about noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute
from screentest.media.clip import Clip, Frame
from screentest.metrics.integrity.facts import FrameSeries, IntegrityFacts

__all__ = ["search_more_pairs"]

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


def search_more_pairs(clip: Clip, facts: IntegrityFacts, threads: int) -> IntegrityFacts:
    """Aligns a few more pairs where few sampled ones speak: a fade, a freeze, doubled frames.

    Completes the series of the facts and returns them. A sample of frames has no pairs to add.
    """
    series = facts.series
    if facts.depth == "sampled":
        return facts
    speaks = _speaks(series)
    sampled = np.isin(series.index - 1, facts.corr_starts)
    unsearched = speaks & np.isnan(series.corr_aligned)
    if (speaks & sampled).sum() >= _EVIDENCE_PAIRS or not unsearched.any():
        return facts
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
    return facts

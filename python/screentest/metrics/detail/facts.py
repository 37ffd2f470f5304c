"""What the detail family measures of a clip, and what it could not."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.detail.names import METRICS
from screentest.metrics.facts import Unmeasured
from screentest.metrics.series import Series

__all__ = ["FLAT_STD", "NAMES", "DetailFacts", "DetailSeries"]

NAMES = tuple(spec.name for spec in METRICS if not spec.paired)
"""The family's metrics, in the order of reports."""

FLAT_STD = 1 / 255
"""Standard deviation of luma below which a frame is flat: what is divided by it is noise."""

_F64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DetailSeries(Series):
    """One entry per frame read, ascending by display index.

    NaN where a frame has no such number, never written to a report as such: ``edge_overshoot``
    of a flat frame or one where no edge stands out, ``texture_residual`` of one without texture.

    Attributes:
        index: display index.
        edge_overshoot: mean residue of the band beside the edges over the deviation of luma.
        edge_strength: slope that the steepest twentieth reaches, luma per pixel.
        edge_density: share of pixels whose slope is at least 0.02.
        texture_residual: mean residue of what is neither edge nor band.
        luma_std: population standard deviation of luma, in [0, 0.5].
    """

    index: NDArray[np.int64]
    edge_overshoot: _F64
    edge_strength: _F64
    edge_density: _F64
    texture_residual: _F64
    luma_std: _F64


class DetailFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one clip's detail; luma is in [0, 1]. None is a quality number by itself.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        clip: geometry, colour, timing and decoder.
        damage: places where the file does not hold what it should.
        frames: frames in the clip.
        frames_read: frames measured.
        frames_without_edges: frames left out of ``edge_overshoot``: flat ones, and ones of which
            less than a twentieth has any slope.
        edge_overshoot: mean over the other frames.
        edge_strength: mean over the frames.
        edge_density: mean over the frames.
        texture_residual: mean over the frames that have texture.
        series: one entry per frame read.
        unmeasured: metrics that gave no number, and why.
    """

    impl: str
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    frames: int
    frames_read: int
    frames_without_edges: int = 0
    edge_overshoot: float | None = None
    edge_strength: float | None = None
    edge_density: float | None = None
    texture_residual: float | None = None
    series: DetailSeries
    unmeasured: tuple[Unmeasured, ...] = ()

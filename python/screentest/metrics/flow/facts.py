"""What the flow family measures of a clip, and what it could not."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.flow.names import METRICS
from screentest.metrics.series import Series

__all__ = ["NAMES", "FlowFacts", "FlowSeries"]

NAMES = tuple(spec.name for spec in METRICS if not spec.paired)
"""The family's metrics, in the order of reports."""

_F64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FlowSeries(Series):
    """One entry per pair of neighbouring frames measured, ascending.

    NaN where a flat frame left a pair out, and in ``step_s`` without time stamps; never written to
    a report as such.

    Attributes:
        start: display index of the pair's first frame.
        step_s: seconds from it to the next.
        motion_mag: mean length of the flow, in pixels of the working size.
        flow_residual: mean change along the flow over the first frame's contrast.
        unwarped_residual: mean change in place over the same.
        warp_error: the published form.
    """

    start: NDArray[np.int64]
    step_s: _F64
    motion_mag: _F64
    flow_residual: _F64
    unwarped_residual: _F64
    warp_error: _F64


class FlowFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one clip's motion. Pixels are those of the working size.

    Attributes:
        impl: version of the definitions and of OpenCV; facts of different ``impl`` do not compare.
        clip: geometry, colour, timing and decoder.
        damage: places where the file does not hold what it should.
        working_width: columns that motion was measured at.
        working_height: rows, at most 384.
        frames: frames in the clip.
        frames_read: frames that were read for it.
        pairs: pairs of neighbouring frames measured.
        pairs_flat: pairs left out of ``flow_residual``, as either frame's contrast is below one
            grey level.
        pairs_unread: sampled pairs of which a frame could not be read.
        motion_mag: mean over the pairs of the mean length of the flow, px/frame.
        motion_mag_per_s: summed over the pairs, per second that they last, px/s.
        motion_mag_share: ``motion_mag`` over ``working_height``.
        flow_residual: mean of |later frame fetched along the flow - earlier frame| over the
            earlier's standard deviation.
        unwarped_residual: the same without fetching.
        warp_error: the published form, which fetches the earlier frame the wrong way.
        series: one entry per pair.
        unmeasured: metrics that gave no number, and why.
    """

    impl: str
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    working_width: int
    working_height: int
    frames: int | None
    frames_read: int
    pairs: int = 0
    pairs_flat: int = 0
    pairs_unread: int = 0
    motion_mag: float | None = None
    motion_mag_per_s: float | None = None
    motion_mag_share: float | None = None
    flow_residual: float | None = None
    unwarped_residual: float | None = None
    warp_error: float | None = None
    series: FlowSeries
    unmeasured: tuple[Unmeasured, ...] = ()

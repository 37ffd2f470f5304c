"""What the signal family measures of a clip, and what it could not."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.series import Series
from screentest.metrics.signal.names import IMPL

__all__ = ["FEATURES", "IMPL", "SignalFacts", "SignalSeries", "nothing_to_compare"]

_F64 = NDArray[np.float64]

FEATURES = (
    "log_sharpness",
    "log_hf_ratio",
    "entropy",
    "contrast",
    "saturation",
    "log_local_contrast",
)
"""Columns of :meth:`SignalSeries.features`."""


def nothing_to_compare(contrast: float, flat_frames: float, frames: float) -> bool:
    """Whether nothing may be ranked or gated on a clip: no contrast, or half its frames flat."""
    return contrast < 1e-4 or 2 * flat_frames >= frames


@dataclass(frozen=True, eq=False)
class SignalSeries(Series):
    """One entry per frame, ascending by display index; luma and colour in [0, 1].

    Numbers of one frame are NaN where the pass was luma alone, those against the frames before
    where there are none; no NaN leaves the library.

    Attributes:
        index: display index (int64).
        time_s: presentation time, or ``None`` if the clip has no time stamps.
        luma_mean: mean luma.
        luma_std: population standard deviation of luma, in [0, 0.5].
        laplacian_variance: variance of the Laplacian of luma in 8-bit levels.
        hf_ratio: share of the energy of ``rfft2(Y - mean)`` above a quarter cycle per pixel.
        entropy: entropy of luma in 64 bins, in bits.
        saturation: mean of the largest less the smallest of R, G and B.
        highpass: mean ``|hp|``, ``hp`` being luma less its 3x3 mean with the edge repeated.
        motion: mean ``|Y_t - Y_(t-1)|``.
        acceleration: mean ``|Y_t - 2 Y_(t-1) + Y_(t-2)|``.
        shimmer: mean ``|hp_t - hp_(t-1)|``.
        cells: mean luma of the 16 parts of the picture cut in four by four, ``(T, 4, 4)``; NaN for
            a part without a pixel.
    """

    index: NDArray[np.int64]
    time_s: _F64 | None
    luma_mean: _F64
    luma_std: _F64
    laplacian_variance: _F64
    hf_ratio: _F64
    entropy: _F64
    saturation: _F64
    highpass: _F64
    motion: _F64
    acceleration: _F64
    shimmer: _F64
    cells: _F64

    def features(self) -> _F64:
        """The feature matrix ``(T, 6)``: see :data:`FEATURES`; logarithms are natural, of values
        floored at 1e-6, 1e-12 and 1e-9."""
        return np.column_stack(
            [
                np.log(np.maximum(self.laplacian_variance, 1e-6)),
                np.log(np.maximum(self.hf_ratio, 1e-12)),
                self.entropy,
                self.luma_std,
                self.saturation,
                np.log(np.maximum(self.highpass, 1e-9)),
            ]
        )


class SignalFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Population statistics of one clip: the mean over frames unless said.

    ``None`` is "not measured": the pass was luma alone, the picture is below 3x3 pixels, or the
    clip is too short; ``unmeasured`` says which. A constant clip reads 0 throughout, brightness
    excepted, with ``hf_ratio`` at its floor of 1e-12 and ``local_contrast`` at 1e-9.

    Attributes:
        sharpness: variance of the Laplacian of luma, in squared 8-bit levels.
        sharpness_p10: 10th percentile of the same over frames, interpolated linearly.
        hf_ratio: share of energy above a quarter cycle per pixel, [0, 1].
        detail_entropy: entropy of luma, [0, 6] bits.
        contrast: standard deviation of luma, [0, 0.5].
        saturation: largest less smallest of R, G, B, [0, 1].
        local_contrast: mean ``|hp|``, [0, 1].
        brightness: mean luma, [0, 1].
        flicker: 100 times the deviation of the frame means, of their mean; percent.
        jerk_ratio: mean acceleration of mean motion, per frame; 0 below 3 frames.
        shimmer: mean change of ``hp``, of the mean ``|hp|`` of the same frames; 0 for one frame.
        motion_energy: mean motion in 8-bit levels; 0 for one frame.
        motion_energy_per_s: all motion, over the time from the first to the last frame.
        shimmer_per_s: the same of ``shimmer``.
        jerk_per_s: ``jerk_ratio`` times the frame rate; of a constant rate alone.
        flat_frames: frames whose deviation of luma is below 1e-4.
    """

    impl: str
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    frames: int
    width: int
    height: int
    sharpness: float | None = None
    sharpness_p10: float | None = None
    hf_ratio: float | None = None
    detail_entropy: float | None = None
    contrast: float
    saturation: float | None = None
    local_contrast: float | None = None
    brightness: float
    flicker: float
    jerk_ratio: float
    shimmer: float | None = None
    motion_energy: float
    motion_energy_per_s: float | None = None
    shimmer_per_s: float | None = None
    jerk_per_s: float | None = None
    flat_frames: int
    series: SignalSeries
    unmeasured: tuple[Unmeasured, ...] = ()

    @property
    def degenerate(self) -> bool:
        """Whether nothing may be ranked by these numbers: no contrast, or half the frames flat."""
        return nothing_to_compare(self.contrast, self.flat_frames, self.frames)

"""How far did it move: PSNR, SSIM and their kin between a clip and its reference.

The RGB metrics (``psnr``, ``mse``, ``mae``, ``ssim``, ``ms_ssim``) follow the image convention: R,
G and B, or their luma, in [0, 1]. The native ones (``psnr_y``, ``psnr_cb``, ``psnr_cr``,
``psnr_avg``, ``ssim_y``, ``ms_ssim_y``) follow the video engineer's: the decoder's codes, peak
2^bits - 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.fidelity.accumulator import (
        Border,
        FidelityAccumulator,
        FidelityFacts,
        MeasuredPair,
        no_native_planes,
        unmeasured_score,
    )
    from screentest.metrics.fidelity.functions import fidelity, mae, ms_ssim, mse, psnr, ssim
    from screentest.metrics.fidelity.maps import FrameMaps, frame_maps
    from screentest.metrics.fidelity.names import (
        FIDELITY,
        MS_SSIM_SCALES,
        NATIVE,
        FidelityMetric,
    )

__all__ = [
    "FIDELITY",
    "MS_SSIM_SCALES",
    "NATIVE",
    "Border",
    "FidelityAccumulator",
    "FidelityFacts",
    "FidelityMetric",
    "FrameMaps",
    "MeasuredPair",
    "fidelity",
    "frame_maps",
    "mae",
    "ms_ssim",
    "mse",
    "no_native_planes",
    "psnr",
    "ssim",
    "unmeasured_score",
]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "accumulator", "functions", "maps"))

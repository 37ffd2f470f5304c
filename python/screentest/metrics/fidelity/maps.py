"""Where two frames differ: maps for people to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame

__all__ = ["FrameMaps", "frame_maps"]


@dataclass(frozen=True, slots=True, eq=False)
class FrameMaps:
    """Two frames as 8-bit RGB and where they differ.

    ``error_map`` is (H, W): the mean absolute difference of R, G and B, white being 1.
    ``ssim_map`` is (H-10, W-10): SSIM at each position of the window, centred on pixel (5, 5)
    first; ``None`` where a side has fewer than 11 pixels.
    """

    reference_rgb: NDArray[np.uint8]
    candidate_rgb: NDArray[np.uint8]
    error_map: NDArray[np.float32]
    ssim_map: NDArray[np.float32] | None


def frame_maps(
    reference: Frame,
    candidate: Frame,
    reference_format: FrameFormat,
    candidate_format: FrameFormat,
    *,
    threads: int | None = None,
) -> FrameMaps:
    """The pictures and maps of one pair of frames of equal size.

    >>> import numpy as np
    >>> from screentest.media import open_clip
    >>> grey = np.zeros((16, 16), np.uint8)
    >>> spot = grey.copy()
    >>> spot[3, 4] = 255
    >>> a, b = open_clip(grey, layout="HW"), open_clip(spot, layout="HW")
    >>> maps = frame_maps(next(a.frames()), next(b.frames()), a.format, b.format)
    >>> maps.error_map[3, 4], maps.error_map.sum(), maps.ssim_map.shape
    (np.float32(1.0), np.float32(1.0), (6, 6))
    """
    budget = compute.threads(threads)
    kernel = _native.FidelityKernel(
        reference_format, candidate_format, threads=budget, simd=compute.simd_level()
    )
    small = min(reference_format.width, reference_format.height) < _native.FIDELITY_TAPS
    return FrameMaps(
        reference_rgb=_native.rgb8(reference_format, reference.planes, threads=budget),
        candidate_rgb=_native.rgb8(candidate_format, candidate.planes, threads=budget),
        error_map=kernel.error_map(reference.planes, candidate.planes),
        ssim_map=None if small else kernel.ssim_map(reference.planes, candidate.planes),
    )

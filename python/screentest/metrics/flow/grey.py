"""The grey picture that motion is read from: 8 bits, at most 384 rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from screentest import _native

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Array

__all__ = ["HEIGHT", "grey8", "working_size"]

HEIGHT = 384
"""Rows of the working size; a lower picture is read as it is."""


def working_size(width: int, height: int) -> tuple[int, int]:
    """Width and height that motion is measured at. Portrait pictures are scaled by height too.

    >>> working_size(1280, 720), working_size(512, 768), working_size(176, 144)
    ((682, 384), (256, 384), (176, 144))
    """
    if height <= HEIGHT:
        return width, height
    return max(2, round(HEIGHT * width / height) // 2 * 2), HEIGHT


def grey8(cv2: Any, format: FrameFormat, planes: Sequence[Array]) -> NDArray[np.uint8]:
    """A frame in grey at the working size, (h, w): the mean of R, G and B over the area that each
    pixel covers, rounded, then their weighted sum in integers."""
    rgb = _rgb8(format, planes)
    size = working_size(format.width, format.height)
    if size != (format.width, format.height):
        rgb = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)
    wide = rgb.astype(np.uint32)
    red, green, blue = wide[..., 0], wide[..., 1], wide[..., 2]
    grey = (9798 * red + 19235 * green + 3735 * blue + 16384) >> 15
    return grey.astype(np.uint8)


def _rgb8(format: FrameFormat, planes: Sequence[Array]) -> NDArray[np.uint8]:
    """A frame as (H, W, 3), without a copy where it is that already."""
    first = planes[0]
    if first.ndim == 3 and first.dtype == np.uint8 and format.bit_depth == 8:
        return np.ascontiguousarray(first)
    return _native.rgb8(format, planes)

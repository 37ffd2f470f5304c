"""Where the figures of FFmpeg's xpsnr filter (seen in 9.0) are wrong, and why.

Each of these prints a plausible number for pictures that differ, so the material is refused.
"""

from __future__ import annotations

import math

__all__ = ["block_side", "refusal"]

# Up to this many pixels the filter takes the smallest weight of a block's neighbours, which also
# mends the weight of a sliver at the right edge.
_SMOOTHED_PIXELS = 640 * 480
# From here on it leaves out two pixels at the picture's edges rather than one.
_FINE_PIXELS = 2048 * 1152
# Rows of a converted picture are padded to whole multiples of so many samples.
_ROW_SAMPLES = 64


def block_side(width: int, height: int) -> int:
    """Side of the blocks that the filter weights, in pixels; 0 where it gives a plain PSNR.

    >>> block_side(1920, 1080), block_side(64, 48), block_side(32, 32)
    (64, 4, 0)
    """
    return 4 * int(32.0 * math.sqrt(width * height / (3840.0 * 2160.0)) + 0.5)


def refusal(width: int, height: int, bits: int, *, converted: bool) -> str | None:
    """Why XPSNR of such pictures would be wrong, ``None`` if it would not. ``converted``: their
    rows come from one of ffmpeg's own conversions, not from raw video.

    >>> refusal(1920, 1080, 10, converted=False) is None
    True
    >>> refusal(64, 49, 8, converted=False)
    "49 rows leave 1 over blocks of 4, and ffmpeg's xpsnr gives such a sliver an undue weight"
    """
    if bits > 15:
        # It reads samples as signed 16-bit numbers: 0.4 to 0.9 dB too high on test pictures.
        return "ffmpeg's xpsnr takes at most 15 bits for what they are"
    if converted and bits > 8 and width % _ROW_SAMPLES:
        # It steps through one clip by padded rows and through the other by the width: 17 dB low.
        return (
            "ffmpeg's xpsnr misreads converted rows of more than 8 bits unless the width is a "
            f"multiple of {_ROW_SAMPLES}"
        )
    side = block_side(width, height)
    edge = 2 if width * height > _FINE_PIXELS else 1
    if side:
        # A last row of blocks without a pixel inside the edge keeps the weight 1, where others have
        # a fiftieth: 7 to 10 dB too low.
        for what, length in (("rows", height), ("columns", width)):
            over = length % side
            smoothed = what == "columns" and width * height <= _SMOOTHED_PIXELS
            if 0 < over <= edge and not smoothed:
                return (
                    f"{length} {what} leave {over} over blocks of {side}, and ffmpeg's xpsnr gives "
                    "such a sliver an undue weight"
                )
    return None

"""What of a frame goes to ffmpeg, as which pixel format: samples as they are, never rescaled.

* ``planes``: both clips are 4:2:0, 4:2:2 or 4:4:4 of one depth; Y, Cb and Cr go as stored.
* ``luma``: chroma is missing (grey), differs between the two, or is in a layout that the filters
  do not take; Y goes as stored beside neutral chroma.
* ``rgb``: both are RGB; ffmpeg turns them into 4:4:4 YUV, BT.709, limited range, of the same
  depth. Float samples go as 12-bit integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from screentest.media.clip import Array
from screentest.metrics.instruments import xpsnr_limits

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.metrics.instruments.piped import Source

__all__ = ["Feed", "plan_feed"]

_CHROMA = {(1, 1): "420", (1, 0): "422", (0, 0): "444"}
# What libvmaf takes; xpsnr's own limits stand in xpsnr_limits.
_DEPTHS = (8, 10, 12, 16)
# Finer than any display, and within both filters' sound range.
_FLOAT_BITS = 12
_TO_YUV = (
    "scale=in_range=full:out_range=limited:out_color_matrix=bt709:"
    "flags=accurate_rnd+bitexact+full_chroma_int+full_chroma_inp,format=yuv444p"
)


@dataclass(frozen=True, slots=True)
class Feed:
    """How frames are handed over. ``prepare`` is what each input passes in ffmpeg before it is
    measured (empty, or the conversion), ``note`` says it in words; ``no_chroma`` is why the
    chroma channels of a pair are not measured, ``no_xpsnr`` why XPSNR is not at all; ``None`` where
    they are."""

    kind: Literal["planes", "luma", "rgb"]
    pixel_format: str
    width: int
    height: int
    bits: int
    prepare: str
    note: str
    no_chroma: str | None = None
    no_xpsnr: str | None = None

    def source(self, codes: tuple[Array, ...], value_range: tuple[float, float] | None) -> Source:
        """What is written for one frame's codes; the work is done when it is called."""
        if self.kind == "rgb":
            red, green, blue = codes
            return lambda: [self._integers(p, value_range) for p in (green, blue, red)]
        if self.kind == "planes":
            return lambda: list(codes)
        luma, neutral = codes[0], self._neutral()
        return lambda: [self._integers(luma, value_range), neutral, neutral]

    def _integers(self, plane: Array, value_range: tuple[float, float] | None) -> Array:
        if plane.dtype.kind != "f":
            return plane
        low, high = value_range or (0.0, 1.0)
        top = (1 << self.bits) - 1
        share = (plane.astype(np.float64) - low) / (high - low)
        return np.rint(np.clip(share, 0.0, 1.0) * top).astype(np.uint16)

    def _neutral(self) -> Array:
        shape = (-(-self.height // 2), -(-self.width // 2))
        dtype: Any = np.uint8 if self.bits == 8 else np.uint16
        return np.full(shape, 1 << (self.bits - 1), dtype)


def plan_feed(reference: FrameFormat, candidate: FrameFormat) -> Feed | str:
    """How this pair is handed over, else one line that says why it cannot be."""
    depths = [format.bit_depth or _FLOAT_BITS for format in (reference, candidate)]
    shown = [
        "float" if format.bit_depth is None else f"{format.bit_depth} bit"
        for format in (reference, candidate)
    ]
    if shown[0] != shown[1]:
        return f"the bit depths differ: {shown[0]} and {shown[1]}"
    bits = depths[0]
    if bits not in _DEPTHS:
        return f"{bits}-bit samples: VMAF takes {', '.join(map(str, _DEPTHS))} bits"
    models = (reference.model, candidate.model)
    size = (reference.width, reference.height)
    suffix = "" if bits == 8 else f"{bits}le"
    why = xpsnr_limits.refusal(*size, bits, converted="rgb" in models)
    if "rgb" in models:
        if models[0] != models[1]:
            return f"one clip is RGB and the other {'grey' if 'grey' in models else 'YUV'}"
        note = f"RGB to yuv444p{suffix}, BT.709, limited range, by ffmpeg's scale"
        prepare = f"{_TO_YUV}{suffix}"
        return Feed("rgb", f"gbrp{suffix}", *size, bits, prepare, note, no_xpsnr=why)
    chroma = _CHROMA.get(reference.chroma_shift)
    if models == ("yuv", "yuv") and chroma and reference.chroma_shift == candidate.chroma_shift:
        name = f"yuv{chroma}p{suffix}"
        return Feed("planes", name, *size, bits, "", f"{name} as stored", no_xpsnr=why)
    if "grey" in models:
        missing = "grey has no chroma"
    elif reference.chroma_shift != candidate.chroma_shift:
        missing = "the chroma layouts differ"
    else:
        missing = "the filters do not take this chroma layout"
    note = f"luma as stored, {bits} bit; {missing}"
    return Feed("luma", f"yuv420p{suffix}", *size, bits, "", note, missing, why)

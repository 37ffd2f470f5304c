"""Pictures as data URLs: encoded by PyAV, so the base install needs no image library."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from av import VideoFrame

__all__ = ["indexed_png_url", "jpeg_url", "png_url", "reduced", "reduced_map"]

# Quantiser scale of the JPEG encoder, 1 (best) to 31. At 3 its own errors stay around one level.
_JPEG_SCALE = 3


def png_url(rgb: NDArray[np.uint8]) -> str:
    """A lossless picture, ``(H, W, 3)`` or ``(H, W)`` uint8, as a ``data:`` URL."""
    return _url("image/png", _encode("png", _frame(rgb), {"compression_level": "9"}))


def indexed_png_url(indices: NDArray[np.uint8], colours: NDArray[np.uint8]) -> str:
    """A lossless picture ``(H, W)`` of at most 256 ``colours``, (N, 3): a third of the bytes."""
    from av import VideoFrame

    palette = np.zeros((256, 4), np.uint8)
    palette[:, 0] = 255  # A, R, G, B
    palette[: len(colours), 1:] = colours
    pair: Any = (np.ascontiguousarray(indices), palette)  # which PyAV's stubs do not know
    frame = VideoFrame.from_ndarray(pair, format="pal8")
    return _url("image/png", _encode("png", frame, {"compression_level": "9"}))


def jpeg_url(rgb: NDArray[np.uint8], scale: int = _JPEG_SCALE) -> str:
    """A picture ``(H, W, 3)`` uint8 as a JPEG with full chroma, as a ``data:`` URL; ``scale`` is
    the quantiser's, 1 to 31."""
    from av.video.reformatter import ColorRange, Colorspace, Interpolation

    full = _frame(rgb).reformat(
        format="yuvj444p",
        dst_colorspace=Colorspace.ITU601,
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.JPEG,
        interpolation=int(
            Interpolation.BILINEAR | Interpolation.ACCURATE_RND | Interpolation.BITEXACT
        ),
    )
    options = {"qmin": str(scale), "qmax": str(scale), "huffman": "optimal"}
    return _url("image/jpeg", _encode("mjpeg", full, options))


def reduced(rgb: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """The picture at most ``width`` wide, averaged over areas; itself where it fits."""
    high, wide = rgb.shape[:2]
    if wide <= width:
        return rgb
    from av.video.reformatter import Interpolation

    small = _frame(rgb).reformat(
        width=width,
        height=max(1, round(high * width / wide)),
        interpolation=int(Interpolation.AREA | Interpolation.ACCURATE_RND | Interpolation.BITEXACT),
    )
    return np.asarray(small.to_ndarray())


def reduced_map(values: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """The map at most ``width`` wide, each cell the largest value in it: a small fault stays."""
    high, wide = values.shape
    if wide <= width:
        return values
    tall = max(1, round(high * width / wide))
    rows = np.maximum.reduceat(values, np.arange(tall) * high // tall, axis=0)
    return np.asarray(np.maximum.reduceat(rows, np.arange(width) * wide // width, axis=1))


def _frame(rgb: NDArray[np.uint8]) -> VideoFrame:
    from av import VideoFrame

    return VideoFrame.from_ndarray(
        np.ascontiguousarray(rgb), format="gray" if rgb.ndim == 2 else "rgb24"
    )


def _encode(codec: str, frame: VideoFrame, options: dict[str, str]) -> bytes:
    from fractions import Fraction

    from av import CodecContext

    encoder: Any = CodecContext.create(codec, "w")
    encoder.width, encoder.height = frame.width, frame.height
    encoder.pix_fmt, encoder.time_base = frame.format.name, Fraction(1, 25)
    encoder.options = options
    frame.pts = 0
    packets = [*encoder.encode(frame), *encoder.encode(None)]
    return b"".join(bytes(packet) for packet in packets)


def _url(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"

"""The reference's frames as pictures of the candidate's pixel format, ready for its encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.media.clip import Array, Clip, Frame
from screentest.media.planes import SWS_MATRIX

if TYPE_CHECKING:
    from av import VideoFrame

    from screentest.media.info import ClipInfo

__all__ = ["pictures"]

_CHROMA = {(1, 1): "420", (1, 0): "422", (0, 0): "444", (0, 1): "440", (2, 0): "411", (2, 2): "410"}


def pictures(reference: Clip, candidate: ClipInfo, target: str) -> Iterator[VideoFrame]:
    """Each frame of the reference once, in the pixel format ``target``.

    A reference of that format and colour passes as it is. Any other is converted by swscale into
    the matrix and range that the candidate is read with: that loss belongs to the floor.
    """
    build = _builder(reference)
    convert = _converter(reference.info, candidate, target)
    for frame in reference.frames():
        made = build(frame)
        yield made if convert is None else convert(made)


def _builder(reference: Clip) -> Callable[[Frame], VideoFrame]:
    """From a clip's planes to a picture of the nearest format that FFmpeg has a name for."""
    from av import VideoFrame

    form, info = reference.format, reference.info
    depth = info.bit_depth or 16
    size = (form.width, form.height)
    if form.model == "yuv":
        shift = form.shift

        def yuv(frame: Frame) -> VideoFrame:
            name = _yuv_name(frame.planes, depth)
            made = VideoFrame(*size, name)
            for plane, data in zip(made.planes, frame.planes, strict=True):
                _fill(plane, data >> shift if shift else data)
            return made

        return yuv

    def packed(frame: Frame) -> VideoFrame:
        planes = frame.planes
        data = planes[0] if len(planes) == 1 else np.stack(planes, axis=-1)
        data = _as_integers(data, depth, form.value_range)
        names = ("gray", "gray16le") if form.model == "grey" else ("rgb24", "rgb48le")
        made = VideoFrame(*size, names[data.dtype.itemsize - 1])
        _fill(made.planes[0], data.reshape(form.height, -1))
        return made

    return packed


def _yuv_name(planes: tuple[Array, ...], depth: int) -> str:
    (height, width), (rows, columns) = planes[0].shape, planes[1].shape
    for (sx, sy), name in _CHROMA.items():
        if (-(-width >> sx), -(-height >> sy)) == (columns, rows):
            return f"yuv{name}p" if depth == 8 else f"yuv{name}p{depth}le"
    raise AssertionError("the media layer knows these subsamplings alone")


def _as_integers(data: Array, depth: int, value_range: tuple[float, float] | None) -> Array:
    """uint8 as it is; everything else as uint16 over its whole range."""
    if data.dtype == np.uint8:
        return np.ascontiguousarray(data)
    if data.dtype == np.uint16:
        top = (1 << depth) - 1
        if depth == 16:
            return np.ascontiguousarray(data)
        wide = np.minimum(data, top).astype(np.uint32)
        return np.asarray(((wide * 65535 + top // 2) // top).astype("<u2"))
    low, high = value_range or (0.0, 1.0)
    unit = (np.nan_to_num(data.astype(np.float32)) - low) / (high - low)
    return np.asarray(np.rint(np.clip(unit, 0.0, 1.0) * 65535).astype("<u2"))


def _fill(plane: Any, data: Array) -> None:
    """Copy rows into a plane, whose lines may be longer."""
    rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
    flat = np.ascontiguousarray(data).view(np.uint8).reshape(data.shape[0], -1)
    rows[:, : flat.shape[1]] = flat


def _converter(
    reference: ClipInfo, candidate: ClipInfo, target: str
) -> Callable[[VideoFrame], VideoFrame] | None:
    from av.video.reformatter import ColorRange, Interpolation, VideoReformatter

    source, wanted = reference.colour, candidate.colour
    options: dict[str, Any] = {
        "format": target,
        # swscale's own default between chroma formats, which is what wrote most files; exact, so
        # that the answer is the same on every CPU.
        "interpolation": int(
            Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.BITEXACT
        ),
        "threads": 1,
    }
    ranges = {"limited": ColorRange.MPEG, "full": ColorRange.JPEG}
    changes = False
    if source is not None and wanted is not None:
        options["src_color_range"] = ranges[source.range]
        options["dst_color_range"] = ranges[wanted.range]
        changes = source.range != wanted.range
        if source.matrix in SWS_MATRIX:
            options["src_colorspace"] = SWS_MATRIX[source.matrix]
        if wanted.matrix in SWS_MATRIX:
            options["dst_colorspace"] = SWS_MATRIX[wanted.matrix]
        both = source.matrix in SWS_MATRIX and wanted.matrix in SWS_MATRIX
        changes |= both and SWS_MATRIX[source.matrix] != SWS_MATRIX[wanted.matrix]
    scaler = VideoReformatter()

    def convert(frame: VideoFrame) -> VideoFrame:
        if frame.format.name == target and not changes:
            return frame
        converted: VideoFrame = scaler.reformat(frame, **options)
        return converted

    return convert

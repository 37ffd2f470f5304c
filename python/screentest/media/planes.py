"""From a decoded frame to the planes that the kernels read: views where possible, else one named
conversion.

A :class:`PlanePlan` is made once per clip from the first frame, then applied to every frame.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from screentest.media.clip import Array
from screentest.media.colour import luma_weights
from screentest.media.info import ColourResolved
from screentest.media.orientation import Orientation

if TYPE_CHECKING:
    from av import VideoFrame

    from screentest._native import FrameFormat

__all__ = [
    "SWS_MATRIX",
    "FrameChangedError",
    "PlanePlan",
    "composite",
    "plan_planes",
    "source_kind",
]

Kind = Literal["yuv", "grey", "rgb"]
Planes = tuple[Array, ...]

_U8 = np.dtype(np.uint8)
_U16 = np.dtype("<u2")
_F32 = np.dtype("<f4")
_SAMPLES: dict[str, np.dtype[Any]] = {"uint8": _U8, "uint16": _U16, "float32": _F32}

_PLANAR = re.compile(r"yuv(j?)(420|422|444|440|411|410)p(9|10|12|14|16)?(le)?")
_SEMI_PLANAR = re.compile(r"(?:nv(12|16|24|21|42)|p([024])(10|12|16)le)")
_GREY = re.compile(r"gray(9|10|12|14|16)?(le)?")
_GBR = re.compile(r"gbrp(9|10|12|14|16)?(le)?")

# log2 of the chroma subsampling, (horizontal, vertical).
_CHROMA = {
    "420": (1, 1),
    "422": (1, 0),
    "444": (0, 0),
    "440": (0, 1),
    "411": (2, 0),
    "410": (2, 2),
}
_SEMI_CHROMA = {"12": "420", "21": "420", "16": "422", "24": "444", "42": "444"}
_P_CHROMA = {"0": "420", "2": "422", "4": "444"}

# Packed formats read in place: sample type, samples per pixel, and the offsets of R, G, B.
_PACKED: dict[str, tuple[np.dtype[Any], int, tuple[int, int, int]]] = {
    "rgb24": (_U8, 3, (0, 1, 2)),
    "bgr24": (_U8, 3, (2, 1, 0)),
    "rgb0": (_U8, 4, (0, 1, 2)),
    "bgr0": (_U8, 4, (2, 1, 0)),
    "0rgb": (_U8, 4, (1, 2, 3)),
    "0bgr": (_U8, 4, (3, 2, 1)),
    "rgb48le": (_U16, 3, (0, 1, 2)),
    "bgr48le": (_U16, 3, (2, 1, 0)),
}
# The same for formats with alpha, with the offset of A at the end.
_PACKED_ALPHA: dict[str, tuple[np.dtype[Any], tuple[int, int, int], int]] = {
    "rgba": (_U8, (0, 1, 2), 3),
    "bgra": (_U8, (2, 1, 0), 3),
    "argb": (_U8, (1, 2, 3), 0),
    "abgr": (_U8, (3, 2, 1), 0),
    "rgba64le": (_U16, (0, 1, 2), 3),
    "bgra64le": (_U16, (2, 1, 0), 3),
}

# The names of a resolved matrix among swscale's.
SWS_MATRIX = {
    "bt709": "ITU709",
    "fcc": "FCC",
    "bt470bg": "ITU601",
    "smpte170m": "ITU601",
    "smpte240m": "SMPTE240M",
    "bt2020nc": "BT2020",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How one pixel format lies in memory, before rotation."""

    kind: Kind
    bit_depth: int
    dtype: str = "uint8"
    shift: int = 0
    chroma_shift: tuple[int, int] = (0, 0)
    full_by_name: bool = False


@dataclass(frozen=True, slots=True)
class PlanePlan:
    """What to do with each frame of a clip, decided once."""

    kind: Kind
    source_format: str
    source_bit_depth: int
    layout: Layout
    conversion: str | None
    has_alpha: bool
    take: Callable[[VideoFrame], Planes]
    alpha: Callable[[VideoFrame], Array] | None

    def frame_format(self, width: int, height: int, colour: ColourResolved) -> FrameFormat:
        """The description that the kernels get; ``width`` and ``height`` are as shown."""
        from screentest._native import FrameFormat

        at = self.layout
        if at.kind == "rgb":
            return FrameFormat.rgb(
                width=width,
                height=height,
                dtype=at.dtype,
                bit_depth=None if at.dtype == "float32" else at.bit_depth,
                value_range=None,
            )
        limited = colour.range == "limited"
        if at.kind == "grey":
            return FrameFormat.grey(
                width=width,
                height=height,
                dtype=at.dtype,
                bit_depth=None if at.dtype == "float32" else at.bit_depth,
                value_range=None,
                limited=limited,
            )
        kr, kb = luma_weights(colour.matrix)
        return FrameFormat.yuv(
            width=width,
            height=height,
            bit_depth=at.bit_depth,
            shift=at.shift,
            kr=kr,
            kb=kb,
            limited=limited,
            chroma_shift=at.chroma_shift,
        )


def source_kind(frame: VideoFrame) -> tuple[Kind, bool]:
    """(kind, full range by name) of a frame's own pixel format, for the colour rule."""
    name = frame.format.name
    if frame.format.is_rgb or name.startswith(("pal8", "bayer", "xyz", "gbr")):
        return "rgb", False
    if len(frame.format.components) <= 2:
        return "grey", False
    return "yuv", name.startswith("yuvj")


def plan_planes(
    frame: VideoFrame,
    colour: ColourResolved,
    orientation: Orientation,
    alpha: str | tuple[float, float, float] | None,
) -> PlanePlan:
    """Choose how frames like this one are read. ``alpha`` is ``None``, ``"drop"`` or a colour."""
    name = frame.format.name
    width, height = frame.width, frame.height
    depth = max(c.bits for c in frame.format.components)
    kind, _ = source_kind(frame)
    has_alpha = frame.format.name in _PACKED_ALPHA or any(
        c.is_alpha for c in frame.format.components
    )
    has_alpha = has_alpha or name in ("pal8", "ya8", "ya16le", "ya16be")
    target: str | None = None
    if has_alpha:
        if name not in _PACKED_ALPHA:
            target = "rgba64le" if depth > 8 else "rgba"
    elif not _in_place(name, width, height, orientation):
        target = _conversion_target(name, kind, depth)
    layout, view = _viewer(target or name, width, height)
    alpha_view: Callable[[VideoFrame], Array] | None = None
    prepare = _converter(target, colour) if target else None
    if has_alpha:
        alpha_view = _alpha_viewer(target or name, width, height, prepare)
    take = _compose(name, width, height, prepare, view, orientation)
    if isinstance(alpha, tuple) and alpha_view is not None:
        take = _composited(take, alpha_view, alpha, orientation)
    if layout.kind == "yuv":
        layout = _turned(layout, orientation)
    return PlanePlan(
        kind=kind,
        source_format=name,
        source_bit_depth=depth,
        layout=layout,
        conversion=target,
        has_alpha=has_alpha,
        take=take,
        alpha=alpha_view,
    )


def composite(rgb: Array, alpha: Array, colour: tuple[float, float, float]) -> Array:
    """``rgb`` (H, W, 3) laid over ``colour`` by ``alpha`` (H, W); same integer dtype, rounded."""
    if rgb.dtype.kind == "f":
        share = alpha[..., None].astype(np.float32)
        under = np.asarray(colour, dtype=np.float32)
        mixed = rgb.astype(np.float32) * share + under * (1.0 - share)
        return np.asarray(mixed.astype(rgb.dtype))
    top = float(np.iinfo(rgb.dtype).max)
    share = alpha[..., None].astype(np.float32) / np.float32(top)
    under = np.asarray(colour, dtype=np.float32) * np.float32(top)
    mixed = rgb.astype(np.float32) * share + under * (1.0 - share)
    return np.asarray(np.rint(mixed).astype(rgb.dtype))


def _in_place(name: str, width: int, height: int, orientation: Orientation) -> bool:
    found = _layout_of(name)
    if found is None:
        return False
    # Turned around, an odd side puts its unpaired luma column first, where the kernels expect a
    # pair per chroma sample; only full-resolution chroma survives that.
    sx, sy = found.chroma_shift
    off_x = orientation.flips_source_x and width % (1 << sx) != 0
    off_y = orientation.flips_source_y and height % (1 << sy) != 0
    return not (off_x or off_y)


def _conversion_target(name: str, kind: Kind, depth: int) -> str:
    if "f16" in name or "f32" in name:
        return "gbrpf32le"
    if kind == "grey":
        return "gray16le" if depth > 8 else "gray"
    return "rgb48le" if depth > 8 else "rgb24"


def _layout_of(name: str) -> Layout | None:
    if name in _PACKED or name in _PACKED_ALPHA:
        dtype = _PACKED[name][0] if name in _PACKED else _PACKED_ALPHA[name][0]
        return Layout("rgb", 8 * dtype.itemsize, dtype="uint8" if dtype == _U8 else "uint16")
    if name == "gbrpf32le":
        return Layout("rgb", 32, dtype="float32")
    if name == "grayf32le":
        return Layout("grey", 32, dtype="float32")
    if found := _PLANAR.fullmatch(name):
        depth = int(found[3] or 8)
        if (depth > 8) == bool(found[4]):
            return Layout(
                "yuv",
                depth,
                dtype="uint16" if depth > 8 else "uint8",
                chroma_shift=_CHROMA[found[2]],
                full_by_name=bool(found[1]),
            )
    if found := _SEMI_PLANAR.fullmatch(name):
        if found[1]:
            return Layout("yuv", 8, chroma_shift=_CHROMA[_SEMI_CHROMA[found[1]]])
        depth = int(found[3])
        return Layout(
            "yuv",
            depth,
            dtype="uint16",
            shift=16 - depth,
            chroma_shift=_CHROMA[_P_CHROMA[found[2]]],
        )
    kind: Kind = "grey" if name.startswith("gray") else "rgb"
    found = _GREY.fullmatch(name) or _GBR.fullmatch(name)
    if found and (int(found[1] or 8) > 8) == bool(found[2]):
        depth = int(found[1] or 8)
        return Layout(kind, depth, dtype="uint16" if depth > 8 else "uint8")
    return None


def _viewer(name: str, width: int, height: int) -> tuple[Layout, Callable[[VideoFrame], Planes]]:
    """The layout of a format, and the function that views a frame's planes without a copy."""
    layout = _layout_of(name)
    assert layout is not None
    sample: np.dtype[Any]
    if name in _PACKED or name in _PACKED_ALPHA:
        if name in _PACKED:
            sample, per_pixel, (red, green, _) = _PACKED[name]
        else:
            sample, (red, green, _), _ = _PACKED_ALPHA[name]
            per_pixel = 4
        size = sample.itemsize
        start, step, pixel = red * size, (green - red) * size, per_pixel * size

        def packed(frame: VideoFrame) -> Planes:
            plane = frame.planes[0]
            strides = (plane.line_size, pixel, step)
            return (_view((height, width, 3), sample, plane, start, strides),)

        return layout, packed

    sample = _SAMPLES[layout.dtype]
    size = sample.itemsize
    full = (height, width)
    if layout.kind == "grey":

        def grey(frame: VideoFrame) -> Planes:
            plane = frame.planes[0]
            return (_view(full, sample, plane, 0, (plane.line_size, size)),)

        return layout, grey
    if layout.kind == "rgb":

        def gbr(frame: VideoFrame) -> Planes:
            g, b, r = frame.planes[:3]
            return tuple(_view(full, sample, p, 0, (p.line_size, size)) for p in (r, g, b))

        return layout, gbr
    sx, sy = layout.chroma_shift
    half = (-(-height >> sy), -(-width >> sx))
    if _SEMI_PLANAR.fullmatch(name):
        first, second = (size, 0) if name in ("nv21", "nv42") else (0, size)

        def semi_planar(frame: VideoFrame) -> Planes:
            y, c = frame.planes
            strides = (c.line_size, 2 * size)
            return (
                _view(full, sample, y, 0, (y.line_size, size)),
                _view(half, sample, c, first, strides),
                _view(half, sample, c, second, strides),
            )

        return layout, semi_planar

    def planar(frame: VideoFrame) -> Planes:
        y, u, v = frame.planes
        return (
            _view(full, sample, y, 0, (y.line_size, size)),
            _view(half, sample, u, 0, (u.line_size, size)),
            _view(half, sample, v, 0, (v.line_size, size)),
        )

    return layout, planar


def _view(
    shape: tuple[int, ...],
    sample: np.dtype[Any],
    plane: Any,  # a VideoPlane; the stubs of PyAV 18 do not know that it is a buffer
    offset: int,
    strides: tuple[int, ...],
) -> Array:
    if strides[0] < 0:
        # Stored from the bottom row up; the buffer begins at its lowest address.
        offset -= (shape[0] - 1) * strides[0]
    return np.ndarray(shape, sample, plane, offset, strides)


def _alpha_viewer(
    name: str,
    width: int,
    height: int,
    prepare: Callable[[VideoFrame], VideoFrame] | None,
) -> Callable[[VideoFrame], Array]:
    sample, _, offset = _PACKED_ALPHA[name]
    size = sample.itemsize

    def view(frame: VideoFrame) -> Array:
        plane = (prepare(frame) if prepare else frame).planes[0]
        strides = (plane.line_size, 4 * size)
        return _view((height, width), sample, plane, offset * size, strides)

    return view


def _converter(target: str, colour: ColourResolved) -> Callable[[VideoFrame], VideoFrame]:
    from av.video.reformatter import ColorRange, Interpolation, VideoReformatter

    # Exact rounding, and chroma at full resolution, so that the result does not depend on which
    # vector instructions swscale finds.
    quality = int(
        Interpolation.BILINEAR
        | Interpolation.ACCURATE_RND
        | Interpolation.BITEXACT
        | Interpolation.FULL_CHR_H_INT
        | Interpolation.FULL_CHR_H_INP
    )
    # One scaler per thread: two passes over a clip may run at once.
    scalers = threading.local()
    options: dict[str, Any] = {"format": target, "interpolation": quality, "threads": 1}
    if colour.matrix in SWS_MATRIX:
        options["src_colorspace"] = SWS_MATRIX[colour.matrix]
        source_range = ColorRange.MPEG if colour.range == "limited" else ColorRange.JPEG
        options["src_color_range"] = source_range
        options["dst_color_range"] = ColorRange.JPEG

    def convert(frame: VideoFrame) -> VideoFrame:
        scaler = getattr(scalers, "scaler", None)
        if scaler is None:
            scaler = scalers.scaler = VideoReformatter()
        converted: VideoFrame = scaler.reformat(frame, **options)
        return converted

    return convert


def _compose(
    name: str,
    width: int,
    height: int,
    prepare: Callable[[VideoFrame], VideoFrame] | None,
    view: Callable[[VideoFrame], Planes],
    orientation: Orientation,
) -> Callable[[VideoFrame], Planes]:
    turn = None if orientation.is_identity else orientation.apply

    def take(frame: VideoFrame) -> Planes:
        if frame.width != width or frame.height != height or frame.format.name != name:
            raise FrameChangedError(frame)
        planes = view(prepare(frame) if prepare else frame)
        for plane in planes:
            # These are the decoder's own reference pictures: writing would spoil later frames.
            plane.flags.writeable = False
        return planes if turn is None else tuple(turn(plane) for plane in planes)

    return take


def _composited(
    take: Callable[[VideoFrame], Planes],
    alpha_view: Callable[[VideoFrame], Array],
    colour: tuple[float, float, float],
    orientation: Orientation,
) -> Callable[[VideoFrame], Planes]:
    def take_over(frame: VideoFrame) -> Planes:
        return (composite(take(frame)[0], orientation.apply(alpha_view(frame)), colour),)

    return take_over


class FrameChangedError(Exception):
    """A frame of another size or pixel format than the clip's first one; carries what it is."""

    def __init__(self, frame: VideoFrame) -> None:
        super().__init__(f"{frame.width}x{frame.height} {frame.format.name}")


def _turned(layout: Layout, orientation: Orientation) -> Layout:
    if not orientation.transpose:
        return layout
    sx, sy = layout.chroma_shift
    return Layout(
        layout.kind, layout.bit_depth, layout.dtype, layout.shift, (sy, sx), layout.full_by_name
    )

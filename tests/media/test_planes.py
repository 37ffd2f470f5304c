"""Views on a decoder's memory: each format, each odd width, no copy and no colour error."""

import av
import numpy as np
import pytest

from screentest.media.colour import resolve
from screentest.media.info import ColourTags
from screentest.media.orientation import Orientation
from screentest.media.planes import plan_planes, source_kind

UPRIGHT = Orientation()
UNTAGGED = ColourTags()


def made(pix_fmt, width, height, seed=0):
    """A frame of random samples that use no more bits than the format has."""
    frame = av.VideoFrame(width, height, pix_fmt)
    rng = np.random.default_rng(seed)
    depth = max(c.bits for c in frame.format.components)
    top_bits = pix_fmt.startswith(("p0", "p2", "p4"))
    for plane in frame.planes:
        if depth == 8:
            data = rng.integers(0, 256, plane.buffer_size, dtype=np.uint8).tobytes()
        else:
            values = rng.integers(0, 1 << depth, plane.buffer_size // 2, dtype=np.uint16)
            data = (values << (16 - depth if top_bits else 0)).astype("<u2").tobytes()
        plane.update(data)
    return frame


def plan(frame, orientation=UPRIGHT, tags=UNTAGGED, alpha=None):
    kind, full = source_kind(frame)
    colour = resolve(tags, kind=kind, full_by_name=full)
    return plan_planes(frame, colour, orientation, alpha), colour


IN_PLACE = (
    *(f"yuv{s}p" for s in ("420", "422", "444", "440", "411", "410")),
    *(f"yuvj{s}p" for s in ("420", "422", "444", "440")),
    *(f"yuv{s}p{d}le" for s in ("420", "422", "444") for d in (9, 10, 12, 14, 16)),
    *("nv12", "nv21", "nv16", "nv24", "p010le", "p012le", "p016le", "p210le", "p410le"),
    *("gray", "gray10le", "gray12le", "gray16le"),
    *("gbrp", "gbrp10le", "gbrp12le", "gbrp16le"),
    *("rgb24", "bgr24", "rgb0", "bgr0", "0rgb", "0bgr", "rgb48le", "bgr48le"),
)


def by_hand(frame, chroma):
    """Every plane read byte by byte with its own line size: what a view must equal."""
    name = frame.format.name
    depth = max(c.bits for c in frame.format.components)
    dtype = np.dtype("u1" if depth == 8 else "<u2")
    rows = []
    for plane in frame.planes:
        raw = np.frombuffer(plane, "u1").reshape(-1, plane.line_size)
        rows.append(np.ascontiguousarray(raw).view(dtype))
    width, height = frame.width, frame.height
    half_w, half_h = -(-width >> chroma[0]), -(-height >> chroma[1])
    if name.startswith(("nv", "p0", "p2", "p4")):
        pair = rows[1][:half_h, : 2 * half_w].reshape(half_h, half_w, 2)
        order = (1, 0) if name in ("nv21", "nv42") else (0, 1)
        return [rows[0][:height, :width], pair[..., order[0]], pair[..., order[1]]]
    if name.startswith("yuv"):
        return [rows[0][:height, :width], *(r[:half_h, :half_w] for r in rows[1:])]
    if name.startswith("gbrp"):
        g, b, r = (row[:height, :width] for row in rows)
        return [r, g, b]
    if name.startswith("gray"):
        return [rows[0][:height, :width]]
    each = 4 if "0" in name.replace("48", "") else 3
    letters = name.removesuffix("le").replace("24", "").replace("48", "")
    pixels = rows[0][:height, : each * width].reshape(height, width, each)
    return [pixels[..., [letters.index(c) for c in "rgb"]]]


@pytest.mark.parametrize("pix_fmt", IN_PLACE)
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (17, 9), (33, 31), (64, 48)])
def test_planes_are_views_with_the_right_samples(pix_fmt, size):
    frame = made(pix_fmt, *size)
    chosen, _ = plan(frame)
    assert chosen.conversion is None
    planes = chosen.take(frame)
    expected = by_hand(frame, chosen.layout.chroma_shift)
    assert len(planes) == len(expected)
    for plane, reference in zip(planes, expected, strict=True):
        assert np.array_equal(plane, reference)
        assert not plane.flags.writeable
        assert plane.base is not None


@pytest.mark.parametrize("width", range(1, 34))
def test_every_width_keeps_its_last_column(width):
    frame = made("yuv420p", width, 5, seed=width)
    chosen, _ = plan(frame)
    for plane, reference in zip(chosen.take(frame), by_hand(frame, (1, 1)), strict=True):
        assert np.array_equal(plane, reference)


ORIENTATIONS = [Orientation(t, y, x) for t in (False, True) for y in (False, True)
                for x in (False, True)]  # fmt: skip


@pytest.mark.parametrize("orientation", ORIENTATIONS, ids=str)
@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv422p", "nv12", "rgb24", "gray", "gbrp10le"])
def test_each_orientation_is_a_view(pix_fmt, orientation):
    frame = made(pix_fmt, 16, 8)
    upright, _ = plan(frame)
    turned, _ = plan(frame, orientation)
    assert turned.conversion is None
    for plain, seen in zip(upright.take(frame), turned.take(frame), strict=True):
        expected = plain.swapaxes(0, 1) if orientation.transpose else plain
        expected = expected[::-1] if orientation.flip_y else expected
        expected = expected[:, ::-1] if orientation.flip_x else expected
        assert np.array_equal(seen, expected)
        assert np.shares_memory(seen, np.frombuffer(frame.planes[0], "u1")) or len(frame.planes) > 1
    sx, sy = upright.layout.chroma_shift
    assert turned.layout.chroma_shift == ((sy, sx) if orientation.transpose else (sx, sy))


@pytest.mark.parametrize(
    ("orientation", "degrees", "mirrored"),
    [
        (Orientation(), 0, False),
        (Orientation(True, False, True), 90, False),
        (Orientation(False, True, True), 180, False),
        (Orientation(True, True, False), 270, False),
        (Orientation(False, False, True), 0, True),
        (Orientation(False, True, False), 180, True),
        (Orientation(True, False, False), 270, True),
        (Orientation(True, True, True), 90, True),
    ],
    ids=str,
)
def test_clockwise_degrees_turn_the_picture_as_seen(orientation, degrees, mirrored):
    picture = np.arange(6).reshape(2, 3)
    assert (orientation.clockwise_degrees, orientation.mirrored) == (degrees, mirrored)
    expected = picture[:, ::-1] if mirrored else picture
    assert np.array_equal(orientation.apply(picture), np.rot90(expected, -degrees // 90))


def test_an_odd_side_that_is_flipped_goes_through_a_conversion():
    frame = made("yuv420p", 17, 8)
    assert plan(frame, Orientation(flip_x=True))[0].conversion == "rgb24"
    assert plan(frame, Orientation(flip_y=True))[0].conversion is None
    assert plan(frame, Orientation(transpose=True, flip_y=True))[0].conversion == "rgb24"
    assert plan(made("yuv444p", 17, 8), Orientation(flip_x=True))[0].conversion is None


@pytest.mark.parametrize(
    ("pix_fmt", "conversion", "dtype"),
    [
        ("yuyv422", "rgb24", "uint8"),
        ("uyvy422", "rgb24", "uint8"),
        ("rgb565le", "rgb24", "uint8"),
        ("gbrp10be", "rgb48le", "uint16"),
        ("yuv420p10be", "rgb48le", "uint16"),
        ("rgb48be", "rgb48le", "uint16"),
        ("gray16be", "gray16le", "uint16"),
        ("monob", "gray", "uint8"),
        ("yuva420p", "rgba", "uint8"),
        ("yuva444p12le", "rgba64le", "uint16"),
        ("gbrap", "rgba", "uint8"),
        ("ya8", "rgba", "uint8"),
        ("ya16be", "rgba64le", "uint16"),
    ],
)
def test_other_formats_go_through_one_named_conversion(pix_fmt, conversion, dtype):
    frame = av.VideoFrame(18, 10, pix_fmt)
    for plane in frame.planes:
        plane.update(bytes(plane.buffer_size))
    chosen, colour = plan(frame)
    assert chosen.conversion == conversion
    assert chosen.layout.dtype == dtype
    picture = chosen.take(frame)[0]
    assert picture.shape[:2] == (10, 18)
    chosen.frame_format(18, 10, colour)


@pytest.mark.parametrize("pix_fmt", ["rgba", "bgra", "argb", "abgr"])
def test_packed_alpha_is_viewed_and_named(pix_fmt):
    frame = made(pix_fmt, 12, 6)
    raw = np.frombuffer(frame.planes[0], "u1").reshape(6, -1)[:, : 4 * 12].reshape(6, 12, 4)
    chosen, _ = plan(frame)
    assert chosen.has_alpha
    assert chosen.conversion is None
    assert np.array_equal(chosen.take(frame)[0], raw[..., [pix_fmt.index(c) for c in "rgb"]])
    assert np.array_equal(chosen.alpha(frame), raw[..., pix_fmt.index("a")])


def test_swapping_bytes_keeps_every_level():
    frame = made("gray16le", 64, 32)
    expected = plan(frame)[0].take(frame)[0]
    swapped = frame.reformat(format="gray16be")
    assert np.array_equal(plan(swapped)[0].take(swapped)[0], expected)


KR_KB = {"bt709": (0.2126, 0.0722), "smpte170m": (0.299, 0.114), "bt2020nc": (0.2627, 0.0593)}


@pytest.mark.parametrize("matrix", KR_KB)
@pytest.mark.parametrize("range_", ["limited", "full"])
def test_the_conversion_uses_the_matrix_and_range_of_the_stream(matrix, range_):
    """Against the equations of H.273 in floats, on flat patches, where no filter differs."""
    tags = ColourTags(matrix=matrix, range=range_)
    kr, kb = KR_KB[matrix]
    rng = np.random.default_rng(3)
    for y, u, v in rng.integers(60, 190, (40, 3)):
        frame = av.VideoFrame(16, 16, "yuva420p")
        for plane, value in zip(frame.planes, (y, u, v, 255), strict=True):
            plane.update(bytes([value]) * plane.buffer_size)
        chosen, _ = plan(frame, tags=tags)
        seen = chosen.take(frame)[0][8, 8].astype(float)
        luma = (y - 16) / 219 if range_ == "limited" else y / 255
        scale = 224 if range_ == "limited" else 255
        cb, cr = (u - 128) / scale, (v - 128) / scale
        red, blue = luma + 2 * (1 - kr) * cr, luma + 2 * (1 - kb) * cb
        green = (luma - kr * red - kb * blue) / (1 - kr - kb)
        expected = np.clip(np.array([red, green, blue]) * 255, 0, 255)
        assert np.abs(seen - expected).max() <= 1.5, (y, u, v)

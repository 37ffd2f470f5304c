"""Pictures in memory: what is accepted, what must be said; nothing is copied or changed."""

import array
import ctypes
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.errors import InputError, MediaError, ScreentestError
from screentest.media import open_clip


def pictures(*shape, dtype="u1", seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape).astype(dtype)
    return rng.integers(0, 200, shape).astype(dtype)


def shown(source, **options):
    with open_clip(source, **options) as clip:
        return np.stack([frame.planes[0] for frame in clip.frames()])


@pytest.mark.parametrize(
    ("shape", "layout", "expected"),
    [
        ((5, 20, 30, 3), None, (5, 20, 30, 3)),
        ((5, 20, 30), None, (5, 20, 30)),
        ((20, 30, 3), None, (1, 20, 30, 3)),
        ((20, 30), None, (1, 20, 30)),
        ((1, 20, 30), None, (1, 20, 30)),
        ((5, 20, 30, 1), None, (5, 20, 30)),
        ((5, 3, 20, 30), "TCHW", (5, 20, 30, 3)),
        ((5, 1, 20, 30), "TCHW", (5, 20, 30)),
        ((3, 5, 20, 30), "CTHW", (5, 20, 30, 3)),
        ((3, 20, 30), "CHW", (1, 20, 30, 3)),
        ((3, 20, 30), "THW", (3, 20, 30)),
        ((20, 30, 3), "THW", (20, 30, 3)),
        ((3, 3, 3), "HWC", (1, 3, 3, 3)),
        ((3, 3, 3), "chw", (1, 3, 3, 3)),
        ((1, 5, 3, 20, 30), "TCHW", (5, 20, 30, 3)),
    ],
)
def test_a_shape_that_is_clear_or_said_is_read(shape, layout, expected):
    source = pictures(*shape)
    seen = shown(source, layout=layout)
    assert seen.shape == expected
    with open_clip(source, layout=layout) as clip:
        assert clip.array.shape == expected
        assert np.array_equal(clip.array, seen)
        assert np.shares_memory(clip.array, source)
        assert (clip.info.frames, clip.info.height, clip.info.width) == expected[:3]
        assert clip.info.luma_domain == "rgb"


def test_channels_in_front_are_the_same_picture():
    source = pictures(4, 20, 30, 3)
    assert np.array_equal(shown(np.moveaxis(source, 3, 1), layout="TCHW"), source)


@pytest.mark.parametrize(
    ("shape", "named"),
    [
        ((5, 3, 20, 30), 'layout="TCHW"'),
        ((3, 5, 20, 30), 'layout="CTHW"'),
        ((5, 3, 20, 3), "layout="),
        ((3, 240, 320), "layout="),
        ((3, 3, 3), "layout="),
        ((3, 20, 4), "layout="),
        ((5, 20, 30, 4), "alpha="),
        ((20, 30, 4), "alpha="),
        ((5, 20, 30, 2), "layout="),
        ((2, 2, 5, 20, 30), "expected"),
        ((7,), "expected"),
        ((), "expected"),
    ],
)
def test_a_shape_that_is_not_clear_names_the_argument(shape, named):
    with pytest.raises(MediaError, match=named.replace("(", r"\(")):
        open_clip(pictures(*shape))


@pytest.mark.parametrize("layout", ["TCHW", "HW", "CHW"])
def test_a_layout_that_does_not_fit_is_refused(layout):
    with pytest.raises(MediaError, match="layout="):
        open_clip(pictures(5, 20, 30), layout=layout)


@pytest.mark.parametrize("layout", ["BCHW", "", "TTT"])
def test_a_layout_that_is_none_lists_those_that_are(layout):
    with pytest.raises(InputError, match="THWC"):
        open_clip(pictures(5, 20, 30), layout=layout)


@pytest.mark.parametrize("shape", [(0, 4, 5, 3), (3, 0, 5, 3), (3, 4, 0, 3), (0, 0), (0,)])
def test_empty_arrays_hold_no_frames(shape):
    with pytest.raises(MediaError) as caught:
        open_clip(np.zeros(shape, np.uint8))
    assert caught.value.code == "no_frames"


@pytest.mark.parametrize(
    ("dtype", "options", "depth"),
    [
        ("u1", {}, 8),
        ("u2", {"bit_depth": 10}, 10),
        ("f2", {}, None),
        ("f4", {}, None),
        ("f4", {"value_range": (-1, 1)}, None),
    ],
)
def test_dtypes_of_the_kernels_are_read_where_they_lie(dtype, options, depth):
    source = pictures(3, 20, 30, 3, dtype=dtype)
    with open_clip(source, **options) as clip:
        assert clip.info.bit_depth == depth
        assert clip.info.conversion is None
        assert np.shares_memory(clip.array, source)
        assert all(np.shares_memory(f.planes[0], source) for f in clip.frames())


def test_bool_is_black_and_white():
    source = pictures(5, 20, 30) > 100
    assert np.array_equal(shown(source), source * np.uint8(255))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u4", "i8", "u8"])
def test_other_integers_need_a_range(dtype):
    source = pictures(5, 20, 30, dtype="u1").astype(dtype)
    with pytest.raises(MediaError, match="value_range="):
        open_clip(source)
    values = source.astype(np.float64)
    assert np.allclose(shown(source, value_range=(0, 200)), values / 200, atol=1e-7)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f2", "f4", "f8", "i4"])
def test_one_picture_in_any_dtype_reads_the_same(dtype):
    picture = pictures(2, 8, 9, dtype="u1")
    options = {"u2": {"bit_depth": 8}, "i4": {"value_range": (0, 255)}}.get(dtype, {})
    source = (picture / 255).astype(dtype) if dtype[0] == "f" else picture.astype(dtype)
    seen = shown(source, **options)
    scale = 255 if seen.dtype.kind == "u" else 1
    assert np.allclose(seen / scale, picture / 255, atol=1e-3 if dtype == "f2" else 1e-6)


def test_float64_is_narrowed_and_keeps_what_is_not_finite():
    source = pictures(2, 8, 9, 5, dtype="f8")[..., :3].copy()
    source[0, 0, 0] = np.nan, np.inf, 1e300
    seen = shown(source)
    assert seen.dtype == np.float32
    assert np.isnan(seen[0, 0, 0, 0])
    assert np.isinf(seen[0, 0, 0, 1:]).all()


def test_uint16_needs_its_bit_depth():
    with pytest.raises(MediaError, match="bit_depth="):
        open_clip(pictures(5, 20, 30, dtype="u2"))


@pytest.mark.parametrize("dtype", ["c8", "M8[s]", "S1", object])
def test_a_dtype_that_holds_no_pictures_is_refused(dtype):
    with pytest.raises(MediaError) as caught:
        open_clip(np.zeros((5, 20, 30), dtype))
    assert caught.value.code == "bad_dtype"


@pytest.mark.parametrize(
    "options",
    [
        {"value_range": (1, 0)},
        {"value_range": (0, float("nan"))},
        {"value_range": 255},
        {"value_range": "10"},
        {"bit_depth": 0},
        {"bit_depth": 17},
        {"bit_depth": 10},
        {"bit_depth": True},
        {"decoder": "torchcodec"},
        {"frame_rate": -1},
        {"alpha": "white"},
        {"alpha": (0, 0)},
    ],
)
def test_a_wrong_argument_is_an_input_error(options):
    with pytest.raises(InputError):
        open_clip(pictures(5, 20, 30), **options)


def test_unit_floats_said_to_be_255_are_refused():
    with pytest.raises(MediaError, match="value_range="):
        open_clip(pictures(3, 8, 9, 3, dtype="f4"), layout="THWC", value_range=(0, 255))
    open_clip(pictures(3, 8, 9, 3, dtype="f4") * 255, value_range=(0, 255))
    open_clip(np.zeros((5, 8, 9), "f4"), value_range=(0, 255))


def test_byte_swapped_samples_are_turned():
    source = pictures(5, 20, 30, dtype="u2") * 5
    assert np.array_equal(shown(source.astype(">u2"), bit_depth=10), source)


def test_unaligned_samples_are_copied_to_where_they_can_be_read():
    raw = bytearray(1 + 4 * 600)
    source = np.frombuffer(raw, "f4", offset=1).reshape(20, 30)
    assert not source.flags.aligned
    with open_clip(source) as clip:
        assert clip.array is None
        assert next(clip.frames()).planes[0].flags.aligned


def test_alpha_is_dropped_or_composited_as_said():
    source = pictures(2, 8, 9, 4)
    assert np.array_equal(shown(source, alpha="drop"), source[..., :3])
    share = source[..., 3:] / 255
    expected = np.rint(source[..., :3] * share + np.array([255, 0, 51]) * (1 - share))
    assert np.abs(shown(source, alpha=(1, 0, 0.2)) - expected).max() <= 1
    assert shown(source.astype("f4") / 255, alpha=(0, 0, 0)).dtype == np.float32
    with pytest.raises(MediaError, match="composite"):
        open_clip(source.astype("u2"), alpha=(0, 0, 0), bit_depth=10)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2, ::-1],
        lambda a: a[:, :, ::-1],
        lambda a: a[::-1, 1::2, 2::3],
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: np.asfortranarray(a),
    ],
)
def test_strided_views_are_read_without_a_copy_and_left_as_they_are(view):
    source = pictures(6, 20, 30, 3)
    seen = view(source)
    seen.flags.writeable = False
    before = seen.copy()
    assert np.array_equal(shown(seen), before)
    assert np.array_equal(seen, before)
    with open_clip(seen) as clip:
        assert np.shares_memory(clip.array, seen)


def test_the_caller_may_go_on_writing_to_its_array():
    source = pictures(5, 20, 30)
    with open_clip(source) as clip:
        list(clip.frames())
        assert source.flags.writeable
        assert not clip.array.flags.writeable


def test_a_large_array_is_opened_without_its_memory_being_doubled():
    source = np.zeros((50, 200, 200, 3), np.uint8)
    tracemalloc.start()
    try:
        with open_clip(source) as clip:
            for _ in clip.frames():
                pass
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


def test_lists_of_frames_are_read_in_place():
    frames = [pictures(20, 30, 3, seed=k) for k in range(4)]
    with open_clip(frames, frame_rate=25) as clip:
        assert clip.array is None
        assert clip.info.frames == 4
        assert [f.time_s for f in clip.frames()] == [0.0, 0.04, 0.08, 0.12]
        assert all(
            np.shares_memory(f.planes[0], source)
            for f, source in zip(clip.frames(), frames, strict=True)
        )
        assert [f.index for f in clip.frames_at([1, 3])] == [1, 3]
    assert np.array_equal(shown([f.transpose(2, 0, 1) for f in frames], layout="CHW"), frames)


@pytest.mark.parametrize(
    ("frames", "named"),
    [
        ([], "no frames"),
        ([np.zeros((20, 30, 3)), np.zeros((20, 31, 3))], "frame 1"),
        ([np.zeros((20, 30), "u1"), np.zeros((20, 30), "f4")], "frame 1"),
        ([np.zeros((5, 20, 30))], "frame 0"),
        ([[1, 2], [3, 4]], "frame 0"),
        ([None], "cannot be read"),
        ([np.zeros((3, 20, 30))], "layout="),
    ],
)
def test_a_list_that_is_no_clip_names_the_frame(frames, named):
    with pytest.raises(MediaError, match=named):
        open_clip(frames)


def test_a_list_layout_has_no_time_axis():
    with pytest.raises(InputError, match="time axis"):
        open_clip([np.zeros((3, 20, 30))], layout="TCHW")


@pytest.mark.parametrize("source", [None, 5, {}, {1}, iter([1]), object(), 3.5])
def test_what_holds_no_pictures_is_refused(source):
    with pytest.raises(ScreentestError):
        open_clip(source)


class DlpackOnly:
    """What a library that knows DLPack and nothing else hands over."""

    def __init__(self, source, device=(1, 0)):
        self._source = source
        self._device = device

    def __dlpack__(self, **options):
        return self._source.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._device


class InterfaceOnly:
    def __init__(self, source):
        self.__array_interface__ = source.__array_interface__
        self._source = source


def test_dlpack_and_the_array_interface_share_memory():
    source = pictures(3, 20, 30, 3)
    for wrapped in (DlpackOnly(source), InterfaceOnly(source), memoryview(source)):
        with open_clip(wrapped) as clip:
            assert np.shares_memory(clip.array, source)


def test_plain_buffers_are_read():
    typed = (ctypes.c_uint8 * 30 * 20)()
    assert shown(typed).shape == (1, 20, 30)
    with pytest.raises(MediaError):
        open_clip(array.array("B", range(10)))


def test_device_memory_is_copied_once_and_said():
    class OnDevice(DlpackOnly):
        copies = 0

        def get(self):
            OnDevice.copies += 1
            return self._source

    with open_clip(OnDevice(pictures(3, 20, 30, 3), device=(2, 0))) as clip:
        assert "cuda_copied" in clip.info.flags
        assert OnDevice.copies == 1


def test_device_memory_without_a_way_to_the_cpu_says_so():
    with pytest.raises(MediaError, match="copy it to the CPU"):
        open_clip(DlpackOnly(pictures(3, 20, 30, 3), device=(2, 0)))


class FakeTensor:
    """A tensor on a device, as far as it is looked at."""

    class Device:
        type = "cuda"

    device = Device

    requires_grad = False
    layout = "torch.strided"
    dtype = "torch.float32"

    def __init__(self, source):
        self.source = source
        self.copies = 0

    def detach(self):
        return self

    def cpu(self):
        self.copies += 1
        host = FakeTensor(self.source)
        host.device = type("host", (), {"type": "cpu"})
        return host

    def numpy(self):
        assert self.device.type == "cpu", "a device tensor has no numpy view"
        return self.source


def test_a_device_tensor_is_copied_once_and_said():
    tensor = FakeTensor(pictures(5, 20, 30, 3, dtype="f4"))
    with open_clip(tensor) as clip:
        assert "cuda_copied" in clip.info.flags
        assert len(list(clip.frames())) == len(list(clip.frames())) == 5
    assert tensor.copies == 1


def test_masked_arrays_are_refused():
    with pytest.raises(MediaError, match="masked"):
        open_clip(np.ma.masked_array(pictures(5, 20, 30)))


@pytest.mark.parametrize(
    ("mode", "channels", "alpha"),
    [("RGB", 3, None), ("L", 1, None), ("RGBA", 3, "transparent"), ("1", 1, None),
     ("P", 3, None), ("CMYK", 3, None), ("I;16", 1, None), ("F", 1, None)],
)  # fmt: skip
def test_pil_images_are_read_in_their_mode(mode, channels, alpha):
    image_module = pytest.importorskip("PIL.Image", reason="pip install pillow")
    images = [image_module.new(mode, (30, 20)) for _ in range(3)]
    with open_clip(images) as clip:
        frame = next(clip.frames()).planes[0]
        assert frame.shape == ((20, 30, 3) if channels == 3 else (20, 30))
        assert clip.info.alpha == alpha
        assert clip.info.frames == 3
        assert clip.info.bit_depth == (None if mode == "F" else 16 if mode == "I;16" else 8)


def test_a_pil_image_three_pixels_wide_is_a_picture():
    image_module = pytest.importorskip("PIL.Image", reason="pip install pillow")
    with open_clip(image_module.new("L", (3, 20))) as clip:
        assert (clip.info.width, clip.info.height) == (3, 20)


SIDES = st.integers(0, 33)
DTYPES = st.sampled_from(["u1", "u2", "f2", "f4", "f8", "i1", "i4", "?", ">u2", ">f4", "c8"])
STEPS = st.sampled_from([1, 2, 3, -1, -2])


def opened_or_refused(source, options):
    """The clip, or ``None`` after a refusal that reads well."""
    try:
        return open_clip(source, **options)
    except ScreentestError as error:
        refusal = error
    assert "\n" not in str(refusal)
    assert refusal.code != "error"
    return None


@given(st.data())
def test_any_array_is_a_clip_or_a_clear_error(data):
    shape = tuple(data.draw(st.lists(SIDES, min_size=0, max_size=5), "shape"))
    if np.prod(shape, dtype=np.int64) > 200_000:
        return
    source = np.zeros(shape, data.draw(DTYPES, "dtype"))
    source = source[tuple(slice(None, None, data.draw(STEPS)) for _ in shape)]
    options = {
        "layout": data.draw(st.sampled_from([None, "THWC", "TCHW", "HWC", "CHW", "THW", "HW"])),
        "value_range": data.draw(st.sampled_from([None, (0, 1), (-1, 1)])),
        "bit_depth": data.draw(st.sampled_from([None, 8, 10, 16])),
        "alpha": data.draw(st.sampled_from([None, "drop", (0.0, 0.5, 1.0)])),
    }
    clip = opened_or_refused(source, options)
    if clip is None:
        return
    info = clip.info
    frames = list(clip.frames())
    assert len(frames) == info.frames > 0
    for frame in frames:
        assert frame.planes[0].shape[:2] == (info.height, info.width)
        assert frame.planes[0].dtype.isnative
    assert info.frames * info.height * info.width <= source.size


@given(
    st.integers(1, 9), st.integers(5, 33), st.integers(5, 33), STEPS, STEPS, STEPS, st.booleans()
)
def test_strides_never_change_what_is_read(frames, height, width, time, down, across, front):
    source = pictures(frames, height, width, 3)[::time, ::down, ::across]
    if front:
        seen = shown(np.moveaxis(source, 3, 1), layout="TCHW")
    else:
        seen = shown(source, layout="THWC")
    assert np.array_equal(seen, source)

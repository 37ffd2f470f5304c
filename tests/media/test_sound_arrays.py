"""Samples in memory: scale, axes, names of channels, and what is refused."""

import array as pyarray

import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.media import Sound, read_audio

RATE = 8000


def read(array, rate=RATE, **options):
    return read_audio(array, sample_rate=rate, **options)


def refusal(kind, code, *args, **options):
    with pytest.raises(kind) as caught:
        read(*args, **options)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
    return str(caught.value)


def noise(*shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def test_one_axis_is_mono_and_two_columns_are_left_and_right():
    mono, stereo = read(noise(20)).info, read(noise(20, 2)).info
    assert (mono.channels, mono.layout, mono.positions) == (1, "mono", ("FC",))
    assert (stereo.channels, stereo.layout, stereo.positions) == (2, "stereo", ("FL", "FR"))
    assert (stereo.kind, stereo.samples, stereo.duration_s) == ("array", 20, 20 / RATE)


@pytest.mark.parametrize(
    ("dtype", "stored", "expected"),
    [
        ("i1", [-128, 0, 127], [-1, 0, 127 / 128]),
        ("i2", [-32768, 0, 32767], [-1, 0, 32767 / 32768]),
        (">i2", [-32768, 1, 16384], [-1, 1 / 32768, 0.5]),
        ("i4", [-(2**31), 2**30, 256], [-1, 0.5, 2.0**-23]),
        ("i8", [-(2**63), 2**62, 2**39], [-1, 0.5, 2.0**-24]),
        ("u1", [0, 128, 192], [-1, 0, 0.5]),
        ("u2", [0, 32768, 65535], [-1, 0, 32767 / 32768]),
        ("u4", [0, 2**31, 2**31 + 256], [-1, 0, 2.0**-23]),
        ("f2", [-1, 0.25, 15], [-1, 0.25, 15]),
        ("f4", [-1.5, 0.1, 16], [-1.5, np.float32(0.1), 16]),
        ("f8", [-1.5, 0.1, 1e-40], [-1.5, np.float32(0.1), np.float32(1e-40)]),
    ],
)
def test_integers_are_divided_by_their_full_scale_and_floats_are_not(dtype, stored, expected):
    samples = read(np.array(stored, dtype=dtype)).samples
    assert samples.dtype == np.float32
    assert samples[:, 0].tolist() == [float(value) for value in expected]


def test_blocks_hold_one_second_each_and_start_again():
    array = noise(2 * RATE + 5, 2)
    sound = read(array)
    for _ in range(2):
        blocks = list(sound.blocks())
        assert [block.shape for block in blocks] == [(RATE, 2), (RATE, 2), (5, 2)]
        assert all(block.flags.c_contiguous and block.dtype == np.float32 for block in blocks)
        assert np.array_equal(np.concatenate(blocks), array)
    assert np.array_equal(sound.samples, array)


def test_a_sound_is_given_back_as_it_is():
    sound = read(noise(9))
    assert isinstance(sound, Sound)
    assert read_audio(sound) is sound
    with pytest.raises(InputError):
        read_audio(sound, sample_rate=8000)


def test_no_sample_rate_is_refused():
    with pytest.raises(MediaError) as caught:
        read_audio(noise(9))
    assert caught.value.code == "sample_rate_needed"


def test_an_empty_array_has_no_samples():
    assert "(0, 2)" in refusal(MediaError, "no_samples", np.zeros((0, 2)))


def out_of_range(array):
    with pytest.raises(MediaError) as caught:
        list(read(array).blocks())
    assert caught.value.code == "samples_out_of_range"
    with pytest.raises(MediaError):
        _ = read(array).samples
    return str(caught.value)


def test_integers_stored_as_floats_are_refused_with_the_largest_and_the_divisor():
    array = noise(50).astype(np.float64) * 32768
    message = out_of_range(array)
    assert f"{array[np.abs(array).argmax()]:g}" in message
    assert "32768" in message
    out_of_range(np.array([0, 17], np.float16))
    # Beyond float32, where the narrowed sample would be infinite.
    out_of_range(np.array([0, 1e300]))
    assert read(noise(50) * 16).samples.max() > 15


def test_nan_and_infinity_pass_through_and_hide_nothing():
    array = np.array([0.5, np.nan, np.inf, -np.inf, 16], np.float32)
    assert np.array_equal(read(array).samples[:, 0], array, equal_nan=True)
    assert "-17" in out_of_range(np.append(array, np.float32(-17)))


def test_channels_first_needs_to_be_said():
    array = noise(2, 40)
    message = refusal(MediaError, "bad_shape", array)
    assert "(2, 40)" in message and 'layout="CN"' in message
    assert np.array_equal(read(array, layout="CN").samples, array.T)
    assert read(array, layout="NC", channel_layout=None).info.channels == 40
    assert read(noise(1, 2), layout="NC").samples.shape == (1, 2)
    assert read(noise(9), layout="CN").samples.shape == (9, 1)
    refusal(InputError, "bad_layout", array, layout="TC")


@pytest.mark.parametrize(
    "array",
    [
        noise(60, 4)[::3, ::2],
        noise(20, 2)[::-1],
        noise(20, 2)[:, ::-1],
        np.asfortranarray(noise(20, 2)),
        np.broadcast_to(noise(20, 1), (20, 2)),
        noise(20, 2).astype(">f4"),
        np.frombuffer(b"x" + noise(20, 2).tobytes(), np.float32, 40, 1).reshape(20, 2),
        (noise(60, 4) * 100).astype(np.int16)[::3, ::2],
    ],
    ids=["steps", "backwards", "swapped", "columns", "repeated", "swapped bytes", "odd", "i16"],
)
def test_any_strides_read_as_their_packed_copy_and_stay_as_they_were(array):
    before = array.copy()
    array.flags.writeable = False
    packed = np.array(array, order="C", dtype=array.dtype.newbyteorder("="))
    expected = np.concatenate(list(read(packed).blocks()))
    for block in read(array, rate=8000).blocks():
        assert block.flags.c_contiguous and block.flags.aligned and block.dtype == np.float32
    assert np.array_equal(np.concatenate(list(read(array).blocks())), expected)
    assert np.array_equal(read(array).samples, expected)
    assert np.array_equal(array, before)


def test_float32_in_order_is_handed_out_without_a_copy_and_read_only():
    array = noise(20_000, 2)
    for block in read(array).blocks():
        assert np.shares_memory(block, array)
        assert not block.flags.writeable
    assert array.flags.writeable


@pytest.mark.parametrize(
    "source",
    [
        np.zeros(9, bool),
        np.zeros(9, complex),
        np.zeros(9, "M8[s]"),
        np.array(["a"]),
        np.array([None]),
    ],
    ids=["bool", "complex", "dates", "text", "objects"],
)
def test_what_holds_no_sound_is_refused(source):
    assert "integers or floats" in refusal(MediaError, "bad_dtype", source)


@pytest.mark.parametrize("shape", [(), (2, 3, 4), (1, 2, 800)])
def test_other_numbers_of_axes_are_refused(shape):
    assert str(shape) in refusal(MediaError, "bad_shape", np.zeros(shape))


@pytest.mark.parametrize("source", [[0.0, 0.5], {"array": 1}, 3.0, None, object()])
def test_what_is_no_array_is_refused(source):
    assert "cannot be read as sound" in refusal(MediaError, "bad_source", source)
    with pytest.raises(MediaError, match="cannot be read as sound"):
        read_audio(source)


@pytest.mark.parametrize("rate", [0, -1, 999, 768_001, 44100.5, True, "48000", float("nan")])
def test_a_rate_that_no_sound_has_is_refused(rate):
    assert "1000 to 768000" in refusal(InputError, "bad_sample_rate", noise(9), rate=rate)


@pytest.mark.parametrize("rate", [1000, 768_000, 44100.0, np.int64(22050)])
def test_any_whole_rate_in_between_is_taken(rate):
    info = read(noise(9), rate=rate).info
    assert info.sample_rate_hz == rate
    assert type(info.sample_rate_hz) is int


@pytest.mark.parametrize(
    ("name", "channels", "positions"),
    [
        ("5.1", 6, ("FL", "FR", "FC", "LFE", "BL", "BR")),
        ("5.1(side)", 6, ("FL", "FR", "FC", "LFE", "SL", "SR")),
        ("7.1", 8, ("FL", "FR", "FC", "LFE", "BL", "BR", "SL", "SR")),
        ("FL+FR+LFE", 3, ("FL", "FR", "LFE")),
        ("mono", 1, ("FC",)),
    ],
)
def test_a_named_layout_places_the_channels(name, channels, positions):
    info = read(noise(30, channels), channel_layout=name).info
    assert info.positions == positions
    assert info.channels == channels


def test_more_channels_than_two_are_an_unknown_layout():
    info = read(noise(30, 6)).info
    assert (info.layout, info.positions) == ("unknown", ())


@pytest.mark.parametrize("name", ["7.1", "stereo", "6 channels", "surround sound", "", 6])
def test_a_layout_that_does_not_fit_is_refused(name):
    refusal(InputError, "bad_channel_layout", noise(30, 6), channel_layout=name)


def test_a_stream_is_nothing_that_an_array_has():
    refusal(InputError, "bad_input", noise(9), stream=0)


class Offered:
    """Something that offers its memory in one way alone."""

    def __init__(self, array, *ways):
        for way in ways:
            setattr(self, way, getattr(array, way))


class Dlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_buffers_and_interfaces_are_read_like_arrays():
    array = noise(20, 2)
    for source in (memoryview(array), Offered(array, "__array_interface__"), Dlpack(array)):
        assert np.array_equal(read(source).samples, array)
    values = pyarray.array("h", [-32768, 0, 16384])
    assert read(values).samples[:, 0].tolist() == [-1, 0, 0.5]

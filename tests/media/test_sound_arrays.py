"""Samples in memory: scale, axes, names of channels, and what is refused."""

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


def test_integers_stored_as_floats_are_refused_with_the_divisor():
    message = refusal_of_reading(noise(50) * 32768)
    assert "32768" in message
    assert read(noise(50) * 16).samples.max() > 15


def refusal_of_reading(array):
    with pytest.raises(MediaError) as caught:
        list(read(array).blocks())
    assert caught.value.code == "samples_out_of_range"
    return str(caught.value)

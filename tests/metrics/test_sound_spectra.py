"""The spectra that the sound families share, against numpy's transform."""

import numpy as np
import pytest

from screentest._native import OnsetEnvelope, Spectrogram, simd_levels
from screentest.errors import InputError

HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(1024) / 1023)


def sound(samples, channels=2, seed=0):
    block = np.random.default_rng(seed).uniform(-0.5, 0.5, (samples, channels))
    return block.astype(np.float32)


def magnitudes(block, hop):
    mono = block.astype(np.float64).mean(axis=1)
    mono = np.pad(mono, (0, max(0, 1024 - len(mono))))
    frames = np.lib.stride_tricks.sliding_window_view(mono, 1024)[::hop]
    return np.abs(np.fft.rfft(frames * HANN))


def pushed(kernel, block, size):
    for start in range(0, len(block), size):
        kernel.push(block[start : start + size])
    return kernel.finish()


@pytest.mark.parametrize(("rate", "hop"), [(8000, 40), (22050, 110), (44100, 220), (48000, 240)])
@pytest.mark.parametrize("samples", [1500, 9000, 30000])
def test_flux_equals_the_rise_of_numpys_magnitudes_at_the_true_times(rate, hop, samples):
    block = sound(samples)
    times, flux = pushed(OnsetEnvelope(rate), block, 1000)
    expected = np.maximum(np.diff(magnitudes(block, hop), axis=0), 0.0).sum(axis=1)
    assert flux == pytest.approx(expected, rel=1e-11)
    assert times == pytest.approx((np.arange(len(expected)) + 1) * hop / rate + 512 / rate)


def test_flux_of_less_than_two_frames_is_empty():
    for samples in (0, 1, 1024, 1263):
        times, flux = pushed(OnsetEnvelope(48000), sound(samples), 500)
        assert len(times) == len(flux) == 0


@pytest.mark.parametrize("per_column", [1, 5])
def test_spectrogram_columns_are_mean_powers_of_their_frames(per_column):
    block = sound(20_000, channels=3)
    powers = pushed(Spectrogram(per_column), block, 777)
    expected = magnitudes(block, 512) ** 2 / 256**2
    groups = [expected[k : k + per_column].mean(axis=0) for k in range(0, 38, per_column)]
    assert powers == pytest.approx(np.array(groups), rel=1e-10)


def test_spectrogram_of_a_full_sine_has_power_one():
    sine = np.sin(2 * np.pi * 93.75 * np.arange(48000) / 48000 * 10).astype(np.float32)
    powers = pushed(Spectrogram(1000), sine[:, None], 48000)
    assert powers.shape == (1, 513)
    assert powers.argmax() == 20
    assert powers.max() == pytest.approx(1.0, rel=3e-3)


def test_spectrogram_of_a_short_sound_is_one_column_and_of_none_no_column():
    assert pushed(Spectrogram(4), sound(100), 100).shape == (1, 513)
    assert Spectrogram(4).finish().shape == (0, 513)


def test_every_dispatch_level_and_block_size_gives_the_same_bits():
    block = sound(12_345)
    for kernel in (lambda **k: OnsetEnvelope(44100, **k), lambda **k: Spectrogram(3, **k)):
        known = np.asarray(pushed(kernel(), block, 12_345))
        for level in simd_levels():
            for size in (1, 1024, 5000):
                assert np.array_equal(pushed(kernel(simd=level), block, size), known)


def test_a_finished_sound_and_a_block_of_another_order_are_refused():
    kernel = OnsetEnvelope(48000)
    with pytest.raises(InputError, match="C-contiguous"):
        kernel.push(sound(100)[:, ::-1])
    kernel.finish()
    with pytest.raises(InputError, match="finished"):
        kernel.finish()

"""The minimum requirements of EBU Tech 3341 (2023) and Tech 3342, one test for each case.

The signals are synthesised from the tables' descriptions. Cases 7 and 8 of Tech 3341 are programmes
that exist as files alone: in their place stand programmes of the same description, whose loudness
another program finds in the test. The tolerances are the documents': 0.1 LU of loudness, +0.2 and
-0.4 dB of true peak, 1 LU of loudness range.
"""

import numpy as np
import pytest

from screentest.metrics.audio import measure_audio
from tests import r128
from tests.oracles import sounds

RATE = 48000
TOLERANCE_LU = 0.1
TOLERANCE_LRA = 1.0


def measured(samples, layout=None):
    return measure_audio(sounds.q(samples), sample_rate=RATE, channel_layout=layout)


def tones(*parts):
    """Facts of a stereo sine of 1 kHz of (seconds, dBFS of each channel's peak)."""
    return measured(sounds.segments(parts, RATE))


def silence(seconds):
    return np.zeros((round(seconds * RATE), 2))


def tone(seconds, level):
    return sounds.segments([(seconds, level)], RATE)


def moments(facts, name, since):
    """Values of a series at the ends of the tenths that end ``since`` seconds or later."""
    series = facts.series
    ends = series.time_s + 0.1
    return getattr(series, name)[ends >= since - 1e-9]


def assert_reads(value, expected):
    assert value == pytest.approx(expected, abs=TOLERANCE_LU)


def test_ebu_3341_case_01_tone_at_minus_23():
    facts = tones((20, -23))
    assert_reads(facts.audio_lufs, -23.0)
    assert_reads(moments(facts, "momentary_lufs", 0.4), np.full(197, -23.0))
    assert_reads(moments(facts, "short_term_lufs", 3), np.full(171, -23.0))


def test_ebu_3341_case_02_tone_at_minus_33():
    facts = tones((20, -33))
    assert_reads(facts.audio_lufs, -33.0)
    assert_reads(facts.momentary_max_lufs, -33.0)
    assert_reads(facts.short_term_max_lufs, -33.0)


def test_ebu_3341_case_03_quiet_parts_are_gated_by_the_relative_gate():
    assert_reads(tones((10, -36), (60, -23), (10, -36)).audio_lufs, -23.0)


def test_ebu_3341_case_04_very_quiet_parts_are_gated_by_the_absolute_gate():
    parts = ((10, -72), (10, -36), (60, -23), (10, -36), (10, -72))
    assert_reads(tones(*parts).audio_lufs, -23.0)


def test_ebu_3341_case_05_parts_of_three_levels_all_count():
    assert_reads(tones((20, -26), (20.1, -20), (20, -26)).audio_lufs, -23.0)


@pytest.mark.parametrize(
    ("layout", "levels"),
    [
        ("5.0", (-28, -28, -24, -30, -30)),
        ("5.0(side)", (-28, -28, -24, -30, -30)),
        ("5.1", (-28, -28, -24, None, -30, -30)),
    ],
)
def test_ebu_3341_case_06_five_channels_are_weighted(layout, levels):
    facts = measured(sounds.surround(RATE, 20, levels), layout)
    assert_reads(facts.audio_lufs, -23.0)


def programme(seed, levels, seconds):
    """Noise with the tilt of speech and music, of these levels in turn, in dB."""
    gains = np.repeat([sounds.dbfs(level) for level in levels], round(seconds * RATE))
    noise = sounds.uniform(seed, gains.size, 2)
    return sounds.lowpass3(sounds.lowpass3(noise)) * gains[:, None]


def at_minus_23(ffmpeg, samples):
    """The samples at the gain at which ffmpeg reads -23.0 LUFS, and what it finds then."""
    found = r128.of_samples(ffmpeg, samples, RATE, "stereo")
    samples = samples * sounds.dbfs(-23.0 - found.integrated)
    found = r128.of_samples(ffmpeg, samples, RATE, "stereo")
    assert found.integrated == pytest.approx(-23.0, abs=0.02)
    return samples, found


def test_ebu_3341_case_07_programme_of_a_narrow_loudness_range(ffmpeg):
    """The document's is a file. This one steps by 1 to 4 dB; ffmpeg says where it reads -23.0."""
    levels = (-20, -18, -21, -19, -20, -17, -18, -20, -19, -21) * 2
    samples, theirs = at_minus_23(ffmpeg, programme(1, levels, 2.0))
    facts = measured(samples)
    assert_reads(facts.audio_lufs, -23.0)
    assert facts.loudness_range_lu == pytest.approx(theirs.range, abs=0.2)
    assert facts.loudness_range_lu < 5


def test_ebu_3341_case_08_programme_of_a_wide_loudness_range(ffmpeg):
    """The document's is a file. Half of this one lies below the relative gate, some of it below the
    absolute one; ffmpeg says where it reads -23.0."""
    levels = (-50, -20, -44, -14, -30, -85, -18, -48, -26, -52, -12, -40, -85, -22, -46, -16)
    samples, theirs = at_minus_23(ffmpeg, programme(2, levels, 4.0))
    facts = measured(samples)
    assert_reads(facts.audio_lufs, -23.0)
    assert facts.loudness_range_lu == pytest.approx(theirs.range, abs=0.2)
    assert facts.loudness_range_lu > 15
    assert facts.ungated_lufs < facts.audio_lufs - 2


def test_ebu_3341_case_09_short_term_loudness_is_constant():
    facts = tones(*[(1.34, -20), (1.66, -30)] * 5)
    short_term = moments(facts, "short_term_lufs", 3)
    assert_reads(short_term, np.full(121, -23.0))


@pytest.mark.parametrize("i", range(20))
def test_ebu_3341_case_10_largest_short_term_of_one_tone_after_any_pause(i):
    samples = np.concatenate([silence(0.15 * i), tone(3, -23), silence(1)])
    assert_reads(measured(samples).short_term_max_lufs, -23.0)


def test_ebu_3341_case_11_short_term_follows_tones_of_rising_level():
    parts = [
        (silence(0.15 * i), tone(3, -38 + i), silence(3 - 0.15 * i)) for i in range(20)
    ]  # fmt: skip
    for i in (0, 7, 19):
        samples = np.concatenate([part for group in parts[: i + 1] for part in group])
        assert_reads(measured(samples).short_term_max_lufs, -38.0 + i)


def test_ebu_3341_case_12_momentary_loudness_is_constant():
    facts = tones(*[(0.18, -20), (0.22, -30)] * 25)
    assert_reads(moments(facts, "momentary_lufs", 1), np.full(91, -23.0))


@pytest.mark.parametrize("i", range(20))
def test_ebu_3341_case_13_largest_momentary_of_one_tone_after_any_pause(i):
    samples = np.concatenate([silence(0.02 * i), tone(0.4, -23), silence(1)])
    assert_reads(measured(samples).momentary_max_lufs, -23.0)


def test_ebu_3341_case_14_momentary_follows_tones_of_rising_level():
    parts = [
        (silence(0.02 * i), tone(0.4, -38 + i), silence(0.4 - 0.02 * i)) for i in range(20)
    ]  # fmt: skip
    for i in range(20):
        samples = np.concatenate([part for group in parts[: i + 1] for part in group])
        assert_reads(measured(samples).momentary_max_lufs, -38.0 + i)


def assert_true_peak(facts, expected):
    assert expected - 0.4 <= facts.audio_true_peak_dbtp <= expected + 0.2


def faded_tone(divisor, amplitude, degrees):
    """A second of a sine of the sample rate over ``divisor``, with fades of 10 ms."""
    wave = sounds.sine(RATE // divisor, RATE, RATE, amplitude, degrees)
    return measured(sounds.faded(sounds.stereo(wave)))


def test_ebu_3341_case_15_true_peak_of_fs_over_4_at_0_degrees():
    assert_true_peak(faded_tone(4, 0.5, 0.0), -6.0)


def test_ebu_3341_case_16_true_peak_of_fs_over_4_at_45_degrees():
    facts = faded_tone(4, 0.5, 45.0)
    assert_true_peak(facts, -6.0)
    assert facts.audio_peak_dbfs == pytest.approx(-9.03, abs=0.01)


def test_ebu_3341_case_17_true_peak_of_fs_over_6_at_60_degrees():
    facts = faded_tone(6, 0.5, 60.0)
    assert_true_peak(facts, -6.0)
    assert facts.audio_peak_dbfs == pytest.approx(-7.27, abs=0.01)


def test_ebu_3341_case_18_true_peak_of_fs_over_8_at_67_5_degrees():
    facts = faded_tone(8, 0.5, 67.5)
    assert_true_peak(facts, -6.0)
    assert facts.audio_peak_dbfs == pytest.approx(-6.71, abs=0.01)


def test_ebu_3341_case_19_true_peak_of_fs_over_4_above_full_scale():
    facts = faded_tone(4, 1.41, 45.0)
    assert_true_peak(facts, 3.0)
    assert facts.audio_peak_dbfs < 0.0


def peak_between_samples(offset):
    """One period of a quarter of the sample rate at full scale in a sixth of it at half of that,
    made at four times the rate, then filtered and taken each fourth, beginning at ``offset``."""
    rate = 4 * RATE
    frequency = np.full(rate, RATE / 6)
    amplitude = np.full(rate, 0.5)
    # The sixth begins a period each 24 samples, the quarter's one has 16.
    start = rate // 2 // 24 * 24
    frequency[start : start + 16], amplitude[start : start + 16] = RATE / 4, 1.0
    phase = np.concatenate([[0.0], np.cumsum(frequency)[:-1]]) / rate
    wave = sounds.faded(sounds.stereo(amplitude * np.sin(2 * np.pi * phase)), 4 * 480)[:, 0]
    t = np.arange(-511, 512)
    taps = np.sinc(0.9 * t / 4) * np.kaiser(t.size, 8)
    filtered = np.convolve(wave, taps / taps.sum(), "same")
    return measured(sounds.stereo(filtered[offset::4]))


def test_ebu_3341_case_20_true_peak_at_an_offset_of_0():
    assert_true_peak(peak_between_samples(0), 0.0)


def test_ebu_3341_case_21_true_peak_at_an_offset_of_1():
    assert_true_peak(peak_between_samples(1), 0.0)


def test_ebu_3341_case_22_true_peak_at_an_offset_of_2():
    facts = peak_between_samples(2)
    assert_true_peak(facts, 0.0)
    assert facts.audio_peak_dbfs < -2.0


def test_ebu_3341_case_23_true_peak_at_an_offset_of_3():
    assert_true_peak(peak_between_samples(3), 0.0)


def assert_range(facts, expected):
    assert facts.loudness_range_lu == pytest.approx(expected, abs=TOLERANCE_LRA)


def test_ebu_3342_case_1_two_levels_10_lu_apart():
    assert_range(tones((20, -20), (20, -30)), 10)


def test_ebu_3342_case_2_two_levels_5_lu_apart():
    assert_range(tones((20, -20), (20, -15)), 5)


def test_ebu_3342_case_3_two_levels_20_lu_apart():
    assert_range(tones((20, -40), (20, -20)), 20)


def test_ebu_3342_case_4_five_levels_of_which_the_lowest_are_gated():
    assert_range(tones((20, -50), (20, -35), (20, -20), (20, -35), (20, -50)), 15)

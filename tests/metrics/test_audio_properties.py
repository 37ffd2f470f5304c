"""What must hold of any sound."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.metrics.audio import measure_audio
from tests.oracles import sounds

RATES = st.sampled_from([8000, 22050, 32000, 44100, 48000])
LEVELS = ("audio_rms_dbfs", "audio_peak_dbfs", "audio_true_peak_dbtp", "audio_side_dbfs")
OF_BOTH = (
    *("audio_rms_dbfs", "audio_peak_dbfs", "audio_true_peak_dbtp", "audio_clip_fraction"),
    *("audio_dc_offset", "audio_spectral_flatness", "audio_silence_fraction"),
    *("audio_max_silence_run", "audio_side_dbfs", "audio_stereo_separation_db"),
    *("audio_channel_correlation", "audio_lufs", "ungated_lufs", "momentary_max_lufs"),
)


@st.composite
def stereo(draw):
    """Half a second to four of noise and a tone, with a share common to both channels, a pause and
    an offset; and its rate."""
    rate = draw(RATES)
    seconds = draw(st.floats(0.5, 4.0))
    common = draw(st.floats(-1.0, 1.0))
    noise = sounds.uniform(draw(st.integers(0, 2**16)), round(seconds * rate), 2)
    wave = sounds.sine(draw(st.integers(50, rate // 3)), rate, len(noise), 0.5)
    samples = 0.2 * noise + 0.2 * wave[:, None] * np.array([1.0, common])
    pause = slice(*sorted(draw(st.tuples(*[st.integers(0, len(noise))] * 2))))
    samples[pause] = 0.0
    return (samples + draw(st.floats(-0.01, 0.01))).astype(np.float32), rate


def measured(samples, rate):
    return measure_audio(samples, sample_rate=rate)


@given(stereo())
def test_half_of_a_sound_is_6_02_db_below_it(given):
    samples, rate = given
    whole, half = measured(samples, rate), measured(samples / 2, rate)
    step = 20 * np.log10(2)
    for name in LEVELS:
        above = getattr(whole, name)
        if getattr(half, name) > -119:
            assert above - getattr(half, name) == pytest.approx(step, abs=1e-5), name
    if half.audio_lufs is not None:
        assert whole.audio_lufs - half.audio_lufs == pytest.approx(step, abs=1e-9)
    assert half.audio_channel_correlation == pytest.approx(whole.audio_channel_correlation)
    assert half.audio_dc_offset == whole.audio_dc_offset / 2


@given(stereo())
def test_swapped_channels_differ_in_nothing_but_their_order(given):
    samples, rate = given
    facts, swapped = measured(samples, rate), measured(samples[:, ::-1].copy(), rate)
    for name in OF_BOTH:
        expected = getattr(facts, name)
        assert getattr(swapped, name) == pytest.approx(expected, rel=1e-9, abs=1e-9), name
    places = [msgspec.structs.replace(c, position="") for c in facts.channels]
    assert [msgspec.structs.replace(c, position="") for c in swapped.channels] == places[::-1]


@given(stereo())
def test_turned_signs_change_nothing_but_the_offset(given):
    samples, rate = given
    facts, turned = measured(samples, rate), measured(-samples, rate)
    for name in OF_BOTH:
        assert getattr(turned, name) == getattr(facts, name), name
    assert [c.dc_offset for c in turned.channels] == [-c.dc_offset for c in facts.channels]


@given(stereo())
def test_levels_are_in_their_order(given):
    samples, rate = given
    facts = measured(samples, rate)
    assert facts.audio_rms_dbfs <= facts.audio_peak_dbfs + 1e-9
    # The filter's own sum for a sample is that sample within single precision.
    assert facts.audio_peak_dbfs <= facts.audio_true_peak_dbtp + 1e-5
    assert facts.audio_max_silence_run <= facts.audio_silence_fraction
    assert facts.series.peak_dbfs.max() == facts.audio_peak_dbfs
    if facts.audio_lufs is not None:
        # Where 10 ms are no whole samples, a moment is up to 0.25 % shorter than a gating block:
        # 0.01 LU of a steady sound, and more where it begins or ends beside that edge.
        slack = 1e-9 if rate % 100 == 0 else 0.1
        assert facts.ungated_lufs <= facts.audio_lufs + slack
        assert facts.audio_lufs <= facts.momentary_max_lufs + slack


@given(stereo(), st.integers(1, 5000))
def test_silence_before_a_sound_moves_its_places_alone(given, blocks):
    samples, rate = given
    size = round(0.05 * rate)
    before = np.zeros((size * (1 + blocks % 20), 2), np.float32)
    facts, later = measured(samples, rate), measured(np.concatenate([before, samples]), rate)
    assert later.audio_peak_dbfs == facts.audio_peak_dbfs
    assert later.audio_true_peak_dbtp == facts.audio_true_peak_dbtp
    shift = len(before) / rate
    assert later.loudest_s == pytest.approx(facts.loudest_s + shift, abs=70 / rate)
    if facts.first_clip_s is not None:
        assert later.first_clip_s == pytest.approx(facts.first_clip_s + shift)

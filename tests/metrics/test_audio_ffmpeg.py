"""Loudness and true peak beside ffmpeg's ``ebur128``, which runs here on the same samples."""

import numpy as np
import pytest

from screentest.media import read_audio
from screentest.metrics.audio import measure_audio
from tests import r128
from tests.oracles import sounds

LOUDNESS_LU = 0.1
TRUE_PEAK_DB = 0.1
RATES = (8000, 11025, 16000, 22050, 32000, 44100, 48000, 88200, 96000, 176400, 192000, 384000)
LAYOUTS = {"mono": 1, "stereo": 2, "2.1": 3, "quad": 4, "5.0": 5, "5.1": 6, "5.1(side)": 6}


def programme(rate, channels, seconds=4.0):
    """Beating partials with noise in each channel, louder from channel to channel. It fades: what
    the filter still holds after the last sample, ffmpeg leaves out."""
    levels = sounds.dbfs(np.linspace(-18.0, -3.0, channels))
    music = sounds.music(rate, seconds, rate + channels, channels)
    return sounds.q(sounds.faded(music, rate // 100) * levels)


def both(ffmpeg, samples, rate, layout):
    ours = measure_audio(samples, sample_rate=rate, channel_layout=layout)
    return ours, r128.of_samples(ffmpeg, samples, rate, layout)


def assert_equal(ours, theirs):
    assert ours.audio_lufs == pytest.approx(theirs.integrated, abs=LOUDNESS_LU)
    for channel, peak in zip(ours.channels, theirs.true_peaks, strict=True):
        if peak == -np.inf:
            assert channel.true_peak_dbtp == -120.0
            continue
        # ffmpeg writes the magnitude to three places.
        written = 20 * np.log10(1 + 0.0005 / 10 ** (peak / 20))
        assert channel.true_peak_dbtp == pytest.approx(peak, abs=TRUE_PEAK_DB + written)


def test_soundtrack_of_the_real_clip(ffmpeg, real_clip):
    """AAC 5.1 at 48 kHz, 5.3 s, whose effects channel is empty."""
    path = real_clip("bigbuckbunny")
    ours, theirs = measure_audio(path), r128.of_file(ffmpeg, path)
    assert ours.sound.layout == "5.1"
    assert ours.audio_lufs == pytest.approx(theirs.integrated, abs=LOUDNESS_LU)
    loudest = max(theirs.true_peaks)
    assert ours.audio_true_peak_dbtp == pytest.approx(loudest, abs=TRUE_PEAK_DB)
    found = [channel.true_peak_dbtp for channel in ours.channels]
    assert int(np.argmax(found)) == int(np.argmax(theirs.true_peaks)) == 2


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("layout", ["mono", "stereo", "5.1"])
def test_programme_at_every_rate(ffmpeg, rate, layout):
    samples = programme(rate, LAYOUTS[layout])
    assert_equal(*both(ffmpeg, samples, rate, layout))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_programme_in_every_layout_that_both_weigh_alike(ffmpeg, layout):
    assert_equal(*both(ffmpeg, programme(48000, LAYOUTS[layout]), 48000, layout))


def test_seven_channels_whose_backs_are_empty(ffmpeg):
    """FFmpeg counts the backs of 7.1 for surrounds, the standard for what stands behind."""
    samples = programme(48000, 8)
    samples[:, 4:6] = 0.0  # FL FR FC LFE BL BR SL SR
    assert_equal(*both(ffmpeg, samples, 48000, "7.1"))


def test_moments_and_range_of_a_programme_of_a_minute(ffmpeg):
    gains = np.repeat(sounds.dbfs(np.array([-20.0, -30.0, -12.0, -24.0, -40.0, -16.0])), 480000)
    samples = sounds.q(sounds.music(48000, 60.0, 5) * gains[:, None])
    ours, theirs = both(ffmpeg, samples, 48000, "stereo")
    assert_equal(ours, theirs)
    assert ours.loudness_range_lu == pytest.approx(theirs.range, abs=0.2)


def test_file_reads_as_its_samples(studio):
    path = studio("tone.flac", "-f", "lavfi", "-i", "sine=f=440:r=44100:d=2", "-c:a", "flac")
    with read_audio(path) as sound:
        samples = sound.samples
        ours = measure_audio(sound)
        assert ours == measure_audio(sound), "an opened sound stays open"
    from_array = measure_audio(samples, sample_rate=44100)
    for name in ("audio_lufs", "audio_true_peak_dbtp", "audio_rms_dbfs", "audio_spectral_flatness"):
        assert getattr(ours, name) == getattr(from_array, name)
    assert measure_audio(path).series == from_array.series

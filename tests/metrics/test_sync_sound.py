"""When a sound reads: the envelope against plain numpy, and sounds whose onset is known."""

import numpy as np
import pytest

from screentest.media.sound import read_audio
from screentest.metrics.sync.onsets import onsets
from screentest.metrics.sync.sound import read_flux


def flux_of(samples, sample_rate):
    with read_audio(samples, sample_rate=sample_rate) as sound:
        return read_flux(sound)


def events_of(flux):
    return onsets(
        flux.time_s, flux.flux, lately=flux.lately, floor=5.12 * flux.rms, part=0.3, block_s=0.5,
        apart_s=0.05, between=True,
    ).event_s  # fmt: skip


def plain_flux(samples, sample_rate):
    """Times of the middles of the frames compared, and the flux, in float64 numpy."""
    mono = samples.astype(np.float64).mean(axis=1)
    hop = round(0.005 * sample_rate)
    window = np.hanning(1024)
    frames = np.lib.stride_tricks.sliding_window_view(mono, 1024)[::hop] * window
    magnitudes = np.abs(np.fft.rfft(frames, axis=1))
    rises = np.maximum(np.diff(magnitudes, axis=0), 0).sum(axis=1)
    starts = hop * np.arange(len(frames))
    middles = (starts[:-1] + starts[1:] + 1024) / 2
    return middles / sample_rate, rises


@pytest.mark.parametrize("sample_rate", [22050, 44100, 48000])
def test_the_envelope_is_that_of_plain_numpy_a_quarter_of_a_window_later(sample_rate):
    samples = np.random.default_rng(1).normal(0, 0.1, (sample_rate * 2 + 77, 2)).astype(np.float32)
    time_s, rises = plain_flux(samples, sample_rate)
    flux = flux_of(samples, sample_rate)
    assert flux.flux == pytest.approx(rises, rel=1e-9)
    assert flux.time_s == pytest.approx(time_s + 256 / sample_rate, abs=1e-12)


@pytest.mark.parametrize("sample_rate", [8000, 11025, 22050, 44100, 48000, 88200, 96000, 176400])
@pytest.mark.parametrize("at", [0.5, 0.70021, 1.0])
def test_a_click_reads_at_its_own_time_within_a_millisecond(sample_rate, at):
    samples = np.zeros((2 * sample_rate, 1), np.float32)
    samples[round(at * sample_rate)] = 0.5
    flux = flux_of(samples, sample_rate)
    event = events_of(flux)
    assert len(event) == 1
    assert event[0] == pytest.approx(round(at * sample_rate) / sample_rate, abs=0.001)


@pytest.mark.parametrize("sample_rate", [8000, 22050, 44100, 48000])
@pytest.mark.parametrize("seed", range(5))
def test_a_noise_that_begins_and_stays_reads_late_by_no_more_than_is_said(sample_rate, seed):
    samples = np.zeros((2 * sample_rate, 1), np.float32)
    noise = np.random.default_rng(seed).normal(0, 0.1, (sample_rate, 1))
    samples[sample_rate:] = noise
    flux = flux_of(samples, sample_rate)
    event = events_of(flux)
    assert len(event) == 1
    assert -0.001 <= event[0] - 1.0 <= flux.attack_s + 0.005


@pytest.mark.parametrize("sample_rate", [8000, 44100, 48000, 192000])
def test_the_steps_of_an_hour_add_up_to_an_hour(sample_rate):
    # 220 samples are 4.9887 ms at 44.1 kHz: called 5 ms, two minutes would end 270 ms off.
    samples = np.zeros((120 * sample_rate, 1), np.float32)
    samples[119 * sample_rate] = 0.5
    flux = flux_of(samples, sample_rate)
    assert flux.time_s[np.argmax(flux.flux)] == pytest.approx(119.0, abs=0.005)


def test_the_sound_begins_where_its_stamps_say(studio):
    path = studio("late.mov", "-f", "lavfi", "-i", "color=s=32x32:r=25:d=2",
                  "-itsoffset", "0.25", "-f", "lavfi", "-i",
                  "aevalsrc=exprs='gte(t,1)*lt(t,1.001)*0.5':s=48000:d=2",
                  "-c:a", "pcm_s16le")  # fmt: skip
    with read_audio(path) as sound:
        flux = read_flux(sound)
    assert flux.time_s[np.argmax(flux.flux)] == pytest.approx(1.25, abs=0.005)


def test_a_steady_noise_and_a_tone_have_no_onsets():
    random = np.random.default_rng(2)
    time = np.arange(4 * 48000) / 48000
    for samples in (random.normal(0, 0.1, len(time)), 0.3 * np.sin(2 * np.pi * 440 * time)):
        assert len(events_of(flux_of(samples.astype(np.float32), 48000))) == 0

"""Pairs of sounds against the reference system's banked values, torchmetrics, and plain numpy."""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from screentest.metrics.audio_pair import measure_audio_pair
from tests.oracles import sounds

ORACLE = json.loads((Path(sounds.__file__).parent / "audio_pair.json").read_text())["pairs"]

# There the published search takes the largest correlation with its sign, so that a silent or an
# inverted candidate has a lag that means nothing, and what is measured at that lag means no more.
AT_A_FALSE_LAG = ("polarity", "silent_candidate", "silent_reference")
SILENT = ("silent_candidate", "silent_reference")


def sha256(samples):
    return hashlib.sha256(np.ascontiguousarray(samples).tobytes()).hexdigest()


def pair(name):
    reference, candidate, rate = sounds.audio_pair(name)
    assert [sha256(reference), sha256(candidate)] == ORACLE[name]["sha256"]
    return reference, candidate, rate


@pytest.mark.parametrize("name", ORACLE)
def test_pairs_read_what_the_reference_system_reports(name):
    reference, candidate, rate = pair(name)
    facts = measure_audio_pair(reference, candidate, sample_rate=rate)
    expected = ORACLE[name]["peer"]
    if name not in SILENT:
        delta = expected["audio_lufs_delta"]
        assert facts.audio_lufs_delta == pytest.approx(delta, abs=1e-5)
    if name in AT_A_FALSE_LAG:
        return
    # A candidate that is late reads a negative lag there.
    assert facts.audio_align_lag_ms == pytest.approx(-expected["audio_align_lag_ms"], abs=1e-6)
    assert facts.audio_si_sdr == pytest.approx(expected["audio_si_sdr"], abs=1e-4)
    assert facts.audio_snr_db == pytest.approx(expected["audio_snr_db"], abs=1e-4)
    assert facts.audio_lsd_db == pytest.approx(expected["audio_lsd_db"], rel=1e-6, abs=1e-9)
    assert facts.audio_mel_l1 == pytest.approx(expected["audio_mel_l1"], rel=1e-6, abs=1e-9)


def test_an_inverted_copy_is_a_perfect_copy_at_lag_zero_of_inverted_polarity():
    reference, candidate, rate = pair("polarity")
    facts = measure_audio_pair(reference, candidate, sample_rate=rate)
    assert (facts.audio_align_lag_ms, facts.polarity) == (0.0, "inverted")
    assert facts.lag_correlation == pytest.approx(-1.0, abs=1e-9)
    assert (facts.audio_si_sdr, facts.audio_lsd_db, facts.audio_mel_l1) == (99.0, 0.0, 0.0)
    # The difference is twice the sound.
    assert facts.audio_snr_db == pytest.approx(-20 * math.log10(2), abs=1e-6)


def test_a_silent_candidate_is_the_worst_there_is_and_has_no_lag_and_no_loudness():
    reference, candidate, rate = pair("silent_candidate")
    facts = measure_audio_pair(reference, candidate, sample_rate=rate)
    assert (facts.audio_si_sdr, facts.audio_snr_db) == (-120.0, 0.0)
    assert facts.audio_align_lag_ms is facts.audio_lufs_delta is facts.polarity is None
    reasons = {gap.axis: gap.reason for gap in facts.unmeasured}
    assert reasons["audio_align_lag_ms"] == "the candidate is digital silence"
    assert reasons["audio_lufs_delta"].startswith("the candidate has no loudness: ")


def test_a_silent_reference_has_no_signal_to_compare_with():
    reference, candidate, rate = pair("silent_reference")
    facts = measure_audio_pair(reference, candidate, sample_rate=rate)
    assert (facts.audio_si_sdr, facts.audio_snr_db) == (-120.0, -120.0)
    reasons = {gap.axis: gap.reason for gap in facts.unmeasured}
    assert reasons["audio_align_lag_ms"] == "the reference is digital silence"


@pytest.mark.parametrize("name", ["noise_m40", "lowpass", "clip03", "unrelated"])
def test_ratios_equal_torchmetrics(name):
    torch = pytest.importorskip("torch", reason="pip install 'screentest[reference]'")
    audio = pytest.importorskip(
        "torchmetrics.functional.audio", reason="pip install 'screentest[reference]'"
    )
    reference, candidate, rate = pair(name)
    facts = measure_audio_pair(reference, candidate, sample_rate=rate)
    lag = round(facts.audio_align_lag_ms * rate / 1000)
    a, b = (x.astype(np.float64).mean(axis=1) for x in (reference, candidate))
    a, b = a[max(0, -lag) :], b[max(0, lag) :]
    count = min(len(a), len(b))
    target, estimate = torch.from_numpy(a[:count]), torch.from_numpy(b[:count])
    si_sdr = audio.scale_invariant_signal_distortion_ratio(estimate, target, zero_mean=True)
    snr = audio.signal_noise_ratio(estimate, target)
    assert facts.audio_si_sdr == pytest.approx(float(si_sdr), abs=1e-4)
    assert facts.audio_snr_db == pytest.approx(float(snr), abs=1e-4)


def test_a_published_pair_of_tones_reads_its_published_values():
    rate = 32000
    t = np.arange(2 * rate) / rate
    left = 0.3 * np.sin(2 * np.pi * 440 * t) + 0.05 * np.sin(2 * np.pi * 97 * t**2)
    right = 0.25 * np.sin(2 * np.pi * 550 * t) * (t < 1.5)
    reference = np.stack([left, right], axis=1).astype(np.float32)
    late = np.concatenate([np.zeros((40, 2)), reference[:-40]])
    candidate = 0.8 * late + 0.01 * np.sin(2 * np.pi * 3000 * t)[:, None]
    facts = measure_audio_pair(reference, candidate.astype(np.float32), sample_rate=rate)
    assert facts.audio_align_lag_ms == 1.25
    assert facts.audio_si_sdr == pytest.approx(23.48245, abs=1e-4)
    assert facts.audio_snr_db == pytest.approx(13.67842, abs=1e-4)
    assert facts.audio_lufs_delta == pytest.approx(-1.91491, abs=1e-5)
    # Between the partials of clean tones lies nothing but rounding, which weighs as much there as
    # what is heard: a mean of the channels in single precision makes this much of a difference.
    assert facts.audio_lsd_db == pytest.approx(9.50411, rel=0.05)
    assert facts.audio_mel_l1 == pytest.approx(0.56761, rel=0.05)


# ---------------------------------------------------------------- the definitions again, in numpy

HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(1024) / 1023)


def magnitudes(mono):
    mono = np.pad(mono, (0, max(0, 1024 - len(mono))))
    frames = np.lib.stride_tricks.sliding_window_view(mono, 1024)[::256]
    return np.abs(np.fft.rfft(frames * HANN))


def mel_bands(rate):
    mel = np.linspace(0.0, 2595 * np.log10(1 + rate / 1400), 66)
    edges = np.floor(1025 * 700 * (10 ** (mel / 2595) - 1) / rate).astype(int)
    bands = np.zeros((64, 513))
    for row, low, middle, high in zip(bands, edges, edges[1:], edges[2:], strict=False):
        for j in range(low, min(middle, 513)):
            row[j] = (j - low) / (middle - low)
        for j in range(middle, min(high, 513)):
            row[j] = 1 - (j - middle) / (high - middle)
    return bands


def defined(a, b, rate):
    """(SI-SDR, SNR, LSD, mel L1) of two mono sounds that lie over each other."""
    r, c = a - a.mean(), b - b.mean()
    p = (c @ r) / (r @ r) * r
    si_sdr = 10 * np.log10((p @ p) / ((c - p) @ (c - p)))
    snr = 10 * np.log10((a @ a) / ((a - b) @ (a - b)))
    ma, mb = magnitudes(a), magnitudes(b)
    level = 20 * np.log10(np.maximum(ma, 1e-10)) - 20 * np.log10(np.maximum(mb, 1e-10))
    bands = mel_bands(rate)
    mel = np.log(np.maximum(ma @ bands.T, 1e-10)) - np.log(np.maximum(mb @ bands.T, 1e-10))
    return si_sdr, snr, np.sqrt((level**2).mean()), np.abs(mel).mean()


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 48000, 96000, 192000])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_programme_and_channels_equal_the_definition_at_every_rate(rate, channels):
    random = np.random.default_rng(rate + channels)
    count = int(1.3 * rate)
    clean = random.uniform(-0.5, 0.5, (count, channels)).astype(np.float32)
    noisy = (0.7 * clean + random.uniform(-0.1, 0.1, clean.shape) + 0.01).astype(np.float32)
    lag = rate // 40
    late = np.concatenate([np.zeros((lag, channels), np.float32), noisy])
    layout = "5.1" if channels == 6 else None
    facts = measure_audio_pair(clean, late, sample_rate=rate, channel_layout=layout, threads=2)
    assert facts.audio_align_lag_ms == pytest.approx(1000 * lag / rate)
    assert facts.compared_s == pytest.approx(count / rate)
    mixed = [x.astype(np.float64).mean(axis=1) for x in (clean, noisy)]
    found = (facts.audio_si_sdr, facts.audio_snr_db, facts.audio_lsd_db, facts.audio_mel_l1)
    assert found == pytest.approx(defined(*mixed, rate), rel=1e-9)
    if channels == 1:
        assert facts.channels == ()
        return
    assert [each.position for each in facts.channels][:2] == ["FL", "FR"]
    for c, each in enumerate(facts.channels):
        alone = [x[:, c].astype(np.float64) for x in (clean, noisy)]
        found = (each.si_sdr_db, each.snr_db, each.lsd_db, each.mel_l1)
        assert found == pytest.approx(defined(*alone, rate), rel=1e-9)


def test_lag_and_its_correlation_equal_the_definition_over_every_overlap():
    rate = 8000
    random = np.random.default_rng(5)
    a = random.uniform(-1, 1, 3000) + 0.3
    b = 0.5 * np.roll(a, 37) + random.uniform(-0.4, 0.4, 3000) - 0.1
    x, y = (np.float64(np.float32(s)) for s in (a, b))
    x, y = x - x.mean(), y - y.mean()

    def score(lag):
        r, c = x[max(0, -lag) : len(x) - max(0, lag)], y[max(0, lag) : len(y) - max(0, -lag)]
        return (r @ c) / np.sqrt((r @ r) * (c @ c))

    known = {lag: score(lag) for lag in range(-400, 401)}
    best = max(known, key=lambda lag: abs(known[lag]))
    facts = measure_audio_pair(np.float32(a), np.float32(b), sample_rate=rate)
    assert best == 37
    assert facts.audio_align_lag_ms == 1000 * best / rate
    assert facts.lag_correlation == pytest.approx(known[best], rel=1e-10)

"""Two sounds in memory. Each case asserts its answer before it is timed."""

import numpy as np
import pytest
from cozy_eval.metrics import audio as rival

from screentest.metrics.audio_pair import measure_audio_pair

PAIR = "audio_pair: two sounds of 60 s, 48 kHz stereo, in memory"
RATE = 48000


@pytest.fixture(scope="module")
def sounds():
    """Three beating partials and noise, and a copy that is 5 ms late, clipped and noisier."""
    random = np.random.default_rng(7)
    t = np.arange(60 * RATE) / RATE
    partials = ((220, 0.2), (331, 0.12), (1517, 0.06))
    tones = [sum(a * np.sin(2 * np.pi * f * t + c) for f, a in partials) for c in (0.0, 1.1)]
    clean = np.stack(tones, axis=1) + random.uniform(-0.1, 0.1, (len(t), 2))
    damaged = np.clip(clean, -0.3, 0.3) + random.uniform(-0.01, 0.01, clean.shape)
    late = np.concatenate([np.zeros((RATE // 200, 2)), damaged])[: len(clean)]
    return clean.astype(np.float32), late.astype(np.float32)


@pytest.fixture(scope="module")
def expected(sounds):
    return rival.paired_stats(*sounds, RATE)


@pytest.mark.benchmark(group=PAIR)
def bench_audio_pair_screentest(timed, sounds, expected, threads):
    """Ours compares both channels and each second besides."""

    def measure():
        return measure_audio_pair(*sounds, sample_rate=RATE, threads=threads)

    answer = measure()
    assert answer.audio_align_lag_ms == -expected["audio_align_lag_ms"] == 5.0
    for name in ("audio_si_sdr", "audio_snr_db", "audio_lsd_db", "audio_mel_l1"):
        assert getattr(answer, name) == pytest.approx(expected[name], rel=1e-6), name
    assert answer.audio_lufs_delta == pytest.approx(expected["audio_lufs_delta"], abs=1e-5)
    timed(measure, 20, against=lambda: rival.paired_stats(*sounds, RATE))


@pytest.mark.benchmark(group=PAIR)
def bench_audio_pair_cozy_eval(timed, sounds, expected):
    assert np.isfinite(list(expected.values())).all()
    timed(lambda: rival.paired_stats(*sounds, RATE), 6)

"""One sound: every fact beside the reference system's, and loudness with true peak beside ffmpeg's.
Each case asserts its answer before it is timed."""

import re
import resource
import shutil
import subprocess

import numpy as np
import pytest
from cozy_eval.metrics import audio as rival

from benches import material
from screentest.metrics.audio import measure_audio

ALL = "audio: 60 s of 48 kHz stereo in memory, all of it"
LOUDNESS = "audio_lufs and audio_true_peak_dbtp: 60 s of 48 kHz stereo wav, user time"
RATE = 48000

# Where the definitions are the same; the true peak's filters differ.
SAME = (
    *("audio_rms_dbfs", "audio_peak_dbfs", "audio_dc_offset", "audio_clip_fraction", "audio_lufs"),
    *("audio_side_dbfs", "audio_stereo_separation_db", "audio_channel_correlation"),
)


@pytest.fixture(scope="module")
def samples():
    return material.sound(60)


@pytest.fixture(scope="module")
def expected(samples):
    return rival.signal_stats(samples, RATE)


@pytest.mark.benchmark(group=ALL)
def bench_audio_screentest(timed, samples, expected, threads):
    """Ours has each channel, each tenth of a second and the loudness range besides."""

    def measure():
        return measure_audio(samples, sample_rate=RATE, threads=threads)

    answer = measure()
    for name in SAME:
        assert getattr(answer, name) == pytest.approx(expected[name], abs=1e-5), name
    flatness = expected["audio_spectral_flatness"]
    assert answer.audio_spectral_flatness == pytest.approx(flatness, rel=1e-6)
    true_peak = expected["audio_true_peak_dbtp"]
    assert answer.audio_true_peak_dbtp == pytest.approx(true_peak, abs=0.1)
    timed(measure, 40, against=lambda: rival.signal_stats(samples, RATE), turns=6)


@pytest.mark.benchmark(group=ALL)
def bench_audio_cozy_eval(timed, samples, expected):
    assert expected["audio_silence_fraction"] == 0.0
    timed(lambda: rival.signal_stats(samples, RATE), 6)


def user_seconds():
    """User time of this process, all threads, and of the programs that it ran."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_utime for kind in kinds)


@pytest.fixture(scope="module")
def ffmpeg():
    program = shutil.which("ffmpeg")
    if program is None:
        pytest.skip("loudness is compared with ffmpeg: apt-get install ffmpeg")

    def run():
        command = [program, "-hide_banner", "-nostats", "-i", str(material.sound_file(60))]
        command += ["-filter_complex", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        found = re.findall(r"^ +(?:I|Peak): +(\S+) (?:LUFS|dBFS)$", said, re.MULTILINE)
        # A filter that was set up and never used may have written a summary before.
        return [float(value) for value in found[-2:]]

    return run


@pytest.mark.benchmark(group=LOUDNESS, timer=user_seconds)
def bench_loudness_screentest(timed, ffmpeg, threads):
    """The file is read and everything measured, in this process; ffmpeg's time holds its start, of
    about 20 ms, and the two numbers alone."""

    def measure():
        return measure_audio(material.sound_file(60), threads=threads)

    answer = measure()
    loudness, true_peak = ffmpeg()
    assert answer.audio_lufs == pytest.approx(loudness, abs=0.1)
    assert answer.audio_true_peak_dbtp == pytest.approx(true_peak, abs=0.1)
    timed(measure, 40, against=ffmpeg, turns=20, clock=user_seconds)


@pytest.mark.benchmark(group=LOUDNESS, timer=user_seconds)
def bench_loudness_ffmpeg(timed, ffmpeg):
    assert np.isfinite(ffmpeg()).all()
    timed(ffmpeg, 20)

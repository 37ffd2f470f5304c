"""Sync of a clip in memory with its sound. Each case asserts its answer before it is timed."""

import numpy as np
import pytest
from cozy_eval.metrics import avsync as rival

from benches import material
from screentest.metrics.sync import measure_sync

GROUP = "sync: 48x720x1280 u8 rgb at 24 fps with 2 s of 48 kHz stereo in memory"
FPS, RATE, LATE_S = 24, 48_000, 0.12
FLASHES = (12, 21, 36)


@pytest.fixture(scope="module")
def clip():
    """A still of the real clip on which a square lights up, and a click after each."""
    frames = np.repeat(material.frames_720p(1), 48, axis=0)
    sound = np.zeros((2 * RATE, 2), np.float32)
    for at in FLASHES:
        frames[at : at + 2, 200:400, 300:600] = 255
        sound[round((at / FPS + LATE_S) * RATE)] = 0.5
    return frames, sound


def rival_of(frames, sound):
    return rival.sync_offset(frames, sound, RATE, fps=FPS)


@pytest.mark.benchmark(group=GROUP)
def bench_av_sync_offset_ms_screentest(timed, clip, threads):
    frames, sound = clip

    def measure():
        return measure_sync(frames, sound, frame_rate=FPS, sample_rate=RATE, threads=threads)

    assert measure().av_sync_offset_ms == pytest.approx(1e3 * LATE_S, abs=5)
    timed(measure, 40, against=lambda: rival_of(frames, sound), turns=5)


@pytest.mark.benchmark(group=GROUP)
def bench_av_sync_offset_ms_cozy_eval(timed, clip):
    frames, sound = clip
    answer = rival_of(frames, sound)
    assert answer.measured
    # It reads no finer than this, and takes the end of a flash for an event as well.
    assert answer.offset_ms == pytest.approx(1e3 * LATE_S, abs=20)
    timed(lambda: rival_of(frames, sound), 5)

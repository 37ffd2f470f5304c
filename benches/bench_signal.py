"""Signal statistics of frames in memory. Each case asserts its answer before it is timed."""

import pytest
from cozy_eval.metrics import signal as rival

from benches import material
from screentest.metrics.signal import measure_signal

FULL = "signal: 48x768x1344 u8 rgb in memory, all of it"
LIGHT = "signal: 121x768x1344 u8 rgb in memory, flicker and jerk alone"


@pytest.fixture(scope="module")
def clip():
    return material.generated_clip()[:48]


@pytest.fixture(scope="module")
def full(clip):
    return rival.score(clip)


@pytest.fixture(scope="module")
def whole():
    return material.generated_clip()


@pytest.fixture(scope="module")
def light(whole):
    return rival.temporal_score(whole)


@pytest.mark.benchmark(group=FULL)
def bench_signal_screentest(timed, clip, full, threads):
    def measure():
        return measure_signal(clip, threads=threads)

    answer = measure()
    for name in ("sharpness", "hf_ratio", "detail_entropy", "contrast", "saturation", "shimmer"):
        assert getattr(answer, name) == pytest.approx(getattr(full, name), rel=2e-5), name
    timed(measure, 30, against=lambda: rival.score(clip))


@pytest.mark.benchmark(group=FULL)
def bench_signal_cozy_eval(timed, clip, full):
    assert full.n_frames == len(clip)
    timed(lambda: rival.score(clip), 4)


@pytest.mark.benchmark(group=LIGHT)
def bench_flicker_screentest(timed, whole, light, threads):
    def measure():
        return measure_signal(whole, features=False, threads=threads)

    answer = measure()
    assert answer.flicker == pytest.approx(light["flicker"], abs=1e-5)
    assert answer.jerk_ratio == pytest.approx(light["jerk_ratio"], rel=2e-6)
    timed(measure, 40, against=lambda: rival.temporal_score(whole))


@pytest.mark.benchmark(group=LIGHT)
def bench_flicker_cozy_eval(timed, whole, light):
    assert set(light) >= {"flicker", "jerk_ratio"}
    timed(lambda: rival.temporal_score(whole), 10)

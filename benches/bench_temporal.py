"""Temporal facts of frames in memory. Each case asserts its answer before it is timed."""

import pytest
from cozy_eval.metrics import signal as rival

from benches import material
from screentest.metrics.temporal import measure_temporal

GROUP = "temporal: 48x768x1344 u8 rgb in memory, flicker located, jerk, cadence"


@pytest.fixture(scope="module")
def clip():
    return material.generated_clip()[:48]


@pytest.fixture(scope="module")
def reference(clip):
    """Two of the numbers: the reference system locates nothing."""
    return rival.temporal_score(clip)


@pytest.mark.benchmark(group=GROUP)
def bench_temporal_screentest(timed, clip, reference, threads):
    def measure():
        return measure_temporal(clip, threads=threads)

    answer = measure()
    assert answer.luma_flicker == pytest.approx(reference["flicker"], abs=1e-5)
    assert answer.jerk_ratio == pytest.approx(reference["jerk_ratio"], rel=2e-6)
    assert answer.flicker_strength < 0.5
    timed(measure, 60, against=lambda: rival.temporal_score(clip))


@pytest.mark.benchmark(group=GROUP)
def bench_temporal_cozy_eval_flicker_and_jerk_alone(timed, clip, reference):
    assert set(reference) >= {"flicker", "jerk_ratio"}
    timed(lambda: rival.temporal_score(clip), 20)

"""Measuring a file with every family of the base install, against decoding it and against the
reference system's same statistics. Each case asserts its answer before it is timed."""

import functools

import av
import cozy_eval
import numpy as np
import pytest
from cozy_eval.metrics import signal, tracks

import screentest
from benches import material
from benches.bench_screen import decode_luma

COST = "measure: 1280x720 h264 file, integrity, signal, temporal and tracks"
FASTER = "measure: 1280x720 h264 file, against the reference system's same statistics"


def measure(path, threads):
    return screentest.measure(path, threads=threads)


def reference_system(path, threads):
    """The same statistics by the reference system, whose signal score has flicker and jerk as well.

    Two of the three take frames alone, so they are decoded here, once for all.
    """
    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_type, stream.codec_context.thread_count = "AUTO", threads
        frames = np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(stream)])
    return cozy_eval.output_integrity(frames), signal.score(frames), tracks.track_stats(frames)


@pytest.fixture(scope="module")
def path():
    return str(material.real_720p())


@pytest.fixture(scope="module")
def reference(path, threads):
    return reference_system(path, threads)


def assert_same_answer(measured, reference):
    """Its numbers are those of RGB frames, ours of the decoder's planes: see tests/metrics."""
    integrity, score, stats = reference
    assert set(measured.facts) == {"integrity", "signal", "temporal", "tracks"}
    values = measured.values
    near = functools.partial(pytest.approx, rel=0.02)
    assert values["adjacent_frame_corr"] == near(integrity.adjacent_frame_corr)
    assert values["sharpness"] == near(score.sharpness)
    assert values["hf_ratio"] == near(score.hf_ratio)
    assert values["jerk_ratio"] == near(score.jerk_ratio)
    assert values["track_stability"] == near(stats.track_stability)


@pytest.mark.benchmark(group=COST)
def bench_measure_screentest(timed, path, reference, threads):
    assert_same_answer(measure(path, threads), reference)
    against = functools.partial(decode_luma, path, threads)
    timed(lambda: measure(path, threads), 15, against=against)


@pytest.mark.benchmark(group=COST)
def bench_measure_decode_luma(timed, path, threads):
    assert decode_luma(path, threads) == 132
    timed(lambda: decode_luma(path, threads), 15)


@pytest.mark.benchmark(group=FASTER)
def bench_measure_screentest_beside_cozy_eval(timed, path, reference, threads):
    assert_same_answer(measure(path, threads), reference)
    against = functools.partial(reference_system, path, threads)
    timed(lambda: measure(path, threads), 10, against=against, turns=3)


@pytest.mark.benchmark(group=FASTER)
def bench_measure_cozy_eval(timed, path, reference, threads):
    assert reference[1].n_frames == 132
    timed(lambda: reference_system(path, threads), 3)

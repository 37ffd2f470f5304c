"""Motion and detail of 720p frames in memory: ours, the reference system's and scipy's.

Flow is OpenCV's in both: what differs is that ours works on two pairs of frames side by side, and
measures the residuals in both directions beside it.
"""

import cozy_eval.metrics.detail
import cozy_eval.metrics.temporal
import numpy as np
import pytest
from scipy import ndimage

from benches import material
from screentest import _native
from screentest.metrics.flow import measure_flow
from screentest.metrics.paired import measure_pair

OVERSHOOT = "edge_overshoot: 1280x720 u8 rgb frame, against the reference system"
OVERSHOOT_SCIPY = "edge_overshoot: 1280x720 u8 rgb frame, against scipy"
FLOW = "flow: 25 frames of 1280x720 u8 rgb, 24 pairs"
FLOW_PAIR = "flow of a pair: twice 25 frames of 1280x720 u8 rgb, 24 pairs"
PAIRED = ("flow_divergence", "flow_epe", "motion_mag_ratio", "warp_error_delta")


@pytest.fixture(scope="module")
def clip():
    """The first 25 frames of the real clip, (25, 720, 1280, 3) uint8."""
    return material.frames_720p(25)


@pytest.fixture(scope="module")
def noisy(clip):
    noise = np.random.default_rng(3).normal(0, 4, clip.shape)
    return np.clip(clip + noise, 0, 255).astype(np.uint8)


# ------------------------------------------------------------------------------ edge_overshoot


def overshoot_of(threads):
    format = _native.FrameFormat.rgb(width=1280, height=720, dtype="uint8")
    kernel = _native.DetailKernel(format, threads=threads)
    return lambda frame: kernel.measure([frame])[0]["edge_overshoot"]


def by_scipy(frame):
    luma = frame.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32) / np.float32(255)
    blur = ndimage.gaussian_filter(luma, 1.2)
    slope = np.hypot(*np.gradient(blur))
    edge = slope >= np.percentile(slope, 95)
    band = ndimage.binary_dilation(edge, iterations=2) & ~edge
    return float(np.abs(luma - blur)[band].mean() / luma.std())


@pytest.mark.benchmark(group=OVERSHOOT)
def bench_overshoot_screentest(timed, clip, threads):
    ours, rival = overshoot_of(threads), cozy_eval.metrics.detail.edge_overshoot
    assert ours(clip[0]) == pytest.approx(rival(clip[0]), rel=1e-4)
    timed(lambda: ours(clip[0]), 200, against=lambda: rival(clip[0]), turns=20)


@pytest.mark.benchmark(group=OVERSHOOT)
def bench_overshoot_cozy_eval(timed, clip):
    timed(lambda: cozy_eval.metrics.detail.edge_overshoot(clip[0]), 20)


@pytest.mark.benchmark(group=OVERSHOOT_SCIPY)
def bench_overshoot_screentest_beside_scipy(timed, clip, threads):
    ours = overshoot_of(threads)
    assert ours(clip[0]) == pytest.approx(by_scipy(clip[0]), rel=1e-4)
    timed(lambda: ours(clip[0]), 200, against=lambda: by_scipy(clip[0]), turns=20)


@pytest.mark.benchmark(group=OVERSHOOT_SCIPY)
def bench_overshoot_scipy(timed, clip):
    timed(lambda: by_scipy(clip[0]), 20)


# ---------------------------------------------------------------------------------------- flow


@pytest.mark.benchmark(group=FLOW)
def bench_flow_screentest(timed, clip, threads):
    rival = cozy_eval.metrics.temporal.warp_error
    facts = measure_flow(clip, threads=threads)
    assert facts.warp_error == pytest.approx(rival(clip), rel=1e-3)
    timed(lambda: measure_flow(clip, threads=threads), 5, against=lambda: rival(clip), turns=5)


@pytest.mark.benchmark(group=FLOW)
def bench_flow_cozy_eval(timed, clip):
    timed(lambda: cozy_eval.metrics.temporal.warp_error(clip), 5)


@pytest.mark.benchmark(group=FLOW_PAIR)
def bench_flow_pair_screentest(timed, clip, noisy, threads):
    def ours():
        return measure_pair(clip, noisy, metrics=PAIRED, threads=threads)

    def rival():
        return cozy_eval.metrics.temporal.temporal_fidelity(clip, noisy)

    expected, scores = rival(), ours().scores
    assert {score.name for score in scores} == set(PAIRED)
    for score in scores:
        assert score.value == pytest.approx(expected[score.name], rel=1e-3, abs=1e-4)
    timed(ours, 3, against=rival, turns=3)


@pytest.mark.benchmark(group=FLOW_PAIR)
def bench_flow_pair_cozy_eval(timed, clip, noisy):
    timed(lambda: cozy_eval.metrics.temporal.temporal_fidelity(clip, noisy), 3)

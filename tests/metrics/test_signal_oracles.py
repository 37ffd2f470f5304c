"""The signal facts against the reference system's banked values."""

import json
from pathlib import Path

import av
import numpy as np
import pytest

from screentest.metrics.signal import measure_signal
from tests.oracles import clips

ORACLE = json.loads((Path(clips.__file__).parent / "signal.json").read_text())

# The reference computes in float32. (relative, absolute) tolerances by name: ten times the largest
# difference between it and an independent float64 program over all of these clips.
TOLERANCE = {
    "sharpness": (2e-5, 0),
    "sharpness_p10": (2e-5, 0),
    "detail_entropy": (0, 1e-4),
    "flicker": (0, 1e-5),
    "shimmer": (1e-5, 0),
    "local_contrast": (2e-6, 1e-7),
}
USUAL = (2e-6, 1e-7)

# A decoder's planes are not the RGB frame they become: swscale's default conversion drops
# fractions, which makes it a level darker (1.3 % of brightness and, with it, of flicker), adds
# noise of a level to what sees single levels, and interpolates the chroma that is repeated here.
# Measured over the four clips; the next larger round number is asserted.
PLANES = {
    "sharpness": 0.02,
    "sharpness_p10": 0.04,
    "hf_ratio": 0.01,
    "detail_entropy": 3e-3,
    "contrast": 1e-3,
    "saturation": 0.02,
    "local_contrast": 0.015,
    "brightness": 0.015,
    "flicker": 0.015,
    "jerk_ratio": 0.015,
    "shimmer": 0.02,
    "motion_energy": 0.011,
}


def check(facts, expected):
    for name in PLANES:
        relative, absolute = TOLERANCE.get(name, USUAL)
        want = pytest.approx(expected[name], rel=relative, abs=absolute)
        assert getattr(facts, name) == want, name
    assert facts.flat_frames == expected["flat_frames"]
    assert facts.degenerate == expected["is_degenerate"]
    first = facts.series.features()[0]
    if expected["contrast"] > 1e-4 or expected["flat_frames"] == 0:
        np.testing.assert_allclose(first, expected["features_first"], rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", ORACLE["clips"])
def test_synthetic_clip_equals_the_reference(name, oracle_clip):
    clip = oracle_clip(name)
    assert clips.sha256(clip) == ORACLE["clips"][name]["sha256"]
    check(measure_signal(clip), ORACLE["clips"][name])


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clip_as_rgb_equals_the_reference(name, real_clip):
    with av.open(str(real_clip(name))) as container:
        rgb = np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])
    same = clips.sha256(rgb) == ORACLE["real"][name]["sha256"]
    if not same:
        # Another swscale changes single levels.
        facts = measure_signal(rgb)
        for key in PLANES:
            relative, absolute = TOLERANCE.get(key, USUAL)
            want = pytest.approx(ORACLE["real"][name][key], rel=10 * relative, abs=10 * absolute)
            assert getattr(facts, key) == want, key
        return
    check(measure_signal(rgb), ORACLE["real"][name])


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clip_from_its_planes_is_near_the_reference(name, real_clip):
    facts = measure_signal(real_clip(name))
    for key, tolerance in PLANES.items():
        assert getattr(facts, key) == pytest.approx(ORACLE["real"][name][key], rel=tolerance), key


@pytest.mark.parametrize("name", ["carphone_pristine", "carphone_distorted"])
def test_luma_of_a_file_is_that_of_its_decoded_plane(name, real_clip):
    with av.open(str(real_clip(name))) as container:
        planes = [f.to_ndarray()[: f.height] for f in container.decode(video=0)]
    y = np.clip((np.stack(planes).astype(np.float64) - 16) / 219, 0, 1)
    facts = measure_signal(real_clip(name))
    motion = np.abs(np.diff(y, axis=0)).mean((1, 2))
    lap = y[:, :-2, 1:-1] + y[:, 2:, 1:-1] + y[:, 1:-1, :-2] + y[:, 1:-1, 2:]
    lap -= 4 * y[:, 1:-1, 1:-1]
    means = y.mean((1, 2))
    near = {"rel": 1e-9}
    assert facts.brightness == pytest.approx(means.mean(), **near)
    assert facts.contrast == pytest.approx(y.std((1, 2)).mean(), **near)
    assert facts.flicker == pytest.approx(100 * means.std() / means.mean(), **near)
    assert facts.motion_energy == pytest.approx(255 * motion.mean(), **near)
    jerk = np.abs(np.diff(y, 2, axis=0)).mean()
    assert facts.jerk_ratio == pytest.approx(jerk / motion.mean(), **near)
    assert facts.sharpness == pytest.approx((255 * lap).var((1, 2)).mean(), **near)

"""The integrity facts against three foreign sources: the reference system's banked values, the
formulas in float64 numpy, and cases worked out by hand."""

import functools
import json
import math
from pathlib import Path

import av
import numpy as np
import pytest

from screentest import _native
from screentest.metrics.integrity import measure_integrity
from tests.oracles import clips, integrity_float64

ORACLE = json.loads((Path(clips.__file__).parent / "integrity.json").read_text())

# The reference computes in float32; an independent float64 program differs from it by 2.1e-7 in
# the correlations, 1.6e-8 in the deviation and 9.2e-7 (relative) in the ratio over all of these.
ABSOLUTE = 1e-6
RELATIVE = 1e-5

# A decoder's planes are not the RGB frame they become: the conversion rounds each channel to 8
# bits, spreads the subsampled chroma and clamps what leaves the cube (the blacks of the carphone
# recordings). In float64 numpy that moves a correlation by at most 4.5e-4 (bikes, across its cut),
# the deviation by 4.9e-4 (carphone_distorted) and the ratio by 0.4 % (bigbuckbunny).
PLANES_ABSOLUTE = 1e-3
PLANES_RELATIVE = 1e-2


def check(facts, expected, *, absolute=ABSOLUTE, relative=RELATIVE):
    assert list(facts.corr_starts) == expected["starts"]
    assert facts.corr_series == pytest.approx(expected["corr_series"], rel=0, abs=absolute)
    assert facts.adjacent_frame_corr == pytest.approx(
        expected["adjacent_frame_corr"], rel=0, abs=absolute
    )
    assert facts.frame_std_min == pytest.approx(expected["frame_std_min"], rel=0, abs=absolute)
    if (grid := expected["grid"]) is None:
        assert facts.grid_peak_ratio is None
        assert facts.grid_period_px is None
        assert facts.grid_axis is None
        assert "grid" in {entry.axis for entry in facts.unmeasured}
    else:
        assert facts.grid_peak_ratio == pytest.approx(grid["grid_peak_ratio"], rel=relative)
        # Exact: n / k of two integers, banked to ten digits.
        assert facts.grid_period_px == pytest.approx(grid["grid_period_px"], rel=1e-9)
        assert facts.grid_axis == grid["grid_axis"]


def decode_rgb(path):
    with av.open(str(path)) as container:
        return np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])


@functools.lru_cache(maxsize=1)  # the tests of one clip follow each other, and it has 365 MB
def rgb(path):
    return decode_rgb(path)


@pytest.mark.parametrize("depth", ["full", "sampled"])
@pytest.mark.parametrize("name", clips.CLIPS)
def test_generated_clips_read_what_the_reference_system_reports(name, depth, oracle_clip):
    clip, expected = oracle_clip(name), ORACLE["clips"][name]
    assert list(clip.shape) == expected["shape"]
    assert clips.sha256(clip) == expected["sha256"], "not the material the values belong to"
    check(measure_integrity(clip, depth=depth), expected)


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_as_rgb_arrays_read_what_the_reference_system_reports(name, real_clip):
    clip, expected = rgb(real_clip(name)), ORACLE["real"][name]
    assert list(clip.shape) == expected["shape"]
    # Another build of swscale may change single levels.
    slack = 1 if clips.sha256(clip) == expected["sha256"] else 10
    check(measure_integrity(clip), expected, absolute=slack * ABSOLUTE, relative=slack * RELATIVE)


@pytest.mark.parametrize("depth", ["full", "sampled"])
@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_from_decoder_planes_stay_near_the_rgb_values(name, depth, real_clip):
    facts = measure_integrity(real_clip(name), depth=depth)
    assert facts.clip.luma_domain == "planes"
    check(facts, ORACLE["real"][name], absolute=PLANES_ABSOLUTE, relative=PLANES_RELATIVE)


def test_every_banked_clip_is_generated():
    assert set(clips.CLIPS) == set(ORACLE["clips"])


# ------------------------------------------------------------------ the formulas in float64 numpy


def random_clip(seed):
    """Noise over a drifting gradient; sizes on both sides of the stride and of the 512 px limit."""
    g = np.random.Generator(np.random.PCG64(seed))
    frames = int(g.integers(2, 9))
    height, width = int(g.integers(2, 600)), int(g.integers(2, 700))
    y, x, t = np.mgrid[0:height, 0:width, 0:frames]
    wave = 100 + 60 * np.sin((x + 3 * t) / g.uniform(5, 40)) * np.cos(y / g.uniform(5, 40))
    clip = np.moveaxis(wave, 2, 0)[..., None] + g.normal(0, g.uniform(1, 40), (frames, 1, 1, 3))
    clip = clip + g.normal(0, g.uniform(0, 30), (frames, height, width, 1))
    return clip.clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("seed", range(12))
def test_random_clips_agree_with_float64_numpy(seed):
    clip = random_clip(seed)
    facts = measure_integrity(clip)
    assert list(facts.corr_starts) == integrity_float64.pair_starts(len(clip))
    assert facts.corr_series == pytest.approx(integrity_float64.correlations(clip), rel=0, abs=1e-9)
    assert facts.adjacent_frame_corr == pytest.approx(np.median(facts.corr_series), rel=0, abs=0)
    assert facts.frame_std_min == pytest.approx(
        integrity_float64.frame_std_min(clip), rel=0, abs=1e-9
    )
    expected = integrity_float64.grid(clip)
    if expected is None:
        assert facts.grid_peak_ratio is None
    else:
        ratio, period, axis = expected
        # FFTs of different lengths and libraries: DESIGN allows 1e-9.
        assert facts.grid_peak_ratio == pytest.approx(ratio, rel=1e-9)
        assert facts.grid_period_px == pytest.approx(period, rel=1e-12)
        assert facts.grid_axis == axis


@pytest.mark.parametrize("frames", [2, 3, 4, 5, 6, 7, 24, 25, 28, 49, 132])
def test_pair_starts_are_evenly_spread_with_halves_to_even(frames):
    clip = np.zeros((frames, 2, 2, 3), np.uint8)
    starts = list(measure_integrity(clip).corr_starts)
    assert starts == integrity_float64.pair_starts(frames)
    by_hand = {24: [0, 6, 11, 16, 22], 25: [0, 6, 12, 17, 23], 49: [0, 12, 24, 35, 47]}
    assert starts == by_hand.get(frames, starts)


# ------------------------------------------------------------------------------ worked by hand


def grey(*frames):
    """uint8 RGB frames from rows of grey levels."""
    return np.repeat(np.array(frames, np.uint8)[..., None], 3, axis=-1)


def test_a_frame_against_itself_is_one():
    facts = measure_integrity(grey([[0, 100], [200, 50]], [[0, 100], [200, 50]]))
    assert facts.adjacent_frame_corr == pytest.approx(1, abs=1e-12)


def test_a_frame_against_its_negative_is_minus_one():
    facts = measure_integrity(grey([[0, 255], [255, 0]], [[255, 0], [0, 255]]))
    assert facts.adjacent_frame_corr == pytest.approx(-1, abs=1e-12)


def test_two_by_two_correlation_is_four_fifths():
    # Deviations -3 -1 1 3 and -3 1 -1 3 (times 10): (9 - 1 - 1 + 9) / 20 = 16 / 20.
    facts = measure_integrity(grey([[70, 90], [110, 130]], [[70, 110], [90, 130]]))
    assert facts.corr_series == pytest.approx([0.8], abs=1e-12)
    # Variance (900 + 100 + 100 + 900) / 4 = 500 in levels squared, for both frames.
    assert facts.frame_std_min == pytest.approx(math.sqrt(500) / 255, abs=1e-12)


def test_a_flat_frame_gives_correlation_zero_and_deviation_zero():
    facts = measure_integrity(grey([[119, 119], [119, 119]], [[0, 255], [255, 0]]))
    assert facts.corr_series == (0.0,)
    assert facts.frame_std_min == 0.0


def test_luma_weighs_red_green_and_blue():
    red = np.zeros((2, 2, 2, 3), np.uint8)
    red[:, 0, 0, 0] = 255
    green, blue = np.roll(red, 1, axis=-1), np.roll(red, 2, axis=-1)
    # One of four samples lit with weight w: the deviation is w * sqrt(3) / 4.
    for clip, weight in ((red, 0.299), (green, 0.587), (blue, 0.114)):
        expected = weight * math.sqrt(3) / 4
        assert measure_integrity(clip).frame_std_min == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("shape", "axis"), [((8, 512), "x"), ((512, 8), "y")])
def test_a_lattice_of_16_px_in_512_reads_511_over_32(shape, axis):
    along = np.arange(512) % 16 == 0
    frame = np.zeros(shape, np.uint8)
    frame[...] = 200 * (along[None, :] if axis == "x" else along[:, None])
    facts = measure_integrity(np.repeat(grey(frame), 2, axis=0))
    # 511 steps, so 1/16 per px lies at bin 31.94; the second harmonic (63.9) is past n // 8 = 63.
    assert facts.grid_period_px == pytest.approx(511 / 32, rel=1e-12)
    assert facts.grid_axis == axis
    assert facts.grid_peak_ratio > 6


def test_a_lattice_below_512_px_is_not_measured():
    assert measure_integrity(np.zeros((3, 511, 511, 3), np.uint8)).grid_peak_ratio is None


def test_native_module_is_a_release_build():
    # Oracles are checked on what ships: optimisation may not change a value.
    assert _native.BUILD_PROFILE == "release"

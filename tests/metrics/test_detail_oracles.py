"""The overshoot beside edges against the reference system's banked values."""

import json
from pathlib import Path

import av
import numpy as np
import pytest

from screentest.media import open_clip
from screentest.metrics.detail import measure_detail
from screentest.metrics.detail.accumulator import FrameDetail
from screentest.metrics.paired import measure_pair
from tests.oracles import clips

ORACLE = json.loads((Path(clips.__file__).parent / "detail.json").read_text())

# Two programs in single precision differ by 4e-7 of a value on camera clips.
RELATIVE = 1e-4
ABSOLUTE = 1e-6
SLACK = 10

# Of its slopes many are equal, and the twentieth's end falls among them: two correct programs
# differ by 5 %.
ILL_CONDITIONED = {"checker_parallax"}


def overshoots(clip, frames):
    """The numbers of some frames, by the kernel alone."""
    with open_clip(clip) as opened:
        detail = FrameDetail(opened.format, threads=1)
        return [detail.measure(f)["edge_overshoot"] for f in opened.frames_at(frames)]


@pytest.mark.parametrize("name", sorted(set(clips.CLIPS) - ILL_CONDITIONED))
def test_generated_clips_read_what_the_reference_system_reports(name, oracle_clip):
    clip, expected = oracle_clip(name), ORACLE["clips"][name]
    assert clips.sha256(clip) == expected["sha256"], "not the material the values belong to"
    for found, value in zip(overshoots(clip, expected["frames"]), expected["values"], strict=True):
        if np.isnan(found):
            # Flat frames: the reference system says 0.
            assert value == 0
        else:
            assert found == pytest.approx(value, rel=RELATIVE, abs=ABSOLUTE)


def decoded(path, wanted):
    with av.open(str(path)) as container:
        frames = enumerate(container.decode(video=0))
        return np.stack([f.to_ndarray(format="rgb24") for i, f in frames if i in set(wanted)])


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_as_rgb_arrays_read_what_the_reference_system_reports(name, real_clip):
    expected = ORACLE["real"][name]
    clip = decoded(real_clip(name), expected["frames"])
    found = overshoots(clip, range(len(clip)))
    assert found == pytest.approx(expected["values"], rel=SLACK * RELATIVE)


# Luma of the decoder's planes is neither rounded to 8 bits nor clamped, which a fine residue shows:
# up to 2 % on the small dark carphone.
PLANES = 0.02


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_from_decoder_planes_stay_near_the_rgb_values(name, real_clip):
    expected = ORACLE["real"][name]
    found = overshoots(real_clip(name), expected["frames"])
    assert found == pytest.approx(expected["values"], rel=PLANES)


@pytest.mark.parametrize("pair", ORACLE["pairs"])
def test_synthetic_pair_equals_the_reference_system(pair, oracle_clip):
    reference, candidate = (oracle_clip(name) for name in pair.split("|"))
    expected = ORACLE["pairs"][pair]
    picked = [clip[expected["frames"]] for clip in (reference, candidate)]
    (score,) = measure_pair(*picked, metrics=("ringing_excess",)).scores
    # A difference is as exact as its two sides.
    assert score.value == pytest.approx(np.mean(expected["values"]), abs=2 * ABSOLUTE)
    assert score.frames == 3


def test_real_pair_of_small_clips(real_clip):
    expected = ORACLE["real_pairs"]["carphone_pristine|carphone_distorted"]
    pair = [
        decoded(real_clip(f"carphone_{kind}"), expected["frames"])
        for kind in ("pristine", "distorted")
    ]
    (score,) = measure_pair(*pair, metrics=("ringing_excess",)).scores
    assert score.value == pytest.approx(np.mean(expected["values"]), abs=SLACK * ABSOLUTE)


def test_real_clip_against_its_blur(real_clip):
    expected = ORACLE["real_pairs"]["bikes|bikes_blur25"]
    clip = decoded(real_clip("bikes"), expected["frames"])
    (score,) = measure_pair(clip, clips.blur(clip), metrics=("ringing_excess",)).scores
    assert score.value == pytest.approx(np.mean(expected["values"]), abs=SLACK * ABSOLUTE)


# ------------------------------------------------------------------------- run inside the test


def by_scipy(luma):
    """Overshoot, strength and density as scipy and numpy compute them, in double precision."""
    ndimage = pytest.importorskip("scipy.ndimage", reason="pip install scipy")
    blur = ndimage.gaussian_filter(luma, 1.2)
    residue = np.abs(luma - blur)
    slope = np.hypot(*np.gradient(blur))
    strength = np.percentile(slope, 95)
    edge = slope >= strength
    wide = ndimage.binary_dilation(edge, iterations=2)
    return {
        "edge_overshoot": residue[wide & ~edge].mean() / luma.std(),
        "edge_strength": strength,
        "edge_density": (slope >= 0.02).mean(),
        "texture_residual": residue[~wide].mean(),
    }


@pytest.mark.parametrize("name", ["odd_321x243", "portrait_512x768", "block8", "tiny_12x10"])
def test_a_clip_agrees_with_scipy(name, oracle_clip):
    clip = oracle_clip(name)[:3]
    facts = measure_detail(clip)
    for i, frame in enumerate(clip):
        luma = (frame @ np.array([0.299, 0.587, 0.114])) / 255
        for key, value in by_scipy(luma).items():
            found = getattr(facts.series, key)[i]
            assert found == pytest.approx(value, rel=1e-5, abs=1e-6), key


def test_every_banked_clip_is_generated():
    assert set(clips.CLIPS) == set(ORACLE["clips"])

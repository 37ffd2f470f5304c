"""Dense flow against the reference system's banked values, and its two directions of warping."""

import json
from pathlib import Path

import av
import numpy as np
import pytest

from screentest.media import open_clip
from screentest.media.clip import Frame
from screentest.metrics.flow import FlowAccumulator, measure_flow
from screentest.metrics.flow.accumulator import wanted_frames
from screentest.metrics.paired import measure_pair
from tests.oracles import clips

pytest.importorskip("cv2", reason="pip install 'screentest[flow]'")

ORACLE = json.loads((Path(clips.__file__).parent / "flow.json").read_text())
PAIRED = ("flow_epe", "flow_divergence", "motion_mag_ratio", "warp_error_delta")

# OpenCV's flow and the published formulas in float64 differ by 8e-5 of a value, and by 5e-5 px
# where nothing moves.
RELATIVE = 1e-3
PIXELS = 2e-4
RESIDUAL = 1e-4
# The real clips of another swscale may differ in single levels.
SLACK = 10


def near(value, *, relative=RELATIVE, absolute=PIXELS):
    return pytest.approx(value, rel=relative, abs=absolute)


def check(facts, expected, *, slack=1):
    relative, pixels, residual = (slack * t for t in (RELATIVE, PIXELS, RESIDUAL))
    assert facts.series.start.tolist() == expected["starts"]
    assert [facts.working_width, facts.working_height] == expected["working_size"]
    assert facts.motion_mag == near(expected["motion_mag"], relative=relative, absolute=pixels)
    assert facts.series.motion_mag[:3] == near(
        expected["motion_mag_first3"], relative=relative, absolute=pixels
    )
    assert facts.pairs_flat == expected["pairs_skipped_flat"]
    assert facts.pairs - facts.pairs_flat == expected["pairs_used"]
    for name in ("flow_residual", "unwarped_residual"):
        if expected[name] is None:
            assert getattr(facts, name) is None
            continue
        assert getattr(facts, name) == near(expected[name], relative=relative, absolute=residual)


@pytest.mark.parametrize("name", clips.CLIPS)
def test_generated_clips_read_what_the_reference_system_reports(name, oracle_clip):
    clip, expected = oracle_clip(name), ORACLE["clips"][name]
    assert clips.sha256(clip) == expected["sha256"], "not the material the values belong to"
    facts = measure_flow(clip)
    check(facts, expected)
    if expected["pairs_skipped_flat"]:
        # There the published form divides by almost nothing: 1.9e5 for one black frame.
        assert facts.warp_error is None or facts.warp_error < 1
    else:
        assert facts.warp_error == near(expected["warp_error"], absolute=RESIDUAL)


def decoded(path, wanted):
    """Frames of a file as RGB, those of these indices alone."""
    keep = set(wanted)
    with av.open(str(path)) as container:
        for index, frame in enumerate(container.decode(video=0)):
            if index in keep:
                yield Frame(index, frame.time, (frame.to_ndarray(format="rgb24"),))


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_as_rgb_arrays_read_what_the_reference_system_reports(name, real_clip):
    expected = ORACLE["real"][name]
    with open_clip(real_clip(name)) as clip:
        info = clip.info
    frames = list(decoded(real_clip(name), wanted_frames(info.frames)))
    with open_clip(frames[0].planes[0][None]) as first:
        accumulator = FlowAccumulator(first.format, frames=info.frames, threads=2)
    accumulator.push_many(frames)
    check(accumulator.finish(info), expected, slack=SLACK)


# The decoder's planes are brought to grey without the rounding of R, G and B that swscale leaves
# in a frame: up to 1.4 % (the residual of carphone_pristine, which is nearly all noise).
PLANES = 0.02


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_from_decoder_planes_stay_near_the_rgb_values(name, real_clip):
    facts, expected = measure_flow(real_clip(name)), ORACLE["real"][name]
    assert facts.series.start.tolist() == expected["starts"]
    for value in ("motion_mag", "warp_error", "flow_residual", "unwarped_residual"):
        assert getattr(facts, value) == near(expected[value], relative=PLANES), value


@pytest.mark.parametrize("pair", ORACLE["pairs"])
def test_synthetic_pair_equals_the_reference_system(pair, oracle_clip):
    facts = measure_pair(*(oracle_clip(name) for name in pair.split("|")), metrics=PAIRED)
    for score in facts.scores:
        expected = ORACLE["pairs"][pair][score.name]
        assert score.value == near(expected), score.name
        assert score.frames == score.details["pairs"] == 24


def test_real_pair_of_small_clips(real_clip):
    pair = [
        np.stack([frame.planes[0] for frame in decoded(real_clip(f"carphone_{kind}"), range(120))])
        for kind in ("pristine", "distorted")
    ]
    check_pair(pair, ORACLE["real_pairs"]["carphone_pristine|carphone_distorted"])


def test_real_clip_against_its_blur(real_clip):
    frames = [frame.planes[0] for frame in decoded(real_clip("bikes"), range(48))]
    clip = np.stack(frames)
    check_pair((clip, clips.blur(clip)), ORACLE["real_pairs"]["bikes|bikes_blur25"])


def check_pair(pair, expected):
    for score in measure_pair(*pair, metrics=PAIRED).scores:
        assert score.value == near(
            expected[score.name], relative=SLACK * RELATIVE, absolute=SLACK * PIXELS
        ), score.name


def test_every_banked_clip_is_generated():
    assert set(clips.CLIPS) == set(ORACLE["clips"])

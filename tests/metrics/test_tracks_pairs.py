"""``track_stability_ratio`` as a metric of a comparison."""

import numpy as np
import pytest

import screentest
from screentest.metrics.paired import measure_pair
from screentest.metrics.tracks import measure_tracks, track_ratio
from tests.oracles import clips

RATIO = "track_stability_ratio"


def ratio(reference, candidate, **options):
    return screentest.compare(reference, candidate, metrics=[RATIO], **options)[RATIO]


def test_a_clip_against_itself_is_exactly_one(oracle_clip):
    score = ratio(oracle_clip("pan"), oracle_clip("pan").copy())
    assert (score.value, score.state) == (1.0, "measured")


def test_the_ratio_is_that_of_the_two_clips_measured_alone(oracle_clip):
    pan, warble = oracle_clip("pan"), oracle_clip("warble")
    score = ratio(pan, warble, align="index")
    assert score.value == track_ratio(measure_tracks(warble), measure_tracks(pan))
    assert score.value < 0.9
    assert score.details["track_stability_candidate"] < score.details["track_stability_reference"]


def test_a_flat_reference_is_unmeasured_and_named():
    flat = np.full((30, 64, 96, 3), 90, np.uint8)
    score = ratio(flat, clips.pan(30, 64, 96, 5), align="index")
    assert score.value is None
    assert score.reason.startswith("the reference: no window shows 8 corners")


def test_two_frames_are_too_few():
    clip = clips.pan(2, 64, 96, 5)
    score = ratio(clip, clip.copy())
    assert score.value is None
    assert "at least 3" in score.reason


def test_a_nan_is_refused_with_its_frame():
    clip = (clips.pan(30, 64, 96, 5) / 255).astype(np.float32)
    bad = clip.copy()
    bad[7, 3, 3, 0] = np.nan
    with pytest.raises(screentest.errors.MediaError, match="candidate frame 7 holds 1 NaN"):
        ratio(clip, bad, align="index")


def test_a_frame_that_goes_with_several_counts_once():
    slow = clips.pan(30, 64, 96, 5)
    fast = clips.pan(60, 64, 96, 6)
    pairs = [(i // 2, i) for i in range(60)]
    found = measure_pair(slow, fast, metrics=[RATIO], pairs=pairs)
    (score,) = found.scores
    assert score.value == track_ratio(measure_tracks(fast), measure_tracks(slow))

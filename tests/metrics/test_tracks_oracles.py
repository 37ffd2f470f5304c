"""Tracks against two foreign sources: the reference system's banked values, and OpenCV's own
Lucas-Kanade and corners on the same pictures."""

import functools
import json
import statistics
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from screentest import _native
from screentest.metrics.tracks import measure_tracks
from screentest.metrics.tracks.accumulator import window_frames
from tests.oracles import clips

ORACLE = json.loads((Path(clips.__file__).parent / "tracks.json").read_text())
TRACKED = [name for name, entry in ORACLE["clips"].items() if entry["tracks"]]
REFUSED = [name for name, entry in ORACLE["clips"].items() if not entry["tracks"]]

# (relative, absolute): one of the two must hold. A second program that follows the definitions
# differs by as much: a track within a thousandth of a pixel of a limit falls on either side of it.
TOLERANCE = {
    "track_stability": (0.0, 0.004),
    "track_survival": (0.0, 0.004),
    "track_jitter": (0.015, 0.004),
    "track_rigidity_error": (0.03, 0.01),
    "motion_magnitude": (0.005, 0.0),
}
STEP_PX = 1e-3

# Planes are not the RGB frames that they become (rounded, clamped, chroma spread), and luma is not
# quite the grey of those. Over the four clips, most of it on the small noisy ones: 0.0008 in
# stability, 0.004 in survival, 5 % in jitter, 3.6 % in rigidity, 2.7 % in motion.
PLANES = {
    "track_stability": (0.0, 0.004),
    "track_survival": (0.0, 0.01),
    "track_jitter": (0.1, 0.0),
    "track_rigidity_error": (0.08, 0.0),
    "motion_magnitude": (0.05, 0.0),
}


def format_of(clip):
    return _native.FrameFormat.rgb(width=clip.shape[2], height=clip.shape[1], dtype="uint8")


def greys_of(clip):
    format = format_of(clip)
    return [_native.grey8(format, [frame]) for frame in clip]


@functools.lru_cache(maxsize=1)  # the tests of one clip follow each other, and it has 365 MB
def rgb(path):
    with av.open(str(path)) as container:
        return np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])


def check_values(facts, expected, tolerance):
    for name, (relative, absolute) in tolerance.items():
        value, banked = getattr(facts, name), expected[name]
        if banked is None:
            assert value is None, name
            assert name in {gap.axis for gap in facts.unmeasured}
        else:
            assert value == pytest.approx(banked, rel=relative, abs=absolute), name


def check_windows(facts, expected, corners_off):
    assert [window.start for window in facts.windows] == expected["window_starts"]
    for window, banked in zip(facts.windows, expected["windows"], strict=True):
        assert window.frames == banked["span"] == len(window.brightness)
        assert abs(window.seeded - banked["n_seeded"]) <= corners_off
        assert (window.coherent is None) == (banked["n_alive"] < 8)
    assert facts.track_survival == sum(w.alive for w in facts.windows) / sum(
        w.seeded for w in facts.windows
    )
    seeded = sum(window.seeded for window in facts.windows)
    assert abs(seeded - expected["n_seeded"]) <= corners_off


def check_first_tracks(facts, expected):
    """The strongest corners of the first window, and where they went."""
    banked = expected["windows"][0]
    corners = np.array(banked["first_corners_xy"], np.float32)
    positions = facts.trajectories[0].positions[:, : len(corners)]
    assert np.array_equal(positions[0], corners)
    # A track that the reference lost has no position there.
    after = np.array(banked["first_corners_at_step1"], np.float64)
    assert np.nanmax(np.abs(positions[1] - after), initial=0.0) < STEP_PX
    # Over 23 steps the last bits add up where a corner is weak.
    end = np.array(banked["first_corners_at_end"], np.float64)
    assert np.nanmax(np.abs(positions[-1] - end), initial=0.0) < 0.05
    assert np.nanmedian(np.append(np.abs(positions[-1] - end), 0.0)) < STEP_PX
    assert np.array_equal(np.isnan(positions[-1]), np.isnan(end))


def check_grey(frame, expected, exact):
    grey = _native.grey8(format_of(frame[None]), [frame])
    width, height = expected["size"]
    assert grey.shape == (height, width)
    if exact:
        assert int(grey.sum()) == expected["sum"]
        assert clips.sha256(grey) == expected["sha256"]
    else:
        # The reference weighs in float32: one level in 0.03 % of the samples.
        assert abs(int(grey.sum()) - expected["sum"]) <= 1e-3 * grey.size


@pytest.mark.parametrize("name", TRACKED)
def test_generated_clips_read_what_the_reference_system_reports(name, oracle_clip):
    clip, entry = oracle_clip(name), ORACLE["clips"][name]
    assert list(clip.shape) == entry["shape"]
    assert clips.sha256(clip) == entry["sha256"], "not the material the values belong to"
    facts = measure_tracks(clip, trajectories=True)
    expected = entry["tracks"]
    check_grey(clip[0], expected["grey0"], exact=True)
    # Many corners of the checkered disc are equally strong but for the last bits of a float32.
    check_windows(facts, expected, corners_off=2 if name == "checker_parallax" else 0)
    check_first_tracks(facts, expected)
    check_values(facts, expected, TOLERANCE)


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_as_rgb_arrays_read_what_the_reference_system_reports(name, real_clip):
    clip, entry = rgb(real_clip(name)), ORACLE["real"][name]
    assert list(clip.shape) == entry["shape"]
    facts = measure_tracks(clip, trajectories=True)
    expected = entry["tracks"]
    same = clips.sha256(clip) == entry["sha256"]  # another swscale may change single levels
    check_grey(clip[0], expected["grey0"], exact=same and clip.shape[1] <= 384)
    check_windows(facts, expected, corners_off=0 if same else 5)
    if same:
        check_first_tracks(facts, expected)
    check_values(facts, expected, TOLERANCE)


@pytest.mark.parametrize("name", ORACLE["real"])
def test_real_clips_from_decoder_planes_stay_near_the_rgb_values(name, real_clip):
    facts = measure_tracks(real_clip(name))
    assert facts.clip.luma_domain == "planes"
    assert facts.frames_read == len(window_frames(facts.clip.frames, 4))
    check_values(facts, ORACLE["real"][name]["tracks"], PLANES)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_reference_system_refuses_is_unmeasured_or_too_short(name, oracle_clip):
    clip = oracle_clip(name)
    if len(clip) < 3:
        return  # test_tracks.py: fewer than three frames are refused
    facts = measure_tracks(clip)
    assert facts.track_stability is facts.track_survival is facts.motion_magnitude is None
    assert all("8 corners" in gap.reason for gap in facts.unmeasured)


def test_every_banked_clip_is_generated():
    assert set(clips.CLIPS) == set(ORACLE["clips"])


def test_windows_and_working_sizes_are_those_of_the_reference_system():
    for frames, starts in ORACLE["window_starts"].items():
        assert _native.window_starts(int(frames), 4, 24) == starts
    for size, expected in ORACLE["working_sizes"].items():
        width, height = map(int, size.split("x"))
        assert list(_native.working_size(width, height)) == expected


# ------------------------------------------------------------------------------------- OpenCV

NEEDS_OPENCV = "pip install opencv-python-headless"


@pytest.fixture
def cv2():
    return pytest.importorskip("cv2", reason=NEEDS_OPENCV)


def by_opencv(cv2, before, after, points):
    """OpenCV's positions of the points, and which of them it calls found."""
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 0.01)
    found, status, _ = cv2.calcOpticalFlowPyrLK(
        before, after, points[:, None], None, winSize=(21, 21), maxLevel=3, criteria=criteria
    )
    return found[:, 0], status[:, 0] == 1


@pytest.mark.parametrize("name", ORACLE["real"])
def test_points_lie_where_opencv_finds_them(name, real_clip, cv2):
    greys = greys_of(rgb(real_clip(name))[:96:3])
    near = both = 0
    for before, after in pairwise(greys):
        points = _native.track_corners(before)
        found, valid = by_opencv(cv2, before, after, points)
        ours = _native.track_points(before, after, points)
        mutual = valid & ~np.isnan(ours[:, 0])
        assert mutual.sum() >= 0.99 * max(valid.sum(), (~np.isnan(ours[:, 0])).sum())
        near += (np.abs(ours - found)[mutual].max(axis=1) <= 0.05).sum()
        both += mutual.sum()
    assert both > 1500
    assert near >= 0.99 * both


@pytest.mark.parametrize("name", ORACLE["real"])
def test_corners_are_opencvs_in_opencvs_order(name, real_clip, cv2):
    for grey in greys_of(rgb(real_clip(name))[::40]):
        theirs = cv2.goodFeaturesToTrack(grey, 400, 0.01, 8, blockSize=7)[:, 0]
        ours = _native.track_corners(grey)
        assert len(ours) == len(theirs)
        # Two responses that differ by less than a float32 holds may stand in either order.
        assert (ours == theirs).all(axis=1).mean() >= 0.99


@pytest.mark.parametrize(("shape", "seed"), [((720, 1280), 1), ((1080, 1920), 2), ((385, 512), 3),
                                             ((768, 1344), 4), ((500, 333), 5)])  # fmt: skip
def test_grey_of_a_resized_frame_is_opencvs_to_a_level(shape, seed, cv2):
    frame = np.random.default_rng(seed).integers(0, 256, (*shape, 3), np.uint8)
    size = _native.working_size(shape[1], shape[0])
    small = cv2.resize(frame, size, interpolation=cv2.INTER_AREA).astype(np.int64)
    theirs = (small @ [9798, 19235, 3735] + 16384) >> 15
    off = np.abs(_native.grey8(format_of(frame[None]), [frame]).astype(np.int64) - theirs)
    assert off.max() <= 1
    assert (off > 0).mean() <= 1e-3


def test_window_lives_and_dies_as_a_loop_around_opencv_says(oracle_clip, cv2):
    """The whole chain on a clip with a zoom: forward, back, bounds, once dead always dead."""
    clip = oracle_clip("zoom")
    facts = measure_tracks(clip, trajectories=True)
    for paths in facts.trajectories:
        greys = greys_of(clip[paths.start : paths.start + 24])
        height, width = greys[0].shape
        start = points = paths.positions[0]
        alive = np.ones(len(start), bool)
        for step, (before, after) in enumerate(pairwise(greys), 1):
            found, valid = by_opencv(cv2, before, after, points)
            back, returned = by_opencv(cv2, after, before, found)
            alive &= valid & returned & (np.linalg.norm(back - points, axis=1) < 1)
            alive &= (found >= 0).all(axis=1) & (found < [width - 1, height - 1]).all(axis=1)
            points = found
            assert (alive == (paths.alive_frames > step)).mean() >= 0.99
        both = alive & (paths.alive_frames == 24)
        assert np.median(np.abs(paths.positions[-1] - points)[both]) < STEP_PX


# ------------------------------------------------------------------- the shape, in float64 numpy


def similarity(a, b):
    """Three rounds of a reweighted fit of b ~ M a + t, as complex numbers: M z = m z."""
    a, b = a @ [1, 1j], b @ [1, 1j]
    m, t, weights = 1 + 0j, 0j, np.ones(len(a))
    for _ in range(3):
        ca, cb = (weights @ a) / weights.sum(), (weights @ b) / weights.sum()
        m = (weights * (a - ca).conj()) @ (b - cb) / (weights @ np.abs(a - ca) ** 2)
        t = cb - m * ca
        residual = np.abs(b - m * a - t)
        weights = 1 / (1 + (residual / (2 * max(np.median(residual), 0.05))) ** 2)
    return m, t


def shape_of(positions):
    """(coherence, jitter, rigidity) of tracks (frames, tracks, 2) by the definitions."""
    p = positions.astype(np.float64)
    z = p @ [1, 1j]
    speed = np.maximum(np.median(np.abs(np.diff(z, axis=0)), axis=0), 0.25)
    chain, offset, still = 1 + 0j, 0j, [z[0]]
    for a, b in pairwise(p):
        m, t = similarity(a, b)
        chain, offset = chain / m, offset - chain / m * t
        still.append(chain * (b @ [1, 1j]) + offset)
    jitter = np.abs(np.diff(still, n=2, axis=0)).mean(axis=0) / speed
    # Corners lie on whole pixels: squared, equal distances are equal.
    apart = np.square(p[0][:, None] - p[0][None]).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, :6]
    distance = np.abs(z[:, :, None] - z[:, near])
    ratio = distance / np.maximum(distance[:1], 2)
    ratio /= np.maximum(np.median(ratio, axis=(1, 2), keepdims=True), 1e-6)
    rigidity = 100 * np.abs(np.diff(ratio, n=2, axis=0)).mean(axis=0).mean(axis=1)
    return 1 / (1 + (jitter / 0.1) ** 2) / (1 + (rigidity / 0.8) ** 2), jitter, rigidity


@pytest.mark.parametrize("name", ["zoom", "warble", "odd_321x243", "three_frames"])
def test_shape_of_the_tracks_agrees_with_float64_numpy(name, oracle_clip):
    facts = measure_tracks(oracle_clip(name), trajectories=True)
    for window, paths in zip(facts.windows, facts.trajectories, strict=True):
        alive = paths.alive_frames == window.frames
        assert alive.sum() == window.alive
        coherence, jitter, rigidity = shape_of(paths.positions[:, alive])
        assert paths.coherence[alive] == pytest.approx(coherence, rel=1e-9)
        assert paths.jitter[alive] == pytest.approx(jitter, rel=1e-9)
        assert paths.rigidity[alive] == pytest.approx(rigidity, rel=1e-9)
        assert np.isnan(paths.jitter[~alive]).all()
        assert window.coherent == pytest.approx(coherence.sum(), rel=1e-9)
        assert window.jitter == pytest.approx(np.median(jitter), rel=1e-9)
        assert window.rigidity_error == pytest.approx(np.median(rigidity), rel=1e-9)
        steps = np.diff(paths.positions[:, alive].astype(np.float64), axis=0)
        lengths = np.linalg.norm(steps, axis=2).mean(axis=1)
        assert window.motion == pytest.approx(statistics.median(lengths), rel=1e-9)


def test_brightness_is_the_mean_of_the_grey_of_each_frame(oracle_clip):
    clip = oracle_clip("fade")
    facts = measure_tracks(clip)
    for window in facts.windows:
        greys = greys_of(clip[window.start : window.start + window.frames])
        assert window.brightness == pytest.approx([grey.mean() for grey in greys], rel=1e-12)

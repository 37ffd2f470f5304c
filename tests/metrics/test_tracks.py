"""Tracks of clips whose motion is known, what is refused, and that nothing changes a bit."""

import os
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.media import open_clip
from screentest.media.clip import Frame
from screentest.metrics.family import Begin
from screentest.metrics.tracks import (
    IMPL,
    METRICS,
    TrackAccumulator,
    TrackWindow,
    measure_tracks,
    track_ratio,
)
from screentest.metrics.tracks.accumulator import window_frames
from screentest.metrics.tracks.family import FAMILY
from tests.oracles import clips


def moved(frames, height=240, width=320, *, vx=384, vy=0, seed=41):
    """A textured picture moved by (vx, vy) 256ths of a pixel per frame."""
    return clips.pan(frames, height, width, seed, vx=vx, vy=vy)


def rgb_format(clip, **options):
    return _native.FrameFormat.rgb(
        width=clip.shape[2], height=clip.shape[1], dtype=clip.dtype.name, **options
    )


# -------------------------------------------------------------------------------- known motion


def waves(frames, vx, vy, height=240, width=320):
    """A picture of sines, wavelengths of 11 px up, moved by exactly (vx, vy) pixels per frame."""
    g = np.random.default_rng(8)
    y, x, t = np.mgrid[0:height, 0:width, 0:frames]
    clip = np.zeros(x.shape)
    for _ in range(40):
        angle, length = g.uniform(0, np.pi), g.uniform(11, 40)
        along = (x - vx * t) * np.cos(angle) + (y - vy * t) * np.sin(angle)
        clip += np.sin(2 * np.pi * along / length + g.uniform(0, 2 * np.pi))
    return np.moveaxis(np.rint(127.5 + 14 * clip).clip(0, 255).astype(np.uint8), 2, 0)


@pytest.mark.parametrize(("vx", "vy"), [(1.5, 0), (-1.5, 0), (0, 1.5), (1.06, -1.06), (0.3, 0.1)])
def test_a_subpixel_shift_is_tracked_within_a_twentieth_px(vx, vy):
    facts = measure_tracks(waves(24, vx, vy), layout="THW", trajectories=True)
    (paths,) = facts.trajectories
    alive = paths.alive_frames == 24
    assert alive.sum() > 100
    steps = np.diff(paths.positions[:, alive], axis=0)
    # A window over the edge sees the mirrored picture, which moves the other way.
    here = paths.positions[1:, alive]
    inside = ((here >= 12) & (here <= [320 - 13, 240 - 13])).all(axis=2)
    assert inside.mean() > 0.8
    assert np.abs(steps - [vx, vy])[inside].max() < 0.05
    assert facts.motion_magnitude == pytest.approx(np.hypot(vx, vy), abs=0.005)
    assert facts.track_stability > 0.7


def test_a_cut_ends_the_tracks():
    clip = np.concatenate([moved(12), moved(12, seed=77)])
    (paths,) = measure_tracks(clip, trajectories=True).trajectories
    assert (paths.alive_frames > 11).mean() > 0.8, "they live up to it"
    # A corner may find a corner of the other picture that leads back to it.
    assert (paths.alive_frames > 12).mean() < 0.1
    assert (paths.alive_frames == 24).mean() < 0.05


def test_tracks_of_an_object_that_leaves_end_where_it_leaves():
    clip = np.repeat(moved(1, vx=0), 24, axis=0)
    patch = clips.to_u8(clips.texture(96, 64, 7, rects=False) * 3 // 2)
    for i, frame in enumerate(clip):
        x = 240 + 4 * i  # its right edge meets the picture's at frame 4, its left one after 20
        seen = max(0, min(64, 320 - x))
        frame[70:166, x : x + seen] = patch[:, :seen]
    (paths,) = measure_tracks(clip, trajectories=True).trajectories
    first = paths.positions[0]
    on_it = (np.abs(first[:, 0] - 272) < 25) & (np.abs(first[:, 1] - 118) < 40)
    far = (first[:, 0] < 215) | (first[:, 1] < 50) | (first[:, 1] > 190)
    assert on_it.sum() >= 10
    assert (paths.alive_frames[far] == 24).all()
    # A corner at x would be past the last column but one after (319 - x) / 4 frames.
    leaves = np.ceil((319 - first[on_it, 0]) / 4)
    lived = paths.alive_frames[on_it]
    assert (lived <= leaves).all()
    assert np.median(leaves - lived) <= 3, "they live until their window is cut by the edge"
    # Two that lie on the object's own edge are lost as it meets the picture's, some px before.
    assert paths.left_picture[on_it].sum() >= on_it.sum() - 2, "and are known to have left"
    assert not paths.left_picture[far].any()
    # While its window is inside the picture, a track goes where the object goes.
    frame = np.minimum(lived - 1, (308 - first[on_it, 0]).astype(int) // 4)
    there = paths.positions[frame, np.flatnonzero(on_it), 0]
    assert np.median(np.abs(there - first[on_it, 0] - 4 * frame)) < 0.1


def test_a_frozen_clip_is_perfectly_steady(oracle_clip):
    facts = measure_tracks(oracle_clip("frozen"))
    assert (facts.track_stability, facts.track_survival) == (1.0, 1.0)
    assert (facts.track_jitter, facts.track_rigidity_error, facts.motion_magnitude) == (0, 0, 0)


def test_a_step_of_exposure_shows_in_the_brightness_of_its_frame(oracle_clip):
    facts, steady = (measure_tracks(oracle_clip(name)) for name in ("gain_one", "pan"))
    assert facts.track_stability < 0.7 * steady.track_stability
    for window in facts.windows:
        steps = np.abs(np.diff(window.brightness))
        at = 15 - window.start  # the frame that is 2 % brighter
        assert set(np.argsort(steps)[-2:]) == {at - 1, at}
        assert steps[at] == pytest.approx(0.02 * window.brightness[at], rel=0.1)


# ------------------------------------------------------------------------- what is not measured


@pytest.mark.parametrize("name", ["black", "white", "grey"])
def test_a_flat_clip_is_unmeasured(name, oracle_clip):
    facts = measure_tracks(oracle_clip(name))
    assert [window.seeded for window in facts.windows] == [0]
    assert all(value is None for value in FAMILY.values(facts).values())
    reasons = FAMILY.reasons(facts)
    assert set(reasons) == set(FAMILY.values(facts))
    assert all("8 corners" in reason for reason in reasons.values())


def test_stripes_have_no_corners():
    """All gradients are parallel: the smaller eigenvalue is exactly zero."""
    stripes = np.repeat((np.arange(200) * 37 % 256).astype(np.uint8)[None], 150, axis=0)
    clip = np.stack([np.roll(stripes, i, axis=1) for i in range(4)])
    assert measure_tracks(clip, layout="THW").windows[0].seeded == 0


def test_noise_has_a_stability_of_zero_and_no_jitter():
    noise = np.random.default_rng(3).integers(0, 256, (4, 120, 160), np.uint8)
    facts = measure_tracks(noise, layout="THW")
    assert facts.track_stability == 0.0
    assert facts.track_survival < 0.05
    assert facts.track_jitter is None
    assert "live to the end" in FAMILY.reasons(facts)["track_jitter"]


@pytest.mark.parametrize("frames", [1, 2])
def test_fewer_than_three_frames_are_refused(frames):
    with pytest.raises(MediaError, match="at least 3") as caught:
        measure_tracks(moved(frames))
    assert caught.value.code == "too_few_frames"


def test_three_frames_are_enough():
    assert measure_tracks(moved(3)).track_survival > 0.8


def test_an_unknown_length_is_refused_with_what_to_give():
    clip = moved(3)
    with pytest.raises(InputError, match="frames=") as caught:
        TrackAccumulator(rgb_format(clip), frames=None)
    assert caught.value.code == "frames_missing"


@pytest.mark.parametrize("windows", [0, -1, 1.5, True, "4"])
def test_windows_that_are_no_count_are_refused(windows):
    with pytest.raises(InputError, match="windows="):
        measure_tracks(moved(3), windows=windows)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_frame_that_is_not_finite_is_named(bad):
    clip = moved(30).astype(np.float32) / 255
    clip[17, 20, 30, 1] = bad
    with pytest.raises(MediaError, match="frame 17") as caught:
        measure_tracks(clip)
    assert (caught.value.code, caught.value.context["frame"]) == ("non_finite", 17)


def test_a_value_out_of_its_range_is_named_with_its_frame():
    clip = moved(4).astype(np.float32) / 255
    clip[2, 0, 0, 0] = 1.5
    with pytest.raises(MediaError, match="frame 2 "):
        measure_tracks(clip)


def test_unit_floats_said_to_reach_255_are_refused():
    clip = moved(4).astype(np.float32) / 255
    accumulator = TrackAccumulator(rgb_format(clip, value_range=(0.0, 255.0)), frames=4)
    accumulator.push_many([Frame(i, None, (frame,)) for i, frame in enumerate(clip)])
    with pytest.raises(MediaError, match="value_range"):
        accumulator.finish(open_clip(moved(4)).info)


def test_frames_that_do_not_ascend_are_refused():
    clip = moved(5)
    accumulator = TrackAccumulator(rgb_format(clip), frames=5)
    accumulator.push(Frame(2, None, (clip[2],)))
    with pytest.raises(InputError):
        accumulator.push(Frame(2, None, (clip[2],)))


def test_planes_and_points_of_another_shape_are_refused():
    clip, grey = moved(3), np.zeros((30, 40), np.uint8)
    accumulator = TrackAccumulator(rgb_format(clip), frames=3)
    with pytest.raises(InputError):
        accumulator.push(Frame(0, None, (clip[0, :-1],)))
    accumulator.push(Frame(0, None, (clip[0],)))
    with pytest.raises(InputError, match="x and y"):
        _native.track_points(grey, grey, np.zeros((4, 3), np.float32))
    with pytest.raises(InputError, match=r"40x30.*40x29"):
        _native.track_points(grey, grey[1:], np.zeros((4, 2), np.float32))
    with pytest.raises(InputError, match="0x30"):
        _native.track_corners(grey[:, :0])
    with pytest.raises(InputError, match="simd"):
        _native.track_corners(grey, simd="mmx")
    lost = np.array([[np.nan, 3], [np.inf, 3], [-50, 3]], np.float32)
    assert np.isnan(_native.track_points(grey, grey, lost)).all()


def test_a_window_with_a_gap_counts_for_nothing_and_says_so():
    clip = moved(120)
    info = open_clip(clip).info
    accumulator = TrackAccumulator(rgb_format(clip), frames=120)
    kept = [i for i in window_frames(120, 4) if i != 70]
    accumulator.push_many([Frame(i, None, (clip[i],)) for i in kept])
    facts, whole = accumulator.finish(info), measure_tracks(clip)
    assert facts.windows == tuple(w for w in whole.windows if w.start != 64)
    assert facts.frames_read == whole.frames_read - 1
    (gap,) = facts.unmeasured
    assert gap.axis == "window 64"
    assert facts.track_stability is not None


def test_a_clip_of_which_no_window_is_whole_is_unmeasured():
    clip = moved(24)
    accumulator = TrackAccumulator(rgb_format(clip), frames=24)
    accumulator.push_many([Frame(i, None, (clip[i],)) for i in range(20)])
    facts = accumulator.finish(open_clip(clip).info)
    assert facts.windows == ()
    assert "read whole" in FAMILY.reasons(facts)["track_stability"]


def test_no_frame_at_all_is_refused():
    clip = moved(24)
    with pytest.raises(MediaError, match="no frames"):
        TrackAccumulator(rgb_format(clip), frames=24).finish(open_clip(clip).info)


# --------------------------------------------------------------------------- one result, always


def pushed(clip, batch, **options):
    accumulator = TrackAccumulator(rgb_format(clip), frames=len(clip), **options)
    for start in range(0, len(clip), batch):
        accumulator.push_many(
            [Frame(i, None, (clip[i],)) for i in range(start, min(start + batch, len(clip)))]
        )
    return accumulator.finish(open_clip(clip).info)


@pytest.mark.parametrize("name", ["hard_cut", "zoom", "odd_321x243"])
def test_batches_threads_and_repetition_change_no_bit(name, oracle_clip, monkeypatch):
    monkeypatch.setattr(compute, "usable_cpus", lambda: 8)
    clip = oracle_clip(name)
    whole = measure_tracks(clip, trajectories=True, threads=1)
    assert measure_tracks(clip, trajectories=True, threads=1) == whole
    for threads in (2, 8):
        assert measure_tracks(clip, trajectories=True, threads=threads) == whole
    for batch, threads in ((1, 1), (1, 2), (7, 1), (50, 3)):
        assert pushed(clip, batch, trajectories=True, threads=threads) == whole


@pytest.mark.parametrize("name", ["warble", "portrait_512x768"])
def test_every_dispatch_level_gives_the_same_bits(name, oracle_clip, monkeypatch):
    clip = oracle_clip(name)
    whole = measure_tracks(clip, trajectories=True)
    assert "baseline" in _native.simd_levels()
    for level in _native.simd_levels():
        monkeypatch.setenv(compute.SIMD_VARIABLE, level)
        assert measure_tracks(clip, trajectories=True) == whole


BITS = """
import sys, numpy, screentest.metrics.tracks as tracks
from tests.oracles import clips
facts = tracks.measure_tracks(clips.clip("three_frames"), trajectories=True)
sys.stdout.buffer.write(facts.trajectories[0].positions.tobytes() + repr(facts.windows).encode())
"""


def test_two_processes_give_the_same_bits():
    def run(**environment):
        return subprocess.run(
            [sys.executable, "-c", BITS],
            env={**os.environ, **environment},
            capture_output=True,
            check=True,
        ).stdout

    first = run(SCREENTEST_THREADS="1", SCREENTEST_SIMD="baseline")
    assert len(first) > 500
    assert run(SCREENTEST_THREADS="2") == first


def test_a_clip_against_itself_has_a_ratio_of_exactly_one(real_clip):
    path = real_clip("carphone_pristine")
    facts = measure_tracks(path, threads=1)
    assert track_ratio(facts, measure_tracks(path, threads=2)) == 1.0


def test_a_file_reads_the_same_through_seeks_and_in_one_run(real_clip):
    """Only the windows' frames are sought; pushed with all others they give the same facts."""
    path = real_clip("bikes")
    with open_clip(path) as clip:
        accumulator = TrackAccumulator(clip.format, frames=clip.info.frames)
        for frame in clip.frames():
            accumulator.push(frame)
        straight = accumulator.finish(clip.info)
    assert straight == measure_tracks(path)


# ------------------------------------------------------------------------------- ways to store


def values(facts):
    return FAMILY.values(facts), facts.windows


@pytest.mark.parametrize("size", [(96, 128), (400, 300)])
def test_one_picture_in_every_type_reads_the_same(size):
    clip = moved(3, *size)
    expected = values(measure_tracks(clip))
    assert values(measure_tracks(clip.astype(np.float32) / np.float32(255))) == expected
    assert values(measure_tracks((clip / 255).astype(np.float16))) == expected
    assert values(measure_tracks(clip.astype(np.uint16) * 257, bit_depth=16)) == expected
    assert values(measure_tracks(clip.astype(np.float32), value_range=(0, 255))) == expected
    strided = np.flip(np.flip(clip, axis=2).copy(), axis=2)
    assert values(measure_tracks(strided)) == expected


def test_grey_frames_read_as_the_same_grey_in_rgb():
    clip = moved(3, 400, 300)[..., 1]
    three = np.repeat(clip[..., None], 3, axis=-1)
    assert values(measure_tracks(clip, layout="THW")) == values(measure_tracks(three))


def test_ten_bits_read_as_the_eight_that_they_hold():
    clip = moved(3)
    ten = np.ceil(clip * 1023.0 / 255).astype(np.uint16)  # the least code of each level
    assert values(measure_tracks(ten, bit_depth=10)) == values(measure_tracks(clip))


def test_a_size_without_common_divisors_is_resized_as_the_mean_over_areas():
    """Prime sides, whose sums need 64 bits: against plain sums of the overlaps."""
    height, width = 389, 4003
    frame = np.random.default_rng(9).integers(0, 256, (height, width, 3), np.uint8)
    grey = _native.grey8(rgb_format(frame[None]), [frame])
    assert grey.shape[::-1] == _native.working_size(width, height)

    def overlaps(size, out):
        edges = np.arange(out + 1) * size / out
        low = np.maximum(edges[:-1, None], np.arange(size))
        return np.clip(np.minimum(edges[1:, None], np.arange(1, size + 1)) - low, 0, None)

    rows, columns = overlaps(height, grey.shape[0]), overlaps(width, grey.shape[1])
    area = (height / grey.shape[0]) * (width / grey.shape[1])
    small = np.einsum("iy,yxc,jx->ijc", rows, frame / 1.0, columns, optimize=True) / area
    expected = (np.rint(small).astype(np.int64) @ [9798, 19235, 3735] + 16384) >> 15
    off = np.abs(grey.astype(np.int64) - expected)
    assert off.max() <= 1
    assert (off > 0).mean() < 1e-4, "ties that a float does not hit exactly"


def test_halving_rounds_ties_up_and_other_scales_to_even():
    # Four pixels 0 0 0 2: a half, up. Of 1152 rows three make one: 0 0 and 4.5 of nine.
    halved = np.zeros((768, 1344, 3), np.uint8)
    halved[1::2, 1::2] = 2
    assert (_native.grey8(rgb_format(halved[None]), [halved]) == 1).all()
    thirds = np.zeros((1536, 2688, 3), np.uint8)  # a quarter: sixteen pixels, one of them 8
    thirds[3::4, 3::4] = 8
    assert (_native.grey8(rgb_format(thirds[None]), [thirds]) == 0).all(), "a half, to even"
    thirds[3::4, 3::4] = 24
    assert (_native.grey8(rgb_format(thirds[None]), [thirds]) == 2).all(), "one and a half"


# ---------------------------------------------------------------------------------- the family


def test_family_wants_the_frames_of_its_windows():
    assert FAMILY.wanted(24, FAMILY.options) == list(range(24))
    starts = [0, 32, 65, 97]
    assert FAMILY.wanted(121, FAMILY.options) == [s + k for s in starts for k in range(24)]
    assert FAMILY.wanted(40, FAMILY.options) == list(range(40)), "windows that overlap"
    with pytest.raises(InputError, match="windows="):
        FAMILY.wanted(24, {**FAMILY.options, "windows": 0})
    with pytest.raises(InputError, match="trajectories="):
        FAMILY.wanted(24, {**FAMILY.options, "trajectories": 1})


def test_family_measures_what_measure_tracks_does():
    clip = moved(30)
    opened = open_clip(clip)
    accumulator = FAMILY.begin(
        Begin(format=opened.format, frames=30, threads=1, options=dict(FAMILY.options))
    )
    accumulator.push_many(list(opened.frames()))
    facts = accumulator.finish(opened.info)
    assert facts == measure_tracks(clip)
    assert facts.impl == IMPL
    assert facts.trajectories is None
    singles = [spec.name for spec in METRICS if not spec.paired]
    assert list(FAMILY.values(facts)) == singles


def test_windows_survive_json():
    facts = measure_tracks(moved(30))
    text = msgspec.json.encode(facts.windows)
    assert msgspec.json.decode(text, type=tuple[TrackWindow, ...]) == facts.windows
    assert b"null" not in text


def test_more_windows_read_more_frames():
    clip = moved(120)
    few, many = measure_tracks(clip, windows=1), measure_tracks(clip, windows=5)
    assert [w.start for w in few.windows] == [0]
    assert [w.start for w in many.windows] == [0, 24, 48, 72, 96]
    assert many.frames_read == 120


@pytest.mark.parametrize(
    ("candidate", "control", "ratio"),
    [(0.4, 0.8, 0.5), (None, 0.8, None), (0.4, None, None), (0.4, 1e-9, None), (0.0, 0.5, 0.0)],
)
def test_ratio_is_candidate_over_control_where_both_have_one(candidate, control, ratio):
    facts = measure_tracks(moved(3, 96, 128))
    ours, theirs = (
        msgspec.structs.replace(facts, track_stability=value) for value in (candidate, control)
    )
    assert track_ratio(ours, theirs) == ratio
    other = msgspec.structs.replace(theirs, impl="tracks@0")
    assert track_ratio(ours, other) is None, "of another version"

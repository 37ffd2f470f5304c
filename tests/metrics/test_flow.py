"""Motion of one clip: moves that are known, frames that carry none, and what must not matter."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from screentest import _native
from screentest.errors import MediaError, MissingBackendError
from screentest.media import open_clip
from screentest.media.clip import Frame
from screentest.metrics.flow import FlowAccumulator, measure_flow, opencv
from screentest.metrics.flow.facts import NAMES
from screentest.metrics.flow.family import FAMILY
from screentest.metrics.flow.names import METRICS

needs_opencv = pytest.mark.skipif(
    importlib.util.find_spec("cv2") is None, reason="pip install 'screentest[flow]'"
)
EXTRA = "OpenCV is not installed; pip install 'screentest[flow]'"


def moved(frames, dx, dy, size=(120, 160)):
    """Waves of 12 to 40 pixels in all directions that move by whole pixels: what shows is cut from
    one picture, so every level is that of the frame before."""
    height, width = size
    rng = np.random.default_rng(5)
    y, x = np.mgrid[: height + 120, : width + 120]
    angle, length, phase = rng.uniform((0, 12, 0), (np.pi, 40, 6), (24, 3)).T[..., None, None]
    waves = np.sin(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / length + phase).sum(0)
    picture = np.clip(128 + 14 * waves, 0, 255).astype(np.uint8)[..., None].repeat(3, -1)
    # The window goes the other way.
    return np.stack(
        [picture[60 - t * dy :][:height, 60 - t * dx :][:, :width] for t in range(frames)]
    )


def frames_of(clip, times=None):
    return [
        Frame(i, None if times is None else times[i], (picture,)) for i, picture in enumerate(clip)
    ]


def pushed(clip, *, cuts=(), times=None, **options):
    """Facts by an accumulator whose batches end at ``cuts``."""
    frames = frames_of(clip, times)
    with open_clip(clip) as opened:
        accumulator = FlowAccumulator(opened.format, **options)
        start = 0
        for end in (*cuts, len(frames)):
            accumulator.push_many(frames[start:end])
            start = end
        return accumulator.finish(opened.info)


def numbers(facts):
    series = facts.series
    return [getattr(facts, name) for name in NAMES] + [
        getattr(series, name).tobytes()
        for name in ("start", "motion_mag", "flow_residual", "unwarped_residual", "warp_error")
    ]


# -------------------------------------------------------------------------------- worked by hand


@needs_opencv
@pytest.mark.parametrize(("dx", "dy"), [(2, 0), (0, 2), (2, -1), (-1, -2)])
def test_a_known_move_is_explained_in_the_right_direction_and_doubled_in_the_wrong_one(dx, dy):
    facts = measure_flow(moved(4, dx, dy))
    assert facts.pairs == 3
    # Near the border what comes in was nowhere before.
    assert facts.motion_mag == pytest.approx(np.hypot(dx, dy), rel=0.02)
    assert facts.motion_mag_share == pytest.approx(facts.motion_mag / 120, rel=1e-12)
    assert facts.flow_residual < 0.05 * facts.unwarped_residual
    # Twice the move is nearly twice the change while the waves are long.
    assert facts.warp_error == pytest.approx(2 * facts.unwarped_residual, rel=0.1)


@needs_opencv
def test_the_unwarped_residual_is_the_mean_difference_over_the_contrast():
    grey = np.zeros((2, 4, 4), np.uint8)
    grey[0, :, :2] = 100
    grey[1] = 50
    facts = measure_flow(grey, layout="THW")
    # |difference| is 50 everywhere; half of the first frame is 100, half 0: its deviation is 50.
    # The second frame is flat, so the pair is left out.
    assert (facts.unwarped_residual, facts.pairs_flat) == (None, 1)
    grey[1, :, 2:] = 52
    facts = measure_flow(grey, layout="THW")
    # Its deviation is 1, which is not flat: 16 differences of 50, 50, 52, 52 a row over 50.
    assert facts.unwarped_residual == pytest.approx(51 / 50, rel=1e-6)


@needs_opencv
def test_a_still_clip_moves_by_the_solvers_noise_alone():
    facts = measure_flow(np.repeat(moved(1, 0, 0), 5, axis=0))
    assert 0 <= facts.motion_mag < 2e-3
    assert facts.unwarped_residual == 0
    assert facts.flow_residual < 1e-3


@needs_opencv
def test_a_black_frame_is_left_out_and_counted():
    clip = moved(5, 1, 0).copy()
    clip[2] = 0
    facts = measure_flow(clip)
    assert facts.pairs_flat == 2  # into the black frame and out of it
    assert np.isnan(facts.series.flow_residual).tolist() == [False, True, True, False]
    # The published form divides by the later frame's contrast alone.
    assert np.isnan(facts.series.warp_error).tolist() == [False, True, False, False]
    assert facts.flow_residual < 0.2
    assert facts.motion_mag is not None


@needs_opencv
def test_a_black_clip_has_motion_zero_and_no_residual():
    facts = measure_flow(np.zeros((3, 64, 64, 3), np.uint8))
    assert facts.motion_mag == 0
    gaps = {gap.axis: gap.reason for gap in facts.unmeasured}
    assert set(gaps) == {"flow_residual", "unwarped_residual", "warp_error", "motion_mag_per_s"}
    assert gaps["flow_residual"] == "all 2 pairs hold a flat frame: there is nothing to follow"


@needs_opencv
def test_motion_per_second_is_that_of_the_time_stamps():
    clip = moved(4, 1, 1)
    constant = measure_flow(clip, frame_rate=25)
    assert constant.motion_mag_per_s == pytest.approx(25 * constant.motion_mag, rel=1e-9)
    # Variable: the same three moves in 0.6 s.
    variable = pushed(clip, frames=4, times=[0.0, 0.1, 0.2, 0.6])
    assert variable.motion_mag_per_s == pytest.approx(3 * variable.motion_mag / 0.6, rel=1e-9)
    assert variable.series.step_s == pytest.approx([0.1, 0.1, 0.4])
    none = measure_flow(clip)
    assert none.motion_mag_per_s is None
    assert none.unmeasured[0].reason == "there are no time stamps: say frame_rate="


@needs_opencv
def test_one_frame_has_no_motion():
    facts = measure_flow(np.zeros((1, 32, 32, 3), np.uint8))
    assert {gap.axis for gap in facts.unmeasured} == set(NAMES)
    assert {(gap.reason, gap.applies) for gap in facts.unmeasured} == {
        ("needs 2 frames; this is one", False)
    }


@needs_opencv
def test_a_pair_whose_second_frame_is_lost_is_counted():
    frames = frames_of(moved(6, 1, 0))
    with open_clip(moved(6, 1, 0)) as clip:
        accumulator = FlowAccumulator(clip.format, frames=6)
        accumulator.push_many([*frames[:3], *frames[4:]])
        facts = accumulator.finish(clip.info)
    assert facts.series.start.tolist() == [0, 1, 4]
    assert facts.pairs_unread == 2


# ------------------------------------------------------------------------- what must not matter


@needs_opencv
@pytest.mark.parametrize("threads", [2, 8])
def test_the_number_of_threads_changes_no_bit(threads):
    clip = moved(12, 2, 1)
    alone, together = (pushed(clip, frames=12, threads=n) for n in (1, threads))
    assert numbers(together) == numbers(alone)


@needs_opencv
def test_facts_of_equal_clips_are_equal_and_others_are_not():
    black = moved(4, 1, 0).copy()
    black[1] = 0  # whose residuals are NaN
    facts = pushed(black, frames=4)
    assert facts == pushed(black.copy(), frames=4)
    assert facts != pushed(moved(4, 1, 1), frames=4)


@needs_opencv
@pytest.mark.parametrize("cuts", [(1,), (3, 4), (1, 2, 3, 4, 5, 6)])
def test_the_cut_into_batches_changes_no_bit(cuts):
    clip = moved(8, 1, 0)
    assert numbers(pushed(clip, frames=8, cuts=cuts)) == numbers(measure_flow(clip))


@needs_opencv
def test_a_clip_of_unknown_length_gives_the_facts_of_a_known_one():
    # Up to 48 frames every pair is a candidate, so those of the definition are among them.
    clip = moved(40, 0, 0)
    assert numbers(pushed(clip, frames=None)) == numbers(pushed(clip, frames=40))


@needs_opencv
def test_a_long_clip_of_unknown_length_is_read_at_up_to_24_pairs_spread_over_it():
    clip = np.random.default_rng(0).integers(0, 256, (200, 16, 16, 3), np.uint8)
    starts = pushed(clip, frames=None).series.start
    assert 16 <= len(starts) <= 24
    assert starts[0] == 0
    assert starts[-1] >= 190
    assert np.diff(starts).max() <= 16


@needs_opencv
def test_opencv_keeps_the_number_of_threads_it_had():
    cv2 = opencv.load()
    before = cv2.getNumThreads()
    try:
        cv2.setNumThreads(3)
        measure_flow(moved(4, 1, 0), threads=2)
        assert cv2.getNumThreads() == 3
        with opencv.one_thread(), opencv.one_thread():
            assert cv2.getNumThreads() == 1
        assert cv2.getNumThreads() == 3
    finally:
        cv2.setNumThreads(before)


@needs_opencv
def test_a_float_clip_of_the_same_levels_reads_the_same():
    clip = moved(4, 1, 0)
    as_float = (clip / 255).astype(np.float32)
    assert numbers(measure_flow(as_float)) == numbers(measure_flow(clip))


# ---------------------------------------------------------------------------- the working size


@pytest.mark.parametrize(
    ("size", "working"),
    [
        ((1280, 720), (682, 384)),
        ((1344, 768), (672, 384)),
        ((512, 768), (256, 384)),
        ((1920, 1080), (682, 384)),
        ((448, 448), (384, 384)),
        ((512, 385), (510, 384)),
        ((4000, 384), (4000, 384)),
        ((2, 4000), (2, 384)),
    ],
)
def test_working_size_is_384_rows_and_an_even_width(size, working):
    assert _native.working_size(*size) == working


def test_grey_at_full_size_is_the_integer_sum_by_hand():
    rgb = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]], np.uint8)
    with open_clip(rgb, layout="HWC") as clip:
        grey = _native.grey8(clip.format, (rgb,))
    # 0.299, 0.587 and 0.114 of 255: 76.245, 149.685, 29.07.
    assert grey.tolist() == [[76, 150, 29, 255]]


def test_grey_of_a_large_picture_is_the_mean_of_the_area():
    # 768 rows to 384: each pixel is the mean of four, halves up.
    rgb = np.zeros((768, 4, 3), np.uint8)
    rgb[0, 0] = 2
    rgb[2, :2] = 7
    rgb[3, 0] = 7
    with open_clip(rgb[None]) as clip:
        grey = _native.grey8(clip.format, (rgb,))
    assert grey.shape == (384, 2)
    assert grey[:3].tolist() == [[1, 0], [5, 0], [0, 0]]


# ------------------------------------------------------------------------------------ refusals


@needs_opencv
def test_a_nan_is_refused_and_its_frame_named():
    clip = np.full((4, 32, 32, 3), 0.5, np.float32)
    clip[2, 5, 5, 1] = np.nan
    with pytest.raises(MediaError, match="frame 2 holds 1 NaN or infinite sample") as caught:
        measure_flow(clip)
    assert caught.value.code == "non_finite_samples"


@needs_opencv
def test_values_that_contradict_their_range_are_refused():
    clip = np.random.default_rng(0).random((3, 32, 32, 3), np.float32)
    with pytest.raises(MediaError, match="value_range"):
        measure_flow(clip, value_range=(0, 255))
    with pytest.raises(MediaError, match="frame 0 holds values"):
        measure_flow(clip * 3)


# --------------------------------------------------------------------------- without the extra


@pytest.fixture
def without_opencv(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)


@pytest.mark.usefixtures("without_opencv")
def test_without_the_extra_every_metric_is_unmeasured_by_name():
    facts = measure_flow(moved(3, 1, 0))
    assert [gap.axis for gap in facts.unmeasured] == list(NAMES)
    assert {(gap.reason, gap.applies) for gap in facts.unmeasured} == {(EXTRA, True)}
    assert FAMILY.values(facts) == dict.fromkeys(NAMES)
    assert FAMILY.reasons(facts) == dict.fromkeys(NAMES, EXTRA)
    assert FAMILY.missing() == EXTRA
    assert facts.impl == "flow/1"


@pytest.mark.usefixtures("without_opencv")
def test_without_the_extra_loading_names_it():
    with pytest.raises(MissingBackendError, match="screentest\\[flow\\]"):
        opencv.load()


@needs_opencv
def test_the_package_the_family_and_the_pairs_load_no_opencv():
    code = (
        "import sys\n"
        "import screentest, screentest.metrics.flow.family, screentest.metrics.paired\n"
        "from screentest.metrics.flow import FlowAccumulator\n"
        "print('cv2' in sys.modules, screentest.metrics.flow.family.FAMILY.impl)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, impl = done.stdout.split()
    assert loaded == "False"
    assert impl == f"flow/1+opencv-{opencv.version()}"


def test_the_names_of_the_metrics_load_neither_numpy_nor_the_core():
    code = (
        "import sys, screentest.metrics.flow.names, screentest.metrics.detail.names\n"
        "print([m for m in ('numpy', 'cv2', 'screentest._native') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --------------------------------------------------------------------------------- the family


@needs_opencv
def test_the_family_reads_the_frames_it_wants_and_no_others():
    clip = np.random.default_rng(1).integers(0, 256, (100, 16, 16, 3), np.uint8)
    wanted = FAMILY.wanted(100, {})
    assert len(wanted) <= 48
    facts = measure_flow(clip)
    assert facts.frames_read == len(wanted)
    assert sorted({*facts.series.start, *(facts.series.start + 1)}) == list(wanted)
    assert FAMILY.values(facts) == {name: getattr(facts, name) for name in NAMES}


def test_the_published_form_is_never_gated():
    specs = {spec.name: spec for spec in METRICS}
    assert not specs["warp_error"].gated
    assert not specs["warp_error_delta"].gated
    assert specs["warp_error"].impl != specs["flow_residual"].impl.replace(
        "flow_residual", "warp_error"
    )
    assert "judge by flow_residual" in specs["warp_error"].note

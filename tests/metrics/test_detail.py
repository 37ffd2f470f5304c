"""Detail of one clip: a step by hand, pictures without edges, and what must not matter."""

import math

import numpy as np
import pytest

from screentest import _native
from screentest.errors import InputError, MediaError
from screentest.media import open_clip
from screentest.media.clip import Frame
from screentest.metrics.detail import FRAMES, DetailAccumulator, measure_detail
from screentest.metrics.detail.facts import NAMES
from screentest.metrics.detail.family import FAMILY
from screentest.metrics.detail.names import METRICS
from screentest.metrics.detail.paired import PairedDetail
from screentest.metrics.paired import measure_pair
from screentest.metrics.sampling import Spread, strip
from tests.oracles import clips

WEIGHTS = np.exp(-0.5 * (np.arange(-5, 6) / 1.2) ** 2)
WEIGHTS /= WEIGHTS.sum()


def step(frames=1, level=200):
    """32 black columns, then 32 of a grey level."""
    clip = np.zeros((frames, 32, 64, 3), np.uint8)
    clip[:, :, 32:] = level
    return clip


def numbers(facts):
    return [getattr(facts, name) for name in NAMES] + [
        getattr(facts.series, name).tobytes() for name in ("index", "luma_std", *NAMES)
    ]


def pushed(clip, *, batch=1, **options):
    with open_clip(clip) as opened:
        accumulator = DetailAccumulator(opened.format, **options)
        frames = list(opened.frames())
        for start in range(0, len(frames), batch):
            accumulator.push_many(frames[start : start + batch])
        return accumulator.finish(opened.info)


# -------------------------------------------------------------------------------- worked by hand


def test_a_step_overshoots_by_the_tails_of_the_kernel():
    facts = measure_detail(step())
    height = 200 / 255
    # The twentieth of 32 x 64 pixels is 102: the two steepest columns, with 64, and of the next two
    # some. So four columns are edges, and the band is the third and fourth column off the step,
    # whose residue is what of the kernel reaches across it. Contrast is half the step.
    tails = [WEIGHTS[k + 5 :].sum() * height for k in (3, 4)]
    assert facts.edge_overshoot == pytest.approx(np.mean(tails) / (height / 2), rel=1e-5)
    # Central difference: of the column beside the step two weights are in it, halved.
    assert facts.edge_strength == pytest.approx(height * WEIGHTS[6:8].sum() / 2, rel=1e-5)
    assert facts.frames_without_edges == 0


def test_ringing_beside_a_step_raises_the_overshoot():
    ringing = step().copy()
    ringing[:, :, 29] = 20
    ringing[:, :, 34] = 180
    score = measure_pair(step(), ringing, metrics=["ringing_excess"]).scores[0]
    plain, rung = (measure_detail(clip).edge_overshoot for clip in (step(), ringing))
    assert score.value == pytest.approx(rung - plain, rel=1e-12)
    assert score.value > 0.05
    assert score.details["edge_overshoot_reference"] == plain


def test_sharpening_raises_the_excess():
    clip = clips.pan(3, 288, 512, 11)
    # What a blur of 3 x 3 takes away, added again.
    wide = np.pad(clip.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    soft = sum(wide[:, y : y + 288, x : x + 512] for y in range(3) for x in range(3)) / 9
    sharp = np.clip(2 * clip - soft, 0, 255).astype(np.uint8)
    (score,) = measure_pair(clip, sharp, metrics=["ringing_excess"]).scores
    assert score.value > 0.02


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_flat_picture_has_no_overshoot_and_no_texture(level):
    facts = measure_detail(np.full((2, 40, 50, 3), level, np.uint8))
    assert (facts.edge_strength, facts.edge_density) == (0, 0)
    assert (facts.edge_overshoot, facts.texture_residual) == (None, None)
    assert facts.frames_without_edges == 2
    assert [gap.axis for gap in facts.unmeasured] == ["edge_overshoot", "texture_residual"]
    assert FAMILY.reasons(facts)["edge_overshoot"] == (
        "in none of 2 frames does an edge stand out of a picture that is not flat"
    )


def test_a_picture_of_which_less_than_a_twentieth_slopes_has_no_edge():
    clip = np.zeros((1, 100, 100, 3), np.uint8)
    clip[:, :3, :3] = 255
    facts = measure_detail(clip)
    assert facts.edge_strength == 0
    assert facts.edge_overshoot is None


def test_flat_frames_are_left_out_of_the_mean_and_counted():
    clip = step(4).copy()
    clip[1:3] = 7
    facts = measure_detail(clip)
    assert facts.frames_without_edges == 2
    assert facts.edge_overshoot == measure_detail(step()).edge_overshoot
    assert facts.edge_density == pytest.approx(measure_detail(step()).edge_density / 2)
    (score,) = measure_pair(step(4), clip, metrics=["ringing_excess"]).scores
    assert (score.value, score.frames, score.details["frames_without_edges"]) == (0, 2, 2)
    black = np.zeros_like(clip)
    (score,) = measure_pair(step(4), black, metrics=["ringing_excess"]).scores
    assert score.reason == "in none of 4 pairs of frames does an edge stand out in both"


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 3), (5, 4), (11, 12)])
def test_pictures_smaller_than_the_kernel_are_read(shape):
    clip = np.random.default_rng(0).integers(0, 256, (2, *shape, 3), np.uint8)
    facts = measure_detail(clip, layout="THWC")
    assert all(value is None or math.isfinite(value) for value in FAMILY.values(facts).values())


# -------------------------------------------------------------------------- what must not matter


def test_levels_threads_and_batches_change_no_bit():
    clip = clips.pan(5, 200, 130, 8)
    with open_clip(clip) as opened:
        format, planes = opened.format, next(iter(opened.frames())).planes
    expected = _native.DetailKernel(format, simd="baseline").measure(planes)
    for level in _native.simd_levels():
        for threads in (1, 2, 8):
            kernel = _native.DetailKernel(format, threads=threads, simd=level)
            assert kernel.measure(planes) == expected
    facts = numbers(measure_detail(clip))
    for threads in (1, 2, 8):
        for batch in (1, 2, 5):
            assert numbers(pushed(clip, frames=5, threads=threads, batch=batch)) == facts


def test_a_clip_of_unknown_length_gives_the_facts_of_a_known_one():
    clip = clips.pan(30, 40, 50, 8)
    assert numbers(pushed(clip, frames=None)) == numbers(measure_detail(clip))


def test_rgb_planes_and_float_of_the_same_levels_read_the_same():
    clip = clips.pan(2, 60, 70, 8)
    facts = measure_detail(clip)
    other = measure_detail((clip / 255).astype(np.float32))
    for name in NAMES:
        assert getattr(other, name) == pytest.approx(getattr(facts, name), rel=1e-4), name


# --------------------------------------------------------------------------------- which frames


@pytest.mark.parametrize(
    ("frames", "count", "expected"),
    [
        (32, 3, [0, 16, 31]),
        (26, 3, [0, 12, 25]),
        (250, 3, [0, 124, 249]),
        (5, 16, [0, 1, 2, 3, 4]),
        (5, 1, [0]),
        (0, 16, []),
        (100, 4, [0, 33, 66, 99]),
    ],
)
def test_the_strip_is_evenly_spread_with_halves_to_even(frames, count, expected):
    assert strip(frames, count) == expected


def test_the_number_of_frames_is_an_option():
    clip = clips.pan(40, 24, 24, 8)
    assert measure_detail(clip).series.index.tolist() == strip(40, FRAMES)
    assert measure_detail(clip, frames=3).series.index.tolist() == [0, 20, 39]
    assert list(FAMILY.wanted(40, {"frames": 3})) == [0, 20, 39]
    with pytest.raises(InputError, match="frames=0: expected a whole number of at least 1"):
        measure_detail(clip, frames=0)


@pytest.mark.parametrize("frames", [17, 100, 1000])
def test_pairs_of_unknown_number_are_spread_over_the_clip(frames):
    clip = np.random.default_rng(0).integers(0, 256, (frames, 4, 4, 3), np.uint8)
    with open_clip(clip, layout="THWC") as opened:
        paired = PairedDetail(["ringing_excess"], (opened.format,) * 2, pairs=None)
        for frame in opened.frames():
            paired.push(frame, frame)
        (score,), series = paired.finish()
    assert score.state == "identical"
    assert 12 <= score.frames <= 16
    assert series == {}


def test_a_spread_keeps_no_more_than_twice_its_count():
    spread = Spread(16)
    for i in range(10_000):
        spread.keeps(i)
        assert len(spread.kept) <= 32
    assert spread.nearest(strip(10_000, 16))[0] == 0


# ------------------------------------------------------------------------------------ refusals


def test_a_nan_is_refused_and_its_frame_named():
    clip = np.full((4, 32, 32, 3), 0.5, np.float32)
    clip[3, 5, 5, 1] = np.inf
    with pytest.raises(MediaError, match="frame 3 holds 1 NaN or infinite sample"):
        measure_detail(clip)


def test_no_frame_at_all_is_an_error():
    with open_clip(step()) as clip:
        accumulator = DetailAccumulator(clip.format, frames=2)
        accumulator.push_many([Frame(7, None, ())])
        with pytest.raises(MediaError, match="no frames"):
            accumulator.finish(clip.info)


def test_no_metric_of_the_family_is_gated():
    assert not any(spec.gated for spec in METRICS)
    assert {spec.direction for spec in METRICS} == {"target"}

"""The signal family: by hand, against plain numpy, and at its edges."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest import measure
from screentest.errors import InputError, MediaError, SchemaError
from screentest.media import open_clip
from screentest.metrics.signal import (
    ClipScore,
    SignalAccumulator,
    load_clip_score,
    measure_signal,
    save_clip_score,
    score_clip,
)
from tests.oracles import clips


def noise(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def luma(clip):
    return clip.astype(np.float64) @ [0.299, 0.587, 0.114] / 255


def box3(y):
    padded = np.pad(y, 1, mode="edge")
    h, w = y.shape
    return sum(padded[i : i + h, j : j + w] for i in range(3) for j in range(3)) / 9


def plain(clip):
    """Every number by numpy, in double precision, straight from the definitions."""
    ys = luma(clip)
    lap, hf, entropy = [], [], []
    for y in ys:
        inner = y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:] - 4 * y[1:-1, 1:-1]
        lap.append((255 * inner).var())
        power = np.abs(np.fft.rfft2(y - y.mean())) ** 2
        fy, fx = np.fft.fftfreq(y.shape[0])[:, None], np.fft.rfftfreq(y.shape[1])
        high = np.sqrt(fy**2 + fx**2) > 0.25
        hf.append(power[high].sum() / max(power.sum(), 1e-12))
        share = np.histogram(y, 64, (0, 1))[0] / y.size
        entropy.append(-(share[share > 0] * np.log2(share[share > 0])).sum())
    hp = np.array([y - box3(y) for y in ys])
    means = ys.mean((1, 2))
    motion = np.abs(np.diff(ys, axis=0)).mean((1, 2))
    jerk = np.abs(ys[2:] - 2 * ys[1:-1] + ys[:-2]).mean((1, 2))
    lc = np.abs(hp).mean((1, 2))
    return {
        "sharpness": np.mean(lap),
        "sharpness_p10": np.percentile(lap, 10),
        "hf_ratio": np.mean(np.maximum(hf, 1e-12)),
        "detail_entropy": np.mean(entropy),
        "contrast": ys.std((1, 2)).mean(),
        "saturation": (clip.max(-1) - clip.min(-1)).mean() / 255,
        "local_contrast": lc.mean(),
        "brightness": means.mean(),
        "flicker": 100 * means.std() / means.mean(),
        "jerk_ratio": jerk.mean() / motion.mean(),
        "shimmer": np.abs(np.diff(hp, axis=0)).mean() / lc[1:].mean(),
        "motion_energy": 255 * motion.mean(),
    }


@pytest.mark.parametrize(
    "size", [(64, 48), (61, 47), (34, 38), (17, 9), (3, 3), (134, 13)], ids=str
)
def test_every_number_equals_plain_numpy(size):
    width, height = size
    clip = (clips.pan(5, height, width, 3) // 2 + noise(5, height, width, 3) // 3).astype(np.uint8)
    facts = measure_signal(clip, layout="THWC")
    for name, expected in plain(clip).items():
        # Entropy is the exception: a value on the edge of two bins may be counted in either.
        tolerance = 0.02 if name == "detail_entropy" and width * height < 200 else 2e-6
        assert getattr(facts, name) == pytest.approx(expected, rel=tolerance), name


def test_constant_clip_reads_its_floors_and_is_degenerate():
    facts = measure_signal(np.full((4, 20, 30, 3), 77, np.uint8))
    assert facts.brightness == pytest.approx(77 / 255, abs=1e-15)
    assert (facts.hf_ratio, facts.local_contrast) == (1e-12, 1e-9)
    zero = ("sharpness", "detail_entropy", "contrast", "saturation", "flicker", "jerk_ratio")
    assert {getattr(facts, name) for name in (*zero, "shimmer", "motion_energy")} == {0.0}
    assert facts.flat_frames == 4
    assert facts.degenerate


def test_half_flat_frames_make_a_clip_degenerate():
    clip = noise(4, 16, 16, 3)
    assert not measure_signal(clip).degenerate
    clip[:2] = 5
    assert measure_signal(clip).degenerate


def test_one_frame_has_no_temporal_numbers_and_says_so():
    facts = measure_signal(noise(1, 16, 16, 3))
    assert (facts.flicker, facts.jerk_ratio, facts.shimmer, facts.motion_energy) == (0, 0, 0, 0)
    assert facts.motion_energy_per_s is None
    gaps = {gap.axis: gap.reason for gap in facts.unmeasured}
    for name in ("luma_flicker", "jerk_ratio", "shimmer", "motion_energy", "motion_energy_per_s"):
        assert gaps[name].startswith("needs ")


def test_two_frames_have_no_jerk_and_say_so():
    gaps = {gap.axis for gap in measure_signal(noise(2, 16, 16, 3), frame_rate=8).unmeasured}
    assert gaps == {"jerk_ratio"}


def test_rates_per_second_do_not_depend_on_the_frame_rate_of_a_steady_pan():
    # The same pan, every frame at 48 per second and every second frame at 24.
    clip = np.stack([np.roll(clips.pan(1, 48, 64, 1)[0], 2 * t, axis=1) for t in range(24)])
    fine = measure_signal(clip, frame_rate=48)
    coarse = measure_signal(clip[::2], frame_rate=24)
    assert fine.motion_energy_per_s == pytest.approx(fine.motion_energy * 48)
    assert coarse.motion_energy_per_s == pytest.approx(coarse.motion_energy * 24)
    assert fine.jerk_per_s == pytest.approx(fine.jerk_ratio * 48)
    by_frame = coarse.motion_energy / fine.motion_energy
    by_second = coarse.motion_energy_per_s / fine.motion_energy_per_s
    assert abs(by_second - 1) < abs(by_frame - 1) / 2


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_no_number_is_refused_with_its_frame(value):
    clip = np.full((5, 12, 12, 3), 0.5, np.float32)
    clip[3, 4, 5, 1] = value
    with pytest.raises(MediaError, match="frame 3 holds NaN or infinite") as caught:
        measure_signal(clip)
    assert caught.value.code == "non_finite"


@pytest.mark.parametrize("family", ["signal", "temporal", "integrity"])
@pytest.mark.parametrize("dtype", [np.float32, np.uint16])
def test_a_sample_outside_its_range_is_refused_with_its_frame_and_what_that_holds(family, dtype):
    clip = np.full((20, 12, 12, 3), 0.25, np.float32)
    clip[5, 4, 5, 1], clip[11] = 3.0, 50.0
    options, message = {}, r"frame 5 holds values from 0.25 to 3, expected \[0, 1\]"
    if dtype is np.uint16:
        clip, options = (clip * 1023).astype(dtype), {"bit_depth": 10}
        message = "frame 5 holds the value 3069, "
    with pytest.raises(MediaError, match=message) as caught:
        measure(clip, families=family, **options)
    assert (caught.value.code, caught.value.context["frame"]) == ("value_out_of_range", 5)


def test_values_outside_the_stated_range_are_refused():
    with pytest.raises(MediaError, match=r"frame 0 .* from 40 to 40.*value_range"):
        measure_signal(np.full((3, 12, 12, 3), 40.0, np.float32), value_range=(0, 1))


@pytest.mark.parametrize("first", [0, 2, 3])
def test_a_value_out_of_range_names_its_frame_and_keeps_nothing_of_the_batch(first):
    clip = np.random.default_rng(2).random((8, 12, 16, 3)).astype(np.float32)
    bad = clip.copy()
    bad[3, 0, 0, 0] = 3
    with open_clip(clip) as opened, open_clip(bad) as other:
        accumulator = SignalAccumulator(opened.format)
        frames = list(opened.frames())
        accumulator.push_many(frames[:first])
        with pytest.raises(
            MediaError, match=r"^frame 3 holds values from .* to 3, expected"
        ) as hit:
            accumulator.push_many(list(other.frames())[first:])
        assert hit.value.code == "value_out_of_range"
        # What is right is taken as if nothing had been.
        assert len(accumulator.series().index) == first
        accumulator.push_many(frames[first:])
        assert accumulator.finish(opened.info) == measure_signal(clip)


def test_luma_alone_gives_the_same_flicker_and_jerk():
    clip = noise(9, 40, 56, 3)
    full, light = measure_signal(clip), measure_signal(clip, features=False)
    names = ("flicker", "jerk_ratio", "motion_energy", "brightness", "contrast")
    assert [getattr(light, n) for n in names] == [getattr(full, n) for n in names]
    assert light.sharpness is None
    assert {gap.axis for gap in light.unmeasured} >= {"sharpness", "hf_ratio", "shimmer"}


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.sampled_from([1, 2, 8]))
def test_batches_and_threads_change_no_bit(cuts, threads):
    clip = noise(11, 33, 47, 3, seed=4)
    expected = measure_signal(clip, threads=1)
    with open_clip(clip) as opened:
        accumulator = SignalAccumulator(opened.format, threads=threads)
        frames = list(opened.frames())
        while frames:
            for cut in cuts:
                accumulator.push_many(frames[:cut])
                del frames[:cut]
        assert accumulator.finish(opened.info) == expected


def test_frames_of_another_size_are_refused_and_nothing_is_kept():
    with open_clip(noise(2, 20, 20, 3)) as clip, open_clip(noise(2, 20, 24, 3)) as other:
        accumulator = SignalAccumulator(clip.format)
        accumulator.push_many(list(clip.frames()))
        with pytest.raises(InputError, match="20 rows of 24"):
            accumulator.push_many(list(other.frames()))
        assert accumulator.finish(clip.info).frames == 2


def test_no_frames_is_an_error():
    with open_clip(noise(1, 20, 20, 3)) as clip, pytest.raises(MediaError, match="no frames"):
        SignalAccumulator(clip.format).finish(clip.info)


class TestClipScore:
    def test_round_trip_through_json_is_exact(self, tmp_path):
        score = score_clip(noise(4, 16, 20, 3))
        assert score.features.shape == (4, 6)
        save_clip_score(score, tmp_path / "score.json")
        assert load_clip_score(tmp_path / "score.json") == score

    def test_feature_row_by_hand(self):
        clip = np.stack([noise(16, 20, 3)] * 2)
        clip[1] = clip[0][::-1]
        score, numbers = score_clip(clip), plain(clip[[0, 1, 0]])
        row = [
            np.log(numbers["sharpness"]),
            np.log(numbers["hf_ratio"]),
            numbers["detail_entropy"],
            numbers["contrast"],
            numbers["saturation"],
            np.log(numbers["local_contrast"]),
        ]
        np.testing.assert_allclose(score.features[0], row, rtol=1e-6)

    def test_a_missing_field_is_named(self):
        written = score_clip(noise(2, 16, 16, 3)).to_dict()
        del written["shimmer"], written["flat_frames"], written["features"]
        with pytest.raises(InputError, match="without shimmer:"):
            ClipScore.from_dict(written)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"sharpness": float("nan")},
            {"n_frames": float("inf")},
            {"n_frames": -2},
            {"features": [[1.0] * 6]},
            {"features": [[1.0] * 6, [float("nan")] * 6]},
        ],
    )
    def test_what_no_clip_can_have_is_refused(self, wrong):
        written = score_clip(noise(2, 16, 16, 3)).to_dict()
        with pytest.raises(InputError, match="expected") as caught:
            ClipScore.from_dict({**written, **wrong})
        assert caught.value.code == "bad_clip_score"

    def test_a_record_without_flat_frames_and_features_loads(self):
        score = score_clip(np.full((3, 16, 16, 3), 9, np.uint8))
        written = score.to_dict()
        del written["flat_frames"], written["features"]
        loaded = ClipScore.from_dict(written)
        assert loaded.features.shape == (0, 6)
        assert loaded.is_degenerate, "the contrast alone says so"

    def test_motion_is_the_mean_change_in_levels_of_each_frame(self):
        levels = np.array([10, 40, 50], np.uint8)
        score = score_clip(np.broadcast_to(levels[:, None, None, None], (3, 8, 8, 3)).copy())
        assert score.motion == pytest.approx([0, 30, 10], abs=1e-9)
        assert score.motion_energy == pytest.approx(20)
        assert list(score_clip(noise(1, 8, 8, 3)).motion) == [0]

    @pytest.mark.parametrize("wrong", [[0.0], [0.0, float("nan")], [0.0, -1.0], "still"])
    def test_motion_that_no_clip_has_is_refused(self, wrong):
        written = score_clip(noise(2, 16, 16, 3)).to_dict()
        with pytest.raises(InputError, match="expected") as caught:
            ClipScore.from_dict({**written, "motion": wrong})
        assert caught.value.code == "bad_clip_score"

    def test_a_record_without_motion_loads_and_is_another(self):
        score = score_clip(noise(2, 16, 16, 3))
        written = score.to_dict()
        del written["motion"]
        loaded = ClipScore.from_dict(written)
        assert loaded.motion.shape == (0,)
        assert loaded != score

    def test_differing_features_are_not_equal_and_none_can_be_hashed(self):
        score = score_clip(noise(2, 16, 16, 3))
        other = msgspec.structs.replace(score, features=score.features + 1)
        assert score != other
        with pytest.raises(TypeError, match="unhashable"):
            hash(score)

    def test_a_damaged_file_is_a_schema_error(self, tmp_path):
        path = tmp_path / "score.json"
        path.write_bytes(b'{"n_frames": 3')
        with pytest.raises(SchemaError, match="not a clip score"):
            load_clip_score(path)

    def test_pictures_too_small_for_a_laplacian_are_refused(self):
        with pytest.raises(MediaError, match="sharpness, sharpness_p10 could not be measured"):
            score_clip(noise(2, 2, 16, 3))

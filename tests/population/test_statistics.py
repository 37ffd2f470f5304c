"""Each statistic worked out by hand from scores by hand: floors, motion, tracks, distances."""

import math

import msgspec
import numpy as np
import pytest

from screentest.errors import InputError, ProtocolError
from screentest.metrics.population import ArmClip, frechet, measure_population
from screentest.metrics.population.ratios import FLOORS
from screentest.metrics.signal.clip_score import ClipScore, score_clip
from tests.population.made import clip, facts, score, unlike, values

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")


def pairs_of(change, n=8, **reference):
    """Unlike prompts whose candidate is ``change(fields)`` of the reference's fields."""
    return [
        (clip(**fields), clip(**{**fields, **change(fields)})) for fields in unlike(n, **reference)
    ]


def scaled(**factors):
    return lambda fields: {
        name: fields.get(name, score().metrics()[name]) * factor for name, factor in factors.items()
    }


class TestImaging:
    def test_detail_counts_twice(self):
        found = values(facts(pairs_of(scaled(sharpness=0.8, saturation=0.9))))
        assert found["ratio_sharpness"] == pytest.approx(0.8)
        assert found["ratio_saturation"] == pytest.approx(0.9)
        assert found["detail_retention"] == pytest.approx(0.8 ** (1 / 3))
        assert found["tonal_retention"] == pytest.approx(0.9 ** (1 / 3))
        assert found["imaging_index"] == pytest.approx(0.8 ** (2 / 9) * 0.9 ** (1 / 9))

    def test_the_worst_prompt_is_not_the_median(self):
        pairs = pairs_of(lambda _: {})
        pairs[3] = (clip(), clip(sharpness=250.0, hf_ratio=0.01, local_contrast=0.01))
        measured = facts(pairs)
        found = values(measured)
        assert found["imaging_index"] == 1.0
        assert found["imaging_worst_prompt"] == pytest.approx(0.5 ** (2 / 3))
        assert measured.prompts[3].values["imaging_index"] == found["imaging_worst_prompt"]

    def test_the_interval_holds_the_index(self):
        drawn = np.random.default_rng(1).normal(1, 0.05, 8)
        pairs = [(clip(), clip(sharpness=500.0 * factor)) for factor in drawn]
        measured = facts(pairs)
        low, high = measured.benchmarks["imaging"].intervals["imaging_index"]
        assert low < values(measured)["imaging_index"] < high
        of_ratio = measured.benchmarks["imaging"].intervals["ratio_sharpness"]
        # The other five do not move, so the index is the ratio to the power of 2/9.
        assert (low, high) == pytest.approx([end ** (2 / 9) for end in of_ratio])


class TestFloors:
    def test_two_grey_arms_keep_all_of_their_colour(self):
        found = values(facts(pairs_of(lambda _: {}, saturation=0.0)))
        assert found["ratio_saturation"] == found["imaging_index"] == 1.0

    def test_a_grey_candidate_keeps_what_the_floor_is_of_the_reference(self):
        found = values(facts(pairs_of(lambda _: {"saturation": 0.0}, saturation=0.25)))
        assert found["ratio_saturation"] == pytest.approx(0.005 / 0.25)

    def test_a_reference_without_flicker_is_no_reason_for_half_a_billion(self):
        found = values(facts(pairs_of(lambda _: {"flicker": 0.04}, flicker=1e-10)))
        assert found["flicker_ratio"] == 1.0
        found = values(facts(pairs_of(lambda _: {"flicker": 2.0}, flicker=1e-10)))
        assert found["flicker_ratio"] == pytest.approx(40.0)

    @pytest.mark.parametrize("name", sorted(set(FLOORS) - {"grid_peak_ratio"}))
    def test_nothing_against_nothing_is_alike(self, name):
        # Without any contrast at all it would be no picture.
        nothing = 1e-4 if name == "contrast" else 0.0
        measured = facts(pairs_of(lambda _: {}, **{name: nothing}))
        for benchmark in measured.benchmarks.values():
            for value in benchmark.values.values():
                assert math.isfinite(value)
        assert values(measured)["imaging_index"] == 1.0

    def test_rounding_alone_reads_below_the_floors_of_detail(self):
        """A smooth ramp rounded to 8 bits, against what the floors say of rounding."""
        y, x, c = np.mgrid[0:96, 0:128, 0:3]
        ramp = 90 + 0.31 * x + 0.17 * y + 3.7 * c
        read = score_clip(np.rint(ramp).astype(np.uint8)[None])
        assert 0.1 < read.sharpness < FLOORS["sharpness"]
        assert 0 < read.local_contrast < FLOORS["local_contrast"] * 1.2


class TestTemporal:
    def test_ratios_by_hand(self):
        change = scaled(jerk_ratio=1.06, flicker=1.2, shimmer=0.9, motion_energy=0.5)
        found = values(facts(pairs_of(change)))
        assert found["jerk_excess"] == pytest.approx(0.06)
        assert found["flicker_ratio"] == pytest.approx(1.2)
        assert found["shimmer_ratio"] == pytest.approx(0.9)
        assert found["motion_ratio"] == pytest.approx(0.5)

    def test_the_frozen_share_is_that_of_the_worst_prompt(self):
        pairs = pairs_of(lambda _: {})
        pairs[5] = (clip(motion=[4, 4, 4, 4, 4]), clip(motion=[4, 0, 0, 4, 4]))
        measured = facts(pairs)
        assert values(measured)["frozen_share_excess"] == pytest.approx(2 / 5)
        assert measured.prompts[5].values["frozen_share_excess"] == pytest.approx(2 / 5)
        assert measured.prompts[4].values["frozen_share_excess"] == 0

    def test_a_step_stands_still_below_a_twentieth_of_what_the_reference_moves(self):
        reference = clip(motion=[2, 4, 4, 4, 9])
        for step, share in ((0.21, 0.0), (0.19, 0.2)):
            found = values(facts([(reference, clip(motion=[step, 4, 4, 4, 4]))]))
            assert found["frozen_share_excess"] == pytest.approx(share)

    def test_what_the_reference_holds_too_is_no_excess(self):
        twos = [4, 0, 4, 0, 4]
        found = values(facts([(clip(motion=twos), clip(motion=twos))] * 8))
        assert found["frozen_share_excess"] == 0
        still = [4, 0, 0, 0, 0]
        found = values(facts([(clip(motion=twos), clip(motion=still))] * 8))
        assert found["frozen_share_excess"] == pytest.approx(2 / 5)

    def test_where_no_reference_moves_there_is_nothing_to_freeze(self):
        still = clip(motion=0.0, motion_energy=0.0, jerk_ratio=0.0)
        temporal = facts([(still, still)] * 8).benchmarks["temporal"]
        assert "does not move" in temporal.inapplicable["frozen_share_excess"]
        assert "moves in either" in temporal.inapplicable["jerk_excess"]
        assert temporal.values["motion_ratio"] == 1.0

    def test_prompts_whose_reference_stands_still_are_left_out_and_said(self):
        still = clip(motion=0.0, motion_energy=0.0, jerk_ratio=0.0)
        pairs = [(still, still), *pairs_of(scaled(jerk_ratio=0.5), n=7)]
        temporal = facts(pairs).benchmarks["temporal"]
        assert temporal.values["jerk_excess"] == pytest.approx(-0.5)
        assert any("leaves out 1 of 8 prompts" in note for note in temporal.notes)

    def test_a_record_without_motion_tells_a_freeze_only_where_the_whole_clip_stands_still(self):
        gone = {"motion": None, "motion_energy": 0.1}
        found = facts([(clip(motion=None), clip(**gone))] * 8).benchmarks["temporal"]
        assert found.values["frozen_share_excess"] == 1.0
        found = facts([(clip(motion=None), clip())] * 8).benchmarks["temporal"]
        assert "no motion per frame" in found.unmeasured["frozen_share_excess"]

    def test_two_frames_have_no_acceleration(self):
        short = clip(n_frames=2, jerk_ratio=0.0)
        temporal = facts([(short, short)] * 8).benchmarks["temporal"]
        assert "2 frames has no acceleration" in temporal.inapplicable["jerk_excess"]
        temporal = facts([(clip(), short)] * 8).benchmarks["temporal"]
        assert "2 frames has no acceleration" in temporal.unmeasured["jerk_excess"]


def tracked(stability, inside=None, corners=100, **more):
    return {"tracks_seen": True, "corners": corners, "track_stability": stability,
            "stability_inside": inside, "grid_peak_ratio": 2.0, **more}  # fmt: skip


class TestStructure:
    def structure(self, reference, candidate, n=8, **fields):
        pair = (clip(reference, **fields), clip(candidate, **fields))
        return facts([pair] * n).benchmarks["structure"]

    def test_both_ratios_must_be_low_to_say_warble(self):
        found = self.structure(tracked(0.8, 0.8), tracked(0.4, 0.72)).values
        assert found["track_stability_ratio"] == pytest.approx(0.9)
        found = self.structure(tracked(0.8, 0.8), tracked(0.4, 0.32)).values
        assert found["track_stability_ratio"] == pytest.approx(0.5)

    def test_the_worst_prompt_stands_beside_the_median(self):
        pairs = [(clip(tracked(0.8)), clip(tracked(0.8)))] * 7
        found = facts([*pairs, (clip(tracked(0.8)), clip(tracked(0.2)))])
        assert values(found)["track_stability_ratio"] == 1.0
        assert values(found)["track_stability_worst"] == pytest.approx(0.25)

    def test_a_candidate_without_corners_has_lost_its_texture(self):
        bare = {"tracks_seen": True, "corners": 0, "grid_peak_ratio": 2.0}
        assert self.structure(tracked(0.8), bare).values["track_stability_ratio"] == 0.0
        measured = facts([(clip(tracked(0.8)), clip(bare))] * 8)
        assert measured.power["track_stability_ratio"].spread == 0.0
        assert measured.benchmarks["structure"].intervals["track_stability_ratio"] == (0.0, 0.0)

    @pytest.mark.parametrize(("reference", "fields", "said"), [
        (tracked(None, corners=0), {}, "anything in the reference can be followed"),
        (tracked(0.0), {}, "hardly holds its shape itself"),
        (tracked(0.019), {}, "track stability 0.019, less than 0.02"),
        (tracked(1.0), {"motion_energy": 0.0, "motion": 0.0}, "does not move"),
        (tracked(None, corners=None), {"n_frames": 2}, "2 frames has no window"),
    ])  # fmt: skip
    def test_where_nothing_can_be_followed_nothing_waits_for_it(self, reference, fields, said):
        found = self.structure(reference, reference, **fields)
        assert said in found.inapplicable["track_stability_ratio"]
        assert said in found.inapplicable["track_stability_worst"]

    @pytest.mark.parametrize("kept", [0.0, 0.001, 0.05])
    def test_a_prompt_that_hardly_holds_its_shape_decides_nothing(self, kept):
        pairs = [(clip(tracked(0.5)), clip(tracked(0.5)))] * 7
        measured = facts([*pairs, (clip(tracked(0.01)), clip(tracked(kept)))])
        found = measured.benchmarks["structure"]
        assert found.values["track_stability_worst"] == 1.0
        assert "leaves out 1 of 8 prompts" in found.notes[0]

    def test_seven_corners_of_nine_are_no_texture_that_is_lost(self):
        few, fewer = tracked(0.5, corners=9), tracked(None, corners=7)
        assert "hardly anything" in self.structure(few, fewer).inapplicable["track_stability_worst"]
        many = tracked(0.5, corners=16)
        assert self.structure(many, fewer).values["track_stability_worst"] == 0.0

    def test_texture_that_is_lost_counts_where_nothing_held_its_shape(self):
        bare = tracked(None, corners=0)
        assert self.structure(tracked(0.01), bare).values["track_stability_worst"] == 0.0

    def test_bare_scores_leave_it_unmeasured(self):
        found = facts([(score(), score())] * 8).benchmarks["structure"]
        assert "nobody looked for tracks" in found.unmeasured["track_stability_ratio"]
        assert "nobody looked for a lattice" in found.unmeasured["grid_ratio"]

    def test_one_prompt_that_was_not_looked_at_leaves_the_arm_unmeasured(self):
        pairs = [(clip(), clip())] * 7
        found = facts([*pairs, (clip(), score())]).benchmarks["structure"]
        assert "1 of 8 prompts, the first 'prompt 7'" in found.unmeasured["track_stability_worst"]

    def test_a_lattice_by_hand(self):
        assert self.structure(tracked(0.8), tracked(0.8, grid_peak_ratio=12.0)).values[
            "grid_ratio"
        ] == pytest.approx(3.0)
        # Clean pictures read up to 3.9.
        found = self.structure(tracked(0.8, grid_peak_ratio=1.9), tracked(0.8, grid_peak_ratio=3.9))
        assert found.values["grid_ratio"] == 1.0

    def test_a_picture_that_has_a_lattice_by_itself_may_keep_it(self):
        striped = tracked(0.8, grid_peak_ratio=33.0)
        assert self.structure(striped, striped).values["grid_ratio"] == 1.0

    def test_small_pictures_have_no_lattice(self):
        small = {**tracked(0.8), "grid_peak_ratio": None}
        found = self.structure(small, small, width=320, height=240)
        assert "needs 512 px on one side; this is 320x240" in found.inapplicable["grid_ratio"]


class TestDistances:
    def test_by_hand(self):
        """Two features move; their units are the spread of all reference frames."""
        references = unlike(8)
        pairs = []
        for fields in references:
            frames = np.tile(score(**fields).features[0], (4, 1))
            frames[:, 3] += [-0.02, 0.02, -0.02, 0.02]
            moved = frames.copy()
            moved[:, 3] = frames[:, 3].mean() + 2 * (frames[:, 3] - frames[:, 3].mean())
            moved[:, 4] += 0.03
            pairs.append(
                (score(n_frames=4, features=frames, **fields),
                 score(n_frames=4, features=moved, **fields))
            )  # fmt: skip
        measured = facts(pairs)
        every = np.concatenate([r.features for r, _ in pairs])
        unit = every.std(axis=0)
        assert list(measured.scales.values()) == pytest.approx(unit)
        expected = (0.03 / unit[4]) ** 2 + (0.02 / unit[3]) ** 2
        assert values(measured)["population_frechet"] == pytest.approx(expected)
        assert values(measured)["population_frechet_worst"] == pytest.approx(expected)

    def test_the_median_and_the_worst_pair(self):
        pairs = pairs_of(lambda _: {})
        fields = unlike(8)[2]
        pairs[2] = (pairs[2][0], clip(**{**fields, "saturation": fields["saturation"] + 0.5}))
        found = values(facts(pairs))
        assert found["population_frechet"] == 0.0
        unit = np.std([f["saturation"] for f in unlike(8)])
        assert found["population_frechet_worst"] == pytest.approx((0.5 / unit) ** 2)

    def test_prompts_that_look_alike_have_no_distance(self):
        measured = facts([(clip(), clip(saturation=0.26))] * 8)
        found = measured.benchmarks["distributional"]
        for name in ("population_frechet", "population_frechet_worst", "population_frechet_full"):
            assert "the prompts look alike" in found.unmeasured[name]
        assert found.values["significant_features"] == 1.0

    def test_but_equal_clips_have_none_whatever_they_look_like(self):
        found = values(facts([(clip(), clip())] * 8))
        assert found["population_frechet"] == found["population_frechet_full"] == 0.0

    def test_three_features_of_six_may_be_alike(self):
        pairs = [
            (clip(**fields), clip(**{**fields, "saturation": 0.26}))
            for fields in unlike(8)
            for fields in [{**fields, "saturation": 0.25, "contrast": 0.2, "detail_entropy": 5.0}]
        ]  # fmt: skip
        found = values(facts(pairs))
        # Its floor of 0.01 is the unit.
        assert found["population_frechet"] == pytest.approx(1.0)

    def test_a_record_without_features_is_unmeasured(self):
        bare = clip(features=np.empty((0, 6)))
        found = facts([(clip(), clip())] * 7 + [(clip(), bare)]).benchmarks["distributional"]
        assert "no features" in found.unmeasured["population_frechet"]
        assert found.values["significant_features"] == 0

    def test_stills_have_no_variance(self):
        pairs = [
            (clip({"grid_peak_ratio": 2.0}, n_frames=1, **fields),
             clip({"grid_peak_ratio": 2.0}, n_frames=1,
                  **{**fields, "saturation": fields["saturation"] + 0.1}))
            for fields in unlike(8)
        ]  # fmt: skip
        measured = facts(pairs)
        assert measured.still
        assert set(measured.benchmarks) == {"imaging", "structure", "distributional"}
        unit = np.std([f["saturation"] for f in unlike(8)])
        assert values(measured)["population_frechet"] == pytest.approx((0.1 / unit) ** 2)
        assert values(measured)["population_frechet_full"] == pytest.approx((0.1 / unit) ** 2)


class TestFullDistance:
    UNIT = dict.fromkeys(frechet.FEATURES, 1.0)

    def test_against_scipys_square_root_of_a_matrix(self):
        linalg = pytest.importorskip("scipy.linalg")
        drawn = np.random.default_rng(4)
        mix = drawn.normal(0, 1, (6, 6))
        a, b = drawn.normal(0, 1, (200, 6)) @ mix, 0.3 + drawn.normal(0, 1.2, (150, 6)) @ mix.T
        first, second = self.shrunk(a), self.shrunk(b)
        root = linalg.sqrtm(first @ second).real
        expected = ((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(first + second - 2 * root)
        assert frechet.full_distance(a, b, self.UNIT) == pytest.approx(expected, rel=1e-6)

    @staticmethod
    def shrunk(rows):
        """Ledoit and Wolf's estimate, written sum by sum as in their paper."""
        n, p = rows.shape
        x = rows - rows.mean(axis=0)
        s = np.cov(x.T, bias=True)
        m = np.trace(s) / p
        d2 = np.sum((s - m * np.eye(p)) ** 2) / p
        b2 = sum(np.sum((np.outer(row, row) - s) ** 2) / p for row in x) / n**2
        b2 = min(b2, d2)
        return b2 / d2 * m * np.eye(p) + (d2 - b2) / d2 * s

    def test_one_axis_by_hand(self):
        """Frames on one axis are shrunk towards all six."""
        a = np.zeros((4, 6))
        a[:, 0] = [-1, 1, -1, 1]
        # s = diag(1, 0, ...), m = 1/6; every outer product is s itself, so nothing is shrunk.
        assert frechet.full_distance(a, 3 * a, self.UNIT) == pytest.approx((3 - 1) ** 2)

    def test_what_large_numbers_leave_is_no_distance(self):
        """Two features that always agree: the last bits of eigenvalues of nothing."""
        a = np.random.default_rng(6).normal(0, 1, (50, 6))
        a[:, 3] = a[:, 2]
        assert frechet.full_distance(a, a + 1e-6 * a[:, ::-1], self.UNIT) == 0.0

    def test_equal_clips_and_stills(self):
        row = np.arange(6.0)[None]
        assert frechet.full_distance(row, row, self.UNIT) == 0.0
        assert frechet.full_distance(row, row + 2, self.UNIT) == pytest.approx(24.0)


class TestEffects:
    def test_by_hand(self):
        logs = [0.01, 0.02, -0.005, 0.03, 0.015, 0.01, 0.02, 0.0]
        pairs = [(clip(), clip(contrast=0.2 * math.exp(log))) for log in logs]
        found = values(facts(pairs))
        mean, deviation = np.mean(logs), np.std(logs, ddof=1)
        assert found["dz_contrast"] == pytest.approx(mean / deviation)
        assert found["effect_contrast"] == pytest.approx(math.exp(0.0125))
        assert found["holm_p_contrast"] == pytest.approx(6 * 0.0168897925, abs=1e-9)
        assert found["holm_p_sharpness"] == 1.0
        assert found["max_effect_size"] == pytest.approx(mean / deviation)
        assert found["rms_effect_size"] == pytest.approx(mean / deviation / math.sqrt(6))
        assert found["significant_features"] == 0.0

    def test_what_every_prompt_loses_is_significant_from_two_percent_on(self):
        for factor, moved in ((0.985, 0), (0.975, 1)):
            measured = facts([(clip(), clip(saturation=0.25 * factor))] * 8)
            found = values(measured)
            assert found["holm_p_saturation"] == 0.0
            assert found["significant_features"] == moved
            assert bool(measured.benchmarks["distributional"].notes) == bool(moved)
        # The spread that an effect is divided by has a floor of a percent.
        assert found["dz_saturation"] == pytest.approx(math.log(0.975) / 0.01)

    @pytest.mark.parametrize("n", [1, 5])
    def test_fewer_than_six_prompts_are_not_tested(self, n):
        measured = facts([(clip(), clip(sharpness=100.0))] * n)
        found = measured.benchmarks["distributional"]
        assert not found.values
        said = found.unmeasured["significant_features"]
        assert said == f"{n} prompt{'s' * (n > 1)}; a test over them needs 6"
        assert values(measured)["imaging_index"] == pytest.approx(0.2 ** (2 / 9))


class TestRefused:
    def test_no_pair(self):
        with pytest.raises(ProtocolError, match="no pair of clips"):
            measure_population([], [])

    def test_unequal_counts(self):
        with pytest.raises(ProtocolError, match="1 pairs and 2 prompts"):
            measure_population([(clip(), clip())], ["a", "b"])

    def test_stills_among_clips(self):
        with pytest.raises(ProtocolError, match="stills and clips are mixed"):
            facts([(clip(), clip()), (clip(n_frames=1), clip(n_frames=1))])

    def test_what_is_no_clip(self):
        with pytest.raises(ProtocolError, match="a str was given"):
            facts([("a.mp4", clip())])

    @pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -0.1])
    def test_a_number_that_is_none_names_its_clip(self, wrong):
        bad = msgspec.structs.replace(clip(contrast=wrong), source="b.mp4")
        with pytest.raises(InputError, match=r"the candidate of 'prompt 1' \(b.mp4\): contrast"):
            facts([(clip(), clip()), (clip(), bad)])

    def test_a_number_beyond_any_pictures_says_what_was_expected(self):
        with pytest.raises(InputError, match=r"sharpness is 1e.30; expected a number from 0 to 1e"):
            facts([(clip(), clip(sharpness=1e30))])

    @pytest.mark.parametrize("array", ["features", "motion"])
    def test_a_frame_that_is_not_finite_is_named(self, array):
        rows = np.array(getattr(score(), array))
        rows[4] = np.nan
        bad = ArmClip(score=msgspec.structs.replace(score(), **{array: rows}))
        with pytest.raises(InputError, match=f"the reference of 'prompt 0': {array} of frame 4"):
            facts([(bad, clip())])

    def test_arrays_of_another_length(self):
        bad = msgspec.structs.replace(score(), motion=np.zeros(9))
        with pytest.raises(InputError, match=r"motion of shape \(9,\)"):
            facts([(bad, clip())])

    def test_no_frames(self):
        with pytest.raises(InputError, match="has 0 frames"):
            facts([(score(n_frames=0, motion=None), clip())])

    def test_stability_that_is_not_finite(self):
        with pytest.raises(InputError, match="track_stability is nan"):
            facts([(clip(), clip(tracked(float("nan"))))])


class TestDegenerate:
    def test_there_is_nothing_to_compare(self):
        black = clip(contrast=0.0, flat_frames=6)
        half = clip(flat_frames=3)
        measured = facts([(clip(), black), (half, clip()), (clip(), clip())])
        assert measured.degenerate_candidates == (0,)
        assert measured.degenerate_references == (1,)
        assert not measured.benchmarks

    def test_a_minority_of_flat_frames_is_a_clip(self):
        assert facts([(clip(flat_frames=2), clip())]).degenerate_references == ()


def test_a_clips_numbers_stand_in_its_facts():
    measured = facts([(clip(), clip(sharpness=400.0))])
    held = measured.prompts[0].candidate
    assert held["sharpness"] == 400.0
    assert (held["n_frames"], held["width"], held["corners"]) == (6, 640, 100)
    assert held["frozen_share"] == 0.0
    assert held["mean_contrast"] == pytest.approx(0.2)
    assert held["var_contrast"] == pytest.approx(0.0, abs=1e-30)


def test_a_score_from_a_record_without_motion_is_taken():
    plain = score().to_dict()
    del plain["motion"]
    assert len(ClipScore.from_dict(plain).motion) == 0

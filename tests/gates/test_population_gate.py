"""What the gates over prompts refuse, before and after a clip is looked at, and what a control and
a stored report make of a run."""

import functools
import math

import msgspec
import pytest

from screentest.errors import MissingBackendError, PolicyError, ProtocolError
from screentest.gates.budget import Budget, BudgetTable, shipped
from screentest.gates.judge import rejudge
from screentest.gates.null_control import measure_null_control
from screentest.gates.population import run_image_population_gate, run_population_gate
from screentest.gates.report import GateReport
from screentest.metrics.population import significance
from tests.gates import takes
from tests.gates.made_reports import made_protocol
from tests.population.made import clip, unlike

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")


def pairs(n=8, **change):
    """Unlike prompts; ``change`` are fields of the candidate."""
    return [(clip(**fields), clip(**{**fields, **change})) for fields in unlike(n)]


def stills(n=8):
    one = {"tracks": {"grid_peak_ratio": 2.0}, "n_frames": 1, "motion": 0.0, "flicker": 0.0,
           "motion_energy": 0.0, "jerk_ratio": 0.0, "shimmer": 0.0}  # fmt: skip
    return [(clip(**fields, **one), clip(**fields, **one)) for fields in unlike(n)]


def stamp(n=8, **fields):
    return made_protocol(n, **{"width": 640, "height": 360, **fields})


def budgets(**bounds):
    return [Budget(name=name, low=low, high=high, provenance="a test")
            for name, (low, high) in bounds.items()]  # fmt: skip


class TestRefusals:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"purpose": "paired-fidelity"}, "use the reference gate"),
            ({"changes": ("container-mux",)}, "use the reference gate"),
        ],
    )
    @pytest.mark.parametrize("gate", [run_population_gate, run_image_population_gate])
    def test_another_question(self, gate, fields, said):
        with pytest.raises(ProtocolError, match=said):
            gate([], stamp(**fields))

    def test_stills_under_the_stamp_of_clips(self):
        with pytest.raises(ProtocolError, match="the arms are stills; the protocol says 6 frames"):
            run_population_gate(stills(), stamp())

    def test_clips_under_the_stamp_of_stills(self):
        with pytest.raises(ProtocolError, match="clips of several frames; the protocol says 1 fra"):
            run_image_population_gate(pairs(), stamp(frames=1))

    def test_the_gate_of_stills_for_clips_and_the_other_way_round(self):
        with pytest.raises(ProtocolError, match="use run_population_gate"):
            run_image_population_gate(pairs(), stamp())
        with pytest.raises(ProtocolError, match="use run_image_population_gate"):
            run_population_gate(stills(), stamp(frames=1))

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ([], "no budget, so everything would pass"),
            (budgets(imaging_index=(0.9, None)) * 2, "two budgets for imaging_index"),
            (shipped("image"), "for the image gate; the video gate was asked for"),
        ],
    )
    def test_budgets_that_decide_nothing_before_a_clip_is_read(self, given, said):
        with pytest.raises(PolicyError, match=said):
            run_population_gate(None, stamp(), given)

    def test_budgets_of_nothing_known(self):
        with pytest.raises(PolicyError, match="did you mean 'imaging_index'"):
            run_population_gate(None, stamp(), budgets(imagining_index=(0.9, None)))

    def test_a_bound_that_is_not_finite(self):
        with pytest.raises(PolicyError, match="expected a finite number"):
            budgets(imaging_index=(math.nan, None))

    def test_what_is_waived_must_be_a_budget(self):
        with pytest.raises(PolicyError, match="imaging cannot be waived: budgets 'video' bound"):
            run_population_gate(None, stamp(), waive=("imaging",))

    def test_no_pair(self):
        with pytest.raises(ProtocolError, match="no pair of clips"):
            run_population_gate([], stamp())

    def test_without_scipy_nothing_is_read(self, monkeypatch):
        monkeypatch.setattr(significance.importlib.util, "find_spec", lambda *_: None)
        for gate in (run_population_gate, run_image_population_gate, measure_null_control):
            with pytest.raises(MissingBackendError, match=r"screentest\[gate\]"):
                gate(None, None)


class TestFrozen:
    """A candidate that repeats its first frame keeps every ratio that a still picture keeps."""

    def test_it_fails_by_standing_still_alone(self):
        ours = pairs(motion=0.0)
        report = run_population_gate(ours, stamp(), budgets(frozen_share_excess=(None, 0.25)))
        assert report.verdict == "fail"

    def test_the_jerk_of_nothing_is_no_gain(self):
        ours = pairs(jerk_ratio=0.0, motion_energy=0.0, motion=0.0)
        report = run_population_gate(ours, stamp())
        for name in ("jerk_excess", "motion_ratio", "frozen_share_excess"):
            assert name in report.reasons[0]


class TestStills:
    def test_equal_arms_pass(self):
        report = run_image_population_gate(stills(), stamp(frames=1))
        assert report.verdict == "pass"
        assert set(report.benchmarks) == {"imaging", "structure", "distributional"}

    def test_less_colour_fails(self):
        theirs = stills()
        ours = [
            (r, msgspec.structs.replace(c, score=msgspec.structs.replace(
                c.score, saturation=0.9 * c.score.saturation)))
            for r, c in theirs
        ]  # fmt: skip
        report = run_image_population_gate(ours, stamp(frames=1))
        assert report.verdict == "fail"
        assert report.reasons == ("failed: significant_features",)

    def test_a_lattice_is_seen_on_stills(self):
        ours = [(r, msgspec.structs.replace(c, grid_peak_ratio=12.0)) for r, c in stills()]
        report = run_image_population_gate(ours, stamp(frames=1))
        assert report.reasons == ("failed: grid_ratio",)

    def test_pictures_too_small_for_a_lattice_wait_for_nothing(self):
        small = [
            tuple(
                msgspec.structs.replace(
                    each, grid_peak_ratio=None,
                    score=msgspec.structs.replace(each.score, width=256, height=256),
                )
                for each in pair
            )
            for pair in stills()
        ]  # fmt: skip
        report = run_image_population_gate(small, stamp(frames=1, width=256, height=256))
        assert report.verdict == "pass"
        assert "512 px" in report.benchmarks["structure"].inapplicable["grid_ratio"]


class TestBudgets:
    def test_a_budget_that_no_benchmark_holds_is_no_pass(self):
        report = run_population_gate(pairs(), stamp())
        stripped = msgspec.structs.replace(
            report.population,
            benchmarks={"imaging": report.population.benchmarks["imaging"]},
        )
        judged = rejudge(msgspec.structs.replace(report, population=stripped))
        assert judged.verdict == "indeterminate"
        assert "jerk_excess was not measured: no benchmark holds it" in judged.reasons

    def test_the_table_of_stills_does_not_judge_clips(self):
        report = run_population_gate(pairs(), stamp())
        with pytest.raises(PolicyError, match="the video gate"):
            rejudge(msgspec.structs.replace(report, table=shipped("image")))

    def test_a_report_is_judged_alike_through_json(self):
        report = run_population_gate(pairs(sharpness=300.0), stamp())
        again = msgspec.json.decode(msgspec.json.encode(report), type=GateReport)
        assert rejudge(again) == report


class TestPromptsNeeded:
    def noisy(self, n, factor, spread):
        drawn = [1.0, -1.0, 0.5, -0.5, 0.0, 0.8, -0.8][:n]
        return [
            (clip(**fields), clip(**{**fields, "jerk_ratio": 0.8 * factor * math.exp(spread * z)}))
            for fields, z in zip(unlike(n), drawn, strict=True)
        ]

    def test_a_statistic_near_its_bound_asks_for_more_than_eight(self):
        report = run_population_gate(self.noisy(4, 1.02, 0.03), stamp(4))
        assert report.verdict == "indeterminate"
        assert report.reasons[0] == "4 prompts are too few: a verdict needs 8, so 4 more"
        # ln(1.04 / 1.02) = 0.0194 of a spread of 0.0274: (2.80 / 0.709)^2 + 1.92 = 17.6
        assert report.reasons[1] == (
            "at the spread of these prompts about 18 would tell jerk_excess from its bound, 14 more"
        )

    def test_one_that_lies_all_but_on_it_asks_for_no_absurd_number(self):
        report = run_population_gate(self.noisy(5, 1.0400001, 0.03), stamp(5))
        assert "no number below 1000 would tell jerk_excess from its bound" in report.reasons[1]

    def test_one_far_from_it_asks_for_eight(self):
        report = run_population_gate(self.noisy(4, 1.2, 0.005), stamp(4))
        assert not any("would tell" in reason for reason in report.reasons)

    def test_one_prompt_has_no_spread_and_still_asks_for_eight(self):
        report = run_population_gate(pairs(1), stamp(1))
        assert report.reasons[0] == "1 prompt describes that draw: a verdict needs 8, so 7 more"
        assert report.population.power["imaging_index"].prompts_needed is None

    @pytest.mark.parametrize("effect", [0.3, 0.6, 1.0, 1.4])
    def test_it_is_within_one_of_the_exact_answer(self, effect):
        from scipy import stats

        from screentest.gates.prompts import prompts_to_tell

        budget = Budget(name="imaging_index", high=1.0, provenance="a test")
        told = prompts_to_tell(math.exp(effect), budget, 1.0)

        def chance(n):
            return stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, effect * math.sqrt(n))

        exact = next(n for n in range(3, 1000) if chance(n) >= 0.80)
        assert abs(told - exact) <= 1

    def test_on_its_bound_no_number_of_prompts_tells(self):
        from screentest.gates.prompts import prompts_to_tell

        budget = Budget(name="imaging_index", low=0.92, high=1.25, provenance="a test")
        assert prompts_to_tell(0.92, budget, 0.01) is None
        assert prompts_to_tell(0.93, budget, 0.01) < prompts_to_tell(0.93, budget, 0.02)


class TestNullControl:
    @staticmethod
    def stamp(n=8, **fields):
        return stamp(n, **{"changes": ("seed",), "candidate_arm": "bf16", "seeds": (1,), **fields})

    def test_what_it_keeps_transfers(self):
        control = measure_null_control(pairs(brightness=0.51), self.stamp())
        assert all(control.transfers.values())
        assert not control.untrusted
        assert control.values["imaging_index"] > 0.9
        report = run_population_gate(pairs(), stamp(), null_control=control)
        assert (report.verdict, report.reasons) == ("pass", ())

    def test_a_bound_that_a_change_of_nothing_breaks_decides_nothing(self):
        control = measure_null_control(pairs(flicker=1.0), self.stamp())
        assert control.untrusted["flicker_ratio"].startswith("2, outside")
        report = run_population_gate(pairs(flicker=1.0), stamp(), null_control=control)
        assert report.verdict == "indeterminate"
        assert "flicker_ratio is disregarded" in report.reasons[0]
        worse = pairs(flicker=1.0, jerk_ratio=1.0)
        assert run_population_gate(worse, stamp(), null_control=control).verdict == "fail"

    def test_a_budget_without_a_value_is_unproven_unless_waived(self):
        bare = [(r.score, c.score) for r, c in pairs(brightness=0.51)]
        control = measure_null_control(bare, self.stamp())
        assert set(control.unverified) == {
            "track_stability_ratio", "track_stability_worst", "grid_ratio"}  # fmt: skip
        report = run_population_gate(pairs(), stamp(), null_control=control)
        assert report.verdict == "indeterminate"
        assert all("not known to transfer" in reason for reason in report.reasons)
        report = run_population_gate(
            pairs(), stamp(), null_control=control, waive=control.unverified
        )
        assert report.verdict == "pass"

    def test_a_run_of_stills_is_not_held_back_by_what_its_table_leaves_out(self):
        """The table of stills has no distance; the control's own excess of it is not asked for."""
        moved = [
            (r, msgspec.structs.replace(c, score=msgspec.structs.replace(
                c.score, features=c.score.features + 0.3)))
            for r, c in stills()
        ]  # fmt: skip
        own = [*shipped("image").budgets, *budgets(population_frechet=(None, 0.2))]
        control = measure_null_control(moved, self.stamp(frames=1), own)
        assert "population_frechet" in control.untrusted
        report = run_image_population_gate(stills(), stamp(frames=1), null_control=control)
        assert (report.verdict, report.reasons) == ("pass", ())

    @pytest.mark.parametrize(
        "fields",
        [{"changes": ("seed", "compile")}, {"changes": ("compile",)},
         {"purpose": "paired-fidelity"}],
    )  # fmt: skip
    def test_something_else_changed(self, fields):
        with pytest.raises(ProtocolError, match="changes the seed alone"):
            measure_null_control(pairs(), self.stamp(**fields))

    def test_two_seeds_cannot_give_the_same_pictures(self):
        with pytest.raises(ProtocolError, match="'prompt 0' are the same"):
            measure_null_control(pairs(), self.stamp())
        mixed = pairs(brightness=0.51)
        mixed[5] = (mixed[5][0], mixed[5][0])
        with pytest.raises(ProtocolError, match="'prompt 5' are the same"):
            measure_null_control(mixed, self.stamp())
        files = [
            (msgspec.structs.replace(r, content="a"), msgspec.structs.replace(c, content="a"))
            for r, c in pairs(brightness=0.51)
        ]
        with pytest.raises(ProtocolError, match="are the same"):
            measure_null_control(files, self.stamp())

    def test_a_blank_clip(self):
        black = pairs(brightness=0.51)
        black[2] = (clip(contrast=0.0), clip())
        with pytest.raises(ProtocolError, match=r"nothing to compare .* 'prompt 2'"):
            measure_null_control(black, self.stamp())

    def test_unequal_counts(self):
        with pytest.raises(ProtocolError, match="7 pairs, and its protocol names 8 prompts"):
            measure_null_control(pairs(7, brightness=0.51), self.stamp())
        with pytest.raises(ProtocolError, match="0 pairs"):
            measure_null_control([], self.stamp())

    def test_one_of_other_prompts_or_conditions_says_nothing(self):
        ours = pairs(brightness=0.51)
        for fields, said in (
            ({"prompts": tuple(f"other {at}" for at in range(8))}, "on other prompts"),
            ({"hardware": "A100"}, "taken with hardware A100, the run with H100"),
            ({"same_pod": False}, "null control: the arms ran on different pods"),
        ):
            control = measure_null_control(ours, self.stamp(**fields))
            report = run_population_gate(pairs(), stamp(), null_control=control)
            assert report.verdict == "indeterminate"
            assert any(said in reason for reason in report.reasons)

    def test_seven_prompts_are_too_few_for_a_control(self):
        control = measure_null_control(pairs(7, brightness=0.51), self.stamp(7))
        report = run_population_gate(pairs(), stamp(), null_control=control)
        assert "the null control has 7 prompts; expected 8" in report.reasons

    def test_another_take_of_real_pictures_is_a_control(self):
        change = functools.partial(takes.another_take, take=2)
        control = measure_null_control(
            takes.changed(change), takes.protocol(changes=("seed",), candidate_arm="bf16")
        )
        assert all(control.transfers.values())
        assert not control.unverified


def test_scores_alone_leave_structure_unmeasured_which_is_no_pass():
    bare = [(r.score, c.score) for r, c in pairs()]
    report = run_population_gate(bare, stamp())
    assert report.verdict == "indeterminate"
    assert all("nobody looked for" in reason for reason in report.reasons)
    table = BudgetTable(name="own", kind="video", budgets=shipped("video").of(("imaging_index",)))
    assert run_population_gate(bare, stamp(), table).verdict == "pass"


def test_equal_runs_give_equal_bytes():
    once, again = (
        msgspec.json.encode(run_population_gate(pairs(brightness=0.51), stamp())) for _ in range(2)
    )
    assert once == again

"""Arms with a known fault each get the verdict they must get, and the budget that says so; an arm
that is another take passes. Every clip is measured as a file's would be."""

import functools

import pytest

from screentest.gates.population import run_population_gate
from screentest.gates.scoring import score_arm
from screentest.metrics.population import inconsistencies
from screentest.protocol import ArmLanes
from tests.gates import takes

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")

SEEDS = (1, 2, 3)


def gate(pairs, **fields):
    report = run_population_gate(pairs, takes.protocol(len(pairs), **fields))
    assert list(inconsistencies(report.population)) == []
    return report


def failed(report):
    return {row.budget.name for row in report.rows() if row.counts and row.passed is False}


@pytest.mark.parametrize("seed", SEEDS)
class TestEveryPrompt:
    @pytest.mark.parametrize(
        ("change", "budgets"),
        [
            (takes.blurred(30), {"imaging_index", "significant_features"}),
            (takes.blurred(50), {"imaging_index", "imaging_worst_prompt", "population_frechet"}),
            (takes.desaturated(8), {"significant_features"}),
            (takes.desaturated(20), {"significant_features"}),
            (takes.jittered(20), {"jerk_excess", "flicker_ratio"}),
            (takes.jittered(40), {"jerk_excess", "flicker_ratio"}),
            (takes.noised(10), {"imaging_index", "jerk_excess", "population_frechet"}),
            (takes.noised(20), {"imaging_index", "jerk_excess", "population_frechet"}),
            (takes.frozen, {"jerk_excess", "motion_ratio", "frozen_share_excess"}),
            (takes.slowed, {"jerk_excess", "motion_ratio"}),
            (takes.doubled, {"jerk_excess", "motion_ratio", "frozen_share_excess"}),
            (takes.latticed(6), {"grid_ratio", "imaging_index"}),
            (takes.latticed(10), {"grid_ratio", "imaging_index"}),
            (takes.warbled(120), {"track_stability_ratio", "track_stability_worst"}),
            (takes.warbled(230), {"track_stability_ratio", "track_stability_worst"}),
        ],
        ids=[
            "blur 30 %", "blur 50 %", "colour 92 %", "colour 80 %", "gain 2 %", "gain 4 %",
            "noise .01", "noise .02", "frozen", "slowed", "doubled", "lattice 6", "lattice 10",
            "warble 0.5 px", "warble 0.9 px",
        ],
    )  # fmt: skip
    def test_fails_by(self, seed, change, budgets):
        report = gate(takes.changed(change, seed=seed))
        assert report.verdict == "fail"
        assert budgets <= failed(report)
        assert all(name in report.reasons[0] for name in budgets)

    @pytest.mark.parametrize("take", [1, 2])
    def test_another_take_passes(self, seed, take):
        change = functools.partial(takes.another_take, seed=seed, take=take)
        report = gate(takes.changed(change, seed=seed))
        assert (report.verdict, report.reasons) == ("pass", ())
        assert not [row for row in report.rows() if row.passed is None]

    def test_the_same_clips_pass(self, seed):
        assert gate(takes.changed(lambda clip, _: clip, seed=seed)).verdict == "pass"


MEDIANS = {"imaging_index", "jerk_excess", "motion_ratio", "track_stability_ratio",
           "significant_features", "population_frechet"}  # fmt: skip
"""What one prompt of eight does not move."""


@pytest.mark.parametrize("seed", SEEDS)
class TestOnePromptOfEight:
    @pytest.mark.parametrize(
        ("change", "prompt", "budget"),
        [
            (takes.blurred(60), 0, "imaging_worst_prompt"),
            (takes.frozen, 3, "frozen_share_excess"),
            (takes.doubled, 5, "frozen_share_excess"),
            (takes.warbled(400), 3, "track_stability_worst"),
            (takes.noised(20), 4, "population_frechet_worst"),
            (takes.latticed(16), 1, "population_frechet_worst"),
        ],
        ids=["blurred", "frozen", "doubled", "warbled", "noisy", "latticed"],
    )
    def test_fails_by_the_worst(self, seed, change, prompt, budget):
        report = gate(takes.changed(change, seed=seed, only=prompt))
        assert report.verdict == "fail"
        assert budget in failed(report)
        assert not failed(report) & MEDIANS

    def test_a_black_clip_is_degenerate_and_named(self, seed):
        report = gate(takes.changed(lambda clip, _: clip * 0, seed=seed, only=6))
        assert report.verdict == "degenerate"
        assert "1 of 8 candidate clips" in report.reasons[0]
        assert "6 (scene 6)" in report.reasons[0]
        assert not report.benchmarks


@pytest.mark.parametrize(
    "change",
    [takes.desaturated(50), takes.noised(1), takes.latticed(2)],
    ids=["colour 50 %", "noise .001", "lattice 2"],
)
def test_what_a_median_does_not_see_in_one_prompt_of_eight_is_said(change):
    report = gate(takes.changed(change, only=2))
    assert report.verdict == "pass"
    assert any("in fewer than half of the prompts" in each for each in report.blind)


@functools.cache
def blurred_pairs():
    return takes.changed(takes.blurred(50))


class TestConditions:
    @pytest.fixture
    def blurred(self):
        return blurred_pairs()

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"same_pod": False}, "different pods"),
            ({"execution_lane": ArmLanes(reference="compiled", candidate="eager")}, "modes"),
            ({"execution_lane": ArmLanes(reference="eager")}, "candidate arm was not observed"),
        ],
        ids=["cross pod", "mismatched modes", "mode not observed"],
    )
    def test_no_verdict_under_a_fault_and_what_would_have_failed(self, blurred, fields, said):
        report = gate(blurred, **fields)
        assert report.verdict == "indeterminate"
        assert said in report.reasons[0]
        assert "imaging_index" in report.would_fail

    @pytest.mark.parametrize("n", [1, 7])
    def test_too_few_prompts_are_no_verdict(self, blurred, n):
        report = gate(blurred[:n])
        assert report.verdict == "indeterminate"
        assert f"needs 8, so {8 - n} more" in report.reasons[0]
        assert "imaging_index" in report.would_fail
        clean = takes.changed(lambda clip, _: clip)[:n]
        assert gate(clean).verdict == "indeterminate"

    def test_another_number_of_pairs_than_of_prompts(self, blurred):
        report = run_population_gate(blurred[:7], takes.protocol(8))
        assert report.verdict == "indeterminate"
        assert "7 pairs were measured; the protocol names 8 prompts" in report.reasons
        assert report.would_fail

    def test_clips_of_another_size_than_stamped(self, blurred):
        report = gate(blurred, width=1280, height=704, frames=121)
        assert report.verdict == "indeterminate"
        assert "has 8 frames, 512 pixels of width, 80 pixels of height" in report.reasons[0]


class TestGrey:
    """Nothing divides by the colour that is not there."""

    def pairs(self, change):
        theirs = [takes.grey(clip) for clip in takes.references()]
        ours = [change(clip, at) for at, clip in enumerate(theirs)]
        scored = score_arm([*theirs, *ours])
        return list(zip(scored[:8], scored[8:], strict=True))

    def test_equal_arms_pass(self):
        report = gate(self.pairs(lambda clip, _: clip))
        assert report.verdict == "pass"
        assert report.benchmarks["imaging"].values["ratio_saturation"] == 1.0

    def test_a_blurred_one_fails(self):
        assert "imaging_index" in failed(gate(self.pairs(takes.blurred(50))))

    def test_a_grey_candidate_beside_colour_fails(self):
        report = gate(takes.changed(takes.grey))
        assert {"imaging_index", "significant_features"} <= failed(report)


class TestPromptsThatLookAlike:
    """Nothing says what a large distance is, so no pass rests on one."""

    def pairs(self, change):
        theirs = takes.alike()
        scored = score_arm([*theirs, *(change(clip, at) for at, clip in enumerate(theirs))])
        return list(zip(scored[:8], scored[8:], strict=True))

    def test_a_small_change_is_no_verdict(self):
        report = gate(self.pairs(takes.blurred(5)))
        assert report.verdict == "indeterminate"
        both = "population_frechet and population_frechet_worst were not measured"
        assert report.reasons == (f"{both}: {self.reason(report)}",)
        assert "the prompts look alike" in self.reason(report)

    @staticmethod
    def reason(report):
        return report.benchmarks["distributional"].unmeasured["population_frechet"]

    def test_what_other_budgets_see_fails_all_the_same(self):
        report = gate(self.pairs(takes.blurred(50)))
        assert report.verdict == "fail"
        assert "imaging_index" in failed(report)
        assert self.reason(report) in report.reasons[1]

    def test_the_same_clips_pass(self):
        assert gate(self.pairs(lambda clip, _: clip)).verdict == "pass"

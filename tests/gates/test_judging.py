"""Verdicts of populations from facts by hand: what hides what, and which control counts."""

import msgspec
import pytest

from screentest.errors import PolicyError, ProtocolError
from screentest.gates.budget import Budget, BudgetTable, shipped
from screentest.gates.judge import judge_population, rejudge
from screentest.gates.matching import SHARED
from screentest.metrics.population.facts import PopulationFacts
from screentest.protocol import ArmLanes
from tests.gates.made_reports import (
    made_null_control,
    made_population,
    made_protocol,
    prompts,
)

VIDEO = shipped("video")


def judged(facts=None, protocol=None, table=VIDEO, control=None, **options):
    facts = made_population() if facts is None else facts
    return judge_population(facts, protocol or made_protocol(), table, control, **options)


def edited(struct, **changes):
    return msgspec.structs.replace(struct, **changes)


# Precedence


FAULTS = [
    ({"same_pod": False}, "different pods"),
    ({"execution_lane": ""}, "not observed"),
    ({"execution_lane": ArmLanes(reference="compiled")}, "of the candidate arm was not observed"),
    ({"execution_lane": ArmLanes(reference="eager", candidate="compiled")}, "different modes"),
    ({"prompts": prompts(9)}, "8 pairs were measured; the protocol names 9 prompts"),
]


@pytest.mark.parametrize(("changed", "said"), FAULTS)
def test_a_fault_of_the_protocol_hides_no_failure(changed, said):
    protocol = made_protocol(**changed)
    clean = judged(protocol=protocol)
    assert (clean.verdict, clean.would_fail) == ("indeterminate", ())
    assert any(said in reason for reason in clean.reasons)
    facts = made_population(sharpness=0.5, hf_ratio=0.5)
    blurred = judged(facts, protocol)
    assert blurred.verdict == "indeterminate"
    assert {"imaging_index", "imaging_worst_prompt"} <= set(blurred.would_fail)
    # The same as fail where there is no fault.
    assert judged(facts).reasons == (f"failed: {', '.join(blurred.would_fail)}",)


@pytest.mark.parametrize("n", [1, 7])
def test_fewer_than_eight_prompts_describe_those_prompts(n):
    for factors in ({}, {"sharpness": 0.5, "hf_ratio": 0.5}):
        report = judged(made_population(n, **factors), made_protocol(n))
        assert report.verdict == "indeterminate"
        assert bool(report.would_fail) == bool(factors)


def test_clips_with_nothing_to_compare_come_before_everything():
    facts = edited(made_population(sharpness=0.5), degenerate_candidates=(2,))
    report = judged(facts, made_protocol(same_pod=False))
    assert report.verdict == "degenerate"
    assert "1 of 8 candidate clips" in report.reasons[0]
    assert "2 (prompt 2)" in report.reasons[0]
    # The fault is still told.
    assert "different pods" in report.reasons[1]


def test_facts_that_meet_every_budget_pass():
    assert (judged().verdict, judged().reasons, judged().would_fail) == ("pass", (), ())


@pytest.mark.parametrize("arm", ["reference", "candidate"])
@pytest.mark.parametrize(
    ("field", "said"),
    [("n_frames", "5 frames"), ("width", "5 pixels of width"), ("height", "5 pixels of height")],
)
def test_clips_that_are_not_as_stamped_are_one_fault_for_all_that_differ_alike(arm, field, said):
    whole = made_population()
    other = tuple(edited(each, **{arm: {**getattr(each, arm), field: 5}})
                  for each in whole.prompts)  # fmt: skip
    report = judged(edited(whole, prompts=other))
    assert report.verdict == "indeterminate"
    (reason,) = report.reasons
    assert reason.startswith(f"the {arm} of 'prompt 0', ")
    assert f"and 2 more has {said}; the protocol says" in reason


# What would pass by saying nothing


@pytest.mark.parametrize("name", ["imaging", "temporal", "structure", "distributional"])
def test_a_benchmark_that_is_missing_is_no_pass(name):
    whole = made_population()
    benchmarks = {other: each for other, each in whole.benchmarks.items() if other != name}
    report = judged(edited(whole, benchmarks=benchmarks))
    assert report.verdict == "indeterminate"
    assert judged(edited(whole, benchmarks={})).verdict == "indeterminate"


def test_a_statistic_that_is_missing_is_no_pass():
    whole = made_population()
    for name, benchmark in whole.benchmarks.items():
        for budget in VIDEO.of(tuple(benchmark.values)):
            values = {k: v for k, v in benchmark.values.items() if k != budget.name}
            fewer = edited(
                whole, benchmarks={**whole.benchmarks, name: edited(benchmark, values=values)}
            )
            report = judged(fewer)
            assert report.verdict == "indeterminate"
            assert report.reasons == (f"{budget.name} was not measured: not measured",)


def test_a_statistic_that_the_reference_has_nothing_of_decides_nothing():
    rows = {row.budget.name: row for row in judged().rows()}
    assert rows["track_stability_ratio"].inapplicable
    assert not rows["track_stability_ratio"].counts
    assert judged().verdict == "pass"


def test_no_pair_is_refused():
    with pytest.raises(ProtocolError, match="no pair") as refused:
        judged(PopulationFacts(impl="population@1", prompts=()))
    assert refused.value.code == "no_pairs"


@pytest.mark.parametrize("kind", ["image", "reference"])
def test_a_table_of_another_gate_is_refused(kind):
    with pytest.raises(PolicyError, match=f"for the {kind} gate; the video gate was asked for"):
        judged(table=shipped(kind))


def test_clips_and_stills_have_tables_of_their_own():
    whole = made_population()
    still = tuple(
        edited(each, reference={**each.reference, "n_frames": 1},
               candidate={**each.candidate, "n_frames": 1})
        for each in whole.prompts
    )  # fmt: skip
    with pytest.raises(PolicyError, match="the image gate was asked for"):
        judged(edited(whole, prompts=still), made_protocol(frames=1))


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"purpose": "paired-fidelity"}, "wrong_purpose"),
        ({"changes": ("container-mux",)}, "wrong_lane"),
    ],
)
def test_another_question_is_for_another_gate(changed, code):
    with pytest.raises(ProtocolError) as refused:
        judged(protocol=made_protocol(**changed))
    assert refused.value.code == code


# The null control


def test_a_budget_that_the_null_control_does_not_keep_is_disregarded():
    control = made_null_control(jerk_excess=0.2)
    report = judged(made_population(jerk_ratio=1.5), control=control)
    assert report.verdict == "indeterminate"
    (row,) = (row for row in report.rows() if row.budget.name == "jerk_excess")
    assert (row.passed, row.counts) == (False, False)
    assert any("the null control reads 0.2 itself" in reason for reason in report.reasons)
    # One that it keeps still fails.
    blurred = judged(made_population(sharpness=0.5, hf_ratio=0.5), control=control)
    assert blurred.verdict == "fail"


def test_a_budget_that_the_null_control_has_no_number_for_is_unproven_unless_waived():
    whole = made_null_control()
    values = {name: value for name, value in whole.values.items() if name != "jerk_excess"}
    control = edited(whole, values=values)
    assert judged(control=control).verdict == "indeterminate"
    assert "null control has no jerk_excess" in judged(control=control).reasons[0]
    waived = judged(control=control, waived=["jerk_excess"])
    assert (waived.verdict, waived.waived) == ("pass", ("jerk_excess",))
    assert rejudge(waived) == waived


def test_only_budgets_of_the_run_need_a_number_of_the_control():
    """A control on a longer table caps no run on a shorter one."""
    control = made_null_control(population_frechet=1.3275)
    short = BudgetTable(
        name="short", kind="video", budgets=(Budget(name="imaging_index", low=0.9, provenance="p"),)
    )
    assert judged(table=short, control=control).verdict == "pass"
    assert judged(control=control).verdict == "indeterminate"


def test_what_is_no_budget_cannot_be_waived():
    with pytest.raises(PolicyError, match="sharpness cannot be waived"):
        judged(waived=["sharpness"])


OTHERWISE = {
    "family": "wan-2.2",
    "width": 128,
    "height": 96,
    "frames": 12,
    "steps": 9,
    "execution_lane": "eager",
    "hardware": "L40S",
}


@pytest.mark.parametrize("field", OTHERWISE)
def test_a_null_control_that_differs_in_one_field_does_not_match(field):
    whole = made_null_control()
    stamp = made_protocol(changes=("seed",), **{field: OTHERWISE[field]})
    report = judged(control=edited(whole, protocol=stamp))
    assert report.verdict == "indeterminate"
    (reason,) = report.reasons
    assert reason.startswith(f"the null control was taken with {field}")
    assert set(OTHERWISE) == set(SHARED)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"changes": ("compile",)}, "changes compile, where the seed alone"),
        ({"changes": ("seed", "compile")}, "changes seed, compile, where the seed alone"),
        ({"same_pod": False}, "null control: the arms ran on different pods"),
        ({"execution_lane": ""}, "null control: the execution mode of the reference arm"),
        ({"prompts": tuple("abcdefgh")}, "on other prompts than the run"),
        ({"prompts": prompts(7)}, "has 7 prompts; expected 8"),
    ],
)
def test_a_null_control_that_is_none_does_not_match(changed, said):
    stamp = made_protocol(**{"changes": ("seed",), **changed})
    report = judged(control=edited(made_null_control(), protocol=stamp))
    assert report.verdict == "indeterminate"
    assert any(said in reason for reason in report.reasons)


def test_a_null_control_of_another_version_does_not_compare():
    report = judged(control=edited(made_null_control(), impl="population@0"))
    assert report.verdict == "indeterminate"
    assert "population@0, the run by population@1" in report.reasons[0]


def test_what_a_null_control_does_not_share_is_free():
    stamp = made_protocol(
        changes=("seed",), seeds=(5,), guidance=2.0, fps=30, notes="n", candidate_arm="bf16"
    )
    assert judged(control=edited(made_null_control(), protocol=stamp)).verdict == "pass"


# What no verdict speaks of


def test_what_the_gate_cannot_see_is_said_beside_a_pass():
    said = judged(protocol=made_protocol(width=1280, height=704)).blind
    assert any("duplicated subjects" in each for each in said)
    assert any("about a quarter of blur" in each for each in said)
    assert any("jitters by less than about 1.5 %" in each for each in said)
    assert not any("transfer" in each for each in said)


def test_what_the_reference_has_nothing_of_is_said_beside_a_pass():
    facts = made_population()
    structure = edited(
        facts.benchmarks["structure"],
        values={"track_stability_ratio": 1.0, "track_stability_worst": 1.0},
        intervals={},
        inapplicable={"grid_ratio": "a lattice needs 512 px on one side; this is 288x160"},
    )
    report = judged(edited(facts, benchmarks={**facts.benchmarks, "structure": structure}))
    assert report.verdict == "pass"
    assert "grid_ratio: a lattice needs 512 px on one side; this is 288x160" in report.blind


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"family": "mine-1.0"}, "mine-1.0"),
        ({"family": "h30"}, "h30"),
        ({"width": 512, "height": 512}, "512x512"),
        ({"width": 3840, "height": 2160}, "3840x2160"),
        ({"steps": 50}, "50 steps"),
        ({"steps": 2}, "2 steps"),
    ],
)
def test_renders_that_the_bounds_were_not_placed_on_are_named(changed, named):
    at = {"width": 1280, "height": 704, **changed}
    said = [each for each in judged(protocol=made_protocol(**at)).blind if "transfer" in each]
    assert len(said) == 1
    assert f"transfer to {named}:" in said[0]
    # A null control is what tells.
    whole = made_null_control()
    control = edited(whole, protocol=made_protocol(**{**at, "changes": ("seed",)}))
    assert not any(
        "transfer" in each for each in judged(protocol=made_protocol(**at), control=control).blind
    )


@pytest.mark.parametrize("family", ["ltx-2.3", "LTX-2.3-distilled", " wan-2.2-14b", "H3"])
def test_families_that_the_bounds_were_placed_on(family):
    said = judged(protocol=made_protocol(family=family, width=704, height=1280)).blind
    assert not any("transfer" in each for each in said)


def test_budgets_of_ones_own_claim_nothing_of_what_the_shipped_ones_see():
    own = BudgetTable(
        name="own", kind="video", budgets=(Budget(name="imaging_index", low=0.9, provenance="p"),)
    )
    at = made_protocol(width=1280, height=704)
    said = judged(protocol=at, table=own).blind
    assert not any("quarter of blur" in each or "1.5 %" in each for each in said)
    assert any("how little they see is not known" in each for each in said)
    assert [each for each in said if each.startswith("whether the budgets fit ")]
    control = edited(made_null_control(), protocol=edited(at, changes=("seed",)))
    assert not any(
        "whether" in each for each in judged(protocol=at, table=own, control=control).blind
    )

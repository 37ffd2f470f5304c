"""The repeat control and what paired fidelity needs for a pass."""

import math

import msgspec
import numpy as np
import pytest

from screentest.errors import PolicyError, ProtocolError
from screentest.gates.budget import Budget, BudgetTable, shipped
from screentest.gates.judge import judge_reference, rejudge
from screentest.gates.matching import OF_A_REPEAT
from screentest.gates.reference import measure_reference, run_reference_gate
from screentest.gates.reference_facts import IMPL
from screentest.gates.repeat_control import measure_repeat_control
from screentest.gates.report import GateReport, ReferenceFacts, ReferenceRow, RepeatControl
from screentest.protocol import ArmLanes, Lane
from tests.gates.stamps import of_a_repeat, paired, stamp
from tests.gates.test_reference_gate import REFERENCES, moving, noisy

PSNR = Budget(name="psnr_mean", low=36, provenance="p")
SSIM = Budget(name="ssim_mean", low=0.9, provenance="p")


def table(*budgets):
    return BudgetTable(name="ours", kind="reference", budgets=budgets)


def repeat(psnr=60.0, protocol=None, **more):
    values = {"psnr_mean": psnr, "psnr_worst": psnr, **more}
    return RepeatControl(protocol=protocol or of_a_repeat(), values=values, impl=IMPL)


def facts(psnr=50.0, protocol=None, **more):
    """Facts of a run whose pairs all read this."""
    values = {"psnr_mean": psnr, "psnr_worst": psnr, **more}
    prompts = (protocol or paired()).prompts
    rows = tuple(ReferenceRow(prompt=prompt, frames=6, values=values) for prompt in prompts)
    return ReferenceFacts(rows=rows, values=values, impl=IMPL, metrics=("psnr",))


# The control itself


def test_a_repeat_is_measured_as_a_run_is():
    repeats = [noisy(clip, 2) for clip in REFERENCES]
    control = measure_repeat_control(REFERENCES, repeats, of_a_repeat(), metrics=["psnr", "ssim"])
    as_a_run = measure_reference(REFERENCES, repeats, of_a_repeat(), metrics=["psnr", "ssim"])
    assert control.values == as_a_run.values
    assert (control.impls, control.impl) == (as_a_run.impls, IMPL)
    assert control.protocol == of_a_repeat()


NOT_A_REPEAT = [
    ({"changes": ("compile",)}, "its only change is repeat, this stamp names compile"),
    ({"changes": ("repeat", "compile")}, "this stamp names repeat, compile"),
    ({"changes": ("seed",)}, "this stamp names seed"),
    ({"changes": ("video-encoder",)}, "this stamp names video-encoder"),
    ({"purpose": "quality"}, "this stamp says quality"),
    ({"candidate_arm": "w8a8"}, "'bf16' and 'w8a8'"),
]


@pytest.mark.parametrize(("changed", "said"), NOT_A_REPEAT)
def test_a_stamp_that_is_no_repeat_is_refused(changed, said):
    with pytest.raises(ProtocolError, match=said) as built:
        repeat(protocol=of_a_repeat(**changed))
    assert built.value.code == "not_a_repeat"
    with pytest.raises(ProtocolError, match=said):
        # Before the files are even looked for.
        measure_repeat_control(["no such file"], ["nor this"], of_a_repeat(**changed))


@pytest.mark.parametrize(
    ("values", "code", "said"),
    [
        ({}, "empty_control", "without a value"),
        ({"psnr_mean": math.nan}, "bad_control", "psnr_mean is nan"),
        ({"psnr_mean": 40.0, "psnr_worst": -math.inf}, "bad_control", "psnr_worst is -inf"),
        ({"psnr_mean": True}, "bad_control", "psnr_mean is True"),
        ({"psnr_mean": None}, "bad_control", "psnr_mean is None"),
        ({"imaging_index": 1.0}, "bad_control", "imaging_index"),
    ],
)
def test_a_control_without_numbers_is_refused(values, code, said):
    with pytest.raises(ProtocolError, match=said) as refused:
        RepeatControl(protocol=of_a_repeat(), values=values)
    assert refused.value.code == code


def test_a_stored_control_obeys_the_rules_of_a_new_one():
    stored = msgspec.to_builtins(repeat())
    assert msgspec.convert(stored, RepeatControl) == repeat()
    with pytest.raises(ProtocolError, match="without a value"):
        msgspec.convert({**stored, "values": {}}, RepeatControl)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"same_pod": False}, "different pods"),
        ({"execution_lane": ""}, "not observed"),
        ({"execution_lane": ArmLanes(reference="eager", candidate="compiled")}, "different modes"),
        ({"prompts": ("a cat",)}, "2 pairs; the protocol names 1 prompts"),
    ],
)
def test_a_fault_of_the_protocol_refuses_a_control(changed, said):
    with pytest.raises(ProtocolError, match=said) as refused:
        measure_repeat_control(REFERENCES, REFERENCES, of_a_repeat(**changed))
    assert refused.value.code == "faulty_control"


def test_a_repeat_that_lags_is_refused():
    long = moving(3, frames=40)
    said = of_a_repeat(prompts=("a cat",), frames=30)
    with pytest.raises(ProtocolError, match="'a cat' is not aligned") as refused:
        measure_repeat_control([long[:30]], [long[5:35]], said)
    assert refused.value.code == "misaligned"


def test_a_control_of_what_cannot_be_measured_is_refused_before_decoding(monkeypatch):
    from screentest.metrics import availability

    monkeypatch.setattr(availability, "_is_installed", lambda module: module != "torch")
    with pytest.raises(ProtocolError, match="no lpips: torch is not installed") as refused:
        measure_repeat_control(["no such file"] * 2, ["nor this"] * 2, of_a_repeat(),
                               metrics=["psnr", "lpips"])  # fmt: skip
    assert refused.value.code == "unmeasured"


# A pass of paired fidelity


def test_paired_fidelity_passes_with_budgets_and_a_repeat_that_keep_each_other():
    report = judge_reference(facts(), paired(), table(PSNR), repeat())
    assert (report.verdict, report.reasons) == ("pass", ())
    assert report.lane is Lane.POPULATION
    assert report.blind[0].startswith("quality")


LACKING = [
    (
        "no budgets",
        lambda: judge_reference(facts(), paired(), None, repeat()),
        "no budgets were given",
    ),
    (
        "no repeat",
        lambda: judge_reference(facts(), paired(), table(PSNR)),
        "no repeat control",
    ),
    (
        "a repeat without the number",
        lambda: judge_reference(
            facts(ssim_mean=0.99), paired(), table(PSNR, SSIM), repeat()
        ),
        "ssim_mean is disregarded: the repeat control has no number for it",
    ),
    (
        "a repeat that does not keep the budget",
        lambda: judge_reference(facts(), paired(), table(PSNR), repeat(psnr=30.0)),
        "psnr_mean is disregarded: the repeat control reads 30 itself",
    ),
    (
        "a budget without a number",
        lambda: judge_reference(facts(), paired(), table(PSNR, SSIM), repeat(ssim_mean=1.0)),
        "ssim_mean was not measured",
    ),
    (
        "fewer pairs",
        lambda: judge_reference(
            facts(protocol=paired(prompts=("a cat",))), paired(), table(PSNR), repeat()
        ),
        "1 pairs were measured",
    ),
    (
        "other pods",
        lambda: judge_reference(
            facts(), paired(same_pod=False), table(PSNR),
            repeat(protocol=of_a_repeat(same_pod=False)),
        ),
        "different pods",
    ),
    (
        "modes nobody observed",
        lambda: judge_reference(
            facts(), paired(execution_lane=""), table(PSNR),
            repeat(protocol=of_a_repeat(execution_lane="")),
        ),
        "not observed",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("judged", "said"), [one[1:] for one in LACKING],
                         ids=[one[0] for one in LACKING])  # fmt: skip
def test_without_one_of_its_conditions_paired_fidelity_is_indeterminate(judged, said):
    report = judged()
    assert report.verdict == "indeterminate"
    assert any(said in reason for reason in report.reasons)


def test_without_budgets_the_distances_are_measured_and_not_judged():
    report = run_reference_gate(REFERENCES, REFERENCES, paired())
    assert report.verdict == "indeterminate"
    assert report.table is None
    assert report.reference.values == {"psnr_mean": 99.0, "psnr_worst": 99.0}
    assert [*report.rows()] == []
    # Quality has a table of its own.
    assert run_reference_gate(REFERENCES, REFERENCES, stamp()).table is shipped("reference")


def test_a_candidate_beyond_what_a_repeat_keeps_is_a_regression():
    report = judge_reference(facts(psnr=31.5), paired(), table(PSNR), repeat(psnr=48.25))
    assert report.verdict == "fail"
    assert report.reasons == (
        "failed: psnr_mean",
        "psnr_mean reads 31.5, outside 36 <= psnr_mean, where a repeat of the same settings reads "
        "48.25: a regression, not noise",
    )


def test_a_repeat_beyond_the_budget_is_noise():
    report = judge_reference(facts(psnr=31.5), paired(), table(PSNR), repeat(psnr=31.75))
    assert report.verdict == "indeterminate"
    (row,) = report.rows()
    assert (row.passed, row.counts) == (False, False)
    assert "so it is noise" in report.reasons[0]
    assert not any("regression" in reason for reason in report.reasons)


def test_noise_in_one_budget_hides_no_regression_in_another():
    judged = judge_reference(
        facts(psnr=31.5, ssim_mean=0.5), paired(), table(PSNR, SSIM),
        repeat(psnr=31.75, ssim_mean=0.99),
    )  # fmt: skip
    assert judged.verdict == "fail"
    assert judged.reasons[0] == "failed: ssim_mean"
    assert "ssim_mean reads 0.5" in judged.reasons[1]
    assert any("psnr_mean is disregarded" in reason for reason in judged.reasons)


@pytest.mark.parametrize("control", [None, "other prompts"])
def test_without_a_repeat_that_fits_a_failure_is_only_named(control):
    if control is not None:
        control = repeat(protocol=of_a_repeat(prompts=("a cow", "a hen")))
    report = judge_reference(facts(psnr=20.0), paired(), table(PSNR), control)
    assert (report.verdict, report.would_fail) == ("indeterminate", ("psnr_mean",))


def test_a_quality_run_has_no_use_for_a_repeat():
    for run in (
        lambda: run_reference_gate(["no such file"], ["nor this"], stamp(), None, repeat()),
        lambda: judge_reference(facts(), stamp(), shipped("reference"), repeat()),
    ):
        with pytest.raises(ProtocolError, match="leave it out") as refused:
            run()
        assert refused.value.code == "repeat_of_quality"


def test_a_table_of_another_gate_judges_no_distance():
    with pytest.raises(PolicyError, match="for the image gate"):
        judge_reference(facts(), paired(), shipped("image"), repeat())


# Does the control belong to the run


OTHERWISE = {
    "family": "wan-2.2",
    "width": 128,
    "height": 96,
    "frames": 12,
    "steps": 9,
    "execution_lane": "eager",
    "hardware": "L40S",
    "fps": 25.0,
    "guidance": 4.0,
    "prompts": ("a dog", "a cat"),
    "seeds": (1,),
    "extra": {"vae": "tiled"},
}


@pytest.mark.parametrize("field", OTHERWISE)
def test_a_repeat_that_differs_in_one_field_does_not_match(field):
    control = repeat(protocol=of_a_repeat(**{field: OTHERWISE[field]}))
    report = judge_reference(facts(), paired(), table(PSNR), control)
    assert report.verdict == "indeterminate"
    (reason,) = report.reasons
    assert reason.startswith("the repeat control was taken with")
    assert field in reason
    # A run of the same conditions matches.
    changed = paired(**{field: OTHERWISE[field]})
    run = facts(protocol=changed)
    rows = tuple(msgspec.structs.replace(row, frames=changed.frames) for row in run.rows)
    run = msgspec.structs.replace(run, rows=rows)
    assert judge_reference(run, changed, table(PSNR), control).verdict == "pass"


def test_a_repeat_of_another_arm_does_not_match():
    other = of_a_repeat(reference_arm="fp8", candidate_arm="fp8")
    report = judge_reference(facts(), paired(), table(PSNR), repeat(protocol=other))
    assert report.reasons == (
        "the repeat control was taken with reference_arm fp8, the run with bf16",
    )


def test_a_repeat_on_other_pods_does_not_match():
    control = repeat(protocol=of_a_repeat(same_pod=False))
    report = judge_reference(facts(), paired(), table(PSNR), control)
    assert report.verdict == "indeterminate"
    assert any("same_pod False, the run with True" in reason for reason in report.reasons)


def test_modes_are_told_for_both_arms():
    control = repeat(protocol=of_a_repeat(execution_lane="eager"))
    (reason,) = judge_reference(facts(), paired(), table(PSNR), control).reasons
    assert "execution_lane eager/eager, the run with compiled/compiled" in reason


def test_every_field_that_has_to_agree_is_tried():
    assert {*OTHERWISE, "same_pod", "reference_arm"} == set(OF_A_REPEAT)


@pytest.mark.parametrize("field", ["candidate_arm", "notes", "changes"])
def test_what_a_repeat_does_not_share_is_free(field):
    changed = {"candidate_arm": "int4", "notes": "n", "changes": ("weight-quantization",)}
    run = paired(**{field: changed[field]})
    assert judge_reference(facts(), run, table(PSNR), repeat()).verdict == "pass"


def test_a_repeat_measured_by_another_version_does_not_compare():
    run = msgspec.structs.replace(facts(), impls={"psnr": "psnr@1"})
    for changed in ({"impls": {"psnr": "psnr@2"}}, {"impl": "reference-gate@0"}):
        control = msgspec.structs.replace(repeat(), **changed)
        report = judge_reference(run, paired(), table(PSNR), control)
        assert report.verdict == "indeterminate"
        assert "do not compare" in report.reasons[0]
    # What only one of the two measured is no conflict.
    control = msgspec.structs.replace(repeat(), impls={"vmaf": "vmaf@1"})
    assert judge_reference(run, paired(), table(PSNR), control).verdict == "pass"


# The whole of it, on pictures


def test_a_cache_that_moves_the_outputs_further_than_a_repeat_fails():
    repeats = [noisy(clip, 1) for clip in REFERENCES]
    control = measure_repeat_control(REFERENCES, repeats, of_a_repeat())
    for sigma, verdict in ((1, "pass"), (12, "fail")):
        candidates = [noisy(clip, sigma, seed=5) for clip in REFERENCES]
        report = run_reference_gate(REFERENCES, candidates, paired(), [PSNR], control)
        assert report.verdict == verdict
        stored = msgspec.json.decode(msgspec.json.encode(report), type=GateReport)
        assert rejudge(stored) == report == stored
    noise = measure_repeat_control(REFERENCES, [noisy(clip, 12) for clip in REFERENCES],
                                   of_a_repeat())  # fmt: skip
    again = run_reference_gate(REFERENCES, candidates, paired(), [PSNR], noise)
    assert again.verdict == "indeterminate"
    assert "so it is noise" in again.reasons[0]
    assert np.isfinite(again.reference.values["psnr_mean"])

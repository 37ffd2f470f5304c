"""Which gate two arms of outputs come before."""

import msgspec
import numpy as np
import pytest

from screentest.errors import InputError, PolicyError, ProtocolError, TrajectoryPerturbingError
from screentest.gates.budget import Budget, shipped
from screentest.gates.output import run_output_gate
from screentest.gates.reference import run_reference_gate
from screentest.gates.report import NullControl
from screentest.metrics.paired import frames as decoding
from screentest.metrics.population.measure import IMPL
from tests.gates.stamps import of_a_repeat, paired, stamp
from tests.gates.test_reference_gate import REFERENCES, moving
from tests.gates.test_repeat_control import PSNR, repeat

PROMPTS = tuple(f"prompt {at}" for at in range(8))


def population(**changed):
    return stamp(**{"changes": ("compile",), "prompts": PROMPTS, **changed})


def null_control(**changed):
    return NullControl(
        protocol=population(**{"changes": ("seed",), **changed}),
        values={"imaging_index": 1.0},
        transfers={"imaging_index": True},
        impl=IMPL,
    )


def arms(frames=6):
    return [moving(at, frames=frames) for at in range(8)]


def needs_scipy():
    pytest.importorskip("scipy", reason='pip install "screentest[gate]"')


# Frame by frame


def test_one_trajectory_comes_before_the_reference_gate():
    report = run_output_gate(REFERENCES, REFERENCES, stamp())
    assert report == run_reference_gate(REFERENCES, REFERENCES, stamp())
    assert report.verdict == "pass"


def test_paired_fidelity_comes_before_the_reference_gate_on_any_lane():
    report = run_output_gate(
        REFERENCES, REFERENCES, paired(), [PSNR], repeat_control=repeat(), metrics=["ssim"]
    )
    assert (report.verdict, report.population) == ("pass", None)
    assert set(report.reference.metrics) == {"psnr", "ssim"}
    assert report.repeat_control == repeat()


@pytest.mark.parametrize("given", [{"null_control": null_control()}, {"waive": ["psnr_mean"]}])
def test_a_null_control_has_no_place_where_frames_are_compared(given):
    for protocol in (stamp(), paired()):
        with pytest.raises(ProtocolError, match="compares frame by frame") as refused:
            run_output_gate(["no such file"], ["nor this"], protocol, **given)
        assert refused.value.code == "null_of_reference"


def test_a_repeat_control_has_no_place_in_a_question_of_quality():
    for protocol in (stamp(), population()):
        with pytest.raises(ProtocolError, match="leave it out") as refused:
            run_output_gate(["no such file"], ["nor this"], protocol, repeat_control=repeat())
        assert refused.value.code == "repeat_of_quality"


@pytest.mark.parametrize("metric", ["psnr", "ssim", "lpips", "dists", "vmaf"])
def test_reference_metrics_of_two_takes_are_refused(metric):
    with pytest.raises(TrajectoryPerturbingError, match=metric):
        run_output_gate(["no such file"], ["nor this"], population(), metrics=[metric])


def test_a_metric_that_no_gate_measures_is_refused():
    for protocol in (stamp(), population()):
        with pytest.raises(InputError, match="a reference gate measures"):
            run_output_gate(["no such file"], ["nor this"], protocol, metrics=["sharpness"])


# Populations


def test_two_takes_of_clips_come_before_the_gate_of_clips():
    needs_scipy()
    report = run_output_gate(arms(), arms(), population())
    assert (report.reference, report.table) == (None, shipped("video"))
    assert report.population.n == 8
    assert set(report.benchmarks) == {"imaging", "temporal", "structure", "distributional"}
    assert report.population.benchmarks["imaging"].values["imaging_index"] == 1.0


def test_two_takes_of_stills_come_before_the_gate_of_stills():
    needs_scipy()
    report = run_output_gate(arms(1), arms(1), population(frames=1))
    assert report.table is shipped("image")
    assert "temporal" not in report.benchmarks


def test_a_null_control_is_taken_by_the_gate_of_populations():
    needs_scipy()
    report = run_output_gate(arms(), arms(), population(), null_control=null_control())
    assert report.null_control == null_control()
    # What the control has no number for is not known to transfer, unless that is waived.
    assert any("null control has no jerk_excess" in reason for reason in report.reasons)
    waived = run_output_gate(
        arms(), arms(), population(), null_control=null_control(), waive=["jerk_excess"]
    )
    assert not any("null control has no jerk_excess" in reason for reason in waived.reasons)


@pytest.fixture
def undecoded(monkeypatch):
    """Nothing is decoded while a request is refused."""
    from screentest.gates import scoring

    def decoded(*_, **__):
        raise AssertionError("something was decoded")

    monkeypatch.setattr(scoring, "score_pairs", decoded)
    monkeypatch.setattr(decoding, "in_step", decoded)


@pytest.mark.usefixtures("undecoded")
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("stamped", "odd"), [(1, 6), (6, 1)])
def test_content_and_stamp_must_agree_about_stills(side, stamped, odd):
    needs_scipy()
    given = [arms(stamped), arms(stamped)]
    given[side][5] = moving(5, frames=odd)
    with pytest.raises(ProtocolError, match=f"{('reference', 'candidate')[side]} 6 is a") as one:
        run_output_gate(*given, population(frames=stamped))
    assert one.value.code == "mixed_stills"


@pytest.mark.usefixtures("undecoded")
def test_a_wrong_request_of_a_population_is_refused_before_decoding():
    needs_scipy()
    wrong = [
        ({"budgets": shipped("reference")}, PolicyError, "for the reference gate"),
        ({"budgets": [Budget(name="psnr_mean", low=3, provenance="p")]}, PolicyError, "psnr_mean"),
        ({"waive": ["psnr_mean"]}, PolicyError, "cannot be waived"),
    ]
    for given, error, said in wrong:
        with pytest.raises(error, match=said):
            run_output_gate(arms(), arms(), population(), **given)
    with pytest.raises(InputError, match="not one"):
        run_output_gate("clips", "clips", population())


def test_equal_arms_give_equal_bytes():
    first, second = (
        msgspec.json.encode(run_output_gate(REFERENCES, REFERENCES, stamp(), threads=threads))
        for threads in (1, 2)
    )
    assert first == second


def test_stamps_of_these_tests_are_what_they_say():
    assert of_a_repeat().lane == paired().lane == population().lane != stamp().lane
    assert np.array_equal(arms()[0], REFERENCES[0])

"""Reports of clips that were measured: what a gate answers is what its file says."""

from __future__ import annotations

import pytest

from screentest.gates.null_control import measure_null_control
from screentest.gates.population import run_population_gate
from screentest.gates.reference import run_reference_gate
from screentest.gates.scoring import score_arm
from screentest.reports.sealed import dump, load
from tests import arms
from tests.gates.made_reports import made_protocol

STAMP = {"width": arms.WIDTH, "height": arms.HEIGHT, "frames": 5}


def arm(change=None, prompts=8):
    clips = (arms.pan(prompt, 5) for prompt in range(prompts))
    return [clip if change is None else change(clip) for clip in clips]


def test_a_reference_report_is_the_same_bytes_on_any_number_of_threads():
    stamp = made_protocol(2, changes=("video-encoder",), **STAMP)
    reports = [
        run_reference_gate(arm(None, 2), arm(arms.blurred, 2), stamp, threads=threads)
        for threads in (1, 2, 3)
    ]
    written = {dump(report) for report in reports}
    assert len(written) == 1
    assert load(written.pop()).body == reports[0]


@pytest.fixture(scope="module")
def scored():
    """Both arms, measured on one thread and on three."""
    pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")
    return {
        threads: tuple(score_arm(arm(change), threads=threads) for change in (None, arms.blurred))
        for threads in (1, 3)
    }


class TestPopulations:
    @pytest.mark.parametrize("n", [8, 7, 5, 1])
    def test_a_report_comes_back_equal_and_its_bytes_do_not_hang_on_threads(self, scored, n):
        reports = [
            run_population_gate([*zip(*both, strict=True)][:n], made_protocol(n, **STAMP))
            for both in scored.values()
        ]
        written = [dump(report) for report in reports]
        assert written[0] == written[1]
        assert load(written[0]).body == reports[0]
        assert reports[0].verdict == ("fail" if n == 8 else "indeterminate")

    def test_a_degenerate_report_comes_back_equal(self, scored):
        black = score_arm(arm(arms.black, 1)) * 8
        pairs = [*zip(scored[1][0], black, strict=True)]
        report = run_population_gate(pairs, made_protocol(**STAMP))
        assert report.verdict == "degenerate"
        assert load(dump(report)).body == report

    def test_a_null_control_and_a_report_with_it_come_back_equal(self, scored):
        other = score_arm([arms.pan(prompt, 5, take=1) for prompt in range(8)])
        stamp = made_protocol(changes=("seed",), candidate_arm="bf16", seeds=(1,), **STAMP)
        control = measure_null_control([*zip(scored[1][0], other, strict=True)], stamp)
        control = load(dump(control)).body
        pairs = [*zip(*scored[1], strict=True)]
        report = run_population_gate(pairs, made_protocol(**STAMP), null_control=control)
        assert load(dump(report)).body == report

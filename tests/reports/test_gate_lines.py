"""What a person reads of a gate report."""

from __future__ import annotations

import pytest

from screentest.gates.budget import shipped
from screentest.gates.judge import judge_population
from screentest.metrics.population.facts import PopulationFacts
from screentest.reports.gate import gate_lines
from tests.gates import made_reports


def words(report):
    return "\n".join(gate_lines(report))


def test_the_first_line_is_the_verdict_and_the_conditions():
    report = made_reports.population_report()
    assert gate_lines(report)[0] == f"PASS  {report.protocol.line()}"


def test_a_budget_that_is_not_met_stands_beside_its_bounds():
    report = made_reports.population_report(sharpness=0.5, hf_ratio=0.5, local_contrast=0.5)
    (line,) = (line for line in gate_lines(report) if "imaging_worst_prompt" in line.split()[:1])
    assert line.split() == [
        "imaging_worst_prompt", "0.63", "at", "least", "0.85", "-0.22", "NOT", "MET",
    ]  # fmt: skip


def test_a_budget_that_is_met_says_how_far_inside_its_nearest_bound_it_is():
    (line,) = (
        line
        for line in gate_lines(made_reports.population_report())
        if "imaging_index" in line.split()[:1]
    )
    # 1 lies 0.08 above 0.92 and 0.25 below 1.25.
    assert "+0.08" in line.split()


def test_what_would_fail_is_told_where_a_fault_hides_the_verdict():
    lines = words(made_reports.population_report(7, saturation=0.8, sharpness=0.5, hf_ratio=0.5))
    assert lines.startswith("INDETERMINATE")
    assert "would fail were the comparison valid: imaging_index" in lines


def test_a_budget_without_a_value_says_why():
    lines = words(made_reports.population_report())
    assert "does not apply: hardly anything in the reference can be followed" in lines


def test_a_disregarded_budget_says_what_the_control_reads():
    control = made_reports.made_null_control(jerk_excess=0.2)
    lines = words(made_reports.population_report(null_control=control))
    assert "disregarded: the null control reads 0.2 itself" in lines
    assert "; null control: 1 of its budgets do not transfer" in lines


def test_the_worst_pairs_come_first_with_their_worst_frame():
    lines = gate_lines(made_reports.reference_report(worst=33.0))
    at = lines.index("  worst prompts")
    assert lines[at + 1].split() == [
        "'prompt", "0'", "psnr_worst", "33", "at", "frame", "0",
        "candidate/0.mp4", "against", "reference/0.mp4",
    ]  # fmt: skip


def test_a_degenerate_report_has_no_table_to_show():
    facts = PopulationFacts(
        impl="population@1",
        prompts=made_reports.made_population().prompts,
        degenerate_candidates=(3,),
    )
    report = judge_population(facts, made_reports.made_protocol(), shipped("video"))
    assert words(report).startswith("DEGENERATE")
    assert "prompts 3 (prompt 3)" in words(report)


@pytest.mark.parametrize("name", ["a\nPASS", "\x1b[2Jb", "\u2028c"])
def test_the_text_of_a_report_never_makes_a_line_or_moves_the_cursor(name):
    report = made_reports.population_report(protocol=made_reports.made_protocol(family=name))
    assert all(line.isprintable() for line in gate_lines(report))

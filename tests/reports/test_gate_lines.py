"""What a person reads of a gate report."""

from __future__ import annotations

import msgspec
import pytest

from screentest.gates.budget import BudgetTable, shipped
from screentest.gates.judge import judge_population, judge_reference
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
    assert "; null control: 1 budget does not transfer, so place some of your own" in lines


def test_the_worst_pairs_come_first_with_their_worst_frame():
    lines = gate_lines(made_reports.reference_report(worst=33.0))
    at = lines.index("  worst prompts")
    assert lines[at + 1].split() == [
        "'prompt", "0'", "psnr_worst", "33", "at", "frame", "0",
        "candidate/0.mp4", "against", "reference/0.mp4",
    ]  # fmt: skip


def test_distances_without_budgets_are_shown_with_the_farthest_pairs_first():
    rows = [
        edited_row
        for at, worst in enumerate((36.0, 31.0, 34.0))
        for edited_row in made_reports.made_rows(1, worst=worst, names=[f"prompt {at}"])
    ]
    facts = msgspec.structs.replace(
        made_reports.made_reference(3),
        rows=tuple(rows),
        values={"psnr_mean": 40.0, "psnr_worst": 31.0},
    )
    protocol = made_reports.made_protocol(3, purpose="paired-fidelity")
    lines = gate_lines(judge_reference(facts, protocol, None))
    assert "  reference: not judged, no budget" in lines
    assert ["psnr_worst", "31", "no", "budget"] in [line.split() for line in lines]
    at = lines.index("  worst prompts")
    assert [line.split("  ")[2] for line in lines[at + 1 : at + 4]] == [
        "'prompt 1'", "'prompt 2'", "'prompt 0'",
    ]  # fmt: skip


def test_what_was_measured_beside_the_budgets_is_shown():
    table = BudgetTable(name="one", kind="video", budgets=shipped("video").of(("imaging_index",)))
    lines = [line.split() for line in gate_lines(made_reports.population_report(table=table))]
    assert ["imaging_worst_prompt", "1", "no", "budget"] in lines
    assert ["temporal:", "not", "judged,", "no", "budget"] in lines


def test_prompts_that_nothing_tells_apart_are_not_called_the_worst():
    table = BudgetTable(
        name="one", kind="video", budgets=shipped("video").of(("significant_features",))
    )
    assert "  worst prompts" not in gate_lines(made_reports.population_report(table=table))


def test_a_benchmark_of_which_nothing_applies_is_not_indeterminate():
    table = BudgetTable(
        name="two",
        kind="video",
        budgets=shipped("video").of(("imaging_index", "track_stability_ratio")),
    )
    report = made_reports.population_report(table=table)
    assert report.verdict == "pass"
    (structure,) = (line for line in gate_lines(report) if line.startswith("  structure: "))
    assert structure == "  structure: does not apply"


def test_one_reason_for_several_statistics_is_one_line():
    facts = made_reports.made_population()
    held = facts.benchmarks["distributional"]
    names = ("population_frechet_full", "rms_effect_size")
    lacking = msgspec.structs.replace(
        held,
        values={name: value for name, value in held.values.items() if name not in names},
        unmeasured=dict.fromkeys(names, "the prompts look alike"),
    )
    benchmarks = {**facts.benchmarks, "distributional": lacking}
    report = judge_population(
        msgspec.structs.replace(facts, benchmarks=benchmarks),
        made_reports.made_protocol(),
        shipped("video"),
    )
    assert (
        "    population_frechet_full, rms_effect_size not measured: the prompts look alike"
        in gate_lines(report)
    )


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


def test_a_table_that_bears_the_name_of_a_shipped_one_is_told_from_it():
    assert "budgets 'video', version 1, as shipped" in words(made_reports.population_report())
    table = shipped("video")
    looser = msgspec.structs.replace(
        table,
        budgets=tuple(
            msgspec.structs.replace(budget, low=0.1) if budget.name == "imaging_index" else budget
            for budget in table.budgets
        ),
    )
    told = words(made_reports.population_report(table=looser, sharpness=0.5))
    assert "budgets 'video', version 1, not as shipped" in told

"""Why two documents differ."""

from __future__ import annotations

import msgspec
import pytest

from screentest.gates.budget import BudgetTable, shipped
from screentest.reports import canonical, contents
from screentest.reports.diff import Change, diff
from screentest.reports.diff_lines import diff_lines
from screentest.reports.sealed import dump, load
from tests.gates import made_reports as made


def sealed(body, **dumped):
    return load(dump(body, **dumped))


def changes(first, second, part):
    found = diff(first, second)
    return {(c.prompt, c.name): c for c in found.changes if c.part == part}


def test_equal_reports_are_equal():
    found = diff(sealed(made.population_report()), sealed(made.population_report()))
    assert (found.equal, found.changes) == (True, ())
    assert diff_lines(found) == [f"equal  {found.digests[0]}"]


def test_a_verdict_that_differs_is_told_with_the_budget_behind_it():
    first, second = (sealed(made.reference_report(worst=worst)) for worst in (36.0, 31.0))
    told = changes(first, second, "verdict")
    assert (told["", "verdict"].first, told["", "verdict"].second) == ("pass", "fail")
    assert (told["", "psnr_worst passed"].first, told["", "psnr_worst passed"].second) == (
        True,
        False,
    )
    assert len(told) == 2


def test_values_have_a_delta_second_minus_first():
    first, second = (sealed(made.reference_report(worst=worst)) for worst in (36.0, 31.0))
    told = changes(first, second, "values")
    assert told["", "psnr_worst"].delta == -5
    assert told["prompt 1", "psnr_worst"].delta == -5
    assert ("", "psnr_mean") not in told


def test_what_is_of_all_prompts_comes_before_what_is_of_one():
    found = diff(*(sealed(made.reference_report(worst=worst)) for worst in (36.0, 31.0)))
    of_one = [bool(c.prompt) for c in found.changes if c.part == "values"]
    assert of_one == sorted(of_one)


def test_numbers_of_different_versions_get_no_delta(monkeypatch):
    monkeypatch.setattr(contents, "_FIRST", {})
    first = sealed(made.population_report())
    second = sealed(
        made.population_report(hf_ratio=0.9, sharpness=0.98),
        impls={**first.impls, "hf_ratio": "hf_ratio@1"},
    )
    found = changes(first, second, "values")
    assert found["", "ratio_hf_ratio"].delta is None
    assert "hf_ratio@2 and by hf_ratio@1" in found["", "ratio_hf_ratio"].refused
    # It is made of hf_ratio too.
    assert found["", "imaging_index"].delta is None
    assert found["", "ratio_sharpness"].delta == pytest.approx(-0.02)
    assert changes(first, second, "document")["", "impls.hf_ratio"].second == "hf_ratio@1"
    assert "(do not compare: " in "\n".join(diff_lines(diff(first, second)))


def test_a_number_that_only_one_of_them_has_is_told_without_a_delta():
    first = sealed(made.fidelity_report())
    second = sealed(made.population_report())
    told = changes(first, second, "values")["", "psnr_mean"]
    assert (told.first, told.second, told.delta, told.refused) == (40.5, None, None, "")


def test_conditions_that_differ_are_told_field_by_field():
    first = sealed(made.population_report())
    second = sealed(made.population_report(protocol=made.made_protocol(steps=4, notes="x")))
    told = changes(first, second, "protocol")
    assert {name: (c.first, c.second) for (_, name), c in told.items()} == {
        "steps": (8, 4),
        "notes": ("", "x"),
    }


def test_bounds_that_differ_are_told_budget_by_budget():
    ours = shipped("video")
    looser = BudgetTable(
        name="ours",
        kind="video",
        version=2,
        budgets=tuple(
            msgspec.structs.replace(budget, low=0.5) if budget.name == "imaging_index" else budget
            for budget in ours.budgets
        ),
    )
    told = changes(
        sealed(made.population_report()), sealed(made.population_report(table=looser)), "budgets"
    )
    assert {name: (c.first, c.second) for (_, name), c in told.items()} == {
        "table name": ("video", "ours"),
        "table version": (1, 2),
        "imaging_index low": (0.92, 0.5),
    }


def test_a_prompt_of_one_of_them_is_told_once():
    found = diff(sealed(made.reference_report(2)), sealed(made.reference_report(3)))
    of_it = [c for c in found.changes if c.prompt == "prompt 2"]
    assert [(c.part, c.name, c.first) for c in of_it] == [("prompts", "", None)]
    assert "    prompt 2: in the second alone" in diff_lines(found)


def test_files_that_differ_are_told_by_name_and_content():
    first = made.reference_report(1, contents=("blake2b-256:a", "blake2b-256:b"))
    second = made.reference_report(1, contents=("blake2b-256:a", "blake2b-256:c"))
    told = changes(sealed(first), sealed(second), "prompts")
    assert [*told] == [("prompt 0", "candidate content")]


def test_a_control_of_one_of_them_is_told_once():
    first = sealed(made.population_report())
    second = sealed(made.population_report(null_control=made.made_null_control()))
    assert [*changes(first, second, "controls")] == [("null_control", "")]


def test_a_control_that_reads_otherwise_is_told_by_its_value():
    first, second = (
        sealed(made.population_report(null_control=made.made_null_control(jerk_excess=value)))
        for value in (0.0, 0.01)
    )
    assert [*changes(first, second, "controls")] == [("null_control", "values.jerk_excess")]


def test_two_controls_are_compared_by_their_values():
    first, second = (sealed(made.made_repeat_control(psnr_mean=value)) for value in (60.0, 50.0))
    assert changes(first, second, "values")["", "psnr_mean"].delta == -10


def test_documents_of_two_kinds_say_so():
    found = diff(sealed(made.population_report()), sealed(made.made_null_control()))
    assert any(c.name == "schema" for c in found.changes)


def test_bytes_that_differ_in_what_this_version_does_not_know_are_not_equal():
    data = dump(made.reference_report())
    document = canonical.loads(data)
    document["body"]["added"] = 1
    found = diff(load(data), load(canonical.dumps(document)))
    assert not found.equal
    assert [change.part for change in found.changes] == ["other"]


def test_json_is_canonical_and_names_its_schema():
    found = diff(sealed(made.population_report()), sealed(made.population_report(flicker=1.1)))
    document = canonical.loads(found.to_json())
    assert document["schema"] == "screentest/report-diff@1"
    assert document["equal"] is False
    assert len(document["changes"]) == len(found.changes)


def test_the_words_of_an_author_stay_on_their_line():
    first = sealed(made.population_report())
    second = sealed(made.population_report(protocol=made.made_protocol(notes="a\nequal\x1b[2J")))
    assert all(line.isprintable() for line in diff_lines(diff(first, second)))


def test_many_changes_are_counted_and_the_first_shown():
    lines = diff_lines(
        diff(sealed(made.population_report(60)), sealed(made.population_report(60, flicker=1.1)))
    )
    assert any(line.endswith("more; --json has them all") for line in lines)
    assert len(lines) < 120


class TestLines:
    def lines(self, first, second):
        return diff_lines(diff(sealed(first), sealed(second)))

    def test_a_verdict_is_told_in_the_words_of_a_report(self):
        lines = self.lines(*(made.reference_report(worst=worst) for worst in (36.0, 31.0)))
        assert "    psnr_worst: met -> NOT MET" in lines

    def test_files_that_differ_throughout_are_one_line(self):
        first, second = (
            made.reference_report(5, contents=(None, f"blake2b-256:{key * 64}")) for key in "ab"
        )
        lines = self.lines(first, second)
        said = (
            "    candidate content differs for 5 prompts: prompt 0, prompt 1, prompt 2 and 2 more"
        )
        assert lines[2:] == ["  prompts", said]

    def test_of_a_content_key_enough_is_told(self):
        first, second = (
            made.reference_report(1, contents=(None, f"blake2b-256:{key * 64}")) for key in "ab"
        )
        assert (
            "    prompt 0: candidate content: blake2b-256:aaaaaaaaaaaa... -> "
            "blake2b-256:bbbbbbbbbbbb..."
        ) in self.lines(first, second)

    def test_a_value_stands_under_its_benchmark_with_its_interval(self):
        lines = self.lines(made.population_report(), made.population_report(flicker=1.1))
        at = lines.index("    temporal:")
        assert lines[at + 1].startswith(
            "      flicker_ratio: 1 -> 1.1  (+0.1)  [1, 1] -> [1.1, 1.1]"
        )

    def test_an_interval_that_differs_by_itself_is_told(self):
        first = made.population_report(1)
        change = Change(part="values", name="low end of the interval of imaging_index",
                        benchmark="imaging", first=0.9, second=0.8)  # fmt: skip
        found = diff(sealed(first), sealed(made.population_report(1, flicker=1.1)))
        found = msgspec.structs.replace(found, changes=(change,))
        assert diff_lines(found)[-1] == (
            "      low end of the interval of imaging_index: 0.9 -> 0.8"
        )

    def test_numbers_of_clips_are_counted(self):
        lines = self.lines(made.population_report(), made.population_report(flicker=1.1))
        assert (
            "    8 numbers of the candidate's clips of 8 prompts (prompt 0, prompt 1, prompt 2 and "
            "5 more); --json has them"
        ) in lines

    def test_what_is_bounded_comes_first(self):
        lines = self.lines(made.population_report(), made.population_report(contrast=0.9))
        at = lines.index("    imaging:")
        assert [line.split(":")[0].strip() for line in lines[at + 1 : at + 3]] == [
            "imaging_index", "imaging_worst_prompt",
        ]  # fmt: skip

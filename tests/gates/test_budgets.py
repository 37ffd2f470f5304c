"""Budgets as closed documents: what they must say, and what is refused by which message."""

import math

import msgspec
import pytest

from screentest.errors import PolicyError
from screentest.gates.budget import (
    SCHEMA,
    Budget,
    BudgetTable,
    as_table,
    load_budgets,
    parse_budgets,
    shipped,
)
from screentest.gates.reference_facts import METRICS
from screentest.gates.statistics import BENCHMARKS, IMAGE, REFERENCE, VIDEO

PSNR = Budget(name="psnr_mean", low=36, provenance="two clips")

DOCUMENT = """\
schema = "screentest/budgets@1"
name = "ours"
kind = "reference"

[budgets.psnr_mean]
low = 36
provenance = "two clips"
"""


def test_a_document_gives_its_table():
    table = parse_budgets(DOCUMENT, "ours.toml")
    assert (table.name, table.kind, table.version) == ("ours", "reference", 1)
    assert table.budgets == (PSNR,)
    assert table.budgets[0].describe() == "36 <= psnr_mean"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "ours"', 'name = "ours"\ncolour = 1', "colour"),
        ("low = 36", "low = 36\nleast = 30", r"budgets\.psnr_mean\.least"),
        ("[budgets.psnr_mean]", "[budget.psnr_mean]", "budget"),
        ('schema = "screentest/budgets@1"\n', "", "schema is None"),
        ("budgets@1", "budgets@2", "schema is 'screentest/budgets@2'"),
        ('name = "ours"\n', "", "name"),
        ('name = "ours"', 'name = " "', "without a name"),
        ('name = "ours"', "name = 3", r"name"),
        ('kind = "reference"\n', "", "kind"),
        ('kind = "reference"', 'kind = "audio"', "kind"),
        ('kind = "reference"', 'kind = "reference"\nversion = 0', "version is 0"),
        ('kind = "reference"', 'kind = "reference"\nversion = 1.5', "version"),
        ('kind = "reference"', 'kind = "video"', "psnr_mean"),
        ("psnr_mean", "psnr_median", "psnr_median"),
        ("low = 36\n", "", "psnr_mean has no bound"),
        ("low = 36", "low = nan", "psnr_mean: low is nan"),
        ("low = 36", "high = inf", "psnr_mean: high is inf"),
        ("low = 36", "low = 30\nhigh = -inf", "psnr_mean: high is -inf"),
        ("low = 36", 'low = "36"', r"budgets.*low"),
        ("low = 36", "low = true", r"budgets.*low"),
        ("low = 36", "low = 40\nhigh = 36", "psnr_mean: low 40 is above high 36"),
        ('provenance = "two clips"\n', "", "psnr_mean has no provenance"),
        ('"two clips"', '""', "psnr_mean has no provenance"),
        ('"two clips"', '"  "', "psnr_mean has no provenance"),
        ('low = 36\nprovenance = "two clips"\n', "", r"provenance|psnr_mean"),
        ('[budgets.psnr_mean]\nlow = 36\nprovenance = "two clips"\n', "[budgets]", "no budget"),
        ('[budgets.psnr_mean]\nlow = 36\nprovenance = "two clips"\n', "", "no budget"),
        ("[budgets.psnr_mean]", "[budgets.psnr_mean]\n[budgets.psnr_mean]", "ours.toml"),
        ("low = 36", "low = 36\nlow = 30", "ours.toml"),
        ("low = 36", "low = ", "ours.toml"),
    ],
)
def test_a_document_that_says_more_or_less_is_refused(old, new, said):
    assert old in DOCUMENT
    with pytest.raises(PolicyError, match=said) as refused:
        parse_budgets(DOCUMENT.replace(old, new), "ours.toml")
    assert str(refused.value).startswith("ours.toml")


def test_a_misspelt_statistic_hears_the_nearest():
    with pytest.raises(PolicyError, match="psnr_worst"):
        parse_budgets(DOCUMENT.replace("psnr_mean", "psnr_worse"))


def test_evidence_and_changes_are_kept_beside_and_decide_nothing():
    more = '[evidence]\nclips = 12\n[[changes]]\nbudget = "psnr_mean"\nwhy = "more clips"\n'
    assert parse_budgets(DOCUMENT + more) == parse_budgets(DOCUMENT)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "without a name"),
        ({"name": None}, "without a name"),
        ({"provenance": " "}, "no provenance"),
        ({"provenance": None}, "no provenance"),
        ({"low": None}, "has no bound"),
        ({"low": math.nan}, "low is nan: expected a finite number"),
        ({"high": math.inf}, "high is inf: expected a finite number"),
        ({"low": "36"}, "low is '36': expected a number"),
        ({"high": True}, "high is True: expected a number"),
        ({"high": 35.9}, "low 36 is above high 35.9"),
    ],
)
def test_a_budget_that_bounds_nothing_is_refused(given, said):
    with pytest.raises(PolicyError, match=said):
        Budget(**{"name": "psnr_mean", "low": 36, "provenance": "two clips", **given})


def test_bounds_are_inclusive():
    budget = Budget(name="jerk_excess", low=-0.1, high=0.04, provenance="eight prompts")
    assert [budget.check(value) for value in (-0.1, 0.0, 0.04)] == [True] * 3
    assert [budget.check(value) for value in (-0.1001, 0.0401)] == [False] * 2
    assert [budget.check(value) for value in (None, math.nan, math.inf, -math.inf)] == [False] * 4
    assert budget.describe() == "-0.1 <= jerk_excess <= 0.04"


@pytest.mark.parametrize("end", ["low", "high"])
def test_a_number_that_is_not_finite_keeps_no_bound(end):
    budget = Budget(name="psnr_mean", provenance="p", **{end: 0.0})
    assert not any(budget.check(value) for value in (math.nan, math.inf, -math.inf))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"budgets": ()}, "everything would pass"),
        ({"budgets": (PSNR, PSNR)}, "two budgets for psnr_mean"),
        ({"kind": "video"}, "psnr_mean"),
        ({"kind": "audio"}, "kind 'audio'"),
        ({"name": ""}, "without a name"),
        ({"version": 0}, "version is 0"),
        ({"version": True}, "version is True"),
    ],
)
def test_a_table_that_decides_nothing_or_twice_is_refused(changed, said):
    given = {"name": "ours", "kind": "reference", "budgets": (PSNR,), **changed}
    with pytest.raises(PolicyError, match=said):
        BudgetTable(**given)


@pytest.mark.parametrize("kind", ["video", "image", "reference"])
def test_the_shipped_tables_load_and_bound_what_their_gate_decides_on(kind):
    table = shipped(kind)
    assert (table.name, table.kind) == (kind, kind)
    assert table.budgets
    known = {"video": VIDEO, "image": IMAGE, "reference": REFERENCE}[kind]
    assert {budget.name for budget in table.budgets} <= set(known)
    assert all(len(budget.provenance) > 20 for budget in table.budgets)
    assert as_table(None, kind) is table


def test_a_candidate_that_stands_still_leaves_the_shipped_bounds_of_video():
    """A frozen clip has a jerk excess of -1 and no motion at all."""
    bounds = {budget.name: budget for budget in shipped("video").budgets}
    assert not bounds["jerk_excess"].check(-1.0)
    assert not bounds["motion_ratio"].check(0.0)
    assert not bounds["frozen_share_excess"].check(1.0)


def test_every_statistic_belongs_to_one_benchmark():
    of_populations = [name for names in BENCHMARKS.values() for name in names]
    assert sorted(of_populations) == sorted(VIDEO)
    assert len(set(VIDEO)) == len(VIDEO)
    assert set(IMAGE) < set(VIDEO)
    assert [name for names in METRICS.values() for name in names] == list(REFERENCE)


def test_what_a_caller_may_pass_for_budgets(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(DOCUMENT)
    table = load_budgets(path)
    assert as_table(path, "reference") == as_table(str(path), "reference") == table
    assert as_table(table, "reference") is table
    given = as_table([PSNR], "reference")
    assert (given.name, given.budgets) == ("given in the call", (PSNR,))
    with pytest.raises(PolicyError, match="for the reference gate; the video gate was asked for"):
        as_table(table, "video")
    with pytest.raises(PolicyError, match="hold a tuple"):
        as_table([("psnr_mean", 36)], "reference")
    with pytest.raises(PolicyError, match="no budget"):
        as_table([], "reference")
    with pytest.raises(FileNotFoundError):
        as_table(tmp_path / "none.toml", "reference")


def test_a_table_in_a_report_tolerates_what_a_newer_version_adds():
    stored = msgspec.to_builtins(parse_budgets(DOCUMENT))
    newer = {**stored, "author": "x", "budgets": [{**stored["budgets"][0], "weight": 2}]}
    assert msgspec.convert(newer, BudgetTable) == parse_budgets(DOCUMENT)


def test_a_digest_names_what_is_bounded_and_why():
    first = parse_budgets(DOCUMENT)
    assert first.sha256 == parse_budgets(DOCUMENT, "elsewhere.toml").sha256
    for old, new in (("36", "37"), ("two clips", "three clips"), ("low", "high")):
        assert parse_budgets(DOCUMENT.replace(old, new)).sha256 != first.sha256
    assert SCHEMA in DOCUMENT

"""How much of a budget's room a value takes, and which prompts are the worst."""

import math

import numpy as np
import pytest

from screentest.gates.allowance import prompt_budgets, room_taken, worst_prompts
from screentest.gates.budget import Budget, BudgetTable
from screentest.gates.judge import judge_reference
from screentest.gates.report import ReferenceFacts, ReferenceRow
from tests.gates.made_reports import made_protocol, prompts


def budget(name, low=None, high=None):
    return Budget(name=name, low=low, high=high, provenance="worked by hand")


@pytest.mark.parametrize(
    ("bounds", "value", "room"),
    [
        # Ratios by their logarithm: half of what is allowed upwards is the root of it.
        (budget("flicker_ratio", high=1.44), 1.2, 0.5),
        (budget("flicker_ratio", high=1.44), 1.44, 1.0),
        (budget("flicker_ratio", high=1.44), 1.44**2, 2.0),
        (budget("flicker_ratio", high=1.44), 0.8, 0.0),
        (budget("imaging_index", low=0.25, high=4.0), 0.5, 0.5),
        (budget("imaging_index", low=0.25, high=4.0), 2.0, 0.5),
        # Excesses and distances as they are, from 0; the nearer bound counts.
        (budget("jerk_excess", low=-0.1, high=0.04), 0.03, 0.75),
        (budget("jerk_excess", low=-0.1, high=0.04), -0.2, 2.0),
        (budget("population_frechet", high=0.2), 0.5, 2.5),
        # A bound that no change lies on: the next whole is as far again.
        (budget("significant_features", high=0), 0, 0.0),
        (budget("significant_features", high=0), 1, 2.0),
        # PSNR has no best value, so the bound itself is the measure.
        (budget("psnr_worst", low=32.0), 16.0, 1.5),
        (budget("psnr_worst", low=32.0), 48.0, 0.5),
        # From 1 down to 0.9, of which 0.95 is half.
        (budget("ssim_mean", low=0.9), 0.95, 0.5),
    ],
)
def test_room_is_the_share_of_the_way_to_the_bound(bounds, value, room):
    assert room_taken(bounds, value) == pytest.approx(room, abs=1e-12)


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_a_ratio_of_nothing_is_infinitely_far_from_a_low_bound(value):
    assert room_taken(budget("motion_ratio", low=0.65), value) == math.inf
    assert room_taken(budget("flicker_ratio", high=1.25), value) == 0.0


def test_the_bound_of_the_worst_prompt_is_the_one_for_a_prompt():
    table = BudgetTable(name="t", kind="video", budgets=(
        budget("imaging_worst_prompt", low=0.85), budget("imaging_index", low=0.92, high=1.25),
        budget("jerk_excess", high=0.04),
    ))  # fmt: skip
    found = prompt_budgets(table)
    assert {name: each.name for name, each in found.items()} == {
        "imaging_index": "imaging_worst_prompt",
        "jerk_excess": "jerk_excess",
    }
    assert prompt_budgets(None) == {}


def reference_report(values, misaligned=()):
    rows = []
    for at, (name, value) in enumerate(zip(prompts(len(values)), values, strict=True)):
        row = (
            {"misaligned": ("it lags",)} if at in misaligned else {"values": {"psnr_worst": value}}
        )
        rows.append(ReferenceRow(prompt=name, frames=6, **row))
    facts = ReferenceFacts(rows=tuple(rows), values={"psnr_worst": min(values)})
    table = BudgetTable(name="t", kind="reference", budgets=(budget("psnr_worst", low=32.0),))
    return judge_reference(facts, made_protocol(len(values), changes=("container-mux",)), table)


def test_the_worst_prompt_comes_first_and_a_pair_without_numbers_before_it():
    values = [40.0, 30.0, 35.0, 20.0]
    assert worst_prompts(reference_report(values)) == (3, 1, 2, 0)
    assert worst_prompts(reference_report(values, misaligned=(2,))) == (2, 3, 1, 0)


def test_a_number_of_numpy_outside_its_bound_fails_the_gate():
    """Its comparison gives a bool that is not ``False``, and so would not count as failed."""
    report = reference_report([np.float64(40.0), np.float64(30.0)])
    assert report.verdict == "fail"
    assert budget("psnr_worst", low=32.0).check(np.float64(30.0)) is False

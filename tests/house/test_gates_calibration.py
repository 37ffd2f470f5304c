"""The bounds of the gates have their evidence; what is banked follows from itself and from what is
read today."""

import json
import re
import tomllib

import pytest

from calibration.gates import provenance
from screentest.gates.budget import shipped
from screentest.metrics.population.names import IMPL
from screentest.metrics.population.ratios import FLOORS
from screentest.metrics.registry import spec

HERE = provenance.HERE
README = (HERE / "README.md").read_text()
MEASURED = json.loads((HERE / "measured.json").read_text())
REPORTED = tomllib.loads((HERE / "reported.toml").read_text())
REMEASURE = "measure again: python calibration/gates/measure.py"
KINDS = ("video", "image", "reference")
SIDES = [
    (kind, budget.name, side, getattr(budget, side))
    for kind in KINDS
    for budget in shipped(kind).budgets
    for side in ("low", "high")
    if getattr(budget, side) is not None
]
ROW = re.compile(
    r"^\| (video|image|reference) \| `(\w+)` \| (low|high) \| ([\d.-]+) \| (reported|ours) "
    r"\| (yes|no) \| (.+) \|$",
    re.MULTILINE,
)
ROWS = {(kind, name, side): rest for kind, name, side, *rest in ROW.findall(README)}
ARMS = {row["arm"] for row in MEASURED["simulation"]}
NULLS = [row for row in MEASURED["simulation"] if row["arm"] == provenance.NULL]


def budget_of(kind, name):
    return next(budget for budget in shipped(kind).budgets if budget.name == name)


def test_every_bound_that_ships_has_a_row():
    assert set(ROWS) == {(kind, name, side) for kind, name, side, _ in SIDES}


@pytest.mark.parametrize(("kind", "name", "side", "value"), SIDES)
def test_row_says_what_the_table_says(kind, name, side, value):
    said, whose, provisional, evidence = ROWS[kind, name, side]
    assert float(said) == value
    if whose == "ours":
        assert provisional == "yes"
        assert provenance.OURS[kind, name].side == side
        named = set(re.findall(r"`([^`]+)`", evidence))
        assert named == set(provenance.OURS[kind, name].failing)
        assert named <= ARMS
    else:
        assert REPORTED[name][side] == value
        assert "reported.toml" in evidence


def test_bounds_that_are_ours_say_so_and_the_others_do_not():
    ours = {(kind, name) for (kind, name, _), rest in ROWS.items() if rest[1] == "ours"}
    assert ours == set(provenance.OURS)


@pytest.mark.parametrize(("kind", "name"), list(provenance.OURS))
def test_provenance_of_ours_is_written_from_what_is_measured(kind, name):
    expected = provenance.texts(MEASURED)[kind, name]
    assert budget_of(kind, name).provenance == expected, (
        "write it again: python calibration/gates/provenance.py"
    )


@pytest.mark.parametrize("name", [name for name in REPORTED if name != "schema"])
def test_reported_numbers_stand_in_the_provenance(name):
    kind = "reference" if name.startswith("psnr") else "video"
    claimed = {
        abs(float(number))
        for number in re.findall(r"\d+(?:\.\d+)?", budget_of(kind, name).provenance)
    }
    assert set(REPORTED[name]["clean"]) | set(REPORTED[name]["failing"]) <= claimed


def test_measured_evidence_is_of_these_statistics_and_these_bounds():
    assert MEASURED["schema"] == "screentest/gates-calibration@1"
    assert MEASURED["impl"] == IMPL, REMEASURE
    assert MEASURED["impls"] == {name: spec(name).impl for name in MEASURED["impls"]}, REMEASURE
    now = {
        kind: {b.name: [b.low, b.high] for b in shipped(kind).budgets}
        for kind in ("video", "image")
    }
    assert MEASURED["bounds"] == now, REMEASURE
    assert {name: row["floor"] for name, row in MEASURED["floors"].items()} == FLOORS, REMEASURE


def test_no_change_was_drawn_a_thousand_times_on_each_gate_and_size():
    assert {(row["kind"], row["n"]) for row in NULLS} == {
        (kind, n) for kind in ("video", "image") for n in (8, 16)
    }
    assert all(row["draws"] >= 1000 for row in NULLS)


def test_no_change_keeps_the_rate_that_the_readme_states():
    limits = {
        (kind, int(n)): float(most)
        for kind, n, most in re.findall(
            r"at most (?:\*\*)?(\w+) n = (\d+): ([\d.]+) %", README.replace("\n", " ")
        )
    }
    assert set(limits) == {(row["kind"], row["n"]) for row in NULLS}
    for row in NULLS:
        assert 100 * row["fail_interval"][1] <= limits[row["kind"], row["n"]], row["fail"]
        assert row["indeterminate"] == row["degenerate"] == 0


def test_each_bound_that_is_ours_fails_no_change_in_at_most_one_draw_of_a_hundred():
    for row in NULLS:
        for kind, name in provenance.OURS:
            if kind == row["kind"]:
                assert row["failed"].get(name, 0.0) <= 0.01, (row["kind"], row["n"], name)


@pytest.mark.parametrize(("kind", "name"), list(provenance.OURS))
def test_what_a_bound_of_ours_was_placed_against_fails_it(kind, name):
    for arm in provenance.OURS[kind, name].failing:
        row = provenance.row_of(MEASURED, kind, arm)
        assert row["failed"].get(name, 0.0) >= 0.5, arm


PLAIN = (
    "blur 25 %", "blur 50 %", "desaturation 15 %", "gain jitter 2 %", "gain jitter 4 %",
    "pixel noise 0.02", "frozen 50 %", "frozen 100 %", "slowed 0.5", "slowed 0.25",
    "grid 8 levels", "grid 16 levels", "warble 0.25 px", "warble 0.5 px", "warble 0.9 px",
    "one of 8: frozen 100 %", "one of 8: warble 0.9 px", "one of 8: blur 50 %",
)  # fmt: skip


@pytest.mark.parametrize("arm", PLAIN)
def test_plain_damage_fails_in_nine_draws_of_ten(arm):
    row = provenance.row_of(MEASURED, "video", arm)
    assert row["fail"] >= 0.9, (arm, row["failed"])


def test_real_clips_pass_a_little_later_and_fail_with_plain_damage():
    said = {row["arm"]: row["verdict"] for row in MEASURED["real"]}
    assert said["a sixth of a second later"] == "pass"
    assert {said[arm] for arm in PLAIN if arm in said} == {"fail"}


def test_numbers_of_the_readme_are_those_that_are_measured():
    rows = re.findall(
        r"^\| (\w+) \| (\d+) \| ([\d.]+) % \| ([\d.]+) to ([\d.]+) % \|$", README, re.M
    )
    said = {(kind, int(n)): tuple(map(float, rest)) for kind, n, *rest in rows}
    assert said == {
        (row["kind"], row["n"]): tuple(
            round(100 * share, 1) for share in (row["fail"], *row["fail_interval"])
        )
        for row in NULLS
    }
    for name, made, reported in re.findall(
        r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|$", README, re.M
    ):
        assert MEASURED["takes"][name] == {"made": float(made), "reported": float(reported)}, name
    assert all(f"| `{name}` |" in README for name in MEASURED["takes"])


def test_the_page_follows_from_the_numbers():
    from calibration.gates import measure

    page = "\n".join(measure.page(MEASURED)) + "\n"
    assert page == (HERE / "measured.md").read_text(), REMEASURE


def test_verdicts_of_the_draws_do_not_hang_on_what_was_left_out():
    assert MEASURED["intervals"]["equal"] == MEASURED["intervals"]["draws"]


def test_floors_lie_as_far_below_what_clips_read_as_the_readme_says():
    for name, row in MEASURED["floors"].items():
        least = min(row["made"], row["real"])
        assert (row["floor"] < least / 2) == (name != "grid_peak_ratio"), name
    for name, row in MEASURED["scales"].items():
        assert row["floor"] <= min(row["made"], row["real"]) / 5, name


def test_a_made_pair_reads_as_banked():
    """Banked to four digits."""
    pytest.importorskip("scipy", reason='pip install "screentest[gate]"')
    from calibration.gates import measure

    now = measure.sample()
    assert now.keys() == MEASURED["sample"].keys(), REMEASURE
    for name, value in now.items():
        assert value == pytest.approx(MEASURED["sample"][name], rel=1e-3, abs=1e-4), REMEASURE


def test_a_made_take_is_the_same_everywhere():
    """A change of numpy's generators would make every number above another one."""
    from calibration.gates import material

    frames = material.take(0, 0)
    assert frames.shape == (material.FRAMES, *material.SIZE, 3)
    assert frames[0, 100, 100:102].ravel().tolist() == PIXELS


PIXELS = [134, 131, 132, 134, 131, 132]

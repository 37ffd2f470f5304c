"""Every limit that ships has its evidence, and the banked evidence is what the facts read today."""

import json
import re
import tomllib

import pytest

from calibration.integrity import blank, material, measure, noise
from calibration.integrity.rows import judged, tally
from screentest.metrics.integrity import IMPL
from screentest.verdicts.policy import default_policy
from tests.oracles import clips

README = (measure.HERE.parent / "README.md").read_text()
REPORTED = tomllib.loads((measure.HERE / "reported.toml").read_text())
MEASURED = json.loads((measure.HERE / "measured.json").read_text())
LIMITS = {name: getattr(default_policy().limits, name) for name in MEASURED["limits"]}

BANKED = {(row["axis"], row["group"], row["clip"]): row for row in MEASURED["clips"]}

REMEASURE = "measure again: python calibration/integrity/measure.py"

# Banked to three digits, and another build of the decoder may move the last of them.
TOLERANCE = 0.002


def rows_of_the_readme():
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| (.+?) \| (yes|no) \| .+ \|$", README, re.M)
    return {name: (float(value), whose, provisional) for name, value, whose, provisional in rows}


def test_every_limit_has_a_row():
    limits = default_policy().limits
    assert set(rows_of_the_readme()) == set(limits.__struct_fields__)


@pytest.mark.parametrize("name", default_policy().limits.__struct_fields__)
def test_row_says_what_the_policy_says(name):
    limit = getattr(default_policy().limits, name)
    value, whose, provisional = rows_of_the_readme()[name]
    assert value == limit.value
    assert provisional == ("yes" if limit.provisional else "no")
    assert whose.startswith("ours" if limit.provisional else "reported")
    assert limit.provenance.startswith("Ours" if limit.provisional else "Reference system")


def test_reported_evidence_stands_for_the_limits_that_are_not_provisional():
    reported = {name for name, entry in REPORTED.items() if "limit" in entry}
    assert reported == {name for name, limit in LIMITS.items() if not limit.provisional}


@pytest.mark.parametrize("name", ["noise_floor", "blank_std", "grid_ratio"])
def test_reported_numbers_stand_in_the_provenance(name):
    entry, limit = REPORTED[name], LIMITS[name]
    assert entry["reported_by"] == "reference system"
    assert entry["limit"] == limit.value
    claimed = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", limit.provenance)}
    for population in entry["populations"]:
        for key in ("n", "low", "median", "high"):
            assert population.get(key, entry["limit"]) in claimed | {entry["limit"]}, population
        assert (population["low"] > limit.value) == (population["bad"] == (name == "grid_ratio"))
    if "margin_to_worst_good" in entry:
        assert entry["margin_to_worst_good"] in claimed


def test_measured_evidence_is_of_these_facts_and_these_limits():
    assert MEASURED["schema"] == measure.SCHEMA
    assert MEASURED["impl"] == IMPL, REMEASURE
    assert set(MEASURED["limits"]) == set(default_policy().limits.__struct_fields__), REMEASURE
    assert MEASURED["limits"] == {name: limit.value for name, limit in LIMITS.items()}, REMEASURE


def test_tally_and_page_follow_from_the_clips():
    assert MEASURED["tally"] == tally(MEASURED["clips"])
    page = "\n".join(measure.page(MEASURED)) + "\n"
    assert page == (measure.HERE / "measured.md").read_text(), REMEASURE


# -------------------------------------------------------------------------- a few clips, once more


def check(axis, group, clip, source, *, bad, **options):
    banked = BANKED[axis, group, clip]
    now = judged(axis, group, clip, source, bad=bad, **options)
    assert now["said"] == banked["said"], REMEASURE
    assert now["codes"] == banked["codes"], REMEASURE
    for name, value in now["values"].items():
        expected = banked["values"][name]
        if value is None or expected is None:
            assert value is expected, (clip, name, REMEASURE)
        else:
            assert value == pytest.approx(expected, abs=TOLERANCE, rel=TOLERANCE), (clip, name)


def test_uniform_noise_reads_as_banked():
    check("noise", "plain noise", "uniform, 512x288", noise.small(), bad=True)


@pytest.mark.parametrize("name", noise.TEXTURED_PANS)
def test_textured_pan_reads_as_banked(name):
    """Plain decimation alone would call two of them noise."""
    pan = noise.textured_pan(name)
    check("noise", "pans, zooms, turns", f"{name}, 480x360", pan, bad=False)


@pytest.mark.parametrize("sigma", [2, 3])
def test_grain_on_either_side_of_blank_reads_as_banked(sigma):
    check(
        "blank",
        "one colour with grain",
        f"grey with grain of sigma {sigma}",
        material.grained(blank.flat("grey"), 53, sigma),
        bad=True,
        numbers=blank.numbers,
    )


def test_made_pan_reads_as_banked():
    check("grid", "pictures", "made: pan", clips.clip("pan"), bad=False, depth="sampled")


@pytest.mark.parametrize("name", ["carphone_pristine", "bikes"])
def test_real_clip_reads_as_banked(name, real_clip):
    check("noise", "real clips", name, real_clip(name), bad=False)


def test_made_material_is_the_same_everywhere():
    """A change of numpy's generators would make every number above another one."""
    assert noise.small()[0, 0, :2].ravel().tolist() == [139, 74, 229, 241, 169, 65]

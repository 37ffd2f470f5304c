"""The limits on sound have their evidence; what is banked is what is read today."""

import json
import re
import tomllib

import numpy as np
import pytest

from calibration.audio import material, measure, rows
from calibration.integrity.rows import tally
from screentest.metrics.audio.names import IMPL
from screentest.verdicts.audio_policy import default_audio_policy

MEASURED = json.loads((measure.HERE / "measured.json").read_text())
LIMITS = default_audio_policy().limits
REMEASURE = "measure again: python calibration/audio/measure.py"
BANKED = {(row["axis"], row["group"], row["clip"]): row for row in MEASURED["clips"]}

# Banked to three digits, and levels are sums of many samples.
TOLERANCE = 0.002


def test_every_limit_has_a_row_that_says_what_the_policy_says():
    row = re.compile(r"^\| `(\w+)` \| ([\d.e-]+) \| (\w+) \| (yes|no) \| .+ \|$", re.M)
    said = {name: rest for name, *rest in row.findall((measure.HERE / "README.md").read_text())}
    assert set(said) == set(LIMITS.__struct_fields__)
    for name, (value, whose, provisional) in said.items():
        limit = getattr(LIMITS, name)
        assert float(value) == limit.value, name
        assert provisional == ("yes" if limit.provisional else "no"), name
        words = {"reported": "Reference system", "standard": "ITU-R", "ours": "Ours"}
        assert limit.provenance.startswith(words[whose]), name
        assert (whose == "ours") == limit.provisional, name


def test_reported_evidence_stands_in_the_provenance():
    reported = tomllib.loads((measure.HERE / "reported.toml").read_text())
    entries = {name: entry for name, entry in reported.items() if name != "schema"}
    assert set(entries) == {
        name for name in LIMITS.__struct_fields__
        if getattr(LIMITS, name).provenance.startswith("Reference system")
    }  # fmt: skip
    for name, entry in entries.items():
        limit = getattr(LIMITS, name)
        assert (entry["limit"], entry["unit"]) == (limit.value, limit.unit)
        claimed = {
            abs(float(number))
            for number in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", limit.provenance)
        }
        for population in entry["populations"]:
            for key in ("n", "low", "high"):
                # A planted fault is told by its number alone.
                if key in population and not (population["bad"] and key == "n"):
                    assert abs(population[key]) in claimed, (name, population)


def test_measured_evidence_is_of_these_facts_and_these_limits():
    assert MEASURED["schema"] == measure.SCHEMA
    assert MEASURED["impl"] == IMPL, REMEASURE
    now = {name: getattr(LIMITS, name).value for name in LIMITS.__struct_fields__}
    assert MEASURED["limits"] == now, REMEASURE


def test_tally_margins_and_page_follow_from_the_sounds():
    assert MEASURED["tally"] == tally(MEASURED["clips"])
    assert MEASURED["margins"] == measure.margins(MEASURED["clips"])
    page = "\n".join(measure.page(MEASURED)) + "\n"
    assert page == (measure.HERE / "measured.md").read_text(), REMEASURE


def test_no_good_sound_is_rejected_but_a_sentence_that_its_voice_breaks_off():
    rejected = [
        row for row in MEASURED["clips"] if not row["bad"] and row["said"] == "reject"
    ]  # fmt: skip
    assert all(row["clip"].startswith("kal16, 'Good morning everyone.'") for row in rejected)
    assert len(rejected) == 4
    good = {row["verdict"] for row in MEASURED["clips"] if row["group"] in measure.GOOD}
    assert good == {"pass"}


def test_every_planted_fault_that_the_reference_system_reports_is_named():
    by = {
        ("level", "turned down to inaudible"): {"reject"},
        ("silence", "a dead end, coded"): {"reject", "warn"},
        ("silence", "cut off at any moment"): {"reject", "warn"},
        ("dead channel", "right is dead"): {"reject"},
        ("offset", "an offset"): {"reject", "warn"},
        ("clipping", "pushed beyond full scale"): {"reject", "warn"},
    }
    for (axis, group), allowed in by.items():
        said = {r["said"] for r in MEASURED["clips"] if (r["axis"], r["group"]) == (axis, group)}
        assert said <= allowed, (axis, group)


@pytest.mark.parametrize(
    ("axis", "group", "clip", "made", "bad"),
    [
        ("level", "turned down to inaudible", "notes, by 40 dB",
         lambda: material.int16(material.level(material.notes(3), -20) * 0.01), True),
        ("clipping", "pushed beyond full scale", "notes, by 6 dB",
         lambda: material.pushed(material.peak(material.notes(3), -1), 6), True),
        ("silence", "a dead end", "notes, 30 %",
         lambda: material.silenced(material.notes(3), 0.7, 1), True),
        ("silence", "cut off at any moment",
         f"notes, at {rows._moments(0, 1)[0] * 5:.3f} s",
         lambda: material.silenced(material.notes(3), rows._moments(0, 1)[0], 1), True),
        ("silence", "endings and pauses that were meant", "notes faded out in 1 s, seed 3",
         lambda: material.faded(material.notes(3), 1.0, 1.0), False),
        ("offset", "an offset", "notes, 0.02",
         lambda: material.notes(3) + np.array([0.02, 0]), True),
        ("dead channel", "right is dead", "notes", lambda: material.dead(material.notes(3)), True),
        ("phase", "right is inverted", "notes",
         lambda: material.inverted(material.notes(3)), True),
    ],
    ids=["turned down", "pushed", "cut off", "cut off anywhere", "faded", "offset", "dead",
         "inverted"],
)  # fmt: skip
def test_a_made_sound_reads_as_banked(axis, group, clip, made, bad):
    banked, now = BANKED[axis, group, clip], rows.judged(axis, group, clip, made(), bad=bad)
    assert (now["said"], now["codes"]) == (banked["said"], banked["codes"]), REMEASURE
    for name, value in now["values"].items():
        assert value == pytest.approx(banked["values"][name], abs=TOLERANCE, rel=TOLERANCE), name

"""The limits on time and on tracks have their evidence; what is banked is what is read today."""

import json
import re
import tomllib

import pytest

from calibration.integrity.rows import tally
from calibration.temporal import material, measure, rows
from calibration.tracks import measure as pairs
from screentest.metrics.temporal import IMPL
from screentest.metrics.tracks import IMPL as TRACKS_IMPL
from screentest.verdicts.temporal_policy import default_temporal_policy
from screentest.verdicts.tracks_policy import default_track_policy

MEASURED = json.loads((measure.HERE / "measured.json").read_text())
TRACKS = measure.HERE.parent / "tracks"
LIMITS = {
    "temporal": (measure.HERE, default_temporal_policy().limits),
    "tracks": (TRACKS, default_track_policy().limits),
}
REMEASURE = "measure again: python calibration/temporal/measure.py"
BANKED = {(row["axis"], row["group"], row["clip"]): row for row in MEASURED["clips"]}

# Banked to three digits; another build of the decoder or the coder may move the last of them.
TOLERANCE = 0.002


@pytest.mark.parametrize("kind", LIMITS)
def test_every_limit_has_a_row_that_says_what_the_policy_says(kind):
    folder, limits = LIMITS[kind]
    row = re.compile(r"^\| `(\w+)` \| ([\de.-]+) \| (\w+) \| (yes|no) \| .+ \|$", re.M)
    said = {name: rest for name, *rest in row.findall((folder / "README.md").read_text())}
    assert set(said) == set(limits.__struct_fields__)
    for name, (value, whose, provisional) in said.items():
        limit = getattr(limits, name)
        assert float(value) == limit.value
        assert provisional == ("yes" if limit.provisional else "no")
        assert whose == ("ours" if limit.provisional else "reported")


def test_reported_evidence_stands_for_the_limits_that_are_not_provisional():
    reported = tomllib.loads((TRACKS / "reported.toml").read_text())
    limits = default_track_policy().limits
    entries = {name: entry for name, entry in reported.items() if name != "schema"}
    assert set(entries) == {
        name for name in limits.__struct_fields__ if not getattr(limits, name).provisional
    }
    for name, entry in entries.items():
        assert entry["limit"] == getattr(limits, name).value


def test_measured_evidence_is_of_these_facts_and_these_limits():
    limits = default_temporal_policy().limits
    assert MEASURED["schema"] == measure.SCHEMA
    assert MEASURED["impl"] == IMPL, REMEASURE
    now = {name: getattr(limits, name).value for name in limits.__struct_fields__}
    assert MEASURED["limits"] == now, REMEASURE


def test_tally_and_page_follow_from_the_clips():
    assert MEASURED["tally"] == tally(MEASURED["clips"])
    page = "\n".join(measure.page(MEASURED)) + "\n"
    assert page == (measure.HERE / "measured.md").read_text(), REMEASURE


def test_measured_pairs_are_of_these_facts_and_these_limits():
    measured = json.loads((TRACKS / "measured.json").read_text())
    limits = default_track_policy().limits
    remeasure = "measure again: python calibration/tracks/measure.py"
    assert (measured["schema"], measured["impl"]) == (pairs.SCHEMA, TRACKS_IMPL), remeasure
    now = {name: getattr(limits, name).value for name in limits.__struct_fields__}
    assert measured["limits"] == now, remeasure
    assert measured["tally"] == tally(measured["clips"])
    page = "\n".join(pairs.page(measured)) + "\n"
    assert page == (TRACKS / "measured.md").read_text(), remeasure


def test_no_frozen_candidate_passes_and_no_clip_fails_against_itself():
    rows = json.loads((TRACKS / "measured.json").read_text())["clips"]
    said = {(row["group"], row["said"]) for row in rows}
    assert {verdict for group, verdict in said if group == "frozen"} == {"reject"}
    assert {verdict for group, verdict in said if group == "the same clip"} == {"pass"}


def test_no_clip_is_rejected():
    assert {row["verdict"] for row in MEASURED["clips"]} <= {"pass", "unmeasured"}


@pytest.mark.parametrize(
    ("axis", "group", "clip", "made", "bad"),
    [
        ("flicker", "brightness that alternates", "pan, +-4 levels",
         lambda: material.alternating(material.sources()["pan"], 4), True),
        ("flash", "planted flashes", "pan, 2 by 60",
         lambda: material.flashed(material.sources()["pan"], 20, 2, 60), True),
        ("judder", "frames held in a rhythm", "pan, 3:2",
         lambda: material.held(material.sources()["pan"], "3:2"), True),
        ("judder", "made motion", "parallax", lambda: material.sources()["parallax"], False),
    ],
    ids=["alternation", "flash", "3:2", "parallax"],
)  # fmt: skip
def test_a_made_clip_reads_as_banked(axis, group, clip, made, bad):
    banked, now = BANKED[axis, group, clip], rows.judged(axis, group, clip, made(), bad=bad)
    assert (now["said"], now["codes"]) == (banked["said"], banked["codes"]), REMEASURE
    for name, value in now["values"].items():
        expected = banked["values"][name]
        if value is None or expected is None:
            assert value is expected, (name, REMEASURE)
        else:
            assert value == pytest.approx(expected, abs=TOLERANCE, rel=TOLERANCE), (name, REMEASURE)

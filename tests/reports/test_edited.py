"""Every field of a report is edited, by itself and with all that follows from it judged again: what
is still a document is listed here, and none of it turns a verdict."""

from __future__ import annotations

import copy
from collections import defaultdict

import msgspec
import pytest

from screentest.errors import ScreentestError
from screentest.gates.judge import rejudge
from screentest.gates.report import GateReport
from screentest.reports import canonical
from screentest.reports.sealed import dump, load
from tests.gates import made_reports as made

STAMP = {
    f"protocol.{name}"
    for name in ("reference_arm", "candidate_arm", "notes", "extra", "fps", "guidance", "seeds.[]")
}
"""Conditions that nothing measured contradicts; a null control is of any of them."""

OF_A_PAIR = {"sources", "sources.[]", "contents.[]"}

OF_A_CLIP = {"brightness", "sharpness_p10", "corners", "flat_frames", "grid_peak_ratio"}
"""What no statistic of two arms is made of, and a lattice of a strength that none has."""

TABLE = {"table.name", "table.version"}

ROUNDED = {f"population.power.{name}.spread"
           for name in ("imaging_index", "ratio_hf_ratio", "ratio_local_contrast")}  # fmt: skip
"""The prompts of made facts do not spread: a rounding in the place of another."""

SEEN = ("detectable", "prompts_needed")
"""What a test could have seen, beside the spread that it is worked out from."""

CONTROL = {
    *(f"null_control.{name}" for name in (*STAMP, "protocol.prompts")),
    *("null_control.untrusted.jerk_excess", "null_control.unverified"),
    "null_control.unverified.[]",
}
"""A control is kept without its facts. Besides, what it reads where no bound is crossed and nothing
is made of it, and which budgets it was tried on."""

OF_A_REFERENCE = {
    *(f"reference.rows.[].{name}" for name in (*OF_A_PAIR, "worst_frame", "worst_frame.psnr")),
    *TABLE,
}


def places(value, path=()):
    """Every place of plain data, of the prompts the first one alone."""
    if path:
        yield path
    if isinstance(value, dict):
        keys = list(value)
    else:
        some = 1 if path[-1:] in (("prompts",), ("rows",)) else None
        keys = list(range(len(value)))[:some] if isinstance(value, list) else []
    for key in keys:
        yield from places(value[key], (*path, key))


def edits(value):
    """Others of the same type, one less and one more."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, -value)
    elif isinstance(value, str):
        yield from (f"{value}x", "")
    elif isinstance(value, list):
        yield from (value[:-1], value[::-1], [*value, *value[-1:]])
    elif isinstance(value, dict):
        yield from ({**value, "psnr_mean": 1.5}, {**value, "psnr_mean": "x"}, {})
    else:
        yield from (1, "x")


def edited(document):
    """(place, document) with one thing of the body changed or left out; of the conditions, in both
    places where they stand."""
    for path in places(document["body"]):
        if path[0] == "benchmarks" and path[1:2] not in ((), ("imaging",), ("reference",)):
            # What the facts say of it is compared like that of the first.
            continue
        value = document["body"]
        for key in path:
            value = value[key]
        for new in (*edits(value), ...):
            made_so = replaced(document, ("body", *path), new)
            if path[0] == "protocol":
                made_so = replaced(made_so, path, new)
            yield path, made_so


def replaced(holder, path, new):
    """A copy of plain data with ``new`` at a path, or nothing for ``...``."""
    key, *rest = path
    copied = copy.copy(holder)
    if rest:
        copied[key] = replaced(holder[key], rest, new)
    elif new is ...:
        del copied[key]
    else:
        copied[key] = new
    return copied


def judged_again(document):
    """The document with the verdict, the rows and the reasons that follow from its facts."""
    body = rejudge(msgspec.convert(document["body"], GateReport))
    return {**document, "body": msgspec.to_builtins(body)}


def place_of(path):
    return ".".join("[]" if isinstance(key, int) else key for key in path)


def accepted(report, *, again):
    """By place, the verdicts of edited documents that load and say something else."""
    data = dump(report)
    document = canonical.loads(data)
    found = defaultdict(set)
    for path, each in edited(document):
        try:
            body = load(canonical.dumps(judged_again(each) if again else each)).body
        except (ScreentestError, msgspec.ValidationError, LookupError, ValueError):
            continue
        if body != report:
            found[place_of(path)].add(body.verdict)
    return found


def test_a_report_of_populations_holds_all_but_these():
    report = made.population_report(
        sharpness=0.5, hf_ratio=0.5, local_contrast=0.5,
        null_control=made.made_null_control(jerk_excess=0.2),
    )  # fmt: skip
    found = accepted(report, again=False)
    of_pairs = {f"population.prompts.[].{name}" for name in OF_A_PAIR}
    of_clips = {
        f"population.prompts.[].{arm}.{name}"
        for arm in ("reference", "candidate")
        for name in OF_A_CLIP
    }
    read = {
        name
        for name in found
        if name.startswith(("null_control.values.", "null_control.transfers."))
    }
    full = {"population.prompts.[].values.population_frechet_full"}
    seen = {name for name in found if name.startswith("population.power.") and name.endswith(SEEN)}
    assert (
        found.keys() - read - seen <= STAMP | of_pairs | of_clips | full | TABLE | CONTROL | ROUNDED
    )
    assert not [name for name in read if "ratio_" in name.removesuffix("_ratio") or "dz_" in name]
    assert set.union(*found.values()) == {"fail"}


@pytest.mark.parametrize(
    ("report", "stamp"),
    [
        (made.reference_report(worst=31.0), {*STAMP, "protocol.seeds"} | {
            f"protocol.{name}" for name in ("family", "hardware", "steps", "width", "height")}),
        (made.fidelity_report(worst=31.0), {"protocol.candidate_arm", "protocol.notes",
            "repeat_control.protocol.notes", "repeat_control.values.psnr_mean",
            "repeat_control.values.psnr_worst"}),
    ],
    ids=["quality", "fidelity"],
)  # fmt: skip
class TestDistances:
    def test_an_edit_of_one_place_is_refused_but_in_these(self, report, stamp):
        found = accepted(report, again=False)
        assert report.verdict == "fail"
        assert found.keys() <= OF_A_REFERENCE | stamp
        assert set.union(*found.values()) == {"fail"}

    def test_one_edit_with_all_that_follows_makes_no_pass_but_of_looser_bounds(self, report, stamp):
        found = accepted(report, again=True)
        assert found.keys() > OF_A_REFERENCE | stamp - {"protocol.seeds.[]"}
        passed = {place for place, verdicts in found.items() if "pass" in verdicts}
        assert {place.partition(".")[0] for place in passed} <= {"table"}

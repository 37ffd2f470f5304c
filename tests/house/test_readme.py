"""The README shows real output of real commands: they are run, and what they print is compared."""

import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from screentest import default_policy, parse_delivery, parse_policy
from screentest.cli.exit_codes import BAD_INPUT, DONE, INTERRUPTED, NOT_JUDGED, NOT_PASSED
from screentest.gates.budget import parse_budgets
from screentest.gates.statistics import BENCHMARKS
from screentest.gating.config import load_gate_config
from screentest.metrics import registry
from screentest.metrics.integrity import AXES, IntegrityFacts
from screentest.metrics.paired import PAIRED_METRICS
from screentest.protocol import ChangeKind, Lane, classify_change
from screentest.verdicts.audio_policy import budgets_of, parse_audio_policy
from screentest.verdicts.delivery import Delivery

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
LIMITS = (ROOT / "docs" / "limits.md").read_text()
GATES = (ROOT / "docs" / "gates.md").read_text()


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def table(first_header, text=README):
    """Rows of the table whose first column has this header, as lists of cells."""
    lines = text[text.index(f"| {first_header} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def matches(shown, printed):
    """Whether the lines shown are those printed, ``...`` standing for any number of lines."""
    parts = [re.escape(part) for part in shown.split("...\n")]
    return re.fullmatch(r"(?:.*\n)*".join(parts), printed) is not None


def test_readme_is_short():
    assert len(README.splitlines()) < 200


def test_commands_print_what_is_shown(tmp_path):
    command = shutil.which("screentest", path=os.path.dirname(sys.executable))
    if command is None:
        pytest.skip("the screentest command is not installed: pip install .")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SCREENTEST_")}
    environment["PATH"] = os.path.dirname(command) + os.pathsep + environment.get("PATH", "")
    ran = 0
    shown_blocks = blocks("console")
    if importlib.util.find_spec("scipy"):  # without the gate extra no gate is run
        shown_blocks += blocks("shell-session")
    for block in shown_blocks:
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = shown.partition("\n")
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.stderr == "", line
            assert matches(expected, done.stdout), f"$ {line}\n{done.stdout}"
            ran += 1
    assert ran >= 2


def test_python_prints_what_is_shown():
    (code,) = blocks("python")
    (expected,) = blocks("text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == expected


def test_axes_of_the_table_are_those_measured_and_its_facts_exist():
    rows = table("axis", LIMITS)
    assert [row[0].strip("`") for row in rows] == list(AXES)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[1])}
    assert named <= set(IntegrityFacts.__struct_fields__)


def test_paired_metrics_of_the_table_are_those_that_can_be_asked_for():
    named = [name for row in table("paired metric") for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(named) == sorted(PAIRED_METRICS)


def test_metrics_of_the_tables_are_those_of_the_registry_with_their_units():
    known = {spec.name: spec for spec in registry.specs() if spec.status == "measured"}
    for row in table("paired metric"):
        for name in re.findall(r"`(\w+)`", row[0]):
            given = [s for s in known.values() if name in (s.name, s.request)]
            assert given, name
            # One stands for a distance that has no unit of its own.
            units = {s.unit for s in given} - {"LPIPS", "DISTS"}
            assert units <= {unit.strip() for unit in row[2].split(",")}, name
    for row in table("family"):
        assert set(re.findall(r"`(\w+)`", row[1])) <= set(known), row[0]
    facts = {name for row in table("axis", LIMITS) for name in re.findall(r"`(\w+)`", row[1])}
    assert {s.name for s in known.values() if s.family == "integrity"} <= facts


def test_limits_in_the_table_are_the_default_policys():
    limits = default_policy().limits
    verdicts = {row[0].strip("`"): row[2] for row in table("axis", LIMITS)}
    assert f"under {limits.noise_floor.value:g}" in verdicts["noise"]
    assert f"{limits.blank_share.value:.0%}".replace("%", " %") in verdicts["blank"]
    assert f"above {limits.grid_ratio.value:g};" in verdicts["grid"]
    assert f"from {limits.frozen_min_s.value:g} s" in verdicts["frozen"]


def test_lanes_of_the_gates_table_are_those_of_the_change_kinds():
    shown = {row[0].strip("`"): re.findall(r"`([\w-]+)`", row[1]) for row in table("lane", GATES)}
    assert shown == {
        lane.value: [kind.value for kind in ChangeKind if classify_change(kind) is lane]
        for lane in Lane
    }


def test_statistics_of_the_gates_table_are_those_that_a_budget_bounds():
    shown = {row[0].strip("`"): re.findall(r"`(\w+)`", row[1])
             for row in table("benchmark", GATES)}  # fmt: skip
    assert shown == {name: list(statistics) for name, statistics in BENCHMARKS.items()}


def test_the_gate_and_the_budgets_shown_are_accepted(tmp_path):
    config, budgets = blocks("toml", GATES)
    (tmp_path / "gate.toml").write_text(config)
    assert load_gate_config(tmp_path / "gate.toml").arguments()["steps"] == 8
    assert parse_budgets(budgets).kind == "video"


def test_exit_codes_of_the_table_are_those_of_the_commands():
    assert [int(row[0]) for row in table("exit code")] == [
        DONE,
        NOT_PASSED,
        BAD_INPUT,
        NOT_JUDGED,
        INTERRUPTED,
    ]


def test_policies_and_spec_shown_are_accepted():
    policy, spec, sound = blocks("toml", LIMITS)
    assert parse_policy(policy).limits.grid_ratio.value == 40
    delivery = parse_delivery(spec)
    tolerances = {"duration_tolerance_s", "frame_rate_tolerance"}
    assert set(delivery.asked_for()) == set(Delivery.__struct_fields__) - tolerances
    assert f"{delivery.resolved_duration_tolerance_s:g} unless said" in spec
    assert f"{delivery.resolved_frame_rate_tolerance:g} unless said" in spec
    audio = parse_audio_policy(sound)
    assert (audio.severities.length_differs, audio.severities.out_of_sync) == ("reject", "reject")
    early, late = audio.limits.sync_early_ms.value, audio.limits.sync_late_ms.value
    assert f"noticed: {early:g} ms early, {late:g} ms late" in sound
    text = LIMITS[LIMITS.index("## Sound") :]
    for name, table in (
        ("fidelity", audio.fidelity),
        ("sync", audio.sync),
        ("content", audio.content),
    ):
        assert any(True for _ in budgets_of(table)), name
        row = re.search(rf"`\[{name}\]`(?: knows)?([^;]*)[;.]", text)
        assert re.findall(r"`(\w+)`", row[1]) == list(table.__struct_fields__)

"""The ``calibrate`` command: what it writes, what it refuses, and its status."""

import json
import shutil
import tomllib

import numpy as np
import pytest
from typer.testing import CliRunner

from screentest.cli import exit_codes
from screentest.cli.main import app
from screentest.gates.budget import load_budgets
from screentest.reports import sealed
from tests.arms import blurred, write_arm
from tests.gates.made_reports import made_protocol, population_report, reference_report

pytest.importorskip("tomlkit", reason="pip install 'screentest[gate]'")

CLEAN = ({"sharpness": 1.02, "jerk_ratio": 1.01}, {"sharpness": 0.98, "jerk_ratio": 0.99})
SOFT = {"sharpness": 0.5, "hf_ratio": 0.5, "local_contrast": 0.6}


def run(*arguments):
    return CliRunner().invoke(app, ["calibrate", *map(str, arguments)])


def said(result):
    return " ".join(result.stderr.split())


def sealed_report(path, factors, **protocol):
    report = population_report(protocol=made_protocol(**protocol), **factors)
    sealed.save(path, report)
    return path


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Sealed reports: two of clean renders and a soft one."""
    folder = tmp_path_factory.mktemp("reports")
    for at, factors in enumerate(CLEAN):
        sealed_report(folder / f"clean{at}.json", factors)
    sealed_report(folder / "soft.json", SOFT)
    return folder


@pytest.fixture(scope="module")
def renders(tmp_path_factory):
    """Folders of three clips each: a render, the same coded from a copy with grain, and a soft
    one."""
    folder = tmp_path_factory.mktemp("renders")
    rng = np.random.default_rng(3)

    def grain(clip):
        return np.clip(clip.astype(int) + rng.integers(-1, 2, clip.shape), 0, 255).astype(np.uint8)

    for name, change in (("one", None), ("two", grain), ("soft", blurred)):
        write_arm(folder / name, change, prompts=3, frames=6)
    return folder


def set_low(path, low):
    """Write another lower bound of the imaging index into a file."""
    text = path.read_text()
    now = tomllib.loads(text)["budgets"]["imaging_index"]["low"]
    head = "[budgets.imaging_index]\nlow = "
    assert f"{head}{now}" in text
    path.write_text(text.replace(f"{head}{now}", f"{head}{low}"))


def of_reports(reports, out, *more):
    clean = [reports / "clean0.json", reports / "clean1.json"]
    return run("--clean", *clean, "--degraded", reports / "soft.json", "-o", out, *more)


class TestReports:
    def test_bounds_are_placed_without_decoding(self, reports, tmp_path):
        out = tmp_path / "mine.toml"
        result = of_reports(reports, out, "--family", "ltx-2.3")
        assert result.exit_code == exit_codes.DONE
        table = load_budgets(out)
        assert (table.name, table.kind, table.version) == ("mine", "video", 1)
        low = {budget.name: budget.low for budget in table.budgets}["imaging_index"]
        assert low < 0.98
        document = tomllib.loads(out.read_text())
        assert document["evidence"]["hardware"] == "H100"
        assert [p["name"] for p in document["evidence"]["populations"]] == [
            "clean0.json", "clean1.json", "soft.json"]  # fmt: skip
        assert document["changes"] == []
        assert "imaging_index" in result.stdout
        assert "no bound" in result.stdout

    def test_a_folder_of_reports_holds_several_populations(self, reports, tmp_path):
        folder = tmp_path / "good"
        folder.mkdir()
        for name in ("clean0.json", "clean1.json"):
            (folder / name).write_bytes((reports / name).read_bytes())
        out = tmp_path / "mine.toml"
        result = run("--clean", folder, "--degraded", reports / "soft.json", "-o", out)
        assert result.exit_code == exit_codes.DONE
        names = [p["name"] for p in tomllib.loads(out.read_text())["evidence"]["populations"]]
        assert names == ["good/clean0.json", "good/clean1.json", "soft.json"]

    def test_equal_populations_write_equal_bytes(self, reports, tmp_path):
        for name in ("a", "b"):
            of_reports(reports, tmp_path / f"{name}.toml", "--name", "t")
        assert (tmp_path / "a.toml").read_bytes() == (tmp_path / "b.toml").read_bytes()

    def test_the_same_again_changes_nothing(self, reports, tmp_path):
        out = tmp_path / "b.toml"
        of_reports(reports, out)
        before = out.read_bytes()
        assert of_reports(reports, out).exit_code == exit_codes.DONE
        assert out.read_bytes() == before

    def test_json_is_one_document(self, reports, tmp_path):
        result = of_reports(reports, tmp_path / "b.toml", "--json")
        record = json.loads(result.stdout)
        assert (record["schema"], record["status"]) == ("screentest/calibration@1", "written")
        assert record["table"]["budgets"]
        assert {bound["side"] for bound in record["bounds"]} == {"low", "high"}

    def test_an_edited_report_is_refused(self, reports, tmp_path):
        edited = tmp_path / "edited.json"
        text = (reports / "soft.json").read_text()
        edited.write_text(text.replace('"verdict":"fail"', '"verdict":"pass"', 1))
        result = run("--clean", reports / "clean0.json", "--degraded", edited, "-o",
                     tmp_path / "b.toml")  # fmt: skip
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "edited.json" in said(result)

    def test_reports_of_two_kinds_of_hardware_are_not_mixed(self, reports, tmp_path):
        other = sealed_report(tmp_path / "other.json", SOFT, hardware="A100")
        result = run("--clean", reports / "clean0.json", "--degraded", other, "-o",
                     tmp_path / "b.toml")  # fmt: skip
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "H100" in said(result)
        assert "A100" in said(result)

    def test_reports_of_two_gates_are_not_mixed(self, reports, tmp_path):
        frames = tmp_path / "frames.json"
        sealed.save(frames, reference_report())
        result = run("--clean", reports / "clean0.json", "--degraded", frames, "-o",
                     tmp_path / "b.toml")  # fmt: skip
        assert result.exit_code == exit_codes.BAD_INPUT


class TestWhatStands:
    """Bounds that are there already."""

    def test_loosening_is_refused_and_nothing_is_written(self, reports, tmp_path):
        out = tmp_path / "b.toml"
        of_reports(reports, out)
        set_low(out, 0.99)
        tight = out.read_text()
        result = of_reports(reports, out)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "imaging_index low 0.99 -> 0." in said(result)
        assert "--reason TEXT" in said(result)
        assert out.read_text() == tight

    def test_with_a_reason_it_is_recorded(self, reports, tmp_path):
        out = tmp_path / "b.toml"
        of_reports(reports, out)
        set_low(out, 0.99)
        result = of_reports(reports, out, "--reason", "a new decoder", "--date", "2026-09-01")
        assert result.exit_code == exit_codes.DONE
        document = tomllib.loads(out.read_text())
        (change,) = document["changes"]
        assert change["budget"] == "imaging_index"
        assert (change["side"], change["direction"], change["old"]) == ("low", "loosened", 0.99)
        assert (change["date"], change["reason"]) == ("2026-09-01", "a new decoder")
        assert change["hardware"] == "H100"
        assert document["version"] == 2
        assert "changed   imaging_index low 0.99 -> 0." in result.stdout

    def test_tightening_is_recorded_too_and_the_log_grows(self, reports, tmp_path):
        out = tmp_path / "b.toml"
        of_reports(reports, out)
        for low in (0.5, 0.6):
            set_low(out, low)
            assert of_reports(reports, out, "--date", "2026-09-01").exit_code == exit_codes.DONE
        changes = tomllib.loads(out.read_text())["changes"]
        assert [(c["direction"], c["old"]) for c in changes] == [
            ("tightened", 0.5), ("tightened", 0.6)]  # fmt: skip

    def test_a_budget_that_is_gone_is_loosened(self, reports, tmp_path):
        out = tmp_path / "b.toml"
        of_reports(reports, out)
        one_more = '[budgets.grid_ratio]\nhigh = 1.5\nprovenance = "p"\n\n'
        head = "[budgets.imaging_index]"
        out.write_text(out.read_text().replace(head, one_more + head))
        result = of_reports(reports, out)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "grid_ratio high 1.5 -> none (loosened): no degraded population" in said(result)

    def test_another_baseline_is_kept_as_well(self, reports, tmp_path):
        base = tmp_path / "base.toml"
        of_reports(reports, base)
        set_low(base, 0.99)
        result = of_reports(reports, tmp_path / "new.toml", "--baseline", base)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "base.toml: loosening a bound takes a --reason" in said(result)
        assert "imaging_index low 0.99 -> " in said(result)
        assert not (tmp_path / "new.toml").exists()

    def test_budgets_of_other_hardware_are_not_replaced(self, reports, tmp_path):
        out = tmp_path / "b.toml"
        of_reports(reports, out)
        out.write_text(out.read_text().replace('hardware = "H100"', 'hardware = "A100"', 1))
        result = of_reports(reports, out)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "each gets a file of its own" in said(result)

    def test_a_file_that_is_no_budgets_file_is_refused(self, reports, tmp_path):
        out = tmp_path / "b.toml"
        out.write_text("x = [")
        result = of_reports(reports, out)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert out.read_text() == "x = ["


class TestFolders:
    """Renders, decoded."""

    def test_flat_folders_are_held_against_each_other_both_ways(self, renders, tmp_path):
        out = tmp_path / "b.toml"
        result = run("--clean", renders / "one", renders / "two", "--degraded", renders / "soft",
                     "-o", out, "--kind", "reference", "--hardware", "H100")  # fmt: skip
        assert result.exit_code == exit_codes.DONE, result.stderr
        evidence = tomllib.loads(out.read_text())["evidence"]
        assert [(p["name"], p["label"]) for p in evidence["populations"]] == [
            ("two against one", "clean"), ("one against two", "clean"),
            ("soft against one", "degraded"), ("soft against two", "degraded")]  # fmt: skip
        by = {p["name"]: p["values"]["psnr_mean"] for p in evidence["populations"]}
        low = {b.name: b.low for b in load_budgets(out).budgets}["psnr_mean"]
        assert by["soft against two"] < low < by["two against one"]
        prompts = evidence["populations"][0]["prompts"]
        assert [p["prompt"] for p in prompts] == ["scene_0", "scene_1", "scene_2"]
        assert all(len(content) >= 32 for p in prompts for content in p["contents"])

    def test_one_clean_folder_alone_gives_provisional_bounds_with_a_warning(
        self, renders, tmp_path
    ):
        out = tmp_path / "b.toml"
        result = run("--clean", renders / "one", "--degraded", renders / "soft", "-o", out,
                     "--kind", "reference")  # fmt: skip
        assert result.exit_code == exit_codes.DONE
        assert "every bound is provisional" in said(result)
        assert all(b.provenance.startswith("provisional") for b in load_budgets(out).budgets)

    def test_a_population_of_its_own_has_two_folders(self, renders, tmp_path):
        for name, candidate in (("again", "two"), ("worse", "soft")):
            (tmp_path / name).mkdir()
            (tmp_path / name / "reference").symlink_to(renders / "one")
            (tmp_path / name / "candidate").symlink_to(renders / candidate)
        out = tmp_path / "b.toml"
        result = run("--clean", tmp_path / "again", "--degraded", tmp_path / "worse", "-o", out,
                     "--kind", "reference")  # fmt: skip
        assert result.exit_code == exit_codes.DONE, result.stderr
        evidence = tomllib.loads(out.read_text())["evidence"]
        assert [p["name"] for p in evidence["populations"]] == ["again", "worse"]

    def test_takes_of_the_same_prompts_are_a_population(self, tmp_path):
        pytest.importorskip("scipy", reason='pip install "screentest[gate]"')
        write_arm(tmp_path / "a", take=0, frames=10)
        write_arm(tmp_path / "b", take=1, frames=10)
        write_arm(tmp_path / "soft", blurred, take=1, frames=10)
        out = tmp_path / "b.toml"
        result = run("--clean", tmp_path / "a", tmp_path / "b", "--degraded", tmp_path / "soft",
                     "-o", out)  # fmt: skip
        assert result.exit_code == exit_codes.DONE, result.stderr
        budgets = {b.name: b for b in load_budgets(out).budgets}
        assert budgets["imaging_index"].low is not None
        evidence = tomllib.loads(out.read_text())["evidence"]
        assert evidence["missed"] == []
        assert len(evidence["populations"]) == 4

    def test_a_dry_run_measures_nothing(self, renders):
        result = run("--clean", renders / "one", renders / "two", "--degraded", renders / "soft",
                     "--kind", "reference", "--dry-run")  # fmt: skip
        assert result.exit_code == exit_codes.DONE
        assert result.stdout.splitlines()[0] == "4 populations, 9 clips to measure"
        assert "degraded  3 pairs  soft against one" in result.stdout

    def test_names_that_do_not_go_together_are_refused_before_anything_is_decoded(
        self, renders, tmp_path
    ):
        odd = tmp_path / "odd"
        odd.mkdir()
        (odd / "scene_9.mp4").write_bytes(b"no clip")
        result = run("--clean", renders / "one", odd, "-o", tmp_path / "b.toml", "--kind",
                     "reference")  # fmt: skip
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "scene_9" in said(result)


class TestRefused:
    def test_a_clean_folder_alone_has_nothing_to_be_held_against(self, renders, tmp_path):
        result = run("--clean", renders / "one", "-o", tmp_path / "b.toml")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "held against nothing" in said(result)

    def test_a_degraded_folder_without_a_clean_one(self, renders, tmp_path):
        result = run("--degraded", renders / "soft", "-o", tmp_path / "b.toml")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "nothing to hold it against" in said(result)

    def test_nothing_at_all(self, tmp_path):
        result = run("-o", tmp_path / "b.toml")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "no population" in said(result)

    def test_the_same_folder_as_clean_and_degraded(self, renders, tmp_path):
        result = run("--clean", renders / "one", "--degraded", renders / "one", "-o",
                     tmp_path / "b.toml")  # fmt: skip
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "given twice" in said(result)

    def test_half_a_population(self, tmp_path):
        (tmp_path / "p" / "reference").mkdir(parents=True)
        result = run("--clean", tmp_path / "p", "-o", tmp_path / "b.toml")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "none called 'candidate'" in said(result)

    @pytest.mark.parametrize("content", [b"", b"{}", b"\x00\xff", b"[1"])
    def test_garbage_is_no_report(self, tmp_path, content):
        (tmp_path / "x.json").write_bytes(content)
        result = run("--clean", tmp_path / "x.json", "-o", tmp_path / "b.toml")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "x.json" in said(result)

    def test_a_path_that_is_not_there(self, tmp_path):
        result = run("--clean", tmp_path / "gone", "-o", tmp_path / "b.toml")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "no such file" in said(result)

    @pytest.mark.parametrize(
        "more", [("--date", "yesterday"), ("--kind", "sound"), ("-o", "/nowhere/b.toml")]
    )
    def test_an_option_that_makes_no_sense(self, reports, tmp_path, more):
        assert of_reports(reports, tmp_path / "b.toml", *more).exit_code == exit_codes.BAD_INPUT

    def test_no_file_to_write(self, reports):
        result = run("--clean", reports / "clean0.json", "--json")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert json.loads(result.stdout)["status"] == "error"

    def test_nothing_can_be_placed(self, renders, tmp_path):
        """What ought to fail is a copy of what ought to pass."""
        shutil.copytree(renders / "one", tmp_path / "copy")
        out = tmp_path / "b.toml"
        result = run("--clean", renders / "one", "--degraded", tmp_path / "copy", "-o", out,
                     "--kind", "reference")  # fmt: skip
        assert result.exit_code == exit_codes.NOT_JUDGED
        assert not out.exists()
        assert "no bound could be placed" in result.stdout

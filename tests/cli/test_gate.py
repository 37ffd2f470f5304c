"""The ``gate`` command: what it prints, what it writes, and its status."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from screentest.cli import exit_codes
from screentest.cli.main import app
from screentest.cli.many_values import spread
from screentest.gates.budget import shipped
from screentest.media.video import VideoClip
from screentest.reports import canonical, sealed
from screentest.reports.html import page
from tests import arms
from tests.arms import files

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")

SAID = (
    *("--family", "made", "--execution-lane", "compiled", "--hardware", "cpu"),
    *("--steps", "8", "--seeds", "0", "--change", "compile"),
)
CONFIG = """
change = "compile"
family = "made"
execution_lane = "compiled"
hardware = "cpu"
steps = 8
seeds = 0
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return arms.write_arms(tmp_path_factory.mktemp("arms"))


def run(*arguments):
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


def of(made, candidate, *more):
    return run("--reference", made["reference"], "--candidate", made[candidate], *SAID, *more)


class TestVerdict:
    def test_a_pass_is_0_and_fits_on_a_screen(self, made):
        done = of(made, "retake")
        assert done.exit_code == exit_codes.DONE
        assert done.stderr == ""
        lines = done.stdout.splitlines()
        assert lines[0].startswith("PASS  made: candidate against reference, 144x96x26f, 8 steps")
        assert len(lines) < 40
        told = done.stdout
        for budget in shipped("video").budgets:
            assert budget.name in told
        assert "does not apply: a lattice needs 512 px" in told
        assert "\n    sound\n" in told

    def test_a_fail_is_1_and_says_what_failed(self, made):
        done = of(made, "blurred")
        assert done.exit_code == exit_codes.NOT_PASSED
        word, why = done.stdout.splitlines()[:2]
        assert word.startswith("FAIL  ")
        assert why.startswith("  failed: imaging_index, ")
        assert "NOT MET" in done.stdout

    def test_a_degenerate_arm_is_3(self, made):
        done = of(made, "black")
        assert done.exit_code == exit_codes.NOT_JUDGED
        assert done.stdout.startswith("DEGENERATE  ")

    def test_arms_on_two_pods_are_3_with_what_would_have_failed(self, made):
        done = of(made, "blurred", "--cross-pod")
        assert done.exit_code == exit_codes.NOT_JUDGED
        assert done.stdout.startswith("INDETERMINATE  ")
        assert "would fail were the comparison valid: imaging_index" in done.stdout
        assert "the verdict can only be indeterminate: the arms ran on different pods" in (
            done.stderr
        )

    def test_modes_that_differ_are_3(self, made):
        done = of(made, "retake", "--candidate-execution-lane", "eager")
        assert done.exit_code == exit_codes.NOT_JUDGED
        assert "compiled in the reference, eager in the candidate" in done.stdout

    def test_seven_prompts_are_3(self, made):
        done = run(
            "--reference", *files(made["reference"], 7), "--candidate",
            *files(made["blurred"], 7), *SAID,
        )  # fmt: skip
        assert done.exit_code == exit_codes.NOT_JUDGED
        assert "7 prompts are too few: a verdict needs 8, so 1 more" in done.stdout

    def test_a_null_control_from_a_folder(self, made):
        done = of(made, "retake", "--null-control", made["other_seed"])
        assert done.exit_code == exit_codes.DONE
        assert "null control: it keeps every budget" in done.stdout

    def test_a_change_after_the_latent_is_compared_frame_by_frame(self, made):
        done = run(
            "--reference", *files(made["reference"], 2), "--candidate",
            *files(made["blurred"], 2), *SAID[:-2], "--change", "video-encoder", "container-mux",
            "--metrics", "psnr,ssim",
        )  # fmt: skip
        assert done.exit_code in (exit_codes.NOT_PASSED, exit_codes.NOT_JUDGED)
        assert "psnr_mean" in done.stdout
        assert "population" not in done.stdout


class TestJson:
    def test_the_document_is_on_stdout_and_its_digest_on_stderr(self, made, tmp_path):
        out = tmp_path / "report.json"
        done = of(made, "blurred", "--json", "-o", out)
        assert done.exit_code == exit_codes.NOT_PASSED
        assert json.loads(done.stdout)["body"]["verdict"] == "fail"
        data = out.read_bytes()
        assert done.stdout_bytes == data + b"\n"
        loaded = sealed.load(data)
        assert loaded.schema == "screentest/gate-report@1"
        assert done.stderr.splitlines() == [
            f"screentest: wrote {out}",
            f"screentest: digest {canonical.digest(data)}",
        ]

    @pytest.mark.parametrize(
        ("more", "code"),
        [
            (("--steps", "0"), "bad_field"),
            (("--seeds", "one"), "bad_seeds"),
            (("--extra", "gpu"), "bad_input"),
            (("--config", "nowhere.toml"), "not_found"),
        ],
    )
    def test_a_request_that_is_wrong_is_a_document_too(self, made, more, code):
        done = of(made, "retake", "--json", *more)
        assert done.exit_code == exit_codes.BAD_INPUT
        said = json.loads(done.stdout)
        assert (said["schema"], said["status"]) == ("screentest/gate-error@1", "error")
        assert said["error"]["code"] == code

    def test_a_reader_that_is_gone_loses_no_file(self, made, tmp_path):
        out = tmp_path / "report.json"
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "screentest", "gate", *SAID, "--json", "-o", out),
                *("--reference", made["reference"], "--candidate", made["retake"]),
            ],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        os.close(writer)
        assert done.returncode == exit_codes.BROKEN_PIPE
        assert "Traceback" not in done.stderr
        assert sealed.load(out.read_bytes()).body.verdict == "pass"


class TestRequest:
    @pytest.mark.parametrize(
        ("more", "said"),
        [
            (("--change", "compil"), "did you mean 'compile'?"),
            (("--seeds", "1"), "2 seeds for 8 prompts"),
            (("--seeds", "one"), "seeds 0,one: expected whole numbers"),
            (("--steps", "0"), "steps is 0"),
            (("--steps", "many"), "--steps"),
            (("--execution-lane", "jit"), "expected compiled or eager"),
            (("--metrics", "lpips"), "lpips: needs pixels that correspond"),
            (("--purpose", "speed"), "purpose"),
            (("--waive", "imaging"), "cannot be waived"),
            (("--extra", "gpu"), "--extra gpu: expected KEY=VALUE"),
            (("--null-control", "nowhere"), "nowhere: no such file"),
            (("--prompts", "nowhere.json"), "nowhere.json: no such file"),
            (("--budgets", "nowhere.toml"), "nowhere.toml: no such file"),
            (("--config", "nowhere.toml"), "nowhere.toml: no such file"),
            (("-o", "nowhere/report.json"), "nowhere/report.json: there is no folder"),
            (("-o", "."), ".: a folder, where the name of a file to write was expected"),
            (("--html", "nowhere/page.html"), "nowhere/page.html: there is no folder"),
            (("-o", "one.html", "--html", "./one.html"), "cannot be one file"),
            (("--threads", "0"), "threads=0: give a whole number of at least 1"),
            (("--json", "stray"), "unexpected extra argument"),
        ],
    )
    def test_a_wrong_one_is_one_line(self, made, more, said):
        done = run(
            "--reference", made["reference"], "--candidate", made["retake"],
            *SAID, *more,
        )  # fmt: skip
        assert done.exit_code == exit_codes.BAD_INPUT
        assert done.stdout == ""
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_all_that_is_lacking_is_named_at_once(self):
        done = run("--family", "made", "--steps", "8")
        assert done.exit_code == exit_codes.BAD_INPUT
        for option in ("--reference", "--candidate", "--change", "--hardware", "--seeds"):
            assert option in done.stderr
        assert "--execution-lane" in done.stderr
        assert "--family" not in done.stderr

    def test_names_without_a_partner_are_told(self, made, tmp_path):
        lone = tmp_path / "lone"
        lone.mkdir()
        (lone / "other.mp4").write_bytes(files(made["retake"])[0].read_bytes())
        done = run("--reference", made["reference"], "--candidate", lone, *SAID)
        assert done.exit_code == exit_codes.BAD_INPUT
        assert f"only in {lone}: 'other'" in done.stderr

    @pytest.mark.parametrize(
        "form",
        [
            lambda paths: ("--reference", *paths),
            lambda paths: tuple(part for path in paths for part in ("--reference", path)),
            lambda paths: tuple(f"--reference={path}" for path in paths),
        ],
    )
    def test_several_files_may_follow_one_option_or_repeat_it(self, made, form):
        done = run(
            *form(files(made["reference"])), "--candidate", *files(made["retake"]), *SAID,
            "--dry-run", "--json",
        )  # fmt: skip
        assert done.exit_code == exit_codes.DONE
        assert len(json.loads(done.stdout)["pairs"]) == 8

    def test_seeds_may_be_negative_and_come_one_by_one(self, made):
        seeds = ("--seeds", "-1", "-2", "3,4", "5", "6", "7", "8")
        done = of(made, "retake", *seeds, "--dry-run", "--json")
        # The option was said before as well: both are seeds of the run.
        assert done.exit_code == exit_codes.BAD_INPUT
        said = [part for part in SAID if part not in ("--seeds", "0")]
        done = run("--reference", made["reference"], "--candidate", made["retake"], *said, *seeds,
                   "--dry-run", "--json")  # fmt: skip
        assert json.loads(done.stdout)["protocol"]["seeds"] == [-1, -2, 3, 4, 5, 6, 7, 8]

    def test_a_value_right_behind_its_option_may_look_like_one(self):
        assert list(spread(["--change", "--x", "y"], {"--change"})) == [
            "--change", "--x", "--change", "y",
        ]  # fmt: skip


class TestDryRun:
    def test_it_decodes_nothing_and_says_what_would_be_measured(self, made, monkeypatch):
        def refuse(*_, **__):
            raise AssertionError("a clip was decoded")

        monkeypatch.setattr(VideoClip, "frames", refuse)
        monkeypatch.setattr(VideoClip, "frames_at", refuse)
        done = of(made, "retake", "--dry-run", "--null-control", made["other_seed"], "--cross-pod")
        assert done.exit_code == exit_codes.DONE
        assert done.stdout.startswith("dry run: the video gate over 24 clips, nothing was measured")
        assert "null control: 8 pairs of clips, to be measured" in done.stdout
        for budget in shipped("video").budgets:
            assert budget.describe() in done.stdout
        assert "the verdict can only be indeterminate: the arms ran on different" in done.stdout

    def test_a_wrong_request_is_refused_by_it(self, made):
        assert of(made, "retake", "--dry-run", "--steps", "-1").exit_code == exit_codes.BAD_INPUT


class TestConfig:
    def write(self, folder, text=CONFIG):
        (folder / "gate.toml").write_text(text)
        return folder / "gate.toml"

    def test_a_file_says_what_the_options_say(self, made, tmp_path):
        said = CONFIG + (
            f'reference = "{made["reference"]}"\ncandidate = "{made["retake"]}"\njson = true\n'
        )
        by_file = run("--config", self.write(tmp_path, said))
        by_options = of(made, "retake", "--json")
        assert by_file.exit_code == exit_codes.DONE
        assert by_file.stdout_bytes == by_options.stdout_bytes

    def test_lists_may_be_one_text_with_commas_as_on_the_command_line(self, made, tmp_path):
        said = CONFIG.replace('"compile"', '"compile, step-count"').replace(
            "seeds = 0", 'seeds = "1,2, 3,4,5,6,7,-8"\nwaive = "jerk_excess,motion_ratio"'
        )
        done = run(
            "--config", self.write(tmp_path, said), "--reference", made["reference"],
            "--candidate", made["retake"], "--dry-run", "--json",
        )  # fmt: skip
        plan = json.loads(done.stdout)
        assert plan["protocol"]["changes"] == ["compile", "step-count"]
        assert plan["protocol"]["seeds"] == [1, 2, 3, 4, 5, 6, 7, -8]
        assert plan["waived"] == ["jerk_excess", "motion_ratio"]

    def test_a_file_that_is_not_there_is_no_folder(self, made, tmp_path):
        said = CONFIG + f'reference = "{files(made["reference"])[0]}"\ncandidate = "nope.mp4"\n'
        done = run("--config", self.write(tmp_path, said))
        assert done.exit_code == exit_codes.BAD_INPUT
        assert "nope.mp4: no such file" in done.stderr

    def test_its_paths_are_relative_to_it(self, made, tmp_path):
        (tmp_path / "here").mkdir()
        for arm in ("reference", "retake"):
            (tmp_path / "here" / arm).symlink_to(made[arm])
        config = self.write(
            tmp_path / "here", CONFIG + 'reference = "reference"\ncandidate = ["retake"]\n'
        )
        assert run("--config", config, "--dry-run").exit_code == exit_codes.DONE

    def test_the_command_line_goes_before_it(self, made, tmp_path):
        done = run(
            "--config", self.write(tmp_path), "--reference", made["reference"], "--candidate",
            made["retake"], "--steps", "4", "--execution-lane", "eager", "--dry-run", "--json",
        )  # fmt: skip
        protocol = json.loads(done.stdout)["protocol"]
        assert (protocol["steps"], protocol["family"]) == (4, "made")
        assert protocol["execution_lane"] == {"reference": "eager", "candidate": "eager"}

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ("famly = 'x'", "unknown key 'famly'; did you mean 'family'?"),
            ("execution-lane = 'eager'", "did you mean 'execution_lane'?"),
            ("guidance = 'high'", "guidance: expected a number"),
            ("metrics = 1", "metrics: expected text or a list, got a whole number"),
            ("[budgets]", "no budget"),
            ("[budgets.imaging_index]\nlow = 0.9", "provenance"),
            ("[budgets.imaging_idx]\nlow = 0.9\nprovenance = 'p'", "did you mean 'imaging_index'"),
            ("[budgets.imaging_index]\nlow = nan\nprovenance = 'p'", "finite"),
            ("[budgets.imaging_index]\nlo = 0.9\nprovenance = 'p'", "did you mean 'low'"),
            ("family = 'twice'", "not valid TOML"),
        ],
    )
    def test_a_key_that_is_wrong_is_one_line(self, made, tmp_path, more, said):
        done = run(
            "--config", self.write(tmp_path, CONFIG + more), "--reference", made["reference"],
            "--candidate", made["retake"],
        )  # fmt: skip
        assert done.exit_code == exit_codes.BAD_INPUT
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_budgets_in_it_stand_alone(self, made, tmp_path):
        more = "[budgets.imaging_index]\nlow = 0.5\nprovenance = 'made'\n"
        done = run(
            "--config", self.write(tmp_path, CONFIG + more), "--reference", made["reference"],
            "--candidate", made["blurred"], "--json",
        )  # fmt: skip
        assert done.exit_code == exit_codes.DONE
        table = json.loads(done.stdout)["body"]["table"]
        assert [budget["name"] for budget in table["budgets"]] == ["imaging_index"]


class TestPage:
    def test_it_is_written_beside_the_report(self, made, tmp_path):
        pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")
        html, out = tmp_path / "page.html", tmp_path / "report.json"
        done = of(made, "blurred", "--html", html, "-o", out)
        assert done.exit_code == exit_codes.NOT_PASSED
        assert f"wrote {html}" in done.stderr
        assert canonical.digest(out.read_bytes()) in html.read_text()

    def test_a_page_that_cannot_be_written_hides_no_verdict(self, made, tmp_path, monkeypatch):
        pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")

        def full(*_, **__):
            raise OSError(28, "No space left on device", "page.html")

        monkeypatch.setattr("screentest.gating.result.Gating.page", full)
        done = of(made, "blurred", "--html", tmp_path / "page.html", "--json")
        assert done.exit_code == exit_codes.BAD_INPUT
        assert json.loads(done.stdout)["body"]["verdict"] == "fail"
        assert "page.html: No space left on device" in done.stderr

    def test_a_missing_extra_is_said_before_anything_is_decoded(self, made, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "jinja2", None)
        page._environment.cache_clear()
        monkeypatch.setattr(VideoClip, "frames", None)
        done = of(made, "retake", "--html", tmp_path / "page.html")
        assert done.exit_code == exit_codes.BAD_INPUT
        assert "screentest[report]" in done.stderr


def test_help_lists_every_key_of_the_configuration():
    from screentest.gating.config import GateConfig

    done = run("--help")
    said = "".join(done.stdout.split())
    for key in set(GateConfig.__struct_fields__) - {"json", "output"}:
        assert f"--{key.replace('_', '-')}"[:16] in said, key


def test_the_command_of_a_shell_has_the_status(made):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "screentest", "gate", *SAID, "--threads", "2"),
            *("--reference", made["reference"], "--candidate", made["blurred"]),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_codes.NOT_PASSED
    assert done.stdout.startswith("FAIL  ")

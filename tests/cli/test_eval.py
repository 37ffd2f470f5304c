"""``screentest eval``: what it prints, where, and with which status."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from screentest.cli.main import app
from tests.evaluations.making import EVAL, Folders, flat, psnr_of_levels, two_groups
from tests.evaluations.test_action_files import write


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return two_groups(tmp_path)


@pytest.fixture(autouse=True)
def _no_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)


def run(what: str, folders: Folders, *more: object) -> Any:
    arguments = ["eval", what, "-o", folders.out, "--predictions-dir", folders.predictions,
                 "--gt-dir", folders.ground_truth, *more]  # fmt: skip
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


class TestVideos:
    def test_a_table_for_each_group_and_a_line_for_the_whole(
        self,
        folders: Folders,
    ) -> None:
        result = run("videos", folders)
        assert (result.exit_code, result.stderr) == (0, "")
        lines = result.stdout.splitlines()
        assert lines.index("default") < lines.index("robots")
        (row,) = [line.split() for line in lines[lines.index("robots"):]
                  if line.split()[:1] == ["psnr"]]  # fmt: skip
        mean = (psnr_of_levels(10) + 2 * psnr_of_levels(20)) / 3
        assert row[1] == f"{mean:.4f}"
        assert "\x1b" not in result.stdout
        assert lines[-1] == (
            f"4 samples: 4 scored, 0 skipped; {folders.out}/metrics_aggregate.json"
        )

    def test_json_is_one_document_and_nothing_else(
        self,
        folders: Folders,
    ) -> None:
        (folders.ground_truth / "push.mp4").unlink()
        result = run("videos", folders, "--json", "--metrics", "psnr, mse")
        document = json.loads(result.stdout)
        assert document["schema"] == "screentest/evaluation@1"
        assert document["aggregate"] == json.loads(
            (folders.out / "metrics_aggregate.json").read_bytes()
        )
        assert document["metrics"] == ["psnr", "mse"]
        assert document["skipped"] == {"no_ground_truth": 1}
        assert document["skips"][0]["place"] == "robots/push/0"
        assert len(result.stdout.splitlines()) == 1

    def test_a_skip_is_named_on_stderr_with_the_path_looked_for(
        self,
        folders: Folders,
    ) -> None:
        missing = folders.ground_truth / "push.mp4"
        missing.unlink()
        result = run("videos", folders)
        assert result.exit_code == 0
        assert result.stderr == (
            "screentest: robots/push/0: skipped: no ground truth for this key: looked for "
            f"{missing}\n"
        )
        assert "1 no_ground_truth" in result.stdout
        assert "1 skipped" in result.stdout.splitlines()[-1]

    def test_fail_on_skip_exits_with_1(self, folders: Folders) -> None:
        assert run("videos", folders, "--fail-on-skip").exit_code == 0
        (folders.ground_truth / "push.mp4").unlink()
        assert run("videos", folders, "--fail-on-skip").exit_code == 1

    def test_nothing_that_could_be_scored_exits_with_3(
        self,
        folders: Folders,
    ) -> None:
        for path in folders.ground_truth.iterdir():
            path.unlink()
        result = run("videos", folders)
        assert result.exit_code == 3
        assert "no sample has a value of psnr" in result.stderr
        assert run("videos", folders, "--fail-on-skip").exit_code == 1

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (("--predictions-dir", "/nowhere"), "/nowhere"),
            (("--gt-dir", "/nowhere"), "/nowhere"),
            (("--predictions-glob", "*.avi"), "nothing matches '*.avi'"),
            (("--predictions-glob", "../*"), "below the predictions folder"),
            (("--metrics", "psrn"), "psrn"),
            (("--metrics", ","), "metric"),
            (("--mode", "video"), "forward_dynamics"),
            (("--shard", "4/4"), "I from 0 to N-1"),
            (("--num-samples", "0"), "at least 1"),
            (("--sample-stride", "-1"), "at least 1"),
            (("--sample-selection-strategy", "random"), "deterministic_random"),
            (("--dataset", "nobody"), "default, robots"),
            (("--renderer", "os:getcwd"), "renderer"),
            (("--threads", "0"), "threads"),
            (("--html", "/nowhere/page.html"), "/nowhere"),
        ],
    )
    def test_a_wrong_request_exits_with_2_in_one_line_and_writes_nothing(
        self,
        folders: Folders,
        more: tuple[str, ...],
        message: str,
    ) -> None:
        if more[0] == "--html":
            pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")
        result = run("videos", folders, *more)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert not folders.out.exists()

    def test_an_empty_folder_exits_with_2(
        self,
        folders: Folders,
        tmp_path: Path,
    ) -> None:
        (tmp_path / "empty").mkdir()
        assert run("videos", folders._replace(predictions=tmp_path / "empty")).exit_code == 2

    def test_neither_predictions_nor_a_renderer_exits_with_2(
        self,
        folders: Folders,
    ) -> None:
        result = CliRunner().invoke(
            app, ["eval", "videos", "-o", str(folders.out), "--gt-dir", str(folders.ground_truth)]
        )
        assert result.exit_code == 2
        assert "renderer" in result.stderr

    def test_shards_by_flag_and_by_environment(
        self,
        folders: Folders,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        result = run("videos", folders, "--shard", "1/2")
        assert "2 samples: 2 scored" in result.stdout
        assert "2 left to other shards" in result.stdout
        monkeypatch.setenv("RANK", "0")
        monkeypatch.setenv("WORLD_SIZE", "2")
        result = run("videos", folders)
        assert "shard 0/2 by RANK and WORLD_SIZE" in result.stderr
        table = json.loads((folders.out / "metrics_aggregate.json").read_bytes())
        assert table["robots"]["psnr"]["n_missing"] == 0

    def test_selection_flags_reach_the_choice(self, folders: Folders) -> None:
        result = run("videos", folders, "--num-samples", 1, "--sample-selection-strategy", "first",
                     "--sample-selection-seed", 7, "--sample-stride", 2, "--json")  # fmt: skip
        samples = json.loads(result.stdout)["samples"]
        assert (samples["found"], samples["chosen"]) == (4, 2)

    def test_no_compute_metrics_and_benchmark(self, folders: Folders) -> None:
        result = run("videos", folders, "--no-compute-metrics", "--benchmark")
        assert result.exit_code == 0
        assert "not scored" in result.stdout.splitlines()[-1]
        assert (folders.out / "benchmark.json").exists()
        assert not list(folders.out.rglob("metrics.json"))

    def test_a_page_is_written(self, folders: Folders, tmp_path: Path) -> None:
        pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")
        page = tmp_path / "page.html"
        assert run("videos", folders, "--html", page).exit_code == 0
        text = page.read_text()
        assert "robots" in text
        assert text.count("data:image/") >= 2

    def test_without_the_report_extra_a_page_is_refused_before_anything_is_scored(
        self,
        folders: Folders,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        import sys

        from screentest.reports.html import page

        monkeypatch.setitem(sys.modules, "jinja2", None)
        page._environment.cache_clear()
        result = run("videos", folders, "--html", tmp_path / "page.html")
        assert result.exit_code == 2
        assert "screentest[report]" in result.stderr
        assert not folders.out.exists()

    def test_a_process_of_its_own(self, folders: Folders) -> None:
        flat(folders.predictions / "robots/alone/0/vision.mp4", 100)
        done = subprocess.run(
            [*EVAL, "videos", "-o", folders.out, "--predictions-dir", folders.predictions,
             "--gt-dir", folders.ground_truth, "--fail-on-skip"],
            capture_output=True, check=False, text=True,
        )  # fmt: skip
        assert done.returncode == 1
        assert "\x1b" not in done.stdout + done.stderr
        assert len(done.stderr.splitlines()) == 1


class TestActions:
    @pytest.fixture
    def actions(self, tmp_path: Path) -> Folders:
        made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
        (made.predictions / "k" / "0").mkdir(parents=True)
        made.ground_truth.mkdir()
        write(made.predictions / "k/0/action.json", [[1.0, 2.0]])
        write(made.ground_truth / "k.safetensors", [[0.0, 0.0]], [1, 0])
        return made

    def test_the_error_is_printed_and_written(self, actions: Folders) -> None:
        result = run("actions", actions)
        assert result.exit_code == 0
        assert "action_mse   1.0000" in result.stdout
        table = json.loads((actions.out / "metrics_aggregate.json").read_bytes())
        assert table["default"]["action_mse"]["mean"] == 1

    def test_statuses(self, actions: Folders) -> None:
        write(actions.ground_truth / "k.safetensors", [[0.0, 0.0]], [0, 0])
        result = run("actions", actions)
        assert result.exit_code == 3
        assert "no valid channel" in result.stderr
        assert run("actions", actions, "--fail-on-skip").exit_code == 1
        assert run("actions", actions, "--gt-extension", ".txt").exit_code == 2

    def test_videos_in_mode_inverse_dynamics_are_the_same(self, actions: Folders) -> None:
        run("actions", actions)
        other = actions._replace(out=actions.out.with_name("other"))
        assert run("videos", other, "--mode", "inverse_dynamics").exit_code == 0
        for path in actions.out.rglob("*.json"):
            assert path.read_bytes() == (other.out / path.relative_to(actions.out)).read_bytes()


def test_help_imports_nothing_heavy() -> None:
    import sys

    code = (
        "import sys\nfrom screentest.cli.main import app\n"
        "try:\n    app(['eval', 'videos', '--help'], prog_name='screentest')\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'numpy', 'av', 'msgspec', 'rfc8785', 'torch', 'screentest._native'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_interrupt_ends_it_with_130_and_what_was_scored_stays(tmp_path: Path) -> None:
    made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
    for i in range(300):
        made.ground_truth.mkdir(exist_ok=True)
        place = made.predictions / f"k{i}" / "0"
        place.mkdir(parents=True)
        if not i:
            flat(made.ground_truth / "k0.mp4", 100, frames=20, size=(320, 240))
            flat(place / "vision.mp4", 110, frames=20, size=(320, 240))
        else:
            (made.ground_truth / f"k{i}.mp4").hardlink_to(made.ground_truth / "k0.mp4")
            (place / "vision.mp4").hardlink_to(made.predictions / "k0/0/vision.mp4")
    arguments = [*EVAL, "videos", "-o", made.out, "--predictions-dir", made.predictions,
                 "--gt-dir", made.ground_truth]  # fmt: skip
    process = subprocess.Popen(
        list(map(str, arguments)), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not list(made.out.rglob("metrics.json")) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130
    assert (out, err) == (b"", b"")
    records = list(made.out.rglob("metrics.json"))
    assert 0 < len(records) < 300
    for path in records:
        assert json.loads(path.read_bytes())["state"] == "scored"
    assert not (made.out / "metrics_aggregate.json").exists()


def test_what_a_metric_lacks_is_said_once(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    import msgspec

    from screentest.evaluations.scorer import PairedScorer

    measure = PairedScorer.measure

    def lacking(*arguments: Any) -> Any:
        facts = measure(*arguments)
        gaps = [msgspec.structs.replace(score, state="unmeasured", value=None, reason="no extra")
                if score.name == "mse" else score for score in facts.scores]  # fmt: skip
        return dataclasses.replace(facts, scores=tuple(gaps))

    monkeypatch.setattr(PairedScorer, "measure", lacking)
    result = run("videos", folders, "--metrics", "psnr,mse")
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        "screentest: drop/0: mse not measured: no extra",
        "screentest: no sample has a value of mse",
    ]
    assert run("videos", folders, "--metrics", "psnr,mse", "--fail-on-skip").exit_code == 1

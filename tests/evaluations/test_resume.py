"""A run that is killed goes on where it was, and ends with the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from screentest import files
from screentest.evaluations import Evaluation, evaluate_videos
from screentest.evaluations.scorer import PairedScorer
from tests.evaluations.making import EVAL, Folders, flat


def evaluate(folders: Folders, **options: Any) -> Evaluation:
    return evaluate_videos(folders.out, folders.predictions, folders.ground_truth, **options)


class Counting(PairedScorer):
    """The real metrics, under versions of one's choice; counts what is measured."""

    def __init__(self, suffix: str = "") -> None:
        self.measured = 0
        self.suffix = suffix

    def impls(self, metrics: Any) -> dict[str, str]:
        return {name: impl + self.suffix for name, impl in super().impls(metrics).items()}

    def measure(self, *arguments: Any) -> Any:
        self.measured += 1
        return super().measure(*arguments)


def measured(folders: Folders, suffix: str = "", **options: Any) -> int:
    scorer = Counting(suffix)
    evaluate(folders, scorer=scorer, **options)
    return scorer.measured


class TestWhatIsScoredAgain:
    def test_nothing_while_nothing_changes(self, folders: Folders) -> None:
        assert measured(folders) == 4
        assert measured(folders) == 0
        assert measured(folders, threads=1, workers=3, num_samples=2) == 0

    def test_a_sample_whose_prediction_changed(self, folders: Folders) -> None:
        measured(folders)
        flat(folders.predictions / "drop/0/vision.mp4", 90)
        assert measured(folders) == 1

    def test_every_sample_of_a_ground_truth_that_changed(self, folders: Folders) -> None:
        measured(folders)
        flat(folders.ground_truth / "lift.mp4", 90)
        assert measured(folders) == 2

    def test_all_under_other_metrics_and_under_another_impl(self, folders: Folders) -> None:
        measured(folders)
        assert measured(folders, metrics=("psnr", "mse")) == 4
        assert measured(folders, metrics=("psnr", "mse"), suffix="x") == 4

    def test_what_stays_in_bytes_may_be_touched_moved_and_copied(self, folders: Folders) -> None:
        measured(folders)
        path = folders.predictions / "drop/0/vision.mp4"
        path.write_bytes(path.read_bytes())
        moved = folders.predictions.with_name("moved")
        folders.predictions.rename(moved)
        assert measured(folders._replace(predictions=moved)) == 0

    def test_a_torn_record(self, folders: Folders) -> None:
        measured(folders)
        path = folders.out / "drop/0/metrics.json"
        path.write_bytes(path.read_bytes()[:-20])
        assert measured(folders) == 1
        assert json.loads(path.read_bytes())["state"] == "scored"

    def test_a_skip_once_its_ground_truth_is_there(self, folders: Folders) -> None:
        truth = folders.ground_truth / "push.mp4"
        data = truth.read_bytes()
        truth.unlink()
        assert evaluate(folders).counts.skipped == 1
        assert evaluate(folders).counts.reused == 4
        truth.write_bytes(data)
        again = evaluate(folders)
        assert (again.counts.skipped, again.counts.reused) == (0, 3)

    def test_a_metric_that_was_unmeasured(self, folders: Folders) -> None:
        """What it lacked may have been installed meanwhile."""

        class Lacking(Counting):
            def measure(self, *arguments: Any) -> Any:
                import dataclasses

                facts = super().measure(*arguments)
                gaps = tuple(
                    msgspec.structs.replace(score, state="unmeasured", value=None, reason="none")
                    for score in facts.scores
                )
                return dataclasses.replace(facts, scores=gaps)

        evaluation = evaluate(folders, scorer=Lacking())
        assert evaluation.unanswered == ("psnr",)
        assert evaluation.aggregate["robots"]["psnr"]["n_skipped"] == {"unmeasured": 3}
        assert {skip.code for _, skip in evaluation.skips} == {"unmeasured"}
        assert (evaluation.counts.scored, evaluation.counts.skipped) == (0, 4)
        assert measured(folders) == 4

    def test_a_file_that_changes_while_it_is_read_is_a_skip(self, folders: Folders) -> None:
        class Meddling(Counting):
            def measure(self, *arguments: Any) -> Any:
                flat(folders.predictions / "drop/0/vision.mp4", 50)
                return super().measure(*arguments)

        chosen = {"predictions_glob": "drop/**/vision.mp4"}
        evaluation = evaluate(folders, scorer=Meddling(), **chosen)
        assert [skip.code for _, skip in evaluation.skips] == ["changed_while_read"]
        assert measured(folders, **chosen) == 1


def test_what_a_dead_process_left_is_gone(folders: Folders) -> None:
    evaluate(folders)
    place = folders.out / "drop" / "0"
    left = place / f".screentest-{files._machine()}-{os.getpid()}-00000000.tmp"
    left.write_text('{"torn')
    assert evaluate(folders).counts.reused == 4
    assert [path.name for path in place.iterdir()] == ["metrics.json"]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """200 samples in two groups, of four predictions; one in ten has no ground truth."""
    root = tmp_path_factory.mktemp("many")
    made = Folders(root / "p", root / "g", root / "out")
    made.ground_truth.mkdir()
    sources = [flat(root / f"{level}.mp4", level) for level in (101, 105, 120, 130)]
    truth = flat(root / "truth.mp4", 100)
    for i in range(200):
        place = made.predictions / f"group{i % 2}" / f"key{i:03}" / "0"
        place.mkdir(parents=True)
        (place / "vision.mp4").hardlink_to(sources[i % 4])
        if i % 10 != 7:
            (made.ground_truth / f"key{i:03}.mp4").hardlink_to(truth)
    evaluate(made._replace(out=root / "uninterrupted"))
    return made


def contents(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }


def records(out: Path) -> int:
    return sum(1 for _ in out.rglob("metrics.json"))


def start(folders: Folders) -> subprocess.Popen[bytes]:
    arguments = ["videos", "-o", folders.out, "--predictions-dir", folders.predictions,
                 "--gt-dir", folders.ground_truth]  # fmt: skip
    return subprocess.Popen(
        [*EVAL, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_twenty_kills_at_random_points_change_no_byte(many: Folders, tmp_path: Path) -> None:
    here = many._replace(out=tmp_path / "out")
    draw = random.Random()
    in_the_middle = 0
    counts = [0]
    for _ in range(20):
        process = start(here)
        # Some records further, then a moment more: in a decoder, in a write, between two samples.
        goal = counts[-1] + draw.randint(1, 4)
        deadline = time.monotonic() + 30
        while records(here.out) < goal and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        time.sleep(draw.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        killed = process.wait() == -signal.SIGKILL
        counts.append(records(here.out))
        assert counts[-1] >= counts[-2]
        in_the_middle += killed and counts[-1] < 200
        for path in here.out.rglob("metrics.json"):
            json.loads(path.read_bytes())
    assert in_the_middle >= 10, counts
    assert len(set(counts)) > 10, counts
    assert start(here).wait() == 0
    assert records(here.out) == 200
    assert contents(here.out) == contents(many.out.parent / "uninterrupted")


# The steps of a write; the process ends itself there, as hard as a kill does.
STEPS = ("before_fsync", "before_rename", "after_rename")
DIE = """
import os, signal, sys
from screentest.evaluations import evaluate_videos
step, at = sys.argv[1], int(sys.argv[2])
fsync, replace, calls = os.fsync, os.replace, 0
def die_at(name):
    global calls
    if name == step:
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
def patched_fsync(file):
    die_at("before_fsync")
    fsync(file)
def patched_replace(a, b):
    die_at("before_rename")
    replace(a, b)
    die_at("after_rename")
os.fsync, os.replace = patched_fsync, patched_replace
evaluate_videos(*sys.argv[3:6], workers=1)
"""


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_kill_at_any_step_of_a_write_changes_no_byte(
    folders: Folders, step: str, at: int
) -> None:
    """Four samples, so the fifth write is that of the aggregate."""
    whole = folders._replace(out=folders.out / "whole")
    evaluate(whole)
    killed = folders._replace(out=folders.out / "killed")
    if step == "before_fsync":
        at = 2 * at - 1  # each write syncs its file and its folder
    where = (killed.out, killed.predictions, killed.ground_truth)
    done = subprocess.run([sys.executable, "-c", DIE, step, str(at), *map(str, where)], check=False)
    assert done.returncode == -signal.SIGKILL
    left = list(killed.out.rglob("*.tmp"))
    # Its own, and that of the sample whose record was on the way to the disk beside it.
    assert (step != "after_rename") <= len(left) <= 2
    evaluate(killed)
    assert contents(killed.out) == contents(whole.out)


def test_shards_that_run_side_by_side_leave_the_whole_aggregate(
    many: Folders, tmp_path: Path
) -> None:
    here = many._replace(out=tmp_path / "out")
    arguments = ["videos", "-o", here.out, "--predictions-dir", here.predictions, "--gt-dir",
                 here.ground_truth]  # fmt: skip
    running = [
        subprocess.Popen(
            [*EVAL, *map(str, arguments)],
            env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "3"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for rank in range(3)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert contents(here.out) == contents(many.out.parent / "uninterrupted")


def test_a_record_that_comes_in_while_the_aggregate_is_written_is_in_it(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    from screentest.evaluations import collect

    evaluate(folders)
    whole = (folders.out / "metrics_aggregate.json").read_bytes()
    path = folders.out / "robots/push/0/metrics.json"
    late = path.read_bytes()
    path.unlink()
    write, tables = collect.write_atomically, []

    def interleaved(target: Path, data: bytes) -> None:
        write(target, data)
        tables.append(data)
        if not path.exists():
            path.write_bytes(late)

    monkeypatch.setattr(collect, "write_atomically", interleaved)
    evaluate(folders, compute_metrics=False)
    assert len(tables) == 2
    assert tables[0] != whole
    assert (folders.out / "metrics_aggregate.json").read_bytes() == tables[1] == whole


def test_a_sample_behind_a_link_is_in_the_aggregate(folders: Folders, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (folders.predictions / "robots").rename(elsewhere)
    (folders.predictions / "robots").symlink_to(elsewhere)
    evaluation = evaluate(folders._replace(out=folders.predictions))
    assert evaluation.aggregate["robots"]["psnr"]["count"] == 3

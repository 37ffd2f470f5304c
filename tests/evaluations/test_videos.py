"""A folder of predicted videos: what is scored, what is skipped, what is written."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.errors import InputError
from screentest.evaluations import Evaluation, evaluate_videos
from tests.evaluations.making import SIZE, Folders, flat, moving, psnr_of_levels, write_clip


def evaluate(folders: Folders, **options: Any) -> Evaluation:
    return evaluate_videos(folders.out, folders.predictions, folders.ground_truth, **options)


def record(folders: Folders, place: str) -> Any:
    return json.loads((folders.out / place / "metrics.json").read_bytes())


def skips(evaluation: Evaluation) -> dict[str, str]:
    return {row.place: skip.code for row, skip in evaluation.skips}


class TestScores:
    def test_the_aggregate_holds_the_means_by_hand(self, folders: Folders) -> None:
        evaluation = evaluate(folders)
        table = json.loads((folders.out / "metrics_aggregate.json").read_bytes())
        assert table == evaluation.aggregate
        assert list(table) == ["default", "robots"]
        robots = table["robots"]["psnr"]
        expected = (psnr_of_levels(10) + 2 * psnr_of_levels(20)) / 3
        assert robots["mean"] == pytest.approx(expected, abs=1e-9)
        assert robots["count"] == 3
        assert [one["place"] for one in robots["worst"]] == [
            "robots/lift/1", "robots/push/0", "robots/lift/0"]  # fmt: skip
        drop = table["default"]["psnr"]
        assert (drop["mean"], drop["count"], drop["n_identical"]) == (None, 0, 1)

    def test_a_record_lies_at_the_samples_own_place(self, folders: Folders) -> None:
        evaluate(folders)
        found = sorted(str(p.relative_to(folders.out)) for p in folders.out.rglob("metrics.json"))
        assert found == [f"{place}/metrics.json" for place in (
            "drop/0", "robots/lift/0", "robots/lift/1", "robots/push/0")]  # fmt: skip
        one = record(folders, "robots/lift/1")
        assert (one["key"], one["group"], one["state"]) == ("lift", "robots", "scored")
        assert one["metrics"]["psnr"] == pytest.approx(psnr_of_levels(20))
        assert one["frames"] == {"prediction": 3, "ground_truth": 3, "compared": 3}
        assert (one["prediction"], one["ground_truth"]) == ("robots/lift/1/vision.mp4", "lift.mp4")

    def test_an_identical_pair_is_null_and_a_state(self, folders: Folders) -> None:
        evaluate(folders)
        one = record(folders, "drop/0")
        assert (one["metrics"]["psnr"], one["states"]["psnr"]) == (None, "identical")

    def test_every_metric_asked_for_is_in_the_table(self, folders: Folders) -> None:
        evaluation = evaluate(folders, metrics=("mse", "mae"))
        robots = evaluation.aggregate["robots"]
        assert robots["mse"]["mean"] == pytest.approx((10**2 + 2 * 20**2) / 3 / 255**2)
        assert robots["mae"]["mean"] == pytest.approx((10 + 2 * 20) / 3 / 255)
        assert robots["mse"]["worst"][0]["place"] == "robots/lift/1"
        assert evaluation.aggregate["default"]["mse"]["mean"] == 0

    def test_clips_of_unequal_length_are_trimmed_to_the_shorter_and_it_is_recorded(
        self, folders: Folders
    ) -> None:
        bright = np.full((2, SIZE[1], SIZE[0], 3), 110, np.uint8)
        dark = np.zeros((3, SIZE[1], SIZE[0], 3), np.uint8)
        write_clip(folders.predictions / "push/0/vision.mp4", np.concatenate([bright, dark]))
        flat(folders.ground_truth / "push.mp4", 100, frames=2)
        flat(folders.ground_truth / "drop.mp4", 100, frames=9)
        evaluation = evaluate(folders)
        one = record(folders, "push/0")
        assert one["metrics"]["psnr"] == pytest.approx(psnr_of_levels(10))
        assert one["frames"] == {"prediction": 5, "ground_truth": 2, "compared": 2}
        assert one["trim"] == {"prediction": 3, "ground_truth": 0}
        assert record(folders, "drop/0")["trim"] == {"prediction": 0, "ground_truth": 6}
        assert not evaluation.skips

    def test_psnr_y_equals_that_of_the_ffmpeg_filter(self, tmp_path: Path, ffmpeg: str) -> None:
        """Ground truth and prediction encoded for real; the filter runs in the test."""
        made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
        truth, coarse = made.ground_truth / "k.mp4", made.predictions / "k" / "0" / "vision.mp4"
        for path in (truth, coarse):
            path.parent.mkdir(parents=True)
        run = [ffmpeg, "-hide_banner", "-y", "-loglevel", "error"]
        source = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=24:d=0.5", "-pix_fmt", "yuv420p"]
        subprocess.run([*run, *source, "-crf", "10", truth], check=True)
        subprocess.run([*run, "-i", truth, "-crf", "40", coarse], check=True)
        log = tmp_path / "psnr.log"
        subprocess.run([*run, "-i", coarse, "-i", truth, "-lavfi", f"psnr=stats_file={log}",
                        "-f", "null", "-"], check=True)  # fmt: skip
        rows = [
            dict(pair.split(":") for pair in line.split()) for line in log.read_text().splitlines()
        ]
        evaluate(made, metrics=("psnr_y",))
        mean = np.mean([float(row["psnr_y"]) for row in rows])
        assert record(made, "k/0")["metrics"]["psnr_y"] == pytest.approx(mean, abs=0.005)

    def test_other_globs_and_extensions(self, folders: Folders) -> None:
        flat(folders.predictions / "set" / "lift.mkv", 105)
        (folders.ground_truth / "lift.mp4").rename(folders.ground_truth / "lift_gt.mkv")
        evaluation = evaluate(
            folders, predictions_glob="set/*.mkv", gt_extension="_gt.mkv", metrics=("mae",)
        )
        assert evaluation.aggregate["set"]["mae"]["mean"] == pytest.approx(5 / 255)
        assert list(evaluation.aggregate) == ["set"]
        assert (folders.out / "set" / "lift" / "metrics.json").exists()

    def test_an_extension_without_its_dot_is_one(self, folders: Folders) -> None:
        assert not evaluate(folders, gt_extension="mp4").skips

    def test_a_folder_of_images_may_be_the_ground_truth(self, folders: Folders) -> None:
        import av

        place = folders.ground_truth / "lift"
        place.mkdir()
        for index in range(3):
            with av.open(str(place / f"{index}.png"), "w", format="image2") as container:
                stream = container.add_stream("png", rate=1)
                stream.width, stream.height, stream.pix_fmt = (*SIZE, "rgb24")
                picture = np.full((SIZE[1], SIZE[0], 3), 100, np.uint8)
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                container.mux(stream.encode(frame))
                container.mux(stream.encode())
        evaluation = evaluate(folders, predictions_glob="robots/lift/0/*", gt_extension="")
        assert evaluation.aggregate["robots"]["psnr"]["mean"] == pytest.approx(psnr_of_levels(10))

    def test_keys_with_odd_characters(self, tmp_path: Path) -> None:
        made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
        keys = ["k e'y%03d", "ключ", "a[1]*?", "-x", "new\nline", os.fsdecode(b"bad\xff")]
        for key in keys:
            flat(made.ground_truth / f"{key}.mp4", 100)
            flat(made.predictions / key / "0" / "vision.mp4", 110)
        evaluation = evaluate(made)
        assert not evaluation.skips
        assert evaluation.aggregate["default"]["psnr"]["count"] == len(keys)
        assert evaluation.to_json()

    def test_the_outputs_may_be_the_predictions_themselves(self, folders: Folders) -> None:
        beside = folders._replace(out=folders.predictions)
        assert evaluate(beside).counts.scored == 4
        again = evaluate(beside)
        assert (again.counts.found, again.counts.reused) == (4, 4)
        assert (folders.predictions / "drop/0/metrics.json").exists()


class TestSkips:
    """Whatever cannot be scored is counted and named, and is in no number."""

    @pytest.fixture
    def bad(self, folders: Folders) -> Folders:
        place = folders.predictions / "robots"
        flat(place / "alone" / "0" / "vision.mp4", 100)
        flat(folders.ground_truth / "wide.mp4", 100)
        flat(place / "wide" / "0" / "vision.mp4", 100, size=(64, 32))
        flat(folders.ground_truth / "text.mp4", 100)
        (place / "text" / "0").mkdir(parents=True)
        (place / "text" / "0" / "vision.mp4").write_text("no clip")
        flat(folders.ground_truth / "empty.mp4", 100)
        (place / "empty" / "0").mkdir(parents=True)
        (place / "empty" / "0" / "vision.mp4").touch()
        flat(folders.ground_truth / "folder.mp4", 100)
        (place / "folder" / "0" / "vision.mp4").mkdir(parents=True)
        flat(place / "badgt" / "0" / "vision.mp4", 100)
        (folders.ground_truth / "badgt.mp4").write_bytes(b"\0" * 999)
        flat(folders.ground_truth / "dangling.mp4", 100)
        (place / "dangling" / "0").mkdir(parents=True)
        (place / "dangling" / "0" / "vision.mp4").symlink_to("/nowhere.mp4")
        flat(folders.ground_truth / "pipe.mp4", 100)
        (place / "pipe" / "0").mkdir(parents=True)
        os.mkfifo(place / "pipe" / "0" / "vision.mp4")
        return folders

    def test_each_is_counted_under_its_reason_and_none_is_a_number(self, bad: Folders) -> None:
        evaluation = evaluate(bad)
        assert skips(evaluation) == {
            "robots/alone/0": "no_ground_truth",
            "robots/wide/0": "size_mismatch",
            "robots/text/0": "cannot_open",
            "robots/empty/0": "no_frames",
            "robots/folder/0": "prediction_is_a_folder",
            "robots/badgt/0": "cannot_open",
            "robots/dangling/0": "not_found",
            "robots/pipe/0": "not_a_file",
        }
        row = evaluation.aggregate["robots"]["psnr"]
        expected = (psnr_of_levels(10) + 2 * psnr_of_levels(20)) / 3
        assert (row["count"], row["mean"]) == (3, pytest.approx(expected))
        assert row["n_skipped"] == {
            "cannot_open": 2, "no_frames": 1, "no_ground_truth": 1, "not_a_file": 1,
            "not_found": 1, "prediction_is_a_folder": 1, "size_mismatch": 1}  # fmt: skip
        assert evaluation.counts.skipped == 8

    def test_the_message_says_where_was_looked(self, bad: Folders) -> None:
        messages = {row.key: skip.message for row, skip in evaluate(bad).skips}
        assert str(bad.ground_truth / "alone.mp4") in messages["alone"]
        assert "64x32" in messages["wide"]
        assert "48x32" in messages["wide"]
        for key in ("text", "empty", "folder", "dangling", "pipe"):
            assert str(bad.predictions / "robots" / key) in messages[key]

    def test_a_record_says_why(self, bad: Folders) -> None:
        evaluate(bad)
        one = record(bad, "robots/wide/0")
        assert (one["state"], one["metrics"], one["scores"]) == ("skipped", {}, [])
        assert one["skips"][0]["code"] == "size_mismatch"

    def test_nothing_scored_is_null_and_the_metric_is_unanswered(self, folders: Folders) -> None:
        for path in folders.ground_truth.iterdir():
            path.unlink()
        evaluation = evaluate(folders)
        row = evaluation.aggregate["robots"]["psnr"]
        assert (row["mean"], row["count"]) == (None, 0)
        assert "3 skipped (no_ground_truth)" in row["reason"]
        assert evaluation.unanswered == ("psnr",)
        assert evaluation.status == "nothing_scored"

    def test_an_empty_folder_and_one_that_is_not_there(self, folders: Folders) -> None:
        empty = folders.predictions / "empty"
        empty.mkdir()
        with pytest.raises(InputError, match="nothing matches"):
            evaluate(folders._replace(predictions=empty))
        with pytest.raises(FileNotFoundError):
            evaluate(folders._replace(predictions=empty / "none"))
        with pytest.raises(FileNotFoundError):
            evaluate(folders._replace(ground_truth=empty / "none"))
        assert not folders.out.exists()

    @pytest.mark.parametrize(
        "options",
        [
            {"metrics": ("psrn",)},
            {"metrics": ()},
            {"mode": "visions"},
            {"num_samples": 0},
            {"sample_stride": 0},
            {"workers": 0},
            {"threads": 0},
            {"sample_selection_strategy": "random"},
            {"dataset": "nobody"},
            {"renderer": "os:getcwd"},
        ],
    )
    def test_a_request_that_makes_no_sense_is_refused_before_anything_is_written(
        self, folders: Folders, options: dict[str, Any]
    ) -> None:
        with pytest.raises(InputError):
            evaluate(folders, **options)
        assert not folders.out.exists()


class TestStatements:
    """Padding and alignment that a sample states are applied to the ground truth."""

    @pytest.fixture
    def padded(self, tmp_path: Path) -> Folders:
        """A prediction of 32x16, and the same 8 levels brighter as a ground truth with reflected
        padding of 8 left, 6 right, 4 on top, 6 below: 46x26."""
        made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
        inner = moving(4, (32, 16)) // 2
        write_clip(made.predictions / "k" / "0" / "vision.mp4", inner)
        pads = ((0, 0), (4, 6), (8, 6), (0, 0))
        write_clip(made.ground_truth / "k.mp4", np.pad(inner + 8, pads, "reflect"))
        return made

    STATED = '{"padding": [8, 6, 4, 6], "alignment": 16, "prompt": "not ours"}'

    def test_without_it_the_sizes_differ(self, padded: Folders) -> None:
        assert skips(evaluate(padded)) == {"k/0": "size_mismatch"}

    @pytest.mark.parametrize(
        "where",
        [
            "p/k/0/sample.json",
            "p/k/sample.json",
            "g/k.sample.json",
            "p/k/0/vision.sample.json",
        ],
    )
    def test_the_padding_is_removed(self, padded: Folders, where: str) -> None:
        (padded.out.parent / where).write_text(self.STATED)
        evaluation = evaluate(padded)
        assert evaluation.aggregate["default"]["psnr"]["mean"] == pytest.approx(psnr_of_levels(8))
        one = record(padded, "k/0")
        assert (one["padding"], one["alignment"]) == ([8, 6, 4, 6], 16)
        assert one["window"] == [8, 4, 32, 16]

    def test_the_right_and_the_bottom_go_for_the_alignment(self, padded: Folders) -> None:
        (padded.predictions / "k/0/sample.json").write_text(
            '{"padding": [8, 0, 4, 0], "alignment": 16}'
        )
        evaluation = evaluate(padded)
        assert evaluation.aggregate["default"]["psnr"]["mean"] == pytest.approx(psnr_of_levels(8))
        assert record(padded, "k/0")["window"] == [8, 4, 32, 16]

    def test_another_statement_is_another_score(self, padded: Folders) -> None:
        (padded.predictions / "k/0/sample.json").write_text(self.STATED)
        evaluate(padded)
        (padded.predictions / "k/0/sample.json").write_text('{"padding": [9, 5, 4, 6]}')
        again = evaluate(padded)
        assert again.counts.reused == 0
        assert again.aggregate["default"]["psnr"]["mean"] < psnr_of_levels(40)

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("{", "bad_sample_file"),
            ("[]", "bad_sample_file"),
            ("[" * 100_000, "bad_sample_file"),
            ('{"padding": [1, 2, 3]}', "bad_sample_file"),
            (f'{{"padding": [{10**30}, 0, 0, 0]}}', "bad_sample_file"),
            (f'{{"alignment": {10**30}}}', "bad_sample_file"),
            ('{"padding": [1, 2, 3, -4]}', "bad_sample_file"),
            ('{"padding": [1, 2, 3, 4.5]}', "bad_sample_file"),
            ('{"alignment": 0}', "bad_sample_file"),
            ('{"alignment": "16"}', "bad_sample_file"),
            ('{"padding": [40, 6, 0, 0]}', "nothing_left"),
            ('{"alignment": 64}', "nothing_left"),
        ],
    )
    def test_a_statement_that_makes_no_sense_is_a_skip(
        self, padded: Folders, text: str, code: str
    ) -> None:
        (padded.predictions / "k/0/sample.json").write_text(text)
        assert skips(evaluate(padded)) == {"k/0": code}


class TestSelection:
    @pytest.fixture
    def many(self, tmp_path: Path) -> Folders:
        made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
        one = flat(tmp_path / "one.mp4", 100, frames=1)
        other = flat(tmp_path / "other.mp4", 110, frames=1)
        for group in ("a", "b"):
            for i in range(8):
                place = made.predictions / group / f"k{i}" / "0"
                place.mkdir(parents=True)
                (place / "vision.mp4").hardlink_to(other)
        made.ground_truth.mkdir()
        for i in range(8):
            (made.ground_truth / f"k{i}.mp4").hardlink_to(one)
        return made

    def chosen(self, folders: Folders, **options: Any) -> dict[str, list[str]]:
        rows = evaluate(folders, **options).rows
        return {group: [row.key for row in rows if row.group == group] for group in ("a", "b")}

    def test_at_most_n_of_each_group_and_the_same_keys_of_both(self, many: Folders) -> None:
        chosen = self.chosen(many, num_samples=3)
        assert len(chosen["a"]) == 3
        assert chosen["a"] == chosen["b"]

    def test_strategy_seed_and_stride(self, many: Folders) -> None:
        first = self.chosen(many, num_samples=3, sample_selection_strategy="first")
        assert first["a"] == ["k0", "k1", "k2"]
        seeds = {
            tuple(self.chosen(many._replace(out=many.out / str(seed)), num_samples=3,
                              sample_selection_seed=seed)["a"])
            for seed in range(4)
        }  # fmt: skip
        assert len(seeds) > 1
        strided = self.chosen(many._replace(out=many.out / "stride"), sample_stride=3)
        assert strided["b"] == ["k0", "k3", "k6"]

    def test_a_dataset_is_the_group_that_is_scored_and_its_label(self, many: Folders) -> None:
        chosen = self.chosen(many, dataset="b", num_samples=3)
        assert (chosen["a"], len(chosen["b"])) == ([], 3)

    def test_a_dataset_names_samples_without_a_group(self, many: Folders) -> None:
        inside = many._replace(predictions=many.predictions / "a")
        assert list(evaluate(inside, dataset="robots").aggregate) == ["robots"]

    def test_records_of_an_earlier_choice_stay_in_the_table_and_are_told(
        self, many: Folders
    ) -> None:
        evaluate(many)
        evaluation = evaluate(many, num_samples=3)
        assert evaluation.aggregate["a"]["psnr"]["count"] == 8
        assert (evaluation.counts.chosen, evaluation.counts.others) == (6, 10)

    def test_shards_meet_in_one_aggregate_of_the_same_bytes(self, many: Folders) -> None:
        whole = many._replace(out=many.out / "whole")
        evaluate(whole)
        parts = many._replace(out=many.out / "parts")
        for index in (2, 0, 1):
            evaluation = evaluate(parts, shard=(index, 3))
            assert evaluation.counts.share in (5, 6)
        assert (parts.out / "metrics_aggregate.json").read_bytes() == (
            whole.out / "metrics_aggregate.json"
        ).read_bytes()

    def test_what_other_shards_have_not_scored_yet_is_missing(self, many: Folders) -> None:
        row = evaluate(many, shard=(0, 2)).aggregate["a"]["psnr"]
        assert (row["count"], row["n_missing"]) == (4, 4)

    def test_a_shard_without_samples_is_no_failure(self, many: Folders) -> None:
        evaluation = evaluate(many, num_samples=1, shard=(5, 6))
        assert (evaluation.counts.share, evaluation.unanswered) == (0, ())
        assert evaluation.aggregate["a"]["psnr"]["reason"].endswith("1 missing")


class TestMore:
    def test_benchmark_is_written_only_when_asked_for(self, folders: Folders) -> None:
        evaluate(folders)
        assert not (folders.out / "benchmark.json").exists()
        evaluate(folders, benchmark=True, metrics=("mse",))
        document = json.loads((folders.out / "benchmark.json").read_bytes())
        assert (document["samples"], document["scored"], document["frames"]) == (4, 4, 12)
        assert [one["place"] for one in document["timings"]] == [
            "drop/0", "robots/lift/0", "robots/lift/1", "robots/push/0"]  # fmt: skip
        assert document["score_s"] > 0

    def test_without_metrics_nothing_is_scored_and_the_table_is_rebuilt(
        self, folders: Folders
    ) -> None:
        evaluation = evaluate(folders, compute_metrics=False)
        assert not list(folders.out.rglob("metrics.json"))
        assert evaluation.aggregate["robots"]["psnr"]["n_missing"] == 3
        assert evaluation.unanswered == ()
        evaluate(folders)
        before = (folders.out / "metrics_aggregate.json").read_bytes()
        (folders.out / "metrics_aggregate.json").unlink()
        evaluate(folders, compute_metrics=False)
        assert (folders.out / "metrics_aggregate.json").read_bytes() == before

    @pytest.mark.parametrize(("threads", "workers"), [(1, 1), (2, 1), (2, 2), (1, 4), (None, None)])
    def test_threads_and_workers_change_no_byte(
        self, folders: Folders, threads: int | None, workers: int | None
    ) -> None:
        evaluate(folders._replace(out=folders.out / "a"), threads=1, workers=1)
        evaluate(folders._replace(out=folders.out / "b"), threads=threads, workers=workers)
        for path in sorted((folders.out / "a").rglob("*.json")):
            other = folders.out / "b" / path.relative_to(folders.out / "a")
            assert path.read_bytes() == other.read_bytes()

    def test_progress_comes_in_order(self, folders: Folders) -> None:
        told: list[Any] = []
        evaluate(folders, progress=lambda total, outcome: told.append((total, outcome)), workers=3)
        assert told[0] == (4, None)
        assert [outcome.place for _, outcome in told[1:]] == [
            "drop/0", "robots/lift/0", "robots/lift/1", "robots/push/0"]  # fmt: skip

    def test_foreign_files_under_the_outputs_are_left_alone(self, folders: Folders) -> None:
        foreign = folders.out / "other" / "metrics.json"
        foreign.parent.mkdir(parents=True)
        foreign.write_text('{"accuracy": 1}')
        (folders.out / "torn").mkdir()
        (folders.out / "torn" / "metrics.json").write_text('{"schema": "screentest/eval-sa')
        assert set(evaluate(folders).aggregate) == {"default", "robots"}
        assert foreign.read_text() == '{"accuracy": 1}'

    def test_the_lag_of_a_prediction_is_a_warning(self, tmp_path: Path) -> None:
        made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
        frames = moving(16, (96, 64))
        write_clip(made.ground_truth / "k.mp4", frames)
        write_clip(made.predictions / "k/0/vision.mp4", frames[3:])
        (row,) = evaluate(made).rows
        assert "3 frames ahead" in " ".join(row.warnings)
        assert record(made, "k/0")["pairing"]["lag"] == 3


class TestWhatAMeanDoesNotShow:
    def test_ground_truth_that_nothing_predicts_is_named_and_counted(
        self, folders: Folders
    ) -> None:
        flat(folders.ground_truth / "hardest.mp4", 90)
        evaluation = evaluate(folders)
        assert evaluation.unpredicted == ("hardest",)
        assert evaluation.counts.unpredicted == 1
        assert json.loads(evaluation.to_json())["unpredicted"] == ["hardest"]

    def test_clips_cut_to_the_shorter_are_counted(self, folders: Folders) -> None:
        flat(folders.ground_truth / "lift.mp4", 100, frames=5)
        assert evaluate(folders).counts.trimmed == 2

    def test_a_rate_that_differs_is_a_warning(self, folders: Folders) -> None:
        frames = np.full((3, SIZE[1], SIZE[0], 3), 100, np.uint8)
        write_clip(folders.ground_truth / "push.mp4", frames, rate=30)
        (warned,) = (row for row in evaluate(folders).rows if row.warnings)
        assert warned.place == "robots/push/0"
        assert warned.warnings[0].startswith(
            "the prediction has 24 frames per second, its ground truth 30"
        )

"""A folder of predicted actions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.errors import InputError
from screentest.evaluations import Evaluation, evaluate_actions, evaluate_videos
from tests.evaluations.making import Folders, flat, psnr_of_levels
from tests.evaluations.test_action_files import write

TRUE = [[0.0, 1.0], [2.0, 3.0]]
# Off by 1 and 2 of four numbers: (1 + 4) / 4; by 1 of the first channel alone: 1 / 2.
PREDICTED = [[1.0, 1.0], [2.0, 5.0]]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
    made.ground_truth.mkdir()
    return made


def predict(folders: Folders, key: str, values: Any, name: str = "action.npy", **more: Any) -> None:
    place = folders.predictions / key / "0"
    place.mkdir(parents=True, exist_ok=True)
    write(place / name, values, **more)


def evaluate(folders: Folders, **options: Any) -> Evaluation:
    return evaluate_actions(folders.out, folders.predictions, folders.ground_truth, **options)


def row(evaluation: Evaluation, group: str = "default") -> dict[str, Any]:
    return evaluation.aggregate[group]["action_mse"]


@pytest.mark.parametrize("prediction", ["npy", "npz", "json", "safetensors"])
@pytest.mark.parametrize("truth", ["npy", "npz", "json", "safetensors"])
def test_every_format_against_every_other(folders: Folders, prediction: str, truth: str) -> None:
    write(folders.ground_truth / f"k.{truth}", TRUE)
    predict(folders, "k", PREDICTED, f"action.{prediction}")
    evaluation = evaluate(folders)
    assert (row(evaluation)["mean"], row(evaluation)["count"]) == (5 / 4, 1)
    one = json.loads((folders.out / "k" / "0" / "metrics.json").read_bytes())
    assert one["metrics"] == {"action_mse": 5 / 4}
    assert one["ground_truth"] == f"k.{truth}"


@pytest.mark.parametrize("mask", [[1, 0], [[1, 0], [1, 0]]])
@pytest.mark.parametrize("extension", ["npz", "json", "safetensors"])
def test_the_mask_of_the_ground_truth_counts(folders: Folders, mask: Any, extension: str) -> None:
    write(folders.ground_truth / f"k.{extension}", TRUE, mask)
    predict(folders, "k", PREDICTED)
    assert row(evaluate(folders))["mean"] == 1 / 2


def test_a_mask_may_stand_in_the_samples_statement(folders: Folders) -> None:
    write(folders.ground_truth / "k.npy", TRUE)
    predict(folders, "k", PREDICTED)
    (folders.predictions / "k/0/sample.json").write_text('{"action_valid_mask": [0, 1]}')
    assert row(evaluate(folders))["mean"] == 4 / 2
    (folders.predictions / "k/0/sample.json").write_text('{"action_valid_mask": [1, 0]}')
    again = evaluate(folders)
    assert (row(again)["mean"], again.counts.reused) == (1 / 2, 0)


def test_plain_files_take_their_stem_for_a_key(folders: Folders) -> None:
    write(folders.ground_truth / "k_gt.npy", TRUE)
    (folders.predictions / "robots").mkdir(parents=True)
    write(folders.predictions / "robots" / "k.json", PREDICTED)
    evaluation = evaluate(folders, predictions_glob="**/*.json", gt_extension="_gt.npy")
    assert row(evaluation, "robots")["mean"] == 5 / 4
    assert (folders.out / "robots" / "k" / "metrics.json").exists()


def test_what_cannot_be_scored_is_counted_by_reason_and_never_a_zero(folders: Folders) -> None:
    nan = [[float("nan"), 1.0], [2.0, 3.0]]
    for key in ("good", "nan", "shape", "text", "flat"):
        write(folders.ground_truth / f"{key}.npy", TRUE)
    write(folders.ground_truth / "masked.npz", TRUE, [0, 0])
    write(folders.ground_truth / "badmask.npz", TRUE, [1, 0, 1])
    for key in ("good", "alone", "masked", "badmask"):
        predict(folders, key, PREDICTED)
    predict(folders, "nan", nan)
    predict(folders, "shape", PREDICTED[:1])
    predict(folders, "flat", [1.0, 2.0])
    predict(folders, "text", PREDICTED)
    (folders.predictions / "text/0/action.npy").write_text("no array")
    evaluation = evaluate(folders)
    assert {r.key: skip.code for r, skip in evaluation.skips} == {
        "alone": "no_ground_truth",
        "nan": "non_finite",
        "shape": "shape_mismatch",
        "badmask": "shape_mismatch",
        "masked": "no_valid_channel",
        "text": "unreadable_actions",
        "flat": "bad_shape",
    }
    found = row(evaluation)
    assert (found["mean"], found["count"]) == (5 / 4, 1)
    assert found["n_skipped"] == {
        "bad_shape": 1, "no_ground_truth": 1, "no_valid_channel": 1, "non_finite": 1,
        "shape_mismatch": 2, "unreadable_actions": 1}  # fmt: skip
    message = next(skip.message for r, skip in evaluation.skips if r.key == "alone")
    assert str(folders.ground_truth / "alone.npy") in message


def test_equal_actions_are_a_zero_that_counts(folders: Folders) -> None:
    write(folders.ground_truth / "k.npy", TRUE)
    predict(folders, "k", TRUE)
    found = row(evaluate(folders))
    assert (found["mean"], found["count"], found["n_identical"]) == (0, 1, 1)


def test_the_largest_error_is_the_worst(folders: Folders) -> None:
    for i in range(3):
        write(folders.ground_truth / f"k{i}.npy", [[0.0]])
        predict(folders, f"k{i}", [[float(i)]])
    found = row(evaluate(folders))
    assert [one["key"] for one in found["worst"]] == ["k2", "k1", "k0"]
    assert (found["mean"], found["unit"], found["direction"]) == (
        pytest.approx(5 / 3), "action^2", "down")  # fmt: skip


def test_an_extension_that_holds_no_actions_is_refused(folders: Folders) -> None:
    predict(folders, "k", PREDICTED)
    with pytest.raises(InputError, match=r"\.csv"):
        evaluate(folders, gt_extension=".csv")


def test_resume_and_shards_are_as_with_videos(folders: Folders) -> None:
    for i in range(5):
        write(folders.ground_truth / f"k{i}.npy", TRUE)
        predict(folders, f"k{i}", PREDICTED)
    first = evaluate(folders, shard=(0, 2))
    assert (first.counts.share, row(first)["n_missing"]) == (3, 2)
    whole = evaluate(folders)
    assert (whole.counts.reused, row(whole)["count"]) == (3, 5)


class TestModesOfVideos:
    @pytest.fixture
    def both(self, folders: Folders) -> Folders:
        flat(folders.ground_truth / "k.mp4", 100)
        write(folders.ground_truth / "k.npy", TRUE)
        flat(folders.predictions / "k/0/vision.mp4", 110)
        predict(folders, "k", PREDICTED)
        return folders

    def scored(self, folders: Folders, mode: str, **options: Any) -> dict[str, Any]:
        table = evaluate_videos(
            folders.out, folders.predictions, folders.ground_truth, mode=mode, **options
        ).aggregate
        return {
            group: {name: row["mean"] for name, row in metrics.items() if "_p" not in name
                    and "worst" not in name}
            for group, metrics in table.items()
        }  # fmt: skip

    def test_each_mode_scores_what_the_table_says(self, both: Folders) -> None:
        db = pytest.approx(psnr_of_levels(10))
        for mode, expected in {
            "vision": {"psnr": db},
            "forward_dynamics": {"psnr": db},
            "inverse_dynamics": {"action_mse": 5 / 4},
            "wam": {"psnr": db, "action_mse": 5 / 4},
        }.items():
            found = self.scored(both._replace(out=both.out / mode), mode)
            assert found == {"default": expected}, mode

    def test_joint_scores_three_folders_and_has_the_modes_for_groups(self, both: Folders) -> None:
        root = both.predictions.parent / "joint"
        root.mkdir()
        for mode in ("forward_dynamics", "inverse_dynamics", "wam"):
            (root / mode / "robots").mkdir(parents=True)
            (root / mode / "robots" / "k").symlink_to(both.predictions / "k")
        found = self.scored(both._replace(predictions=root), "joint")
        db = pytest.approx(psnr_of_levels(10))
        assert found == {
            "forward_dynamics": {"psnr": db},
            "inverse_dynamics": {"action_mse": 5 / 4},
            "wam": {"psnr": db, "action_mse": 5 / 4},
        }

    def test_half_of_a_wam_sample_may_be_missing(self, both: Folders) -> None:
        (both.predictions / "k/0/action.npy").unlink()
        evaluation = evaluate_videos(both.out, both.predictions, both.ground_truth, mode="wam")
        table = evaluation.aggregate["default"]
        assert table["psnr"]["count"] == 1
        assert table["psnr"]["n_skipped"] == {}
        assert table["action_mse"]["n_skipped"] == {"no_prediction": 1}
        assert evaluation.unanswered == ("action_mse",)

    def test_the_actions_beside_a_plain_video_have_its_stem(self, both: Folders) -> None:
        plain = both.predictions.parent / "plain"
        flat(plain / "k.mp4", 110)
        np.savez(plain / "k.npz", action=np.array(PREDICTED))
        found = self.scored(both._replace(predictions=plain), "wam", predictions_glob="*.mp4")
        assert found["default"]["action_mse"] == 5 / 4


def test_what_a_run_wrote_beside_the_predictions_is_no_prediction(folders: Folders) -> None:
    folders.predictions.mkdir()
    for folder, values in ((folders.predictions, PREDICTED), (folders.ground_truth, TRUE)):
        write(folder / "lift.json", values)
    here = folders._replace(out=folders.predictions)
    first = evaluate(here, predictions_glob="**/*.json", benchmark=True)
    again = evaluate(here, predictions_glob="**/*.json", benchmark=True)
    assert again.counts.found == first.counts.found == 1
    assert again.aggregate == first.aggregate


def test_a_group_of_the_name_of_an_output_is_refused_before_anything_is_scored(
    folders: Folders,
) -> None:
    predict(folders, "metrics_aggregate.json/lift", PREDICTED)
    write(folders.ground_truth / "lift.npy", TRUE)
    with pytest.raises(InputError, match="cannot be names") as refused:
        evaluate(folders)
    assert refused.value.code == "name_taken"
    assert not folders.out.exists()

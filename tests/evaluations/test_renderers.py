"""A function of the caller's in the place of files, and the example that shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.errors import InputError
from screentest.evaluations import Evaluation, Rendered, Sample, evaluate_videos
from screentest.evaluations.renderers import load_renderer
from tests.evaluations.making import EVAL, SIZE, flat, psnr_of_levels

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def fails(sample: Sample) -> Any:
    raise ZeroDivisionError(sample.key)


def grey(level: int, frames: int = 3) -> np.ndarray:
    return np.full((frames, SIZE[1], SIZE[0], 3), level, np.uint8)


class Recording:
    """A renderer that remembers what it was asked for."""

    version = "1"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Sample] = []

    def __call__(self, sample: Sample) -> Any:
        self.asked.append(sample)
        return self.answer(sample) if callable(self.answer) else self.answer


@pytest.fixture
def ground_truth(tmp_path: Path) -> Path:
    for key in ("b", "a"):
        flat(tmp_path / "g" / f"{key}.mp4", 100)
        np.save(tmp_path / "g" / f"{key}.npy", np.zeros((2, 2)))
    return tmp_path / "g"


def evaluate(tmp_path: Path, renderer: Any, **options: Any) -> Evaluation:
    return evaluate_videos(tmp_path / "out", None, tmp_path / "g", renderer=renderer, **options)


def test_it_is_called_with_each_sample_in_order(tmp_path: Path, ground_truth: Path) -> None:
    renderer = Recording(grey(110))
    evaluation = evaluate(tmp_path, renderer)
    assert [sample.key for sample in renderer.asked] == ["a", "b"]
    first = renderer.asked[0]
    assert (first.mode, first.group) == ("vision", "default")
    assert first.ground_truth == ground_truth / "a.mp4"
    assert first.folder == tmp_path / "out" / "a" / "0"
    assert evaluation.aggregate["default"]["psnr"]["mean"] == pytest.approx(psnr_of_levels(10))
    assert (tmp_path / "out/a/0/metrics.json").exists()


def test_it_may_return_a_path_frames_or_a_mapping(tmp_path: Path, ground_truth: Path) -> None:
    path = flat(tmp_path / "made.mp4", 120)
    for index, answer in enumerate(
        (
            path,
            str(path),
            grey(120),
            list(grey(120)),
            {"video": path},
            Rendered(video=path),
            Rendered(video=grey(120) / 255, options={"value_range": (0, 1)}),
        )
    ):
        found = evaluate_videos(tmp_path / f"o{index}", None, ground_truth,
                                renderer=Recording(answer))  # fmt: skip
        assert found.aggregate["default"]["psnr"]["mean"] == pytest.approx(
            psnr_of_levels(20), abs=1e-4
        )


def test_what_was_rendered_is_not_rendered_again_until_something_changes(
    tmp_path: Path, ground_truth: Path
) -> None:
    renderer = Recording(grey(110))
    evaluate(tmp_path, renderer)
    again = evaluate(tmp_path, renderer)
    assert (len(renderer.asked), again.counts.reused) == (2, 2)
    flat(ground_truth / "a.mp4", 90)
    evaluate(tmp_path, renderer)
    assert [sample.key for sample in renderer.asked] == ["a", "b", "a"]
    renderer.version = "2"
    evaluate(tmp_path, renderer)
    assert len(renderer.asked) == 5


def test_padding_that_it_states_is_removed_from_the_ground_truth(tmp_path: Path) -> None:
    flat(tmp_path / "g" / "a.mp4", 100, size=(SIZE[0] + 8, SIZE[1] + 4))
    evaluation = evaluate(tmp_path, Recording(Rendered(video=grey(110), padding=(8, 0, 0, 4))))
    assert not evaluation.skips
    assert json.loads((tmp_path / "out/a/0/metrics.json").read_bytes())["window"] == [
        8, 0, *SIZE]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (None, "bad_rendering"),
        ({"vidoe": 1}, "bad_rendering"),
        (Rendered(), "no_prediction"),
        ("/nowhere.mp4", "not_found"),
        (grey(1)[:, :8], "size_mismatch"),
        (fails, "renderer_failed"),
        (Rendered(video=grey(1), padding=(1, 2)), "bad_sample_file"),
    ],
)
@pytest.mark.usefixtures("ground_truth")
def test_what_it_gets_wrong_is_a_counted_skip(tmp_path: Path, answer: Any, code: str) -> None:
    def mixed(sample: Sample) -> Any:
        if sample.key == "b":
            return grey(110)
        return answer(sample) if callable(answer) else answer

    row = evaluate(tmp_path, mixed).aggregate["default"]["psnr"]
    assert (row["count"], row["n_skipped"]) == (1, {code: 1})
    assert row["mean"] == pytest.approx(psnr_of_levels(10))


@pytest.mark.usefixtures("ground_truth")
def test_a_failed_rendering_is_tried_again(tmp_path: Path) -> None:
    renderer = Recording(fails)
    evaluate(tmp_path, renderer)
    renderer.answer = grey(110)
    assert evaluate(tmp_path, renderer).aggregate["default"]["psnr"]["count"] == 2


@pytest.mark.usefixtures("ground_truth")
def test_an_interrupt_in_it_is_an_interrupt(tmp_path: Path) -> None:
    def stops(sample: Sample) -> Any:
        raise KeyboardInterrupt(sample.key)

    with pytest.raises(KeyboardInterrupt):
        evaluate(tmp_path, stops)


@pytest.mark.parametrize(
    ("mode", "groups"),
    [
        ("forward_dynamics", {"default": {"psnr"}}),
        ("inverse_dynamics", {"default": {"action_mse"}}),
        ("wam", {"default": {"psnr", "action_mse"}}),
        ("joint", {"forward_dynamics": {"psnr"}, "inverse_dynamics": {"action_mse"},
                   "wam": {"psnr", "action_mse"}}),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("ground_truth")
def test_modes(tmp_path: Path, mode: str, groups: Any) -> None:
    renderer = Recording(Rendered(video=grey(110), action=np.ones((2, 2))))
    table = evaluate(tmp_path, renderer, mode=mode).aggregate
    assert {g: set(m) - {"psnr_pooled", "psnr_worst"} for g, m in table.items()} == groups
    for metrics in table.values():
        if "action_mse" in metrics:
            assert metrics["action_mse"]["mean"] == 1
        if "psnr" in metrics:
            assert metrics["psnr"]["mean"] == pytest.approx(psnr_of_levels(10))
            assert metrics["psnr"]["count"] == 2


def test_the_first_dataset_is_taken_unless_one_is_named(tmp_path: Path) -> None:
    for dataset in ("zoo", "farm"):
        flat(tmp_path / "g" / dataset / "k.mp4", 100)
    (tmp_path / "g" / "empty").mkdir()
    assert list(evaluate(tmp_path, Recording(grey(110))).aggregate) == ["farm"]
    other = evaluate_videos(tmp_path / "o", None, tmp_path / "g", dataset="zoo",
                            renderer=Recording(grey(110)))  # fmt: skip
    assert list(other.aggregate) == ["zoo"]
    assert (tmp_path / "o/zoo/k/0/metrics.json").exists()
    with pytest.raises(InputError, match="farm, zoo"):
        evaluate(tmp_path, Recording(grey(110)), dataset="sea")


@pytest.mark.usefixtures("ground_truth")
def test_without_metrics_it_only_renders(tmp_path: Path) -> None:
    renderer = Recording(grey(110))
    evaluation = evaluate(tmp_path, renderer, compute_metrics=False, benchmark=True)
    assert len(renderer.asked) == 2
    assert not list((tmp_path / "out").rglob("metrics.json"))
    document = json.loads((tmp_path / "out/benchmark.json").read_bytes())
    assert document["render_s"] > 0
    assert evaluation.aggregate["default"]["psnr"]["n_missing"] == 2


def test_little_is_rendered_ahead_of_the_scoring(tmp_path: Path, ground_truth: Path) -> None:
    for i in range(20):
        flat(ground_truth / f"k{i:02}.mp4", 100, frames=1)
    ahead: list[int] = []
    done: list[Any] = []

    def counts(sample: Sample) -> Any:
        ahead.append(len(renderer.asked) - len(done))
        return grey(100 + len(sample.key))

    renderer = Recording(counts)
    evaluate(tmp_path, renderer, workers=2, progress=lambda _, outcome: done.append(outcome))
    assert len(renderer.asked) == 22
    assert max(ahead) <= 4


@pytest.mark.parametrize(
    "name", ["render", ":f", "m:", "no_such_module_xyz:f", "os:no_such", "os:path"]
)
def test_a_name_that_leads_nowhere_is_refused(name: str) -> None:
    with pytest.raises(InputError) as refused:
        load_renderer(name)
    assert refused.value.code == "bad_renderer"


def test_the_example_runs_as_its_text_says(tmp_path: Path) -> None:
    """Values by hand: 4 levels too dark everywhere, and every action 5 % too small."""
    data, out = tmp_path / "data", tmp_path / "out"
    example = EXAMPLES / "procedural_renderer.py"
    subprocess.run([sys.executable, example, data], check=True, capture_output=True)
    lines = (line.split() for line in example.read_text().splitlines())
    command = next(words for words in lines if words[:2] == ["screentest", "eval"])
    arguments = [{"OUT": str(out), "DATA": str(data)}.get(word, word) for word in command[2:]]
    done = subprocess.run(
        [*EVAL, *arguments],
        cwd=EXAMPLES, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = json.loads((out / "metrics_aggregate.json").read_bytes())
    assert set(table) == {"forward_dynamics", "inverse_dynamics", "wam"}
    actions = [np.load(path) for path in sorted(data.glob("*.npy"))]
    squared = np.mean([np.mean((0.05 * a.astype(float)) ** 2) for a in actions])
    for mode in ("inverse_dynamics", "wam"):
        assert table[mode]["action_mse"]["mean"] == pytest.approx(squared)
        assert table[mode]["action_mse"]["count"] == 4
    for mode in ("forward_dynamics", "wam"):
        assert table[mode]["psnr"]["mean"] == pytest.approx(psnr_of_levels(4))
    assert "forward_dynamics" in done.stdout


def test_it_is_given_both_ground_truths_and_is_asked_again_when_either_changes(
    tmp_path: Path, ground_truth: Path
) -> None:
    renderer = Recording(grey(110))
    evaluate(tmp_path, renderer, mode="forward_dynamics")
    assert renderer.asked[0].ground_truth_action == ground_truth / "a.npy"
    np.save(ground_truth / "b.npy", np.ones((2, 2)))
    evaluate(tmp_path, renderer, mode="forward_dynamics")
    assert [sample.key for sample in renderer.asked] == ["a", "b", "b"]


@pytest.mark.usefixtures("ground_truth")
def test_a_mode_of_a_joint_run_without_any_score_is_named(tmp_path: Path) -> None:
    def partly(sample: Sample) -> Any:
        if sample.mode == "forward_dynamics":
            raise ValueError(sample.key)
        return Rendered(video=grey(110), action=np.ones((2, 2)))

    evaluation = evaluate(tmp_path, partly, mode="joint")
    assert evaluation.unanswered == ("forward_dynamics/psnr",)

"""An evaluation as its page shows it: states, and filmstrips out of real files."""

from pathlib import Path

import numpy as np
import pytest

from screentest.evaluations.evaluation import Counts, Evaluation, Row
from screentest.evaluations.records import Skip
from screentest.evaluations.view import evaluation_view
from screentest.reports.html import evaluation_page
from tests.making import src


def row(key, metrics, *, skips=(), window=None, prediction=None, truth=None):
    return Row(place=f"g/{key}", group="g", key=key, mode="vision", metrics=metrics, states={},
               skips=skips, warnings=(), prediction=prediction, ground_truth=truth,
               window=window, here=True)  # fmt: skip


def evaluation(rows, worst, chosen=None):
    cell = {"mean": 30.0, "count": 2, "std": 1.0, "ci95": [29.0, 31.0], "n_identical": 0,
            "n_skipped": {}, "n_missing": 0, "worst": worst, "unit": "dB", "direction": "up",
            "impl": "psnr-1"}  # fmt: skip
    count = chosen or len(rows)
    counts = Counts(found=count, chosen=count, share=count, scored=count, skipped=0, reused=0,
                    others=0)  # fmt: skip
    return Evaluation(
        mode="vision",
        out=Path("run-7"),
        predictions_dir=Path("made"),
        gt_dir=Path("gt"),
        metrics=("psnr",),
        shard=None,
        computed=True,
        counts=counts,
        aggregate={"g": {"psnr": cell}},
        rows=tuple(rows),
        unanswered=(),
    )


def entry(key, value):
    return {"key": key, "place": f"g/{key}", "value": value}


def test_filmstrips_show_both_files_at_the_same_instants(studio):
    truth = studio("truth.mkv", *src(1), "-c:v", "ffv1", "-pix_fmt", "yuv444p")
    made = studio("made.mkv", "-i", truth, "-vf", "negate", "-c:v", "ffv1", "-pix_fmt", "yuv444p")
    rows = [row("a", {"psnr": 5.0}, prediction=made, truth=truth)]
    (strip,) = evaluation_view(evaluation(rows, [entry("a", 5.0)])).filmstrips
    assert (strip.key, strip.metric, strip.value) == ("a", "psnr", 5.0)
    assert [frame.index for frame in strip.frames] == [0, 7, 14, 21, 29]
    expected = studio.pixels(truth, "rgb24", 320, 240).astype(int)
    for frame in strip.frames:
        error = np.abs(frame.ground_truth.astype(int) - expected[frame.index])
        assert error.mean() < 1.5
        assert np.abs(frame.prediction.astype(int) + frame.ground_truth - 255).mean() < 8


def test_the_window_that_was_compared_is_what_is_shown(studio):
    truth = studio("truth.mkv", *src(1), "-c:v", "ffv1", "-pix_fmt", "yuv444p")
    made = studio("cut.mkv", "-i", truth, "-vf", "crop=160:120:32:16", "-c:v", "ffv1", "-pix_fmt",
                  "yuv444p")  # fmt: skip
    window = (32, 16, 160, 120)
    rows = [row("a", {"psnr": 5.0}, prediction=made, truth=truth, window=window)]
    (strip,) = evaluation_view(evaluation(rows, [entry("a", 5.0)])).filmstrips
    for frame in strip.frames:
        assert (frame.ground_truth == frame.prediction).all()


def test_worst_samples_whose_files_are_gone_are_left_out(tmp_path):
    rows = [
        row("a", {"psnr": 5.0}, prediction=tmp_path / "no.mp4", truth=tmp_path / "no.mp4"),
        row("b", {"psnr": 6.0}),
    ]
    view = evaluation_view(evaluation(rows, [entry("a", 5.0), entry("b", 6.0), entry("c", 7.0)]))
    assert not view.filmstrips


def test_a_skip_says_why_and_unfinished_shards_are_named():
    skip = Skip(("psnr",), "size_mismatch", "320x240 against 160x120")
    view = evaluation_view(evaluation([row("a", {}, skips=(skip,))], [], chosen=3))
    (sample,) = view.samples
    assert (sample.state, sample.reason) == ("skipped", "size_mismatch")
    assert sample.detail == "320x240 against 160x120"
    assert view.notes == ["2 chosen samples have no record yet: other shards may be at work"]


def test_the_view_is_a_page(tmp_path):
    pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")
    path = tmp_path / "page.html"
    evaluation_page(evaluation_view(evaluation([row("a", {"psnr": 30.0})], [])), path)
    assert "run-7" in path.read_text("utf-8")

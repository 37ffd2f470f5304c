"""Motion and ringing of a pair of clips, as the comparison, its command and the evaluation ask."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

from screentest.comparing import compare
from screentest.errors import InputError, MediaError, ProtocolError
from screentest.evaluations import evaluate_videos
from screentest.media import open_clip
from screentest.metrics.flow.opencv import version
from screentest.metrics.flow.paired import PairedFlow
from screentest.metrics.paired import PAIRED_METRICS, asks, measure_pair, metric_impls
from screentest.metrics.paired.requests import KINDS
from tests.evaluations.making import Folders, write_clip
from tests.metrics.test_flow import EXTRA, moved, needs_opencv

FLOW = ("flow_epe", "flow_divergence", "motion_mag_ratio", "warp_error_delta",
        "flow_residual_delta")  # fmt: skip
ALL = (*FLOW, "ringing_excess")


def scores(reference, candidate, metrics=FLOW, **options):
    found = measure_pair(reference, candidate, metrics=metrics, **options).scores
    assert [score.name for score in found] == list(metrics)
    return {score.name: score for score in found}


# -------------------------------------------------------------------------------- worked by hand


@needs_opencv
def test_an_identical_pair_is_at_distance_zero_and_ratio_one():
    clip = moved(5, 2, 1)
    found = scores(clip, clip.copy(), ALL)
    assert {score.state for score in found.values()} == {"identical"}
    values = {name: score.value for name, score in found.items()}
    assert values == {**dict.fromkeys(ALL, 0.0), "motion_mag_ratio": 1.0}
    assert {score.worst_frame for score in found.values()} == {None}


@needs_opencv
def test_a_candidate_that_moves_twice_as_far_is_as_far_off_as_the_reference_moves():
    found = scores(moved(5, 1, 0), moved(5, 2, 0))
    assert found["flow_epe"].value == pytest.approx(1, rel=0.02)
    assert found["flow_divergence"].value == pytest.approx(1, rel=0.02)
    assert found["motion_mag_ratio"].value == pytest.approx(2, rel=0.02)
    assert found["flow_epe"].frames == found["flow_epe"].details["pairs"] == 4
    # The same waves twice as far: what the wrong direction doubles grows, the residual hardly.
    assert found["warp_error_delta"].value > 0.1
    assert abs(found["flow_residual_delta"].value) < 0.01


@needs_opencv
def test_a_frozen_candidate_has_ratio_zero_and_divergence_one():
    clip = moved(5, 2, 0)
    found = scores(clip, clip[:1].repeat(5, axis=0))
    assert found["motion_mag_ratio"].value == 0
    assert found["flow_divergence"].value == pytest.approx(1, rel=0.01)


@needs_opencv
def test_a_still_reference_gives_no_ratio_rather_than_a_huge_one():
    clip = moved(5, 2, 0)
    found = scores(clip[:1].repeat(5, axis=0), clip)
    for name in ("flow_divergence", "motion_mag_ratio"):
        assert found[name].state == "unmeasured"
        assert found[name].value is None
        assert found[name].reason.startswith("the reference stands still (")
    assert found["flow_epe"].value == pytest.approx(2, rel=0.02)


@needs_opencv
def test_the_worst_pair_is_the_one_with_another_move():
    reference = moved(6, 1, 0)
    candidate = reference.copy()
    candidate[3] = candidate[2]  # stands still for a frame, then jumps by two
    score = scores(reference, candidate)["flow_epe"]
    assert score.worst_frame in (2, 3)
    assert score.worst == pytest.approx(1, rel=0.05)
    assert score.value == pytest.approx(2 / 5, rel=0.05)
    assert score.identical_frames == 3


@needs_opencv
def test_a_flat_frame_in_either_clip_leaves_its_pairs_out():
    reference = moved(6, 1, 0)
    candidate = reference.copy()
    candidate[2] = 0
    found = scores(reference, candidate)
    # Into the black frame alone, then into it and out of it.
    assert found["warp_error_delta"].details["pairs_flat"] == 1
    assert found["flow_residual_delta"].details["pairs_flat"] == 2
    assert found["flow_residual_delta"].frames == 3
    assert found["flow_residual_delta"].value == 0
    black = np.zeros_like(reference)
    score = scores(reference, black)["flow_residual_delta"]
    assert score.reason == "all 5 pairs hold a flat frame: there is nothing to follow"


@needs_opencv
def test_pairs_that_are_no_neighbours_are_left_out_and_counted():
    clip = moved(7, 1, 0)
    score = scores(clip, clip, pairs=[[0, 0], [1, 1], [2, 2], [4, 4], [5, 6], [6, 6]])["flow_epe"]
    assert score.details["pairs"] == 2
    assert score.details["pairs_not_neighbours"] == 3
    lone = scores(clip, clip, pairs=[[0, 0], [2, 2]])["flow_epe"]
    assert lone.reason == "no sampled frame is followed by the next one in both clips"
    one = scores(clip, clip, pairs=[[3, 3]])["flow_epe"]
    assert one.reason == "needs 2 pairs of frames; there is 1"


@needs_opencv
@pytest.mark.parametrize("threads", [2, 8])
def test_the_number_of_threads_changes_no_bit(threads):
    reference, candidate = moved(12, 1, 0), moved(12, 1, 1)
    with open_clip(reference) as a, open_clip(candidate) as b:
        found = []
        for count in (1, threads):
            flow = PairedFlow(FLOW, (a.format, b.format), pairs=12, threads=count)
            for left, right in zip(a.frames(), b.frames(), strict=True):
                flow.push(left, right)
            found.append(flow.finish()[0])
            flow.close()
    assert found[0] == found[1]


@needs_opencv
def test_pairs_of_unknown_number_give_the_scores_of_a_known_one():
    reference, candidate = moved(12, 1, 0), moved(12, 1, 1)
    with open_clip(reference) as a, open_clip(candidate) as b:
        found = []
        for count in (12, None):
            flow = PairedFlow(FLOW, (a.format, b.format), pairs=count)
            for left, right in zip(a.frames(), b.frames(), strict=True):
                flow.push(left, right)
            found.append(flow.finish()[0])
    assert found[0] == found[1]


@needs_opencv
def test_the_pairs_are_24_spread_over_the_clips():
    rng = np.random.default_rng(0)
    clip = rng.integers(0, 256, (120, 16, 16, 3), np.uint8)
    assert scores(clip, clip[::-1].copy())["flow_epe"].details["pairs"] == 24


@needs_opencv
def test_scores_name_the_version_of_opencv():
    clip = moved(3, 1, 0)
    found = scores(clip, clip)
    for name in FLOW:
        assert found[name].impl.endswith(f"+opencv-{version()}")
        assert metric_impls([name])[name] == found[name].impl


# ------------------------------------------------------------------------------------- refusals


@needs_opencv
def test_sizes_that_differ_are_refused_and_never_resized():
    a, b = moved(3, 1, 0), moved(3, 1, 0, size=(120, 162))
    with pytest.raises(ProtocolError, match="nothing is resized"):
        measure_pair(a, b, metrics=ALL)
    with open_clip(a) as one, open_clip(b) as two:
        with pytest.raises(InputError, match="nothing is resized") as caught:
            PairedFlow(FLOW, (one.format, two.format), pairs=3)
        assert caught.value.code == "size_mismatch"


@needs_opencv
def test_a_nan_is_refused_and_its_side_and_frame_named():
    clip = np.full((4, 32, 32, 3), 0.5, np.float32)
    bad = clip.copy()
    bad[1, 0, 0, 0] = np.nan
    with pytest.raises(MediaError, match="candidate frame 1 holds 1 NaN"):
        measure_pair(clip, bad, metrics=ALL)


def test_without_the_extra_the_scores_are_unmeasured_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    clip = moved(4, 1, 0)
    found = scores(clip, clip, ("psnr", *ALL)[1:])
    for name in FLOW:
        assert (found[name].state, found[name].reason) == ("unmeasured", EXTRA)
    assert found["ringing_excess"].value == 0
    assert metric_impls(["flow_epe"]) == {"flow_epe": "flow_epe@1"}
    result = compare(clip, clip, metrics=["flow_epe"])
    assert not result.complete
    assert result.to_dict()["unmeasured"] == [{"name": "flow_epe", "reason": EXTRA}]


# --------------------------------------------------------------------------- asked for by name


def test_every_paired_metric_is_of_one_kind_and_gives_the_score_of_its_name():
    names = [name for kind in KINDS for name in kind.says]
    assert len(names) == len(set(names)) == len(PAIRED_METRICS)
    assert set(ALL) < set(names)
    assert all(asks(name, name) for name in names if name != "xpsnr")
    assert not asks("flow_epe", "flow_divergence")


@needs_opencv
def test_they_stand_beside_the_other_metrics_in_the_order_asked_for():
    names = ("ringing_excess", "psnr_pooled", "flow_epe")
    clip = moved(3, 1, 0)
    result = compare(clip, 255 - clip, metrics=["ringing_excess", "psnr", "flow_epe"])
    order = [score.name for score in result.scores]
    assert order == ["ringing_excess", "psnr", "psnr_pooled", "psnr_worst", "flow_epe"]
    assert set(names) < set(order)
    assert json.loads(result.to_json())["metrics"]["flow_epe"]["details"]["from"] == "rgb"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moves")
    reference, candidate = moved(8, 1, 0), moved(8, 1, 1)
    return (
        write_clip(folder / "reference.mkv", reference),
        write_clip(folder / "candidate.mkv", candidate),
    )


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "screentest", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@needs_opencv
def test_the_command_prints_a_line_for_each(files):
    done = run("compare", *files, "--metrics", ",".join(ALL), "--align", "index")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert set(ALL) <= set(lines)
    # One pixel down that the reference does not make.
    assert float(lines["flow_epe"].split()[1]) == pytest.approx(1, rel=0.02)
    assert " px/frame" in lines["flow_epe"]
    record = json.loads(run("compare", *files, "--metrics", ",".join(ALL), "--json", "--align",
                            "index").stdout)  # fmt: skip
    assert record["metrics"]["flow_epe"]["details"]["pairs"] == 7
    assert record["metrics"]["ringing_excess"]["details"]["frames"] == 8


def test_the_command_without_the_extra_says_what_to_install(files):
    if importlib.util.find_spec("cv2"):
        pytest.skip("OpenCV is installed: this is about an install without it")
    done = run("compare", *files, "--metrics", "flow_epe", "--align", "index")
    assert done.returncode == 3
    assert EXTRA in done.stdout


@needs_opencv
def test_an_evaluation_of_videos_has_them_in_its_table(tmp_path):
    made = Folders(tmp_path / "p", tmp_path / "g", tmp_path / "out")
    write_clip(made.ground_truth / "a.mp4", moved(6, 1, 0))
    write_clip(made.predictions / "a" / "0" / "vision.mp4", moved(6, 2, 0))
    evaluation = evaluate_videos(
        made.out, made.predictions, made.ground_truth, metrics=("motion_mag_ratio", *ALL[:1])
    )
    table = evaluation.aggregate["default"]
    assert table["motion_mag_ratio"]["mean"] == pytest.approx(2, rel=0.05)
    assert table["flow_epe"]["mean"] == pytest.approx(1, rel=0.05)

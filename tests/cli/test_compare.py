"""The ``compare`` command: what it prints, what it writes, and its status."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from screentest.cli import exit_codes


@pytest.fixture(scope="module")
def run():
    def call(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "screentest", "compare", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.fixture(scope="module")
def pair(studio):
    a = studio.a_mp4()
    return a, studio("bad.mp4", "-i", a, "-c:v", "libx264", "-crf", "36")


@pytest.fixture(scope="module")
def late(studio):
    trim = "trim=start_frame=1,setpts=PTS-STARTPTS"
    return studio("lag.nut", "-i", studio.a_mp4(), "-vf", trim, "-c:v", "ffv1")


def test_an_aligned_pair_prints_one_line_a_metric(run, pair):
    done = run(*pair, "--metrics", "psnr_y,ssim")
    assert done.returncode == exit_codes.DONE
    first, psnr, ssim = done.stdout.splitlines()
    assert first == f"aligned  {pair[1]} against {pair[0]}  (320x240, 60 frames against 60)"
    assert psnr.startswith("  psnr_y  ")
    assert " dB (pooled " in psnr
    assert ", worst " in ssim


def test_a_small_error_is_printed_with_its_first_digits(run, tmp_path):
    picture = np.zeros((100, 100, 3), np.uint8)
    Image.fromarray(picture).save(tmp_path / "a.png")
    picture[0, 0, 0] = 1
    Image.fromarray(picture).save(tmp_path / "b.png")
    done = run(tmp_path / "a.png", tmp_path / "b.png", "--metrics", "mse")
    # 1 / (30000 * 255^2), by hand.
    assert "mse  5.126e-10, worst 5.126e-10 at frame 0" in done.stdout
    assert done.stdout.startswith(f"aligned  {tmp_path / 'b.png'} against")
    assert len(done.stdout.splitlines()) == 2


def test_json_is_one_object_with_the_pairing_and_the_metrics(run, pair):
    done = run(*pair, "--json", "--metrics", "psnr", "--metrics", "ssim_y")
    assert done.returncode == exit_codes.DONE
    record = json.loads(done.stdout)
    assert record["schema"] == "screentest/comparison@1"
    assert set(record["pairing"]) >= {
        "aligned", "frames_reference", "frames_candidate", "lag", "dropped", "repeated",
        "differences",
    }  # fmt: skip
    assert set(record["metrics"]) == {"psnr", "psnr_pooled", "psnr_worst", "ssim_y"}
    for score in record["metrics"].values():
        assert set(score) >= {"value", "state", "unit", "impl", "worst_frame"}
    assert record["unmeasured"] == []


def test_a_misaligned_pair_is_not_judged_until_it_is_said_how(run, studio, late):
    done = run(studio.a_mp4(), late)
    assert done.returncode == exit_codes.NOT_JUDGED
    assert done.stdout.startswith("not aligned  ")
    assert "its frame 0 shows frame 1 of the reference" in done.stdout
    assert done.stdout.rstrip().endswith("no score: say --align auto, index or timestamps")
    aligned = run(studio.a_mp4(), late, "--align", "auto", "--metrics", "psnr_y")
    assert aligned.returncode == exit_codes.DONE
    assert "psnr_y  identical" in aligned.stdout


def test_a_metric_that_was_named_and_has_no_number_is_not_judged(run, tmp_path):
    for name in ("a", "b"):
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / f"{name}.png")
    done = run(tmp_path / "a.png", tmp_path / "b.png", "--metrics", "ssim")
    assert done.returncode == exit_codes.NOT_JUDGED
    assert "not measured: 8x8 pixels: the window needs 11 on each side" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing.mp4",), "nothing.mp4: no such file"),
        (("--metrics", "snr"), "metric 'snr' is unknown; the paired metrics are psnr, "),
        (("--metrics", " ,"), "no metric was asked for; the paired metrics are psnr, "),
        (("--align", "best"), "align='best': expected one of auto, index, timestamps"),
        (("--border", "same"), 'border "same": expected "valid" or "reflect"'),
        (("--threads", "0"), "threads=0: give a whole number of at least 1"),
    ],
)
def test_a_wrong_request_is_one_line(run, pair, arguments, said):
    files = (pair[0],) if arguments[0].endswith(".mp4") else pair
    done = run(*files, *arguments)
    assert done.returncode == exit_codes.BAD_INPUT
    assert done.stdout == ""
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_sizes_that_differ_are_one_line(run, studio):
    small = studio("small.mp4", "-i", studio.a_mp4(), "-vf", "scale=224:160")
    done = run(studio.a_mp4(), small)
    assert done.returncode == exit_codes.BAD_INPUT
    assert "is 224x160, its reference" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_page_shows_the_worst_frames(run, pair, tmp_path):
    pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")
    page = tmp_path / "page.html"
    done = run(*pair, "--html", page, "--metrics", "psnr,ssim", "--codec-floor")
    assert done.returncode == exit_codes.DONE
    assert f"wrote {page}" in done.stderr
    text = page.read_text()
    assert "data:image/" in text
    assert "psnr" in text


def test_a_page_without_its_extra_says_what_to_install_before_it_decodes(run, pair, tmp_path):
    if importlib.util.find_spec("jinja2"):
        pytest.skip("jinja2 is installed: this is about an install without it")
    done = run(*pair, "--html", tmp_path / "page.html")
    assert done.returncode == exit_codes.BAD_INPUT
    assert "pip install 'screentest[report]'" in done.stderr
    assert done.stdout == ""


def test_json_of_a_pair_that_cannot_be_compared_is_an_object_as_well(run, studio):
    done = run(studio.a_mp4(), "nothing.mp4", "--json")
    assert done.returncode == exit_codes.BAD_INPUT
    record = json.loads(done.stdout)
    assert record["status"] == "error"
    assert record["error"] == {
        "code": "not_found",
        "message": "nothing.mp4: no such file or folder",
    }
    assert set(record) == set(json.loads(run(studio.a_mp4(), studio.a_mp4(), "--json").stdout))


def test_a_page_in_a_folder_that_is_not_there_is_refused_before_decoding(run, pair):
    pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")
    done = run(*pair, "--html", "/nowhere/page.html")
    assert done.returncode == exit_codes.BAD_INPUT
    assert done.stderr == "screentest: error: /nowhere: no such file or folder\n"

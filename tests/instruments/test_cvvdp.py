"""ColorVideoVDP against its own package, called on arrays; its parameters ship with it."""

import importlib.util
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from screentest.metrics.instruments import cvvdp
from tests.instruments.conftest import measure, textured, worsened
from tests.making import src

if importlib.util.find_spec("pycvvdp") is None:
    pytest.skip("pip install 'screentest[reference]'", allow_module_level=True)

# Its sources warn when they are compiled.
pycvvdp = cvvdp.load_package()


def cvvdp_cpu():
    import torch

    return torch.device("cpu")


def by_hand(reference, candidate, rate):
    metric = pycvvdp.cvvdp(display_name="standard_4k", device=cvvdp_cpu(), quiet=True)
    order = "FHWC" if rate else "HWC"
    if not rate:
        reference, candidate = reference[0], candidate[0]
    jod, _ = metric.predict(candidate, reference, dim_order=order, frames_per_second=rate)
    return float(jod)


@pytest.fixture(scope="module")
def pair():
    return textured(8), worsened(textured(8), amount=25)


def test_a_clip_equals_the_package_on_arrays(pair):
    score = measure(*pair, ["cvvdp"], options={"frame_rate": 24})["cvvdp"]
    assert score.value == pytest.approx(by_hand(*pair, 24), abs=1e-4)
    assert 2 < score.value < 9.9
    assert (score.frames, score.unit, score.state) == (8, "JOD", "measured")
    assert score.details["display"] == "standard_4k"
    assert score.details["cvvdp"] in score.impl


def test_which_clip_is_the_reference_matters(pair):
    forward, back = (
        measure(*clips, ["cvvdp"], options={"frame_rate": 24})["cvvdp"].value
        for clips in (pair, pair[::-1])
    )
    assert abs(forward - back) > 1e-3
    assert back == pytest.approx(by_hand(*pair[::-1], 24), abs=1e-4)


def test_a_still_needs_no_frame_rate(pair):
    stills = [clip[:1] for clip in pair]
    assert measure(*stills, ["cvvdp"])["cvvdp"].value == pytest.approx(
        by_hand(*stills, 0), abs=1e-4
    )


def test_a_real_video_equals_the_package_on_ffmpegs_rgb(studio):
    made = ("-c:v", "ffv1", "-pix_fmt", "yuv444p", "-colorspace", "bt709", "-color_range", "tv")
    files = [
        studio(f"{n}.mkv", *src(0.4, size="96x72", rate=20), "-vf", filters, *made)
        for n, filters in enumerate(("format=yuv444p", "format=yuv444p,gblur=1"))
    ]
    arrays = [
        studio.pixels(path, "rgb24", 96, 72, "-vf", "scale=in_color_matrix=bt709") for path in files
    ]
    score = measure(*map(str, files), ["cvvdp"])["cvvdp"]
    assert score.details["frame_rate"] == 20.0
    assert score.value == pytest.approx(by_hand(*arrays, 20), abs=0.02)


def test_a_clip_and_itself_are_identical_at_ten(pair):
    score = measure(pair[0], pair[0], ["cvvdp"], options={"frame_rate": 24})["cvvdp"]
    assert (score.state, score.value) == ("identical", 10.0)


def test_without_a_frame_rate_the_reason_says_so(pair):
    assert "say frame_rate=" in measure(*pair, ["cvvdp"])["cvvdp"].reason


def test_the_frames_lie_in_a_file_that_goes_away(pair, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert measure(*pair, ["cvvdp"], options={"frame_rate": 24})["cvvdp"].state == "measured"
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_reason(pair, monkeypatch):
    class Full:
        def tell(self):
            return 0

        def write(self, _):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    reason = measure(*pair, ["cvvdp"], options={"frame_rate": 24})["cvvdp"].reason
    assert reason == "the frames cannot be kept in a temporary file: No space left on device"


def test_uneven_times_and_wide_primaries_are_reasons(studio):
    wide = studio("wide.mkv", *src(0.2, size="64x48"), "-c:v", "ffv1", "-pix_fmt", "yuv420p",
                  "-color_primaries", "bt2020", "-colorspace", "bt2020nc")  # fmt: skip
    assert "primaries are bt2020" in measure(str(wide), str(wide), ["cvvdp"])["cvvdp"].reason


def test_importing_the_package_leaves_the_module_path_and_the_output_alone():
    code = (
        "import sys; before = list(sys.path)\n"
        "from screentest.metrics.instruments import cvvdp; cvvdp.load_package()\n"
        "assert sys.path == before, sys.path"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                          text=True, check=False, timeout=100)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_loud_package_prints_nothing(pair, capfd):
    measure(*pair, ["cvvdp"], options={"frame_rate": 24})
    assert capfd.readouterr() == ("", "")


def test_noise_in_frames_beyond_the_first_counts(pair):
    reference = pair[0]
    late = reference.copy()
    late[-1] = np.clip(late[-1].astype(int) + 60, 0, 255)
    assert measure(reference, late, ["cvvdp"], options={"frame_rate": 24})["cvvdp"].value < 9.9


@pytest.mark.usefixtures("cuda")
def test_cuda_agrees_with_the_cpu(pair):
    here, there = (
        measure(*pair, ["cvvdp"], options={"frame_rate": 24}, device=device)["cvvdp"]
        for device in ("cpu", "cuda")
    )
    assert there.value == pytest.approx(here.value, abs=1e-3)
    assert there.details["device"] == "cuda"

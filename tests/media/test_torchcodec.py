"""TorchCodec as a second decoder, against the default one on the same files."""

import sys

import numpy as np
import pytest

from screentest.errors import InputError, MissingBackendError
from screentest.media import open_clip
from tests.making import src

# Luma in 8-bit levels. TorchCodec converts with swscale's fast path, which truncates each channel,
# so luma made from its RGB again lies about one level low.
MEAN_TOLERANCE = 1.5
FRAME_TOLERANCE = 1.5


@pytest.fixture
def backend():
    pytest.importorskip("torchcodec.decoders", reason='pip install "screentest[torch]"',
                        exc_type=(ImportError, RuntimeError))  # fmt: skip


def luma_of_rgb(frame):
    return frame.planes[0].astype(float) @ np.array([0.299, 0.587, 0.114])


def luma_of_planes(frame):
    return (frame.planes[0].astype(float) - 16) * 255 / 219


def test_without_the_extra_the_error_names_it(studio, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchcodec", None)
    with pytest.raises(MissingBackendError, match=r"screentest\[torch\]") as caught:
        open_clip(studio.a_mp4(), decoder="torchcodec")
    assert caught.value.code == "missing_backend"


@pytest.mark.usefixtures("backend")
def test_luma_is_near_that_of_the_default_decoder(studio):
    path = studio("smooth.mp4", *src(1, pattern="testsrc"), "-vf", "gblur=sigma=4", "-c:v",
                  "libx264", "-pix_fmt", "yuv420p")  # fmt: skip
    with open_clip(path) as one, open_clip(path, decoder="torchcodec") as two:
        assert two.info.decoder.startswith("torchcodec ")
        assert two.info.luma_domain == "rgb"
        assert two.info.frames == one.info.frames == 30
        for planes, rgb in zip(one.frames(), two.frames(), strict=True):
            assert (planes.index, planes.time_s) == (rgb.index, rgb.time_s)
            expected, seen = luma_of_planes(planes), luma_of_rgb(rgb)
            assert abs(expected.mean() - seen.mean()) < MEAN_TOLERANCE
            assert np.abs(expected - seen).mean() < FRAME_TOLERANCE


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("angle", [90, 180, 270])
def test_rotation_is_applied_the_same_way(studio, angle):
    path = studio(f"rot{angle}.mp4", "-i", studio.a_mp4(), "-c", "copy", "-metadata:s:v",
                  f"rotate={angle}")  # fmt: skip
    with open_clip(path) as one, open_clip(path, decoder="torchcodec") as two:
        planes, rgb = next(one.frames()), next(two.frames())
        assert two.info.width == one.info.width
        assert np.abs(luma_of_planes(planes) - luma_of_rgb(rgb)).mean() < 6


@pytest.mark.usefixtures("backend")
def test_frames_at_are_those_of_the_whole_decode(studio):
    with open_clip(studio.a_mp4(), decoder="torchcodec") as clip:
        everything = [f.planes[0].copy() for f in clip.frames()]
        assert len(everything) == 60
        for frame in clip.frames_at([0, 7, 8, 59]):
            assert np.array_equal(frame.planes[0], everything[frame.index])


@pytest.mark.usefixtures("backend")
def test_an_edit_list_gives_the_same_frames(studio):
    whole = studio("g.mp4", *src(4), "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "60")
    path = studio("el.mp4", "-ss", "0.5", "-i", whole, "-c", "copy")
    with open_clip(path, decoder="torchcodec") as clip:
        assert [f.index for f in clip.frames()] == list(range(105))


@pytest.mark.usefixtures("backend")
def test_damage_is_listed_and_never_a_shorter_pass(studio):
    path = studio("noisy.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v", "noise=amount=200")
    with open_clip(path, decoder="torchcodec") as clip:
        frames = [f.index for f in clip.frames()]
        assert clip.info.frames == 60
        lost = {d.frame for d in clip.damage if d.kind == "decode_error"}
        assert lost == set(range(60)) - set(frames)
        assert lost


@pytest.mark.usefixtures("backend")
def test_bytes_are_decoded_too(studio):
    with open_clip(studio.a_mp4().read_bytes(), decoder="torchcodec") as clip:
        assert next(clip.frames_at([30])).index == 30


@pytest.mark.usefixtures("backend")
def test_images_and_wrong_devices_are_refused(studio):
    image = studio("one.png", *src(0.1), "-frames:v", "1")
    with pytest.raises(InputError, match="decoder="):
        open_clip(image, decoder="torchcodec")
    for device in ("tpu", "cudas", "cuda:x", "mps"):
        with pytest.raises(InputError, match="device=") as caught:
            open_clip(studio.a_mp4(), decoder="torchcodec", device=device)
        assert caught.value.code == "bad_device"


@pytest.mark.usefixtures("backend")
def test_cuda_without_a_device_says_so(studio, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MissingBackendError, match="no CUDA device"):
        open_clip(studio.a_mp4(), decoder="torchcodec", device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(MissingBackendError, match="2 CUDA devices are there") as caught:
        open_clip(studio.a_mp4(), decoder="torchcodec", device="cuda:2")
    assert caught.value.code == "no_cuda"


@pytest.mark.usefixtures("cuda", "backend")
def test_cuda_pictures_are_near_those_of_the_cpu(studio):
    path = studio.a_mp4()
    with (
        open_clip(path, decoder="torchcodec") as one,
        open_clip(path, decoder="torchcodec", device="cuda") as two,
    ):
        assert two.info.decoder.endswith("cuda)")
        assert "cuda_copied" in two.info.flags and "cuda_copied" not in one.info.flags
        assert two.info.frames == one.info.frames == 60
        everything = []
        for here, there in zip(one.frames(), two.frames(), strict=True):
            assert (here.index, here.time_s) == (there.index, there.time_s)
            assert there.planes[0].shape == (240, 320, 3)
            assert abs(luma_of_rgb(here).mean() - luma_of_rgb(there).mean()) < MEAN_TOLERANCE
            assert np.abs(luma_of_rgb(here) - luma_of_rgb(there)).mean() < FRAME_TOLERANCE
            everything.append(there.planes[0].copy())
        for frame in two.frames_at([0, 7, 8, 59]):
            assert np.array_equal(frame.planes[0], everything[frame.index])
        assert two.damage == one.damage == []

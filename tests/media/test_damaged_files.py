"""Mutated files: whatever the bytes, a clip that iterates or one clear error, in bounded time."""

import itertools

import numpy as np
import pytest

from screentest.errors import ScreentestError
from screentest.media import open_clip
from tests.making import src

TINY = src(0.6, size="64x48", rate=20)
FILES = {
    "h264.mp4": ("-c:v", "libx264", "-pix_fmt", "yuv420p"),
    "fast.mp4": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"),
    "mpeg4.mkv": ("-c:v", "mpeg4", "-bf", "2"),
    "vp9.webm": ("-c:v", "libvpx-vp9", "-b:v", "100k", "-deadline", "realtime"),
    "anim.gif": (),
    "still.png": ("-frames:v", "1"),
    "anim.apng": ("-f", "apng"),
    "still.jpg": ("-frames:v", "1"),
    "mpeg2.ts": ("-c:v", "mpeg2video"),
    "mjpeg.avi": ("-c:v", "mjpeg"),
}
MUTATIONS = 24


def mutated(data, seed):
    rng = np.random.default_rng(seed)
    data = bytearray(data)
    kind = seed % 4
    if kind == 0:
        return bytes(data[: rng.integers(0, len(data))])
    if kind == 1:
        start = rng.integers(0, len(data))
        del data[start : start + rng.integers(1, 400)]
        return bytes(data)
    # The headers are a small part of the file; half of the changes are aimed at them.
    reach = len(data) if kind == 2 else min(1200, len(data))
    for _ in range(rng.integers(1, 20)):
        data[rng.integers(0, reach)] = rng.integers(0, 256)
    return bytes(data)


def outcome(data):
    try:
        with open_clip(data, threads=1) as clip:
            # A file of this size that claims a million frames may be left alone.
            for frame in itertools.islice(clip.frames(), 500):
                assert all(plane.size for plane in frame.planes)
            assert all("\n" not in d.detail for d in clip.damage)
            some = [0, clip.info.frames - 1] if clip.info.frames > 1 else [0]
            for frame in clip.frames_at(some):
                assert frame.index in some
            return "read"
    except ScreentestError as error:
        refusal = error
    assert "\n" not in str(refusal)
    return refusal.code


@pytest.mark.parametrize("name", FILES)
def test_a_mutated_file_is_read_or_refused(studio, name):
    data = studio(name, *TINY, *FILES[name]).read_bytes()
    assert outcome(data) == "read"
    outcomes = {outcome(mutated(data, seed)) for seed in range(MUTATIONS)}
    assert "error" not in outcomes


@pytest.mark.parametrize("size", [1, 2, 7, 16, 200, 5000])
def test_random_bytes_are_refused(size):
    data = np.random.default_rng(size).bytes(size)
    assert outcome(data) != "read"


@pytest.mark.parametrize("name", ["fast.mp4", "mpeg4.mkv", "anim.gif", "still.png", "mjpeg.avi"])
def test_every_cut_shows(studio, name):
    """Nothing passes for the whole file: it is refused, shorter by a named damage, or damaged."""
    data = studio(name, *TINY, *FILES[name]).read_bytes()
    for share in np.linspace(0.02, 0.98, 13):
        cut = data[: int(len(data) * share)]
        try:
            with open_clip(cut, threads=1) as clip:
                for _ in clip.frames():
                    pass
                assert clip.damage, share
        except ScreentestError:
            pass

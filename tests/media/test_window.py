"""A part of every picture, against the decoded planes themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.errors import InputError
from screentest.media import open_clip
from screentest.media.window import WindowClip
from tests.evaluations.making import moving, write_clip

FORMATS = ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "nv12", "bgr0", "gray"]


def clip_of(tmp_path: Path, pix_fmt: str) -> Path:
    codec = "rawvideo" if pix_fmt == "nv12" else "ffv1"
    return write_clip(tmp_path / "a.mkv", moving(3, (32, 24)), codec=codec, pix_fmt=pix_fmt)


@pytest.mark.parametrize("pix_fmt", FORMATS)
@pytest.mark.parametrize("window", [(4, 2, 16, 12), (0, 0, 32, 24), (6, 10, 9, 7)])
def test_on_the_chroma_grid_the_planes_are_the_parts_of_the_planes(
    tmp_path: Path, pix_fmt: str, window: tuple[int, int, int, int]
) -> None:
    x, y, width, height = window
    with open_clip(clip_of(tmp_path, pix_fmt)) as clip:
        whole = [frame.planes for frame in clip.frames()]
        part = WindowClip(clip, window)
        assert (part.info.width, part.info.height) == (width, height)
        assert (part.format.width, part.format.height) == (width, height)
        assert part.info.conversion == clip.info.conversion
        frames = list(part.frames())
    assert [frame.index for frame in frames] == [0, 1, 2]
    for planes, frame in zip(whole, frames, strict=True):
        luma = planes[0]
        assert np.array_equal(frame.planes[0], luma[y : y + height, x : x + width])
        for full, cut in zip(planes[1:], frame.planes[1:], strict=True):
            step_y, step_x = luma.shape[0] // full.shape[0], luma.shape[1] // full.shape[1]
            # A sample of chroma for every pixel of luma, the last pair half used where odd.
            expected = np.repeat(np.repeat(full, step_y, 0), step_x, 1)
            shown = np.repeat(np.repeat(cut, step_y, 0), step_x, 1)[:height, :width]
            assert np.array_equal(shown, expected[y : y + height, x : x + width])


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv422p", "yuv420p10le", "nv12"])
@pytest.mark.parametrize("window", [(5, 3, 16, 12), (1, 0, 31, 24), (3, 2, 7, 9)])
def test_off_the_grid_chroma_is_repeated_so_that_every_pixel_keeps_its_colour(
    tmp_path: Path, pix_fmt: str, window: tuple[int, int, int, int]
) -> None:
    x, y, width, height = window
    with open_clip(clip_of(tmp_path, pix_fmt)) as clip:
        whole = [frame.planes for frame in clip.frames()]
        part = WindowClip(clip, window)
        assert part.info.conversion == "chroma repeated to 4:4:4"
        frames = list(part.frames_at([0, 2]))
    for planes, frame in zip((whole[0], whole[2]), frames, strict=True):
        luma = planes[0]
        assert np.array_equal(frame.planes[0], luma[y : y + height, x : x + width])
        for full, cut in zip(planes[1:], frame.planes[1:], strict=True):
            step_y, step_x = luma.shape[0] // full.shape[0], luma.shape[1] // full.shape[1]
            expected = np.repeat(np.repeat(full, step_y, 0), step_x, 1)
            assert np.array_equal(cut, expected[y : y + height, x : x + width])


@pytest.mark.parametrize("window", [(4, 2, 16, 12), (5, 3, 16, 12)])
def test_the_kernels_see_the_colours_of_the_whole_picture(
    tmp_path: Path, window: tuple[int, int, int, int]
) -> None:
    from screentest._native import rgb8

    x, y, width, height = window
    with open_clip(clip_of(tmp_path, "yuv420p")) as clip:
        first = next(iter(clip.frames()))
        whole = rgb8(clip.format, first.planes)
        part = WindowClip(clip, window)
        seen = rgb8(part.format, next(iter(part.frames())).planes)
    assert np.array_equal(seen, whole[y : y + height, x : x + width])


@pytest.mark.parametrize(
    "window", [(-1, 0, 8, 8), (0, 0, 0, 8), (25, 0, 8, 8), (0, 17, 8, 8), (0, 0, 33, 24)]
)
def test_what_leaves_the_picture_is_refused(
    tmp_path: Path, window: tuple[int, int, int, int]
) -> None:
    with (
        open_clip(clip_of(tmp_path, "yuv420p")) as clip,
        pytest.raises(InputError, match="not a part of a picture of 32x24"),
    ):
        WindowClip(clip, window)


def test_a_clip_of_arrays_is_cut_by_its_owner() -> None:
    with open_clip(moving(2)) as clip, pytest.raises(InputError, match="opened from a file"):
        WindowClip(clip, (0, 0, 8, 8))

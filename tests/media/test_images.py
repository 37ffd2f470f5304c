"""Still images, one or a folder of them."""

import shutil

import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.media import open_clip, probe
from screentest.media.images import natural_order
from tests.making import src


@pytest.fixture
def folder(studio, tmp_path):
    """Twelve PNG frames named without leading zeros."""
    studio.run(*src(0.4, size="64x48"), "-start_number", "1", tmp_path / "frame%d.png")
    return tmp_path


def test_a_folder_is_read_by_number_not_by_letter(studio, folder):
    with open_clip(folder) as clip:
        info = clip.info
        assert (info.kind, info.frames, info.width, info.height) == ("images", 12, 64, 48)
        assert "no_timestamps" in info.flags
        seen = [f.planes[0] for f in clip.frames()]
        assert clip.damage == []
    for number, picture in enumerate(seen, 1):
        path = folder / f"frame{number}.png"
        assert np.array_equal(picture, studio.pixels(path, "rgb24", 64, 48)[0])


def test_a_stated_rate_gives_a_folder_its_times(folder):
    with open_clip(folder, frame_rate=24) as clip:
        assert clip.info.duration_s == 0.5
        assert [f.time_s for f in clip.frames_at([0, 6])] == [0.0, 0.25]


def test_other_files_are_skipped_and_listed(folder):
    (folder / "notes.txt").write_text("no image")
    (folder / "more").mkdir()
    (folder / "movie.png").write_text("not what its name says")
    info = probe(folder)
    assert info.frames == 12
    assert info.skipped_files == ("more", "movie.png", "notes.txt")
    assert "skipped_files" in info.flags


@pytest.mark.parametrize(("magic", "channels"), [(b"PF", 3), (b"Pf", 1)])
def test_rows_stored_from_the_bottom_up_are_read_in_place(tmp_path, magic, channels):
    picture = np.random.default_rng(0).random((6, 8, channels), np.float32)
    path = tmp_path / "picture.pfm"
    path.write_bytes(magic + b"\n8 6\n-1.0\n" + picture[::-1].tobytes())
    with open_clip(path) as clip:
        planes = next(clip.frames()).planes
        assert clip.info.conversion is None
    assert all(np.array_equal(p, picture[..., i]) for i, p in enumerate(planes))


@pytest.mark.parametrize("kind", ["mjpeg", "ppm", "png"])
def test_pictures_in_a_row_are_not_one_picture(studio, kind):
    path = studio(f"row.{kind}", *src(0.2, size="64x48"), "-f", "image2pipe", "-c:v", kind)
    with pytest.raises(MediaError, match="several pictures in a row"):
        open_clip(path)


def test_a_smaller_preview_behind_a_picture_is_left_alone(studio, tmp_path):
    first = studio("big.jpg", *src(0.1, size="64x48"), "-frames:v", "1")
    preview = studio("small.jpg", *src(0.1, size="32x24"), "-frames:v", "1")
    path = tmp_path / "both.jpg"
    path.write_bytes(first.read_bytes() + preview.read_bytes())
    with open_clip(path) as clip:
        assert (clip.info.frames, clip.info.width, clip.damage) == (1, 64, [])


def test_an_image_of_another_size_is_named(studio, folder):
    studio.run(*src(0.1, size="80x48"), "-frames:v", "1", folder / "frame7.png")
    with pytest.raises(MediaError, match=r"frame7\.png is 80x48") as caught:
        open_clip(folder)
    assert caught.value.code == "mixed_sizes"


def test_grey_among_colour_is_brought_to_one_format(studio, folder):
    studio.run(*src(0.1, size="64x48"), "-vf", "format=gray", "-frames:v", "1",
               folder / "frame7.png")  # fmt: skip
    with open_clip(folder) as clip:
        frames = [f.planes[0] for f in clip.frames()]
    assert {f.shape for f in frames} == {(48, 64, 3)}
    assert (frames[6][..., 0] == frames[6][..., 2]).all()
    assert clip.info.conversion is not None


def test_a_damaged_image_is_listed_and_not_replaced(folder):
    path = folder / "frame5.png"
    path.write_bytes(path.read_bytes()[:60])
    with open_clip(folder) as clip:
        frames = [f.index for f in clip.frames()]
        assert clip.info.frames == 12
        assert frames == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]
        assert [(d.kind, d.frame) for d in clip.damage] == [("decode_error", 4)]
        assert "frame5.png" in clip.damage[0].detail


def test_a_folder_without_images_has_no_frames(tmp_path):
    with pytest.raises(MediaError) as caught:
        open_clip(tmp_path)
    assert caught.value.code == "no_frames"


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp", "tiff", "webp", "ppm", "pgm"])
def test_a_single_image_is_one_frame_without_a_time(studio, suffix):
    path = studio(f"single.{suffix}", *src(0.1, size="64x48"), "-frames:v", "1")
    for source in (path, path.read_bytes()):
        with open_clip(source) as clip:
            (frame,) = clip.frames()
            assert (clip.info.kind, clip.info.frames) == ("image", 1)
            assert frame.time_s is None
            assert frame.planes[0].shape[:2] == (48, 64)
            assert clip.damage == []


@pytest.mark.parametrize(("orientation", "degrees"), [(1, 0), (3, 180), (6, 90), (8, 270)], ids=str)
def test_an_exif_orientation_is_applied(tmp_path, orientation, degrees):
    image_module = pytest.importorskip("PIL.Image", reason="pip install pillow")
    picture = np.zeros((48, 64, 3), np.uint8)
    picture[:16, :16] = 255
    exif = image_module.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "turned.jpg"
    image_module.fromarray(picture).save(path, exif=exif, quality=95)
    with open_clip(path) as clip:
        luma = next(clip.frames()).planes[0]
        assert clip.info.rotation_degrees == degrees
    expected = np.rot90(picture[..., 0], -degrees // 90)
    assert luma.shape[:2] == expected.shape
    assert np.abs(luma.astype(int) - expected).mean() < 5


@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_a_cut_image_is_damaged_or_refused(studio, suffix):
    path = studio(f"whole.{suffix}", *src(0.1, size="320x240"), "-frames:v", "1")
    cut = studio.part(f"cut.{suffix}", path, 0.6)
    try:
        with open_clip(cut) as clip:
            frames = list(clip.frames())
            assert [d.kind for d in clip.damage] == ["truncated"]
            assert all(f.corrupt for f in frames)
    except MediaError as error:
        refusal = error.code
    else:
        refusal = "undecodable"
    assert refusal == "undecodable"


def test_jpeg_is_full_range_by_its_tag_or_name(studio):
    path = studio("single.jpg", *src(0.1, size="64x48"), "-frames:v", "1")
    assert probe(path).colour.range == "full"


def test_sixteen_bit_grey_png_keeps_its_bits(studio):
    path = studio("grey16.png", "-f", "lavfi", "-i", "color=s=1024x8:d=0.1", "-vf",
                  "format=gray16be,geq=lum='X*64'", "-frames:v", "1")  # fmt: skip
    with open_clip(path) as clip:
        picture = next(clip.frames()).planes[0]
        assert picture.dtype == np.uint16
        assert len(np.unique(picture)) == 1024


@pytest.mark.parametrize("name", ["%d.png", "a%03d.png", "x:y.png", "[1].png"])
def test_an_image_may_have_any_name(studio, tmp_path, name):
    made = studio("single.png", *src(0.1, size="64x48"), "-frames:v", "1")
    shutil.copy(made, tmp_path / name)
    assert probe(tmp_path / name).frames == 1
    assert probe(tmp_path).frames == 1


def test_natural_order_compares_numbers_by_value():
    names = ["a10b2", "a9", "a10b10", "b1", "A2", "a010b2"]
    assert sorted(names, key=natural_order) == ["A2", "a9", "a010b2", "a10b2", "a10b10", "b1"]


def test_array_arguments_do_not_fit_a_folder(folder):
    with pytest.raises(InputError, match="layout="):
        open_clip(folder, layout="HWC")

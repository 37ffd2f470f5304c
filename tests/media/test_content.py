"""What a source is by its content: bytes and how they are read, and no name."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.media import open_clip
from screentest.media.content import Content, content_of_clip, content_of_file
from screentest.media.video import decoder_name


def same(a: Content, b: Content) -> bool:
    return (a.digest, a.reading) == (b.digest, b.reading)


def of_array(array: Any, **options: Any) -> Content:
    with open_clip(array, **options) as clip:
        return content_of_clip(clip)


class TestFiles:
    def test_a_file_is_known_by_its_bytes_and_bears_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "a.mp4"
        path.write_bytes(b"film" * 1000)
        content = content_of_file(path, {})
        expected = hashlib.blake2b(b"film" * 1000, digest_size=32).hexdigest()
        assert content.digest == f"blake2b-256:{expected}"
        assert content.source == str(path)
        assert decoder_name() in content.reading
        copy = tmp_path / "other.mp4"
        shutil.copy(path, copy)
        assert same(content_of_file(str(copy), {}), content)

    def test_another_ending_may_be_read_by_another_demuxer(self, tmp_path: Path) -> None:
        for name in ("a.h264", "a.bin"):
            (tmp_path / name).write_bytes(b"film")
        a, b = (content_of_file(tmp_path / name, {}) for name in ("a.h264", "a.bin"))
        assert a.digest == b.digest
        assert a.reading != b.reading

    def test_bytes_and_file_objects_are_one_content(self) -> None:
        data = os.urandom(3 << 20)
        file = io.BytesIO(data)
        file.seek(100)
        a, b = content_of_file(data, {}), content_of_file(file, {})
        assert same(a, b)
        assert (a.source, b.source) == ("<bytes>", "<file object>")
        assert a.digest.endswith(hashlib.blake2b(data, digest_size=32).hexdigest())

    def test_what_changes_no_sample_is_no_part_of_it(self) -> None:
        plain = content_of_file(b"film", {})
        for options in ({"threads": 8}, {"decoder": "pyav"}, {"device": "cpu"}, {"alpha": None}):
            assert same(content_of_file(b"film", options), plain)
        assert same(
            content_of_file(b"film", {"frame_rate": 24, "alpha": [0, 0, 1]}),
            content_of_file(b"film", {"alpha": (0.0, 0.0, 1.0), "frame_rate": 24.0}),
        )

    def test_a_colour_counts_to_its_last_digit_whatever_holds_it(self) -> None:
        colour = (0.0, 1 / 3, 2 / 3)
        held, near = np.array(colour), np.array(colour) + 1e-12
        a, b, c = (content_of_file(b"film", {"alpha": one}) for one in (colour, held, near))
        assert same(a, b)
        assert not same(b, c)

    def test_an_option_that_is_no_text_still_has_a_key(self) -> None:
        with pytest.raises(InputError, match="expected one of"):
            open_clip(b"film", decoder="\udcff")
        assert not same(
            content_of_file(b"film", {"decoder": "\udcff"}), content_of_file(b"film", {})
        )

    @pytest.mark.parametrize(
        "options", [{"frame_rate": 24}, {"alpha": "drop"}, {"alpha": (0, 0, 0)}, {"layout": "HW"}]
    )
    def test_what_changes_samples_or_times_is(self, options: dict[str, Any]) -> None:
        assert not same(content_of_file(b"film", options), content_of_file(b"film", {}))

    def test_a_missing_file_and_a_pipe_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            content_of_file(tmp_path / "none.mp4", {})
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(MediaError, match="not a regular file"):
            content_of_file(tmp_path / "pipe", {})

    def test_a_name_that_is_no_text_is_made_printable(self, tmp_path: Path) -> None:
        path = os.fsencode(tmp_path) + b"/\xff.mp4"
        Path(os.fsdecode(path)).write_bytes(b"film")
        assert content_of_file(path.decode("utf-8", "surrogateescape"), {}).source.endswith(
            "\\udcff.mp4"
        )

    def test_it_says_whether_the_file_changed_meanwhile(self, tmp_path: Path) -> None:
        path = tmp_path / "a.mp4"
        path.write_bytes(b"film")
        content = content_of_file(path, {})
        assert content.unchanged
        os.utime(path, ns=(0, 0))
        assert not content.unchanged
        path.unlink()
        assert not content.unchanged


class TestFolders:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        place = tmp_path / "frames"
        place.mkdir()
        for name in ("1.png", "2.png"):
            (place / name).write_bytes(name.encode())
        return place

    def test_a_folder_is_its_files_with_their_names(self, folder: Path, tmp_path: Path) -> None:
        content = content_of_file(folder, {})
        assert content.source == str(folder)
        moved = folder.rename(tmp_path / "moved")
        assert same(content_of_file(moved, {}), content)
        (moved / "2.png").rename(moved / "0.png")
        assert not same(content_of_file(moved, {}), content)

    def test_another_file_or_folder_in_it_makes_another_content(self, folder: Path) -> None:
        """A clip lists what it skips."""
        content = content_of_file(folder, {})
        (folder / "notes.txt").write_text("")
        with_file = content_of_file(folder, {})
        assert not same(with_file, content)
        (folder / "sub").mkdir()
        assert not same(content_of_file(folder, {}), with_file)

    def test_a_change_to_a_file_in_it_is_seen(self, folder: Path) -> None:
        content = content_of_file(folder, {})
        (folder / "1.png").write_bytes(b"other")
        assert not content.unchanged


class TestArrays:
    CLIP = np.random.default_rng(0).integers(0, 256, (3, 8, 10, 3), np.uint8)

    def test_an_array_is_its_samples_however_they_lie(self) -> None:
        content = of_array(self.CLIP)
        strided = np.zeros((3, 8, 20, 3), np.uint8)[:, :, ::2]
        strided[...] = self.CLIP
        assert same(of_array(strided), content)
        assert same(of_array(list(self.CLIP)), content)
        assert content.source == "<ndarray (3, 8, 10, 3)>"
        assert content.unchanged

    def test_another_sample_shape_dtype_or_meaning_is_another_content(self) -> None:
        other = self.CLIP.copy()
        other[2, 7, 9, 2] ^= 1
        floats = (self.CLIP / 255).astype(np.float32)
        contents = [
            of_array(self.CLIP),
            of_array(other),
            of_array(self.CLIP.reshape(3, 10, 8, 3)),
            of_array(self.CLIP[:2]),
            of_array(floats),
            of_array(floats, value_range=(-1, 1)),
            of_array(self.CLIP, frame_rate=24),
            of_array(self.CLIP.astype(np.uint16), bit_depth=8),
            of_array(self.CLIP.astype(np.uint16), bit_depth=10),
        ]
        assert len({(one.digest, one.reading) for one in contents}) == len(contents)

    def test_a_nan_is_a_sample_like_another(self) -> None:
        clip = np.full((2, 8, 10, 3), np.nan, np.float16)
        assert same(of_array(clip), of_array(clip.copy()))

    def test_what_cannot_be_opened_has_no_content(self) -> None:
        with pytest.raises(InputError):
            of_array({"a": 1})

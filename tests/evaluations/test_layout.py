"""Which files are predictions, and where each belongs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from screentest.errors import InputError
from screentest.evaluations.layout import check_glob, find_predictions, matches, place_of

DEFAULT_GLOB = "**/vision.mp4"


@pytest.mark.parametrize(
    ("name", "group", "key", "folder"),
    [
        # The generator's layout: <group>/<key>/<output_index>/vision.*
        ("robots/lift/0/vision.mp4", "robots", "lift", "robots/lift/0"),
        ("robots/lift/1/vision.webm", "robots", "lift", "robots/lift/1"),
        ("a/b/lift/12/vision.mp4", "a/b", "lift", "a/b/lift/12"),
        ("lift/0/vision.mp4", "default", "lift", "lift/0"),
        ("robots/lift/0/action.npy", "robots", "lift", "robots/lift/0"),
        # The same without an output index.
        ("robots/lift/vision.mp4", "robots", "lift", "robots/lift"),
        ("lift/vision.mp4", "default", "lift", "lift"),
        # A key that is a number, at the top level, has no sample directory above it.
        ("0007/vision.mp4", "default", "0007", "0007"),
        ("0007/0/vision.mp4", "default", "0007", "0007/0"),
        # Any other file name: the stem.
        ("robots/lift.mp4", "robots", "lift", "robots/lift"),
        ("lift.mp4", "default", "lift", "lift"),
        ("a/b/lift.v2.mp4", "a/b", "lift.v2", "a/b/lift.v2"),
        ("vision.mp4", "default", "vision", "vision"),
        ("robots/lift/0/visions.mp4", "robots/lift/0", "visions", "robots/lift/0/visions"),
        # Odd characters are part of a name like any other.
        ("gr öße/k e'y%d[1]/0/vision.mp4", "gr öße", "k e'y%d[1]", "gr öße/k e'y%d[1]/0"),
    ],
)
def test_key_group_and_place(name: str, group: str, key: str, folder: str) -> None:
    place = place_of(name)
    assert (place.group, place.key, place.folder) == (group, key, folder)


@pytest.mark.parametrize(
    ("name", "glob", "expected"),
    [
        ("vision.mp4", DEFAULT_GLOB, True),
        ("a/b/c/vision.mp4", DEFAULT_GLOB, True),
        ("a/vision.mp4.tmp", DEFAULT_GLOB, False),
        ("a/b.mp4", "*/*.mp4", True),
        ("a/b/c.mp4", "*/*.mp4", False),
        ("a/b/c.mp4", "a/**/*.mp4", True),
        ("a/c.mp4", "a/**/*.mp4", True),
        ("a/c.mp4", "**", True),
        ("a/C.MP4", "**/*.mp4", False),
        ("a/c3.mp4", "a/c[0-9].mp?", True),
    ],
)
def test_glob(name: str, glob: str, expected: bool) -> None:
    assert matches(name, glob) is expected


@pytest.mark.parametrize("glob", ["", "/etc/*", "../*.mp4", "a/../../b"])
def test_a_glob_that_leaves_the_folder_is_refused(glob: str) -> None:
    with pytest.raises(InputError, match="predictions glob"):
        check_glob(glob)


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def places(root: Path, glob: str = DEFAULT_GLOB, **options: tuple[Path, ...]) -> list[str]:
    return [one.place.folder for one in find_predictions(root, glob, **options)]


def test_predictions_are_sorted_whatever_the_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path, "b/0/vision.mp4", "a/1/vision.mp4", "a/0/vision.mp4", "Z/k/0/vision.mp4")
    expected = ["Z/k/0", "a/0", "a/1", "b/0"]
    assert places(tmp_path) == expected
    listed = os.scandir

    class Reversed:
        def __init__(self, path: Path) -> None:
            with listed(path) as entries:
                self.entries = sorted(entries, key=lambda entry: entry.name, reverse=True)

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self.entries

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(os, "scandir", Reversed)
    assert places(tmp_path) == expected


def test_a_folder_that_matches_is_a_prediction_unless_a_match_lies_inside(tmp_path: Path) -> None:
    (tmp_path / "a" / "0" / "vision.mp4").mkdir(parents=True)
    touch(tmp_path, "b/0/vision.mp4")
    assert places(tmp_path) == ["a/0", "b/0"]
    assert places(touch(tmp_path / "c", "x/y.mp4", "z.mp4"), "**/*") == ["x/y", "z"]


def test_outputs_and_ground_truth_below_the_predictions_are_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "out/b.mp4", "gt/c.mp4")
    assert places(tmp_path, "**/*.mp4") == ["a", "gt/c", "out/b"]
    leave_out = (tmp_path / "out", tmp_path / "gt")
    assert places(tmp_path, "**/*.mp4", leave_out=leave_out) == ["a"]
    assert places(tmp_path, "a.mp4", leave_out=(tmp_path,)) == ["a"]


@pytest.mark.parametrize(
    "names",
    [
        ("g/a.mp4", "g/a.webm"),
        ("g/a/0/vision.mp4", "g/a/0/vision.mkv"),
        ("g/a/0/vision.mp4", "g/a/0.mp4"),
    ],
)
def test_two_files_with_one_place_are_refused_by_name(tmp_path: Path, names: tuple[str]) -> None:
    touch(tmp_path, *names)
    with pytest.raises(InputError) as refused:
        find_predictions(tmp_path, "**/*.*")
    assert refused.value.code == "places_collide"
    for name in names:
        assert str(tmp_path / name) in refused.value.message


def test_nothing_that_matches_is_refused(tmp_path: Path) -> None:
    touch(tmp_path, "a/0/video.mp4")
    with pytest.raises(InputError, match=r"nothing matches '\*\*/vision.mp4'"):
        find_predictions(tmp_path, DEFAULT_GLOB)


def test_a_folder_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        find_predictions(tmp_path / "none", DEFAULT_GLOB)


def test_links_are_followed_but_not_in_a_circle(tmp_path: Path) -> None:
    touch(tmp_path / "real", "k/0/vision.mp4")
    predictions = tmp_path / "p"
    predictions.mkdir()
    (predictions / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "k" / "round").symlink_to(predictions)
    (predictions / "gone.mp4").symlink_to(tmp_path / "nowhere.mp4")
    (predictions / "itself").symlink_to("itself")
    (predictions / "itself.mp4").symlink_to("itself.mp4")
    assert places(predictions, "**/*.mp4") == ["gone", "itself", "linked/k/0"]


def test_a_name_that_is_not_utf_8_is_kept(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/k\xff/0"
    os.makedirs(path)
    with open(path + b"/vision.mp4", "wb"):
        pass
    (one,) = find_predictions(tmp_path, DEFAULT_GLOB)
    assert os.fsencode(one.place.key) == b"k\xff"
    assert one.path.exists()

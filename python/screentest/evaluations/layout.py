"""Which files are predictions, and the key, the group and the place of each.

Two layouts are known. A generator writes ``<group>/<key>/<output_index>/vision.mp4``: the key is
the name of the sample directory, and ``output_index`` is a number. Any other file is
``<group>/<key>.mp4``: the key is the file's stem. The group is what lies between the predictions
folder and the sample, ``default`` where that is nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path, PurePosixPath

from screentest.errors import InputError

__all__ = [
    "DEFAULT_GROUP",
    "Place",
    "Prediction",
    "check_glob",
    "find_predictions",
    "matches",
    "place_of",
]

DEFAULT_GROUP = "default"

# File names that a generator gives to its outputs; the sample is then named by its directory.
_GENERATED = frozenset(("vision", "action"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sample belongs. ``folder`` is its place under the predictions and the outputs."""

    folder: str
    group: str
    key: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """One file (or folder) that the glob matched; ``name`` is its path below the predictions."""

    place: Place
    name: str
    path: Path


def place_of(name: str) -> Place:
    """Place, group and key of a prediction by its path below the predictions folder.

    >>> place_of("robots/lift_03/0/vision.mp4")
    Place(folder='robots/lift_03/0', group='robots', key='lift_03')
    >>> place_of("lift_03/0/vision.mp4").group
    'default'
    >>> place_of("robots/lift_03.mp4")
    Place(folder='robots/lift_03', group='robots', key='lift_03')

    A generated file whose folder is no number has no output index, and that folder is the sample:

    >>> place_of("robots/lift_03/vision.mp4")
    Place(folder='robots/lift_03', group='robots', key='lift_03')
    """
    path = PurePosixPath(name)
    folders = path.parts[:-1]
    if path.stem in _GENERATED and folders:
        indexed = len(folders) > 1 and folders[-1].isascii() and folders[-1].isdigit()
        *above, key = folders[:-1] if indexed else folders
        return Place("/".join(folders), "/".join(above) or DEFAULT_GROUP, key)
    return Place("/".join((*folders, path.stem)), "/".join(folders) or DEFAULT_GROUP, path.stem)


def check_glob(glob: str) -> str:
    """The glob, refused where it leaves the predictions folder or matches nothing."""
    parts = PurePosixPath(glob).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise InputError(
            f"predictions glob {glob!r}: expected a pattern below the predictions folder, "
            "such as '**/vision.mp4'",
            code="bad_glob",
        )
    return glob


def matches(name: str, glob: str) -> bool:
    """Whether a path below the folder matches; ``**`` stands for any number of folders.

    >>> matches("vision.mp4", "**/vision.mp4"), matches("a/b/vision.mp4", "*/vision.mp4")
    (True, False)
    """
    return _match(PurePosixPath(name).parts, PurePosixPath(glob).parts)


def _match(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        if len(pattern) == 1:
            return bool(parts)
        return any(_match(parts[skip:], pattern[1:]) for skip in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _match(parts[1:], pattern[1:])


def find_predictions(root: Path, glob: str, leave_out: tuple[Path, ...] = ()) -> list[Prediction]:
    """Every prediction below ``root``, sorted by its place.

    A folder that matches is a prediction (which cannot be scored) unless a match lies inside it.
    Folders in ``leave_out`` are not entered, so that outputs and ground truth that lie below the
    predictions are not taken for some. Links are followed, but never in a circle.

    Raises:
        FileNotFoundError: there is no such folder.
        InputError: nothing matches, or two files would have one place.
    """
    if not root.is_dir():
        raise FileNotFoundError(2, "no such folder of predictions", str(root))
    barred = {path.resolve() for path in leave_out} - {root.resolve()}
    found: list[str] = []
    _walk(root, "", glob, barred, (), found)
    if not found:
        raise InputError(
            f"{root}: nothing matches {glob!r}; say with --predictions-glob which files are "
            "predictions",
            code="no_predictions",
        )
    predictions = [Prediction(place_of(name), name, root / name) for name in found]
    predictions.sort(key=lambda one: (os.fsencode(one.place.folder), os.fsencode(one.name)))
    for before, after in pairwise(predictions):
        if before.place.folder == after.place.folder:
            raise InputError(
                f"{before.path} and {after.path} would both be scored into "
                f"{before.place.folder}/metrics.json; narrow --predictions-glob to one of them",
                code="places_collide",
            )
    return predictions


def _walk(
    folder: Path,
    name: str,
    glob: str,
    barred: set[Path],
    above: tuple[tuple[int, int], ...],
    found: list[str],
) -> bool:
    """Appends the matches below a folder; whether there was one."""
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above or (barred and folder.resolve() in barred):
        return False
    any_match = False
    for entry in _entries(folder):
        below = f"{name}/{entry.name}" if name else entry.name
        inside = _is_dir(entry) and _walk(
            Path(entry.path), below, glob, barred, (*above, here), found
        )
        if not inside and matches(below, glob) and not _is_barred(entry, barred):
            found.append(below)
            inside = True
        any_match = any_match or inside
    return any_match


def _is_barred(entry: os.DirEntry[str], barred: set[Path]) -> bool:
    return bool(barred) and _is_dir(entry) and Path(entry.path).resolve() in barred


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself; if it matches, opening it will tell.
        return False


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from sorted(entries, key=lambda entry: os.fsencode(entry.name))

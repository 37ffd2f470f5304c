"""Which files a path on the command line stands for."""

from __future__ import annotations

import os
from typing import NamedTuple

from screentest.cli import output
from screentest.errors import InputError

__all__ = ["Found", "inputs", "walk"]


class Found(NamedTuple):
    """Files to open, and files in the folders given that are no media."""

    files: list[str]
    skipped: list[str]


def walk(paths: list[str], *, sequences: bool = False) -> Found:
    """The files behind the paths, in the order given and by name within a folder.

    A file that is named is taken whatever its name; a folder is walked, without hidden files and
    without following links to folders. With ``sequences``, a folder that holds still images is one
    clip instead. Raises ``InputError`` for a folder without media.
    """
    found = Found([], [])
    for path in paths:
        if not os.path.isdir(path):
            found.files.append(path)
            continue
        before = len(found.files)
        _walk_folder(path, sequences, found)
        if len(found.files) == before:
            raise InputError(f"{path}: no video or image file in this folder", code="no_media")
    return found


def _walk_folder(folder: str, sequences: bool, found: Found) -> None:
    from screentest.media.endings import IMAGES, VIDEOS, ending

    for here, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        one_clip = sequences and any(ending(name) in IMAGES for name in names)
        if one_clip:
            found.files.append(here)
        for name in sorted(names):
            path = os.path.join(here, name)
            if name.startswith("."):
                continue
            if ending(name) in VIDEOS or (ending(name) in IMAGES and not one_clip):
                found.files.append(path)
            elif ending(name) not in IMAGES:
                found.skipped.append(path)


def _raise(error: OSError) -> None:
    raise error


def inputs(paths: list[str], *, sequences: bool, done: str, threads: int | None) -> list[str]:
    """The files behind the paths, with notes on stderr about what may surprise: files that are no
    media, stills that are ``done`` one by one, more threads than there are CPUs."""
    from screentest import compute
    from screentest.media.endings import IMAGES, ending

    files, skipped = walk(paths, sequences=sequences)
    if skipped:
        _note_skipped(skipped)
    stills = sum(ending(file) in IMAGES for file in files)
    if stills > 1 and not sequences:
        output.note(f"{stills} stills are {done} one by one; --sequence makes a folder one clip")
    if threads is not None and compute.threads(threads) < threads:
        output.note(f"--threads {threads} is more than the {compute.threads(threads)} usable CPUs")
    return files


def _note_skipped(skipped: list[str]) -> None:
    named = ", ".join(output.shown(path) for path in skipped[:5])
    more = f" and {len(skipped) - 5} more" if len(skipped) > 5 else ""
    count = f"{len(skipped)} file{'s that are' if len(skipped) > 1 else ' that is'}"
    output.note(f"skipped {count} no video or image: {named}{more}")

"""Which clips make up two arms, and which go together.

Folders are paired by the names of their files, without the ending; lists are paired in order.
Nothing is left out without a word.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from screentest.errors import InputError
from screentest.gates.prompts import some
from screentest.media.endings import IMAGES, VIDEOS, ending

__all__ = ["Arms", "find_arms", "prompts_for", "shown"]


class Arms(NamedTuple):
    """The clips of two arms, pair by pair.

    Attributes:
        references: what :func:`~screentest.media.open_clip` opens, in the order of the pairs.
        candidates: the same of the candidate arm.
        names: a name for each pair, no two alike.
        notes: what lay beside the clips and was not looked at.
    """

    references: tuple[Any, ...]
    candidates: tuple[Any, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def find_arms(reference: Any, candidate: Any) -> Arms:
    """The clips of two folders, or of two lists of clips.

    A folder's clips are its video and image files, and its folders of images, sorted by name with
    numbers by value. A list of one folder is that folder.

    Raises:
        FileNotFoundError: a file or folder is not there.
        InputError: a name stands on one side alone, or twice in a folder; the lists are not equally
            long; a folder holds no clip; both arms are the same files; or a folder is to be paired
            with a list.
    """
    sides = [_listed(what, given) for what, given in _named(reference, candidate)]
    folders = [_only_folder(side) for side in sides]
    if None not in folders:
        arms = _of_folders(*(str(folder) for folder in folders))
    elif folders != [None, None]:
        folder = next(folder for folder in folders if folder is not None)
        count = len(sides[folders[0] is not None])
        raise InputError(
            f"{folder} is a folder and the other arm is {count} clip{'s' * (count != 1)}: give two "
            "folders, whose files are paired by name, or two lists of files",
            code="unequal_arms",
        )
    else:
        arms = _of_lists(*sides)
    _refuse_same_files(arms)
    return arms


def prompts_for(names: Sequence[str], given: Any) -> tuple[str, ...]:
    """The prompts of pairs that are called so.

    Args:
        names: of the pairs.
        given: ``None`` for the names themselves, the prompts in the order of the pairs, a mapping
            from each name to its prompt, or the path of a JSON file that holds either.

    Raises:
        InputError: they do not go with the names; the message says which.
        FileNotFoundError: there is no such file.
    """
    if given is None:
        return tuple(names)
    source = "prompts"
    if isinstance(given, str | os.PathLike):
        source = os.fsdecode(given)
        given = _read_json(source)
    if isinstance(given, Mapping):
        missing = [name for name in names if name not in given]
        unknown = [str(name) for name in given if name not in names]
        if missing or unknown:
            said = [f"none for {some(missing)}"] if missing else []
            said += [f"some for {some(unknown)}, which is no clip"] if unknown else []
            raise InputError(
                f"{source}: {', and '.join(said)}; expected one prompt for each clip's name",
                code="bad_prompts",
            )
        return tuple(given[name] for name in names)
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InputError(
            f"{source}: {given!r:.60}: expected a list of prompts, or names with their prompts",
            code="bad_prompts",
        )
    if len(given) != len(names):
        raise InputError(
            f"{source}: {len(given)} prompts for {len(names)} pairs of clips", code="bad_prompts"
        )
    return tuple(given)


def _named(reference: Any, candidate: Any) -> Iterable[tuple[str, Any]]:
    return (("reference", reference), ("candidate", candidate))


def _listed(what: str, given: Any) -> list[Any]:
    if isinstance(given, str | os.PathLike):
        given = [given]
    if not isinstance(given, list | tuple):
        raise InputError(
            f"{what}: a {type(given).__name__}, where a folder or a list of clips was expected",
            code="bad_arm",
        )
    if not given:
        raise InputError(f"{what}: no clip was given", code="bad_arm")
    for each in given:
        if isinstance(each, str | os.PathLike):
            # Said before anything is opened, and with the name.
            os.stat(each)
    return list(given)


def _only_folder(side: list[Any]) -> str | None:
    if len(side) != 1 or not isinstance(side[0], str | os.PathLike):
        return None
    path = os.fsdecode(side[0])
    return path if os.path.isdir(path) else None


def _of_folders(reference: str, candidate: str) -> Arms:
    notes: list[str] = []
    one, other = (_clips_in(folder, notes) for folder in (reference, candidate))
    alone = [
        f"only in {folder}: {some([name for name in mine if name not in theirs])}"
        for folder, mine, theirs in ((reference, one, other), (candidate, other, one))
        if mine.keys() - theirs.keys()
    ]
    if alone:
        raise InputError(
            f"{'; '.join(alone)}: expected the same names in both arms, whatever their endings",
            code="unpaired",
        )
    names = tuple(one)
    return Arms(
        tuple(one[name] for name in names),
        tuple(other[name] for name in names),
        names,
        tuple(notes),
    )


def _clips_in(folder: str, notes: list[str]) -> dict[str, str]:
    """Name without ending -> path, of every clip of a folder."""
    from screentest.media.images import natural_order

    found: dict[str, str] = {}
    skipped = []
    for entry in sorted(os.listdir(folder), key=natural_order):
        path = os.path.join(folder, entry)
        if entry.startswith("."):
            continue
        if os.path.isdir(path):
            is_clip = any(ending(name) in IMAGES for name in os.listdir(path))
            name = entry
        else:
            is_clip = ending(entry) in VIDEOS | IMAGES
            name = os.path.splitext(entry)[0]
        if not is_clip:
            skipped.append(entry)
            continue
        if name in found:
            raise InputError(
                f"{folder}: {os.path.basename(found[name])} and {entry} have one name, so nothing "
                "says which is the clip",
                code="name_twice",
            )
        found[name] = path
    if skipped:
        notes.append(f"{folder}: no clip, and not looked at: {some(skipped)}")
    if not found:
        raise InputError(f"{folder}: no video or image file in this folder", code="no_media")
    return found


def _of_lists(references: list[Any], candidates: list[Any]) -> Arms:
    if len(references) != len(candidates):
        raise InputError(
            f"{len(references)} references and {len(candidates)} candidates: lists are paired in "
            "order, so expected a pair for each prompt",
            code="unequal_arms",
        )
    names = [_name(source, at) for at, source in enumerate(references)]
    if len(set(names)) < len(names):
        names = [f"{at}: {name}" for at, name in enumerate(names)]
    return Arms(tuple(references), tuple(candidates), tuple(names))


def _name(source: Any, at: int) -> str:
    if not isinstance(source, str | os.PathLike):
        return f"clip {at}"
    entry = os.path.basename(os.path.normpath(os.fsdecode(source)))
    return entry if os.path.isdir(source) else os.path.splitext(entry)[0]


def _refuse_same_files(arms: Arms) -> None:
    """A clip against itself passes every gate."""
    for name, one, other in zip(arms.names, arms.references, arms.candidates, strict=True):
        both = (one, other)
        if all(isinstance(source, str | os.PathLike) for source in both) and os.path.samefile(
            *both
        ):
            raise InputError(
                f"{os.fsdecode(one)} is the reference and the candidate of {name!r}: expected the "
                "renders of two arms",
                code="same_file",
            )


def _read_json(source: str) -> Any:
    import msgspec

    with open(source, "rb") as file:
        data = file.read()
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: not JSON: {error}", code="bad_prompts") from None


def shown(source: Any) -> str:
    """What a clip is called in a record."""
    from screentest.reports.canonical import printable
    from screentest.side_by_side import name_of

    return printable(name_of(source))

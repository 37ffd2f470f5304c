"""A folder of facts by what they are of, so that nothing is measured twice.

A key names everything that a number depends on: the content of the source, how it is read, the
family with its options, and the versions of all of them. An entry is a file of its own, written
whole or not at all, so any number of processes may read and write one folder, and a kill at any
moment leaves nothing that can be mistaken for facts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from screentest.errors import InputError, SchemaError
from screentest.files import remove_leftovers, write_atomically
from screentest.media.content import Content
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.family import Family
from screentest.metrics.stored import SCHEMA, facts_from_bytes, facts_to_bytes

__all__ = ["FactCache"]

Facts = TypeVar("Facts", bound=msgspec.Struct)

_KEY_BYTES = 32


class FactCache:
    """Facts in a folder, which is made if it is not there.

    An entry takes some 100 to 300 bytes a frame and family, 10 to 30 MB for an hour. Nothing is
    ever evicted: the folder may be deleted at any time, whole or in part, and entries of other
    versions are never read again.

    Raises:
        InputError: there is something else of this name, the folder cannot be made, or the name is
            empty.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not os.fspath(folder):
            # What a variable of the shell gives that is not set; the current folder is ".".
            raise InputError("cache='': expected the name of a folder", code="bad_cache")
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cache={os.fspath(folder)!r}: not a folder that facts can be kept in "
                f"({error.strerror or error})",
                code="bad_cache",
            ) from error

    def key(self, content: Content, family: Family[Any], options: Mapping[str, Any]) -> str:
        """The name of the facts that a family gives of a content with these options."""
        said = {
            "facts": SCHEMA,
            "content": content.digest,
            "reading": content.reading,
            "family": family.name,
            "impl": family.impl,
            "options": dict(options),
        }
        text = msgspec.json.encode(said, order="sorted")
        return hashlib.blake2b(text, digest_size=_KEY_BYTES).hexdigest()

    def path(self, key: str) -> Path:
        """Where the facts of a key are."""
        return self.folder / key[:2] / key[2:4] / f"{key}.facts"

    def get(self, key: str, family: Family[Facts], source: str, notes: list[str]) -> Facts | None:
        """The facts of a key as those of ``source``; ``None`` where there are none.

        A file that is damaged, or is not what its name says, is none: ``notes`` says so, and the
        next :meth:`put` replaces it.
        """
        path = self.path(key)
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            notes.append(f"{path}: cannot be read ({error.strerror or error}); measured anew")
            return None
        head = key.encode() + b"\n"
        try:
            if not data.startswith(head):
                raise SchemaError("it is not the entry that its name says")
            facts = facts_from_bytes(data[len(head) :], family.facts)
        except SchemaError as error:
            notes.append(f"{path}: {error.message}; measured anew")
            return None
        return _of(facts, source)

    def put(self, key: str, facts: msgspec.Struct, notes: list[str]) -> None:
        """Keeps the facts under a key. Where they cannot be written, ``notes`` says so."""
        path = self.path(key)
        data = key.encode() + b"\n" + facts_to_bytes(facts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(path.parent)
            write_atomically(path, data)
        except OSError as error:
            notes.append(f"{path}: not kept ({error.strerror or error})")


def _of(facts: Facts, source: str) -> Facts:
    """The facts under the present name of what they were measured of."""
    clip: ClipInfo = getattr(facts, "clip")  # noqa: B009 - every family's facts have one
    if clip.source == source:
        return facts
    damage = tuple(_named(one, clip.source, source) for one in getattr(facts, "damage", ()))
    changed = {"clip": msgspec.structs.replace(clip, source=source), "damage": damage}
    return msgspec.structs.replace(facts, **changed)


def _named(damage: Damage, old: str, new: str) -> Damage:
    """Damage of a still names its file."""
    before, after = f"{os.path.basename(old)}: ", f"{os.path.basename(new)}: "
    if not damage.detail.startswith(before):
        return damage
    return msgspec.structs.replace(damage, detail=after + damage.detail[len(before) :])

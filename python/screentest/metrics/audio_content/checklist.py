"""What was asked of a sound: a closed document of words and of questions about events.

.. code-block:: toml

    name = "kitchen"

    [[items]]
    id = "greeting"
    kind = "speech"
    text = "Good morning, everyone"

    [[items]]
    id = "kettle"
    kind = "audio-event"
    question = "Is a kettle whistling?"  # yes: as it was asked for
    weight = 2
    group = "background"
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from screentest.errors import InputError
from screentest.metrics.audio_content.words import words_of

__all__ = ["SCHEMA", "Checklist", "ChecklistItem", "load_checklist", "parse_checklist"]

SCHEMA = "screentest/audio-checklist@1"


class ChecklistItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that was asked for.

    Attributes:
        id: its name, unique in the checklist.
        kind: ``"speech"`` (``text`` is said) or ``"audio-event"`` (``question`` is answered yes).
        text: the words, as they are spoken: numbers written out.
        question: of the kind that yes or no answers; yes means as it was asked for.
        weight: above 0; counts against those of the other items of its kind.
        group: a label of the author's, which the answer repeats.
    """

    id: str
    kind: Literal["speech", "audio-event"]
    text: str = ""
    question: str = ""
    weight: float = 1.0
    group: str = ""

    @property
    def asked(self) -> str:
        """The words, or the question."""
        return self.text if self.kind == "speech" else self.question


class Checklist(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that was asked of a sound.

    Raises:
        InputError: it contradicts itself (``bad_checklist``); the message names the item.

    >>> kettle = ChecklistItem(id="kettle", kind="audio-event", question="Does a kettle whistle?")
    >>> Checklist(name="kitchen", items=(kettle,)).of_kind("speech")
    ()
    """

    schema: str = SCHEMA
    name: str
    items: tuple[ChecklistItem, ...]

    def __post_init__(self) -> None:
        _check(self)

    @property
    def sha256(self) -> str:
        """Digest of the items: equal for two checklists that ask the same in the same order."""
        items = msgspec.to_builtins(self.items)
        return hashlib.sha256(msgspec.json.encode(items, order="sorted")).hexdigest()

    def of_kind(self, kind: str) -> tuple[ChecklistItem, ...]:
        """The items of this kind, in their order."""
        return tuple(item for item in self.items if item.kind == kind)


def load_checklist(path: str | os.PathLike[str]) -> Checklist:
    """Read a checklist: JSON where the name ends so, else TOML.

    Raises:
        InputError: it is no such document (``bad_checklist``); the message names file and item.
        FileNotFoundError: there is no such file.
    """
    source = os.fspath(path)
    try:
        text = Path(source).read_text("utf-8-sig")
    except UnicodeDecodeError:
        _refuse(source, "not UTF-8 text")
    except IsADirectoryError:
        _refuse(source, "a folder, where a TOML or JSON file was expected")
    try:
        if source.lower().endswith(".json"):
            document = json.loads(text, object_pairs_hook=_once)
        else:
            document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse(source, f"cannot be read: {error}")
    return parse_checklist(document, source)


def parse_checklist(document: Any, source: str = "checklist") -> Checklist:
    """A checklist from its mapping; ``source`` is what messages call it.

    Raises:
        InputError: it is no such document (``bad_checklist``).
    """
    if not isinstance(document, Mapping):
        _refuse(source, f"a {type(document).__name__}, where a table with name and items belongs")
    _known(document, Checklist, source)
    items = document.get("items")
    if isinstance(items, list | tuple):
        for number, item in enumerate(items):
            if isinstance(item, Mapping):
                _known(item, ChecklistItem, f"{source}: {_called(item, number)}")
    try:
        return msgspec.convert(document, Checklist)
    except (msgspec.ValidationError, OverflowError) as error:
        _refuse(source, _plain(str(error), items))


def _check(checklist: Checklist) -> None:
    if checklist.schema != SCHEMA:
        _refuse(None, f"schema is {checklist.schema!r}; this version reads {SCHEMA!r}")
    if not checklist.name.strip():
        _refuse(None, "name is empty; reports quote it")
    if not checklist.items:
        _refuse(None, "it has no items, so nothing was asked for")
    seen: set[str] = set()
    for number, item in enumerate(checklist.items):
        if not item.id.strip():
            _refuse(None, f"item {number + 1} has an empty id")
        if item.id in seen:
            _refuse(None, f"item {item.id!r} is there twice; an id is unique")
        seen.add(item.id)
        if why := _fault(item):
            _refuse(None, f"item {item.id!r}: {why}")


def _fault(item: ChecklistItem) -> str | None:
    if not (math.isfinite(item.weight) and item.weight > 0.0):
        return f"weight is {item.weight:g}; a weight is finite and above 0"
    if item.kind == "speech":
        if item.question:
            return "it has a question; speech is compared with its text"
        if not words_of(item.text):
            return f"text {item.text!r} has no word to listen for"
    else:
        if item.text:
            return "it has a text; an event is asked for with its question"
        if not words_of(item.question):
            return f"question {item.question!r} asks nothing"
    return None


def _known(given: Mapping[Any, Any], struct: type[msgspec.Struct], where: str) -> None:
    known = struct.__struct_fields__
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            _refuse(where, f"unknown key {key!r}; {hint}")


def _called(item: Any, number: int) -> str:
    name = item.get("id") if isinstance(item, Mapping) else None
    return f"item {name!r}" if isinstance(name, str) and name.strip() else f"item {number + 1}"


def _plain(message: str, items: Any) -> str:
    """msgspec's message with the item's name in place of its path."""
    what, _, path = message.removeprefix("checklist: ").partition(" - at `$")
    path = path.rstrip("`")
    if not path.startswith(".items["):
        key = path.lstrip(".")
        return f"{key}: {what}" if key else what
    number, _, rest = path.removeprefix(".items[").partition("]")
    where = _called(items[int(number)], int(number))
    if rest == ".kind" and isinstance(kind := items[int(number)]["kind"], str):
        return f"{where}: kind is {kind!r}; expected 'speech' or 'audio-event'"
    return f"{where}: {rest.lstrip('.')}: {what}" if rest else f"{where}: {what}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {key!r} is there twice")
        found[key] = value
    return found


def _refuse(source: str | None, why: str) -> NoReturn:
    where = "checklist" if source is None else source
    raise InputError(f"{where}: {why}", code="bad_checklist")

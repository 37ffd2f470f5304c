"""Canonical bytes (RFC 8785): equal documents are equal bytes, and one strict way to read them."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, NoReturn, TypeAlias

from screentest.errors import SchemaError

__all__ = [
    "as_bytes",
    "digest",
    "dumps",
    "loads",
    "loads_canonical",
    "one_line",
    "printable",
    "without_newline",
]

LARGEST = 2**53 - 1
"""Beyond it a JSON number is another one in some readers (RFC 7493); a float just as an integer,
since a float of whole value is written as an integer."""

DEEPEST = 64
"""Lists and objects within each other; what this package writes has ten."""


def dumps(document: Any) -> bytes:
    """The RFC 8785 bytes of a JSON document, without a trailing newline.

    Raises:
        SchemaError: JSON cannot carry it: NaN and infinity (``non_finite_number``; an absent number
            is ``None``), numbers beyond 2**53 - 1, lone surrogates, keys that are no text, foreign
            types, more than 64 levels (``not_canonical``). The message names the place.

    >>> dumps({"b": 1.0, "a": None})
    b'{"a":null,"b":1}'
    """
    _check(document)
    return _written(document)


def _written(document: Any) -> bytes:
    import rfc8785

    try:
        return rfc8785.dumps(document)
    except (rfc8785.CanonicalizationError, UnicodeError) as error:
        raise SchemaError(f"not a JSON document: {error}", code="not_canonical") from None


def loads(data: bytes) -> Any:
    """The JSON document in these bytes, if every reader reads the same in them (RFC 7493).

    A number without a fraction may be an ``int`` where a float was written.

    Raises:
        SchemaError: no UTF-8 (``not_utf8``), no JSON, or something behind it (``bad_json``), a key
            that stands twice (``duplicate_key``), NaN, infinity or a number beyond 2**53 - 1
            (``bad_number``), a lone surrogate (``not_canonical``), more than 64 levels
            (``too_deep``), what is no bytes at all (``no_bytes``).

    >>> loads(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        text = as_bytes(data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SchemaError(f"no UTF-8 from byte {error.start} on", code="not_utf8") from None
    try:
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_not_a_number,
        )
    except json.JSONDecodeError as error:
        raise SchemaError(_no_json(text, error), code="bad_json") from None
    except RecursionError:
        _too_deep(None)
    _check(document)
    return document


def _no_json(text: str, error: json.JSONDecodeError) -> str:
    """Where it ends to be JSON, and whether it only lacks its end."""
    at = f"at character {error.pos} of {len(text)}"
    if not text.strip():
        return "empty, where a JSON document was expected"
    if error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip()):
        return f"the JSON breaks off {at}: the document was cut short"
    return f"no JSON {at}: {error.msg[:1].lower()}{error.msg[1:]}"


def loads_canonical(data: bytes) -> Any:
    """The JSON document in these bytes, if they are those of :func:`dumps`.

    Raises:
        SchemaError: as :func:`loads`, or they are not (``not_canonical``).
    """
    document = loads(data)
    if _written(document) != data:
        raise SchemaError(
            "the bytes are not canonical JSON: whitespace, order of keys or the form of a number",
            code="not_canonical",
        )
    return document


def digest(data: bytes) -> str:
    """``sha256:`` and the hexadecimal SHA-256 of a document's bytes: its identity."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


# A place is built link by link and told on failure alone: to write it out for each value would cost
# the length of its keys each time, and whoever wrote the document chose them.
_Place: TypeAlias = "tuple[_Place, str | int] | None"


def _check(value: Any, place: _Place = None, depth: int = 0) -> None:
    """Refuses what canonical JSON cannot carry, by its place."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            _refuse(place, f"{_short(value)} has a lone surrogate, which UTF-8 cannot carry")
    elif isinstance(value, float) and not math.isfinite(value):
        raise SchemaError(
            f"a document cannot hold a non-finite number: {_at(place)}{value}; an absent number is "
            "null",
            code="non_finite_number",
            path=_told(place),
        )
    elif isinstance(value, (int, float)):
        if abs(value) > LARGEST:
            _refuse(place, "a number beyond 2**53 - 1, where readers differ")
    elif not isinstance(value, (dict, list, tuple)):
        _refuse(place, f"a {type(value).__name__} is nothing that JSON has")
    elif depth == DEEPEST:
        _too_deep(place)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                _refuse(place, f"key {_short(key)} is no text")
            _check(key, place, depth + 1)
            _check(item, (place, key), depth + 1)
    else:
        for at, item in enumerate(value):
            _check(item, (place, at), depth + 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise SchemaError(
                    f"key {_short(key)} stands twice in one object", code="duplicate_key"
                )
            seen.add(key)
    return made


def _integer(text: str) -> int:
    # Python refuses to read thousands of digits, in its own words.
    if len(text) > 17 or abs(number := int(text)) > LARGEST:
        _bad_number(text)
    return number


def _float(text: str) -> float:
    number = float(text)
    if not abs(number) <= LARGEST:
        _bad_number(text)
    return number


def _bad_number(text: str) -> NoReturn:
    raise SchemaError(
        f"number {text[:40]} is beyond 2**53 - 1, where readers differ", code="bad_number"
    )


def _not_a_number(text: str) -> NoReturn:
    raise SchemaError(f"{text} is no JSON number; an absent one is null", code="bad_number")


def _too_deep(place: _Place) -> NoReturn:
    raise SchemaError(
        f"{_at(place)}more than {DEEPEST} levels of lists and objects", code="too_deep"
    )


def _refuse(place: _Place, why: str) -> NoReturn:
    raise SchemaError(
        f"not a JSON document: {_at(place)}{why}", code="not_canonical", path=_told(place)
    )


def _told(place: _Place) -> str:
    """``body.prompts[3].values.psnr``, shortened where it is long."""
    parts: list[str] = []
    while place is not None:
        place, part = place
        parts.append(f"[{part}]" if isinstance(part, int) else f".{part[:60]}")
    said = one_line("".join(reversed(parts)).removeprefix("."))
    return said if len(said) <= 200 else f"{said[:99]}...{said[-98:]}"


def _at(place: _Place) -> str:
    return f"{_told(place)}: " if place else ""


def _short(value: Any) -> str:
    """A value as an error shows it: one line of a length that fits, whoever made it."""
    said = ascii(value[:60]) if isinstance(value, str) else type(value).__name__
    return said if len(said) <= 60 else f"{said[:57]}..."


def as_bytes(data: object) -> bytes:
    """What a document was given as.

    Raises:
        SchemaError: as text, or anything else but bytes (``no_bytes``).
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise SchemaError(
        f"expected the bytes of a document, this is a {type(data).__name__}: read its file as "
        "bytes",
        code="no_bytes",
    )


def without_newline(data: bytes) -> bytes:
    """A document without the newline that ends it on standard output, and in a file that standard
    output was sent to."""
    return data.removesuffix(b"\n")


def printable(text: str) -> str:
    """Text that any stream and any document can carry: undecodable bytes as ``\\\\xNN``.

    A file name is bytes; Python shows those that are not UTF-8 as lone surrogates, which neither
    JSON nor a UTF-8 terminal accepts.

    >>> printable("a\\udcff.mp4")
    'a\\\\xff.mp4'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        pieces = text.encode("utf-8", "surrogateescape" if _from_bytes(text) else "replace")
        return pieces.decode("utf-8", "backslashreplace")
    return text


def one_line(text: str) -> str:
    """Text of anybody's making that can be printed on any terminal without moving its cursor.

    >>> one_line("a\\x1b[2J\\nb")
    'a\\\\x1b[2J\\\\nb'
    """
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in printable(text))


def _from_bytes(text: str) -> bool:
    return all(not 0xD800 <= ord(char) <= 0xDFFF or 0xDC80 <= ord(char) <= 0xDCFF for char in text)

"""Canonical bytes (RFC 8785): equal documents are equal bytes."""

from __future__ import annotations

from typing import Any

from screentest.errors import SchemaError

__all__ = ["dumps", "one_line", "printable"]


def dumps(document: Any) -> bytes:
    """The RFC 8785 bytes of a JSON document, without a trailing newline.

    Raises :class:`~screentest.errors.SchemaError` for what JSON cannot carry: NaN and infinity (an
    absent number is ``None``), lone surrogates, integers beyond 2**53, and foreign types.

    >>> dumps({"b": 1.0, "a": None})
    b'{"a":null,"b":1}'
    """
    import rfc8785

    try:
        return rfc8785.dumps(document)
    except rfc8785.FloatDomainError as error:
        raise SchemaError(
            f"a document cannot hold a non-finite number: {error}; an absent number is null",
            code="non_finite_number",
        ) from None
    except (rfc8785.CanonicalizationError, UnicodeError) as error:
        raise SchemaError(f"not a JSON document: {error}", code="not_canonical") from None


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

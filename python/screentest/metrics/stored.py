"""Facts as bytes and back, to the last bit: NaN in arrays, signed zeros, shapes and dtypes."""

from __future__ import annotations

import hashlib
import typing
from typing import Any, TypeVar

import msgspec
import numpy as np

from screentest.errors import SchemaError

__all__ = ["SCHEMA", "facts_from_bytes", "facts_to_bytes"]

SCHEMA = "screentest/facts@1"
"""Changes when facts of the same ``impl`` are written in another way."""

_HEAD = SCHEMA.encode() + b"\n"
_CHECK_BYTES = 32

Facts = TypeVar("Facts", bound=msgspec.Struct)


class _Stored(msgspec.Struct, array_like=True):
    kind: str
    impl: str
    facts: msgspec.Raw


def facts_to_bytes(facts: msgspec.Struct) -> bytes:
    """The facts of any family: a line that says what this is, a checksum, and msgpack.

    Raises:
        TypeError: the facts hold something that is neither plain data nor an array of numbers.
    """
    body = msgspec.msgpack.encode(
        _Stored(
            kind=type(facts).__name__,
            impl=str(getattr(facts, "impl", "")),
            facts=msgspec.Raw(msgspec.msgpack.encode(facts, enc_hook=_plain)),
        )
    )
    return _HEAD + _check(body) + body


def facts_from_bytes(data: bytes, kind: type[Facts]) -> Facts:
    """The facts in bytes that :func:`facts_to_bytes` wrote, equal to what they were in every bit.

    Raises:
        SchemaError: the bytes are cut short, altered, of another version, or facts of another kind.
    """
    start = len(_HEAD) + _CHECK_BYTES
    if not data.startswith(_HEAD):
        raise _refused(f"they do not begin with {SCHEMA!r}")
    body = data[start:]
    if data[len(_HEAD) : start] != _check(body):
        raise _refused("the checksum does not fit: they were cut short or altered")
    try:
        stored = msgspec.msgpack.decode(body, type=_Stored)
        if stored.kind != kind.__name__:
            raise _refused(f"they hold {stored.kind}, not {kind.__name__}")
        return msgspec.msgpack.decode(bytes(stored.facts), type=kind, dec_hook=_typed)
    except (msgspec.DecodeError, ValueError, TypeError, UnicodeError) as error:
        raise _refused(str(error)) from error


def _refused(why: str) -> SchemaError:
    return SchemaError(f"these bytes are no stored facts: {why}", code="bad_facts")


def _check(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK_BYTES).digest()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc":
            raise TypeError(f"an array of dtype {value.dtype} cannot be stored")
        return {"dtype": value.dtype.str, "shape": value.shape, "data": value.tobytes()}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be stored")


def _typed(kind: Any, value: Any) -> Any:
    """An array where the facts have one; its dtype is the one that their annotation names."""
    if (typing.get_origin(kind) or kind) is not np.ndarray:
        raise TypeError(f"{kind} cannot be read back")
    dtype = np.dtype(value["dtype"])
    parts = typing.get_args(kind)
    named = typing.get_args(parts[1]) if len(parts) == 2 else ()
    if named and isinstance(named[0], type) and dtype != np.dtype(named[0]):
        raise ValueError(f"an array of {dtype}, where {np.dtype(named[0])} was expected")
    # A copy, so that what is read back can be written to as what was measured can.
    return np.frombuffer(value["data"], dtype).reshape(value["shape"]).copy()

"""TOML documents, written: Python reads the format and does not write it.

One form for each thing, in the order given, so that equal documents are equal bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from screentest.errors import InputError

__all__ = ["dumps"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """TOML text of nested tables, lists, texts, numbers and booleans.

    A key whose value is ``None`` is left out: the format has no such value.

    Raises:
        InputError: a number is not finite, or a value of a kind that the format does not have.

    >>> print(dumps({"name": "video", "budgets": {"psnr_mean": {"low": 36.0}}}), end="")
    name = "video"
    <BLANKLINE>
    [budgets.psnr_mean]
    low = 36.0
    """
    return "\n".join(_table(document, "")) + "\n"


def _table(table: Mapping[str, Any], path: str) -> Iterator[str]:
    deeper = []
    for key, value in table.items():
        if isinstance(value, Mapping) or _is_tables(value):
            deeper.append((f"{path}{_key(key)}", value))
        elif value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for name, value in deeper:
        if isinstance(value, Mapping):
            # A table that only holds tables needs no line of its own.
            if any(not isinstance(each, Mapping) and not _is_tables(each)
                   for each in value.values()) or not value:  # fmt: skip
                yield ""
                yield f"[{name}]"
            yield from _table(value, f"{name}.")
        else:
            for each in value:
                yield ""
                yield f"[[{name}]]"
                yield from _table(each, f"{name}.")


def _is_tables(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(each, Mapping) for each in value)
    )


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"a number of {value} cannot be written as evidence")
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(each) for each in value)}]"
    raise InputError(f"a {type(value).__name__} cannot be written as TOML")


def _text(text: str) -> str:
    # A file name may hold bytes that are no text.
    plain = text.encode("utf-8", "backslashreplace").decode()
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007F")

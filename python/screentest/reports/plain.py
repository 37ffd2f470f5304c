"""What every record shares: who wrote it, facts without their arrays, data that JSON can carry."""

from __future__ import annotations

import math
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from screentest._native import BUILD_PROFILE, VERSION
from screentest.reports.canonical import printable

if TYPE_CHECKING:
    import msgspec

__all__ = ["family_record", "plain", "tool"]


def tool() -> dict[str, str]:
    """Name, version and build of this package."""
    return {"name": "screentest", "version": VERSION, "build": BUILD_PROFILE}


def plain(value: Any) -> Any:
    """Numbers that JSON has no word for become null, and text that no stream carries is escaped."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return printable(value)
    return value


def family_record(facts: msgspec.Struct) -> dict[str, Any]:
    """What a family found besides the numbers of single frames: those are arrays, in dataclasses.

    The clip, its damage and the gaps have places of their own in a record.
    """
    elsewhere = {"clip", "damage", "unmeasured"}
    return {
        name: value
        for name in facts.__struct_fields__
        if name not in elsewhere and not _holds_arrays(value := getattr(facts, name))
    }


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_holds_arrays(part) for part in value)
    return is_dataclass(value) or (hasattr(value, "dtype") and hasattr(value, "tobytes"))

"""What every record shares: who wrote it, and data that JSON can carry."""

from __future__ import annotations

import math
from typing import Any

from screentest._native import BUILD_PROFILE, VERSION
from screentest.reports.canonical import printable

__all__ = ["plain", "tool"]


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

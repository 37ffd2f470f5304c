"""Columns of numbers, one entry per frame or pair of frames, as facts hold them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

__all__ = ["Series"]


class Series:
    """Base of frozen dataclasses of arrays: equal where every column is, NaN being equal to NaN.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class Heights(Series):
    ...     height: np.ndarray
    >>> Heights(np.array([1, np.nan])) == Heights(np.array([1, np.nan]))
    True
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        columns: Any = fields(self)  # type: ignore[arg-type]
        pairs = [(getattr(self, c.name), getattr(other, c.name)) for c in columns]
        return all(
            a is b if a is None or b is None else np.array_equal(a, b, equal_nan=True)
            for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]

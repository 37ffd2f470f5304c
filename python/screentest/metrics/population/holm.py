"""Holm's step-down adjustment of several p-values; scipy has none."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["holm"]


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p-values by name, each at least as large as given (Holm 1979).

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    adjusted = {}
    least = 0.0
    for at, name in enumerate(sorted(p, key=lambda name: (p[name], name))):
        least = max(least, min(1.0, p[name] * (len(p) - at)))
        adjusted[name] = least
    return {name: adjusted[name] for name in p}

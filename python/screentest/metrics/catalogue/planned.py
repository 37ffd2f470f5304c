"""How a planned metric is written down."""

from __future__ import annotations

from typing import Any

from screentest.metrics.spec import MetricSpec

__all__ = ["planned"]


def planned(name: str, says: str, **fields: Any) -> MetricSpec:
    """A metric without an instrument. Its ``impl`` ends in ``@0``, which no number has."""
    return MetricSpec(name=name, says=says, impl=f"{name}@0", status="planned", **fields)

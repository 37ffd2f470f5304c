"""The metrics that are planned: no family here measures them yet, and no number of them exists.

They stand in the registry so that a name, a unit and a direction mean one thing from the first
number on. A row leaves with the family that measures it.
"""

from __future__ import annotations

from screentest.metrics.catalogue import adherence, population, quality

__all__ = ["PLANNED"]

PLANNED = (
    *quality.PLANNED,
    *adherence.PLANNED,
    *population.PLANNED,
)
"""Every planned metric, in the order of listings."""

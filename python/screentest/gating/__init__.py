"""May a change ship: two arms of renders, measured once and judged under budgets.

:func:`gate` checks the whole request first, decodes each clip once, and gives a :class:`Gating`
with the report.
"""

from __future__ import annotations

from screentest.gating.plan import GatePlan
from screentest.gating.request import gate
from screentest.gating.result import Gating

__all__ = ["GatePlan", "Gating", "gate"]

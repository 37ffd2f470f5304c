"""May a change ship: budgets with provenance, gates over two arms, and their controls.

Facts come from :mod:`screentest.metrics`; a gate is a pure function of them, of a protocol and of a
table of budgets.
"""

from __future__ import annotations

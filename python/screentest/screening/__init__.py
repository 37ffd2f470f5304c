"""Screen clips: measure, judge, and say what, where and how bad.

:func:`screen` reads one source, :func:`screen_many` many files within one compute budget, and
:class:`Screener` takes frames as a generator makes them.
"""

from __future__ import annotations

from screentest.screening.files import screen, screen_many
from screentest.screening.request import Depth
from screentest.screening.result import Screening, ScreeningError
from screentest.screening.screener import Screener

__all__ = ["Depth", "Screener", "Screening", "ScreeningError", "screen", "screen_many"]

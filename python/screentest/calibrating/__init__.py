"""Budgets of one's own, from renders that a person has labelled clean or degraded.

:func:`calibrate` reads folders of renders or sealed reports, places a bound for each statistic, and
keeps a file of budgets with its evidence and the log of what was changed when and why.
"""

from __future__ import annotations

from screentest.calibrating.request import Calibration, CalibrationPlan, calibrate
from screentest.calibrating.sources import Source, find_sources

__all__ = ["Calibration", "CalibrationPlan", "Source", "calibrate", "find_sources"]

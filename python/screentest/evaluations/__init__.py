"""Directories of predictions against ground truth. Nothing here prints.

>>> from screentest.evaluations import evaluate_videos, evaluate_actions
"""

from __future__ import annotations

from screentest.evaluations.actions import evaluate_actions
from screentest.evaluations.evaluation import Counts, Evaluation, Row
from screentest.evaluations.renderers import Rendered, Sample
from screentest.evaluations.videos import evaluate_videos

__all__ = [
    "Counts",
    "Evaluation",
    "Rendered",
    "Row",
    "Sample",
    "evaluate_actions",
    "evaluate_videos",
]

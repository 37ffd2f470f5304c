"""Pages for people: one self-contained HTML file, no request to any network.

Needs the ``report`` extra (jinja2). Charts are drawn here as SVG; pictures are embedded.
"""

from __future__ import annotations

from screentest.reports.html.gate import gate_page
from screentest.reports.html.gate_model import (
    ArmSeries,
    GateEvidence,
    GateFrame,
    PromptEvidence,
)
from screentest.reports.html.model import (
    Comparison,
    EvaluationView,
    Filmstrip,
    FilmstripFrame,
    SampleRow,
    WorstFrame,
)
from screentest.reports.html.page import (
    comparison_page,
    evaluation_page,
    require_report_extra,
)

__all__ = [
    "ArmSeries",
    "Comparison",
    "EvaluationView",
    "Filmstrip",
    "FilmstripFrame",
    "GateEvidence",
    "GateFrame",
    "PromptEvidence",
    "SampleRow",
    "WorstFrame",
    "comparison_page",
    "evaluation_page",
    "gate_page",
    "require_report_extra",
]

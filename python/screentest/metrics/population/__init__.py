"""How two arms of rendered clips differ, over prompts: detail and tone, change over time,
structure, and the distribution of features.

Each prompt gives a pair of clips, the reference's and the candidate's; they are two takes, so no
pixel of one has a partner in the other. A statistic of each clip is divided by that of its
reference, with a floor under both, and the median over prompts is the arm's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.population.facts import (
        ArmClip,
        BenchmarkFacts,
        Interval,
        PopulationFacts,
        Power,
        PromptFacts,
    )
    from screentest.metrics.population.measure import measure_population
    from screentest.metrics.population.names import IMPL, METRICS
    from screentest.metrics.population.significance import require_scipy
    from screentest.metrics.population.verify import inconsistencies

__all__ = [
    "IMPL",
    "METRICS",
    "ArmClip",
    "BenchmarkFacts",
    "Interval",
    "PopulationFacts",
    "Power",
    "PromptFacts",
    "inconsistencies",
    "measure_population",
    "require_scipy",
]

__getattr__, __dir__ = lazily(
    __name__, __all__, ("names", "facts", "significance", "measure", "verify")
)

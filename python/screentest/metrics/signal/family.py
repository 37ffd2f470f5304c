"""The signal family as the engine sees it."""

from __future__ import annotations

from collections.abc import Mapping

from screentest.metrics.family import Begin, Family
from screentest.metrics.signal.accumulator import SignalAccumulator
from screentest.metrics.signal.facts import SignalFacts
from screentest.metrics.signal.names import IMPL

__all__ = ["FAMILY"]

_ATTRIBUTES = {"luma_flicker": "flicker"}
"""Registry names whose fact has another name in the published record of a clip."""

_NAMES = (
    "sharpness",
    "sharpness_p10",
    "hf_ratio",
    "detail_entropy",
    "contrast",
    "saturation",
    "local_contrast",
    "brightness",
    "luma_flicker",
    "jerk_ratio",
    "shimmer",
    "motion_energy",
    "motion_energy_per_s",
    "flat_frames",
)


def _begin(begin: Begin) -> SignalAccumulator:
    return SignalAccumulator(begin.format, threads=begin.threads)


def _values(facts: SignalFacts) -> dict[str, float | None]:
    gaps = _reasons(facts)
    return {
        name: None if name in gaps else getattr(facts, _ATTRIBUTES.get(name, name))
        for name in _NAMES
    }


def _reasons(facts: SignalFacts) -> Mapping[str, str]:
    return {gap.axis: gap.reason for gap in facts.unmeasured}


FAMILY = Family(
    name="signal",
    says="detail, tone, flicker and motion of every frame",
    impl=IMPL,
    facts=SignalFacts,
    begin=_begin,
    values=_values,
    reasons=_reasons,
)

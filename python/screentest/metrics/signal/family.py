"""The signal family as the engine sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from screentest.errors import InputError
from screentest.metrics.family import Begin, Family, why_unmeasured
from screentest.metrics.signal.accumulator import SignalAccumulator
from screentest.metrics.signal.facts import SignalFacts
from screentest.metrics.signal.names import IMPL, METRICS

__all__ = ["FAMILY"]


def _begin(begin: Begin) -> SignalAccumulator:
    features = begin.options["features"]
    return SignalAccumulator(begin.format, features=features, threads=begin.threads)


def _wanted(_frames: int, options: Mapping[str, Any]) -> None:
    if not isinstance(options["features"], bool):
        raise InputError(
            f"features={options['features']!r}: expected True or False", code="bad_features"
        )


def _name_of_fact(metric: str) -> str:
    # The published record of a clip calls it by a shorter name.
    return "flicker" if metric == "luma_flicker" else metric


def _values(facts: SignalFacts) -> dict[str, float | None]:
    gaps = why_unmeasured(facts)
    return {
        spec.name: None if spec.name in gaps else getattr(facts, _name_of_fact(spec.name))
        for spec in METRICS
    }


FAMILY = Family(
    name="signal",
    says="detail, tone, flicker and motion of every frame",
    impl=IMPL,
    facts=SignalFacts,
    begin=_begin,
    wanted=_wanted,
    options={"features": True},
    values=_values,
)

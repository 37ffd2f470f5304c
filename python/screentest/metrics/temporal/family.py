"""The temporal family, as the engine runs it."""

from __future__ import annotations

from screentest.metrics.family import Family
from screentest.metrics.signal.facts import SignalFacts
from screentest.metrics.temporal.accumulator import TemporalAccumulator
from screentest.metrics.temporal.facts import TemporalFacts
from screentest.metrics.temporal.from_series import temporal_facts
from screentest.metrics.temporal.names import IMPL

__all__ = ["FAMILY"]


def _values(facts: TemporalFacts) -> dict[str, float | None]:
    return {
        "flicker_strength": facts.flicker_strength,
        "region_flicker": facts.region_flicker,
        "cadence_strength": None if facts.cadence is None else facts.cadence.explained,
        "still_share": facts.still_share,
    }


def _derive(signal: SignalFacts) -> TemporalFacts:
    return temporal_facts(signal.series, signal.clip, signal.damage)


FAMILY = Family(
    name="temporal",
    says="what brightness and motion do over time: flicker, fades, cuts, cadence",
    impl=IMPL,
    facts=TemporalFacts,
    begin=TemporalAccumulator,
    values=_values,
    derive=_derive,
    derived_from="signal",
)

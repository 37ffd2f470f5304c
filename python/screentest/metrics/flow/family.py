"""The flow family, as the engine feeds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from screentest.metrics.family import Begin, Family
from screentest.metrics.flow import opencv
from screentest.metrics.flow.accumulator import FlowAccumulator, impl, wanted_frames
from screentest.metrics.flow.facts import NAMES, FlowFacts

__all__ = ["FAMILY"]


def _begin(begin: Begin) -> FlowAccumulator:
    return FlowAccumulator(begin.format, frames=begin.frames, threads=begin.threads)


def _wanted(frames: int, _options: Mapping[str, Any]) -> Sequence[int]:
    return wanted_frames(frames)


def _values(facts: FlowFacts) -> dict[str, float | None]:
    return {name: getattr(facts, name) for name in NAMES}


FAMILY: Family[FlowFacts] = Family(
    name="flow",
    says="dense optical flow: how much a clip moves, and what of its change that explains",
    impl=impl(),
    facts=FlowFacts,
    begin=_begin,
    values=_values,
    wanted=_wanted,
    missing=opencv.missing,
)

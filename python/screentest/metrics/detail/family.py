"""The detail family, as the engine feeds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from screentest.metrics.detail.accumulator import DetailAccumulator, check_frames
from screentest.metrics.detail.facts import NAMES, DetailFacts
from screentest.metrics.detail.names import FRAMES, IMPL
from screentest.metrics.family import Begin, Family
from screentest.metrics.sampling import strip

__all__ = ["FAMILY"]


def _begin(begin: Begin) -> DetailAccumulator:
    count = check_frames(begin.options.get("frames", FRAMES))
    return DetailAccumulator(begin.format, frames=begin.frames, count=count, threads=begin.threads)


def _wanted(frames: int, options: Mapping[str, Any]) -> Sequence[int]:
    return strip(frames, check_frames(options.get("frames", FRAMES)))


def _values(facts: DetailFacts) -> dict[str, float | None]:
    return {name: getattr(facts, name) for name in NAMES}


FAMILY: Family[DetailFacts] = Family(
    name="detail",
    says="edges, what lies beside them, and texture",
    impl=IMPL,
    facts=DetailFacts,
    begin=_begin,
    values=_values,
    wanted=_wanted,
    options={"frames": FRAMES},
)

"""Integrity as one of the families that a pass fills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from screentest.errors import InputError
from screentest.metrics.family import Begin, Family
from screentest.metrics.integrity.accumulator import IntegrityAccumulator
from screentest.metrics.integrity.candidates import sampled_frames
from screentest.metrics.integrity.facts import IntegrityFacts
from screentest.metrics.integrity.names import IMPL
from screentest.metrics.integrity.second_look import search_more_pairs

__all__ = ["FAMILY"]

_AXIS_OF = {
    "adjacent_frame_corr": "noise",
    "frame_std_min": "blank",
    "grid_peak_ratio": "grid",
}


def _begin(begin: Begin) -> IntegrityAccumulator:
    return IntegrityAccumulator(
        begin.format,
        frames=begin.frames,
        depth=begin.options["depth"],
        threads=begin.threads,
    )


def _wanted(frames: int, options: Mapping[str, Any]) -> Sequence[int] | None:
    depth = options["depth"]
    if depth not in ("full", "sampled"):
        raise InputError(f'depth={depth!r}: expected "full" or "sampled"', code="bad_depth")
    return sampled_frames(frames) if depth == "sampled" else None


def _values(facts: IntegrityFacts) -> dict[str, float | None]:
    return {name: getattr(facts, name) for name in _AXIS_OF}


def _reasons(facts: IntegrityFacts) -> dict[str, str]:
    told = {gap.axis: gap.reason for gap in facts.unmeasured}
    return {
        name: told.get(_AXIS_OF[name], "not measured")
        for name, value in _values(facts).items()
        if value is None
    }


FAMILY = Family(
    name="integrity",
    says="is this a render at all: correlation of neighbours, contrast, lattice, runs and damage",
    impl=IMPL,
    facts=IntegrityFacts,
    begin=_begin,
    values=_values,
    reasons=_reasons,
    wanted=_wanted,
    options={"depth": "full"},
    look_again=search_more_pairs,
    # A decoder has the CPUs, and of a frame the screen reads one pixel in 49.
    side_by_side=False,
)

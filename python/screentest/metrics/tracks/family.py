"""The tracks family as the engine sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from screentest import _native
from screentest.errors import InputError
from screentest.metrics.family import Begin, Family
from screentest.metrics.tracks.accumulator import TrackAccumulator, window_frames
from screentest.metrics.tracks.facts import TrackFacts
from screentest.metrics.tracks.names import IMPL, METRICS

__all__ = ["FAMILY"]


def _begin(begin: Begin) -> TrackAccumulator:
    return TrackAccumulator(
        begin.format, frames=begin.frames, threads=begin.threads, **begin.options
    )


def _wanted(frames: int, options: Mapping[str, Any]) -> list[int]:
    windows, trajectories = options["windows"], options["trajectories"]
    if type(windows) is not int or windows < 1:
        raise InputError(
            f"windows={windows!r}: give a whole number of at least 1", code="bad_windows"
        )
    if not isinstance(trajectories, bool):
        raise InputError(
            f"trajectories={trajectories!r}: expected True or False", code="bad_trajectories"
        )
    return window_frames(frames, windows)


def _values(facts: TrackFacts) -> dict[str, float | None]:
    return {spec.name: getattr(facts, spec.name) for spec in METRICS if not spec.paired}


FAMILY = Family(
    name="tracks",
    says="whether things hold their shape as they move",
    impl=IMPL,
    facts=TrackFacts,
    begin=_begin,
    wanted=_wanted,
    options={"windows": _native.TRACK_WINDOWS, "trajectories": False},
    values=_values,
)

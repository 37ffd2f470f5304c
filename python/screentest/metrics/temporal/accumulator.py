"""Temporal facts of frames as they come: a light pass of the signal family, read over time."""

from __future__ import annotations

from collections.abc import Sequence

from screentest.media.clip import Frame
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.family import Begin
from screentest.metrics.signal import SignalAccumulator
from screentest.metrics.temporal.facts import TemporalFacts
from screentest.metrics.temporal.from_series import temporal_facts

__all__ = ["TemporalAccumulator"]


class TemporalAccumulator:
    """Takes every frame in display order; :meth:`finish` gives the facts.

    The luma series come from the signal family without its features: three luma planes of memory
    and about 200 bytes a frame.
    """

    def __init__(self, begin: Begin) -> None:
        self._signal = SignalAccumulator(begin.format, features=False, threads=begin.threads)

    def push_many(self, frames: Sequence[Frame], /) -> None:
        """Takes the next frames; how they are cut into batches changes no bit of the facts."""
        self._signal.push_many(frames)

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> TemporalFacts:
        """The facts of the frames taken."""
        return temporal_facts(self._signal.finish(clip, damage).series, clip, damage)

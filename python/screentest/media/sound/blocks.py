"""Frames laid on the clock and cut into blocks of one second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from screentest.errors import MediaError
from screentest.media.clip import Array
from screentest.media.packets import count_of
from screentest.media.sound import RATES_HZ
from screentest.media.sound.decode import SoundLog, time_of
from screentest.media.sound.samples import Storage, out_of_range, range_error
from screentest.media.sound.timeline import Timeline
from screentest.media.streams import fraction

if TYPE_CHECKING:
    from av import AudioFrame

__all__ = ["Assembly", "SoundPlan"]

# Seventh-order ambisonics. A header that claims more was misread.
_MOST_CHANNELS = 64
# Damaged packets decode as another kind of sound, or as one a million times too loud. A second of
# it is no accident any more.
_ODD_S = 1.0
# Codecs that give out floats as they were put in. Others compute them, from damaged bits too.
_EXACT = ("pcm_", "wavpack")


class Shape(NamedTuple):
    """What one sound cannot change on the way."""

    rate: int
    channels: int
    format: str

    @classmethod
    def of(cls, frame: AudioFrame) -> Self:
        return cls(frame.sample_rate, frame.layout.nb_channels, frame.format.name)

    def fits(self, frame: AudioFrame) -> bool:
        return self == (frame.sample_rate, frame.layout.nb_channels, frame.format.name)

    def check(self, name: str) -> None:
        """Refuse a rate or a number of channels that only a misread header can say."""
        for value, what, low, high in (
            (self.rate, "samples per second", *RATES_HZ),
            (self.channels, "channels", 1, _MOST_CHANNELS),
        ):
            if not low <= value <= high:
                raise MediaError(
                    f"{name}: its header says {value} {what}; expected {low} to {high}: check that "
                    "the file is what its name says",
                    code="bad_header",
                    source=name,
                )

    def __str__(self) -> str:
        return f"{self.rate} Hz, {count_of(self.channels, 'channel')}, {self.format}"


@dataclass(frozen=True, slots=True)
class SoundPlan:
    """How the frames of one stream are read; ``base`` is the seconds of a tick of their stamps."""

    source: str
    shape: Shape
    storage: Storage
    base: Fraction | None
    exact: bool

    @classmethod
    def of(cls, first: AudioFrame, codec: str, source: str) -> Self:
        """By the first frame.

        Raises:
            MediaError: its header cannot be right.
        """
        shape = Shape.of(first)
        shape.check(source)
        base = fraction(first.time_base)
        return cls(source, shape, Storage.of(first), base, codec.startswith(_EXACT))


class Assembly:
    """One reading: the frames of a file on their clock, as blocks of one second."""

    def __init__(self, plan: SoundPlan, log: SoundLog) -> None:
        self._plan = plan
        self._log = log
        self._timeline = Timeline(plan.shape.rate, plan.shape.channels, plan.base)
        self._floats = plan.storage.dtype.kind == "f"
        # Where in the block each frame lies, and the samples before the block.
        self._pieces: list[tuple[int, int]] = []
        self._given = 0
        self._odd_s = 0.0

    def blocks(self, frames: Iterator[AudioFrame]) -> Iterator[Array]:
        """The blocks; what went wrong goes to the log, which is finished with the last one."""
        shape, storage, timeline = self._plan.shape, self._plan.storage, self._timeline
        rate = shape.rate
        block, filled = np.empty((rate, shape.channels), dtype=np.float32), 0
        for frame in frames:
            if not shape.fits(frame):
                self._leave_out(frame)
                continue
            missing, damage = timeline.place(frame.pts, frame.samples)
            if damage is not None:
                self._log.add(damage)
            while missing > 0:
                take = min(missing, rate - filled)
                block[filled : filled + take] = 0
                missing, filled = missing - take, filled + take
                if filled == rate:
                    yield self._settled(block)
                    block, filled = np.empty_like(block), 0
            views = storage.views(frame)
            start = -missing
            while start < frame.samples:
                take = min(frame.samples - start, rate - filled)
                storage.write(block[filled : filled + take], views, start, start + take)
                self._pieces.append((filled, filled + take))
                start, filled = start + take, filled + take
                if filled == rate:
                    yield self._settled(block)
                    block, filled = np.empty_like(block), 0
        last = self._settled(block[:filled]) if filled else None
        self._log.samples = timeline.given
        self._log.finished = True
        if last is not None:
            yield last

    def _settled(self, block: Array) -> Array:
        """The block, with what cannot be sound refused or silenced."""
        pieces, self._pieces = self._pieces, []
        largest = out_of_range(block) if self._floats else None
        if largest is not None:
            if self._plan.exact:
                raise range_error(self._plan.source, largest)
            for start, stop in pieces:
                self._silence(block[start:stop], start)
            self._log.close_run()
        self._given += len(block)
        return block

    def _silence(self, part: Array, start: int) -> None:
        largest = out_of_range(part)
        if largest is None:
            self._log.close_run()
            return
        self._odd_s += len(part) / self._plan.shape.rate
        if self._odd_s > _ODD_S:
            raise range_error(self._plan.source, largest)
        time_s = self._timeline.time_s(self._given + start)
        fate = f"of samples up to {largest:g} left out; silence stands in for it"
        self._log.count("corrupt_frame", "frame", fate, time_s)
        part[...] = 0

    def _leave_out(self, frame: AudioFrame) -> None:
        began, now = self._plan.shape, Shape.of(frame)
        self._odd_s += frame.samples / max(1, frame.sample_rate)
        if self._odd_s > _ODD_S:
            raise MediaError(
                f"{self._plan.source}: the sound changes from {began} to {now} after "
                f"{self._timeline.given / began.rate:.3f} s; expected one rate and one number of "
                "channels: split the file where it changes",
                code="sound_changes",
                source=self._plan.source,
            )
        self._log.count("corrupt_frame", "frame", f"of {now} left out", time_of(frame))

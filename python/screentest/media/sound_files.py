"""A sound in a container: decoded from the start for each reading, one second at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import numpy as np

from screentest.errors import InputError, MediaError
from screentest.media.clip import Array
from screentest.media.extent import missing_end
from screentest.media.info import Damage, SoundInfo
from screentest.media.sound import RATES_HZ, Sound
from screentest.media.sound_decode import SoundLog, decoded, stored_samples
from screentest.media.sound_layouts import UNKNOWN, named_layout, placing_of
from screentest.media.sound_samples import check_magnitude, convert_into
from screentest.media.sound_streams import choose_audio
from screentest.media.sound_timeline import Timeline
from screentest.media.source import MediaSource, sniff
from screentest.media.streams import declared_duration, fraction

if TYPE_CHECKING:
    from av import AudioFrame

__all__ = ["FileSound", "open_file_sound"]

# Seventh-order ambisonics. A header that claims more was misread.
_MOST_CHANNELS = 64

Frames = Generator["AudioFrame", None, None]


class FileSound(Sound):
    """The sound of a file. Opening it decodes one frame, with which the first reading goes on."""

    def __init__(
        self, source: MediaSource, *, stream: int | str | None, channel_layout: str | None
    ) -> None:
        self._source = source
        self._format_name = sniff(source.head())
        container = source.open(self._format_name)
        try:
            index, chosen = choose_audio(container, source.name, stream)
        except BaseException:
            container.close()
            raise
        self._index = index
        base = fraction(chosen.time_base)
        codec = chosen.codec_context.name
        duration_s = declared_duration(chosen, base)
        language, title = chosen.language, chosen.metadata.get("title")
        streams = len(container.streams.audio)
        container_name = container.format.name.split(",")[0]
        self._log = SoundLog()
        frames = decoded(container, chosen, self._log)
        first = self._first(frames)
        self._primed: tuple[AudioFrame, Frames, SoundLog] | None = (first, frames, self._log)
        self._rate, self._channels = first.sample_rate, first.layout.nb_channels
        self._format = first.format.name
        self._refuse_absurd()
        placing = placing_of(first.layout)
        if channel_layout is not None:
            said = named_layout(channel_layout, self._channels)
            if placing not in (UNKNOWN, said):
                raise InputError(
                    f"{source.name}: channel_layout={channel_layout!r} contradicts the file, which "
                    f"says {placing[0]}; leave it out",
                    code="bad_channel_layout",
                )
            placing = said
        start = first.pts
        first_base = fraction(first.time_base)
        with source.reader() as reader:
            lacking = missing_end(reader)
        self._static = [] if lacking is None else [Damage(kind="truncated", detail=lacking)]
        flags = []
        if streams > 1:
            flags.append("several_audio_streams")
        if start is None or not first_base:
            flags.append("no_audio_timestamps")
        self.info = SoundInfo(
            source=source.name,
            kind="file",
            sample_rate_hz=self._rate,
            channels=self._channels,
            layout=placing[0],
            positions=placing[1],
            container=container_name,
            codec=codec,
            sample_format=self._format,
            stream=index,
            streams=streams,
            language=language,
            title=title,
            start_s=None if start is None or not first_base else float(start * first_base),
            duration_s=duration_s,
            flags=tuple(sorted(flags)),
        )

    def blocks(self) -> Iterator[Array]:
        """One second after the other, decoded as they are asked for on the caller's thread."""
        primed, self._primed = self._primed, None
        if primed is None:
            container = self._source.open(self._format_name)
            log = SoundLog()
            frames = decoded(container, container.streams.audio[self._index], log)
        else:
            first, rest, log = primed
            frames = _behind(first, rest)
        try:
            yield from self._cut(frames, log)
        finally:
            frames.close()
            # A reading that was broken off knows less than one that was not.
            if log.finished or not self._log.finished:
                self._log = log

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What the file's structure shows, and what the fullest reading so far met."""
        return (*self._static, *self._log.damage())

    def close(self) -> None:
        """Give up the source; iterators that are running keep theirs."""
        if self._primed is not None:
            self._primed[1].close()
            self._primed = None

    def _first(self, frames: Frames) -> AudioFrame:
        first = next(frames, None)
        if first is not None:
            return first
        name, found = self._source.name, self._log.damage()
        if any(damage.kind == "decode_error" for damage in found):
            raise MediaError(
                f"{name}: none of its {self._log.packets} audio packets could be decoded "
                f"({found[0].detail}); expected a sound that plays",
                code="cannot_decode",
                source=name,
                packets=self._log.packets,
            )
        raise MediaError(
            f"{name}: no samples (the audio stream is empty); expected at least one",
            code="no_samples",
            source=name,
        )

    def _refuse_absurd(self) -> None:
        low, high = RATES_HZ
        if not low <= self._rate <= high:
            raise MediaError(
                f"{self._source.name}: its header says {self._rate} samples per second; expected "
                f"{low} to {high}: check that the file is what its name says",
                code="bad_sample_rate",
                source=self._source.name,
                sample_rate=self._rate,
            )
        if not 1 <= self._channels <= _MOST_CHANNELS:
            raise MediaError(
                f"{self._source.name}: its header says {self._channels} channels; expected 1 to "
                f"{_MOST_CHANNELS}: check that the file is what its name says",
                code="bad_channels",
                source=self._source.name,
                channels=self._channels,
            )

    def _cut(self, frames: Frames, log: SoundLog) -> Iterator[Array]:
        """The frames on their clock, as blocks of one second."""
        rate, channels = self._rate, self._channels
        timeline = Timeline(rate, channels)
        block, filled = np.empty((rate, channels), dtype=np.float32), 0
        for frame in frames:
            self._refuse_change(frame, timeline)
            missing, damage = timeline.place(frame)
            if damage is not None:
                log.add(damage)
            while missing > 0:
                take = min(missing, rate - filled)
                block[filled : filled + take] = 0
                missing, filled = missing - take, filled + take
                if filled == rate:
                    yield self._checked(block, log)
                    block, filled = np.empty_like(block), 0
            parts = stored_samples(frame, channels)
            start = -missing
            while start < frame.samples:
                take = min(frame.samples - start, rate - filled)
                _fill(block[filled : filled + take], parts, start, start + take)
                start, filled = start + take, filled + take
                if filled == rate:
                    yield self._checked(block, log)
                    block, filled = np.empty_like(block), 0
        log.samples = timeline.given
        log.finished = True
        if filled:
            yield self._checked(block[:filled], log)

    def _checked(self, block: Array, log: SoundLog) -> Array:
        if self._format.startswith(("flt", "dbl")):
            damaged = "" if log.is_clean else "; or the damage in the file made it so"
            check_magnitude(block, self._source.name, remark=damaged)
        return block

    def _refuse_change(self, frame: AudioFrame, timeline: Timeline) -> None:
        rate, channels = frame.sample_rate, frame.layout.nb_channels
        if (rate, channels, frame.format.name) == (self._rate, self._channels, self._format):
            return
        raise MediaError(
            f"{self._source.name}: after {timeline.given / self._rate:.3f} s the sound is {rate} "
            f"Hz, {channels} channels, {frame.format.name}; it began as {self._rate} Hz, "
            f"{self._channels} channels, {self._format}: split the file where it changes",
            code="sound_changes",
            source=self._source.name,
        )


def open_file_sound(
    source: MediaSource, *, stream: int | str | None, channel_layout: str | None
) -> FileSound:
    """Open the sound of a file.

    Raises:
        MediaError: there is no sound in it that can be read.
        InputError: an argument contradicts the file.
    """
    if not source.head(1):
        raise MediaError(
            f"{source.name}: no samples (the file is empty); expected a media file",
            code="no_samples",
            source=source.name,
        )
    return FileSound(source, stream=stream, channel_layout=channel_layout)


def _behind(first: AudioFrame, rest: Frames) -> Frames:
    try:
        yield first
        del first
        yield from rest
    finally:
        rest.close()


def _fill(out: Array, parts: list[Array], start: int, stop: int) -> None:
    if len(parts) == 1 and parts[0].ndim == 2:
        convert_into(out, parts[0][start:stop])
        return
    for channel, part in enumerate(parts):
        convert_into(out[:, channel], part[start:stop])

"""A sound in a container: decoded from the start for each reading, one second at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from screentest.errors import InputError, MediaError
from screentest.media.clip import Array
from screentest.media.extent import missing_end
from screentest.media.info import Damage, SoundInfo
from screentest.media.sound import Sound
from screentest.media.sound.blocks import Assembly, SoundPlan
from screentest.media.sound.decode import SoundLog, decoded, time_of
from screentest.media.sound.layouts import UNKNOWN, Placing, named_layout, placing_of
from screentest.media.sound.streams import choose_audio
from screentest.media.source import MediaSource, sniff
from screentest.media.streams import declared_duration, fraction

if TYPE_CHECKING:
    from av import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer

__all__ = ["FileSound", "open_file_sound"]

# Containers whose header counts the samples; others estimate, or round to packets.
_COUNTED = frozenset({"flac", "tta", "wv"})
_SHORT_S = 0.001

Frames = Generator["AudioFrame", None, None]


class FileSound(Sound):
    """The sound of a file. Opening it decodes one frame, with which the first reading goes on."""

    def __init__(
        self, source: MediaSource, *, stream: int | str | None, channel_layout: str | None
    ) -> None:
        self._source = source
        self._format_name = sniff(source.head())
        self._log = SoundLog()
        container = source.open(self._format_name)
        frames: Frames | None = None
        try:
            self._index, chosen = choose_audio(container, source.name, stream)
            header = _header(container, chosen)
            frames = decoded(container, chosen, self._log)
            first = self._first(frames)
            self._plan = SoundPlan.of(first, header["codec"], source.name)
            placing = self._placing(first, channel_layout)
        except BaseException:
            if frames is not None:
                frames.close()
            container.close()
            raise
        self._primed: tuple[AudioFrame, Frames, SoundLog] | None = (first, frames, self._log)
        start_s = time_of(first)
        with source.reader() as reader:
            self._lacking = missing_end(reader)
        flags = []
        if header["streams"] > 1:
            flags.append("several_audio_streams")
        if start_s is None:
            flags.append("no_audio_timestamps")
        self.info = SoundInfo(
            source=source.name,
            kind="file",
            sample_rate_hz=self._plan.shape.rate,
            channels=self._plan.shape.channels,
            layout=placing[0],
            positions=placing[1],
            sample_format=self._plan.shape.format,
            stream=self._index,
            start_s=start_s,
            flags=tuple(flags),
            **header,
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
            yield from Assembly(self._plan, log).blocks(frames)
        finally:
            frames.close()
            # A reading that was broken off knows less than one that was not.
            if log.finished or not self._log.finished:
                self._log = log

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What the fullest reading so far met, and what the file's structure shows."""
        log, info = self._log, self.info
        found = log.damage()
        end_s = None
        if log.finished and info.start_s is not None:
            end_s = info.start_s + log.samples / info.sample_rate_hz
        detail = self._lacking
        if detail is None and log.finished and info.container in _COUNTED:
            lost_s = (info.duration_s or 0) - log.samples / info.sample_rate_hz
            if lost_s > _SHORT_S:
                detail = f"the header promises {lost_s:.3f} s more than there is"
        if detail is None:
            return tuple(found)
        return (*found, Damage(kind="truncated", detail=detail, time_s=end_s))

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

    def _placing(self, first: AudioFrame, said: str | None) -> Placing:
        placing = placing_of(first.layout)
        if said is None:
            return placing
        named = named_layout(said, self._plan.shape.channels)
        if placing not in (UNKNOWN, named):
            raise InputError(
                f"{self._source.name}: channel_layout={said!r} contradicts the file, which says "
                f"{placing[0]}; leave it out",
                code="bad_channel_layout",
            )
        return named


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


def _header(container: InputContainer, stream: AudioStream) -> dict[str, Any]:
    """What ``SoundInfo`` takes from the container."""
    return {
        "container": container.format.name.split(",")[0],
        "codec": stream.codec_context.name,
        "streams": len(container.streams.audio),
        "language": stream.language,
        "title": stream.metadata.get("title"),
        "duration_s": declared_duration(stream, fraction(stream.time_base)),
    }


def _behind(first: AudioFrame, rest: Frames) -> Frames:
    try:
        yield first
        del first
        yield from rest
    finally:
        rest.close()

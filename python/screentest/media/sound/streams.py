"""Which audio stream of a container is read, and what its header says."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from screentest.errors import InputError, MediaError
from screentest.media.source import real_video

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer

__all__ = ["choose_audio"]


def choose_audio(
    container: InputContainer, name: str, wanted: int | str | None
) -> tuple[int, AudioStream]:
    """(index among the audio streams, stream): the one asked for, else the default, else the first.

    Raises:
        MediaError: there is no audio stream, or none that FFmpeg can decode.
        InputError: the one asked for is not there.
    """
    from av.stream import Disposition

    streams = container.streams.audio
    if not streams:
        raise MediaError(
            f"{name}: no audio stream (it holds {_held(container)}); expected a file with sound",
            code="no_audio_stream",
            source=name,
        )
    if wanted is None:
        default = [i for i, s in enumerate(streams) if s.disposition & Disposition.default]
        index = (default or [0])[0]
    else:
        index = _asked_for(streams, name, wanted)
    # The stubs promise a context, but PyAV has none for a codec that FFmpeg does not know.
    if getattr(streams[index], "codec_context", None) is None:
        raise MediaError(
            f"{name}: its sound is of a codec that the installed FFmpeg cannot decode; convert it "
            "to wav or flac",
            code="cannot_decode",
            source=name,
        )
    return index, streams[index]


def _asked_for(streams: tuple[AudioStream, ...], name: str, wanted: int | str) -> int:
    languages = [stream.language for stream in streams]
    if isinstance(wanted, str):
        matching = [i for i, tag in enumerate(languages) if tag and tag.lower() == wanted.lower()]
        if matching:
            return matching[0]
    elif not isinstance(wanted, bool):
        try:
            index = operator.index(wanted)
        except TypeError:
            index = -1
        if 0 <= index < len(streams):
            return index
    held = ", ".join(f"{i} ({tag or 'no language'})" for i, tag in enumerate(languages))
    raise InputError(
        f"{name}: stream={wanted!r}: expected the index or the language of one of its audio "
        f"streams: {held}",
        code="bad_stream",
        streams=len(streams),
    )


def _held(container: InputContainer) -> str:
    pictures = real_video(container)
    kinds = {
        "a cover picture" if stream.type == "video" and stream not in pictures else stream.type
        for stream in container.streams
    }
    return ", ".join(sorted(kinds)) or "no streams"

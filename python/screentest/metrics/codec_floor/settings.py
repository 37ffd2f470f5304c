"""What a file says about its own encoding: the settings that x264 and x265 write into it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from screentest.media.source import MediaSource

__all__ = ["CodecFloorUnknown", "EncoderSettings", "parse_settings", "read_settings"]

# The message travels in the stream's header or with its first picture; a file cut at a key frame
# may have its first pictures without one.
_PACKETS = 8

# Some 200 signs of version and address stand in between. Without a bound, a packet that begins the
# message over and over takes the square of its length to search.
_X264 = re.compile(rb"x264 - core (\d{1,9})[ -~]{0,400}? - options: ([ -~]+)")
_X265 = re.compile(rb"x265 \(build (\d{1,9})\)[ -~]{0,400}? - options: ([ -~]+)")


@dataclass(frozen=True, slots=True)
class CodecFloorUnknown:
    """Why the floor of a file cannot be known; ``reason`` is a sentence for the report."""

    reason: str


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """The settings of one encode, under the encoder's own names and in its own order."""

    encoder: Literal["x264", "x265"]
    build: int
    options: dict[str, str]

    @property
    def rate_control(self) -> str:
        """``"crf"``, ``"cqp"``, ``"abr"``, ``"cbr"``, ``"2pass"``; ``""`` if the file is silent."""
        method = self.options.get("rc", "").lower()
        two_passes = "2 pass" in method or self.options.get("stats-read", "0") not in ("0", "")
        return "2pass" if two_passes else method

    @property
    def quality(self) -> str:
        """The rate control with its number, as people write it: ``"crf 23.0"``."""
        method = self.rate_control
        name = {"crf": "crf", "cqp": "qp"}.get(method, "bitrate")
        value = self.options.get(name)
        if value is None:
            return method or "unknown rate control"
        if name == "bitrate":
            return f"{method} {value} kbit/s"
        return f"{name} {value}"


def parse_settings(data: bytes) -> EncoderSettings | None:
    """The settings in these bytes, ``None`` if there are none.

    >>> found = parse_settings(b"..x264 - core 164 r3095 - H.264 - options: cabac=1 crf=23.0\\0..")
    >>> found.encoder, found.build, found.options["crf"]
    ('x264', 164, '23.0')
    """
    for encoder, pattern in (("x264", _X264), ("x265", _X265)):
        if found := pattern.search(data):
            words = found[2].decode("ascii").split()
            options = dict(_option(word) for word in words)
            return EncoderSettings(encoder, int(found[1]), options)  # type: ignore[arg-type]
    return None


def read_settings(source: MediaSource) -> EncoderSettings | CodecFloorUnknown:
    """The settings that a video file carries, or why it has none.

    Raises:
        MediaError: the file cannot be opened, or holds no video.
    """
    from screentest.media.source import choose_video

    container = source.open()
    try:
        stream = choose_video(container, source.name)
        codec = stream.codec_context.name
        if codec not in ("h264", "hevc"):
            return CodecFloorUnknown(
                f"a file of codec {codec} does not say how it was encoded; only the settings that "
                "x264 and x265 write into theirs can be read back"
            )
        pieces = [stream.codec_context.extradata or b""]
        pieces += [bytes(packet) for packet in islice(container.demux(stream), _PACKETS)]
    finally:
        container.close()
    for data in pieces:
        if found := parse_settings(data):
            return found
    return CodecFloorUnknown(
        f"this {codec} file holds no settings of x264 or x265: another encoder wrote it, or the "
        "message was removed"
    )


def _option(word: str) -> tuple[str, str]:
    """x265 writes switches as ``sao`` and ``no-sao``."""
    name, equals, value = word.partition("=")
    if equals:
        return name, value
    return (name[3:], "0") if name.startswith("no-") else (name, "1")

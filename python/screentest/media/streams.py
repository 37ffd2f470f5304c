"""What a container's headers say about its streams, and the flags that follow from it all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from screentest.media.colour import is_hd, tags, transfer_kind
from screentest.media.info import AudioInfo, ColourResolved, ColourTags
from screentest.media.orientation import Orientation
from screentest.media.source import real_video
from screentest.media.timing import Timing

if TYPE_CHECKING:
    from av import VideoFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

__all__ = [
    "StreamFacts",
    "colour_tags_of",
    "declared_duration",
    "fraction",
    "index_length",
    "picture_flags",
    "stream_facts",
    "timing_flags",
]

_FIELD_ORDERS = {1: "progressive", 2: "tt", 3: "bb", 4: "tb", 5: "bt"}
# An AAC track is padded to whole blocks of 1024 samples and starts with one of priming.
_AUDIO_SLACK_S = 0.1


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """Header facts of the chosen stream and its container."""

    container: str
    codec: str
    profile: str | None
    time_base: Fraction
    rate: Fraction | None
    guessed_rate: Fraction | None
    frames_declared: int | None
    sample_aspect_ratio: str | None
    field_order: str | None
    video_streams: int
    audio: tuple[AudioInfo, ...]
    hidden_alpha: bool


def stream_facts(container: InputContainer, stream: VideoStream) -> StreamFacts:
    """Read the headers of a container that was just opened."""
    codec = stream.codec_context
    rate = fraction(stream.average_rate)
    guessed = fraction(stream.guessed_rate)
    aspect = fraction(stream.sample_aspect_ratio)
    return StreamFacts(
        container=container.format.name.split(",")[0],
        codec=codec.codec.canonical_name if hasattr(codec.codec, "canonical_name") else codec.name,
        profile=codec.profile or None,
        time_base=fraction(stream.time_base) or Fraction(1, 1),
        rate=rate or guessed,
        guessed_rate=guessed or rate,
        frames_declared=stream.frames or _count_tag(stream.metadata),
        sample_aspect_ratio=None
        if aspect in (None, 1)
        else f"{aspect.numerator}:{aspect.denominator}",
        field_order=_FIELD_ORDERS.get(codec.field_order),
        video_streams=len(real_video(container)),
        audio=tuple(_audio(s) for s in container.streams.audio if _is_known(s)),
        hidden_alpha=stream.metadata.get("alpha_mode") == "1"
        and not (stream.pix_fmt or "").startswith("yuva"),
    )


def index_length(stream: VideoStream, container_name: str) -> int | None:
    """Packets that the file's own index lists, where the container has a complete one (MP4)."""
    # Other demuxers build theirs while reading, or index key frames alone.
    return len(stream.index_entries) or None if container_name == "mov" else None


def colour_tags_of(frame: VideoFrame, codec: tuple[int, int, int, int]) -> ColourTags:
    """The frame's tags; where it is silent, those of the container."""
    said = (frame.colorspace, frame.color_range, frame.color_primaries, frame.color_trc)
    silent = (2, 0, 2, 2)
    chosen = [c if s == unsaid else s for s, c, unsaid in zip(said, codec, silent, strict=True)]
    return tags(*(int(value) for value in chosen))


def codec_tags(codec: VideoCodecContext) -> tuple[int, int, int, int]:
    """(matrix, range, primaries, transfer) as code points."""
    return (
        int(codec.colorspace),
        int(codec.color_range),
        int(codec.color_primaries),
        int(codec.color_trc),
    )


def picture_flags(
    frame: VideoFrame,
    *,
    colour_tags: ColourTags,
    colour: ColourResolved,
    orientation: Orientation,
    field_order: str | None,
    sample_aspect_ratio: str | None,
    has_alpha: bool,
    converted: bool,
) -> list[str]:
    """Flags that the picture itself gives rise to."""
    flags = []
    if colour.matrix_from == "rule":
        flags.append("untagged_colour")
        if is_hd(frame.width, frame.height):
            flags.append("untagged_hd")
    hdr = transfer_kind(colour_tags)
    if hdr:
        flags.append(f"hdr_{hdr}")
    elif colour_tags.primaries == "bt2020":
        flags.append("wide_gamut")
    if frame.interlaced_frame or field_order in ("tt", "bb", "tb", "bt"):
        flags.append("interlaced")
    if sample_aspect_ratio:
        flags.append("sar")
    if orientation.clockwise_degrees:
        flags.append("rotated")
    if orientation.mirrored:
        flags.append("mirrored")
    if orientation.free:
        flags.append("free_rotation")
    if has_alpha:
        flags.append("alpha")
    if converted:
        flags.append("converted")
    return flags


def timing_flags(
    facts: StreamFacts, timing: Timing, *, counted: int, discarded: int, leading: int
) -> list[str]:
    """Flags about time, counts and the other streams."""
    flags = []
    if timing.times_s is None:
        flags.append("no_timestamps")
    elif timing.constant is False:
        flags.append("vfr")
    if timing.rate_mismatch:
        flags.append("rate_mismatch")
    if discarded:
        flags.append("edit_list")
    if leading:
        flags.append("open_gop_start")
    if facts.frames_declared is not None and facts.frames_declared != counted + discarded + leading:
        flags.append("count_mismatch")
    if facts.video_streams > 1:
        flags.append("several_video_streams")
    if timing.duration_s is not None:
        slack = _AUDIO_SLACK_S + timing.duration_s / max(1, counted)
        lengths = [a.duration_s for a in facts.audio if a.duration_s is not None]
        if any(abs(length - timing.duration_s) > slack for length in lengths):
            flags.append("audio_length_differs")
    return flags


def fraction(value: Any) -> Fraction | None:
    """A rational of FFmpeg, which PyAV 19 gives in a type of its own; ``None`` for 0 and unsaid."""
    return Fraction(value.numerator, value.denominator) if value else None


def _is_known(stream: AudioStream) -> bool:
    return getattr(stream, "codec_context", None) is not None


def _audio(stream: AudioStream) -> AudioInfo:
    codec = stream.codec_context
    base = fraction(stream.time_base)
    return AudioInfo(
        codec=codec.name,
        sample_rate_hz=codec.sample_rate or 0,
        channels=codec.channels or 0,
        layout=codec.layout.name if codec.channels else "unknown",
        start_s=None if stream.start_time is None or not base else float(stream.start_time * base),
        duration_s=declared_duration(stream, base),
    )


def declared_duration(stream: Any, base: Fraction | None) -> float | None:
    """Seconds that the container claims for one stream."""
    if stream.duration and base:
        return float(stream.duration * base)
    # Matroska keeps the length of each stream in a tag, "00:00:05.000000000".
    try:
        hours, minutes, seconds = stream.metadata["DURATION"].split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except (KeyError, ValueError):
        return None


def _count_tag(metadata: dict[str, str]) -> int | None:
    said = metadata.get("NUMBER_OF_FRAMES", "")
    return int(said) if said.isdigit() and said != "0" else None

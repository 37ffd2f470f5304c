"""What is known about a clip besides its pixels, and about a sound besides its samples."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["AudioInfo", "ClipInfo", "ColourResolved", "ColourTags", "Damage", "SoundInfo"]


class ColourTags(msgspec.Struct, frozen=True, kw_only=True):
    """Colour as the stream tags it; ``None`` where the stream says nothing."""

    matrix: str | None = None
    range: str | None = None
    primaries: str | None = None
    transfer: str | None = None


class ColourResolved(msgspec.Struct, frozen=True, kw_only=True):
    """The matrix and range that the kernels use, and whether a tag or the rule chose each.

    ``matrix`` is ``"rgb"`` for RGB and grey sources. ``range`` is ``"limited"`` or ``"full"``.
    """

    matrix: str
    range: Literal["limited", "full"]
    matrix_from: Literal["tag", "rule"]
    range_from: Literal["tag", "rule"]


class AudioInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One audio stream. ``duration_s`` and ``start_s`` are the container's, ``None`` if unsaid."""

    codec: str
    sample_rate_hz: int
    channels: int
    layout: str
    start_s: float | None = None
    duration_s: float | None = None


class SoundInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about an opened sound. A number that is not known is ``None``; nothing is guessed.

    Attributes:
        source: printable name of what was opened.
        kind: ``"file"`` or ``"array"``.
        sample_rate_hz: samples per second and channel, as stored; nothing is resampled.
        channels: how many; nothing is mixed down.
        layout: FFmpeg's name of the channel layout (``"mono"``, ``"stereo"``, ``"5.1"``, ...),
            ``"unknown"`` where neither the file nor the caller says one.
        positions: FFmpeg's short name of each channel's place, in the order of the samples
            (``"FL"``, ``"FR"``, ``"FC"``, ``"LFE"``, ``"SL"``, ...); empty for an unknown layout.
        container: short name of the file's format.
        codec: its codec.
        sample_format: how the samples are stored (``"s16"``, ``"fltp"``, ``"float32"``, ...).
        stream: index among the file's audio streams.
        streams: how many of them there are.
        language: the stream's language tag.
        title: the stream's title tag.
        start_s: when the first sample sounds, on the clock that the picture's time stamps use.
            What a coder put before the sound (priming) is not among the samples, where the file
            marks it; ADTS, MPEG-TS, FLV and AVI have no mark for it.
        samples: samples per channel, where that is known before the sound is read.
        duration_s: the same in seconds, else what the container claims.
        flags: stable snake_case names, listed in ``screentest.media.flags``.
    """

    source: str
    kind: Literal["file", "array"]
    sample_rate_hz: int
    channels: int
    layout: str = "unknown"
    positions: tuple[str, ...] = ()
    container: str | None = None
    codec: str | None = None
    sample_format: str | None = None
    stream: int = 0
    streams: int = 1
    language: str | None = None
    title: str | None = None
    start_s: float | None = None
    samples: int | None = None
    duration_s: float | None = None
    flags: tuple[str, ...] = ()

    @property
    def channel_names(self) -> tuple[str, ...]:
        """The places of the channels, or their indices in an unknown layout."""
        return self.positions or tuple(str(channel) for channel in range(self.channels))


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """One place where the file does not hold what it should.

    ``kind``: ``decode_error`` (a packet that the decoder refused), ``corrupt_frame`` (decoded with
    errors concealed), ``missing_frames`` (packets that gave no picture), ``missing_samples`` (time
    stamps leave a hole in the sound), ``repeated_samples`` (time stamps give a stretch of the sound
    twice), ``truncated`` (the file ends before its own index or header says).
    ``frame`` is the display index at or after which it happens, ``None`` if it cannot be placed.
    """

    kind: Literal[
        "decode_error",
        "corrupt_frame",
        "missing_frames",
        "missing_samples",
        "repeated_samples",
        "truncated",
    ]
    detail: str
    frame: int | None = None
    time_s: float | None = None
    frames_lost: int | None = None


class ClipInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a clip. A number that is not known is ``None``; nothing here is guessed.

    ``width`` and ``height`` are as shown (after rotation). ``frames`` is exact: the number of
    frames in the array or folder, or of displayable packets in the file; ``frames_declared`` is
    what the container's header claims and is only a hint. ``frame_rate`` is measured from the time
    stamps (frames per second); ``frame_rate_declared`` is the header's fraction, e.g. "30000/1001".
    ``rotation_degrees`` is the clockwise turn that was applied to the coded picture.
    ``skipped_files`` names what a folder holds besides its images; ``alpha_colour`` is the
    (r, g, b) in [0, 1] that a transparent picture was laid over.
    ``flags`` are stable snake_case names, listed in ``screentest.media.flags``.
    """

    source: str
    kind: Literal["video", "image", "images", "array"]
    decoder: str
    luma_domain: Literal["planes", "rgb"]
    width: int
    height: int
    coded_width: int
    coded_height: int
    pixel_format: str
    bit_depth: int | None
    container: str | None = None
    codec: str | None = None
    profile: str | None = None
    frames: int | None = None
    frames_declared: int | None = None
    frame_rate: float | None = None
    frame_rate_declared: str | None = None
    constant_frame_rate: bool | None = None
    start_s: float | None = None
    duration_s: float | None = None
    colour_tags: ColourTags = ColourTags()
    colour: ColourResolved | None = None
    rotation_degrees: int = 0
    sample_aspect_ratio: str | None = None
    field_order: str | None = None
    hdr: Literal["pq", "hlg"] | None = None
    alpha: Literal["opaque", "transparent", "composited", "dropped"] | None = None
    conversion: str | None = None
    video_streams: int = 0
    audio: tuple[AudioInfo, ...] = ()
    flags: tuple[str, ...] = ()
    skipped_files: tuple[str, ...] = ()
    alpha_colour: tuple[float, float, float] | None = None

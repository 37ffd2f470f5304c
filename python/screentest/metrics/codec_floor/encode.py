"""Running the encoder: the one that PyAV carries, else that of an ffmpeg program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from screentest.media.clip import Clip
from screentest.media.info import ClipInfo
from screentest.metrics.codec_floor.pictures import pictures
from screentest.metrics.codec_floor.program import run_program
from screentest.metrics.codec_floor.settings import CodecFloorUnknown, EncoderSettings

if TYPE_CHECKING:
    from av import VideoFrame
from screentest.metrics.ffmpeg import find_encoder

__all__ = ["Recipe", "encode", "encoder_for"]

# H.273 code points of what a stream may be tagged with, under the names of `media.colour`.
_TAGS = {
    "colorspace": {"rgb": 0, "bt709": 1, "fcc": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7,
                   "bt2020nc": 9},
    "color_range": {"limited": 1, "full": 2},
}  # fmt: skip

# What x264 and FFmpeg turn down for a first pass unless told otherwise. The file keeps the settings
# of the second pass alone.
_X264_FIRST_PASS = {
    "ref": "1",
    "8x8dct": "0",
    "partitions": "none",
    "me": "dia",
    "subme": "2",
    "trellis": "0",
    "fast-pskip": "1",
}


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder that is there. ``program`` is an ffmpeg, ``None`` for PyAV's own libraries."""

    library: str
    pixel_format: str
    program: str | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that one encode needs to know."""

    settings: EncoderSettings
    parameters: dict[str, str]
    encoder: Encoder

    @property
    def base(self) -> dict[str, str]:
        """FFmpeg's options below the parameters: intra partitions can be had off by a preset
        alone, whose other settings the parameters all override."""
        intra = self.settings.options.get("analyse", "").partition(":")[0]
        return {"preset": "ultrafast"} if intra == "0" else {}


def encoder_for(settings: EncoderSettings, pixel_format: str) -> Encoder | CodecFloorUnknown:
    """The encoder that can repeat these settings in this pixel format."""
    import av

    packed = settings.encoder == "x264" and pixel_format.startswith(("gbr", "rgb", "bgr"))
    library = "libx264rgb" if packed else f"lib{settings.encoder}"
    try:
        formats = [form.name for form in av.Codec(library, "w").video_formats or ()]
    except av.codec.codec.UnknownCodecError:
        program = find_encoder(library)
        if program is None:
            return CodecFloorUnknown(
                f"no {library} is here: neither PyAV's libraries nor an ffmpeg program has it; "
                "install an ffmpeg with it, or name one in SCREENTEST_FFMPEG"
            )
        return Encoder(library, "rgb24" if packed else pixel_format, program.path)
    if packed:
        return Encoder(library, "rgb24")
    if pixel_format not in formats:
        return CodecFloorUnknown(f"the {library} that is here does not write {pixel_format}")
    return Encoder(library, pixel_format)


def encode(
    reference: Clip, candidate: ClipInfo, recipe: Recipe, path: str
) -> CodecFloorUnknown | None:
    """Write the reference to ``path`` by the recipe. The reason, where the encoder refuses."""
    passes: tuple[dict[str, str], ...] = ({},)
    if recipe.settings.rate_control == "2pass":
        stats = os.path.join(os.path.dirname(path), "stats")
        quick = _X264_FIRST_PASS if recipe.settings.encoder == "x264" else {}
        passes = ({**quick, "pass": "1", "stats": stats}, {"pass": "2", "stats": stats})
    for added in passes:
        given = _text(recipe.parameters | added)
        frames = pictures(reference, candidate, recipe.encoder.pixel_format)
        try:
            if recipe.encoder.program is None:
                _encode(frames, candidate, recipe, given, path)
            else:
                run_program(
                    recipe.encoder.program,
                    recipe.encoder.library,
                    recipe.settings.encoder,
                    given,
                    recipe.base,
                    frames,
                    _rate(candidate),
                    _tags(candidate),
                    path,
                )
        except _errors() as error:
            why = " ".join(str(error).split())
            return CodecFloorUnknown(f"{recipe.encoder.library} refused these settings ({why})")
    return None


def _encode(
    frames: Iterator[VideoFrame], candidate: ClipInfo, recipe: Recipe, given: str, path: str
) -> None:
    import av

    rate = _rate(candidate)
    options = {f"{recipe.settings.encoder}-params": given, **recipe.base}
    with av.open(f"file:{path}", "w", format="mp4") as out:
        stream: Any = out.add_stream(recipe.encoder.library, rate=rate, options=options)
        stream.width, stream.height = candidate.width, candidate.height
        stream.pix_fmt = recipe.encoder.pixel_format
        stream.time_base = stream.codec_context.time_base = 1 / rate
        for name, value in _tags(candidate).items():
            setattr(stream.codec_context, name, value)
        for index, frame in enumerate(frames):
            frame.pts, frame.time_base = index, 1 / rate
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


def _rate(candidate: ClipInfo) -> Fraction:
    """The rate that the encoder was told, which weighs on how it spends its bits."""
    if candidate.frame_rate_declared:
        rate = Fraction(candidate.frame_rate_declared)
        if rate > 0:
            return rate
    return Fraction(candidate.frame_rate or 25).limit_denominator(1001)


def _tags(candidate: ClipInfo) -> dict[str, int]:
    """The candidate's own tags, so that the floor is read as the candidate is."""
    said = {
        "colorspace": candidate.colour_tags.matrix,
        "color_range": candidate.colour_tags.range,
    }
    return {
        name: _TAGS[name][value]
        for name, value in said.items()
        if value is not None and value in _TAGS[name]
    }


def _text(parameters: dict[str, str]) -> str:
    """``name=value:name=value`` as FFmpeg reads it."""

    def escaped(value: str) -> str:
        return "".join(f"\\{char}" if char in "\\:='" else char for char in value)

    return ":".join(f"{name}={escaped(value)}" for name, value in parameters.items())


def _errors() -> tuple[type[BaseException], ...]:
    import av

    return (av.error.FFmpegError, RuntimeError)

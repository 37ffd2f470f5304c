"""The reference put through the candidate's encoder, as a clip that can be measured."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from screentest.media import Clip, open_clip
from screentest.media.info import ClipInfo
from screentest.media.source import MediaSource
from screentest.metrics.codec_floor.encode import Recipe, encode, encoder_for
from screentest.metrics.codec_floor.repeat import differing, parameters_of
from screentest.metrics.codec_floor.settings import (
    CodecFloorUnknown,
    EncoderSettings,
    read_settings,
)

__all__ = ["CodecFloor", "codec_floor_clip"]


@dataclass(frozen=True, slots=True)
class CodecFloor:
    """The reference, encoded as the candidate was.

    ``clip`` is open and has as many frames as the reference, in its order; measure it against the
    reference. ``path`` is its file, which goes when the context ends. ``parameters`` are the
    candidate's settings as its file states them, ``differences`` the ones that this encode did
    not meet (name -> (candidate, here)). ``how`` says it in a sentence.
    """

    clip: Clip
    path: str
    encoder: str
    parameters: dict[str, str]
    differences: dict[str, tuple[str, str]]
    how: str


@contextmanager
def codec_floor_clip(
    reference: Clip, candidate: Clip, *, file: Any = None, threads: int | None = None
) -> Iterator[CodecFloor | CodecFloorUnknown]:
    """Encode the reference with the candidate's own settings, for as long as the context lasts.

    Args:
        reference: an open clip; it is read once, or twice for a two-pass encode.
        candidate: an open clip of a file that x264 or x265 wrote.
        file: where the candidate's bytes are, if ``candidate.info.source`` is no path: a path,
            bytes, or a seekable binary file object.
        threads: decoder threads of the floor clip. The encoder takes as many as the candidate's
            did, since their number changes the bits; so the floor is the same on every machine.

    Yields a :class:`CodecFloor`, or a :class:`CodecFloorUnknown` with the reason.

    Raises:
        MediaError: one of the files cannot be read.
    """
    recipe = _recipe(reference.info, candidate.info, file)
    if isinstance(recipe, CodecFloorUnknown):
        yield recipe
        return
    # A folder that only this user may enter.
    with tempfile.TemporaryDirectory(prefix="screentest-floor-") as folder:
        path = os.path.join(folder, "floor.mp4")
        failed = encode(reference, candidate.info, recipe, path)
        if failed is not None:
            yield failed
            return
        done = read_settings(MediaSource.from_path(path))
        missed: dict[str, tuple[str, str]] = (
            differing(recipe.settings, done)
            if isinstance(done, EncoderSettings)
            else {"settings": (recipe.settings.encoder, "none")}
        )
        with open_clip(path, threads=threads) as clip:
            yield CodecFloor(
                clip=clip,
                path=path,
                encoder=_name(recipe.settings),
                parameters=dict(recipe.settings.options),
                differences=missed,
                how=_how(reference.info, candidate.info, recipe, done, missed),
            )


def _recipe(reference: ClipInfo, candidate: ClipInfo, file: Any) -> Recipe | CodecFloorUnknown:
    if candidate.kind != "video":
        return CodecFloorUnknown(
            "the candidate is no encoded video"
            if candidate.kind == "array"
            else f"the candidate is of codec {candidate.codec}, stills that state no encoder"
            if candidate.codec
            else "the candidate is a folder of images"
        )
    size = (reference.width, reference.height)
    if size != (candidate.width, candidate.height):
        return CodecFloorUnknown(
            f"the reference is {size[0]}x{size[1]}, the candidate "
            f"{candidate.width}x{candidate.height}; the floor is between frames of one size"
        )
    source = _source(candidate, file)
    if source is None:
        return CodecFloorUnknown(
            "the candidate's bytes cannot be read a second time; give its path as file="
        )
    settings = read_settings(source)
    if isinstance(settings, CodecFloorUnknown):
        return settings
    chroma = next((c for c in ("420", "422", "444") if c in candidate.pixel_format), "420")
    parameters = parameters_of(settings, chroma)
    if isinstance(parameters, CodecFloorUnknown):
        return parameters
    encoder = encoder_for(settings, candidate.pixel_format)
    if isinstance(encoder, CodecFloorUnknown):
        return encoder
    return Recipe(settings, parameters, encoder)


def _source(candidate: ClipInfo, file: Any) -> MediaSource | None:
    if file is None:
        return MediaSource.from_path(candidate.source) if os.path.isfile(candidate.source) else None
    if isinstance(file, (str, os.PathLike)):
        return MediaSource.from_path(os.fsdecode(os.fspath(file)))
    if isinstance(file, (bytes, bytearray)):
        import io

        return MediaSource.from_file(io.BytesIO(file), "<bytes>")
    return MediaSource.from_file(file, "<file object>")


def _name(settings: EncoderSettings) -> str:
    return (
        f"{settings.encoder} {'core' if settings.encoder == 'x264' else 'build'} {settings.build}"
    )


def _how(
    reference: ClipInfo,
    candidate: ClipInfo,
    recipe: Recipe,
    done: EncoderSettings | CodecFloorUnknown,
    missed: dict[str, tuple[str, str]],
) -> str:
    settings = recipe.settings
    said = [f"The reference was encoded with {_name(settings)}'s own settings ({settings.quality})"]
    from_format = reference.conversion or reference.pixel_format
    if from_format != candidate.pixel_format:
        said.append(f", after conversion from {from_format} to {candidate.pixel_format}")
    said.append(".")
    if isinstance(done, EncoderSettings) and done.build != settings.build:
        said.append(f" The candidate's encoder was {_name(settings)}, this one {_name(done)}.")
    if settings.rate_control in ("abr", "cbr"):
        said.append(
            " The bit rate it aimed at is repeated; what it spent on each frame depends on the"
            " pictures, so the floor holds as far as these are alike."
        )
    elif settings.rate_control == "2pass":
        said.append(
            " Both passes were run again at the bit rate it aimed at; the settings of its first"
            " pass are not in the file, so what single frames got may differ."
        )
    if missed:
        listed = ", ".join(f"{name} {one or 'absent'} -> {two or 'absent'}" for name, (one, two)
                           in sorted(missed.items()))  # fmt: skip
        said.append(f" Settings that could not be repeated (candidate -> here): {listed}.")
    return "".join(said)

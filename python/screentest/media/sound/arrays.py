"""Samples in memory, read where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from screentest.errors import InputError, MediaError
from screentest.media.adopt import Adopted, adopt, is_pil_image
from screentest.media.clip import Array
from screentest.media.info import SoundInfo
from screentest.media.sound import Sound
from screentest.media.sound.layouts import named_layout, usual_layout
from screentest.media.sound.samples import convert_into, out_of_range, range_error

__all__ = ["ArraySound", "open_array_sound"]


class ArraySound(Sound):
    """A sound in memory, ``(N, C)``. float32 in order is handed out as read-only views of it."""

    def __init__(self, stored: Array, info: SoundInfo) -> None:
        self.info = info
        self._stored = stored

    def blocks(self) -> Iterator[Array]:
        """One second after the other; only what is not float32 in order is copied."""
        rate = self.info.sample_rate_hz
        for start in range(0, len(self._stored), rate):
            yield self._block(self._stored[start : start + rate])

    @cached_property
    def samples(self) -> Array:
        """The whole sound; a read-only view of the array where that is float32 in order."""
        return self._block(self._stored)

    def _block(self, part: Array) -> Array:
        if part.dtype.kind == "f" and (largest := out_of_range(part)) is not None:
            raise range_error(self.info.source, largest)
        in_order = part.flags.c_contiguous and part.flags.aligned
        if part.dtype == np.float32 and part.dtype.isnative and in_order:
            view = part.view()
            view.flags.writeable = False
            return view
        block = np.empty(part.shape, dtype=np.float32)
        convert_into(block, part)
        return block


def open_array_sound(
    source: Any, *, rate: int | None, channel_layout: str | None, layout: str | None
) -> ArraySound:
    """Open an array, a tensor or a buffer as a sound.

    Raises:
        MediaError: dtype or shape hold no sound, or need an argument that was not given.
        InputError: the arguments contradict each other.
    """
    if layout is not None and layout not in ("NC", "CN"):
        raise InputError(
            f'layout={layout!r}: expected "NC" (samples, channels) or "CN" (channels, samples)',
            code="bad_layout",
        )
    notes = Adopted()
    array = _adopted(source, notes)
    # What is no array at all hears that first.
    if rate is None:
        raise MediaError(
            "an array needs sample_rate= (48000, 44100, ...), its samples per second",
            code="sample_rate_needed",
        )
    if array.dtype.kind not in "iuf":
        raise MediaError(
            f"an array of dtype {array.dtype} holds no sound; expected integers or floats",
            code="bad_dtype",
            dtype=str(array.dtype),
        )
    stored = _arranged(array, layout)
    samples, channels = stored.shape
    name, positions = (
        usual_layout(channels) if channel_layout is None else named_layout(channel_layout, channels)
    )
    flags = set(notes.flags)
    if notes.conversions:
        flags.add("converted")
    return ArraySound(
        stored,
        SoundInfo(
            source=f"<{type(source).__name__} {array.shape}>",
            kind="array",
            sample_rate_hz=rate,
            channels=channels,
            layout=name,
            positions=positions,
            sample_format=array.dtype.name,
            start_s=0.0,
            samples=samples,
            duration_s=samples / rate,
            flags=tuple(sorted(flags)),
        ),
    )


def _adopted(source: Any, notes: Adopted) -> Array:
    try:
        if is_pil_image(source):
            raise MediaError("a picture", code="bad_source")
        return adopt(source, notes)
    except MediaError as error:
        if error.code != "bad_source":
            raise
        kind = type(source).__name__
        raise MediaError(
            f"a {kind} cannot be read as sound; expected a path, bytes, a binary file object, an "
            "array or a tensor",
            code="bad_source",
            type=kind,
        ) from error


def _arranged(array: Array, layout: str | None) -> Array:
    """The array as ``(N, C)``."""
    shape = array.shape
    if array.ndim not in (1, 2):
        raise MediaError(
            f"an array of shape {shape} is not one sound; expected (samples,) or (samples, "
            "channels)",
            code="bad_shape",
            shape=shape,
        )
    if array.ndim == 1:
        array = array[:, None]
    elif layout == "CN":
        array = array.T
    if 0 in array.shape:
        raise MediaError(
            f"an array of shape {shape} holds no samples; expected at least one",
            code="no_samples",
            shape=shape,
        )
    samples, channels = array.shape
    if layout is None and samples < channels:
        raise MediaError(
            f"an array of shape {shape} has fewer samples than channels; expected (samples, "
            'channels): say layout="CN" if its channels come first',
            code="bad_shape",
            shape=shape,
        )
    return array

"""From samples as they are stored to float32 in [-1, 1], and what no sound can hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from screentest.errors import MediaError
from screentest.media.clip import Array

if TYPE_CHECKING:
    from av import AudioFrame

__all__ = ["LARGEST", "Storage", "convert_into", "out_of_range", "range_error"]

# 24 dB over full scale: hotter than any mix, while 16-bit integers read as floats pass it as soon
# as they are louder than -66 dBFS.
LARGEST = 16.0


_DTYPES = {"u8": "u1", "s16": "i2", "s32": "i4", "s64": "i8", "flt": "f4", "dbl": "f8"}


@dataclass(frozen=True, slots=True)
class Storage:
    """How a decoder leaves its samples: channel behind channel (planar), or interleaved."""

    dtype: np.dtype[Any]
    planar: bool
    channels: int

    @classmethod
    def of(cls, frame: AudioFrame) -> Self:
        """That of one frame.

        Raises:
            MediaError: a format that FFmpeg has added since.
        """
        name = frame.format.name
        dtype = _DTYPES.get(name.removesuffix("p"))
        if dtype is None:
            raise MediaError(
                f"samples stored as {name} cannot be read; convert the file to wav or flac",
                code="cannot_decode",
            )
        return cls(np.dtype(dtype), name.endswith("p"), frame.layout.nb_channels)

    def views(self, frame: AudioFrame) -> list[Array]:
        """One ``(n, channels)`` array, or one ``(n,)`` array for each channel of a planar frame;
        nothing is copied."""
        count, planes = frame.samples, frame.planes
        if self.planar:
            return [np.frombuffer(memoryview(plane), self.dtype, count) for plane in planes]
        packed = np.frombuffer(memoryview(planes[0]), self.dtype, count * self.channels)
        return [packed.reshape(count, self.channels)]

    def write(self, out: Array, views: list[Array], start: int, stop: int) -> None:
        """Samples ``start`` to ``stop`` of the views as float32 into ``(n, channels)``."""
        if not self.planar:
            convert_into(out, views[0][start:stop])
            return
        for channel, view in enumerate(views):
            convert_into(out[:, channel], view[start:stop])


def convert_into(out: Array, stored: Array) -> None:
    """Write samples into a float32 array of the same shape.

    Integers are divided by their full scale, after unsigned ones were moved to be centred on zero.
    Floats are never rescaled; float64 is narrowed.
    """
    dtype = stored.dtype
    if dtype == np.float32:
        out[...] = stored
        return
    if dtype.kind == "f":
        # A float64 beyond float32's reach becomes infinite; a signalling NaN becomes a quiet one.
        with np.errstate(over="ignore", invalid="ignore"):
            np.copyto(out, stored, casting="same_kind")
        return
    scale = 2.0 ** (1 - 8 * dtype.itemsize)
    if dtype.kind == "i":
        # The integer is rounded to a float once; dividing by a power of two rounds nothing.
        np.multiply(stored, np.float32(scale), out=out, dtype=np.float32, casting="unsafe")
        return
    if dtype.itemsize <= 2:
        np.multiply(stored, np.float32(scale), out=out, dtype=np.float32, casting="unsafe")
        np.subtract(out, np.float32(1), out=out)
        return
    np.copyto(out, stored.astype(np.float64) * scale - 1.0, casting="same_kind")


def out_of_range(samples: Array) -> float | None:
    """The finite sample that lies furthest beyond ``LARGEST``, ``None`` if there is none.

    NaN and infinity pass: they are a defect to be counted, and say nothing about the scale.
    """
    lowest, highest = samples.min(), samples.max()
    if lowest >= -LARGEST and highest <= LARGEST:
        return None
    finite = samples[np.isfinite(samples)]
    largest = max((float(finite.max()), float(finite.min())), key=abs) if finite.size else 0.0
    return largest if abs(largest) > LARGEST else None


def range_error(source: str, largest: float) -> MediaError:
    """The one error for floats that nobody divided by their full scale."""
    return MediaError(
        f"{source}: a float sample is {largest:g}, {20 * math.log10(abs(largest)):.0f} dB over "
        "full scale; expected [-1, 1]: divide 16-bit integers stored as floats by 32768, 24-bit by "
        "8388608, 32-bit by 2147483648",
        code="samples_out_of_range",
        source=source,
        largest=largest,
    )

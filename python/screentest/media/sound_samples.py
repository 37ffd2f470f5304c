"""From samples as they are stored to float32 in [-1, 1], and what no sound can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from screentest.errors import MediaError
from screentest.media.clip import Array

__all__ = ["LARGEST", "check_magnitude", "convert_into"]

# 24 dB over full scale: hotter than any mix, while 16-bit integers read as floats pass it as soon
# as they are louder than -66 dBFS.
LARGEST = 16.0


def convert_into(out: Array, stored: Array) -> None:
    """Write samples into a float32 array of the same shape.

    Integers are divided by their full scale, after unsigned ones were moved to be centred on zero.
    Floats are never rescaled; float64 is narrowed.
    """
    dtype = stored.dtype
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


def check_magnitude(samples: Array, source: str, *, remark: str = "") -> None:
    """Refuse floats that can only be integers which nobody divided by their full scale.

    NaN and infinity pass: they are a defect to be counted, and say nothing about the scale.

    Raises:
        MediaError: a finite sample lies beyond ``LARGEST``.
    """
    if not samples.size:
        return
    lowest, highest = samples.min(), samples.max()
    if lowest >= -LARGEST and highest <= LARGEST:
        return
    finite = samples[np.isfinite(samples)]
    largest = max((float(finite.max()), float(finite.min())), key=abs) if finite.size else 0.0
    if abs(largest) <= LARGEST:
        return
    raise MediaError(
        f"{source}: a float sample is {largest:g}, {_decibels(largest):.0f} dB over full scale; "
        "expected [-1, 1]: divide 16-bit integers stored as floats by 32768 (24-bit by 8388608, "
        f"32-bit by 2147483648){remark}",
        code="samples_out_of_range",
        source=source,
        largest=largest,
    )


def _decibels(value: Any) -> float:
    return float(20 * np.log10(abs(value)))

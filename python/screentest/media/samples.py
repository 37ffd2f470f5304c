"""What the numbers in an array mean: dtype, bit depth and range, as said and never guessed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from screentest.errors import InputError, MediaError
from screentest.media.clip import Array

__all__ = ["Samples", "check_range", "plan_samples"]

_NATIVE = {"uint8": 8, "uint16": 16, "float16": None, "float32": None}


@dataclass(frozen=True, slots=True)
class Samples:
    """How samples reach the kernels. ``convert`` is ``None`` where they are read as they lie."""

    dtype: str
    bit_depth: int | None = None
    value_range: tuple[float, float] | None = None
    convert: Callable[[Array], Array] | None = None
    conversion: str | None = None


def check_range(value_range: Any) -> tuple[float, float] | None:
    """The range as two finite floats, lowest first.

    Raises:
        InputError: it is not.
    """
    if value_range is None:
        return None
    try:
        low, high = (float(v) for v in value_range)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"value_range={value_range!r}: expected (lowest, highest), two finite numbers, e.g. "
            "(-1, 1)",
            code="bad_value_range",
        )
    return low, high


def plan_samples(
    dtype: np.dtype[Any], value_range: tuple[float, float] | None, bit_depth: int | None
) -> Samples:
    """How arrays of this dtype are read.

    uint8 is 0..255, uint16 is 0..2**bit_depth - 1, floats are [0, 1] or ``value_range``, bool is
    black and white, every other integer needs ``value_range``. float64 is narrowed to float32.

    Raises:
        MediaError: the dtype holds no pictures, or needs an argument that was not given.
        InputError: arguments that contradict each other or the dtype.
    """
    if bit_depth is not None:
        _check_depth(dtype, value_range, bit_depth)
    if dtype.kind == "b":
        return Samples("uint8", 8, convert=_from_bool, conversion="bool to uint8")
    if dtype.kind == "f":
        if dtype.itemsize <= 4:
            name = f"float{8 * dtype.itemsize}"
            return Samples(name, value_range=value_range, **_native(dtype))
        return Samples("float32", None, value_range, _narrow, f"{dtype.name} to float32")
    if dtype.kind not in "iu":
        raise MediaError(
            f"an array of dtype {dtype} holds no pictures; expected uint8, uint16, float16 or "
            "float32, or an integer dtype with value_range=",
            code="bad_dtype",
            dtype=str(dtype),
        )
    if dtype == np.uint8 and value_range in (None, (0.0, 255.0)):
        return Samples("uint8", 8)
    if value_range is not None:
        return Samples("float32", None, None, _scaler(value_range), f"{dtype.name} to float32")
    if dtype.kind == "u" and dtype.itemsize == 2:
        if bit_depth is None:
            raise MediaError(
                "a uint16 array needs bit_depth= (10, 12, 16, ...), the number of bits in use",
                code="bit_depth_needed",
            )
        return Samples("uint16", bit_depth, **_native(dtype))
    raise MediaError(
        f"an array of dtype {dtype.name} needs value_range=(lowest, highest), the values of black "
        "and full white",
        code="value_range_needed",
        dtype=dtype.name,
    )


def _check_depth(
    dtype: np.dtype[Any], value_range: tuple[float, float] | None, bit_depth: int
) -> None:
    if type(bit_depth) is not int or not 1 <= bit_depth <= 16:
        raise InputError(
            f"bit_depth={bit_depth!r}: expected a whole number from 1 to 16", code="bad_bit_depth"
        )
    if value_range is not None:
        raise InputError(
            "value_range= and bit_depth= both say what white is; give one", code="bad_input"
        )
    fits = (dtype == np.uint8 and bit_depth == 8) or (
        dtype.kind == "u" and dtype.itemsize == 2 and bit_depth >= 8
    )
    if not fits:
        raise InputError(
            f"bit_depth={bit_depth} does not fit dtype {dtype.name}; it is for uint16, 8 to 16",
            code="bad_bit_depth",
        )


def _native(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Byte-swapped arrays are turned to the machine's order, the only one the kernels read."""
    if dtype.isnative:
        return {}
    native = dtype.newbyteorder("=")

    def swap(frame: Array) -> Array:
        return frame.astype(native)

    return {"convert": swap, "conversion": "native byte order"}


def _from_bool(frame: Array) -> Array:
    return np.asarray(frame.astype(np.uint8) * np.uint8(255))


def _narrow(frame: Array) -> Array:
    # A float64 beyond float32's reach becomes infinite, and is then reported as that; a signalling
    # NaN becomes a quiet one.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(frame.astype(np.float32))


def _scaler(value_range: tuple[float, float]) -> Callable[[Array], Array]:
    low, high = value_range

    def scale(frame: Array) -> Array:
        # Through float64: 32-bit integers do not fit a float32.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(((frame.astype(np.float64) - low) / (high - low)).astype(np.float32))

    return scale

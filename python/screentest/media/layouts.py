"""Which axis of an array is which. Said by the caller wherever the shape fits more than one way."""

from __future__ import annotations

import numpy as np

from screentest.errors import InputError, MediaError
from screentest.media.clip import Array

__all__ = ["LAYOUTS", "arrange", "choose_layout"]

LAYOUTS = ("HW", "HWC", "CHW", "THW", "THWC", "TCHW", "CTHW")
_CHANNELS = (1, 3, 4)


def choose_layout(shape: tuple[int, ...], said: str | None) -> str:
    """The layout of an array of this shape: the one said, or the only one that fits.

    Raises:
        InputError: ``said`` is no layout.
        MediaError: the shape fits none, or more than one, or not the one said.
    """
    if said is not None:
        name = str(said).upper()
        if name not in LAYOUTS:
            raise InputError(
                f"layout={said!r}: expected one of {', '.join(LAYOUTS)}", code="bad_layout"
            )
        if len(name) != len(shape):
            raise _misfit(shape, f"layout={name!r} has {len(name)} axes")
        if "C" in name and shape[name.index("C")] not in _CHANNELS:
            raise _misfit(
                shape, f"layout={name!r} makes {shape[name.index('C')]} the number of channels"
            )
        return name
    if len(shape) == 2:
        return "HW"
    if len(shape) == 4:
        return _four_axes(shape)
    if len(shape) == 3:
        return _three_axes(shape)
    raise _misfit(shape, "it has no layout that is known")


def _four_axes(shape: tuple[int, ...]) -> str:
    last, second = shape[3] in _CHANNELS, shape[1] in _CHANNELS
    if last and not second:
        return "THWC"
    if last:
        raise _ambiguous(shape, "THWC", "TCHW")
    if second or shape[0] in _CHANNELS:
        name = "TCHW" if second else "CTHW"
        raise MediaError(
            f"an array of shape {shape} has its channels before the picture; if so, say "
            f'layout="{name}"',
            code="layout_needed",
            shape=shape,
        )
    raise _misfit(shape, "no axis has 1, 3 or 4 channels")


def _three_axes(shape: tuple[int, ...]) -> str:
    # One channel in front or one frame: the same picture either way.
    if shape[0] == 1 and shape[2] not in (3, 4):
        return "THW"
    last, first = shape[2] in (3, 4), shape[0] in (3, 4)
    if first and last:
        raise _ambiguous(shape, "HWC", "CHW", "THW")
    if first:
        raise _ambiguous(shape, "THW", "CHW")
    return "HWC" if last else "THW"


def arrange(array: Array, layout: str) -> Array:
    """The array as ``(T, H, W, C)`` with 3 or 4 channels, or ``(T, H, W)``: a view."""
    if "C" in layout:
        array = np.moveaxis(array, layout.index("C"), -1)
    if "T" not in layout:
        array = array[None]
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    return array


def _ambiguous(shape: tuple[int, ...], *fitting: str) -> MediaError:
    choices = " or ".join(f'"{name}"' for name in fitting)
    return MediaError(
        f"an array of shape {shape} fits more than one layout; say layout={choices}",
        code="layout_needed",
        shape=shape,
    )


def _misfit(shape: tuple[int, ...], why: str) -> MediaError:
    return MediaError(
        f"an array of shape {shape} cannot be read as pictures: {why}; expected (T, H, W, 3), "
        f"(T, H, W), (H, W, 3) or (H, W), or layout= one of {', '.join(LAYOUTS)}",
        code="bad_shape",
        shape=shape,
    )

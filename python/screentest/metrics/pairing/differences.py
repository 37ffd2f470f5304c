"""What differs between two clips besides their pixels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from screentest.media.clip import Array
from screentest.media.info import ClipInfo

__all__ = ["INFORMATIONAL", "Difference", "differences_of"]

INFORMATIONAL = ("codec", "container")
"""Fields that say how a clip was stored and nothing about what it shows."""

_SAME_RATE = 1e-3
"""Relative difference up to which two measured rates are one: 30000/1001 and 30 differ by it."""

_CLOCK_S = 2e-3
"""Containers that count milliseconds round the first and the last stamp by up to one each."""

_OTHER_TIME = 0.25
"""Share of a frame interval by which frame times must part to be another pattern."""


class Difference(msgspec.Struct, frozen=True):
    """One field in which two clips differ, with both values."""

    field: str
    reference: Any
    candidate: Any


def differences_of(
    reference: ClipInfo,
    candidate: ClipInfo,
    times: tuple[Array | None, Array | None] = (None, None),
) -> tuple[Difference, ...]:
    """Every field that differs, in the order of reports; what one side does not know is not one.

    Range and matrix are those that the planes are read with, by tag or by rule; between RGB and
    Y, Cb, Cr they belong to the pixel format and are not listed. ``times`` are the frames'
    presentation times in seconds, by which two clips of variable rate are compared.
    """
    return tuple(_differences(reference, candidate, times))


def _differences(
    a: ClipInfo, b: ClipInfo, times: tuple[Array | None, Array | None]
) -> Iterator[Difference]:
    size = Difference("size", f"{a.width}x{a.height}", f"{b.width}x{b.height}")
    if size.reference != size.candidate:
        yield size
    yield from _timing(a, b, times)
    yield from _unequal(
        ("pixel_format", _plain_format(a.pixel_format), _plain_format(b.pixel_format)),
        ("bit_depth", a.bit_depth, b.bit_depth),
        *_colour(a, b),
        ("primaries", a.colour_tags.primaries, b.colour_tags.primaries),
        ("transfer", a.colour_tags.transfer, b.colour_tags.transfer),
        ("rotation", a.rotation_degrees, b.rotation_degrees),
        # Where nothing is said of these, the plain value holds.
        ("sar", a.sample_aspect_ratio or "1:1", b.sample_aspect_ratio or "1:1"),
        ("field_order", a.field_order or "progressive", b.field_order or "progressive"),
        ("hdr", a.hdr or "none", b.hdr or "none"),
        ("alpha", a.alpha or "opaque", b.alpha or "opaque"),
        ("codec", a.codec, b.codec),
        ("container", a.container, b.container),
    )


def _unequal(*fields: tuple[str, Any, Any]) -> Iterator[Difference]:
    for field, reference, candidate in fields:
        if reference != candidate and reference is not None and candidate is not None:
            yield Difference(field, reference, candidate)


def _colour(a: ClipInfo, b: ClipInfo) -> tuple[tuple[str, Any, Any], ...]:
    one, two = a.colour, b.colour
    if one is None or two is None or (one.matrix == "rgb") != (two.matrix == "rgb"):
        return ()
    return ("range", one.range, two.range), ("matrix", one.matrix, two.matrix)


def _timing(
    a: ClipInfo, b: ClipInfo, times: tuple[Array | None, Array | None]
) -> Iterator[Difference]:
    if a.frame_rate and b.frame_rate and not _same_rate(a, b, a.frame_rate, b.frame_rate):
        yield Difference("frame_rate", a.frame_rate, b.frame_rate)
    constant = (a.constant_frame_rate, b.constant_frame_rate)
    if None in constant or all(constant):
        return
    if constant[0] != constant[1]:
        words = ["constant" if known else "variable" for known in constant]
        yield Difference("frame_times", *words)
    elif (apart := _times_apart(*times)) is not None:
        yield Difference("frame_times", "variable", f"variable, up to {apart:.3g} s off")


def _same_rate(a: ClipInfo, b: ClipInfo, one: float, two: float) -> bool:
    if abs(one - two) <= _SAME_RATE * max(one, two):
        return True
    steps = min(a.frames or 1, b.frames or 1) - 1
    return 0 < steps * abs(1 / one - 1 / two) <= _CLOCK_S


def _times_apart(one: Array | None, two: Array | None) -> float | None:
    """How far the times of two clips of one count part, if that makes another pattern."""
    if one is None or two is None or len(one) != len(two) or len(one) < 2:
        return None
    # Where each begins (a decoder's delay, an edit) is no matter of pattern.
    apart = float(np.abs((one - one[0]) - (two - two[0])).max())
    step = float(np.median(np.diff(one)))
    return apart if apart > max(_OTHER_TIME * step, _CLOCK_S) else None


def _plain_format(pixel_format: str) -> str:
    """Without the old names' J, which says the range once more: yuvj420p is yuv420p."""
    return pixel_format.replace("yuvj", "yuv", 1)

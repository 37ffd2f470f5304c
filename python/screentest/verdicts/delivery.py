"""What a delivery must look like: a short closed TOML file beside the policy.

A policy says when a clip is broken; a delivery spec says what was ordered.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from screentest.errors import PolicyError
from screentest.verdicts.document import parse_toml, plain_validation, read_toml, refuse_unknown

__all__ = ["Delivery", "DeliveryLike", "as_delivery", "load_delivery", "parse_delivery"]

DEFAULT_DURATION_TOLERANCE_S = 0.05
"""A container rounds its duration to its time base and to whole frames: 0.05 s covers both at 24
frames per second and above."""

DEFAULT_FRAME_RATE_TOLERANCE = 0.01
"""Tells 29.97 from 30 and 23.976 from 24, and forgives stamps that are rounded to milliseconds."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was ordered; an item that is ``None`` is not asked for.

    Durations in seconds, ``frame_rate`` in frames per second, sizes in pixels as shown.
    ``longest_freeze_s`` is the longest time one picture may stand; ``black_frames`` and
    ``duplicate_frames`` are the largest counts allowed in the clip.
    """

    duration_s: float | None = None
    duration_tolerance_s: float | None = None
    frame_rate: float | None = None
    frame_rate_tolerance: float | None = None
    frames: int | None = None
    width: int | None = None
    height: int | None = None
    audio: bool | None = None
    longest_freeze_s: float | None = None
    black_frames: int | None = None
    duplicate_frames: int | None = None

    @property
    def resolved_duration_tolerance_s(self) -> float:
        """The tolerance in use."""
        given = self.duration_tolerance_s
        return DEFAULT_DURATION_TOLERANCE_S if given is None else given

    @property
    def resolved_frame_rate_tolerance(self) -> float:
        """The tolerance in use."""
        given = self.frame_rate_tolerance
        return DEFAULT_FRAME_RATE_TOLERANCE if given is None else given

    def asked_for(self) -> dict[str, Any]:
        """The items asked for, as plain data."""
        items = msgspec.structs.asdict(self)
        return {key: value for key, value in items.items() if value is not None}


DeliveryLike: TypeAlias = "Delivery | Mapping[str, Any] | str | os.PathLike[str] | None"

_ABOVE_ZERO = ("duration_s", "frame_rate", "frames", "width", "height")


def as_delivery(spec: DeliveryLike) -> Delivery | None:
    """A spec from what a caller may pass: a spec, a mapping, the path of a TOML file, ``None``."""
    if spec is None:
        return None
    if isinstance(spec, Delivery):
        return _validated(spec, "spec")
    if isinstance(spec, Mapping):
        return parse_delivery(spec, source="spec")
    return load_delivery(spec)


def load_delivery(path: str | os.PathLike[str]) -> Delivery:
    """Read a delivery spec from a TOML file.

    Raises :class:`~screentest.errors.PolicyError` for a file that is not TOML, has an unknown key
    or contradicts itself; ``FileNotFoundError`` as such.
    """
    source = os.fspath(path)
    return parse_delivery(read_toml(source), source=source)


def parse_delivery(document: str | Mapping[str, Any], *, source: str = "spec") -> Delivery:
    """A delivery spec from TOML text or its mapping.

    >>> parse_delivery("frames = 121\\nwidth = 1344\\nheight = 768").frames
    121
    """
    given = parse_toml(document, source) if isinstance(document, str) else dict(document)
    refuse_unknown(given, Delivery.__struct_fields__, source, "")
    try:
        spec = msgspec.convert(given, Delivery)
    except msgspec.ValidationError as error:
        raise PolicyError(f"{source}: {plain_validation(error)}") from None
    return _validated(spec, source)


def _validated(spec: Delivery, source: str) -> Delivery:
    given = spec.asked_for()
    if not given:
        raise PolicyError(
            f"{source}: asks for nothing; known keys: {', '.join(Delivery.__struct_fields__)}"
        )
    for key, value in given.items():
        if not math.isfinite(value):
            raise PolicyError(f"{source}: {key} is {value}; a finite number was expected")
        if value < 0 or (value == 0 and key in _ABOVE_ZERO):
            least = "above 0" if key in _ABOVE_ZERO else "0 or more"
            raise PolicyError(f"{source}: {key} is {value:g}; it must be {least}")
    for target in ("duration", "frame_rate"):
        target_key = "duration_s" if target == "duration" else target
        tolerance_key = "duration_tolerance_s" if target == "duration" else "frame_rate_tolerance"
        if tolerance_key in given and target_key not in given:
            raise PolicyError(f"{source}: {tolerance_key} is given without {target_key}")
    if spec.duration_s is not None and spec.frame_rate is not None and spec.frames is not None:
        implied_s = spec.frames / spec.frame_rate
        if abs(implied_s - spec.duration_s) > max(
            spec.resolved_duration_tolerance_s, 1.0 / spec.frame_rate
        ):
            raise PolicyError(
                f"{source}: {spec.frames} frames at {spec.frame_rate:g} per second last "
                f"{implied_s:.3f} s, but duration_s is {spec.duration_s:g}; no clip can meet both"
            )
    return spec

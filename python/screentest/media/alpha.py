"""The one rule for pictures with an alpha channel.

A picture that is opaque everywhere is read as RGB. A transparent one has no single appearance, so
the caller says which: ``alpha="drop"`` reads the colours as stored, ``alpha=(r, g, b)`` lays the
picture over that colour. Without either it is read as stored and marked ``"transparent"``, and
verdicts that need its appearance are not given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from screentest.errors import InputError
from screentest.media.clip import Array

__all__ = ["AlphaRule", "AlphaState", "alpha_state", "check_alpha", "is_opaque"]

AlphaRule = Literal["drop"] | tuple[float, float, float] | None
AlphaState = Literal["opaque", "transparent", "composited", "dropped"]


def check_alpha(alpha: Any) -> AlphaRule:
    """The rule as given, or an error that says what is allowed.

    Raises:
        InputError: neither ``"drop"`` nor three numbers in [0, 1].
    """
    if alpha is None:
        return None
    if isinstance(alpha, str):
        if alpha == "drop":
            return "drop"
    else:
        try:
            red, green, blue = (float(part) for part in alpha)
        except (TypeError, ValueError):
            pass
        else:
            if all(0.0 <= part <= 1.0 for part in (red, green, blue)):
                return (red, green, blue)
    raise InputError(
        f'alpha={alpha!r}: give "drop", or a colour to lay the picture over as three numbers in '
        "[0, 1], e.g. (0, 0, 0)",
        code="bad_alpha",
    )


def is_opaque(alpha: Array) -> bool:
    """True if every sample of an alpha plane is at its top (1.0 for floats)."""
    top = 1.0 if alpha.dtype.kind == "f" else (1 << 8 * alpha.dtype.itemsize) - 1
    return bool((alpha >= top).all())


def alpha_state(rule: AlphaRule, planes: Iterable[Array]) -> AlphaState:
    """What becomes of the alpha planes of a clip; reads them only where no rule was given."""
    if rule == "drop":
        return "dropped"
    if rule is not None:
        return "composited"
    return "opaque" if all(is_opaque(plane) for plane in planes) else "transparent"

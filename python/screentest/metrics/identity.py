"""Which number a number is: scores made from the registry, and what may be compared with what.

``(metric, impl)`` names a number, not the metric alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from screentest.errors import InputError, ProtocolError
from screentest.metrics import registry
from screentest.metrics.facts import Score, State
from screentest.metrics.spec import MetricSpec

__all__ = [
    "Coverage",
    "Identified",
    "checked_value",
    "delta",
    "require_comparable",
    "require_same_impl",
    "score",
    "worst_of",
]

# What single precision may add to a limit that the formula keeps.
_TOLERANCE = 1e-6


def checked_value(spec: MetricSpec, value: Any) -> float:
    """The value as a float, if this metric can have it; -0 is 0.

    Raises:
        InputError: it is no number (``not_a_number``), NaN or infinite (``non_finite_value``), or
            beyond the metric's bounds by more than 1e-6 of them (``out_of_bounds``).
    """
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise InputError(
            f"{spec.name}={value!r}: expected a number, or None with the reason for it",
            code="not_a_number",
            metric=spec.name,
        )
    try:
        number = float(value) + 0.0
    except (TypeError, ValueError):
        # An array of several, or of none.
        raise InputError(
            f"{spec.name}: expected one number, this is a {type(value).__name__} that holds others",
            code="not_a_number",
            metric=spec.name,
        ) from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(
            f"{spec.name}={number}: expected a finite number; what was not measured is None, with "
            "the reason",
            code="non_finite_value",
            metric=spec.name,
        )
    low, high = spec.bounds
    below = low is not None and number < low - _TOLERANCE * max(1.0, abs(low))
    above = high is not None and number > high + _TOLERANCE * max(1.0, abs(high))
    if below or above:
        raise InputError(
            f"{spec.name}={number!r} lies outside {_range(spec)}, where all of its values are",
            code="out_of_bounds",
            metric=spec.name,
            value=number,
        )
    return number


def _range(spec: MetricSpec) -> str:
    low, high = spec.bounds
    if low is None:
        return f"what ends at {high:g}"
    return f"what begins at {low:g}" if high is None else f"{low:g} to {high:g}"


def score(
    name: str,
    value: float | None,
    *,
    reason: str | None = None,
    frames: int = 0,
    worst: float | None = None,
    worst_frame: int | None = None,
    identical_frames: int = 0,
    state: State | None = None,
    impl_suffix: str = "",
    details: Mapping[str, Any] | None = None,
) -> Score:
    """The row of a registered metric: its unit, ``impl`` and direction are the registry's.

    Args:
        name: of the registry.
        value: finite and within the metric's bounds, or ``None``.
        reason: why there is no value: needed for ``None``, and for nothing else.
        frames: how many were measured.
        worst: the worst frame's value.
        worst_frame: its index.
        identical_frames: how many frames equal their reference.
        state: by default ``"measured"``, and ``"unmeasured"`` for ``None``; ``"identical"`` needs
            no value and no reason.
        impl_suffix: what the number depends on besides the metric: options, a library's version.
        details: what one metric alone has to say.

    Raises:
        InputError: the metric is unknown, the value is one that it cannot have, or value, reason
            and state contradict each other (``contradiction``).

    >>> score("psnr", 38.5, frames=48).unit
    'dB'
    >>> score("lpips", None, reason="torch is not installed").state
    'unmeasured'
    """
    spec = registry.spec(name)
    if state is None:
        state = "unmeasured" if value is None else "measured"
    agrees = {
        "measured": value is not None and reason is None,
        "identical": reason is None,
        "unmeasured": value is None and bool(reason and reason.strip()),
    }
    if not agrees[state]:
        raise InputError(
            f"{name}: state {state!r} with value {value!r} and reason {reason!r}: what is measured "
            "has a value, what is not has a reason and none",
            code="contradiction",
            metric=name,
        )
    return Score(
        name=name,
        value=None if value is None else checked_value(spec, value),
        state=state,
        unit=spec.unit,
        impl=spec.impl + impl_suffix,
        direction=spec.direction,
        frames=frames,
        worst=None if worst is None else checked_value(spec, worst),
        worst_frame=worst_frame,
        identical_frames=identical_frames,
        reason=None if reason is None else " ".join(reason.split()),
        details=dict(details or {}),
    )


def worst_of(name: str, values: Sequence[float], frames: Sequence[int]) -> tuple[float, int]:
    """The worst of some values of a metric and its frame; the first of equals. Where the best value
    depends on the reference, 0 stands for it."""
    spec = registry.spec(name)
    bad = [abs(value) if (b := spec.badness(value)) is None else b for value in values]
    at = bad.index(max(bad))
    return values[at], frames[at]


class Identified(Protocol):
    """What has a metric's name and ``impl``, as :class:`~screentest.metrics.facts.Score` has."""

    @property
    def name(self) -> str: ...

    @property
    def impl(self) -> str: ...


def require_same_impl(first: Identified, second: Identified) -> None:
    """Refuse two rows that are not of one metric and one ``impl``.

    Raises:
        ProtocolError: ``different_metric`` or ``different_impl``; the message names both.
    """
    if first.name != second.name:
        raise ProtocolError(
            f"{first.name} and {second.name} are two metrics: their numbers do not compare",
            code="different_metric",
            metrics=(first.name, second.name),
        )
    if first.impl != second.impl:
        raise ProtocolError(
            f"{first.name} by {first.impl} and by {second.impl} are two numbers that do not "
            "compare: measure both with one version",
            code="different_impl",
            metric=first.name,
            impls=(first.impl, second.impl),
        )


def delta(candidate: Score, reference: Score) -> float | None:
    """Candidate minus reference in the metric's unit; ``None`` where either has no value.

    Raises:
        ProtocolError: as :func:`require_same_impl`.

    >>> delta(score("psnr", 40.0), score("psnr", 38.5))
    1.5
    """
    require_same_impl(candidate, reference)
    if candidate.value is None or reference.value is None:
        return None
    return candidate.value - reference.value


class Coverage(NamedTuple):
    """Metrics that only one of two sides has, sorted."""

    first: tuple[str, ...]
    second: tuple[str, ...]


def require_comparable(first: Mapping[str, str], second: Mapping[str, str]) -> Coverage:
    """Refuse two sets of {metric: impl} that disagree about a metric which both have.

    Returns:
        The metrics that only one side has: a difference of coverage, and no conflict.

    Raises:
        ProtocolError: ``different_impl``; the message names every metric with both versions.

    >>> require_comparable({"psnr": "psnr@1", "ssim": "ssim@1"}, {"psnr": "psnr@1"})
    Coverage(first=('ssim',), second=())
    """
    differing = {
        name: (first[name], second[name])
        for name in sorted(first.keys() & second.keys())
        if first[name] != second[name]
    }
    if differing:
        told = "; ".join(f"{name} by {a} and by {b}" for name, (a, b) in differing.items())
        raise ProtocolError(
            f"numbers of different versions do not compare: {told}",
            code="different_impl",
            impls=differing,
        )
    return Coverage(
        tuple(sorted(first.keys() - second.keys())), tuple(sorted(second.keys() - first.keys()))
    )

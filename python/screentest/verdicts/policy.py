"""The limits of the integrity screen as data: each with its unit and the populations behind it.

``policies/integrity.toml`` ships and is complete; :mod:`screentest.verdicts.document` says how a
user's file is laid over it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec

from screentest.errors import PolicyError
from screentest.metrics.integrity import AXES
from screentest.verdicts.document import Kind, Limit, PolicyDocument

__all__ = [
    "AXES",
    "CALIBRATED_AXES",
    "Limit",
    "Limits",
    "Policy",
    "PolicyLike",
    "Severities",
    "as_policy",
    "default_policy",
    "load_policy",
    "parse_policy",
]

CALIBRATED_AXES: tuple[str, ...] = ("noise", "blank", "grid")
"""The axes that the sampled frames carry, and the only ones a sampled screen requires by itself."""

SCHEMA = "screentest/integrity-policy@1"


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of the integrity screen; ``policies/integrity.toml`` says what each means."""

    noise_floor: Limit
    noise_min_share: Limit
    blank_std: Limit
    blank_share: Limit
    black_luma: Limit
    grid_ratio: Limit
    grid_levels: Limit
    frozen_change: Limit
    frozen_rms: Limit
    frozen_drift: Limit
    frozen_ends: Limit
    frozen_min_s: Limit
    frozen_min_repeats: Limit
    frozen_min_frames: Limit
    frozen_refresh_rms: Limit
    frozen_refresh_change: Limit
    duplicate_ratio: Limit


class Severities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a defect does to the verdict. Damage and non-finite samples always reject."""

    noise: Literal["reject", "warn"]
    blank: Literal["reject", "warn"]
    grid: Literal["reject", "warn"]
    frozen: Literal["reject", "warn"]
    duplicate: Literal["reject", "warn"]
    black: Literal["reject", "warn"]
    flat: Literal["reject", "warn"]


class Policy(PolicyDocument, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits, severities and the axes that a pass must have measured.

    Build one with :func:`load_policy` or :func:`parse_policy`, which check it.
    """

    required: tuple[str, ...]
    severities: Severities
    limits: Limits


PolicyLike: TypeAlias = "Policy | str | os.PathLike[str] | None"

_RANGES: dict[str, tuple[float, float, str]] = {
    "noise_floor": (
        0.0,
        0.9,
        "the shift-tolerant correlation is searched for only where the plain one is below 0.9",
    ),
    "noise_min_share": (0.0, 1.0, "it is a share"),
    "blank_std": (0.0, 0.5, "luma in [0, 1] has no larger standard deviation"),
    "blank_share": (0.0, 1.0, "it is a share"),
    "black_luma": (0.0, 1.0, "luma lies in [0, 1]"),
    "grid_ratio": (1.0, 1e6, "1 is the level of the spectrum around the peak"),
    "grid_levels": (0.0, 255.0, "it is in 8-bit levels"),
    "frozen_change": (0.0, 8.0, "the change between two frames is exact only up to 8 levels"),
    "frozen_rms": (0.0, 255.0, "it is in 8-bit levels"),
    "frozen_drift": (0.0, 255.0, "it is in 8-bit levels"),
    "frozen_ends": (0.0, 8.0, "the change between two frames is exact only up to 8 levels"),
    "frozen_min_s": (0.0, 86400.0, "it is a duration in seconds"),
    "frozen_min_repeats": (1.0, 1e6, "it counts frames"),
    "frozen_min_frames": (1.0, 1e6, "it counts frames"),
    "frozen_refresh_rms": (0.0, 255.0, "it is in 8-bit levels"),
    "frozen_refresh_change": (0.0, 255.0, "it is in 8-bit levels"),
    "duplicate_ratio": (0.0, 1.0, "a repeat differs by less than the pairs around it"),
}

_POSITIVE = frozenset({"noise_min_share", "blank_share", "grid_ratio", "frozen_min_s"})

_COUNTS = frozenset({"frozen_min_repeats", "frozen_min_frames"})


def _check_frozen(policy: Policy, source: str) -> None:
    if policy.limits.frozen_drift.value < policy.limits.frozen_change.value:
        raise PolicyError(
            f"{source}: limits.frozen_drift ({policy.limits.frozen_drift.value:g}) is below "
            f"limits.frozen_change ({policy.limits.frozen_change.value:g}), so a run of repeats "
            f"would end within a repeat"
        )


_KIND = Kind(
    type=Policy,
    schema=SCHEMA,
    file="integrity.toml",
    ranges=_RANGES,
    axes=AXES,
    positive=_POSITIVE,
    counts=_COUNTS,
    check=_check_frozen,
)


@lru_cache(maxsize=1)
def default_policy() -> Policy:
    """The policy that ships: every number with its provenance, provisional ones marked."""
    return _KIND.shipped()


def as_policy(policy: PolicyLike) -> Policy:
    """A policy from what a caller may pass: a policy, the path of a TOML file, or ``None``."""
    return _KIND.given(policy, default_policy())


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy file over the default policy.

    Raises :class:`~screentest.errors.PolicyError` for a file that is not TOML, has an unknown key,
    overrides a limit without saying why, or contradicts itself; ``FileNotFoundError`` as such.
    """
    return _KIND.load(path, default_policy())


def parse_policy(document: str | Mapping[str, Any], *, source: str = "policy") -> Policy:
    """Merge a policy document (TOML text or its mapping) over the default policy.

    >>> policy = parse_policy('''
    ... name = "time lapse"
    ... [limits.noise_floor]
    ... value = 0.4
    ... provenance = "12 accepted time lapses read 0.48 to 0.71"
    ... ''')
    >>> policy.limits.noise_floor.value, policy.limits.grid_ratio.value
    (0.4, 6.0)
    """
    return _KIND.parse(document, default_policy(), source)

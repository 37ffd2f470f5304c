"""The limits of the track verdict as data; ``policies/tracks.toml`` says what each means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from screentest.errors import PolicyError
from screentest.verdicts.document import Kind, Limit, PolicyDocument
from screentest.verdicts.judgement import Severity

__all__ = [
    "TrackLimits",
    "TrackPolicy",
    "TrackPolicyLike",
    "TrackSeverities",
    "as_track_policy",
    "default_track_policy",
    "load_track_policy",
    "parse_track_policy",
]


class TrackLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of the track verdict."""

    warble_ratio: Limit
    over_smoothing_ratio: Limit
    control_survival: Limit
    control_stability: Limit
    ceiling_survival: Limit
    collapse_share: Limit
    frozen_levels: Limit
    frozen_px: Limit
    frozen_share: Limit
    exposure_levels: Limit
    exposure_ratio: Limit


class TrackSeverities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a defect does to the verdict. A candidate that stands still throughout while its control
    moves is always rejected, and so is one without texture throughout."""

    warble: Severity
    over_smoothing: Severity


class TrackPolicy(PolicyDocument, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits and severities. What could not be measured never passes, so nothing is required by
    name.

    Build one with :func:`load_track_policy` or :func:`parse_track_policy`, which check it.
    """

    severities: TrackSeverities
    limits: TrackLimits


TrackPolicyLike: TypeAlias = "TrackPolicy | str | os.PathLike[str] | None"

_SHARE = (0.0, 1.0, "it is a share")
_LEVELS = (0.0, 255.0, "it is in 8-bit levels")


def _check_floors(policy: TrackPolicy, source: str) -> None:
    limits = policy.limits
    if limits.ceiling_survival.value < limits.control_survival.value:
        raise PolicyError(
            f"{source}: limits.ceiling_survival ({limits.ceiling_survival.value:g}) is below "
            f"limits.control_survival ({limits.control_survival.value:g}), under which no control "
            "is compared with at all"
        )


_KIND = Kind(
    type=TrackPolicy,
    schema="screentest/tracks-policy@1",
    file="tracks.toml",
    ranges={
        "warble_ratio": (0.0, 1.0, "a clip against itself has a ratio of 1"),
        "over_smoothing_ratio": (1.0, 1e6, "a clip against itself has a ratio of 1"),
        "control_survival": _SHARE,
        "control_stability": _SHARE,
        "ceiling_survival": _SHARE,
        "collapse_share": _SHARE,
        "frozen_levels": _LEVELS,
        "frozen_px": (0.0, 1.0, "it is in pixels a frame; what moves by one is not frozen"),
        "frozen_share": _SHARE,
        "exposure_levels": _LEVELS,
        "exposure_ratio": (1.0, 1e6, "a step stands above the steps around it"),
    },
    positive=frozenset({"collapse_share", "frozen_share", "exposure_levels"}),
    check=_check_floors,
)


@lru_cache(maxsize=1)
def default_track_policy() -> TrackPolicy:
    """The policy that ships: every number with its provenance, provisional ones marked."""
    return _KIND.shipped()


def as_track_policy(policy: TrackPolicyLike) -> TrackPolicy:
    """A policy from what a caller may pass: a policy, the path of a TOML file, or ``None``."""
    return _KIND.given(policy, default_track_policy())


def load_track_policy(path: str | os.PathLike[str]) -> TrackPolicy:
    """Read a policy file over the default policy.

    Raises :class:`~screentest.errors.PolicyError` for a file that is not TOML, has an unknown key,
    overrides a limit without saying why, or contradicts itself; ``FileNotFoundError`` as such.
    """
    return _KIND.load(path, default_track_policy())


def parse_track_policy(document: str | Mapping[str, Any], *, source: str = "policy") -> TrackPolicy:
    """Merge a policy document (TOML text or its mapping) over the default policy."""
    return _KIND.parse(document, default_track_policy(), source)

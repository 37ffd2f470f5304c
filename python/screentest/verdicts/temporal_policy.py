"""The limits of the temporal screen as data; ``policies/temporal.toml`` says what each means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from screentest.metrics.temporal.facts import AXES
from screentest.verdicts.document import Kind, Limit, PolicyDocument
from screentest.verdicts.judgement import Severity

__all__ = [
    "TemporalLimits",
    "TemporalPolicy",
    "TemporalPolicyLike",
    "TemporalSeverities",
    "as_temporal_policy",
    "default_temporal_policy",
    "load_temporal_policy",
    "parse_temporal_policy",
]


class TemporalLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of the temporal screen."""

    excursion_levels: Limit
    excursion_drift: Limit
    excursion_motion: Limit
    flicker_swings: Limit
    flicker_gap: Limit
    flicker_rate: Limit
    flicker_periodic: Limit
    region_levels: Limit
    region_swings: Limit
    region_periodic: Limit
    region_motion: Limit
    flash_levels: Limit
    flash_motion: Limit
    judder_explained: Limit
    judder_held: Limit
    judder_fresh: Limit
    judder_levels: Limit
    judder_brightness: Limit
    cut_ratio: Limit
    cut_levels: Limit
    fade_levels: Limit
    fade_frames: Limit
    fade_contrast: Limit


class TemporalSeverities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a defect does to the verdict."""

    flicker: Severity
    region_flicker: Severity
    flash: Severity
    judder: Severity


class TemporalPolicy(PolicyDocument, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits, severities and the axes that a pass must have measured.

    Build one with :func:`load_temporal_policy` or :func:`parse_temporal_policy`, which check it.
    """

    required: tuple[str, ...]
    severities: TemporalSeverities
    limits: TemporalLimits


TemporalPolicyLike: TypeAlias = "TemporalPolicy | str | os.PathLike[str] | None"

_LEVELS = (0.0, 255.0, "it is in 8-bit levels")
_SHARE = (0.0, 1.0, "it is a share")
_COUNT = (1.0, 1e6, "it counts frames")

_KIND = Kind(
    type=TemporalPolicy,
    schema="screentest/temporal-policy@1",
    file="temporal.toml",
    ranges={
        "excursion_levels": _LEVELS,
        "excursion_drift": (0.0, 1e3, "it is a ratio"),
        "excursion_motion": _SHARE,
        "flicker_swings": (2.0, 1e6, "one excursion is a flash"),
        "flicker_gap": _COUNT,
        "flicker_rate": (0.0, 1e3, "it is a rate in 1/s"),
        "flicker_periodic": _SHARE,
        "region_levels": _LEVELS,
        "region_swings": (2.0, 1e6, "one excursion is a flash"),
        "region_periodic": _SHARE,
        "region_motion": _SHARE,
        "flash_levels": _LEVELS,
        "flash_motion": _SHARE,
        "judder_explained": _SHARE,
        "judder_held": _SHARE,
        "judder_fresh": _SHARE,
        "judder_levels": _LEVELS,
        "judder_brightness": _SHARE,
        "cut_ratio": (1.0, 1e3, "a cut changes more than the frames around it"),
        "cut_levels": _LEVELS,
        "fade_levels": _LEVELS,
        "fade_frames": _COUNT,
        "fade_contrast": _SHARE,
    },
    axes=AXES,
    positive=frozenset({"excursion_levels", "region_levels", "flash_levels"}),
    counts=frozenset({"flicker_swings", "flicker_gap", "region_swings", "fade_frames"}),
)


@lru_cache(maxsize=1)
def default_temporal_policy() -> TemporalPolicy:
    """The policy that ships: every number with its provenance, provisional ones marked."""
    return _KIND.shipped()


def as_temporal_policy(policy: TemporalPolicyLike) -> TemporalPolicy:
    """A policy from what a caller may pass: a policy, the path of a TOML file, or ``None``."""
    return _KIND.given(policy, default_temporal_policy())


def load_temporal_policy(path: str | os.PathLike[str]) -> TemporalPolicy:
    """Read a policy file over the default policy.

    Raises :class:`~screentest.errors.PolicyError` for a file that is not TOML, has an unknown key,
    overrides a limit without saying why, or contradicts itself; ``FileNotFoundError`` as such.
    """
    return _KIND.load(path, default_temporal_policy())


def parse_temporal_policy(
    document: str | Mapping[str, Any], *, source: str = "policy"
) -> TemporalPolicy:
    """Merge a policy document (TOML text or its mapping) over the default policy."""
    return _KIND.parse(document, default_temporal_policy(), source)

"""The limits of a screen as data: each with its unit and the populations behind it.

A policy is a closed TOML document. The one that ships (``policies/integrity.toml``) is complete; a
user's file names only what it changes, and owes a provenance for each number it overrides.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from screentest.errors import PolicyError
from screentest.metrics.integrity import AXES

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


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number with its unit and the evidence for it.

    ``provisional`` says that the evidence is our own (or the user's own) alone.
    """

    value: float
    unit: str
    provenance: str
    provisional: bool = True


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


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits, severities and the axes that a pass must have measured.

    Build one with :func:`load_policy` or :func:`parse_policy`, which check it.
    """

    schema: str
    name: str
    required: tuple[str, ...]
    severities: Severities
    limits: Limits

    @property
    def sha256(self) -> str:
        """Digest of the policy's content: equal for two policies that judge alike and say why."""
        return _digest(self)


@lru_cache(maxsize=16)
def _digest(policy: Policy) -> str:
    content = msgspec.to_builtins(policy)
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


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


@lru_cache(maxsize=1)
def default_policy() -> Policy:
    """The policy that ships: every number with its provenance, provisional ones marked."""
    text = resources.files(__package__).joinpath("policies/integrity.toml").read_text("utf-8")
    return _checked(parse_toml(text, "integrity.toml"), "integrity.toml")


def as_policy(policy: PolicyLike) -> Policy:
    """A policy from what a caller may pass: a policy, the path of a TOML file, or ``None``."""
    if policy is None:
        return default_policy()
    if isinstance(policy, Policy):
        return _validated(policy, policy.name)
    return load_policy(policy)


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy file over the default policy.

    Raises :class:`~screentest.errors.PolicyError` for a file that is not TOML, has an unknown key,
    overrides a limit without saying why, or contradicts itself; ``FileNotFoundError`` as such.
    """
    source = os.fspath(path)
    return parse_policy(read_toml(source), source=source)


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
    user = parse_toml(document, source) if isinstance(document, str) else dict(document)
    merged = msgspec.to_builtins(default_policy())
    known = {"schema", "name", "required", "severities", "limits"}
    refuse_unknown(user, known, source, "")
    if user.get("schema", SCHEMA) != SCHEMA:
        raise PolicyError(f"{source}: schema is {user['schema']!r}; this version reads {SCHEMA!r}")
    changed = {key for key in ("required", "severities", "limits") if key in user}
    if changed and user.get("name", merged["name"]) == merged["name"]:
        raise PolicyError(
            f"{source}: a policy that changes {' and '.join(sorted(changed))} needs a name of its "
            f'own, since reports quote it: name = "..."'
        )
    for key in ("name", "required"):
        if key in user:
            merged[key] = user[key]
    severities = _table(user, "severities", source)
    refuse_unknown(severities, merged["severities"], source, "severities.")
    merged["severities"].update(severities)
    limits = _table(user, "limits", source)
    refuse_unknown(limits, merged["limits"], source, "limits.")
    for key in limits:
        merged["limits"][key] = _overridden(key, limits, merged["limits"][key], source)
    return _checked(merged, source)


def _overridden(
    key: str, limits: Mapping[str, Any], shipped: Mapping[str, Any], source: str
) -> dict[str, Any]:
    given = _table(limits, key, source, "limits.")
    refuse_unknown(given, {"value", "unit", "provenance", "provisional"}, source, f"limits.{key}.")
    if "value" not in given:
        raise PolicyError(f"{source}: limits.{key} has no value")
    provenance = given.get("provenance")
    if not isinstance(provenance, str) or not provenance.strip():
        raise PolicyError(
            f"{source}: limits.{key} needs a provenance: which clips say that the limit is "
            f"{given['value']!r}?"
        )
    if given.get("unit", shipped["unit"]) != shipped["unit"]:
        raise PolicyError(
            f"{source}: limits.{key} is in {given['unit']!r}; this limit is in {shipped['unit']!r}"
        )
    return {"unit": shipped["unit"], "provisional": True, **given}


def _checked(document: Mapping[str, Any], source: str) -> Policy:
    try:
        policy = msgspec.convert(document, Policy)
    except msgspec.ValidationError as error:
        raise PolicyError(f"{source}: {plain_validation(error)}") from None
    return _validated(policy, source)


def _validated(policy: Policy, source: str) -> Policy:
    """Refuse what no clip could be judged by; the message names the key."""
    if not policy.name.strip():
        raise PolicyError(f"{source}: name is empty; reports quote it")
    if not policy.required:
        raise PolicyError(
            f"{source}: required is empty, so every clip would pass; name at least one of "
            f"{', '.join(AXES)}"
        )
    for axis in policy.required:
        if axis not in AXES:
            raise PolicyError(
                f"{source}: required names {axis!r}, which is no axis; the axes are "
                f"{', '.join(AXES)}"
            )
        if policy.required.count(axis) > 1:
            raise PolicyError(f"{source}: required names {axis!r} twice")
    for key, (low, high, why) in _RANGES.items():
        limit: Limit = getattr(policy.limits, key)
        value = limit.value
        if not math.isfinite(value):
            raise PolicyError(f"{source}: limits.{key} is {value}; a limit is a finite number")
        if not low <= value <= high or (key in _POSITIVE and value == 0.0):
            bounds = f"above {low:g} and at most" if key in _POSITIVE else f"{low:g} to"
            raise PolicyError(f"{source}: limits.{key} is {value:g}, not {bounds} {high:g}: {why}")
        if key in _COUNTS and value != int(value):
            raise PolicyError(f"{source}: limits.{key} is {value:g}; it counts frames")
        if not limit.provenance.strip():
            raise PolicyError(f"{source}: limits.{key} has an empty provenance")
    if policy.limits.frozen_drift.value < policy.limits.frozen_change.value:
        raise PolicyError(
            f"{source}: limits.frozen_drift ({policy.limits.frozen_drift.value:g}) is below "
            f"limits.frozen_change ({policy.limits.frozen_change.value:g}), so a run of repeats "
            f"would end within a repeat"
        )
    return policy


def read_toml(source: str) -> str:
    """The text of a TOML file; a missing file stays ``FileNotFoundError``."""
    try:
        return Path(source).read_text("utf-8")
    except UnicodeDecodeError:
        raise PolicyError(f"{source}: not UTF-8 text, so not TOML") from None
    except IsADirectoryError:
        raise PolicyError(f"{source}: a folder, where a TOML file was expected") from None


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Decode TOML; a syntax error becomes a one-line ``PolicyError`` that names the file."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{source}: not valid TOML: {error}") from None


def refuse_unknown(given: Mapping[str, Any], known: Any, source: str, prefix: str) -> None:
    """Raise ``PolicyError`` for the first key that is not known, with the nearest that is."""
    for key in given:
        if key not in known:
            import difflib

            near = difflib.get_close_matches(key, list(known), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
            raise PolicyError(f"{source}: unknown key {prefix + key!r}; {hint}")


_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "a table",
}


def plain_validation(error: msgspec.ValidationError) -> str:
    """msgspec's message in TOML's words, e.g. ``limits.grid_ratio.value: expected a number``."""
    message, _, path = str(error).partition(" - at `$")
    key = path.rstrip("`").lstrip(".")
    if found := re.fullmatch(r"Expected `(\w+)(?: \| null)?`, got `(\w+)`", message):
        wanted, given = (_KINDS.get(kind, kind) for kind in found.groups())
        message = f"expected {wanted}, got {given}"
    elif message.startswith("Invalid enum value"):
        message = f"{message.removeprefix('Invalid enum value ')} is none of reject, warn"
    return f"{key}: {message}" if key else message


def _table(parent: Mapping[str, Any], key: str, source: str, prefix: str = "") -> dict[str, Any]:
    value = parent.get(key, {})
    if not isinstance(value, Mapping):
        shape = '{ value = ..., provenance = "..." }' if prefix == "limits." else "{ ... }"
        raise PolicyError(
            f"{source}: {prefix}{key} is {value!r}; a table was expected: {key} = {shape}"
        )
    return dict(value)

"""Policies as documents: what every kind of policy is read, checked and merged by.

A policy is a closed TOML document of limits, each with its unit and the populations behind it. The
one that ships is complete; a user's file names only what it changes, and owes a provenance for each
number that it overrides.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from screentest.errors import PolicyError

__all__ = [
    "Kind",
    "Limit",
    "PolicyDocument",
    "parse_toml",
    "plain_validation",
    "read_toml",
    "refuse_unknown",
]


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number with its unit and the evidence for it.

    ``provisional`` says that the evidence is our own (or the user's own) alone.
    """

    value: float
    unit: str
    provenance: str
    provisional: bool = True


class PolicyDocument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all policies have.

    A kind of policy adds ``severities`` and ``limits``, both structs, and ``required`` where a pass
    waits for some of its axes.
    """

    schema: str
    name: str

    @property
    def sha256(self) -> str:
        """Digest of the policy's content: equal for two policies that judge alike and say why."""
        return _digest(self)


@lru_cache(maxsize=16)
def _digest(policy: PolicyDocument) -> str:
    content = msgspec.to_builtins(policy)
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


P = TypeVar("P", bound=PolicyDocument)

_TABLES = ("severities", "limits")


def _no_more_to_check(_policy: Any, _source: str) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[P]):
    """One kind of policy.

    Attributes:
        type: the closed struct.
        schema: what its documents say they are.
        file: the shipped policy, in ``policies/``.
        ranges: per limit the least and the largest value, and why.
        axes: what ``required`` may name; empty where the kind has no such list.
        positive: limits that may not be 0 though their range begins there.
        counts: limits that are whole numbers.
        budgets: per table of budgets the names that it may hold; a user's table replaces it whole.
        check: refuses a policy whose limits contradict each other.
    """

    type: type[P]
    schema: str
    file: str
    ranges: Mapping[str, tuple[float, float, str]]
    axes: tuple[str, ...] = ()
    positive: frozenset[str] = frozenset()
    counts: frozenset[str] = frozenset()
    budgets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    check: Callable[[P, str], None] = field(default=_no_more_to_check)

    def shipped(self) -> P:
        """The policy that ships, read anew; callers keep it."""
        text = resources.files(__package__).joinpath(f"policies/{self.file}").read_text("utf-8")
        return self._checked(parse_toml(text, self.file), self.file)

    def parse(self, document: str | Mapping[str, Any], default: P, source: str) -> P:
        """Merge a policy document (TOML text or its mapping) over ``default``."""
        user = parse_toml(document, source) if isinstance(document, str) else dict(document)
        merged = msgspec.to_builtins(default)
        refuse_unknown(user, merged, source, "")
        if user.get("schema", self.schema) != self.schema:
            raise PolicyError(
                f"{source}: schema is {user['schema']!r}; this version reads {self.schema!r}"
            )
        changed = set(user) - {"schema", "name"}
        if changed and user.get("name", merged["name"]) == merged["name"]:
            raise PolicyError(
                f"{source}: a policy that changes {' and '.join(sorted(changed))} needs a name of "
                f'its own, since reports quote it: name = "..."'
            )
        for key, known in self.budgets.items():
            refuse_unknown(_table(user, key, source), known, source, f"{key}.")
        for key in user.keys() - _TABLES:
            merged[key] = user[key]
        severities = _table(user, "severities", source)
        refuse_unknown(severities, merged["severities"], source, "severities.")
        merged["severities"].update(severities)
        limits = _table(user, "limits", source)
        refuse_unknown(limits, merged["limits"], source, "limits.")
        for key in limits:
            merged["limits"][key] = _overridden(key, limits, merged["limits"][key], source)
        return self._checked(merged, source)

    def load(self, path: str | os.PathLike[str], default: P) -> P:
        """Read a policy file over ``default``; a missing file stays ``FileNotFoundError``."""
        source = os.fspath(path)
        return self.parse(read_toml(source), default, source)

    def given(self, policy: Any, default: P) -> P:
        """A policy from what a caller may pass: a policy, the path of a TOML file, or ``None``.

        One that was built by hand is held to the rules of a document: nothing checked its values
        when it was made, and a report names it.
        """
        if policy is None or policy is default:
            return default
        if isinstance(policy, str | os.PathLike):
            return self.load(policy, default)
        if not isinstance(policy, self.type):
            raise PolicyError(
                f"the policy is a {type(policy).__name__}, where a {self.type.__name__} or the "
                "path of its TOML file was expected"
            )
        checked = self._checked(msgspec.to_builtins(policy), str(policy.name))
        self._check_own_words(checked, default)
        return checked

    def _check_own_words(self, policy: P, default: P) -> None:
        """What differs from the shipped policy has its own name, and its limits their evidence."""
        if policy == default:
            return
        if policy.name == default.name:
            raise PolicyError(
                f"{policy.name}: this policy differs from the one that ships and needs a name of "
                "its own, since reports quote it"
            )
        ours, shipped = (getattr(each, "limits", None) for each in (policy, default))
        for key in self.ranges:
            limit, before = getattr(ours, key), getattr(shipped, key)
            if limit.value == before.value:
                continue
            if limit.provenance == before.provenance:
                raise PolicyError(
                    f"{policy.name}: limits.{key} needs a provenance of its own: which clips say "
                    f"that the limit is {limit.value:g}?"
                )
            if limit.unit != before.unit:
                raise PolicyError(
                    f"{policy.name}: limits.{key} is in {limit.unit!r}; this limit is in "
                    f"{before.unit!r}"
                )

    def _checked(self, document: Mapping[str, Any], source: str) -> P:
        try:
            policy = msgspec.convert(document, self.type)
        except msgspec.ValidationError as error:
            raise PolicyError(f"{source}: {plain_validation(error)}") from None
        return self.validated(policy, source)

    def validated(self, policy: P, source: str) -> P:
        """Refuse what no clip could be judged by; the message names the key."""
        if not policy.name.strip():
            raise PolicyError(f"{source}: name is empty; reports quote it")
        if self.axes:
            self._check_required(getattr(policy, "required", ()), source)
        limits: Any = getattr(policy, "limits", None)
        for key, (low, high, why) in self.ranges.items():
            limit: Limit = getattr(limits, key)
            value = limit.value
            if not math.isfinite(value):
                raise PolicyError(f"{source}: limits.{key} is {value}; a limit is a finite number")
            if not low <= value <= high or (key in self.positive and value == 0.0):
                bounds = f"above {low:g} and at most" if key in self.positive else f"{low:g} to"
                raise PolicyError(
                    f"{source}: limits.{key} is {value:g}, not {bounds} {high:g}: {why}"
                )
            if key in self.counts and value != int(value):
                raise PolicyError(f"{source}: limits.{key} is {value:g}; it counts frames")
            if not limit.provenance.strip():
                raise PolicyError(f"{source}: limits.{key} has an empty provenance")
        self.check(policy, source)
        return policy

    def _check_required(self, required: tuple[str, ...], source: str) -> None:
        names = ", ".join(self.axes)
        if not required:
            raise PolicyError(
                f"{source}: required is empty, so every clip would pass; name at least one of "
                f"{names}"
            )
        for axis in required:
            if axis not in self.axes:
                raise PolicyError(
                    f"{source}: required names {axis!r}, which is no axis; the axes are {names}"
                )
            if required.count(axis) > 1:
                raise PolicyError(f"{source}: required names {axis!r} twice")


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
    if found := re.fullmatch(r"Expected `(\w+(?: \| \w+)*)`, got `(\w+)`", message):
        kinds, given = found.groups()
        known = [_KINDS.get(kind, kind) for kind in kinds.split(" | ") if kind != "null"]
        message = f"expected {' or '.join(known)}, got {_KINDS.get(given, given)}"
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

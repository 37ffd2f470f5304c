"""The families that one pass can fill, by name. Each is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from screentest.errors import InputError

if TYPE_CHECKING:
    from screentest.metrics.family import Family
    from screentest.metrics.spec import MetricSpec

__all__ = ["DEFAULT", "FAMILIES", "choose", "family", "metric_specs", "resolve_options"]

FAMILIES: dict[str, str] = {
    name: f"screentest.metrics.{name}"
    for name in ("integrity", "signal", "temporal", "tracks", "flow", "detail")
}
"""Package of each family, in the order of reports; its ``family`` module holds ``FAMILY``."""

DEFAULT = ("integrity", "signal", "temporal", "tracks")
"""What is measured where nothing else is asked for: what the base install can measure."""

_MOST = 2**31 - 1
"""The largest number that an option may have: no clip has as many frames."""


def family(name: str) -> Family[Any]:
    """The family of this name.

    Raises:
        InputError: there is none; the message lists them.
    """
    if name not in list(FAMILIES):
        raise InputError(
            f"family {name!r} is unknown; the families are {', '.join(FAMILIES)}",
            code="unknown_family",
            family=str(name),
        )
    found: Family[Any] = import_module(f"{FAMILIES[name]}.family").FAMILY
    return found


def metric_specs(name: str) -> tuple[MetricSpec, ...]:
    """The reference-free metrics of a family of the table, in the order of reports. Imports neither
    numpy nor any kernel."""
    specs: tuple[MetricSpec, ...] = import_module(f"{FAMILIES[name]}.names").METRICS
    return tuple(spec for spec in specs if not spec.paired)


def choose(wanted: str | Iterable[str | Family[Any]] | None) -> tuple[Family[Any], ...]:
    """The families asked for, each once, in the order of the table; others come last.

    Args:
        wanted: names, or one text with commas between them, or families that are not in the table;
            ``"all"`` is the whole table; by default :data:`DEFAULT`.

    Raises:
        InputError: a name is unknown, nothing was asked for, or two families share a name.
    """
    if wanted is None:
        wanted = DEFAULT
    elif isinstance(wanted, str):
        wanted = [name.strip() for name in wanted.split(",") if name.strip()]
    elif not isinstance(wanted, Iterable):
        raise InputError(f"families={wanted!r}: expected names", code="unknown_family")
    wanted = list(wanted)
    if wanted == ["all"]:
        wanted = list(FAMILIES)
    from screentest.metrics.family import Family

    found: dict[str, Family[Any]] = {}
    for one in wanted:
        chosen = one if isinstance(one, Family) else family(one)
        if found.setdefault(chosen.name, chosen) is not chosen:
            raise InputError(f"two families are called {chosen.name!r}", code="family_twice")
    if not found:
        raise InputError(
            f"no family was asked for; the families are {', '.join(FAMILIES)}", code="no_families"
        )
    order = list(FAMILIES)
    place = {name: order.index(name) if name in order else len(order) for name in found}
    return tuple(found[name] for name in sorted(found, key=place.__getitem__))


def resolve_options(
    families: Iterable[Family[Any]],
    options: Mapping[str, Mapping[str, Any]] | None,
    *,
    windows: int,
) -> dict[str, dict[str, Any]]:
    """The options of each family: its defaults, ``windows`` where it has such, and what was given.

    Raises:
        InputError: an option or its value is wrong, or is for a family that was not asked for.
    """
    if type(windows) is not int or not 1 <= windows <= _MOST:
        raise InputError(
            f"windows={windows!r}: a whole number of at least 1 was expected", code="bad_windows"
        )
    if options is not None and not isinstance(options, Mapping):
        raise _not_options("options", options)
    given = dict(options or {})
    resolved: dict[str, dict[str, Any]] = {}
    for one in families:
        said = given.pop(one.name, {})
        if not isinstance(said, Mapping):
            raise _not_options(f"the options of {one.name}", said)
        unknown = [name for name in said if name not in one.options]
        if unknown:
            held = ", ".join(one.options) or "none"
            raise InputError(
                f"{one.name} has no option {unknown[0]!r}; it has {held}",
                code="unknown_option",
                family=one.name,
            )
        shared = {"windows": windows} if "windows" in one.options else {}
        resolved[one.name] = {**one.options, **shared, **said}
        for name, value in said.items():
            if isinstance(value, int) and abs(value) > _MOST:
                raise InputError(
                    f"{one.name}: {name}={value}: a smaller number was expected", code="bad_option"
                )
        # A wrong value is told before anything is opened.
        one.wanted(1, resolved[one.name])
    if given:
        raise InputError(
            f"options for {', '.join(map(str, given))}, which was not asked for",
            code="unknown_family",
        )
    return resolved


def _not_options(what: str, said: object) -> InputError:
    return InputError(
        f'{what} are {said!r}: expected such as {{"integrity": {{"depth": "sampled"}}}}',
        code="bad_option",
    )

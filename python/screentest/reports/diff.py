"""Why two documents differ: conditions, budgets, numbers and the files behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard, get_args

import msgspec

from screentest.errors import ProtocolError
from screentest.gates.report import GateReport
from screentest.gates.statistics import BENCHMARKS, REFERENCE
from screentest.metrics.identity import require_comparable
from screentest.reports.canonical import dumps
from screentest.reports.contents import metric_of
from screentest.reports.sealed import Sealed

__all__ = ["PARTS", "SCHEMA", "Change", "Difference", "Part", "diff"]

SCHEMA = "screentest/report-diff@1"

Part: TypeAlias = Literal[
    "document", "verdict", "protocol", "budgets", "controls", "prompts", "values", "clips", "other"
]
"""What a change is of, in the order in which it is told."""

PARTS: tuple[Part, ...] = get_args(Part)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One place where two documents differ.

    Attributes:
        part: what it is of.
        prompt: which pair's it is; empty for what is of no single one.
        name: what it is called there; empty for the pair itself.
        benchmark: which one a statistic over the prompts belongs to.
        first: what the first has there, ``None`` where it has nothing.
        second: what the second has.
        delta: of two numbers that compare, second minus first.
        refused: why two numbers do not compare.
    """

    part: Part
    prompt: str = ""
    name: str = ""
    benchmark: str = ""
    first: Any = None
    second: Any = None
    delta: float | None = None
    refused: str = ""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Two documents side by side.

    Attributes:
        digests: of the first and the second.
        equal: whether their bytes are.
        changes: where they differ, part by part.
    """

    digests: tuple[str, str]
    equal: bool
    changes: tuple[Change, ...]

    def to_json(self) -> bytes:
        """Canonical JSON."""
        return dumps({"schema": SCHEMA, **msgspec.to_builtins(self)})


def diff(first: Sealed, second: Sealed) -> Difference:
    """Where two documents differ. Numbers get a delta where they are of one version, and a refusal
    where they are not.

    What follows from the facts alone is told once: at the verdict and the values, not again at
    every row and reason.
    """
    equal = first.digest == second.digest
    changes = [] if equal else sorted(_changes(first, second), key=_order)
    if not (equal or changes):
        changes = [
            Change(part="other", name="fields that this version does not know, or one left out")
        ]
    return Difference(digests=(first.digest, second.digest), equal=equal, changes=tuple(changes))


def _order(change: Change) -> tuple[int, bool]:
    """By part, and what is of all prompts before what is of one."""
    return PARTS.index(change.part), bool(change.prompt)


class _Key(NamedTuple):
    """Where one thing is said: of which part, of which prompt (or of none), under which name; a
    statistic over the prompts in which benchmark."""

    part: Part
    prompt: str
    name: str
    benchmark: str = ""


_Flat: TypeAlias = dict[_Key, Any]


def _changes(first: Sealed, second: Sealed) -> Iterator[Change]:
    if first.schema != second.schema:
        yield Change(part="document", name="schema", first=first.schema, second=second.schema)
    for name in sorted(first.impls.keys() | second.impls.keys()):
        one, other = first.impls.get(name), second.impls.get(name)
        if one != other:
            yield Change(part="document", name=f"impls.{name}", first=one, second=other)
    ours, theirs = _flat(first), _flat(second)
    alone = {key.prompt for key in ours} ^ {key.prompt for key in theirs}
    for key in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(key), theirs.get(key)
        # What a pair reads that only one of them has differs from nothing.
        if one == other or (key.prompt in alone and key.name):
            continue
        delta, refused = None, ""
        if key.part in ("values", "clips") and _is_number(one) and _is_number(other):
            refused = _why_not(key, first, second)
            delta = None if refused else other - one
        yield Change(
            part=key.part,
            prompt=key.prompt,
            name=key.name,
            benchmark=key.benchmark,
            first=one,
            second=other,
            delta=delta,
            refused=refused,
        )


def _why_not(key: _Key, first: Sealed, second: Sealed) -> str:
    """Why two numbers do not compare; empty where they do.

    A number of one metric needs that one's version. A statistic that is made of several needs them
    all, since nothing in it tells them apart.
    """
    metric = metric_of(key.name.rsplit(" ", 1)[-1])
    alone = key.part == "clips" or key.name in REFERENCE or key.name.startswith("ratio_")
    versions = []
    for sealed in (first, second):
        needed = {metric: sealed.impls[metric]} if alone and metric is not None else sealed.impls
        versions.append({**needed, "the gate's statistics": _impl(sealed.body)})
    try:
        require_comparable(*versions)
    except ProtocolError as error:
        return error.message
    return ""


def _impl(body: Any) -> str:
    """Version of the definitions that made a body's statistics."""
    facts = body
    if isinstance(body, GateReport):
        facts = body.population or body.reference
    return str(getattr(facts, "impl", ""))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _flat(sealed: Sealed) -> _Flat:
    """Everything that a document says that does not follow from the rest of it."""
    body = msgspec.to_builtins(sealed.body)
    found = {_Key("protocol", "", name): value for name, value in _leaves(body["protocol"], "")}
    if not isinstance(sealed.body, GateReport):
        found |= {_Key("values", "", name): value for name, value in body["values"].items()}
        return found
    found[_Key("verdict", "", "verdict")] = body["verdict"]
    for benchmark in body["benchmarks"].values():
        for row in benchmark["budgets"]:
            name = row["budget"]["name"]
            found[_Key("verdict", "", f"{name} passed")] = row["passed"]
            found[_Key("verdict", "", f"{name} disregarded")] = row["disregarded"] or None
    for field, value in (body["table"] or {}).items():
        if field != "budgets":
            found[_Key("budgets", "", f"table {field}")] = value
    for budget in (body["table"] or {}).get("budgets", ()):
        for field in ("low", "high", "provenance"):
            found[_Key("budgets", "", f"{budget['name']} {field}")] = budget[field]
    for control in ("null_control", "repeat_control"):
        if body[control] is not None:
            found[_Key("controls", control, "")] = "there"
        found |= {_Key("controls", control, name): v for name, v in _leaves(body[control], "")}
    found[_Key("controls", "", "waived")] = body["waived"]
    return found | dict(_facts(body["population"] or body["reference"] or {}))


def _facts(facts: dict[str, Any]) -> Iterator[tuple[_Key, Any]]:
    yield from _numbers("", facts)
    benchmarks = facts.get("benchmarks", {})
    for benchmark in (name for name in BENCHMARKS if name in benchmarks):
        yield from _numbers("", benchmarks[benchmark], benchmark)
        for name, interval in benchmarks[benchmark]["intervals"].items():
            for end, value in zip(("low", "high"), interval, strict=True):
                key = _Key("values", "", f"{end} end of the interval of {name}", benchmark)
                yield key, value
    for pair in facts.get("prompts") or facts.get("rows") or ():
        prompt = pair["prompt"]
        yield _Key("prompts", prompt, ""), "measured"
        for at, side in enumerate(("reference", "candidate")):
            yield _Key("prompts", prompt, f"{side} file"), pair["sources"][at]
            yield _Key("prompts", prompt, f"{side} content"), pair["contents"][at]
            for name, value in pair.get(side, {}).items():
                yield _Key("clips", prompt, f"{side} {name}"), value
        yield from _numbers(prompt, pair)
        rest = {key: value for key, value in pair.items() if key not in _TOLD}
        yield from ((_Key("other", prompt, name), value) for name, value in _leaves(rest, ""))
    rest = {key: value for key, value in facts.items() if key not in _TOLD}
    yield from ((_Key("other", "", name), value) for name, value in _leaves(rest, ""))


def _numbers(
    prompt: str, holder: Mapping[str, Any], benchmark: str = ""
) -> Iterator[tuple[_Key, Any]]:
    """Values, or why there is none."""
    for group in ("values", "unmeasured", "inapplicable"):
        for name, value in holder.get(group, {}).items():
            yield _Key("values", prompt, name, benchmark), value


_TOLD = frozenset(
    {
        *("prompt", "prompts", "rows", "sources", "contents", "reference", "candidate"),
        *("benchmarks", "values", "unmeasured", "inapplicable", "impls"),
    }
)
"""Fields that have a part of their own."""


def _leaves(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}" if place else str(key))
    elif value is not None and value != {}:
        yield place, value

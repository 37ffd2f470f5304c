"""The kinds of sealed documents, as data: which body each has, and what must hold within it.

An id changes when a field is removed, gets another type or another meaning. A field that is added
leaves it: an older reader ignores what it does not know in a body. Only what states a policy or
conditions (a :class:`~screentest.protocol.Protocol`, a document of budgets) is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from screentest.errors import SchemaError
from screentest.gates.report import GateReport, NullControl, RepeatControl
from screentest.reports import contents, honesty

__all__ = ["KINDS", "Kind", "kind_named", "kind_of"]


class Kind(NamedTuple):
    """One kind of document.

    Attributes:
        schema: its id.
        body: what it holds.
        faults: what contradicts itself in a body, each with the place; nothing in an honest one.
        statistics: names of the statistics that a body has numbers of.
        impls: versions that the body itself states, by metric.
    """

    schema: str
    body: type
    faults: Callable[[Any], Iterator[str]]
    statistics: Callable[[Any], Iterator[str]]
    impls: Callable[[Any], Mapping[str, str]] = lambda _: {}


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.schema: kind
        for kind in (
            Kind(
                "screentest/gate-report@1",
                GateReport,
                honesty.of_gate_report,
                contents.of_gate_report,
                contents.stated_by_gate_report,
            ),
            Kind(
                "screentest/null-control@1",
                NullControl,
                honesty.of_null_control,
                contents.of_control,
            ),
            Kind(
                "screentest/repeat-control@1",
                RepeatControl,
                honesty.of_repeat_control,
                contents.of_control,
                lambda control: control.impls,
            ),
        )
    }
)
"""By id."""


def kind_named(schema: object) -> Kind:
    """The kind of this id.

    Raises:
        SchemaError: there is none (``unknown_schema``).
    """
    kind = KINDS.get(schema) if isinstance(schema, str) else None
    if kind is None:
        raise SchemaError(
            f"schema is none of {', '.join(KINDS)}, which this version reads: read it with the "
            "screentest that wrote it",
            code="unknown_schema",
        )
    return kind


def kind_of(body: object) -> Kind:
    """The kind whose body this is.

    Raises:
        SchemaError: no document holds such an object (``unknown_schema``).
    """
    for kind in KINDS.values():
        if type(body) is kind.body:
            return kind
    raise SchemaError(
        f"a {type(body).__name__} is no body of a document; expected one of "
        f"{', '.join(kind.body.__name__ for kind in KINDS.values())}",
        code="unknown_schema",
    )

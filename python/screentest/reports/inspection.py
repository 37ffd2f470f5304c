"""What may be told of a report whose author is not trusted: what was derived, and nothing written.

Names, prompts, reasons, notes, provenance, hardware and measured values are the author's to choose,
so none of them is here. What is here is a word of a closed list, a count, a flag or a digest. That
renders happened, no inspection can tell.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from screentest.errors import SchemaError
from screentest.gates.budget import BudgetTable, shipped
from screentest.gates.report import BudgetRow, GateReport
from screentest.metrics import registry
from screentest.protocol import Protocol
from screentest.reports import canonical
from screentest.reports.sealed import Sealed, load

__all__ = ["INVALID", "MOST_BYTES", "SCHEMA", "SIZE_INVALID", "inspect", "refusal"]

SCHEMA = "screentest/report-inspection@1"

MOST_BYTES = 8 * 1024 * 1024
"""Of a report; one of 500 prompts has about 2.4 MB."""

MOST_VALUES = 400_000
"""Of a report; one of 500 prompts has about 90,000. What is empty takes two bytes, and as long to
read as what is not: without a limit 8 MiB took four seconds."""

SIZE_INVALID = "report.size_invalid"
INVALID = "report.invalid"


def inspect(data: bytes) -> dict[str, Any]:
    """The inspection of a report's bytes, as plain data.

    Raises:
        SchemaError: they are none or too many (``report.size_invalid``), or what
            :func:`~screentest.reports.sealed.load` refuses, for whatever reason
            (``report.invalid``). The message holds nothing of the report.
    """
    data = canonical.as_bytes(data)
    if not 0 < len(data) <= MOST_BYTES:
        raise SchemaError(f"a report has 1 to {MOST_BYTES} bytes", code=SIZE_INVALID)
    # Each value but the first of its list or object has a comma before it, each of those a bracket.
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise SchemaError(f"a report has at most {MOST_VALUES} values", code=SIZE_INVALID)
    try:
        sealed = load(data)
    except SchemaError:
        raise SchemaError("this is no report that holds true", code=INVALID) from None
    return {
        "schema": SCHEMA,
        "report": {"digest": sealed.digest, "length": len(data), "schema": sealed.schema},
        "impls_current": _current(sealed),
        **_conditions(sealed.protocol),
        **_outcome(sealed.body),
    }


def refusal(code: str) -> dict[str, Any]:
    """What stands in the place of an inspection."""
    return {"error": {"code": code}}


def _conditions(protocol: Protocol | None) -> dict[str, Any]:
    if protocol is None:
        return {"protocol": None}
    return {
        "protocol": {
            "sha256": canonical.digest(canonical.dumps(msgspec.to_builtins(protocol))),
            "purpose": protocol.purpose.value,
            "changes": [change.value for change in protocol.changes],
            "prompts": protocol.n,
            "seeds": len(protocol.seeds),
        },
        "lane": protocol.lane.value,
        "execution_lane": msgspec.to_builtins(protocol.execution_lane),
        "same_pod": protocol.same_pod,
    }


def _outcome(body: Any) -> dict[str, Any]:
    """The verdict and what it hangs on; of a control, which has none, how much it measured."""
    if not isinstance(body, GateReport):
        return {"verdict": None, "counts": {"statistics": len(body.values)}}
    rows = list(body.rows())
    degenerate = body.population
    facts = body.population or body.reference
    return {
        "verdict": body.verdict,
        "benchmarks": {name: result.verdict for name, result in body.benchmarks.items()},
        "budgets": {row.budget.name: {"passed": row.passed, "counts": row.counts} for row in rows},
        "would_fail": list(body.would_fail),
        "waived": sorted({row.budget.name for row in rows} & set(body.waived)),
        "counts": {
            "pairs": 0 if facts is None else facts.n,
            "degenerate_references": len(degenerate.degenerate_references) if degenerate else 0,
            "degenerate_candidates": len(degenerate.degenerate_candidates) if degenerate else 0,
            "reasons": len(body.reasons),
            **Counter(_word(row) for row in rows),
        },
        "table": None if body.table is None else _table(body.table),
        "controls": {
            "null": body.null_control is not None,
            "repeat": body.repeat_control is not None,
        },
    }


def _word(row: BudgetRow) -> str:
    if row.inapplicable:
        return "inapplicable"
    if row.disregarded:
        return "disregarded"
    if row.passed is None:
        return "unmeasured"
    return "met" if row.passed else "not_met"


def _table(table: BudgetTable) -> dict[str, Any]:
    return {
        "kind": table.kind,
        "sha256": f"sha256:{table.sha256}",
        "shipped": table.sha256 == shipped(table.kind).sha256,
    }


def _current(sealed: Sealed) -> bool:
    """Whether every number is of the versions that this package measures."""
    return all(registry.spec(name).impl == impl for name, impl in sealed.impls.items())

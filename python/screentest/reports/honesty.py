"""What must hold within a document whoever wrote it: verdicts are derived again from the facts.

Each function yields what is wrong, with its place; an honest body yields nothing. That the facts
themselves were measured, no reader can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from screentest.errors import ScreentestError
from screentest.gates import reference_facts
from screentest.gates.judge import rejudge
from screentest.gates.report import GateReport, NullControl, RepeatControl
from screentest.gates.statistics import VIDEO
from screentest.metrics.population import verify
from screentest.protocol import ChangeKind

__all__ = ["first_difference", "of_gate_report", "of_null_control", "of_repeat_control"]


def of_gate_report(report: GateReport) -> Iterator[str]:
    """The facts must agree with themselves, and the verdict and all beside it must follow from
    them."""
    sound = True
    for fault in _given(report):
        sound = False
        yield fault
    if not sound:
        # What the judge may rely on does not hold.
        return
    try:
        again = rejudge(report)
    except ScreentestError as error:
        yield f"it cannot be judged: {error.message}"
        return
    if again != report:
        found = first_difference(msgspec.to_builtins(report), msgspec.to_builtins(again))
        if found is not None:
            place, said, derived = found
            yield f"{place} is {said}; from the facts follows {derived}"


def of_null_control(control: NullControl) -> Iterator[str]:
    """Only the seed differs, and what it says of each budget goes with its values."""
    if control.protocol.changes != (ChangeKind.SEED,):
        changes = ", ".join(change.value for change in control.protocol.changes)
        yield f"protocol.changes is {changes}; a null control changes the seed"
    if not control.impl:
        yield "impl is empty; its numbers are of no version"
    yield from _budgets(control)


def of_repeat_control(control: RepeatControl) -> Iterator[str]:
    """Every number has a version, and every version a number."""
    for name in control.values:
        if not control.impls.get(reference_facts.metric_of(name)):
            yield f"impls has none for {name}"
    measured = {reference_facts.metric_of(name) for name in control.values}
    for metric in control.impls:
        if metric not in measured:
            yield f"impls names {_name(metric)}, which has no value"


def _budgets(control: NullControl) -> Iterator[str]:
    if not control.values:
        yield "values is empty; a control that measured nothing is none"
    for name in sorted(control.transfers.keys() - control.values.keys()):
        yield f"transfers names {_name(name)}, which has no value"
    exceeded = {name for name, kept in control.transfers.items() if not kept}
    if exceeded != control.untrusted.keys():
        odd = sorted(exceeded ^ control.untrusted.keys())[0]
        yield f"untrusted and transfers disagree about {_name(odd)}"
    for name in control.unverified:
        if name in control.values:
            yield f"unverified names {_name(name)}, which has a value"
        if name not in VIDEO or control.unverified.count(name) > 1:
            yield f"unverified names {_name(name)}, which is no budget, or names it twice"
    yield from (f"values: {fault}" for fault in verify.odd_values(control.values))


def _given(report: GateReport) -> Iterator[str]:
    """What is wrong with what a verdict is derived from."""
    if report.null_control is not None:
        found = of_null_control(report.null_control)
        yield from (f"null_control.{fault}" for fault in found)
    if report.repeat_control is not None:
        found = of_repeat_control(report.repeat_control)
        yield from (f"repeat_control.{fault}" for fault in found)
    yield from _facts(report)


def _facts(report: GateReport) -> Iterator[str]:
    if report.population is not None:
        found = verify.inconsistencies(report.population)
        yield from (f"population: {fault}" for fault in found)
        named = tuple(each.prompt for each in report.population.prompts)
        if len(named) == report.protocol.n and named != report.protocol.prompts:
            yield "population.prompts are others, or in another order, than protocol.prompts"
    if report.reference is not None:
        found = reference_facts.inconsistencies(report.reference)
        yield from (f"reference: {fault}" for fault in found)


def first_difference(said: Any, derived: Any, place: str = "") -> tuple[str, str, str] | None:
    """(place, what is said there, what was derived) of the first difference of two documents."""
    if isinstance(said, Mapping) and isinstance(derived, Mapping):
        for key in (*derived, *(key for key in said if key not in derived)):
            there = f"{place}.{key}" if place else str(key)
            if key not in derived or key not in said:
                return there, _short(said.get(key, ...)), _short(derived.get(key, ...))
            found = first_difference(said[key], derived[key], there)
            if found is not None:
                return found
        return None
    if isinstance(said, list | tuple) and isinstance(derived, list | tuple):
        for at, (one, other) in enumerate(zip(said, derived, strict=False)):
            found = first_difference(one, other, f"{place}[{at}]")
            if found is not None:
                return found
        if len(said) != len(derived):
            return place, f"{len(said)} entries", f"{len(derived)} entries"
        return None
    return None if said == derived else (place, _short(said), _short(derived))


def _short(value: Any) -> str:
    if value is ...:
        return "absent"
    if isinstance(value, Mapping | list | tuple):
        return f"{len(value)} entries"
    said = ascii(value)
    return said if len(said) <= 80 else f"{said[:77]}..."


def _name(name: str) -> str:
    return ascii(name)[:60]

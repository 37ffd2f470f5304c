"""What stands behind a gate's verdict: conditions, controls, power, versions, and what was not
measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.gates.report import BenchmarkResult, GateReport
from screentest.protocol import Protocol
from screentest.reports.html.gate_prompts import plain_name
from screentest.reports.html.text import counted, short, show

if TYPE_CHECKING:
    from screentest.reports.html.gate_model import GateEvidence

__all__ = [
    "ControlCard",
    "ControlRow",
    "PowerRow",
    "Statistic",
    "control_card",
    "not_measured",
    "power_rows",
    "protocol_card",
    "statistics",
    "versions",
]


@dataclass(frozen=True, slots=True)
class Statistic:
    """One number of a benchmark, whether a budget bounds it or not."""

    benchmark: str
    name: str
    value: str
    exact: str
    interval: str


@dataclass(frozen=True, slots=True)
class PowerRow:
    """What the number of prompts could have shown of one statistic."""

    name: str
    spread: str
    detectable: str
    needed: str
    enough: bool | None


@dataclass(frozen=True, slots=True)
class ControlRow:
    """One statistic of a control beside the run's."""

    name: str
    run: str
    control: str
    bounds: str
    says: str
    broken: bool


@dataclass(frozen=True, slots=True)
class ControlCard:
    """A control: what it is, what it was taken under, and what it read."""

    title: str
    says: str
    line: str
    rows: tuple[ControlRow, ...]
    facts: tuple[tuple[str, str], ...]


def protocol_card(protocol: Protocol) -> list[tuple[str, str]]:
    """Every field of the stamp; prompts have a list of their own."""
    lanes = protocol.execution_lane
    told = [
        ("Family", show(protocol.family)),
        ("Reference arm", show(protocol.reference_arm)),
        ("Candidate arm", show(protocol.candidate_arm)),
        ("Changes", ", ".join(change.value for change in protocol.changes)),
        ("Lane", protocol.lane.value),
        ("Purpose", protocol.purpose.value),
        ("Size", f"{protocol.width} × {protocol.height}"),
        ("Frames", f"{protocol.frames:,}"),
        ("Frame rate", f"{protocol.fps:g} fps" if protocol.fps else "not stated"),
        ("Steps", f"{protocol.steps:,}"),
        ("Guidance", f"{protocol.guidance:g}" if protocol.guidance else "not stated"),
        ("Seeds", ", ".join(map(str, protocol.seeds))),
        ("Prompts", counted(protocol.n, "prompt")),
        ("Execution of the reference", lanes.reference or "not observed"),
        ("Execution of the candidate", lanes.candidate or "not observed"),
        ("Hardware", show(protocol.hardware)),
        ("Both arms on one pod", "yes" if protocol.same_pod else "no"),
        ("Notes", show(protocol.notes)),
    ]
    return told + [(show(name), show(value)) for name, value in protocol.extra.items()]


def control_card(report: GateReport) -> ControlCard | None:
    """The control of the report, ``None`` where it was given none."""
    null, repeat = report.null_control, report.repeat_control
    control = null or repeat
    if control is None:
        return None
    measured = {name: value for each in report.benchmarks.values()
                for name, value in each.values.items()}  # fmt: skip
    rows = []
    for budget in () if report.table is None else report.table.budgets:
        value = control.values.get(budget.name)
        kept = None if value is None else budget.check(value)
        waived = budget.name in report.waived
        words = {True: "met", False: "not met: the bound is disregarded", None: "no number"}
        rows.append(
            ControlRow(
                name=budget.name,
                run=short(measured.get(budget.name)),
                control=short(value),
                bounds=budget.describe(),
                says=words[kept] + (", waived" if waived and kept is None else ""),
                broken=kept is False,
            )
        )
    facts = []
    if null is not None and null.unverified:
        facts.append(("Without a number", ", ".join(map(show, null.unverified))))
    if report.waived:
        facts.append(("Waived", ", ".join(map(show, report.waived))))
    return ControlCard(
        title="Null control" if null is not None else "Repeat control",
        says="The same weights under another seed, measured as a change would be: a bound that it "
        "does not meet says nothing about a change."
        if null is not None
        else "The same settings rendered again: how far two renders lie apart by numeric noise.",
        line=show(control.protocol.line()),
        rows=tuple(rows),
        facts=tuple(facts),
    )


def power_rows(report: GateReport) -> list[PowerRow]:
    """What could have been seen, statistic by statistic."""
    facts = report.population
    if facts is None:
        return []
    return [
        PowerRow(
            name=show(name),
            spread=short(power.spread, 4),
            detectable="–" if power.detectable is None else f"{100 * power.detectable:.2g} %",
            needed="–" if power.prompts_needed is None else f"{power.prompts_needed:,}",
            enough=None if power.prompts_needed is None else power.prompts_needed <= facts.n,
        )
        for name, power in facts.power.items()
    ]


def statistics(benchmarks: Mapping[str, BenchmarkResult]) -> list[Statistic]:
    """Every number over all prompts."""
    return [
        Statistic(
            benchmark=result.name,
            name=show(name),
            value=short(value, 4),
            exact=repr(float(value)),
            interval=interval_of(result.intervals.get(name)),
        )
        for result in benchmarks.values()
        for name, value in result.values.items()
    ]


def interval_of(interval: Sequence[float] | None) -> str:
    """``0.98 to 1.02``; nothing where there is none."""
    return "" if interval is None else f"{short(interval[0])} to {short(interval[1])}"


def not_measured(report: GateReport, evidence: GateEvidence | None) -> list[tuple[str, str]]:
    """(what, why), what shares a reason together."""
    together: dict[str, list[str]] = {}
    for what, why in _lacking(report):
        names = together.setdefault(show(why), [])
        if what not in names:
            names.append(what)
    told = [(", ".join(names), why) for why, names in together.items()]
    if evidence is not None:
        told += [("pictures and series", show(note)) for note in evidence.notes]
    return told


def _lacking(report: GateReport) -> Iterator[tuple[str, str]]:
    for result in report.benchmarks.values():
        for name, why in result.unmeasured.items():
            yield show(name), why
        for name, why in result.inapplicable.items():
            yield show(name), f"does not apply: {why}"
        known = {*result.unmeasured, *result.inapplicable}
        for row in result.budgets:
            if row.value is None and row.budget.name not in known:
                yield show(row.budget.name), row.unmeasured or row.inapplicable
    if report.reference is not None:
        for pair in report.reference.rows:
            for name, why in pair.unmeasured.items():
                yield plain_name(show(name)), why
    if report.population is not None and report.null_control is None:
        yield (
            "null control",
            "not given: whether the bounds transfer to this model and these prompts is not known",
        )


def versions(
    report: GateReport, digest: str | None, impls: Mapping[str, str] | None
) -> list[tuple[str, str]]:
    """What the numbers and the bounds are versions of."""
    told = [] if digest is None else [("Report", show(digest))]
    if report.table is not None:
        told.append(("Budgets", f"{show(report.table.name)}, version {report.table.version}"))
        told.append(("Digest of the budgets", report.table.sha256))
    if report.population is not None:
        told.append(("Population statistics", show(report.population.impl)))
        told += [
            (f"Scale of {name.replace('_', ' ')}", short(scale, 4))
            for name, scale in report.population.scales.items()
        ]
    own = report.reference.impls if report.reference is not None else {}
    merged = {**own, **(impls or {})}
    return told + [(plain_name(show(name)), show(impl)) for name, impl in merged.items()]

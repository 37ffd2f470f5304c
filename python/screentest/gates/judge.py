"""Verdicts from facts: pure, so that a stored report judged again must come out equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from screentest.errors import PolicyError, ProtocolError
from screentest.gates.blind import blind_spots
from screentest.gates.budget import BudgetTable
from screentest.gates.controls import beyond_noise, exceeded, unverified, within_noise
from screentest.gates.faults import count_fault, degenerate_clips, population_faults, row_faults
from screentest.gates.matching import null_faults, repeat_faults
from screentest.gates.report import (
    BenchmarkResult,
    BudgetRow,
    GateReport,
    NullControl,
    ReferenceFacts,
    RepeatControl,
)
from screentest.gates.statistics import BENCHMARKS, REFERENCE
from screentest.gates.verdict import decide
from screentest.metrics.population.facts import BenchmarkFacts, PopulationFacts
from screentest.protocol import Lane, Protocol, Purpose, require_reference_lane

__all__ = ["judge_benchmark", "judge_population", "judge_reference", "rejudge"]


def judge_population(
    facts: PopulationFacts,
    protocol: Protocol,
    table: BudgetTable,
    null_control: NullControl | None = None,
    *,
    waived: Iterable[str] = (),
) -> GateReport:
    """The verdict on two arms whose trajectories differ.

    Args:
        facts: what was measured.
        protocol: the conditions; its lane is the population's and its purpose quality.
        table: the budgets; that of stills for stills.
        null_control: the same weights under another seed. A budget that it does not keep is
            disregarded, one that it has no number for is unproven.
        waived: budgets that may stay unproven by the control.

    Raises:
        ProtocolError: another lane or purpose, or no pair.
        PolicyError: the table is that of another gate, or has no budget that is waived.
    """
    require_population_lane(protocol)
    if not facts.prompts:
        raise ProtocolError("there is no pair of clips to compare", code="no_pairs")
    _require_kind(table, "image" if facts.still else "video")
    waived = tuple(waived)
    require_waivable(waived, table)
    degenerate = tuple(degenerate_clips(facts))
    faults = [*population_faults(facts, protocol, table)]
    disregarded: dict[str, str] = {}
    unproven: list[str] = []
    if null_control is not None:
        faults += null_faults(null_control, protocol, facts)
        disregarded = exceeded("null control", null_control.values, table)
        unproven += unverified(null_control.values, facts, table, waived)
    # In one order, whatever that of the facts is: canonical JSON sorts its keys.
    results = {
        name: judge_benchmark(name, facts.benchmarks[name], table, disregarded)
        for name in BENCHMARKS
        if name in facts.benchmarks
    }
    rows = [row for result in results.values() for row in result.budgets]
    decision = decide(
        degenerate=degenerate,
        faults=faults,
        failed=_failed(rows),
        unproven=[*_unproven(rows), *_unheld(rows, table), *unproven],
    )
    return GateReport(
        verdict=decision.verdict,
        lane=protocol.lane,
        protocol=protocol,
        table=table,
        benchmarks=results,
        population=facts,
        reasons=decision.reasons,
        would_fail=decision.would_fail,
        null_control=null_control,
        waived=waived,
        blind=blind_spots(protocol, facts, null_control, table),
    )


def judge_reference(
    facts: ReferenceFacts,
    protocol: Protocol,
    table: BudgetTable | None,
    repeat_control: RepeatControl | None = None,
) -> GateReport:
    """The verdict on two arms of one trajectory, or the distance between matched outputs.

    A pass of paired fidelity needs budgets, and a repeat control of the same conditions that has a
    number for each of them and keeps them all: what the repeat does not keep is numeric noise, and
    only what lies beyond a budget that the repeat keeps is the change's doing.

    Raises:
        TrajectoryPerturbingError: a change moves the trajectory and the purpose is quality.
        ProtocolError: a repeat control on a run whose purpose is quality.
        PolicyError: the table is that of another gate.
    """
    require_reference_lane(*protocol.changes, purpose=protocol.purpose)
    require_repeat_fits(repeat_control, protocol)
    _require_kind(table, "reference")
    faults = [*count_fault(facts.n, protocol), *protocol.faults(), *row_faults(facts, protocol)]
    disregarded: dict[str, str] = {}
    unproven: list[str] = []
    if table is None:
        unproven.append("no budgets were given, so the distances are measured and not judged")
    elif repeat_control is not None:
        faults += repeat_faults(repeat_control, protocol, facts)
        disregarded = within_noise(repeat_control, table)
    elif protocol.purpose is Purpose.PAIRED_FIDELITY:
        # What is not met may be noise alone: that is no more a failure than with a control that
        # does not match.
        faults.append(
            "no repeat control: nothing says how far two renders of the same settings lie apart"
        )
    measured = BenchmarkFacts(values=facts.values, unmeasured=facts.unmeasured)
    result = judge_benchmark("reference", measured, table, disregarded)
    decision = decide(
        faults=faults,
        failed=_failed(result.budgets),
        unproven=[*_unproven(result.budgets), *unproven],
        remarks=[*beyond_noise(result.budgets, repeat_control)],
    )
    return GateReport(
        verdict=decision.verdict,
        lane=protocol.lane,
        protocol=protocol,
        table=table,
        benchmarks={"reference": result},
        reference=facts,
        reasons=decision.reasons,
        would_fail=decision.would_fail,
        repeat_control=repeat_control,
        blind=blind_spots(protocol, facts, None, table),
    )


def rejudge(report: GateReport) -> GateReport:
    """The same facts, budgets, protocol and controls, judged again: equal to a report that nobody
    has edited.

    Raises:
        ProtocolError: they do not go together.
    """
    if report.population is not None and report.reference is None and report.table is not None:
        return judge_population(
            report.population,
            report.protocol,
            report.table,
            report.null_control,
            waived=report.waived,
        )
    if report.reference is not None and report.population is None:
        return judge_reference(
            report.reference, report.protocol, report.table, report.repeat_control
        )
    raise ProtocolError(
        "a gate report holds the facts of a population with its budgets, or those of a reference "
        "gate; this one holds neither or both",
        code="no_facts",
    )


def judge_benchmark(
    name: str,
    facts: BenchmarkFacts,
    table: BudgetTable | None,
    disregarded: Mapping[str, str] = {},
) -> BenchmarkResult:
    """One benchmark under the budgets of its statistics; those named in ``disregarded`` are shown
    and do not count."""
    names = REFERENCE if name == "reference" else BENCHMARKS[name]
    rows = []
    for budget in () if table is None else table.of(names):
        value = facts.values.get(budget.name)
        lacking = "" if value is not None else facts.inapplicable.get(budget.name, "")
        why = facts.unmeasured.get(budget.name, "not measured")
        rows.append(
            BudgetRow(
                budget=budget,
                value=value,
                passed=None if value is None else budget.check(value),
                unmeasured="" if value is not None or lacking else why,
                inapplicable=lacking,
                disregarded=disregarded.get(budget.name, ""),
            )
        )
    counted = [row.passed for row in rows if row.counts]
    passed = False if False in counted else None if None in counted or not counted else True
    return BenchmarkResult(
        name=name,
        passed=passed,
        values=facts.values,
        intervals=facts.intervals,
        budgets=tuple(rows),
        unmeasured=facts.unmeasured,
        inapplicable=facts.inapplicable,
        notes=facts.notes,
    )


def require_population_lane(protocol: Protocol) -> None:
    """Refuse what a population gate has no answer to.

    Raises:
        ProtocolError: the purpose is not quality, or no change moves the trajectory.
    """
    if protocol.purpose is not Purpose.QUALITY:
        raise ProtocolError(
            f"purpose {protocol.purpose.value}: a population gate says whether quality fell; for "
            "distances of matched outputs use the reference gate",
            code="wrong_purpose",
        )
    if protocol.lane is not Lane.POPULATION:
        raise ProtocolError(
            f"{', '.join(change.value for change in protocol.changes)} leaves the trajectory as it "
            "is: use the reference gate, which compares frame by frame",
            code="wrong_lane",
        )


def require_repeat_fits(repeat_control: RepeatControl | None, protocol: Protocol) -> None:
    """Refuse a repeat control where there is no question about noise.

    Raises:
        ProtocolError: there is one, and the purpose is quality.
    """
    if repeat_control is not None and protocol.purpose is not Purpose.PAIRED_FIDELITY:
        raise ProtocolError(
            "a repeat control says how large numeric noise is, which a quality gate has no use "
            "for: leave it out, or ask for purpose paired-fidelity",
            code="repeat_of_quality",
        )


def require_waivable(waived: Iterable[str], table: BudgetTable) -> None:
    """Refuse to waive what is no budget.

    Raises:
        PolicyError: the table has none of a name.
    """
    names = [budget.name for budget in table.budgets]
    if unknown := [name for name in waived if name not in names]:
        raise PolicyError(
            f"{', '.join(unknown)} cannot be waived: budgets {table.name!r} bound "
            f"{', '.join(names)}"
        )


def _require_kind(table: BudgetTable | None, kind: str) -> None:
    """A table of another gate would bound nothing that is measured, and so pass everything."""
    if table is not None and table.kind != kind:
        raise PolicyError(
            f"budgets {table.name!r} are for the {table.kind} gate; the {kind} gate was asked for"
        )


def _unheld(rows: Iterable[BudgetRow], table: BudgetTable) -> Iterator[str]:
    """Budgets of statistics that no benchmark speaks of."""
    held = {row.budget.name for row in rows}
    for budget in table.budgets:
        if budget.name not in held:
            yield f"{budget.name} was not measured: no benchmark holds it"


def _failed(rows: Iterable[BudgetRow]) -> list[str]:
    return [row.budget.name for row in rows if row.counts and row.passed is False]


def _unproven(rows: Iterable[BudgetRow]) -> list[str]:
    rows = list(rows)
    lacking: dict[str, list[str]] = {}
    for row in rows:
        if row.counts and row.passed is None:
            lacking.setdefault(row.unmeasured, []).append(row.budget.name)
    said = [
        f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} not measured: {why}"
        for why, names in lacking.items()
    ]
    said += [
        f"{row.budget.name} is disregarded: {row.disregarded}" for row in rows if row.disregarded
    ]
    if rows and not any(row.counts for row in rows):
        said.append("no budget counted")
    return said

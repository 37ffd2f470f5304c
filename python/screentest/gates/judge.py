"""Verdicts from facts: pure, so that a stored report judged again must come out equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from screentest.errors import PolicyError, ProtocolError
from screentest.gates.blind import blind_spots
from screentest.gates.budget import BudgetTable
from screentest.gates.matching import null_faults, repeat_faults
from screentest.gates.prompts import MOST, some, widest_need
from screentest.gates.report import (
    BenchmarkResult,
    BudgetRow,
    GateReport,
    NullControl,
    ReferenceFacts,
    RepeatControl,
)
from screentest.gates.statistics import BENCHMARKS, REFERENCE
from screentest.gates.verdict import MIN_PROMPTS, decide
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
    degenerate = tuple(_degenerate(facts))
    faults = [*_population_faults(facts, protocol, table)]
    disregarded: dict[str, str] = {}
    unproven: list[str] = []
    if null_control is not None:
        faults += null_faults(null_control, protocol, facts)
        disregarded = _exceeded("null control", null_control.values, table)
        unproven += _unverified(null_control.values, facts, table, waived)
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
        blind=blind_spots(protocol, facts, null_control),
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
    faults = [*_count_fault(facts.n, protocol), *protocol.faults(), *_row_faults(facts, protocol)]
    disregarded: dict[str, str] = {}
    unproven: list[str] = []
    if table is None:
        unproven.append("no budgets were given, so the distances are measured and not judged")
    elif repeat_control is not None:
        faults += repeat_faults(repeat_control, protocol, facts)
        disregarded = _noise(repeat_control, table)
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
        remarks=[*_beyond_noise(result.budgets, repeat_control)],
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
        blind=blind_spots(protocol, facts, None),
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


def _degenerate(facts: PopulationFacts) -> Iterator[str]:
    for arm, indices in (
        ("candidate", facts.degenerate_candidates),
        ("reference", facts.degenerate_references),
    ):
        if indices:
            named = ", ".join(f"{at} ({facts.prompts[at].prompt})" for at in indices)
            yield (
                f"{len(indices)} of {facts.n} {arm} clips have nothing to compare (no contrast, or "
                f"half their frames flat): prompts {named}"
            )


def _population_faults(
    facts: PopulationFacts, protocol: Protocol, table: BudgetTable
) -> Iterator[str]:
    yield from _count_fault(facts.n, protocol)
    yield from protocol.faults()
    if facts.n < MIN_PROMPTS:
        few = "1 prompt describes that draw" if facts.n == 1 else f"{facts.n} prompts are too few"
        yield f"{few}: a verdict needs {MIN_PROMPTS}, so {MIN_PROMPTS - facts.n} more"
        need = widest_need(facts, table)
        if need is not None and need[1] > MIN_PROMPTS:
            name, needed = need
            told = f"about {needed} would tell {name} from its bound, {needed - facts.n} more"
            if needed > MOST:
                told = f"no number below {MOST} would tell {name} from its bound"
            yield f"at the spread of these prompts {told}"
    yield from _repeated_references(facts)
    yield from _unlike_the_stamp(facts, protocol)


def _repeated_references(facts: PopulationFacts) -> Iterator[str]:
    """Two prompts do not render one clip: it would count as two draws where there was one."""
    prompts: dict[str, list[str]] = {}
    for prompt in facts.prompts:
        if prompt.contents[0] is not None:
            prompts.setdefault(prompt.contents[0], []).append(prompt.prompt)
    for named in prompts.values():
        if len(named) > 1:
            yield (
                f"the references of {some(named)} are one clip, which counts as {len(named)} "
                "prompts: give each prompt its own render"
            )


def _unlike_the_stamp(facts: PopulationFacts, protocol: Protocol) -> Iterator[str]:
    stamped = {"n_frames": protocol.frames, "width": protocol.width, "height": protocol.height}
    wrong: dict[tuple[str, str], list[str]] = {}
    for prompt in facts.prompts:
        for arm, clip in (("reference", prompt.reference), ("candidate", prompt.candidate)):
            read = [f"{clip[name]:g} {_WORDS[name]}" for name in stamped
                    if clip.get(name, stamped[name]) != stamped[name]]  # fmt: skip
            if read:
                wrong.setdefault((arm, ", ".join(read)), []).append(prompt.prompt)
    for (arm, said), named in wrong.items():
        yield (
            f"the {arm} of {some(named)} has {said}; the protocol says {protocol.resolution} and "
            f"{protocol.frames} frames"
        )


_WORDS = {"n_frames": "frames", "width": "pixels of width", "height": "pixels of height"}


def _count_fault(n: int, protocol: Protocol) -> Iterator[str]:
    if n != protocol.n:
        yield f"{n} pairs were measured; the protocol names {protocol.n} prompts"


def _row_faults(facts: ReferenceFacts, protocol: Protocol) -> Iterator[str]:
    if facts.n == protocol.n and tuple(row.prompt for row in facts.rows) != protocol.prompts:
        yield "the pairs are of other prompts than the protocol names, or in another order"
    for row in facts.rows:
        if row.misaligned:
            yield f"the pair of {row.prompt!r} is not aligned: {'; '.join(row.misaligned)}"
        elif row.frames != protocol.frames:
            yield (
                f"the pair of {row.prompt!r} has {row.frames} frames; the protocol says "
                f"{protocol.frames}"
            )


def _noise(control: RepeatControl, table: BudgetTable) -> dict[str, str]:
    """Budgets that do not tell the change from noise."""
    found = {
        budget.name: "the repeat control has no number for it, so noise is not told from the change"
        for budget in table.budgets
        if budget.name not in control.values
    }
    for name, said in _exceeded("repeat control", control.values, table).items():
        found[name] = f"{said}: two renders of the same settings lie as far apart, so it is noise"
    return found


def _beyond_noise(rows: Iterable[BudgetRow], control: RepeatControl | None) -> Iterator[str]:
    """Of each budget that failed and that the repeat keeps, that the change did it."""
    if control is None:
        return
    for row in rows:
        if row.counts and row.passed is False:
            yield (
                f"{row.budget.name} reads {row.value:.6g}, outside {row.budget.describe()}, where "
                f"a repeat of the same settings reads {control.values[row.budget.name]:.6g}: a "
                "regression, not noise"
            )


def _exceeded(control: str, values: Mapping[str, float], table: BudgetTable) -> dict[str, str]:
    """Budgets that a control does not keep itself, and so say nothing about a change."""
    return {
        budget.name: f"the {control} reads {values[budget.name]:.6g} itself, outside "
        f"{budget.describe()}"
        for budget in table.budgets
        if budget.name in values and not budget.check(values[budget.name])
    }


def _unverified(
    values: Mapping[str, float],
    facts: PopulationFacts,
    table: BudgetTable,
    waived: tuple[str, ...],
) -> Iterator[str]:
    known = {name for benchmark in facts.benchmarks.values() for name in benchmark.values}
    for budget in table.budgets:
        if budget.name in known and budget.name not in values and budget.name not in waived:
            yield f"the null control has no {budget.name}, so its budget is not known to transfer"


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
    said = [
        f"{row.budget.name} was not measured: {row.unmeasured}"
        for row in rows
        if row.counts and row.passed is None
    ]
    said += [
        f"{row.budget.name} is disregarded: {row.disregarded}" for row in rows if row.disregarded
    ]
    if rows and not any(row.counts for row in rows):
        said.append("no budget counted")
    return said

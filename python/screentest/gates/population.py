"""May a change ship that gives other takes: two arms over prompts under a table of budgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest.errors import ProtocolError
from screentest.gates.budget import BudgetTable, Kind, as_table
from screentest.gates.judge import (
    judge_population,
    require_population_lane,
    require_waivable,
)
from screentest.metrics.population.facts import ArmClip, PopulationFacts
from screentest.metrics.population.measure import measure_population
from screentest.metrics.population.significance import require_scipy
from screentest.metrics.signal.clip_score import ClipScore

if TYPE_CHECKING:
    from screentest.gates.report import GateReport, NullControl
    from screentest.protocol import Protocol

__all__ = [
    "Pairs",
    "facts_of",
    "population_table",
    "run_gate_of_stamp",
    "run_image_population_gate",
    "run_population_gate",
]

Pairs: TypeAlias = Sequence[tuple["ArmClip | ClipScore", "ArmClip | ClipScore"]]
"""(reference, candidate) of each prompt, in the order of the protocol."""


def run_population_gate(
    pairs: Pairs,
    protocol: Protocol,
    budgets: Any = None,
    null_control: NullControl | None = None,
    *,
    waive: Iterable[str] = (),
) -> GateReport:
    """Judge a candidate arm of clips against its reference arm.

    Args:
        pairs: (reference, candidate) of each prompt. Scores without tracks leave the benchmark
            ``structure`` unmeasured, which no budget of it passes.
        protocol: the conditions; purpose ``quality``, a change that moves the trajectory.
        budgets: a :class:`BudgetTable` of kind ``video``, budgets, the path of a table, or ``None``
            for the one that ships.
        null_control: the same weights under another seed: which budgets transfer.
        waive: budgets that may stay unproven by the control.

    Returns:
        The report. ``degenerate`` where a clip has nothing to compare; ``indeterminate`` where the
        conditions allow no verdict (fewer than 8 prompts, arms on two pods, ...), with what would
        have failed; else ``fail`` or ``pass``.

    Raises:
        ProtocolError: another purpose or lane, stills, no pair.
        PolicyError: the budgets are empty, unknown or of another gate.
        InputError: a clip holds numbers that are not finite.
        MissingBackendError: scipy is not installed.
    """
    return _run("video", pairs, protocol, budgets, null_control, waive)


def run_image_population_gate(
    pairs: Pairs,
    protocol: Protocol,
    budgets: Any = None,
    null_control: NullControl | None = None,
    *,
    waive: Iterable[str] = (),
) -> GateReport:
    """Judge a candidate arm of stills; as :func:`run_population_gate`, with the table of stills.

    Raises:
        ProtocolError: a clip has more than one frame, or the protocol says so.
    """
    return _run("image", pairs, protocol, budgets, null_control, waive)


def run_gate_of_stamp(
    pairs: Pairs,
    protocol: Protocol,
    budgets: Any = None,
    null_control: NullControl | None = None,
    *,
    waive: Iterable[str] = (),
) -> GateReport:
    """The gate of stills where the protocol has one frame, else that of clips."""
    return _run(_kind_of(protocol), pairs, protocol, budgets, null_control, waive)


def _run(
    kind: Kind,
    pairs: Pairs,
    protocol: Protocol,
    budgets: Any,
    null_control: NullControl | None,
    waive: Iterable[str],
) -> GateReport:
    require_scipy()
    require_population_lane(protocol)
    table = population_table(budgets, protocol, kind)
    waived = tuple(waive)
    require_waivable(waived, table)
    facts = facts_of(pairs, protocol)
    return judge_population(facts, protocol, table, null_control, waived=waived)


def _kind_of(protocol: Protocol) -> Kind:
    return "image" if protocol.frames == 1 else "video"


def population_table(budgets: Any, protocol: Protocol, kind: Kind | None = None) -> BudgetTable:
    """The table of a population: that of stills where the protocol has one frame.

    Raises:
        ProtocolError: the protocol does not belong to the gate of this kind.
        PolicyError: what :func:`~screentest.gates.budget.as_table` refuses.
    """
    stamped = _kind_of(protocol)
    if kind is not None and kind != stamped:
        other = "run_image_population_gate" if stamped == "image" else "run_population_gate"
        raise ProtocolError(
            f"the protocol says {protocol.frames} frame{'' if protocol.frames == 1 else 's'}, and "
            f"the {kind} gate was asked for: use {other}",
            code="wrong_gate",
        )
    return as_table(budgets, stamped)


def facts_of(pairs: Pairs, protocol: Protocol) -> PopulationFacts:
    """The facts of pairs under a protocol.

    Where their number is not that of the prompts, nothing says which prompt is missing: they are
    numbered, and the judgement says so.

    Raises:
        ProtocolError: stills under a protocol of clips, or the other way round.
    """
    prompts = protocol.prompts
    if len(pairs) != len(prompts):
        prompts = tuple(f"pair {at + 1}" for at in range(len(pairs)))
    facts = measure_population(pairs, prompts)
    if facts.still != (protocol.frames == 1):
        said = "stills" if facts.still else "clips of several frames"
        raise ProtocolError(
            f"the arms are {said}; the protocol says {protocol.frames} "
            f"frame{'' if protocol.frames == 1 else 's'}",
            code="mixed_stills",
        )
    return facts

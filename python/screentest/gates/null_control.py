"""The same weights under another seed: which budgets hold for a change that does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from screentest.errors import ProtocolError
from screentest.gates.population import Pairs, facts_of, population_table
from screentest.gates.report import NullControl
from screentest.metrics.population.significance import require_scipy
from screentest.protocol import ChangeKind, Purpose

if TYPE_CHECKING:
    from screentest.gates.budget import BudgetTable
    from screentest.metrics.population.facts import PopulationFacts
    from screentest.protocol import Protocol

__all__ = ["measure_null_control", "null_control_from"]


def measure_null_control(pairs: Pairs, protocol: Protocol, budgets: Any = None) -> NullControl:
    """What a change of the seed alone reads.

    Args:
        pairs: (one seed, another seed) of each prompt.
        protocol: its stamp, with ``changes=("seed",)``.
        budgets: the table whose bounds are tried; by default the one that ships for the protocol's
            stills or clips.

    Returns:
        Every statistic that has a value, and per budget whether the control keeps it. A budget that
        it does not keep says nothing on this model and material, and a run with this control
        disregards it.

    Raises:
        ProtocolError: something else changed, a clip has nothing to compare, the two clips of a
            prompt are the same, or the counts differ.
        PolicyError: the budgets are empty, unknown or of another gate.
        MissingBackendError: scipy is not installed.
    """
    require_scipy()
    if protocol.changes != (ChangeKind.SEED,) or protocol.purpose is not Purpose.QUALITY:
        raise ProtocolError(
            f"a null control changes the seed alone, with purpose quality; this changes "
            f"{', '.join(change.value for change in protocol.changes)}, with purpose "
            f"{protocol.purpose.value}",
            code="not_a_null_control",
        )
    table = population_table(budgets, protocol)
    if len(pairs) != protocol.n:
        raise ProtocolError(
            f"the null control has {len(pairs)} pairs, and its protocol names {protocol.n} prompts",
            code="unequal_counts",
        )
    return null_control_from(facts_of(pairs, protocol), protocol, table)


def null_control_from(
    facts: PopulationFacts, protocol: Protocol, table: BudgetTable
) -> NullControl:
    """The control that facts of two seeds make, measured just now or read from a report.

    Raises:
        ProtocolError: a clip has nothing to compare, or the two clips of a prompt are the same.
    """
    _refuse_degenerate(facts)
    _refuse_identical(facts)
    values = {
        name: value
        for benchmark in facts.benchmarks.values()
        for name, value in benchmark.values.items()
    }
    tried = [budget for budget in table.budgets if budget.name in values]
    return NullControl(
        protocol=protocol,
        values=values,
        transfers={budget.name: budget.check(values[budget.name]) for budget in tried},
        untrusted={
            budget.name: f"{values[budget.name]:.6g}, outside {budget.describe()}"
            for budget in tried
            if not budget.check(values[budget.name])
        },
        unverified=tuple(budget.name for budget in table.budgets if budget.name not in values),
        impl=facts.impl,
    )


def _refuse_degenerate(facts: PopulationFacts) -> None:
    wrong = sorted({*facts.degenerate_references, *facts.degenerate_candidates})
    if wrong:
        named = ", ".join(repr(facts.prompts[at].prompt) for at in wrong)
        raise ProtocolError(
            f"clips of the null control have nothing to compare (no contrast, or half their frames "
            f"flat): prompts {named}",
            code="degenerate_control",
        )


def _refuse_identical(facts: PopulationFacts) -> None:
    """Two seeds cannot give the same pictures: such a control would let every bound transfer."""
    for prompt in facts.prompts:
        one, other = prompt.contents
        if (one is not None and one == other) or prompt.reference == prompt.candidate:
            raise ProtocolError(
                f"the two clips of {prompt.prompt!r} are the same: two seeds cannot give the same "
                "pictures, so the seed did not change or one clip was given twice",
                code="identical_control",
            )

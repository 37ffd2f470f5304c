"""What a gate answers with: facts, the budgets held against them, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from screentest.gates.budget import Budget, BudgetTable
from screentest.gates.verdict import Verdict
from screentest.metrics.population.facts import Interval, PopulationFacts
from screentest.protocol import Lane, Protocol

__all__ = [
    "BenchmarkResult",
    "BudgetRow",
    "GateReport",
    "NullControl",
    "ReferenceFacts",
    "ReferenceRow",
    "RepeatControl",
]


class BudgetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One budget held against one value.

    Attributes:
        budget: the bounds.
        value: what was measured, ``None`` where nothing was.
        passed: whether the bounds are kept; ``None`` where there is no value.
        unmeasured: why there is no value.
        inapplicable: why there is nothing to measure; such a row decides nothing.
        disregarded: why the row does not count although it has a value: a control has shown that
            the budget does not transfer.
    """

    budget: Budget
    value: float | None = None
    passed: bool | None = None
    unmeasured: str = ""
    inapplicable: str = ""
    disregarded: str = ""

    @property
    def counts(self) -> bool:
        """Whether the verdict hangs on it."""
        return not (self.inapplicable or self.disregarded)


class BenchmarkResult(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark under its budgets.

    ``passed`` is ``None`` where no budget counts, or one that does has no value and none failed.
    """

    name: str
    passed: bool | None
    values: dict[str, float]
    intervals: dict[str, Interval] = {}
    budgets: tuple[BudgetRow, ...] = ()
    unmeasured: dict[str, str] = {}
    inapplicable: dict[str, str] = {}
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``passed`` as a word."""
        words: dict[bool | None, Verdict] = {True: "pass", False: "fail", None: "indeterminate"}
        return words[self.passed]


class NullControl(msgspec.Struct, frozen=True, kw_only=True):
    """The same weights under another seed, measured as a change would be.

    Attributes:
        protocol: its stamp; the only change is ``seed``.
        values: statistics by name.
        transfers: per budget that has a value, whether the control itself keeps it.
        untrusted: per budget that it does not keep, what it read: on this model and material the
            bound rejects a change that did nothing.
        unverified: budgets without a value; they are as unproven as before.
    """

    protocol: Protocol
    values: dict[str, float]
    transfers: dict[str, bool]
    untrusted: dict[str, str] = {}
    unverified: tuple[str, ...] = ()


class RepeatControl(msgspec.Struct, frozen=True, kw_only=True):
    """The same settings rendered again: how large numeric noise is.

    Attributes:
        protocol: its stamp; the only change is ``repeat``, both arms have one name, the purpose is
            paired fidelity.
        values: aggregated reference metrics by name.
    """

    protocol: Protocol
    values: dict[str, float]


class ReferenceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One pair, frame by frame.

    Attributes:
        prompt: which one.
        frames: pairs of frames that were compared.
        values: by name: ``psnr_mean``, ``psnr_worst``, ...
        unmeasured: by name, why there is no number.
        misaligned: why the frames do not go together; then there are no values.
        worst_frame: by metric, the display index of its worst frame.
        sources: names of the two clips, reference first.
        contents: content keys of their files.
    """

    prompt: str
    frames: int
    values: dict[str, float] = {}
    unmeasured: dict[str, str] = {}
    misaligned: tuple[str, ...] = ()
    worst_frame: dict[str, int] = {}
    sources: tuple[str, str] = ("", "")
    contents: tuple[str | None, str | None] = (None, None)


class ReferenceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Two arms of one trajectory, pair by pair, and the aggregate: of ``worst`` and ``min`` the
    worst pair's, of the others the mean."""

    rows: tuple[ReferenceRow, ...]
    values: dict[str, float]
    unmeasured: dict[str, str] = {}
    impls: dict[str, str] = {}

    @property
    def n(self) -> int:
        """How many pairs."""
        return len(self.rows)


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a gate and everything that it was derived from.

    Attributes:
        verdict: ``pass``, ``fail``, ``indeterminate`` or ``degenerate``; a function of the rest.
        lane: that of the protocol.
        protocol: the conditions.
        table: the budgets; ``None`` for paired fidelity without any.
        benchmarks: by name.
        population: facts of a population gate.
        reference: facts of a reference gate.
        reasons: why it is not a pass, most important first; empty for one.
        would_fail: budgets that are not met, where a fault of the protocol hides the verdict.
        null_control: what tells whether the budgets transfer.
        repeat_control: what tells how large numeric noise is.
        waived: budgets that may stay unproven by the null control.
        blind: what no verdict of this gate says anything about.
    """

    verdict: Verdict
    lane: Lane
    protocol: Protocol
    table: BudgetTable | None
    benchmarks: dict[str, BenchmarkResult]
    population: PopulationFacts | None = None
    reference: ReferenceFacts | None = None
    reasons: tuple[str, ...] = ()
    would_fail: tuple[str, ...] = ()
    null_control: NullControl | None = None
    repeat_control: RepeatControl | None = None
    waived: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True for ``pass`` alone."""
        return self.verdict == "pass"

    def rows(self) -> Iterator[BudgetRow]:
        """Every budget row, benchmark by benchmark."""
        for benchmark in self.benchmarks.values():
            yield from benchmark.budgets

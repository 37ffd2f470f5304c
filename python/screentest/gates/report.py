"""What a gate answers with: facts, the budgets held against them, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
from msgspec.structs import force_setattr

from screentest.errors import ProtocolError
from screentest.gates.budget import Budget, BudgetTable
from screentest.gates.statistics import BENCHMARKS, REFERENCE
from screentest.gates.verdict import Verdict
from screentest.metrics.population.facts import Interval, PopulationFacts
from screentest.protocol import ChangeKind, Lane, Protocol, Purpose

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
        disregarded: why the row does not count although it has a value: a control does not keep
            the budget itself, or cannot say whether it would.
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
        impl: version of the definitions that its values follow.
    """

    protocol: Protocol
    values: dict[str, float]
    transfers: dict[str, bool]
    untrusted: dict[str, str] = {}
    unverified: tuple[str, ...] = ()
    impl: str = ""


class RepeatControl(msgspec.Struct, frozen=True, kw_only=True):
    """The same settings rendered again: how large numeric noise is.

    Attributes:
        protocol: its stamp; the only change is ``repeat``, both arms have one name, the purpose is
            paired fidelity.
        values: aggregated reference metrics by name; at least one, and each is finite.
        impls: by metric, the version of what was measured of each frame.
        impl: version of how frames and pairs become one number.

    Raises:
        ProtocolError: the stamp or the values are not those of a repeat.
    """

    protocol: Protocol
    values: dict[str, float]
    impls: dict[str, str] = {}
    impl: str = ""

    def __post_init__(self) -> None:
        require_repeat(self.protocol)
        if not self.values:
            raise ProtocolError(
                "a repeat control without a value says nothing about noise", code="empty_control"
            )
        for name, value in self.values.items():
            if name not in REFERENCE:
                raise ProtocolError(
                    f"a repeat control holds {name!r}, which no reference gate measures; it "
                    f"measures {', '.join(REFERENCE)}",
                    code="bad_control",
                )
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ProtocolError(
                    f"a repeat control's {name} is {value!r}: expected a number",
                    code="bad_control",
                )
            if not math.isfinite(value):
                raise ProtocolError(
                    f"a repeat control's {name} is {value}: expected a finite number",
                    code="bad_control",
                )


def require_repeat(protocol: Protocol) -> None:
    """Refuse a stamp that is not that of the same settings rendered twice.

    Raises:
        ProtocolError: the only change is not ``repeat``, the arms have two names, or the purpose is
            quality.
    """
    if protocol.changes != (ChangeKind.REPEAT,):
        kinds = ", ".join(kind.value for kind in protocol.changes)
        raise ProtocolError(
            f"a repeat control changes nothing but the render itself: its only change is repeat, "
            f"this stamp names {kinds}",
            code="not_a_repeat",
        )
    if protocol.purpose is not Purpose.PAIRED_FIDELITY:
        raise ProtocolError(
            f"a repeat control measures how far two renders lie apart: its purpose is "
            f"paired-fidelity, this stamp says {protocol.purpose.value}",
            code="not_a_repeat",
        )
    if protocol.reference_arm != protocol.candidate_arm:
        raise ProtocolError(
            f"a repeat control renders one arm twice: both arms bear its name, this stamp has "
            f"{protocol.reference_arm!r} and {protocol.candidate_arm!r}",
            code="not_a_repeat",
        )


class ReferenceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One pair, frame by frame.

    Attributes:
        prompt: which one.
        frames: pairs of frames that were compared.
        values: by name: ``psnr_mean``, ``psnr_worst``, ...
        unmeasured: by name, why there is no number.
        misaligned: why the frames do not go together; then there are no values.
        worst_frame: by metric (``psnr``), the display index of its worst frame; of frames that are
            all equal there is none.
        domain: what RGB and luma were read from, ``planes`` of a decoder or ``rgb`` of arrays, or
            ``planes+rgb``; the two agree within a tolerance.
        sources: names of the two clips, reference first.
        contents: content keys of their files.
    """

    prompt: str
    frames: int
    values: dict[str, float] = {}
    unmeasured: dict[str, str] = {}
    misaligned: tuple[str, ...] = ()
    worst_frame: dict[str, int] = {}
    domain: str = ""
    sources: tuple[str, str] = ("", "")
    contents: tuple[str | None, str | None] = (None, None)


class ReferenceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Two arms of one trajectory, pair by pair.

    Attributes:
        rows: one per pair, in the order of the stamp.
        values: over the pairs, by name: of ``worst`` and ``min`` the worst pair's, of the others
            the mean. Each is of every pair.
        unmeasured: by name, why there is no number.
        impls: by metric, the version of what was measured of each frame.
        impl: version of how frames and pairs become one number.
        metrics: what was asked for, besides what the budgets need.
    """

    rows: tuple[ReferenceRow, ...]
    values: dict[str, float]
    unmeasured: dict[str, str] = {}
    impls: dict[str, str] = {}
    impl: str = ""
    metrics: tuple[str, ...] = ()

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

    def __post_init__(self) -> None:
        # Canonical JSON sorts its keys; a report that was read shows what one that was made does.
        known = (name for name in BENCHMARKS if name in self.benchmarks)
        order = dict.fromkeys((*known, *self.benchmarks))
        force_setattr(self, "benchmarks", {name: self.benchmarks[name] for name in order})

    @property
    def passed(self) -> bool:
        """True for ``pass`` alone."""
        return self.verdict == "pass"

    def rows(self) -> Iterator[BudgetRow]:
        """Every budget row, benchmark by benchmark."""
        for benchmark in self.benchmarks.values():
            yield from benchmark.budgets

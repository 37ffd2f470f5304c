"""What a gate gives back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from screentest.errors import InputError

if TYPE_CHECKING:
    from screentest.gates.report import GateReport
    from screentest.gates.verdict import Verdict
    from screentest.gating.plan import GatePlan

__all__ = ["Gating"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gating:
    """A gate and what came of it.

    Attributes:
        plan: what was to be measured and held against what.
        judged: the report; ``None`` after a dry run.
        notes: what happened on the way that changes no number.
    """

    plan: GatePlan
    judged: GateReport | None = None
    notes: tuple[str, ...] = ()

    @property
    def report(self) -> GateReport:
        """The report.

        Raises:
            InputError: this was a dry run.
        """
        if self.judged is None:
            raise InputError("a dry run has no report: nothing was measured", code="dry_run")
        return self.judged

    @property
    def verdict(self) -> Verdict | None:
        """``pass``, ``fail``, ``indeterminate`` or ``degenerate``; ``None`` after a dry run."""
        return None if self.judged is None else self.judged.verdict

    @property
    def passed(self) -> bool:
        """True for ``pass`` alone."""
        return self.verdict == "pass"

    def run(
        self,
        *,
        threads: int | None = None,
        cache: Any = None,
        on_step: Callable[[], None] = lambda: None,
    ) -> Gating:
        """Measure and judge what was planned; arguments as :meth:`GatePlan.run`."""
        notes: list[str] = []
        report = self.plan.run(threads=threads, cache=cache, on_step=on_step, notes=notes)
        return replace(self, judged=report, notes=(*notes, *_same_bytes(report)))

    def to_dict(self) -> dict[str, Any]:
        """The sealed document as plain data; of a dry run the plan."""
        found: dict[str, Any] = msgspec.json.decode(self.to_json())
        return found

    def to_json(self) -> bytes:
        """The sealed document: equal results are equal bytes. Of a dry run the plan."""
        if self.judged is None:
            return self.plan.to_json()
        from screentest.reports import sealed

        return sealed.dump(self.judged)

    def page(self, path: str | os.PathLike[str], *, threads: int | None = None) -> None:
        """Write one self-contained HTML page; the worst prompts are decoded again for it.

        Raises:
            MissingBackendError: the ``report`` extra is not installed.
            InputError: this was a dry run.
        """
        from screentest.gating.evidence import gather_evidence
        from screentest.reports import sealed
        from screentest.reports.html import require_report_extra
        from screentest.reports.html.gate import gate_page

        require_report_extra()
        arms = self.plan.arms
        evidence = gather_evidence(self.report, arms.references, arms.candidates, threads=threads)
        document = sealed.load(self.to_json())
        gate_page(
            self.report, path, digest=document.digest, evidence=evidence, impls=document.impls
        )

    def __repr__(self) -> str:
        return f"<Gating {self.plan.protocol.line()}: {self.verdict or 'not run'}>"


def _same_bytes(report: GateReport) -> Iterator[str]:
    """Renders of a change that are the same files: was it on at all?"""
    facts = report.population or report.reference
    if facts is None:
        return
    rows = facts.prompts if report.population is not None else facts.rows  # type: ignore[union-attr]
    same = sum(row.contents[0] is not None and row.contents[0] == row.contents[1] for row in rows)
    if same:
        yield (
            f"{same} of {len(rows)} candidates are the same bytes as their references: was the "
            "change on?"
        )
    rendered = [row.contents[1] for row in rows if row.contents[1] is not None]
    if report.population is not None and len(set(rendered)) < len(rendered):
        yield (
            f"{len(rendered)} candidates are {len(set(rendered))} different files: does the prompt "
            "still matter?"
        )

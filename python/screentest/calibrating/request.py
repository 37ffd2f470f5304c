"""From paths to a file of budgets: everything is checked before the first clip is decoded."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import msgspec

from screentest.calibrating.measuring import measured
from screentest.calibrating.sources import Source, find_sources, hardware_of
from screentest.errors import InputError, PolicyError
from screentest.gates.budget import Kind
from screentest.gates.calibration.budget_file import (
    BudgetFile,
    Change,
    changes_between,
    read_budget_file,
    require_reason,
    require_toml_writer,
)
from screentest.gates.calibration.calibrate import Placement, place_budgets

__all__ = ["Calibration", "CalibrationPlan", "calibrate"]

SCHEMA = "screentest/calibration@1"


@dataclass(frozen=True, kw_only=True)
class CalibrationPlan:
    """A request that was checked; nothing has been decoded.

    Attributes:
        sources: the populations.
        kind: the gate that the budgets are for, ``None`` where the clips will say.
        output: the file to write.
        standing: files of budgets whose bounds are not loosened without a reason.
        name: of the table.
        family: of the model.
        hardware: what the renders ran on.
        reason: why a bound is loosened.
        date: of the log's entries.
        metrics: of the reference gate.
    """

    sources: tuple[Source, ...]
    kind: Kind | None
    output: str | None
    standing: Mapping[str, BudgetFile]
    name: str
    family: str
    hardware: str
    reason: str
    date: str
    metrics: tuple[str, ...]

    @property
    def clips(self) -> tuple[str, ...]:
        """Every file that has to be measured, once each."""
        return tuple(dict.fromkeys(clip for source in self.sources for clip in source.clips))

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "schema": SCHEMA,
            "status": "planned",
            "kind": self.kind,
            "name": self.name,
            "output": self.output,
            "clips": len(self.clips),
            "populations": [
                {
                    "name": source.name,
                    "label": "degraded" if source.degraded else "clean",
                    "prompts": len(source.arms.names)
                    if source.arms is not None
                    else source.known.facts.n
                    if source.known is not None
                    else 0,
                }
                for source in self.sources
            ],
        }

    def run(self, *, threads: int | None = None, cache: Any = None) -> Calibration:
        """Measure the populations, place the bounds, and write the file.

        Raises:
            PolicyError: a bound would be loosened and no reason was given; nothing is written.
            MediaError: a clip cannot be read or is not whole.
        """
        kind, populations = measured(
            self.sources, self.kind, self.hardware, self.metrics, threads, cache
        )
        for path, file in self.standing.items():
            if file.table.kind != kind:
                raise PolicyError(
                    f"{path} holds budgets of the {file.table.kind} gate; these are for the {kind} "
                    "gate"
                )
        before = next(iter(self.standing.values()), None)
        placement = place_budgets(
            populations,
            kind=kind,
            name=self.name,
            version=1 if before is None else before.table.version,
            family=self.family,
            hardware=self.hardware,
        )
        table = placement.table
        if table is None:
            return Calibration(plan=self, placement=placement, file=None)
        lacking = {b.statistic: b.reason for b in placement.bounds if b.bound is None}
        for path, file in self.standing.items():
            require_reason(changes_between(file.table, table), self.reason, path, lacking=lacking)
        changes: tuple[Change, ...] = ()
        log: tuple[dict[str, Any], ...] = ()
        if before is not None:
            changes = tuple(
                msgspec.structs.replace(
                    change, date=self.date, reason=self.reason, hardware=self.hardware
                )
                for change in changes_between(before.table, table)
            )
            log = (*before.changes, *(msgspec.to_builtins(change) for change in changes))
            if changes:
                table = msgspec.structs.replace(table, version=before.table.version + 1)
        file = BudgetFile(table=table, evidence=placement.evidence, changes=log)
        if self.output is not None:
            file.write(self.output)
        return Calibration(plan=self, placement=placement, file=file, changes=changes)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What came of a plan.

    Attributes:
        plan: the request.
        placement: the bounds with their evidence.
        file: the budgets as they were written, ``None`` where no bound could be placed.
        changes: bounds that differ from those that stood.
    """

    plan: CalibrationPlan
    placement: Placement
    file: BudgetFile | None
    changes: tuple[Change, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        table = None if self.file is None else self.file.table
        written = table is not None and self.plan.output is not None
        return {
            "schema": SCHEMA,
            "status": "nothing_placed" if table is None else "written" if written else "placed",
            "output": self.plan.output if written else None,
            "table": None if table is None else msgspec.to_builtins(table),
            "bounds": [msgspec.to_builtins(bound) for bound in self.placement.bounds],
            "changes": [msgspec.to_builtins(change) for change in self.changes],
            "missed": list(self.placement.missed),
            "notes": list(self.placement.notes),
        }


def calibrate(
    clean: Sequence[str | os.PathLike[str]],
    degraded: Sequence[str | os.PathLike[str]] = (),
    output: str | os.PathLike[str] | None = None,
    *,
    baseline: str | os.PathLike[str] | None = None,
    kind: Kind | None = None,
    name: str = "",
    family: str = "",
    hardware: str = "",
    reason: str = "",
    date: str = "",
    metrics: Sequence[str] = ("psnr",),
) -> CalibrationPlan:
    """A checked request; :meth:`CalibrationPlan.run` carries it out.

    Args:
        clean: folders or sealed reports of what ought to pass, see
            :func:`~screentest.calibrating.sources.find_sources`.
        degraded: the same of what ought to fail.
        output: the TOML file to write. Where it is there already, its bounds are not loosened
            without a reason.
        baseline: another file whose bounds are not either.
        kind: the gate that the budgets are for; by default that of the clips or reports.
        name: of the table; by default that of the file.
        family: of the model, for the evidence.
        hardware: what the renders ran on. Budgets of one kind of hardware do not replace those of
            another.
        reason: why a bound is loosened; it is recorded.
        date: of what is recorded, ``YYYY-MM-DD``; by default today.
        metrics: what a table of the reference gate is made of.

    Raises:
        FileNotFoundError: there is nothing at a path.
        InputError: paths do not make populations, or an argument is wrong.
        PolicyError: a file of budgets that is there contradicts itself.
        MissingBackendError: the ``gate`` extra is not installed.
    """
    if kind is not None and kind not in get_args(Kind):
        raise InputError(f"kind {kind!r}: expected one of {', '.join(get_args(Kind))}")
    require_toml_writer()
    when = date or datetime.date.today().isoformat()
    try:
        datetime.date.fromisoformat(when)
    except ValueError:
        raise InputError(f"date {date!r}: expected YYYY-MM-DD") from None
    target = None if output is None else os.fspath(output)
    if target is not None:
        _check_output(target)
    sources = find_sources(
        [os.fspath(path) for path in clean], [os.fspath(path) for path in degraded]
    )
    ran_on = hardware_of(sources, hardware)
    standing: dict[str, BudgetFile] = {}
    if target is not None and os.path.exists(target):
        standing[target] = read_budget_file(target)
    if baseline is not None:
        standing.setdefault(os.fspath(baseline), read_budget_file(baseline))
    for path, file in standing.items():
        if ran_on and file.hardware and file.hardware != ran_on:
            raise InputError(
                f"{path} holds budgets of {file.hardware}, and these renders ran on {ran_on}: "
                "each gets a file of its own",
                code="other_hardware",
            )
    if any(source.clips for source in sources) and kind != "reference":
        from screentest.metrics.population.significance import require_scipy

        require_scipy()
    stem = "" if target is None else os.path.splitext(os.path.basename(target))[0]
    return CalibrationPlan(
        sources=sources,
        kind=kind,
        output=target,
        standing=standing,
        name=name or stem or "calibrated",
        family=family,
        hardware=ran_on,
        reason=reason.strip(),
        date=when,
        metrics=tuple(metrics),
    )


def _check_output(path: str) -> None:
    if os.path.isdir(path):
        raise InputError(f"{path}: a folder, where the TOML file to write was expected")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError(f"{path}: there is no folder {folder}")

"""A gate that is wholly known before anything is decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from screentest.gates.budget import BudgetTable, Kind
from screentest.gates.matching import null_stamp_faults, repeat_stamp_faults
from screentest.gates.verdict import MIN_PROMPTS
from screentest.gating.arms import Arms
from screentest.gating.controls import ControlClips
from screentest.protocol import Protocol
from screentest.reports import canonical

if TYPE_CHECKING:
    from screentest.gates.report import GateReport, NullControl, RepeatControl

__all__ = ["SCHEMA", "GatePlan", "error_record", "known_faults"]

SCHEMA = "screentest/gate-plan@1"


@dataclass(frozen=True, slots=True, eq=False)
class GatePlan:
    """What a gate will measure and hold its numbers against.

    Attributes:
        kind: which gate: ``"video"`` and ``"image"`` compare populations, ``"reference"`` compares
            frame by frame.
        arms: the clips, pair by pair.
        protocol: the conditions.
        table: the budgets; ``None`` for paired fidelity without any.
        metrics: of a reference gate, what is measured.
        null_control: whether the budgets transfer, measured or to be measured.
        repeat_control: how large numeric noise is, measured or to be measured.
        waived: budgets that may stay unproven by the null control.
        faults: why the verdict can only be indeterminate, as far as that is known by now.
        notes: what may surprise; it decides nothing.
    """

    kind: Kind
    arms: Arms
    protocol: Protocol
    table: BudgetTable | None
    metrics: tuple[str, ...] = ()
    null_control: NullControl | ControlClips | None = None
    repeat_control: RepeatControl | ControlClips | None = None
    waived: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    open_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def clips(self) -> int:
        """How many clips will be decoded; those of both arms and of controls."""
        count = 2 * len(self.arms.names)
        for control in (self.null_control, self.repeat_control):
            if isinstance(control, ControlClips):
                shared = control.arms.references == self.arms.references
                count += len(control.arms.names) * (1 if shared and self.kind != "reference" else 2)
        return count

    @property
    def steps(self) -> int:
        """How often :meth:`run` says that it is further: by clip, or by pair where frames are
        compared."""
        return self.clips // 2 if self.kind == "reference" else self.clips

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data: what ``screentest gate --dry-run --json`` prints."""
        from screentest.gating.arms import shown

        return {
            "schema": SCHEMA,
            "gate": self.kind,
            "lane": self.protocol.lane.value,
            "protocol": msgspec.to_builtins(self.protocol),
            "budgets": None if self.table is None else msgspec.to_builtins(self.table),
            "metrics": list(self.metrics),
            "pairs": [
                {"name": name, "prompt": prompt, "reference": shown(one), "candidate": shown(other)}
                for name, prompt, one, other in zip(
                    self.arms.names,
                    self.protocol.prompts,
                    self.arms.references,
                    self.arms.candidates,
                    strict=True,
                )
            ],
            "clips": self.clips,
            "null_control": _told(self.null_control),
            "repeat_control": _told(self.repeat_control),
            "waived": list(self.waived),
            "faults": list(self.faults),
            "notes": list(self.notes),
        }

    def to_json(self) -> bytes:
        """The plan as canonical JSON (RFC 8785)."""
        return canonical.dumps(self.to_dict())

    def run(
        self,
        *,
        threads: int | None = None,
        cache: Any = None,
        on_step: Callable[[], None] = lambda: None,
        notes: list[str] | None = None,
    ) -> GateReport:
        """Decode, measure and judge.

        Args:
            threads: compute budget; default ``min(4, CPUs)``. It changes no bit.
            cache: of a population gate, a folder of facts; known content is not decoded again.
            on_step: called :attr:`steps` times, as the work goes on.
            notes: takes what happened to the cache on the way.

        Raises:
            MediaError: a clip is damaged, changed while it was read, or holds NaN.
            ProtocolError: a control's clips have nothing to compare.
        """
        from screentest.gating import measuring

        measure = measuring.by_reference if self.kind == "reference" else measuring.by_population
        return measure(self, threads, cache, on_step, notes)


def known_faults(
    kind: Kind,
    protocol: Protocol,
    null_control: NullControl | ControlClips | None,
    repeat_control: RepeatControl | ControlClips | None,
    geometry: list[str],
    metrics: Iterable[str],
) -> tuple[str, ...]:
    """Why the verdict can only be indeterminate: what the stamp, the headers and this installation
    tell before anything is measured."""
    faults = [*protocol.faults(), *geometry]
    if kind == "reference":
        from screentest.gates.reference import missing_metrics

        lacking = missing_metrics(tuple(metrics))
        faults += [f"{name} will not be measured: {why}" for name, why in lacking.items()]
    if kind != "reference" and protocol.n < MIN_PROMPTS:
        faults.append(f"{protocol.n} prompts; a verdict needs {MIN_PROMPTS}")
    if null_control is not None:
        faults += null_stamp_faults(null_control.protocol, protocol)
    if repeat_control is not None:
        faults += repeat_stamp_faults(repeat_control.protocol, protocol)
    return tuple(faults)


def error_record(error: BaseException) -> dict[str, Any]:
    """The record of a gate that could not run."""
    from screentest.reports.screening import describe_error

    code, message = describe_error(error)
    return {
        "schema": "screentest/gate-error@1",
        "status": "error",
        "error": {"code": code, "message": canonical.printable(message)},
    }


def _told(control: NullControl | RepeatControl | ControlClips | None) -> str | None:
    if control is None:
        return None
    if isinstance(control, ControlClips):
        return f"{len(control.arms.names)} pairs of clips, to be measured"
    return f"measured, {control.protocol.n} prompts"

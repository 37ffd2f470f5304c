"""A plan carried out: clips measured once, controls first, then the judgement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from screentest.gates.scoring import score_clips
from screentest.gating.controls import ControlClips

if TYPE_CHECKING:
    from screentest.gates.report import GateReport
    from screentest.gating.plan import GatePlan
    from screentest.metrics.population.facts import ArmClip

__all__ = ["by_population", "by_reference"]

Arm = tuple["ArmClip", ...]


def by_population(
    plan: GatePlan,
    threads: int | None,
    cache: Any,
    on_step: Callable[[], None],
    notes: list[str] | None,
) -> GateReport:
    """Each clip is decoded once; those that the control shares with the run as well."""
    from screentest.gates.null_control import measure_null_control
    from screentest.gates.population import run_gate_of_stamp

    arms = [plan.arms.references, plan.arms.candidates]
    control = plan.null_control
    if isinstance(control, ControlClips):
        if control.arms.references != plan.arms.references:
            arms.append(control.arms.references)
        arms.append(control.arms.candidates)
    measured = _arms(arms, threads, cache, on_step, notes, dict(plan.open_options))
    if isinstance(control, ControlClips):
        one = measured[2] if len(measured) == 4 else measured[0]
        pairs = tuple(zip(one, measured[-1], strict=True))
        control = measure_null_control(pairs, control.protocol, plan.table)
    pairs = tuple(zip(measured[0], measured[1], strict=True))
    return run_gate_of_stamp(pairs, plan.protocol, plan.table, control, waive=plan.waived)


def by_reference(
    plan: GatePlan,
    threads: int | None,
    _cache: Any,
    on_step: Callable[[], None],
    _notes: list[str] | None,
) -> GateReport:
    """Each pair is decoded once."""
    from screentest.gates.reference import run_reference_gate
    from screentest.gates.repeat_control import measure_repeat_control

    control = plan.repeat_control
    if isinstance(control, ControlClips):
        control = measure_repeat_control(
            control.arms.references,
            control.arms.candidates,
            control.protocol,
            metrics=plan.metrics,
            threads=threads,
            on_pair=on_step,
            **plan.open_options,
        )
    return run_reference_gate(
        plan.arms.references,
        plan.arms.candidates,
        plan.protocol,
        plan.table,
        control,
        metrics=plan.metrics,
        threads=threads,
        on_pair=on_step,
        **plan.open_options,
    )


def _arms(
    arms: list[tuple[Any, ...]],
    threads: int | None,
    cache: Any,
    on_step: Callable[[], None],
    notes: list[str] | None,
    open_options: dict[str, Any],
) -> list[Arm]:
    """The clips of every arm, all of them within one compute budget."""
    sources = [source for arm in arms for source in arm]
    clips: list[ArmClip] = []
    for clip in score_clips(sources, threads=threads, cache=cache, notes=notes, **open_options):
        clips.append(clip)
        on_step()
    found = iter(clips)
    return [tuple(next(found) for _ in arm) for arm in arms]

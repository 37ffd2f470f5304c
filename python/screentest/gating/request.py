"""``screentest.gate``: may this change ship?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from screentest import compute
from screentest.errors import ProtocolError
from screentest.gates.budget import SCHEMA, Budget, BudgetTable, Kind, as_table, parse_budgets
from screentest.gates.judge import require_waivable
from screentest.gates.output import by_reference, require_controls_fit
from screentest.gates.reference_facts import check_metrics, metrics_for
from screentest.gating.arms import find_arms, prompts_for
from screentest.gating.controls import null_control_of, repeat_control_of
from screentest.gating.headers import geometry_faults, read_headers, stamp_of, surprises
from screentest.gating.plan import GatePlan, known_faults
from screentest.gating.result import Gating
from screentest.metrics.population.significance import require_scipy
from screentest.protocol import (
    ArmLanes,
    ChangeKind,
    Protocol,
    Purpose,
    classify_change,
    require_admissible,
)

if TYPE_CHECKING:
    from screentest.gates.report import NullControl, RepeatControl

__all__ = ["gate"]


def gate(
    reference: Any,
    candidate: Any,
    *,
    changes: Sequence[ChangeKind | str],
    family: str,
    execution_lane: ArmLanes | str,
    hardware: str,
    steps: int,
    seeds: Sequence[int],
    prompts: Sequence[str] | Mapping[str, str] | str | os.PathLike[str] | None = None,
    reference_arm: str = "reference",
    candidate_arm: str | None = None,
    budgets: Any = None,
    null_control: NullControl | Any = None,
    repeat_control: RepeatControl | Any = None,
    purpose: Purpose | str = Purpose.QUALITY,
    same_pod: bool = True,
    width: int | None = None,
    height: int | None = None,
    frames: int | None = None,
    fps: float | None = None,
    guidance: float = 0.0,
    metrics: Sequence[str] = (),
    waive: Iterable[str] = (),
    notes: str = "",
    extra: Mapping[str, str] | None = None,
    threads: int | None = None,
    cache: Any = None,
    dry_run: bool = False,
    open_options: Mapping[str, Any] | None = None,
) -> Gating:
    """Say whether a change may ship, from the renders of two arms.

    Changes that move the sampling path give other takes: the arms are compared as populations, over
    the prompts. Changes after the latent, and ``purpose="paired-fidelity"``, are compared frame by
    frame. The whole request is checked before the first clip is decoded.

    Args:
        reference: the arm that is compared with: a folder, or a list of clips.
        candidate: the arm in question. Files of two folders are paired by name without the ending,
            lists in order.
        changes: what differs between the arms; :class:`~screentest.protocol.ChangeKind`.
        family: of the model.
        execution_lane: ``"compiled"`` or ``"eager"`` for both arms, or
            :class:`~screentest.protocol.ArmLanes`; empty where nobody observed it, and then there
            is no pass.
        hardware: what both arms ran on.
        steps: of the sampler.
        seeds: one for all prompts, or one for each in the order of the pairs.
        prompts: the prompts in that order, by the clips' names, or a JSON file of either; by
            default the names.
        reference_arm: name of the arm.
        candidate_arm: name of the arm; by default ``"candidate"``, or the reference's name where
            only the seed or nothing but the render itself changed.
        budgets: a :class:`BudgetTable`, its TOML file, budgets, or a mapping from each statistic to
            its ``low``, ``high`` and ``provenance``; by default the table that ships. Paired
            fidelity has no default.
        null_control: whether the budgets transfer: the reference arm under other seeds as a
            folder of clips, its sealed control or gate report, or a
            :class:`~screentest.gates.report.NullControl`.
        repeat_control: how large noise is, for paired fidelity: the reference arm rendered again,
            in the same forms.
        purpose: ``"quality"``, or ``"paired-fidelity"``.
        same_pod: whether both arms ran on one worker.
        width: of every clip; by default as the first reference's header says.
        height: the same.
        frames: the same.
        fps: the same.
        guidance: of the sampler, 0 where it was not stated.
        metrics: of a reference gate, what to measure besides what the budgets need.
        waive: budgets that may stay unproven by the null control.
        notes: for people.
        extra: what else defines the run.
        threads: compute budget of all clips together; it changes no bit.
        cache: of populations, a folder to keep facts in.
        dry_run: check everything, decode nothing.
        open_options: passed to :func:`~screentest.media.open_clip` for every clip.

    Returns:
        The gate with its report. Fewer than 8 prompts, arms on two pods, unlike modes and controls
        that do not match give ``indeterminate`` with what would have failed; blank clips give
        ``degenerate``.

    Raises:
        TrajectoryPerturbingError: reference metrics were asked for between two takes.
        ProtocolError: a field of the protocol is empty or out of range, a change is unknown, a
            control belongs to another gate.
        PolicyError: the budgets are empty, unknown or contradict themselves.
        InputError: the arms do not go together; an argument is wrong.
        MissingBackendError: an extra is not installed.
        MediaError: a clip is damaged or holds NaN.
        FileNotFoundError: there is no such file.
    """
    compute.threads(threads)
    kinds = _changes(changes)
    options = dict(open_options or {})
    arms = find_arms(reference, candidate)
    named = prompts_for(arms.names, prompts)
    headers = read_headers([*arms.references, *arms.candidates], **options)
    pairs = list(zip(headers[: len(named)], headers[len(named) :], strict=True))
    stamp = stamp_of(arms, pairs, width=width, height=height, frames=frames, fps=fps)
    alike = kinds in ((ChangeKind.SEED,), (ChangeKind.REPEAT,))
    protocol = Protocol(
        family=family,
        reference_arm=reference_arm,
        candidate_arm=candidate_arm or (reference_arm if alike else "candidate"),
        changes=kinds,
        width=stamp.width,
        height=stamp.height,
        frames=stamp.frames,
        steps=steps,
        seeds=tuple(seeds) if isinstance(seeds, list | range) else seeds,  # type: ignore[arg-type]
        prompts=named,
        hardware=hardware,
        execution_lane=execution_lane,  # type: ignore[arg-type]
        fps=stamp.fps,
        guidance=guidance,
        same_pod=same_pod,
        purpose=purpose,  # type: ignore[arg-type]
        notes=notes,
        extra=dict(extra or {}),
    )
    waived = (waive,) if isinstance(waive, str) else tuple(waive)
    require_controls_fit(protocol, null_control, repeat_control, waived)
    metrics = check_metrics(metrics)
    geometry = list(geometry_faults(arms, pairs, stamp))
    kind: Kind = "image" if stamp.frames == 1 else "video"
    if by_reference(protocol):
        kind, metrics = "reference", metrics or ("psnr",)
        if geometry:
            raise ProtocolError(f"{geometry[0]}; nothing is resized or cut", code="geometry")
    else:
        require_admissible(protocol.lane, *metrics, purpose=protocol.purpose)
        require_scipy()
    table = _table(budgets, kind, protocol)
    if table is not None:
        require_waivable(waived, table)
    if kind == "reference":
        budgeted = () if table is None else [budget.name for budget in table.budgets]
        metrics = metrics_for(metrics, budgeted)
    nulls, repeats = _controls(null_control, repeat_control, reference, protocol, table, options)
    plan = GatePlan(
        kind=kind,
        arms=arms,
        protocol=protocol,
        table=table,
        metrics=metrics,
        null_control=nulls,
        repeat_control=repeats,
        waived=waived,
        faults=known_faults(kind, protocol, nulls, repeats, geometry, metrics),
        notes=(*arms.notes, *surprises(arms, pairs, stamp)),
        open_options=options,
    )
    planned = Gating(plan)
    return planned if dry_run else planned.run(threads=threads, cache=cache)


def _changes(given: Any) -> tuple[ChangeKind, ...]:
    """The kinds that were named, one alone as well."""
    named = (given,) if isinstance(given, str) else tuple(given)
    classify_change(*named)
    return tuple(ChangeKind(kind) for kind in named)


def _table(given: Any, kind: Kind, protocol: Protocol) -> BudgetTable | None:
    if given is None and protocol.purpose is Purpose.PAIRED_FIDELITY:
        return None
    if isinstance(given, Mapping) and not isinstance(given, BudgetTable):
        given = _inline(given, kind)
    return as_table(given, kind)


def _inline(given: Mapping[str, Any], kind: Kind) -> BudgetTable:
    """A table of budgets by name; it is whole, like one in a file."""
    if all(isinstance(each, Budget) for each in given.values()) and given:
        return BudgetTable(name="given in the call", kind=kind, budgets=tuple(given.values()))
    document = {"schema": SCHEMA, "name": "given in the call", "kind": kind, "budgets": given}
    return parse_budgets(document, "budgets")


def _controls(
    null_control: Any,
    repeat_control: Any,
    reference: Any,
    protocol: Protocol,
    table: BudgetTable | None,
    options: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Both controls, of which a gate has a question for one at most."""
    if null_control is not None and table is not None:
        return null_control_of(null_control, reference, protocol, table, **options), None
    return None, repeat_control_of(repeat_control, reference, protocol, **options)

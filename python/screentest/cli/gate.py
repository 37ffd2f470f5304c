"""``screentest gate``: may this change ship?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from screentest.cli import exit_codes, options, output
from screentest.cli import gate_options as given
from screentest.cli.many_values import ManyValues

if TYPE_CHECKING:
    from screentest.gating import GatePlan, Gating
    from screentest.gating.config import GateConfig

__all__ = ["EXIT_STATUS", "Command", "command", "plan_lines"]

EXIT_STATUS = (
    "Exit status: 0 pass (of a dry run: the request is valid); 1 fail; 2 the request or an input "
    "is wrong; 3 indeterminate or degenerate; 130 interrupted."
)

_STATUS = {
    "pass": exit_codes.DONE,
    "fail": exit_codes.NOT_PASSED,
    "indeterminate": exit_codes.NOT_JUDGED,
    "degenerate": exit_codes.NOT_JUDGED,
}


_FAULTS = 3
"""Faults that are told before a run; the report tells all of them."""


class Command(ManyValues):
    """Takes ``--reference a.mp4 b.mp4``."""

    many: ClassVar[frozenset[str]] = frozenset(
        (
            "--reference",
            "--candidate",
            "--change",
            "--seeds",
            "--null-control",
            "--repeat-control",
            "--metrics",
            "--waive",
            "--extra",
        )
    )


def command(
    reference: given.Reference = None,
    candidate: given.Candidate = None,
    change: given.Change = None,
    family: given.Family = None,
    execution_lane: given.ExecutionLane = None,
    hardware: given.Hardware = None,
    steps: given.Steps = None,
    seeds: given.Seeds = None,
    config: given.ConfigFile = None,
    purpose: given.Purpose = None,
    budgets: given.Budgets = None,
    null_control: given.NullControl = None,
    repeat_control: given.RepeatControl = None,
    waive: given.Waive = None,
    metrics: given.Metrics = None,
    cross_pod: given.CrossPod = None,
    reference_execution_lane: given.ReferenceExecutionLane = None,
    candidate_execution_lane: given.CandidateExecutionLane = None,
    prompts: given.Prompts = None,
    reference_arm: given.ReferenceArm = None,
    candidate_arm: given.CandidateArm = None,
    width: given.Width = None,
    height: given.Height = None,
    frames: given.Frames = None,
    fps: given.Fps = None,
    guidance: given.Guidance = None,
    extra: given.Extra = None,
    notes: given.Notes = None,
    threads: options.ThreadsOfAll = None,
    cache: given.Cache = None,
    dry_run: given.DryRun = None,
    as_json: given.AsJson = None,
    out: given.Out = None,
    html: given.Html = None,
) -> int:
    """Say whether a change may ship, from the renders of two arms over the same prompts.

    Changes that move the sampling path give other takes: the arms are compared as populations over
    at least 8 prompts. Changes after the latent, and --purpose paired-fidelity, are compared frame
    by frame. Files of two folders are paired by name, lists of files in order.

    Everything is checked before the first clip is decoded: protocol, budgets, controls, files.
    """
    # The library loads only now, so that --help does not wait for it.
    from screentest.errors import ScreentestError
    from screentest.gating.config import GateConfig, load_gate_config

    said: dict[str, Any] = {
        "reference": reference,
        "candidate": candidate,
        "change": change,
        "family": family,
        "execution_lane": execution_lane,
        "reference_execution_lane": reference_execution_lane,
        "candidate_execution_lane": candidate_execution_lane,
        "hardware": hardware,
        "steps": steps,
        "seeds": seeds,
        "null_control": null_control,
        "repeat_control": repeat_control,
        "purpose": purpose,
        "budgets": budgets,
        "prompts": prompts,
        "cross_pod": cross_pod,
        "width": width,
        "height": height,
        "frames": frames,
        "fps": fps,
        "guidance": guidance,
        "metrics": metrics,
        "waive": waive,
        "reference_arm": reference_arm,
        "candidate_arm": candidate_arm,
        "notes": notes,
        "threads": threads,
        "cache": cache,
        "dry_run": dry_run,
        "json": as_json,
        "output": out,
        "html": html,
    }
    request = GateConfig(json=as_json)
    try:
        said["extra"] = _table(extra)
        request = (GateConfig() if config is None else load_gate_config(config)).over(said)
        result = _run(request)
    except (ScreentestError, OSError) as error:
        if request.json:
            from screentest.gating.plan import error_record
            from screentest.reports import canonical

            output.result_bytes(canonical.dumps(error_record(error)))
        raise
    if result.judged is None:
        _print_plan(result.plan, bool(request.json))
        return exit_codes.DONE
    _write(result, request)
    return _STATUS[result.report.verdict]


def _run(request: GateConfig) -> Gating:
    from screentest.gating import gate

    _check_places(request)
    planned = gate(**request.arguments(), dry_run=True)
    for note in planned.plan.notes:
        output.note(output.shown(note))
    if request.dry_run:
        return planned
    faults = planned.plan.faults
    for fault in faults[:_FAULTS]:
        output.note(f"the verdict can only be indeterminate: {output.shown(fault)}")
    if len(faults) > _FAULTS:
        output.note(f"{len(faults) - _FAULTS} more such faults, which the report lists")
    with output.progress(planned.plan.steps, "measuring") as bar:
        result = planned.run(threads=request.threads, cache=request.cache, on_step=bar.step)
    for note in result.notes:
        output.note(output.shown(note))
    return result


def _check_places(request: GateConfig) -> None:
    """What is to be written has a folder and a file of its own, and the page its extra."""
    from screentest.errors import InputError

    places = [place for place in (request.output, request.html) if place is not None]
    for place in places:
        folder = os.path.dirname(os.path.abspath(place))
        if not os.path.isdir(folder):
            raise InputError(f"{place}: there is no folder {folder} to write it into")
        if os.path.isdir(place):
            raise InputError(f"{place}: a folder, where the name of a file to write was expected")
    if len({os.path.realpath(place) for place in places}) < len(places):
        raise InputError(f"{places[0]}: report and page cannot be one file")
    if request.html is not None:
        from screentest.reports.html import require_report_extra

        require_report_extra()


def _write(result: Gating, request: GateConfig) -> None:
    from pathlib import Path

    from screentest.files import write_atomically
    from screentest.reports import canonical
    from screentest.reports.gate import gate_lines

    document = result.to_json()
    # Files first: whoever reads our output may stop before its end.
    if request.output is not None:
        write_atomically(Path(request.output), document)
        output.note(f"wrote {output.shown(request.output)}")
    if request.json or request.output is not None:
        output.note(f"digest {canonical.digest(document)}")
    try:
        if request.html is not None:
            result.page(request.html, threads=request.threads)
            output.note(f"wrote {output.shown(request.html)}")
    finally:
        # A page that cannot be written hides no verdict.
        if request.json:
            output.result_bytes(document)
        else:
            for line in gate_lines(result.report):
                output.result(line)


def _print_plan(plan: GatePlan, as_json: bool) -> None:
    if as_json:
        output.result_bytes(plan.to_json())
        return
    for line in plan_lines(plan):
        output.result(output.shown(line))


def plan_lines(plan: GatePlan) -> list[str]:
    """What a person reads of a dry run: the gate, the conditions, what would be decoded, and the
    budgets."""
    from screentest.gating.arms import shown

    record = plan.to_dict()
    lines = [f"dry run: the {plan.kind} gate over {plan.clips} clips, nothing was measured"]
    lines.append(f"  {plan.protocol.line()}")
    lines.append(f"  changes: {', '.join(change.value for change in plan.protocol.changes)}")
    arms = zip(plan.arms.names, plan.arms.references, plan.arms.candidates, strict=True)
    rows = [(name, shown(one), shown(other)) for name, one, other in arms]
    lines += output.table([("pair", "reference", "candidate"), *rows], left=(0, 1, 2))
    if plan.metrics:
        lines.append(f"  metrics: {', '.join(plan.metrics)}")
    for control in ("null_control", "repeat_control"):
        if record[control] is not None:
            lines.append(f"  {control.replace('_', ' ')}: {record[control]}")
    if plan.table is None:
        lines.append("  no budgets: distances would be measured and not judged")
    else:
        lines.append(f"  budgets {plan.table.name!r}, version {plan.table.version}:")
        lines += [f"    {budget.describe()}" for budget in plan.table.budgets]
    lines += [f"  the verdict can only be indeterminate: {fault}" for fault in plan.faults]
    return lines


def _table(given: Iterable[str] | None) -> dict[str, str] | None:
    from screentest.errors import InputError

    if given is None:
        return None
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--extra {text}: expected KEY=VALUE")
        found[key.strip()] = value
    return found

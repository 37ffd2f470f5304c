"""``screentest calibrate``: where the budgets of one's own model lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from screentest.cli import exit_codes, options, output
from screentest.cli.many_values import ManyValues

if TYPE_CHECKING:
    from screentest.calibrating import Calibration, CalibrationPlan
    from screentest.gates.calibration.bound import Bound

__all__ = ["EXIT_STATUS", "Command", "command", "report_lines"]

EXIT_STATUS = (
    "Exit status: 0 written (of a dry run: the request is valid); 2 the request or an input is "
    "wrong, or a bound would be loosened without a reason; 3 no bound could be placed; 130 "
    "interrupted."
)


class Command(ManyValues):
    """Takes ``--clean a b c``."""

    many: ClassVar[frozenset[str]] = frozenset(("--clean", "--degraded", "--metrics"))


def command(
    clean: Annotated[
        list[str] | None,
        typer.Option(metavar="DIR|REPORT...", help="Renders that ought to pass."),
    ] = None,
    degraded: Annotated[
        list[str] | None,
        typer.Option(metavar="DIR|REPORT...", help="Renders that ought to fail."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file of budgets to write."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Budgets that are not loosened without a reason, besides FILE's."
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why a bound is loosened; it is recorded.")
    ] = "",
    date: Annotated[
        str, typer.Option(metavar="YYYY-MM-DD", help="Of what is recorded (default: today).")
    ] = "",
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="video|image|reference",
            help="The gate that the budgets are for (default: what the clips are).",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Of the table (default: that of the file).")
    ] = "",
    family: Annotated[
        str, typer.Option(metavar="NAME", help="The model's family, for the evidence.")
    ] = "",
    hardware: Annotated[
        str,
        typer.Option(metavar="NAME", help="What the renders ran on; each has a file of its own."),
    ] = "",
    metrics: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Of --kind reference: psnr, ssim, ms_ssim, ..."),
    ] = None,
    threads: options.ThreadsOfAll = None,
    cache: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Keep facts here; known clips are not decoded again."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, measure nothing, print the plan.")
    ] = False,
    as_json: options.JsonObject = False,
) -> int:
    """Place the bounds of a gate between renders that ought to pass and renders that ought to fail.

    A DIR holds the folders reference and candidate, paired by file name; or it is flat: clean flat
    folders are the same prompts rendered again (each pair of them shows how far clean renders lie
    apart), and a degraded one is held against each of them. A REPORT is a sealed gate report; a
    folder may hold several. Nothing is decoded for those.

    Bounds with their populations, margins and intervals go to FILE. Where it is there already, no
    bound becomes looser without --reason, and every change is recorded with its date.
    """
    # The library loads only now, so that --help does not wait for it.
    from screentest.calibrating import calibrate
    from screentest.errors import InputError, ScreentestError
    from screentest.reports import canonical

    try:
        if out is None and not dry_run:
            raise InputError("which file shall hold the budgets? -o FILE (or --dry-run)")
        named = [each for given in metrics or ["psnr"] for each in given.split(",") if each]
        plan = calibrate(
            clean or [],
            degraded or [],
            out,
            baseline=baseline,
            kind=kind,  # type: ignore[arg-type]
            name=name,
            family=family,
            hardware=hardware,
            reason=reason,
            date=date,
            metrics=named,
        )
        if dry_run:
            if as_json:
                output.result_bytes(canonical.dumps(plan.to_dict()))
            else:
                for line in plan_lines(plan):
                    output.result(line)
            return exit_codes.DONE
        result = plan.run(threads=threads, cache=cache)
    except (ScreentestError, OSError) as error:
        if as_json:
            output.result_bytes(canonical.dumps(_error_record(error)))
        raise
    for note in result.placement.notes:
        output.note(output.shown(note))
    if as_json:
        output.result_bytes(canonical.dumps(result.to_dict()))
    else:
        for line in report_lines(result):
            output.result(line)
    if result.file is None:
        return exit_codes.NOT_JUDGED
    output.note(f"wrote {output.shown(str(out))}")
    return exit_codes.DONE


def plan_lines(plan: CalibrationPlan) -> list[str]:
    """What a dry run prints."""
    lines = [f"{len(plan.sources)} populations, {len(plan.clips)} clips to measure"]
    for entry in plan.to_dict()["populations"]:
        lines.append(f"  {entry['label']:<8}  {entry['prompts']} pairs  "
                     f"{output.shown(entry['name'])}")  # fmt: skip
    return lines


def report_lines(result: Calibration) -> list[str]:
    """What a person reads: every bound with its margin, what has none and why, what changed."""
    rows: list[tuple[str, ...]] = [
        ("statistic", "side", "bound", "clean", "failing", "margin", "spreads", "")
    ]
    rows += [_row(bound) for bound in result.placement.bounds if bound.bound is not None]
    lines = output.table(rows, left=(0, 1, 7)) if len(rows) > 1 else ["no bound could be placed"]
    lines += [
        f"  no bound  {bound.statistic} {bound.side}: {output.shown(bound.reason)}"
        for bound in result.placement.bounds
        if bound.bound is None
    ]
    return [*lines, *(f"  changed   {change.describe()}" for change in result.changes)]


def _row(bound: Bound) -> tuple[str, ...]:
    said = bound.reason or ("" if not bound.provisional else "provisional")
    return (
        bound.statistic,
        bound.side,
        *map(_figure, (bound.bound, bound.clean, bound.degraded, bound.margin)),
        "-" if bound.margin_spreads is None else f"{bound.margin_spreads:.1f}",
        said,
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _error_record(error: Exception) -> dict[str, object]:
    from screentest.reports.screening import describe_error

    code, message = describe_error(error)
    return {
        "schema": "screentest/calibration@1",
        "status": "error",
        "error": {"code": code, "message": message},
    }

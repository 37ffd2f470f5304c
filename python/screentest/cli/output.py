"""Where words go: results to stdout, errors, notes and progress to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = [
    "Bar",
    "ReaderGone",
    "error",
    "note",
    "progress",
    "prose",
    "result",
    "result_bytes",
    "shown",
    "styled",
    "table",
]

_COLOURS = {"pass": "green", "reject": "red", "unmeasured": "yellow", "error": "red"}


class ReaderGone(Exception):
    """Whoever read our output has closed it. No OSError, which the parser would make its own."""


def error(message: str) -> None:
    """One line on stderr; whatever newlines the message had become spaces."""
    _echo(f"screentest: error: {' '.join(message.split())}", err=True)


def note(message: str) -> None:
    """One line on stderr that is no error."""
    _echo(f"screentest: {message}", err=True)


def result(line: str) -> None:
    """One line on stdout."""
    _echo(line, err=False)


def result_bytes(document: bytes) -> None:
    """A JSON document on stdout, one line, UTF-8 whatever the locale."""
    buffer = getattr(sys.stdout, "buffer", None)
    try:
        sys.stdout.flush()
        if buffer is None:
            sys.stdout.write(document.decode() + "\n")
        else:
            buffer.write(document + b"\n")
            buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def prose(text: str | None) -> str:
    """A docstring's paragraphs, each on one line: the help wraps them to the terminal's width."""
    paragraphs = cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def shown(path: str) -> str:
    """A file name that can be printed on any terminal without moving its cursor."""
    from screentest.reports.canonical import one_line

    return one_line(path)


def styled(word: str) -> str:
    """A verdict in its colour on a terminal, bare elsewhere and under NO_COLOR."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return word
    return typer.style(word, fg=_COLOURS.get(word.strip()), bold=True)


def table(rows: Sequence[tuple[str, ...]], left: tuple[int, ...] = (0,)) -> list[str]:
    """Columns side by side; those of ``left`` begin at one place, the others end at one."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _echo(line: str, *, err: bool) -> None:
    stream = sys.stderr if err else sys.stdout
    try:
        typer.echo(line, err=err)
    except BrokenPipeError:
        raise ReaderGone from None
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        typer.echo(line.encode(encoding, "backslashreplace").decode(encoding), err=err)


class Bar:
    """A progress bar on stderr, or nothing where stderr is no terminal."""

    def __init__(self, bar: Progress | None, task: Any) -> None:
        self._bar = bar
        self._task = task

    def step(self) -> None:
        """One more input is done."""
        if self._bar is not None:
            self._bar.advance(self._task)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take the bar off the terminal while lines are printed that belong to stdout."""
        if self._bar is None or not sys.stdout.isatty():
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()


@contextmanager
def progress(total: int, what: str) -> Iterator[Bar]:
    """A bar over ``total`` inputs; silent for a single one, in a pipe and in a log."""
    if total < 2 or not sys.stderr.isatty():
        yield Bar(None, None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with bar:
        yield Bar(bar, bar.add_task(what, total=total))

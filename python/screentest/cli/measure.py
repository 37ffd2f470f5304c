"""``screentest measure``: the numbers of files and folders, without a verdict."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from screentest.cli import exit_codes, options, output
from screentest.cli.walk import inputs

if TYPE_CHECKING:
    from screentest.measuring import Measurement, MeasurementError
    from screentest.metrics.facts import Score
    from screentest.reports.tables import Table

__all__ = ["EXIT_STATUS", "command", "report_lines"]

EXIT_STATUS = (
    "Exit status: 0 measured; 2 the request or an input is wrong; 3 a family that was named could "
    "not be measured of a file; 130 interrupted."
)


def command(
    paths: options.Paths,
    families: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="integrity, signal, temporal, tracks (the default), flow, detail; or all. May be "
            "repeated.",
        ),
    ] = None,
    windows: Annotated[
        int, typer.Option(metavar="N", help="Stretches of the clip that are tracked.")
    ] = 4,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Keep facts here; content that was measured before is not decoded again.",
        ),
    ] = None,
    as_json: options.JsonLines = False,
    csv: Annotated[
        str | None,
        typer.Option("--csv", metavar="FILE|-", help="A table, one row per file; - is stdout."),
    ] = None,
    parquet: Annotated[
        str | None, typer.Option(metavar="FILE", help="The same as Parquet (the parquet extra).")
    ] = None,
    series: Annotated[
        bool, typer.Option("--series", help="The tables have one row per frame instead.")
    ] = False,
    threads: options.ThreadsOfAll = None,
    sequence: options.Sequence = False,
    decoder: options.Decoder = None,
    device: options.DecoderDevice = None,
) -> int:
    """Measure each file: decode it once, and print every number of the families asked for.

    A number that could not be measured is named with the reason, never zero. There is no verdict:
    whether a number is good depends on what was asked for.

    A CSV or Parquet table has a column per metric, empty where it is unmeasured, and
    NAME_impl says which version of a family made its numbers.
    """
    # The library loads only now, so that --help does not wait for it.
    from screentest import measuring

    named = [name.strip() for text in families or [] for name in text.split(",") if name.strip()]
    _check_tables(as_json, csv, parquet, series)
    files = inputs(paths, sequences=sequence, done="measured", threads=threads)
    _spare(files, (csv, parquet))
    reading: dict[str, Any] = {"decoder": decoder, "device": device}
    results = measuring.measure_many(
        files,
        families=None if families is None else named,
        windows=windows,
        cache=cache,
        threads=threads,
        **{key: value for key, value in reading.items() if value is not None},
    )
    codes: list[int] = []
    with ExitStack() as stack:
        stack.enter_context(_reader_gone())
        stack.enter_context(closing(results))
        tables = _tables(stack, named, csv, parquet, series)
        bar = stack.enter_context(output.progress(len(files), "measuring"))
        for position, result in enumerate(results):
            codes.append(_status(result, named))
            with bar.paused():
                _print(result, as_json=as_json, silent=csv == "-", first=position == 0)
            for table in tables:
                _add(table, result)
            bar.step()
    return exit_codes.worst(codes)


@contextmanager
def _reader_gone() -> Iterator[None]:
    """A table on stdout is a file like any other to those who write it."""
    try:
        yield
    except BrokenPipeError:
        raise output.ReaderGone from None


def _check_tables(as_json: bool, csv: str | None, parquet: str | None, series: bool) -> None:
    """Refuses what cannot be written, before anything is decoded."""
    from screentest.errors import InputError

    if series and csv is None and parquet is None:
        raise InputError("--series says what the tables hold: give --csv or --parquet as well")
    if as_json and csv == "-":
        raise InputError("--json and --csv - both write to stdout: give --csv a file")
    if parquet is not None:
        from screentest.reports.tables import require_parquet_extra

        require_parquet_extra()
    for path in (csv, parquet):
        if path == "":
            raise InputError("a table has no name: give --csv and --parquet a file")
        if path is not None and path != "-":
            folder = os.path.dirname(os.path.abspath(path))
            if not os.path.isdir(folder):
                raise FileNotFoundError(None, None, folder)
            if os.path.isdir(path):
                raise InputError(f"{path}: a folder; give the table a file")
    if csv is not None and parquet is not None and _is_same(csv, parquet):
        raise InputError(f"--csv and --parquet both write {csv}: give each a file of its own")


def _spare(files: list[str], tables: tuple[str | None, ...]) -> None:
    """Refuses a table in the place of a file that is measured."""
    from screentest.errors import InputError

    for table in tables:
        if table is not None and os.path.exists(table):
            for file in files:
                if _is_same(file, table):
                    raise InputError(f"{table}: a file to measure; give the table another name")


def _is_same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


_WITHOUT_FRAMES = ("tracks", "flow")
"""Families whose numbers are of windows or of pairs of frames."""


def _tables(
    stack: ExitStack, named: list[str], csv: str | None, parquet: str | None, series: bool
) -> list[Table]:
    if csv is None and parquet is None:
        return []
    from screentest.metrics.families import choose, metric_specs
    from screentest.reports.tables import FileRows, FrameRows, csv_table, parquet_table

    families = choose(named or None)
    chosen = [family.name for family in families]

    def rows() -> FileRows | FrameRows:
        if series:
            # What cannot run here has no columns, and no row waits for them.
            named_rows = [one.name for one in families if one.missing() is None]
            if bare := [name for name in named_rows if name in _WITHOUT_FRAMES]:
                output.note(
                    f"{' and '.join(bare)} measure windows and pairs, not frames: --series has no "
                    "columns of them"
                )
            return FrameRows(named_rows)
        return FileRows({name: metric_specs(name) for name in chosen})

    tables = []
    if csv is not None:
        tables.append(stack.enter_context(csv_table(rows(), _target(csv))))
    if parquet is not None:
        tables.append(stack.enter_context(parquet_table(rows(), parquet)))
    return tables


def _target(csv: str) -> str | BinaryIO:
    if csv != "-":
        return csv
    sys.stdout.flush()
    return sys.stdout.buffer


def _add(table: Table, result: Measurement | MeasurementError) -> None:
    from screentest.measuring import MeasurementError

    if isinstance(result, MeasurementError):
        table.add_error(result.source, result.message)
    else:
        table.add(result)


def _status(result: Measurement | MeasurementError, named: list[str]) -> int:
    from screentest.measuring import MeasurementError

    if isinstance(result, MeasurementError):
        return exit_codes.BAD_INPUT
    missing = not all(result.measured(family) for family in named)
    return exit_codes.NOT_JUDGED if missing else exit_codes.DONE


def _print(
    result: Measurement | MeasurementError, *, as_json: bool, silent: bool, first: bool
) -> None:
    from screentest.measuring import MeasurementError

    if as_json:
        output.result_bytes(result.to_json())
    if isinstance(result, MeasurementError):
        where, message = output.shown(result.source), output.shown(result.message)
        output.error(message if message.startswith(where) else f"{where}: {message}")
        return
    for note in result.notes:
        output.note(output.shown(note))
    if not as_json and not silent:
        if not first:
            output.result("")
        for line in report_lines(result):
            output.result(line)


def _better(score: Score) -> str:
    """Which way is better, in words."""
    from screentest.metrics import registry

    if score.direction != "target":
        return {"up": "higher is better", "down": "lower is better"}[score.direction]
    target = registry.spec(score.name).target
    # Neither way is better by itself: it is what the scene makes it.
    return "compare with a control" if target is None else f"best near {target:g}"


def report_lines(result: Measurement) -> list[str]:
    """The block that a person reads of one file: the clip, its numbers, and what has none."""
    clip = result.clip
    count = clip.frames or 0
    about = f"{clip.width}x{clip.height}, {count} frame{'s' * (count != 1)}"
    if clip.duration_s is not None and count > 1:
        about += f", {clip.duration_s:.2f} s"
    lines = [f"{output.shown(result.source)}  ({about})"]
    lines += [f"  damage  {output.shown(damage.detail)}" for damage in result.damage]
    scores = result.scores
    measured = [score for score in scores if score.value is not None]
    width = max((len(score.name) for score in measured), default=0)
    values = [_value(score) for score in measured]
    wide = max(map(len, values), default=0)
    for score, value in zip(measured, values, strict=True):
        lines.append(f"  {score.name:<{width}}  {value:<{wide}}  {_better(score)}")
    lines += [
        f"  not measured  {name}: {output.shown(reason)}"
        for name, reason in result.unmeasured.items()
    ]
    return lines


def _value(score: Score) -> str:
    assert score.value is not None
    unit = "" if score.unit == "1" else f" {score.unit}"
    return f"{score.value:.6g}{unit}"

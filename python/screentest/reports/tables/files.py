"""Tables of measurements as CSV or Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from screentest.errors import MissingBackendError
from screentest.files import replacing
from screentest.reports.tables.rows import FileRows, FrameRows, Row

if TYPE_CHECKING:
    from screentest.measuring import Measurement

__all__ = ["Table", "csv_table", "parquet_table", "require_parquet_extra"]

Rows: TypeAlias = FileRows | FrameRows

# Rows that make a group of a Parquet file: a group for every clip would be slow to read.
_GROUP = 16_384


class CsvTable:
    """Writes rows as CSV with a header, quoted as RFC 4180 has it, lines ending in ``\\n``: numbers
    to the last digit, nothing where there is no number."""

    def __init__(self, file: BinaryIO, columns: Mapping[str, type]) -> None:
        self._file = file
        self._columns = list(columns)
        self._put([self._columns])

    def write(self, rows: Sequence[Row]) -> None:
        """The next rows."""
        self._put([[row[name] for name in self._columns] for row in rows])

    def _put(self, lines: Sequence[Sequence[Any]]) -> None:
        self._file.write("".join(",".join(map(_field, line)) + "\n" for line in lines).encode())
        self._file.flush()

    def close(self) -> None:
        """Nothing is held back."""


def _field(value: Any) -> str:
    """One field. ``csv.writer`` leaves a carriage return bare where lines end in a line feed, and
    a reader takes it for the end of a row."""
    if value is None:
        return ""
    text = str(value)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


class ParquetTable:
    """Writes rows as Parquet; the version, unit and direction of a metric are in its column's
    metadata."""

    def __init__(
        self,
        file: BinaryIO,
        columns: Mapping[str, type],
        meaning: Mapping[str, Mapping[str, str]],
    ) -> None:
        arrow, parquet = require_parquet_extra()
        types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
        self._arrow = arrow
        self._schema = arrow.schema(
            [
                arrow.field(name, types[kind], metadata=meaning.get(name) or None)
                for name, kind in columns.items()
            ]
        )
        self._writer = parquet.ParquetWriter(file, self._schema)
        self._rows: list[Row] = []

    def write(self, rows: Sequence[Row]) -> None:
        """The next rows."""
        self._rows += rows
        if len(self._rows) >= _GROUP:
            self._flush()

    def close(self) -> None:
        """Writes what is held back, and the file's index."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


def require_parquet_extra() -> tuple[Any, Any]:
    """pyarrow and its module for Parquet.

    Raises:
        MissingBackendError: it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingBackendError(
            'a Parquet file needs the extra: pip install "screentest[parquet]"', extra="parquet"
        ) from error
    return pyarrow, parquet


class Table:
    """A table that begins with its first rows, once their columns are known."""

    def __init__(
        self, rows: Rows, begin: Callable[[Mapping[str, type]], CsvTable | ParquetTable]
    ) -> None:
        self._rows = rows
        self._begin = begin
        self._file: CsvTable | ParquetTable | None = None

    def add(self, measurement: Measurement) -> None:
        """The rows of one measurement."""
        self._write(self._rows.rows(measurement))

    def add_error(self, source: str, message: str) -> None:
        """The rows of a file that could not be read."""
        self._write(self._rows.error_rows(source, message))

    def end(self) -> None:
        """What still waited, and the end of the file."""
        rows = self._rows.settle()
        file = self._file or self._begin(self._rows.columns)
        file.write(rows)
        file.close()

    def _write(self, rows: Sequence[Row]) -> None:
        if rows:
            if self._file is None:
                self._file = self._begin(self._rows.columns)
            self._file.write(rows)


@contextmanager
def csv_table(rows: Rows, file: str | BinaryIO) -> Iterator[Table]:
    """A CSV file that is there, whole, when the block ends; or an open stream, written as the
    results come."""
    with replacing(Path(file)) if isinstance(file, str) else nullcontext(file) as target:
        table = Table(rows, lambda columns: CsvTable(target, columns))
        yield table
        table.end()


@contextmanager
def parquet_table(rows: Rows, path: str) -> Iterator[Table]:
    """A Parquet file that is there, whole, when the block ends.

    Raises:
        MissingBackendError: pyarrow is not installed.
    """
    require_parquet_extra()
    with replacing(Path(path)) as file:
        table = Table(rows, lambda columns: ParquetTable(file, columns, rows.meaning))
        yield table
        table.end()

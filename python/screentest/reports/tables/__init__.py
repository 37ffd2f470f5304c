"""Measurements as tables for data frames and databases."""

from __future__ import annotations

from screentest.reports.tables.files import Table, csv_table, parquet_table, require_parquet_extra
from screentest.reports.tables.rows import FileRows, FrameRows

__all__ = [
    "FileRows",
    "FrameRows",
    "Table",
    "csv_table",
    "parquet_table",
    "require_parquet_extra",
]

"""A file of budgets with its memory: the evidence, and which bound was changed when and why."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from screentest.errors import MissingBackendError, PolicyError
from screentest.files import write_atomically
from screentest.gates.budget import SCHEMA, Budget, BudgetTable, parse_budgets
from screentest.gates.calibration.bound import Side
from screentest.verdicts.document import parse_toml, read_toml

__all__ = [
    "BudgetFile",
    "Change",
    "changes_between",
    "read_budget_file",
    "require_reason",
    "require_toml_writer",
]

Direction: TypeAlias = Literal["loosened", "tightened", "added"]


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One bound that differs from what it was.

    Attributes:
        budget: the statistic.
        side: ``low`` or ``high``.
        direction: ``loosened`` where something passes that did not, a bound that is gone among
            them; ``tightened``; ``added`` for a statistic that had no budget.
        old: ``None`` for none.
        new: ``None`` for none.
        date: when, as it was given.
        reason: why; a bound that was loosened has one.
        hardware: what the renders behind the new bound ran on.
    """

    budget: str
    side: Side
    direction: Direction
    old: float | None = None
    new: float | None = None
    date: str = ""
    reason: str = ""
    hardware: str = ""

    def describe(self) -> str:
        """``imaging_index low 0.92 -> 0.9 (loosened)``."""
        old, new = (("none" if value is None else f"{value:g}") for value in (self.old, self.new))
        return f"{self.budget} {self.side} {old} -> {new} ({self.direction})"


class BudgetFile(msgspec.Struct, frozen=True, kw_only=True):
    """A table with its evidence and its log."""

    table: BudgetTable
    evidence: dict[str, Any] = {}
    changes: tuple[dict[str, Any], ...] = ()

    @property
    def hardware(self) -> str:
        """What the renders behind the bounds ran on, empty where it was not said."""
        said = self.evidence.get("hardware", "")
        return said if isinstance(said, str) else ""

    def to_toml(self) -> str:
        """The document that :func:`~screentest.gates.budget.load_budgets` reads."""
        import tomlkit

        table = self.table
        text: str = tomlkit.dumps(
            _writable(
                {
                    "schema": SCHEMA,
                    "name": table.name,
                    "kind": table.kind,
                    "version": table.version,
                    "budgets": {
                        budget.name: {
                            "low": budget.low,
                            "high": budget.high,
                            "provenance": budget.provenance,
                        }
                        for budget in table.budgets
                    },
                    "changes": list(self.changes),
                    "evidence": self.evidence,
                }
            )
        )
        return text

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the document, wholly or not at all; it is read back first, so that no file is
        written that no gate takes."""
        text = self.to_toml()
        parse_budgets(text, os.fspath(path))
        write_atomically(Path(path), text.encode())


def require_toml_writer() -> None:
    """Refuse before anything is decoded where nothing writes TOML.

    Raises:
        MissingBackendError: it names the extra that brings it.
    """
    if importlib.util.find_spec("tomlkit") is None:
        raise MissingBackendError(
            "a file of budgets is written by tomlkit, which is not installed: "
            "pip install 'screentest[gate]'"
        )


def _writable(value: Any) -> Any:
    """What TOML has a word for: nothing that is absent, and no bytes of a name that are no text."""
    if isinstance(value, Mapping):
        return {_writable(k): _writable(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_writable(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def read_budget_file(path: str | os.PathLike[str]) -> BudgetFile:
    """The document of a file with its evidence and its log.

    Raises:
        PolicyError: what is wrong with it, and where.
        FileNotFoundError: there is no such file.
    """
    source = os.fspath(path)
    given = parse_toml(read_toml(source), source)
    table = parse_budgets(given, source)
    return BudgetFile(
        table=table,
        evidence=dict(given.get("evidence", {})),
        changes=tuple(dict(change) for change in given.get("changes", ())),
    )


def changes_between(old: BudgetTable, new: BudgetTable) -> tuple[Change, ...]:
    """Every bound that differs, in the order of the old table and then of the new one."""
    before = {budget.name: budget for budget in old.budgets}
    after = {budget.name: budget for budget in new.budgets}
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        change for name in names for change in _changes(name, before.get(name), after.get(name))
    )


def _changes(name: str, old: Budget | None, new: Budget | None) -> Iterator[Change]:
    sides: tuple[Side, ...] = ("low", "high")
    for side in sides:
        was: float | None = getattr(old, side, None)
        now: float | None = getattr(new, side, None)
        if was == now:
            continue
        if was is None:
            direction: Direction = "added" if old is None else "tightened"
        elif now is None or (now < was if side == "low" else now > was):
            direction = "loosened"
        else:
            direction = "tightened"
        yield Change(budget=name, side=side, direction=direction, old=was, new=now)


def require_reason(
    changes: Sequence[Change], reason: str, where: str, *, lacking: Mapping[str, str] = {}
) -> None:
    """Refuse to loosen a bound without saying why.

    Args:
        changes: between the table that stands and the new one.
        reason: as it was given; blank is none.
        where: the file whose bounds they are.
        lacking: by statistic, why it has no bound now.

    Raises:
        PolicyError: a bound becomes looser or is gone (``code="loosened"``); the message names each
            with its old and its new value.
    """
    looser = [change for change in changes if change.direction == "loosened"]
    if not looser or reason.strip():
        return
    told = "; ".join(
        change.describe() + (f": {why}" if (why := lacking.get(change.budget)) else "")
        for change in looser
    )
    raise PolicyError(
        f"{where}: loosening a bound takes a --reason TEXT, which is recorded: {told}",
        code="loosened",
    )

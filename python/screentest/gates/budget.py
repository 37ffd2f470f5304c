"""Budgets: bounds of a statistic with the evidence for them, in versioned files.

A table is a closed TOML document. A user's table stands alone: it holds every budget of its gate,
and nothing is merged into it.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from screentest.errors import PolicyError
from screentest.gates.statistics import IMAGE, REFERENCE, VIDEO
from screentest.verdicts.document import parse_toml, plain_validation, read_toml, refuse_unknown

__all__ = [
    "SCHEMA",
    "Budget",
    "BudgetTable",
    "Kind",
    "as_table",
    "load_budgets",
    "parse_budgets",
    "shipped",
]

SCHEMA = "screentest/budgets@1"

Kind: TypeAlias = Literal["video", "image", "reference"]
"""Which gate a table is for."""

STATISTICS: Mapping[Kind, frozenset[str]] = {
    "video": frozenset(VIDEO),
    "image": frozenset(IMAGE),
    "reference": frozenset(REFERENCE),
}
"""What a budget of each kind of table may bound."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one statistic, both inclusive.

    Raises:
        PolicyError: no name, no bound, a bound that is not finite, ``low`` above ``high``, or no
            provenance: the populations on either side of each bound.

    >>> Budget(name="imaging_index", low=0.92, high=1.25, provenance="...").describe()
    '0.92 <= imaging_index <= 1.25'
    """

    name: str
    low: float | None = None
    high: float | None = None
    provenance: str

    def __post_init__(self) -> None:
        if not _is_text(self.name):
            raise PolicyError(f"a budget without a name: {self.name!r}")
        if not _is_text(self.provenance):
            raise PolicyError(
                f"budget {self.name} has no provenance: which clips say that the bound lies there?"
            )
        if self.low is None and self.high is None:
            raise PolicyError(f"budget {self.name} has no bound: give low, high or both")
        for end, bound in (("low", self.low), ("high", self.high)):
            if bound is None:
                continue
            if isinstance(bound, bool) or not isinstance(bound, int | float):
                raise PolicyError(f"budget {self.name}: {end} is {bound!r}: expected a number")
            if not math.isfinite(bound):
                raise PolicyError(
                    f"budget {self.name}: {end} is {bound}: expected a finite number; leave out "
                    "the side that has no bound"
                )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise PolicyError(
                f"budget {self.name}: low {self.low:g} is above high {self.high:g}, so nothing "
                "would pass"
            )

    def check(self, value: float | None) -> bool:
        """Whether a value keeps the bounds; one that is missing or not finite does not."""
        if value is None or not math.isfinite(value):
            return False
        # A number of numpy's compares to a bool of its own, which is not ``False``.
        return bool(
            (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        )

    def describe(self) -> str:
        """``0.92 <= imaging_index <= 1.25``."""
        low = "" if self.low is None else f"{self.low:g} <= "
        return f"{low}{self.name}" + ("" if self.high is None else f" <= {self.high:g}")


class BudgetTable(msgspec.Struct, frozen=True, kw_only=True):
    """The budgets of one gate, under a name that reports quote.

    Raises:
        PolicyError: no budget, one name twice, or a name that its gate does not measure.
    """

    name: str
    kind: Kind
    version: int = 1
    budgets: tuple[Budget, ...]

    def __post_init__(self) -> None:
        where = f"budgets {self.name!r}"
        if not _is_text(self.name):
            raise PolicyError("a budget table without a name; reports quote it")
        if self.kind not in get_args(Kind):
            raise PolicyError(f"{where}: kind {self.kind!r} is none of {', '.join(STATISTICS)}")
        if not _is_version(self.version):
            raise PolicyError(f"{where}: version is {self.version!r}: expected 1, 2, ...")
        if not self.budgets:
            raise PolicyError(f"{where}: no budget, so everything would pass; give at least one")
        names = [budget.name for budget in self.budgets]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise PolicyError(f"{where}: two budgets for {twice}; expected one")
        refuse_unknown(dict.fromkeys(names), STATISTICS[self.kind], where, "")

    @property
    def sha256(self) -> str:
        """Digest of what is bounded and why: equal for two tables that decide alike."""
        content = msgspec.to_builtins(self)
        return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()

    def of(self, names: frozenset[str] | tuple[str, ...]) -> tuple[Budget, ...]:
        """The budgets of these statistics, in the order of the table."""
        return tuple(budget for budget in self.budgets if budget.name in names)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_version(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    low: float | None = None
    high: float | None = None
    provenance: str


class _Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: str
    name: str
    kind: Kind
    version: int = 1
    budgets: dict[str, _Entry] = {}
    evidence: dict[str, Any] = {}
    """What `screentest calibrate` keeps of the populations; it decides nothing."""
    changes: list[dict[str, Any]] = []
    """Which bound was changed when and why, as `screentest calibrate` notes it."""


def parse_budgets(document: str | Mapping[str, Any], source: str = "budgets") -> BudgetTable:
    """A table from TOML text or its mapping.

    Raises:
        PolicyError: not TOML, an unknown key, or what :class:`Budget` and :class:`BudgetTable`
            refuse. The message names the key.
    """
    given = parse_toml(document, source) if isinstance(document, str) else dict(document)
    refuse_unknown(given, _Document.__struct_fields__, source, "")
    if given.get("schema") != SCHEMA:
        raise PolicyError(
            f"{source}: schema is {given.get('schema')!r}; this version reads {SCHEMA!r}"
        )
    entries = given.get("budgets")
    if isinstance(entries, Mapping):
        for name, entry in entries.items():
            if isinstance(entry, Mapping):
                refuse_unknown(entry, _Entry.__struct_fields__, source, f"budgets.{name}.")
                if "provenance" not in entry:
                    raise PolicyError(
                        f"{source}: budget {name} has no provenance: say where the bound comes "
                        'from, provenance = "..."'
                    )
    try:
        read = msgspec.convert(given, _Document)
    except msgspec.ValidationError as error:
        raise PolicyError(f"{source}: {plain_validation(error)}") from None
    try:
        return BudgetTable(
            name=read.name,
            kind=read.kind,
            version=read.version,
            budgets=tuple(
                Budget(name=name, low=entry.low, high=entry.high, provenance=entry.provenance)
                for name, entry in read.budgets.items()
            ),
        )
    except PolicyError as error:
        raise PolicyError(f"{source}: {error.message}") from None


def load_budgets(path: str | os.PathLike[str]) -> BudgetTable:
    """The table in a TOML file; a missing file stays ``FileNotFoundError``."""
    source = os.fspath(path)
    return parse_budgets(read_toml(source), source)


@cache
def shipped(kind: Kind) -> BudgetTable:
    """The table that ships for a gate."""
    text = resources.files(__package__).joinpath(f"tables/{kind}.toml").read_text("utf-8")
    return parse_budgets(text, f"{kind}.toml")


def as_table(given: Any, kind: Kind) -> BudgetTable:
    """What a caller may pass as budgets: a table, a TOML file's path, budgets, or ``None`` for the
    table that ships.

    Raises:
        PolicyError: they are empty, contradict each other or belong to another gate.
    """
    if given is None:
        return shipped(kind)
    if isinstance(given, str | os.PathLike):
        table = load_budgets(given)
    elif isinstance(given, BudgetTable):
        table = given
    else:
        budgets = tuple(given)
        if wrong := [each for each in budgets if not isinstance(each, Budget)]:
            raise PolicyError(
                f"budgets hold a {type(wrong[0]).__name__}, where Budget, a BudgetTable or the "
                "path of its TOML file was expected"
            )
        table = BudgetTable(name="given in the call", kind=kind, budgets=budgets)
    if table.kind != kind:
        raise PolicyError(
            f"budgets {table.name!r} are for the {table.kind} gate; the {kind} gate was asked for"
        )
    return table

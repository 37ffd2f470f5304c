"""One table out of many records: mean, spread and worst samples of each metric in each group.

``metrics_aggregate.json`` is ``{group: {metric: {"mean", "count", ...}}}`` and nothing else at the
top. It is made from the sorted records alone, so interrupted, sharded and single runs
write the same bytes.

Per metric: ``mean`` over the ``count`` samples that have a number, ``std`` (n - 1), ``ci95`` (a
percentile bootstrap of the mean, 2,000 resamples, seeded by the group's and the metric's name),
``n_identical`` (a sample equal to its ground truth; where that has no number, as with PSNR, it is
in neither mean nor count), ``n_skipped`` by reason, ``n_missing`` (chosen, but no record yet),
``worst`` (up to ten), ``unit``, ``direction``, ``impl``. Nothing measured is a null mean and a
``reason``. Records of different ``impl`` are not averaged together.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from screentest.evaluations.records import Record
from screentest.reports.canonical import printable

__all__ = ["Aggregate", "aggregate", "bootstrap_interval", "request_of"]

Aggregate: TypeAlias = dict[str, dict[str, dict[str, Any]]]

RESAMPLES = 2000
WORST = 10
LEAST = 10


@dataclass(slots=True)
class _Cell:
    """What one group's records say of one metric."""

    values: list[tuple[str, str, float]] = field(default_factory=list)
    identical: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    impls: set[str] = field(default_factory=set)
    unit: str | None = None
    direction: str | None = None


def aggregate(
    records: Mapping[str, Record], expected: Mapping[str, tuple[str, tuple[str, ...]]]
) -> Aggregate:
    """The table.

    ``records`` by place, and ``expected`` {place: (group, metrics)} of every sample that was
    chosen, whichever shard scores it.
    """
    groups: dict[str, list[tuple[str, Record]]] = defaultdict(list)
    for place in sorted(records):
        groups[records[place].group].append((place, records[place]))
    missing: dict[str, Counter[str]] = defaultdict(Counter)
    for place, (group, metrics) in expected.items():
        record = records.get(place)
        known = () if record is None else (*record.requested, *record.metrics)
        missing[group].update(metric for metric in metrics if metric not in known)
        groups.setdefault(group, [])
    return {group: _table(group, groups[group], missing[group]) for group in sorted(groups)}


def _table(
    group: str, records: list[tuple[str, Record]], missing: Counter[str]
) -> dict[str, dict[str, Any]]:
    requests = sorted({name for _, record in records for name in record.requested} | set(missing))
    cells: dict[str, _Cell] = defaultdict(_Cell)
    for place, record in records:
        for score in record.scores:
            cell = cells[score.name]
            cell.unit, cell.direction = score.unit, score.direction
            if score.state == "unmeasured":
                # Its impl lacks what is known once the metric has run, such as a program's version.
                cell.skipped["unmeasured"] += 1
                continue
            cell.impls.add(score.impl)
            cell.identical += score.state == "identical"
            if score.value is not None:
                cell.values.append((place, record.key, score.value))
    covered = {request_of(name, requests) for name in cells}
    names = sorted({*cells, *(name for name in requests if name not in covered)})
    for name in names:
        request = request_of(name, requests)
        cells[name].missing = missing[request]
        for _, record in records:
            for skip in record.skips:
                if request in skip.metrics:
                    cells[name].skipped[skip.code] += 1
    return {name: _row(group, name, cells[name]) for name in names}


def request_of(name: str, requests: Iterable[str]) -> str:
    """The request that a score's name answers: ``psnr`` gives ``psnr_worst`` as well.

    >>> request_of("psnr_y_worst", ["psnr", "psnr_y"]), request_of("psnr_worst", ["psnr", "ssim"])
    ('psnr_y', 'psnr')
    """
    fitting = [one for one in requests if name == one or name.startswith(f"{one}_")]
    return max(fitting, key=len, default=name)


def _row(group: str, name: str, cell: _Cell) -> dict[str, Any]:
    comparable = len(cell.impls) < 2
    numbers = [value for _, _, value in cell.values] if comparable else []
    count = len(numbers)
    row: dict[str, Any] = {
        "mean": math.fsum(numbers) / count if count else None,
        "count": count,
        "std": _deviation(numbers),
        "ci95": bootstrap_interval(numbers, f"{group}\0{name}"),
        "n_identical": cell.identical,
        "n_skipped": dict(sorted(cell.skipped.items())),
        "n_missing": cell.missing,
        "worst": _worst(cell) if comparable else [],
        "unit": cell.unit,
        "direction": cell.direction,
        "impl": min(cell.impls) if len(cell.impls) == 1 else None,
    }
    if not count:
        row["reason"] = _reason(cell, comparable)
    return row


def _reason(cell: _Cell, comparable: bool) -> str:
    if not comparable:
        return f"records of different impl ({', '.join(sorted(cell.impls))}) do not compare"
    parts = [f"{cell.identical} identical"] if cell.identical else []
    parts += [f"{count} skipped ({code})" for code, count in sorted(cell.skipped.items())]
    parts += [f"{cell.missing} missing"] if cell.missing else []
    return f"no sample has a number: {', '.join(parts) or 'there is no sample'}"


def _deviation(numbers: list[float]) -> float | None:
    if len(numbers) < 2:
        return None
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((n - mean) ** 2 for n in numbers) / (len(numbers) - 1))


def bootstrap_interval(numbers: list[float], seed: str) -> list[float] | None:
    """95 % of the means of 2,000 resamples; ``None`` below ten numbers, of which the resamples say
    little more than the smallest and the largest.

    The resamples are drawn by PCG64 seeded with the text, and summed one number after the other, so
    that neither the CPU nor the order of the samples changes a bit.
    """
    if len(numbers) < LEAST:
        return None
    entropy = int.from_bytes(hashlib.blake2b(seed.encode(errors="surrogateescape")).digest())
    draw = np.random.Generator(np.random.PCG64(entropy))
    values = np.sort(np.asarray(numbers, dtype=np.float64))
    if values[0] == values[-1]:
        return [float(values[0])] * 2
    sums = np.zeros(RESAMPLES)
    for _ in range(len(values)):
        sums += values[draw.integers(0, len(values), RESAMPLES)]
    low, high = np.quantile(sums / len(values), (0.025, 0.975))
    return [float(low), float(high)]


def _worst(cell: _Cell) -> list[dict[str, Any]]:
    sign = {"up": 1.0, "down": -1.0}.get(cell.direction or "")

    def badness(item: tuple[str, str, float]) -> tuple[float, str]:
        # Without a better end, what lies farthest out.
        return (-abs(item[2]) if sign is None else sign * item[2], item[0])

    worst = sorted(cell.values, key=badness)[:WORST]
    return [{"key": key, "place": printable(place), "value": value} for place, key, value in worst]

"""What a person reads of the difference of two documents; the JSON has every change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from screentest.gates.statistics import REFERENCE, VIDEO
from screentest.reports.canonical import one_line
from screentest.reports.diff import PARTS, Change, Difference

__all__ = ["diff_lines"]

MOST = 40
"""Changes of one part that a person is shown."""

NAMED = 3
"""Prompts that a line names."""

_OTHER = {"low": "high", "high": "low"}
_OUTCOMES = {True: "met", False: "NOT MET", None: "-"}


def diff_lines(difference: Difference) -> list[str]:
    """Part by part: what is bounded before what is not, and what is alike of many prompts in one
    line. Each line is printable, whoever wrote the documents."""
    if difference.equal:
        return [f"equal  {difference.digests[0]}"]
    lines = [f"differ  {difference.digests[0]}", f"        {difference.digests[1]}"]
    for part in PARTS:
        changes = [change for change in difference.changes if change.part == part]
        if changes:
            told = [*_TOLD.get(part, _each)(changes)]
            lines += [f"  {part}", *(f"    {one_line(line)}" for line in told[:MOST])]
            if len(told) > MOST:
                lines.append(f"    and {len(told) - MOST} more; --json has them all")
    return lines


def _each(changes: Sequence[Change]) -> Iterator[str]:
    yield from map(_told, changes)


def _verdicts(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        name = change.name.removesuffix(" passed")
        if name == change.name:
            yield _told(change)
        else:
            yield f"{name}: {_OUTCOMES[change.first]} -> {_OUTCOMES[change.second]}"


def _prompts(changes: Sequence[Change]) -> Iterator[str]:
    """Another arm has other files throughout: that is one line, not one for each prompt."""
    contents: dict[str, list[Change]] = {}
    for change in changes:
        if change.name.endswith(" content"):
            contents.setdefault(change.name, []).append(change)
        else:
            yield _told(change)
    for name, alike in contents.items():
        if len(alike) == 1:
            yield _told(alike[0])
        else:
            yield f"{name} differs for {len(alike)} prompts: {_some(c.prompt for c in alike)}"


def _values(changes: Sequence[Change]) -> Iterator[str]:
    """Benchmark by benchmark, a value with its interval; then prompt by prompt."""
    known = {change.name for change in changes if not change.prompt}
    # Of a value that stays, and of one end alone, an interval is told by itself.
    ends = {
        change.name: change
        for change in changes
        for end, _, name in (change.name.partition(" end of the interval of "),)
        if name in known and f"{_OTHER.get(end)} end of the interval of {name}" in known
    }
    left = [change for change in changes if change.name not in ends]
    for benchmark in dict.fromkeys(change.benchmark for change in left if not change.prompt):
        if benchmark:
            yield f"{benchmark}:"
        ours = [c for c in left if c.benchmark == benchmark and not c.prompt]
        for change in sorted(ours, key=_bounded_first):
            yield f"{'  ' if benchmark else ''}{_told(change)}{_interval(change.name, ends)}"
    left = [change for change in left if change.prompt]
    yield from (_told(change) for change in sorted(left, key=_bounded_first))


def _interval(name: str, ends: dict[str, Change]) -> str:
    found = [ends.get(f"{end} end of the interval of {name}") for end in ("low", "high")]
    low, high = found
    if low is None or high is None:
        return ""
    first, second = (
        f"[{_short(low_end)}, {_short(high_end)}]"
        for low_end, high_end in ((low.first, high.first), (low.second, high.second))
    )
    return f"  {first} -> {second}"


def _bounded_first(change: Change) -> bool:
    return change.name not in VIDEO and change.name not in REFERENCE


def _clips(changes: Sequence[Change]) -> Iterator[str]:
    """What the values above are made of: how much of it differs."""
    for side in ("reference", "candidate"):
        ours = [change for change in changes if change.name.startswith(f"{side} ")]
        prompts = dict.fromkeys(change.prompt for change in ours)
        if ours:
            yield (
                f"{len(ours)} numbers of the {side}'s clips of {len(prompts)} "
                f"prompt{'s' * (len(prompts) > 1)} ({_some(prompts)}); --json has them"
            )


def _others(changes: Sequence[Change]) -> Iterator[str]:
    """What a test of one statistic could have seen is one line."""
    power: dict[str, list[Change]] = {}
    for change in changes:
        parts = change.name.split(".")
        if parts[0] == "power" and len(parts) == 3 and not change.prompt:
            power.setdefault(parts[1], []).append(change)
        else:
            yield _told(change)
    for statistic, fields in power.items():
        said = "; ".join(
            f"{change.name.rsplit('.', 1)[1]} {_short(change.first)} -> {_short(change.second)}"
            for change in fields
        )
        yield f"power of {statistic}: {said}"


_TOLD: dict[str, Callable[[Sequence[Change]], Iterator[str]]] = {
    "verdict": _verdicts,
    "prompts": _prompts,
    "values": _values,
    "clips": _clips,
    "other": _others,
}


def _some(prompts: Any) -> str:
    named = list(prompts)
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return ", ".join(_cut(name, 60) for name in named[:NAMED]) + more


def _told(change: Change) -> str:
    where = ": ".join(_cut(part, 60) for part in (change.prompt, change.name) if part)
    if change.first is None and change.second is None:
        return where
    if not change.name:
        return f"{where}: in the {'second' if change.first is None else 'first'} alone"
    said = f"{where}: {_short(change.first)} -> {_short(change.second)}"
    if change.delta is not None:
        said += f"  ({change.delta:+.4g})"
    return said + (f"  (do not compare: {change.refused})" if change.refused else "")


def _short(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    said = str(value)
    scheme, colon, rest = said.partition(":")
    if colon and len(rest) == 64 and scheme.isprintable():
        # A content key: enough of it to tell two apart.
        return f"{scheme}:{rest[:12]}..."
    return _cut(said, 100)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."

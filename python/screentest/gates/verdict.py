"""The words of a gate's verdict and the one precedence that they follow everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["MIN_PROMPTS", "Decision", "Verdict", "decide"]

Verdict: TypeAlias = Literal["pass", "fail", "indeterminate", "degenerate"]
"""Only ``pass`` promotes. ``degenerate``: there is nothing to compare."""

MIN_PROMPTS = 8
"""Below this a result describes its prompts: one prompt of a recipe reads an imaging index of 0.934
where eight read 1.005."""


class Decision(NamedTuple):
    """A verdict, why, and which budgets would have failed had the comparison been valid."""

    verdict: Verdict
    reasons: tuple[str, ...]
    would_fail: tuple[str, ...]


def decide(
    *,
    degenerate: Sequence[str] = (),
    faults: Sequence[str] = (),
    failed: Sequence[str] = (),
    unproven: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> Decision:
    """Degenerate, then protocol faults, then failed budgets, then what could not be proven; a pass
    is what is left.

    Args:
        degenerate: clips with nothing to compare.
        faults: why no verdict about the arms can follow from this comparison.
        failed: budgets that are not met.
        unproven: budgets without a number, or that a control has shown not to transfer.
        remarks: what is known about those that failed; said behind them, and decides nothing.

    >>> decide(faults=["7 prompts"], failed=["imaging_index"])
    Decision(verdict='indeterminate', reasons=('7 prompts',), would_fail=('imaging_index',))
    """
    if degenerate:
        return Decision("degenerate", (*degenerate, *faults), ())
    if faults:
        return Decision("indeterminate", (*faults, *unproven), tuple(failed))
    if failed:
        return Decision("fail", (f"failed: {', '.join(failed)}", *remarks, *unproven), ())
    if unproven:
        return Decision("indeterminate", tuple(unproven), ())
    return Decision("pass", (), ())

"""What a verdict is made of: the defect, the judgement, and the one rule that folds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

import msgspec

from screentest.metrics.facts import Unmeasured

__all__ = ["Defect", "Judgement", "Note", "Severity", "Verdict", "fold"]

Severity = Literal["reject", "warn"]
Verdict = Literal["pass", "reject", "unmeasured"]


class Defect(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong: a stable code, the number and the limit it broke, and where.

    ``frames`` is an inclusive ``(first, last)`` pair of display indices and ``seconds`` the
    ``(start, end)`` of the same stretch as shown; each is ``None`` where the defect has no place
    or the clip has no time. ``unit`` is that of ``value`` and ``limit``.
    """

    severity: Severity
    code: str
    value: float | None
    limit: float | None
    unit: str
    message: str
    frames: tuple[int, int] | None = None
    seconds: tuple[float, float] | None = None


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something found that is no defect: a cut, a fade. Fields as in :class:`Defect`."""

    code: str
    value: float | None
    unit: str
    message: str
    frames: tuple[int, int] | None = None
    seconds: tuple[float, float] | None = None


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict with everything that led to it, and what could not be measured."""

    verdict: Verdict
    defects: tuple[Defect, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def passed(self) -> bool:
        """True for ``pass`` alone: what could not be measured has not passed."""
        return self.verdict == "pass"


def fold(
    defects: Iterable[Defect],
    unmeasured: Iterable[Unmeasured],
    *,
    required: Collection[str],
    insisted: Collection[str] = (),
) -> Verdict:
    """The verdict: a reject outweighs an unmeasured axis, which outweighs a pass.

    An axis in ``required`` decides only where it applies to the material; one in ``insisted`` (what
    a caller asked for by name) decides even there.
    """
    if any(defect.severity == "reject" for defect in defects):
        return "reject"
    for gap in unmeasured:
        if gap.axis in insisted or (gap.applies and gap.axis in required):
            return "unmeasured"
    return "pass"

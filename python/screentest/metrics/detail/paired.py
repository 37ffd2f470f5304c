"""The ringing of a candidate beside its reference's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from screentest.metrics.detail.accumulator import FrameDetail
from screentest.metrics.detail.names import FRAMES
from screentest.metrics.facts import Score
from screentest.metrics.identity import score, worst_of
from screentest.metrics.instruments.samples import Sameness, codes, same_coding
from screentest.metrics.sampling import Spread, strip

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame

__all__ = ["PairedDetail"]


class PairedDetail:
    """Detail metrics of a pair of clips, pushed pair by pair; an instrument of the comparison.

    Up to 16 of the pairs of frames are measured, evenly spread, the first and the last among them.

    Args:
        names: paired metrics of the family.
        formats: of the reference and the candidate.
        pairs: how many pairs of frames will come; ``None`` if that is not known.
        threads: threads of the kernel; they change no bit of the scores.
    """

    def __init__(
        self,
        names: Sequence[str],
        formats: tuple[FrameFormat, FrameFormat],
        *,
        pairs: int | None,
        threads: int = 1,
    ) -> None:
        self.names = tuple(names)
        self._sides = [FrameDetail(format, threads=threads) for format in formats]
        self._spread = Spread(FRAMES) if pairs is None else None
        self._wanted = frozenset(strip(pairs or 0, FRAMES))
        self._position = 0
        self._formats = formats
        self._comparable = same_coding(*formats, colour=True)
        self._found: list[_Row] = []

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Takes one pair of frames."""
        position, self._position = self._position, self._position + 1
        if self._spread is None:
            read = position in self._wanted
        else:
            read = self._spread.keeps(position)
        if not read:
            return
        frames = (reference, candidate)
        theirs, ours = (
            side.measure(frame)["edge_overshoot"]
            for side, frame in zip(self._sides, frames, strict=True)
        )
        same = Sameness(self._comparable)
        identical = same.push(
            *(codes(frame, form) for frame, form in zip(frames, self._formats, strict=True))
        )
        self._found.append(_Row(position, candidate.index, theirs, ours, identical))

    def finish(self) -> tuple[list[Score], dict[str, NDArray[Any]]]:
        """The scores in the order of ``names``. There are no values for every pair of frames."""
        found = self._found
        if self._spread is not None:
            kept = set(self._spread.nearest(strip(self._position, FRAMES)))
            found = [row for row in found if row.position in kept]
        return [_excess(name, found) for name in self.names], {}

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class _Row:
    """The overshoot of one pair of frames, NaN where no edge stands out."""

    position: int
    frame: int
    reference: float
    candidate: float
    identical: bool


def _excess(name: str, found: list[_Row]) -> Score:
    rows = [row for row in found if not (math.isnan(row.reference) or math.isnan(row.candidate))]
    details: dict[str, Any] = {
        "frames": len(rows),
        "frames_without_edges": len(found) - len(rows),
    }
    if not found:
        return score(name, None, reason="there is no pair of frames", details=details)
    if not rows:
        reason = f"in none of {len(found)} pairs of frames does an edge stand out in both"
        return score(name, None, reason=reason, details=details)
    values = [row.candidate - row.reference for row in rows]
    details |= {
        "edge_overshoot_reference": math.fsum(row.reference for row in rows) / len(rows),
        "edge_overshoot_candidate": math.fsum(row.candidate for row in rows) / len(rows),
    }
    identical = sum(row.identical for row in rows)
    if identical == len(rows):
        return score(
            name, 0.0, state="identical", frames=identical, identical_frames=identical,
            details=details,
        )  # fmt: skip
    worst, worst_frame = worst_of(name, values, [row.frame for row in rows])
    return score(
        name,
        math.fsum(values) / len(values),
        frames=len(values),
        worst=worst,
        worst_frame=worst_frame,
        identical_frames=identical,
        details=details,
    )

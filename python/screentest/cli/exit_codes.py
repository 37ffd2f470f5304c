"""What the exit status says, and which of several wins."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["BAD_INPUT", "BROKEN_PIPE", "DONE", "INTERRUPTED", "NOT_JUDGED", "NOT_PASSED", "worst"]

DONE = 0
NOT_PASSED = 1
BAD_INPUT = 2
NOT_JUDGED = 3
INTERRUPTED = 130
BROKEN_PIPE = 141

HELP = (
    "Exit status: 0 pass or done; 1 rejected; 2 the request or an input is wrong; 3 not judged "
    "(unmeasured); 130 interrupted. Where files differ, 2 outweighs 1, 1 outweighs 3, and 3 "
    "outweighs 0."
)

_ORDER = (DONE, NOT_JUDGED, NOT_PASSED, BAD_INPUT)


def worst(codes: Iterable[int]) -> int:
    """The status of a batch: an unreadable input hides nothing, a reject outweighs a gap.

    >>> worst([0, 3, 1]), worst([1, 2]), worst([])
    (1, 2, 0)
    """
    return max(codes, key=_ORDER.index, default=DONE)

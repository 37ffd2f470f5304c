"""How the frames of two clips go together."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest import _native
from screentest.metrics.pairing.differences import Difference

__all__ = ["IMPL", "REACH", "PairingFacts", "path_of"]

IMPL = "pairing/1"
"""Changes when any value of this family could change."""

REACH = _native.PAIRING_REACH
"""The largest shift that is searched, in frames to either side."""


class PairingFacts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Facts of a pair, to be judged by :func:`screentest.verdicts.pairing.judge_pairing`.

    Frames are counted by their position among the frames that could be read.

    Attributes:
        impl: version of the definitions.
        frames_reference: frames read of the reference.
        frames_candidate: frames read of the candidate.
        lag: at its start, candidate frame ``j`` shows reference frame ``j + lag``; 0 where nothing
            speaks for another shift.
        lag_evidence: whether any other shift would have shown; false where the picture moves too
            little, repeats itself or is too noisy to tell.
        dropped: reference frames that the candidate leaves out between two that it shows. The
            frames before its start (``lag``) and after its end are not among them.
        repeated: candidate frames that show the frame before again where the reference moves on,
            whether the candidate goes on late (a frame was inserted) or in step (one was replaced).
        missing_at_end: reference frames after the last one that the candidate reaches.
        extra_at_end: candidate frames after the one that shows the reference's last.
        path: for each candidate frame the reference frame that it shows, -1 for none. Not part of
            reports.
        differences: what else differs between the clips, in the order of reports.
    """

    impl: str = IMPL
    frames_reference: int
    frames_candidate: int
    lag: int = 0
    lag_evidence: bool = False
    dropped: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    missing_at_end: int = 0
    extra_at_end: int = 0
    path: NDArray[np.int64] | None = None
    differences: tuple[Difference, ...] = ()


def path_of(
    frames_reference: int,
    frames_candidate: int,
    stretches: list[tuple[int, int]],
    repeated: list[int],
) -> NDArray[np.int64]:
    """The path of stretches ``(first candidate frame, offset)`` with repeats filled in.

    >>> path_of(4, 5, [(0, 0), (3, -1)], [2]).tolist()
    [0, 1, 1, 2, 3]
    """
    index = np.arange(frames_candidate, dtype=np.int64)
    starts = np.asarray([start for start, _ in stretches], dtype=np.int64)
    offsets = np.asarray([offset for _, offset in stretches], dtype=np.int64)
    path = index + offsets[np.searchsorted(starts, index, side="right") - 1]
    path[(path < 0) | (path >= frames_reference)] = -1
    for frame in repeated:
        if frame > 0:
            path[frame] = path[frame - 1]
    return path

"""The flow from one grey picture to the next, and how well it explains the change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLAT", "PairMotion", "dense_flow", "mean_length", "motion_of"]

FLAT = 1.0
"""Grey levels of standard deviation below which a frame is flat: nothing shows where it moves, and
what is divided by its contrast is noise."""


@dataclass(frozen=True, slots=True)
class PairMotion:
    """What one pair of neighbouring frames shows.

    ``motion`` is the mean length of the flow in pixels; where the frames are equal, which ``still``
    says, it is the solver's noise. ``warp_error`` is ``None`` where the later frame is flat,
    ``residual`` and ``unwarped`` where either is.
    """

    motion: float
    still: bool
    warp_error: float | None
    residual: float | None
    unwarped: float | None


def dense_flow(
    cv2: Any, first: NDArray[np.uint8], second: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """Where each pixel of ``first`` lies in ``second``: (h, w, 2), across and down in pixels."""
    # Pyramid scale, levels, window, iterations, neighbourhood, its deviation, flags.
    flow: NDArray[np.float32] = cv2.calcOpticalFlowFarneback(
        first, second, None, 0.5, 3, 15, 3, 5, 1.2, 0
    )
    return flow


def motion_of(
    cv2: Any,
    first: NDArray[np.uint8],
    second: NDArray[np.uint8],
    flow: NDArray[np.float32],
) -> PairMotion:
    """The numbers of one pair of grey pictures and the flow between them."""
    across, down = flow[..., 0], flow[..., 1]
    rows, columns = first.shape
    x = across + np.arange(columns, dtype=np.float32)
    y = down + np.arange(rows, dtype=np.float32)[:, None]
    before, after = first.astype(np.float32), second.astype(np.float32)
    earlier, later = float(first.std()), float(second.std())

    def along(picture: NDArray[np.float32]) -> NDArray[np.float32]:
        fetched: NDArray[np.float32] = cv2.remap(
            picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return fetched

    both = earlier >= FLAT and later >= FLAT
    return PairMotion(
        motion=mean_length(flow),
        still=np.array_equal(first, second),
        warp_error=_distance(along(before), after) / later if later >= FLAT else None,
        residual=_distance(along(after), before) / earlier if both else None,
        unwarped=_distance(after, before) / earlier if both else None,
    )


def mean_length(flow: NDArray[np.float32]) -> float:
    """Mean length of the vectors of a flow, or of the difference of two."""
    across, down = flow[..., 0], flow[..., 1]
    return float(np.sqrt(across * across + down * down).mean(dtype=np.float64))


def _distance(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(np.abs(a - b).mean(dtype=np.float64))

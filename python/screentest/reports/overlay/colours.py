"""The colours of tracks: one scale from calm to loud, told apart by every kind of eye."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOST", "coherence_colours"]

# Coherence 0, 1/4, ... 1. Orange against blue is the pair of hues that red- and green-blind eyes
# keep apart, and what warbles is also the lighter of the two, so that a grey print tells as much.
_STOPS = np.array(
    [(255, 132, 0), (255, 178, 66), (214, 200, 170), (128, 176, 224), (56, 144, 240)], np.float64
)

# A track that does not live to the window's end has no coherence.
LOST = (176, 176, 176)


def coherence_colours(coherence: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The colour ``(N, 3)`` of each coherence in [0, 1]: 1 (steady) blue, 0 (warbling)
    orange; :data:`LOST` for NaN.

    >>> coherence_colours(np.array([0.0, 1.0, np.nan])).tolist()
    [[255, 132, 0], [56, 144, 240], [176, 176, 176]]
    """
    known = np.isfinite(coherence)
    at = np.clip(np.where(known, coherence, 0.0), 0.0, 1.0)
    stops = np.linspace(0.0, 1.0, len(_STOPS))
    mixed = np.stack([np.interp(at, stops, channel) for channel in _STOPS.T], axis=-1)
    return np.where(known[:, None], np.rint(mixed), LOST).astype(np.uint8)

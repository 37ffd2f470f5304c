"""What two clips showed of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Score
from screentest.metrics.paired.frames import Indices
from screentest.metrics.pairing import PairingFacts

__all__ = ["PairFacts"]


@dataclass(frozen=True, slots=True, eq=False)
class PairFacts:
    """What two clips showed of each other. No judgement: misaligned clips have scores as well.

    ``pairs`` is (N, 2): reference and candidate index of each pair of frames that was compared.
    ``scores`` has an entry for every metric asked for, unmeasured ones with their reason.
    ``series`` holds each metric's value at each pair, infinite where a PSNR's error is 0. ``read``
    are the indices of the frames that could be read of each clip; ``pairing`` counts along them.
    """

    reference: ClipInfo
    candidate: ClipInfo
    pairing: PairingFacts
    pairs: Indices
    scores: tuple[Score, ...]
    series: dict[str, NDArray[np.float64]]
    read: tuple[Indices, Indices]
    damage: dict[str, list[Damage]]

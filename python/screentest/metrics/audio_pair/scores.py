"""Ratios and distances from the sums that the kernel takes of two sounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["BANDS", "BINS", "CAP_DB", "FLOOR_DB", "Sums"]

FLOOR_DB, CAP_DB = -120.0, 99.0
BINS, BANDS = 513, 64

# Below this share of a sound's energy, what is left without its mean is rounding.
_NO_ENERGY = 1e-12
# Level below which a block is silent: -60 dBFS, as a mean square.
_SILENT = 1e-6


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over a stretch of two sounds; ``a`` is the reference, ``b`` the candidate."""

    samples: float
    a: float
    b: float
    aa: float
    bb: float
    ab: float
    dd: float
    frames: float
    level_squares: float
    mel: float

    @classmethod
    def over(cls, seconds: npt.NDArray[np.float64]) -> Self:
        """Of rows ``(seconds, 10)`` as the kernel gives them, one after the other."""
        return cls(*(math.fsum(column) for column in seconds.T))

    @property
    def silent(self) -> bool:
        """Both are digital silence."""
        return not self.aa and not self.bb

    @property
    def quiet(self) -> bool:
        """Both are below -60 dBFS."""
        return max(self.aa, self.bb) < _SILENT * self.samples

    @property
    def si_sdr_db(self) -> float | None:
        """Scale-invariant signal-to-distortion ratio, means removed; ``None`` for silence in both.

        A candidate, or a reference, that does not change reads -120; a perfect copy 99.
        """
        if self.silent or not self.samples:
            return None
        aa = self.aa - self.a * self.a / self.samples
        bb = self.bb - self.b * self.b / self.samples
        ab = self.ab - self.a * self.b / self.samples
        if aa <= _NO_ENERGY * self.aa or bb <= _NO_ENERGY * self.bb:
            return FLOOR_DB
        signal = ab * ab / aa
        return _ratio_db(signal, bb - signal)

    @property
    def snr_db(self) -> float | None:
        """Signal-to-noise ratio: the difference is the noise; ``None`` for silence in both."""
        return None if self.silent else _ratio_db(self.aa, self.dd)

    @property
    def lsd_db(self) -> float | None:
        """Root of the mean squared difference of level over frames and frequencies."""
        if self.silent or not self.frames:
            return None
        return math.sqrt(self.level_squares / (self.frames * BINS))

    @property
    def mel_l1(self) -> float | None:
        """Mean difference of the bands' logarithms."""
        return None if self.silent or not self.frames else self.mel / (self.frames * BANDS)


def _ratio_db(signal: float, noise: float) -> float:
    if signal <= 0.0:
        return FLOOR_DB
    if noise <= 0.0:
        return CAP_DB
    return min(CAP_DB, max(FLOOR_DB, 10.0 * math.log10(signal / noise)))

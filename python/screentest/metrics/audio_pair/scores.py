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
# The share of an energy that its sum may have lost.
_ROUNDING = 1e-14
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
    def changes(self) -> tuple[float, float]:
        """The energies of the two without their means: 0 for a constant, which nobody hears."""
        return (
            _without_mean(self.aa, self.a, self.samples),
            _without_mean(self.bb, self.b, self.samples),
        )

    @property
    def quiet(self) -> bool:
        """Both are below -60 dBFS, whatever their offset."""
        return max(self.changes) < _SILENT * self.samples

    @property
    def si_sdr_db(self) -> float | None:
        """Scale-invariant signal-to-distortion ratio, means removed; ``None`` where neither sound
        changes.

        Where one of the two does not change it is -120; a perfect copy reads 99.
        """
        aa, bb = self.changes
        if not aa or not bb:
            return FLOOR_DB if aa or bb else None
        ab = self.ab - self.a * self.b / self.samples
        signal = ab * ab / aa
        # What lies far below an offset drowns in the rounding of the sums.
        lost = _ROUNDING * max(self.bb, signal * (self.aa / aa)) if self.dd else 0.0
        return _ratio_db(signal, max(bb - signal, lost))

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


def _without_mean(energy: float, total: float, samples: float) -> float:
    left = energy - total * total / max(1.0, samples)
    return left if left > _NO_ENERGY * energy else 0.0


def _ratio_db(signal: float, noise: float) -> float:
    if signal <= 0.0:
        return FLOOR_DB
    if noise <= 0.0:
        return CAP_DB
    return min(CAP_DB, max(FLOOR_DB, 10.0 * math.log10(signal / noise)))

"""The correlation of two series of onsets over the time between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from screentest.media.clip import Array
from screentest.metrics.sync.onsets import Onsets

__all__ = ["HOP_S", "LEAST_POINTS", "SEARCH_S", "Curve", "correlate"]

HOP_S = 0.005
"""Step of the common grid, and of the search."""

SEARCH_S = 0.5
"""How far the search goes to either side."""

LEAST_POINTS = 16
"""Fewer steps in common are too short to correlate."""

# Standardised strengths are kept in whole parts of this, so that their sums are exact, whatever the
# order in which a CPU adds them.
_PARTS = 4096.0
# Under half of what sound and picture have in common nothing is searched.
_LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Curve:
    """Correlation by lag, in seconds: positive where the sound is late.

    Attributes:
        lag_s: the lags searched, ascending.
        r: correlation at each.
        common: grid points that picture and sound share at lag 0.
    """

    lag_s: Array
    r: Array
    common: int

    @property
    def best(self) -> int:
        """Index of the first greatest correlation."""
        return int(np.argmax(self.r))

    @property
    def offset_s(self) -> float:
        """Lag of the top of the parabola through the greatest correlation and its neighbours."""
        k = self.best
        at = float(self.lag_s[k])
        if not 0 < k < len(self.r) - 1:
            return at
        a, b, c = (float(v) for v in self.r[k - 1 : k + 2])
        bend = a - 2 * b + c
        return at + (0.5 * (a - c) / bend * HOP_S if bend < 0 else 0.0)

    @property
    def prominence(self) -> float:
        """How many standard deviations the peak stands over the mean of all lags."""
        spread = float(self.r.std())
        return float(self.r[self.best] - self.r.mean()) / spread if spread > 0 else 0.0

    def rival(self, within_s: float) -> int | None:
        """Index of the greatest other peak, farther than ``within_s`` from the best; ``None`` where
        there is none above 0."""
        edge = np.concatenate([[-np.inf], self.r, [-np.inf]])
        peaks = (self.r >= edge[:-2]) & (self.r >= edge[2:]) & (self.r > 0)
        peaks &= np.abs(self.lag_s - self.lag_s[self.best]) > within_s
        return int(np.argmax(np.where(peaks, self.r, 0.0))) if peaks.any() else None


def correlate(picture: Onsets, sound: Onsets, frame_s: float) -> Curve | None:
    """Both on one grid of the clip's own time, at every lag of the search; ``None`` if they have
    too little time in common.

    The grid begins with the picture, as far as a sound can be within the search of it (one damaged
    time stamp may put a frame days away), and each value of either lies on it where its own time
    says, so that no error adds up however long the clip is. A frame's strength is spread over one
    ``frame_s`` to either side: when within a frame something happened is not known. The
    correlation at a lag is that of the parts that overlap then, as far as both reach.
    """
    start = max(float(picture.time_s[0]), float(sound.time_s[0]) - SEARCH_S)
    end = min(float(picture.time_s[-1]), float(sound.time_s[-1]) + SEARCH_S)
    steps = int((end - start) / HOP_S + 1e-6) + 1
    reach = round(SEARCH_S / HOP_S)
    wide = start + HOP_S * np.arange(-reach, steps + reach)
    seen = _standard(_spread(picture, wide[reach : reach + steps], frame_s))
    heard = (wide >= sound.time_s[0]) & (wide <= sound.time_s[-1])
    level = np.where(heard, np.interp(wide, sound.time_s, sound.strength), 0.0)
    level[heard] = _standard(level[heard])
    counts = np.concatenate([[0], np.cumsum(heard)])
    common = counts[steps:] - counts[:-steps]
    # All lags at which enough is left, of those the whole ones.
    most = int(common[reach])
    if most < LEAST_POINTS:
        return None
    least = max(LEAST_POINTS, _LEAST_SHARE * most)
    squares = np.concatenate([[0.0], np.cumsum(level * level)])
    lags, r = [], []
    for lag in range(2 * reach + 1):
        if common[lag] < least:
            continue
        there = heard[lag : lag + steps]
        own = seen if common[lag] == steps else seen * there
        norm = float(own @ own) * float(squares[lag + steps] - squares[lag])
        product = float(own @ level[lag : lag + steps])
        lags.append((lag - reach) * HOP_S)
        r.append(product / np.sqrt(norm) if norm > 0 else 0.0)
    return Curve(lag_s=np.array(lags), r=np.array(r), common=most)


def _spread(picture: Onsets, grid: Array, frame_s: float) -> Array:
    """Triangles of one frame to either side of each frame with a rise."""
    out = np.zeros(len(grid))
    for k in np.flatnonzero(picture.strength):
        at = float(picture.time_s[k])
        low, high = np.searchsorted(grid, [at - frame_s, at + frame_s])
        shape = 1.0 - np.abs(grid[low:high] - at) / frame_s
        np.maximum(out[low:high], shape * picture.strength[k], out=out[low:high])
    return out


def _standard(values: Array) -> Array:
    """Without the mean, in standard deviations; whole parts. All 0 where nothing varies."""
    spread = float(values.std()) if len(values) else 0.0
    if spread == 0.0:
        return np.zeros_like(values)
    whole: Array = np.round((values - values.mean()) / spread * _PARTS)
    return whole

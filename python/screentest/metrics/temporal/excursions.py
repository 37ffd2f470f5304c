"""How far a series leaves its course and comes back within a few frames.

The course of a series is what a flat opening and a flat closing leave of it: the highest level
that lasts, and the lowest. A ramp of any slope and a step that stays are their own course, so a
fade and a cut read exactly 0; a flash, an alternation and a jitter read their full height.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["WIDTH", "drift_of", "excursions", "shared"]

WIDTH = 4
"""Frames that an excursion lasts at most. What stays for longer is a scene, not flicker: a third of
a second between two flashes is the slowest that 24 frames per second can alternate so."""

_ROWS = 4096
"""Frames whose parts are sorted at once, so that a clip of hours needs no more than its columns."""

_F64 = NDArray[np.float64]


def excursions(series: _F64) -> _F64:
    """Signed height of each frame over the course of its series; same shape as ``series``.

    Along the first axis, of any number of frames, with the ends held:

        opening_t = max over j in t-WIDTH..t of (min of x_j .. x_{j+WIDTH})
        closing_t = min over j in t-WIDTH..t of (max of x_j .. x_{j+WIDTH})
        excursion_t = (x_t - opening_t) - (closing_t - x_t)

    The opening is the highest level that WIDTH + 1 frames around t all reach. A monotone series
    reads 0 everywhere, so does a step; a flash of height h and at most WIDTH frames reads h in its
    frames; ``base + a (-1)**t`` reads ``2 a (-1)**t`` but in its first and last frame, whose other
    side is not known.

    >>> excursions(np.array([5.0, 5, 5, 9, 5, 5, 5, 5])).tolist()
    [0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0]
    >>> excursions(np.array([1.0, 2, 3, 3, 8, 8, 8, 8, 8, 8])).any()
    np.False_
    """
    if not len(series):
        return np.asarray(series, dtype=np.float64)
    held = [(WIDTH, WIDTH)] + [(0, 0)] * (series.ndim - 1)
    padded = np.pad(series, held, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, WIDTH + 1, axis=0)
    around = np.lib.stride_tricks.sliding_window_view
    opening = around(windows.min(axis=-1), WIDTH + 1, axis=0).max(axis=-1)
    closing = around(windows.max(axis=-1), WIDTH + 1, axis=0).min(axis=-1)
    out: _F64 = (series - opening) - (closing - series)
    return out


def drift_of(course: _F64) -> _F64:
    """How far the course itself moves beside each frame: the smaller of its ranges over the
    WIDTH + 2 frames before and after, each with the frame itself; near an end the range of the side
    that is whole, or the larger one where neither is.

    What a slowly pulsing light does at its turn looks like an excursion; the course moves more at
    the same place. A cut moves it on one side only.
    """
    if not len(course):
        return np.asarray(course, dtype=np.float64)
    reach, count = WIDTH + 2, len(course)
    padded = np.pad(course, (reach, reach), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach + 1)
    ranges = windows.max(axis=-1) - windows.min(axis=-1)
    before, after = ranges[:count], ranges[reach:]
    at = np.arange(count)
    whole_before, whole_after = at >= reach, at + reach < count
    drift = np.where(whole_before == whole_after, np.minimum(before, after), before)
    drift = np.where(whole_after & ~whole_before, after, drift)
    out: _F64 = np.where(~whole_after & ~whole_before, np.maximum(before, after), drift)
    return out


def shared(parts: _F64, weights: _F64) -> _F64:
    """What most of the picture shares: per frame the weighted median of its parts.

    ``parts`` is (T, N), ``weights`` (N,), not negative. The mean of the lower and the upper
    weighted median; zeros where the weights sum to zero. A thing that moves through a few parts
    does not move it; a gain that changes moves every lit part one way.
    """
    median = np.zeros(len(parts))
    if float(weights.sum()) > 0.0:
        for first in range(0, len(parts), _ROWS):
            block = slice(first, first + _ROWS)
            median[block] = _weighted_median(parts[block], weights)
    return median


def _weighted_median(parts: _F64, weights: _F64) -> _F64:
    total = float(weights.sum())
    order = np.argsort(parts, axis=1, kind="stable")
    values = np.take_along_axis(parts, order, axis=1)
    cumulated = np.cumsum(weights[order], axis=1)
    half = 0.5 * total
    lower = (cumulated >= half * (1.0 - 1e-12)).argmax(axis=1)
    upper = (cumulated > half * (1.0 + 1e-12)).argmax(axis=1)
    rows = np.arange(len(parts))
    median: _F64 = 0.5 * (values[rows, lower] + values[rows, upper])
    return median

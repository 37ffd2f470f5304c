"""Rhythm in a series: its strongest frequency, and the pattern in which motion repeats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from screentest.metrics.temporal.facts import Cadence

__all__ = ["MAX_PERIOD", "MIN_CYCLES", "cadence_of", "dominant", "hertz", "pattern_of"]

MAX_PERIOD = 30
"""Frames of the longest pattern looked for: 24 frames per second shown at 25 hold every 25th."""

MIN_CYCLES = 4
"""Times that a pattern must fit: a pattern seen fewer times explains any series."""

_OVERSAMPLED = 4
_NEAR_FRAMES = 31
_CLIP_AT = 4.0
_AS_GOOD = 0.05

_F64 = NDArray[np.float64]


def dominant(series: _F64) -> tuple[float, float]:
    """(frequency in cycles per frame, periodicity) of the strongest rhythm in a series.

    Periodicity is the share of the energy about the mean that the rhythm holds, in [0, 1]. Two
    kinds are tried: one sinusoid, at the multiples of ``1 / (4 T)`` from ``1 / T`` to 1/2, and a
    pattern that repeats after a whole number of frames (:func:`pattern_of`), whose frequency is 1
    over them; the pattern wins if its share is larger by 0.05, or about equal at a frequency that T
    frames cannot tell from the sinusoid's.
    Jitter of T frames reads about ``2 ln(T) / T``. A series that is constant or shorter than 3
    frames gives ``(0, 0)``.

    >>> dominant(np.array([4.0, -4] * 12))
    (0.5, 1.0)
    >>> dominant(np.array([4.0, 0, 0, 0, 0] * 6))
    (0.2, 1.0)
    """
    count = len(series)
    if count < 3:
        return 0.0, 0.0
    centred = series - series.mean()
    energy = float(centred @ centred)
    if energy <= 0.0:
        return 0.0, 0.0
    padded = _OVERSAMPLED * count
    power = np.abs(np.fft.rfft(centred, padded)) ** 2
    # A sinusoid of amplitude A has at most the energy (T + |sum of e^{2 i omega t}|) A^2 / 2, which
    # is T/2 A^2 as a rule and T A^2 where it alternates.
    own = _sum_of(4.0 * np.pi * np.arange(len(power)) / padded, count)
    share = 2.0 * power / ((count + own) * energy)
    share[:_OVERSAMPLED] = 0.0
    best = int(share.argmax())
    sinusoid = min(1.0, float(share[best]))
    pattern = pattern_of(series)
    frequency = best / padded
    if pattern is not None:
        period, explained, _ = pattern
        # A pattern fits a sinusoid as well once it is long enough, so it must do better, or agree.
        agrees = abs(frequency - 1.0 / period) < 1.0 / count and explained > sinusoid - _AS_GOOD
        if agrees or explained > sinusoid + _AS_GOOD:
            return 1.0 / period, min(1.0, max(sinusoid, explained))
    # The clip is too short to tell these from an alternation whose strength changes.
    return (0.5 if 0.5 - frequency < 1.0 / count else frequency), sinusoid


def pattern_of(series: _F64, first: int = 0) -> tuple[int, float, _F64] | None:
    """(period, explained, means) of the repeating pattern that explains a series best, or ``None``
    if it is constant or shorter than 2 ``MIN_CYCLES``.

    For each period p that fits ``MIN_CYCLES`` times, up to ``MAX_PERIOD``, the entries are grouped
    by their index modulo p, ``first`` being the index of the first entry, and

        explained = 1 - (SS_within / (N - p)) / (SS_total / (N - 1))

    is the share of variation that the groups' means explain, adjusted for their number. The
    shortest period within 0.05 of the largest share wins: a multiple of the true one explains a
    little more.
    """
    count = len(series)
    longest = min(MAX_PERIOD, count // MIN_CYCLES)
    if longest < 2:
        return None
    total = float(((series - series.mean()) ** 2).sum()) / (count - 1)
    if total <= 1e-18:
        return None
    index = first + np.arange(count)
    found: list[tuple[int, float, _F64]] = []
    for period in range(2, longest + 1):
        phase = index % period
        sizes = np.bincount(phase, minlength=period)
        means = np.bincount(phase, weights=series, minlength=period) / sizes
        within = float(((series - means[phase]) ** 2).sum()) / (count - period)
        found.append((period, 1.0 - within / total, means))
    enough = max(explained for _, explained, _ in found) - _AS_GOOD
    return next(entry for entry in found if entry[1] >= enough)


def _sum_of(angle: _F64, count: int) -> _F64:
    """|sum of e^{i angle t}| over t = 0..count-1, without a division by zero."""
    half = 0.5 * angle
    below = np.sin(half)
    plain = np.abs(below) < 1e-9
    safe = np.where(plain, 1.0, below)
    out: _F64 = np.where(plain, float(count), np.abs(np.sin(count * half) / safe))
    return out


def hertz(frequency: float, series: _F64, times_s: _F64 | None) -> float | None:
    """A frequency in cycles per frame as cycles per second, at the frame rate where the series has
    its energy; ``None`` without time stamps.

    ``sum(e_t / d_t) / sum(e_t)`` with ``e = series ** 2`` and ``d_t`` half the time from the frame
    before to the frame after is that rate, so a clip of variable rate reads what is seen.
    """
    if times_s is None or len(times_s) < 2:
        return None
    steps = np.diff(times_s)
    around = np.concatenate((steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]))
    usable = around > 0.0
    energy = np.where(usable, series * series, 0.0)
    if not usable.any() or float(energy.sum()) <= 0.0:
        return None
    rate = float((energy / np.where(usable, around, 1.0)).sum() / energy.sum())
    return frequency * rate


def cadence_of(speed: _F64, first: int = 0) -> Cadence | None:
    """The pattern in which motion repeats, or ``None`` if nothing moves or the series is shorter
    than 2 ``MIN_CYCLES``.

    ``speed`` is clipped at four times the mean of its lower 95 %, so that cuts do not drown the
    rest, and divided by its mean over the 31 entries around each; then :func:`pattern_of`.
    ``first`` is the index of the first entry. Perfectly even motion explains 0 by a period of 2.
    """
    count = len(speed)
    if count < 2 * MIN_CYCLES or float(speed.max()) <= 0.0:
        return None
    usual = float(np.sort(speed)[: count - count // 20].mean()) or float(speed.mean())
    clipped = np.minimum(speed, _CLIP_AT * usual)
    even = clipped / np.maximum(_mean_around(clipped, _NEAR_FRAMES), 1e-12)
    period, explained, means = pattern_of(even, first) or (2, 0.0, np.ones(2))
    top = float(means.max())
    return Cadence(
        period=period,
        explained=min(1.0, max(0.0, explained)),
        pattern=tuple((means / top).tolist()) if top > 0.0 else (0.0,) * period,
    )


def _mean_around(series: _F64, width: int) -> _F64:
    """Mean over ``width`` entries centred on each, cut off at the ends."""
    sums = np.concatenate(([0.0], np.cumsum(series)))
    at, half = np.arange(len(series)), width // 2
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, len(series))
    means: _F64 = (sums[high] - sums[low]) / (high - low)
    return means

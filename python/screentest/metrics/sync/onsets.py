"""Onsets of either kind: what stands out of a series of strengths, and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from screentest.media.clip import Array

__all__ = ["Onsets", "onsets"]

# A median of fewer values says little.
_LEAST_BLOCK = 8
# Normal noise passes five of its standard deviations once in three million values.
_SIGMAS = 5.0
_SIGMA_OF_MAD = 1.4826


@dataclass(frozen=True, slots=True)
class Onsets:
    """A series of strengths over time and what stands out of it.

    Attributes:
        time_s: when each value is, ascending.
        strength: root of what exceeds the usual, at least 0: a root, so that one loud event does
            not outweigh ten others.
        event_s: when the events are.
    """

    time_s: Array
    strength: Array
    event_s: Array


def onsets(
    time_s: Array,
    values: Array,
    *,
    lately: Array | float = 0.0,
    floor: float,
    part: float,
    block_s: float,
    apart_s: float,
    between: bool,
) -> Onsets:
    """The onsets of a series.

    Args:
        time_s: time of each value.
        values: strengths, at least 0.
        lately: what each value must exceed, beside the usual, to be sudden.
        floor: by how much an event does at least.
        part: an event has at least this part of the greatest strength; what is weaker counts in the
            correlation alone.
        block_s: for how long what is usual is told at once: a loud scene has another usual than a
            quiet one.
        apart_s: of two peaks closer than this the greater is the event.
        between: whether an event may lie between two values: at the top of the parabola through
            the peak and its neighbours.
    """
    usual, sigma = _usual(time_s, values, block_s)
    above = np.maximum(values - np.maximum(usual, lately), 0.0)
    strength = np.sqrt(above)
    least = max(floor, (part * float(strength.max(initial=0.0))) ** 2)
    stands_out = (above > least) & (values - usual > _SIGMAS * sigma)
    peaks = _far_apart(time_s, above, _peaks(above, stands_out), apart_s)
    at = [_top(time_s, above, k) for k in peaks] if between else time_s[peaks]
    return Onsets(time_s=time_s, strength=strength, event_s=np.array(at, np.float64))


def _usual(time_s: Array, values: Array, block_s: float) -> tuple[Array, Array]:
    """Median and deviation around it, of each stretch or the one before it, whichever is less: what
    begins in a stretch and stays is not usual there yet."""
    if not len(values):
        return values, values
    span = float(time_s[-1] - time_s[0])
    count = max(1, min(round(span / block_s), len(values) // _LEAST_BLOCK))
    parts = np.array_split(values, count)
    medians = np.array([np.median(part) for part in parts])
    spreads = np.array(
        [np.median(np.abs(part - m)) for part, m in zip(parts, medians, strict=True)]
    )
    sizes = [len(part) for part in parts]
    usual, spread = (
        np.repeat(np.minimum(one, np.concatenate([one[:1], one[:-1]])), sizes)
        for one in (medians, spreads)
    )
    return usual, _SIGMA_OF_MAD * spread


def _peaks(values: Array, wanted: Array) -> Array:
    before = np.concatenate([[-1.0], values[:-1]])
    after = np.concatenate([values[1:], [-1.0]])
    return np.flatnonzero(wanted & (values > before) & (values >= after))


def _far_apart(time_s: Array, values: Array, peaks: Array, apart_s: float) -> Array:
    """The peaks without those that a greater one is close to."""
    free = np.ones(len(values), bool)
    kept = []
    for k in peaks[np.argsort(-values[peaks], kind="stable")]:
        if free[k]:
            kept.append(k)
            low, high = np.searchsorted(time_s, [time_s[k] - apart_s, time_s[k] + apart_s])
            free[low:high] = False
    return np.array(sorted(kept), np.int64)


def _top(time_s: Array, values: Array, k: int) -> float:
    if not 0 < k < len(values) - 1:
        return float(time_s[k])
    a, b, c = (float(v) for v in values[k - 1 : k + 2])
    # The middle one is a peak, so this is below 0.
    bend = a - 2 * b + c
    step = float(time_s[k + 1] - time_s[k - 1]) / 2
    return float(time_s[k]) + 0.5 * (a - c) / bend * step

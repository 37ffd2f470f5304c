"""Events that picture and sound share at an offset: pairs, their drift, and chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from screentest.media.clip import Array

__all__ = ["Pairs", "chance", "pair_events", "t_95"]

# A line through fewer events, or over less time, says nothing about a clock.
_LEAST_EVENTS = 4
_LEAST_SPAN_S = 5.0
_ROUNDS = 8
# Two clicks a step of the grid apart are as close as any can be told to be.
_LEAST_WIDTH_S = 0.01

# Of a thousand pairs not every subset is looked at.
_SIZES = 60

# 97.5 % quantiles of Student's t for 1 to 12 degrees of freedom.
_T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Events of the picture with the sound that goes with each.

    Attributes:
        picture_s, sound_s: their times.
        slope: seconds that the sound gets later in a second; ``None`` with too few events to say.
        slope_error: half of its 95 % interval.
    """

    picture_s: Array
    sound_s: Array
    slope: float | None
    slope_error: float | None

    @property
    def offsets_s(self) -> Array:
        """By how much each sound is late."""
        return self.sound_s - self.picture_s


def t_95(freedom: int) -> float:
    """Student's t that 95 % lie within on either side; to a thousandth above 12 degrees of freedom.

    >>> t_95(1), round(t_95(20), 3)
    (12.706, 2.086)
    """
    if freedom <= len(_T_95):
        return _T_95[freedom - 1]
    z = 1.959964
    # Hill's expansion: Communications of the ACM 13 (1970), algorithm 396.
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def pair_events(picture_s: Array, sound_s: Array, offset_s: float, within_s: float) -> Pairs:
    """Each event of the picture with the sound nearest to ``offset_s`` after it.

    Where sound and picture run by different clocks the offset changes over the clip; the line that
    the pairs lie on is then followed out from where the offset holds.

    Args:
        picture_s, sound_s: times of the events, ascending.
        offset_s: where the correlation is greatest.
        within_s: how far from the line a pair may lie.
    """
    middle, height, slope = 0.0, offset_s, 0.0
    picked = np.zeros((0, 2), np.int64)
    for _ in range(_ROUNDS):
        found = _nearest(picture_s, sound_s, height + slope * (picture_s - middle), within_s)
        if np.array_equal(found, picked):
            break
        picked = found
        at, late = picture_s[picked[:, 0]], sound_s[picked[:, 1]] - picture_s[picked[:, 0]]
        if not _carries_a_line(at):
            break
        middle, height = float(at.mean()), float(late.mean())
        slope = float(((at - middle) * late).sum() / ((at - middle) ** 2).sum())
    at, sound = picture_s[picked[:, 0]], sound_s[picked[:, 1]]
    if not _carries_a_line(at):
        return Pairs(at, sound, None, None)
    rest = sound - at - height - slope * (at - middle)
    freedom = len(at) - 2
    # Times are told to a step of the grid, however well they lie on a line.
    variance = max(float((rest**2).sum()) / freedom, _LEAST_WIDTH_S**2 / 12)
    error = t_95(freedom) * math.sqrt(variance / float(((at - middle) ** 2).sum()))
    return Pairs(at, sound, slope, error)


def _carries_a_line(at: Array) -> bool:
    return len(at) >= _LEAST_EVENTS and float(at[-1] - at[0]) >= _LEAST_SPAN_S


def _nearest(picture_s: Array, sound_s: Array, offsets_s: Array, within_s: float) -> Array:
    """Indices of the pairs; of two pictures that want one sound the nearer has it."""
    if not len(sound_s):
        return np.zeros((0, 2), np.int64)
    expected = picture_s + offsets_s
    right = np.clip(np.searchsorted(sound_s, expected), 1, max(1, len(sound_s) - 1))
    left = right - 1
    right = np.minimum(right, len(sound_s) - 1)
    nearer = np.abs(sound_s[left] - expected) <= np.abs(sound_s[right] - expected)
    chosen = np.where(nearer, left, right)
    miss = np.abs(sound_s[chosen] - expected)
    best: dict[int, int] = {}
    for k in np.flatnonzero(miss <= within_s):
        one, sound = int(k), int(chosen[k])
        if sound not in best or miss[one] < miss[best[sound]]:
            best[sound] = one
    return np.array(sorted((k, sound) for sound, k in best.items()), np.int64).reshape(-1, 2)


def chance(
    offsets_s: Array, *, pictures: int, sounds: int, common_s: float, search_s: float
) -> float:
    """How many groups of pairs as close together as these chance alone would make in a search.

    Events that know nothing of each other, ``pictures`` and ``sounds`` of them in ``common_s``,
    have ``pictures * sounds / common_s`` pairs for each second of offset, as a Poisson process. In
    ``search_s`` of it, each pair is the first of ``m`` within a width with the chance that
    ``m - 1`` or more follow. Given is the least number over the subsets of neighbours of
    ``offsets_s``; 1 or more is what one must expect.
    """
    density = pictures * sounds / common_s
    late = np.sort(offsets_s)
    least = math.inf
    sizes = np.unique(np.geomspace(1, max(1, len(late)), _SIZES).astype(np.int64))
    for size in sizes[: len(late)].tolist():
        width = float((late[size - 1 :] - late[: len(late) - size + 1]).min())
        mean = density * max(width, _LEAST_WIDTH_S)
        least = min(least, density * search_s * _poisson_tail(size - 1, mean))
    return least


def _poisson_tail(count: int, mean: float) -> float:
    """Chance of ``count`` or more where ``mean`` are expected; 1 for any up to the mean."""
    if count <= mean:
        return 1.0
    term = math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))
    tail, k = 0.0, count
    while term > tail * 1e-17:
        tail += term
        k += 1
        term *= mean / k
    return tail

"""What the temporal family measures of a clip, and what it could not."""

from __future__ import annotations

from dataclasses import dataclass, fields

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.temporal.names import IMPL

__all__ = ["AXES", "IMPL", "Cadence", "RegionFlicker", "TemporalFacts", "TemporalSeries"]

_F64 = NDArray[np.float64]

AXES = ("flicker", "flash", "judder")
"""Every axis of the temporal screen, in the order of reports. Frozen stretches and duplicated
frames are axes of the integrity screen, which looks at every sample."""


@dataclass(frozen=True, eq=False)
class TemporalSeries:
    """One entry per frame read, ascending by display index; NaN where a frame has no neighbour.

    Excursions are in 8-bit levels; :func:`~screentest.metrics.temporal.excursions.excursions` says
    what one is. Over a gap in the index nothing is compared.

    Attributes:
        index: display index.
        time_s: presentation time, or ``None`` if the clip has no time stamps.
        luma_mean: mean luma, in [0, 1].
        luma_std: population standard deviation of luma, in [0, 0.5].
        motion: mean absolute difference to the frame before, in [0, 1].
        excursion: of the frame's mean luma.
        shared: what most of the picture shares: the median of the excursions of its 4x4 parts,
            each weighed by its mean luma.
        drift: how far the course of the mean luma moves beside the frame.
        regions: (T, 4, 4), the excursions of the parts; NaN for a part without a pixel.
    """

    index: NDArray[np.int64]
    time_s: _F64 | None
    luma_mean: _F64
    luma_std: _F64
    motion: _F64
    excursion: _F64
    shared: _F64
    drift: _F64
    regions: _F64

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TemporalSeries):
            return NotImplemented
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return all(
            a is b if a is None or b is None else np.array_equal(a, b, equal_nan=True)
            for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]


class RegionFlicker(msgspec.Struct, frozen=True, kw_only=True):
    """Flicker of one of the sixteen parts of the picture, over the whole clip.

    ``row`` and ``column`` count from 0 at the top left. ``strength`` is the mean height of its
    excursions in 8-bit levels, ``frequency`` (cycles per frame), ``frequency_hz`` and
    ``periodicity`` describe the strongest rhythm in them.
    """

    row: int
    column: int
    strength: float
    frequency: float
    frequency_hz: float | None
    periodicity: float


class Cadence(msgspec.Struct, frozen=True, kw_only=True):
    """The pattern in which motion repeats.

    ``period`` in frames; ``explained`` is the share of the variation of motion that the pattern
    explains, in [0, 1]; ``pattern[k]`` is the mean motion of the frames whose index is k modulo
    ``period``, the largest being 1. Film shown at 60 frames per second reads a period of 5 with two
    ones among zeros.
    """

    period: int
    explained: float
    pattern: tuple[float, ...]


class TemporalFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one clip, to be judged by :func:`screentest.verdicts.temporal.judge_temporal`.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        clip: geometry, colour, timing and decoder.
        damage: places where the file does not hold what it should.
        frames_read: frames measured.
        luma_flicker: ``100 std(m) / max(mean(m), 1e-6)`` of the frames' mean luma m, in percent.
        jerk_ratio: mean |second difference| of luma over max(mean |first difference|, 1e-9).
        motion_energy: mean absolute difference between frames, in 8-bit levels a frame.
        motion_energy_per_s: the same a second: the sum over the clip divided by the time it spans.
        still_share: share of the frames with one before that differ from it by less than 0.05
            levels on average.
        flicker_strength: mean |shared excursion|, in 8-bit levels.
        flicker_gain: the same in percent of the mean luma; 0 for a black clip.
        flicker_frequency: strongest frequency of the shared excursions, in cycles per frame.
        flicker_hz: the same in Hz at the frame rate where the flicker is, ``None`` without time.
        flicker_periodicity: share of the energy of the shared excursions at that frequency, [0, 1].
        regions: the sixteen parts, row by row, without those that have no pixel.
        cadence: the pattern in which motion repeats; ``None`` if nothing moves or it was too short.
        series: one entry per frame read.
        unmeasured: metrics and axes that gave no number, and why.
    """

    impl: str
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    frames_read: int
    luma_flicker: float | None = None
    jerk_ratio: float | None = None
    motion_energy: float | None = None
    motion_energy_per_s: float | None = None
    still_share: float | None = None
    flicker_strength: float | None = None
    flicker_gain: float | None = None
    flicker_frequency: float | None = None
    flicker_hz: float | None = None
    flicker_periodicity: float | None = None
    regions: tuple[RegionFlicker, ...] = ()
    cadence: Cadence | None = None
    series: TemporalSeries
    unmeasured: tuple[Unmeasured, ...] = ()

    @property
    def region_flicker(self) -> float | None:
        """Strength of the region that flickers most, in 8-bit levels."""
        return max((region.strength for region in self.regions), default=None)

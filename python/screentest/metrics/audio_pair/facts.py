"""What is measured between a sound and its reference, and what could not be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.media.info import Damage, SoundInfo
from screentest.metrics.facts import Unmeasured
from screentest.metrics.series import Series

__all__ = ["AudioPairFacts", "PairChannel", "PairSeries", "WorstSecond"]


class PairChannel(msgspec.Struct, frozen=True, kw_only=True):
    """One channel of both, at the lag of the programme; ``None`` where there is no value."""

    position: str
    si_sdr_db: float | None
    snr_db: float | None
    lsd_db: float | None
    mel_l1: float | None


class WorstSecond(msgspec.Struct, frozen=True, kw_only=True):
    """Where to listen: the second in which a metric is worst.

    Attributes:
        metric: its name.
        value: of that second alone.
        seconds: from when to when, in the candidate, from its first sample.
        reference_seconds: the same stretch of the reference.
        position: the channel that is worst there, ``None`` for mono.
    """

    metric: str
    value: float
    seconds: tuple[float, float]
    reference_seconds: tuple[float, float]
    position: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSeries(Series):
    """Numbers of each second of the programme, the last of which may be shorter; NaN where a second
    has no value.

    Attributes:
        time_s: where each begins, in the candidate, from its first sample.
        si_sdr_db, snr_db, lsd_db, mel_l1: as in the facts, of this second.
    """

    time_s: NDArray[np.float64]
    si_sdr_db: NDArray[np.float64]
    snr_db: NDArray[np.float64]
    lsd_db: NDArray[np.float64]
    mel_l1: NDArray[np.float64]


class AudioPairFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a candidate against its reference, both of one sample rate.

    The programme is the mean of the channels; each side is mixed by itself, so the two need not
    have as many. Per channel only where both have the same layout.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        reference: what was read of the reference.
        candidate: what was read of the candidate.
        reference_damage: places where the reference does not hold what it should.
        candidate_damage: the same of the candidate.
        reference_samples: samples per channel of the reference.
        candidate_samples: samples per channel of the candidate.
        audio_align_lag_ms: by how much the candidate is late; negative where it is early.
        lag_correlation: correlation at that lag, with its sign.
        polarity: ``"inverted"`` where that is negative; ``None`` without a lag.
        lag_at_bound: the best lag is the last that was looked at, so the true one may lie beyond.
        lag_bound_ms: how far the search went: less in a sound shorter than 60 ms, 0 without a lag.
        compared_s: how much of both was compared at that lag.
        audio_si_sdr: scale-invariant signal-to-distortion ratio, in dB.
        audio_snr_db: signal-to-noise ratio.
        audio_lsd_db: log-spectral distance.
        audio_mel_l1: mean absolute distance of the logarithms of 64 mel bands.
        audio_lufs_delta: integrated loudness minus the reference's, of all channels, unaligned.
        channels: each channel, where both have the same layout.
        worst: of each metric the second where it is worst.
        series: each second.
        unmeasured: metrics that have no value, with the reason.
    """

    impl: str
    reference: SoundInfo
    candidate: SoundInfo
    reference_damage: tuple[Damage, ...] = ()
    candidate_damage: tuple[Damage, ...] = ()
    reference_samples: int
    candidate_samples: int
    audio_align_lag_ms: float | None = None
    lag_correlation: float | None = None
    polarity: Literal["same", "inverted"] | None = None
    lag_at_bound: bool = False
    lag_bound_ms: float = 0.0
    compared_s: float = 0.0
    audio_si_sdr: float | None = None
    audio_snr_db: float | None = None
    audio_lsd_db: float | None = None
    audio_mel_l1: float | None = None
    audio_lufs_delta: float | None = None
    channels: tuple[PairChannel, ...] = ()
    worst: tuple[WorstSecond, ...] = ()
    series: PairSeries | None = None
    unmeasured: tuple[Unmeasured, ...] = ()

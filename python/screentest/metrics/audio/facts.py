"""What is measured of a sound alone, and what could not be."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.media.info import Damage, SoundInfo
from screentest.metrics.facts import Unmeasured
from screentest.metrics.series import Series

__all__ = ["AudioFacts", "AudioSeries", "ChannelFacts"]


class ChannelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One channel.

    Attributes:
        position: its place (``"FL"``, ``"LFE"``, ...), or ``"0"``, ``"1"``, ... in an unknown
            layout.
        rms_dbfs: root mean square level; -120 for silence.
        peak_dbfs: largest sample.
        true_peak_dbtp: largest value of the oversampled signal.
        dc_offset: mean of the samples, with its sign.
        clip_fraction: share of the samples with a magnitude of at least 0.999.
    """

    position: str
    rms_dbfs: float
    peak_dbfs: float
    true_peak_dbtp: float
    dc_offset: float
    clip_fraction: float


@dataclass(frozen=True, eq=False, kw_only=True)
class AudioSeries(Series):
    """Numbers of each tenth of a second, the last of which may be shorter.

    Attributes:
        time_s: where each begins, from the first sample. A tenth is ten times as many samples as
            10 ms have, rounded down: at 22050 Hz 2200.
        rms_dbfs: level of all channels.
        peak_dbfs: largest sample of all channels.
        momentary_lufs: loudness of the 400 ms that end with this tenth (with the last whole
            10 ms of one that is cut short); NaN before there are that many, where they hold no
            energy, and throughout where there is no loudness.
        short_term_lufs: the same of 3 s.
    """

    time_s: NDArray[np.float64]
    rms_dbfs: NDArray[np.float64]
    peak_dbfs: NDArray[np.float64]
    momentary_lufs: NDArray[np.float64]
    short_term_lufs: NDArray[np.float64]


class AudioFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one sound. Levels are dB of full scale and never below -120.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        sound: what was read: rate, channels, layout, stream, start.
        damage: places where the file does not hold what it should.
        samples: samples per channel that were read.
        non_finite: NaN and infinite samples; with one of them nothing else is measured.
        first_non_finite_s: when the first of them sounds, from the first sample.
        audio_rms_dbfs: root mean square of all samples of all channels.
        audio_peak_dbfs: largest sample.
        audio_true_peak_dbtp: largest value between the samples.
        true_peak_oversampling: the factor it was looked for at: 4 below 96 kHz, 2 below 192 kHz,
            1 from there on.
        audio_clip_fraction: share of the samples with a magnitude of at least 0.999.
        audio_dc_offset: largest magnitude of a channel's mean.
        audio_spectral_flatness: geometric over arithmetic mean of the power spectrum of the
            channels' mean; ``None`` where that is silent.
        audio_silence_fraction: share of the 50 ms blocks whose mean power over the channels is
            below -60 dBFS; whole blocks, or the whole of a sound that is shorter.
        audio_max_silence_run: longest run of such blocks, over all blocks.
        longest_silence_s: from when to when the first of the longest runs lasts.
        silence_edge_dbfs: how the sound goes over into it: its level in the half second before, and
            in the last 5 ms of that. They are alike where it stops at once, and 15 dB and more
            apart where it dies away. What lies 30 dB below the half second is silence already,
            since coders ring on. ``None`` without half a second of sound before it.
        loudest_s: where the true peak is, to about 40 samples; ``None`` for silence.
        first_clip_s: where the first sample of a magnitude of at least 0.999 is.
        audio_side_dbfs: level of half of left minus right; ``None`` without two front channels.
        audio_stereo_separation_db: level of these two channels minus that.
        audio_channel_correlation: Pearson correlation of left and right; 1 where one is constant.
        audio_lufs: integrated loudness.
        ungated_lufs: loudness of all 400 ms blocks without the gates.
        momentary_max_lufs: largest loudness of 400 ms, looked at each 10 ms.
        short_term_max_lufs: largest loudness of 3 s, looked at each 10 ms.
        loudness_range_lu: loudness range (EBU Tech 3342), of a sound of 3 s or more. It settles
            only after about a minute.
        channels: each channel.
        series: each tenth of a second.
        unmeasured: metrics that have no value, with the reason.
    """

    impl: str
    sound: SoundInfo
    damage: tuple[Damage, ...] = ()
    samples: int
    non_finite: int = 0
    first_non_finite_s: float | None = None
    audio_rms_dbfs: float | None = None
    audio_peak_dbfs: float | None = None
    audio_true_peak_dbtp: float | None = None
    true_peak_oversampling: int = 4
    audio_clip_fraction: float | None = None
    audio_dc_offset: float | None = None
    audio_spectral_flatness: float | None = None
    audio_silence_fraction: float | None = None
    audio_max_silence_run: float | None = None
    longest_silence_s: tuple[float, float] | None = None
    silence_edge_dbfs: tuple[float, float] | None = None
    loudest_s: float | None = None
    first_clip_s: float | None = None
    audio_side_dbfs: float | None = None
    audio_stereo_separation_db: float | None = None
    audio_channel_correlation: float | None = None
    audio_lufs: float | None = None
    ungated_lufs: float | None = None
    momentary_max_lufs: float | None = None
    short_term_max_lufs: float | None = None
    loudness_range_lu: float | None = None
    channels: tuple[ChannelFacts, ...] = ()
    series: AudioSeries | None = None
    unmeasured: tuple[Unmeasured, ...] = ()

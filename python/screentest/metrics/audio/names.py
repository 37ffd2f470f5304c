"""The metrics of a sound alone by name."""

from __future__ import annotations

from screentest.metrics.facts import Direction
from screentest.metrics.spec import MetricSpec

__all__ = ["IMPL", "METRICS"]

IMPL = "audio@1"
"""Changes when any fact of this family could change."""

_LOUDNESS = "ITU-R BS.1770-4, EBU R 128"
_FLOOR = (-120.0, None)
_SHARE = (0.0, 1.0)


def _metric(
    name: str,
    says: str,
    unit: str,
    *,
    direction: Direction = "down",
    bounds: tuple[float | None, float | None] = (None, None),
    headline: bool = False,
    source: str = "",
    note: str = "",
) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension="quality",
        modality="audio",
        unit=unit,
        direction=direction,
        impl=f"{name}@1",
        family="audio",
        bounds=bounds,
        headline=headline,
        source=source,
        note=note,
    )


METRICS: tuple[MetricSpec, ...] = (
    _metric("audio_rms_dbfs", "root mean square level", "dBFS", direction="target", bounds=_FLOOR),
    _metric(
        "audio_lufs",
        "integrated loudness",
        "LUFS",
        direction="target",
        source=_LOUDNESS,
        note="by the channels' places; mono counts once; unmeasured below 0.4 s and below the gate",
    ),
    _metric(
        "audio_spectral_flatness",
        "spectral flatness: 0 is a tone, 1 is white noise",
        "1",
        direction="target",
        bounds=_SHARE,
        note="of the mean of the channels; white noise of finite length reads 0.56",
    ),
    _metric(
        "audio_channel_correlation",
        "correlation of left and right",
        "1",
        direction="target",
        bounds=(-1.0, 1.0),
        note="absent for mono; -1 is an inverted channel",
    ),
    _metric(
        "audio_side_dbfs",
        "level of half of left minus right",
        "dBFS",
        direction="target",
        bounds=_FLOOR,
        note="absent for mono; the floor is mono, all of the sound is antiphase",
    ),
    _metric(
        "audio_peak_dbfs",
        "largest sample",
        "dBFS",
        bounds=_FLOOR,
        note="a ceiling: low is no better",
    ),
    _metric(
        "audio_true_peak_dbtp",
        "largest value between the samples",
        "dBTP",
        bounds=_FLOOR,
        source=_LOUDNESS,
        note="a ceiling: low is no better",
    ),
    _metric("audio_clip_fraction", "share of the samples at full scale", "1", bounds=_SHARE),
    _metric(
        "audio_silence_fraction",
        "share of the 50 ms blocks below -60 dBFS",
        "1",
        bounds=_SHARE,
        note="of the mean power of the channels, so that what cancels in mono is not silent",
    ),
    _metric(
        "audio_max_silence_run",
        "longest silence, as a share of the sound",
        "1",
        bounds=_SHARE,
        headline=True,
    ),
    _metric("audio_dc_offset", "largest mean of a channel", "1", bounds=(0.0, None)),
    _metric(
        "audio_stereo_separation_db",
        "level minus that of left minus right",
        "dB",
        note="absent for mono; large is one sound in both channels",
    ),
)

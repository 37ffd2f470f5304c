"""The metrics between a sound and its reference."""

from __future__ import annotations

from typing import Any

from screentest.metrics.spec import MetricSpec

__all__ = ["IMPL", "METRICS"]

IMPL = "audio_pair@1"
"""Changes when any fact of this family could change."""


def _pair(name: str, says: str, unit: str, direction: Any, **fixed: Any) -> MetricSpec:
    given = {
        "dimension": "similarity",
        "modality": "audio",
        "impl": f"{name}@1",
        "family": "audio_pair",
        "paired": True,
        "reference_only": True,
        **fixed,
    }
    return MetricSpec(name=name, says=says, unit=unit, direction=direction, **given)


METRICS: tuple[MetricSpec, ...] = (
    _pair(
        "audio_si_sdr",
        "scale-invariant signal-to-distortion ratio",
        "dB",
        "up",
        bounds=(-120.0, 99.0),
        headline=True,
        gated=True,
        source="Le Roux, Wisdom, Erdogan and Hershey, ICASSP 2019",
        note="of the mean of the channels, means removed, at the lag found; a silent candidate "
        "reads -120",
    ),
    _pair(
        "audio_snr_db",
        "signal-to-noise ratio",
        "dB",
        "up",
        bounds=(-120.0, 99.0),
        note="of the mean of the channels, at the lag found; a change of level counts as noise",
    ),
    _pair(
        "audio_lsd_db",
        "root mean square distance of log spectra",
        "dB",
        "down",
        bounds=(0.0, None),
        note="what is too quiet to be heard weighs as much as what is loud",
    ),
    _pair(
        "audio_mel_l1",
        "mean absolute distance of 64 log-mel bands",
        "1",
        "down",
        bounds=(0.0, None),
        note="natural logarithms: 0.69 is a factor of two",
    ),
    _pair(
        "audio_lufs_delta",
        "loudness minus the reference's, of one pair",
        "LU",
        "target",
        target=0.0,
        reference_only=False,
        source="ITU-R BS.1770-4, EBU R 128",
        note="of all channels, at no lag",
    ),
    _pair(
        "audio_align_lag_ms",
        "by how much the candidate is late",
        "ms",
        "target",
        target=0.0,
        note="positive where the candidate is late; a lag at the end of the search is no lag",
    ),
)

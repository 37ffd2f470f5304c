"""From the numbers of frames to those of a clip: the one place where it is done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.signal.facts import IMPL, SignalFacts, SignalSeries

__all__ = ["pool_signal"]

_FLAT = 1e-4
_OF_FEATURES = (
    "sharpness",
    "sharpness_p10",
    "hf_ratio",
    "detail_entropy",
    "saturation",
    "local_contrast",
)
_F64 = NDArray[np.float64]


def pool_signal(
    series: SignalSeries,
    clip: ClipInfo,
    damage: Sequence[Damage] = (),
    *,
    features: bool = True,
) -> SignalFacts:
    """The facts of a clip whose frames have these numbers; there is at least one frame."""
    frames = len(series.index)
    sharp = features and min(clip.width, clip.height) >= 3
    motion, hp_change = series.motion[1:], series.shimmer[1:]
    jerk = 0.0
    if frames >= 3:
        jerk = _mean(series.acceleration[2:]) / max(_mean(motion), 1e-9)
    shimmer = 0.0
    hp_size = max(_mean(series.highpass[1:]), 1e-9) if features and frames > 1 else 1.0
    if features and frames > 1:
        shimmer = _mean(hp_change) / hp_size
    seconds, rate, no_rate = _time(series, clip)
    moved = 255.0 * _sum(motion)
    return SignalFacts(
        impl=IMPL,
        clip=clip,
        damage=tuple(damage),
        frames=frames,
        width=clip.width,
        height=clip.height,
        sharpness=_mean(series.laplacian_variance) if sharp else None,
        sharpness_p10=float(np.percentile(series.laplacian_variance, 10)) if sharp else None,
        hf_ratio=_mean(np.maximum(series.hf_ratio, 1e-12)) if features else None,
        detail_entropy=_mean(series.entropy) if features else None,
        contrast=_mean(series.luma_std),
        saturation=_mean(series.saturation) if features else None,
        local_contrast=_mean(np.maximum(series.highpass, 1e-9)) if features else None,
        brightness=_mean(series.luma_mean),
        flicker=_flicker(series.luma_mean),
        jerk_ratio=jerk,
        shimmer=shimmer if features else None,
        motion_energy=255.0 * _mean(motion) if frames > 1 else 0.0,
        motion_energy_per_s=None if seconds is None else moved / seconds,
        shimmer_per_s=_sum(hp_change) / hp_size / seconds if features and seconds else None,
        jerk_per_s=None if rate is None else jerk * rate,
        flat_frames=int(np.count_nonzero(series.luma_std < _FLAT)),
        series=series,
        unmeasured=_gaps(frames, features=features, sharp=sharp, no_rate=no_rate),
    )


def _sum(values: _F64) -> float:
    # In order: numpy's own sum is split by the CPU's vector width.
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _mean(values: _F64) -> float:
    return _sum(values) / len(values)


def _flicker(means: _F64) -> float:
    mean = _mean(means)
    return 100.0 * float(np.sqrt(_mean((means - mean) ** 2))) / max(mean, 1e-6)


def _time(series: SignalSeries, clip: ClipInfo) -> tuple[float | None, float | None, str]:
    """Seconds from the first to the last frame, the constant frame rate, and what lacks."""
    if len(series.index) < 2:
        return None, None, "needs 2 frames; this is one"
    if series.time_s is None:
        return None, None, "the clip has no time stamps: say frame_rate="
    seconds = float(series.time_s[-1] - series.time_s[0])
    if not seconds > 0:
        return None, None, "the time stamps do not advance"
    return seconds, clip.frame_rate if clip.constant_frame_rate else None, ""


def _gaps(frames: int, *, features: bool, sharp: bool, no_rate: str) -> tuple[Unmeasured, ...]:
    gaps: list[Unmeasured] = []
    if frames < 2:
        names = ("luma_flicker", "shimmer", "motion_energy")
        gaps += [Unmeasured(name, "needs 2 frames; this is one", applies=False) for name in names]
    if frames < 3:
        reason = f"needs 3 frames; the clip has {frames}"
        gaps.append(Unmeasured("jerk_ratio", reason, applies=False))
    if no_rate:
        gaps.append(Unmeasured("motion_energy_per_s", no_rate, applies=frames > 1))
    if not features:
        reason = "the pass was of luma alone"
        gaps += [Unmeasured(name, reason) for name in _OF_FEATURES]
        if frames > 1:
            gaps.append(Unmeasured("shimmer", reason))
    elif not sharp:
        reason = "needs 3x3 pixels"
        gaps += [Unmeasured(name, reason, applies=False) for name in ("sharpness", "sharpness_p10")]
    return tuple(gaps)

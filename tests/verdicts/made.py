"""Facts made by hand: a clip is a few arrays, so a test says what it is about and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from screentest import _native
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.integrity import FrameSeries, GridLine, IntegrityFacts, unmeasured_axes


def clip_info(**changes: Any) -> ClipInfo:
    known: dict[str, Any] = {
        "source": "made.mp4",
        "kind": "video",
        "decoder": "none",
        "luma_domain": "planes",
        "width": 1280,
        "height": 720,
        "coded_width": 1280,
        "coded_height": 720,
        "pixel_format": "yuv420p",
        "bit_depth": 8,
        "frame_rate": 24.0,
        "constant_frame_rate": True,
        "duration_s": 2.0,
    }
    return ClipInfo(**{**known, **changes})


def facts(
    frames: int = 48,
    *,
    std: float | Sequence[float] = 0.2,
    mean: float | Sequence[float] = 0.5,
    rgb: Sequence[float] | None = None,
    corr: float | Sequence[float] = 0.95,
    aligned: float | Sequence[float] | None = None,
    change: float | Sequence[float] = 40.0,
    read: Sequence[int] | None = None,
    depth: str = "full",
    grid: float | None = 2.0,
    levels: float = 1.0,
    timed: bool = True,
    damage: Sequence[Damage] = (),
    unmeasured: Sequence[Unmeasured] = (),
    clip: dict[str, Any] | None = None,
    **rest: Any,
) -> IntegrityFacts:
    """Facts of a clip. A sequence gives one value per frame read; the first of ``corr`` and
    ``change`` is not used, since the first frame has none before it. A change of 0 reads as an
    exact repeat: its correlation becomes 1."""
    index = np.arange(frames) if read is None else np.asarray(read)
    count = len(index)

    def column(value: float | Sequence[float]) -> np.ndarray[Any, Any]:
        return np.array(np.broadcast_to(np.asarray(value, np.float64), count))

    corr_, change_, std_ = column(corr), column(change), column(std)
    corr_[change_ == 0.0] = 1.0
    alone = np.concatenate(([True], np.diff(index) != 1))[:count]
    corr_[alone] = np.nan
    change_[alone] = np.nan
    if depth == "sampled":
        change_[:] = np.nan
    aligned_ = corr_.copy() if aligned is None else column(aligned)
    aligned_[alone] = np.nan
    starts = [k for k in _native.pair_starts(frames, 5) if k + 1 in index and k in index]
    ends = np.searchsorted(index, np.asarray(starts, dtype=int) + 1)
    mean_ = column(mean)
    info = {
        "frames": frames,
        "duration_s": frames / 24.0,
        **({} if timed else {"frame_rate": None, "duration_s": None}),
        **(clip or {}),
    }
    info_ = clip_info(**info)
    colours = [mean_] * 3 if rgb is None else [column(channel) for channel in rgb]
    return IntegrityFacts(
        impl="integrity/1",
        clip=info_,
        damage=tuple(damage),
        depth=depth,  # type: ignore[arg-type]
        frames=frames,
        frames_read=count,
        adjacent_frame_corr=float(np.median(corr_[ends])) if len(ends) else None,
        adjacent_frame_corr_aligned=float(np.median(aligned_[ends])) if len(ends) else None,
        corr_starts=tuple(starts),
        corr_series=tuple(corr_[ends].tolist()),
        corr_aligned_series=tuple(aligned_[ends].tolist()),
        frame_std_min=float(std_.min()),
        grid_peak_ratio=grid,
        grid_period_px=None if grid is None else 16.0,
        grid_axis=None if grid is None else "x",
        grid_phase_px=None if grid is None else 0.5,
        grid_line=None
        if grid is None
        else GridLine(ratio=grid, period_px=16.0, phase_px=0.5, amplitude_levels=levels, axis="x"),
        grid_frames=tuple(starts),
        series=FrameSeries(
            index=index.astype(np.int64),
            time_s=index / 24.0 if timed else None,
            luma_mean=mean_,
            luma_std=std_,
            luma_min=mean_ - std_,
            luma_max=mean_ + std_,
            red=colours[0],
            green=colours[1],
            blue=colours[2],
            corr=corr_,
            corr_aligned=aligned_,
            change=change_,
        ),
        unmeasured=(
            *unmeasured,
            *unmeasured_axes(
                depth=depth,  # type: ignore[arg-type]
                frames=frames,
                frames_read=count,
                size=(info_.width, info_.height),
                has_pairs=bool(starts),
                has_grid=grid is not None,
            ),
        ),
        **rest,
    )


def per_frame(frames: int, usual: float, **runs: tuple[int, int, float]) -> list[float]:
    """``usual`` in every frame, except in the inclusive runs given as (first, last, value)."""
    values = [usual] * frames
    for first, last, value in runs.values():
        for frame in range(first, last + 1):
            values[frame] = value
    return values

"""What the integrity family measures of a clip, and what it could not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest import _native
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.integrity.names import AXES, EVERY_FRAME_AXES, TEMPORAL_AXES
from screentest.metrics.series import Series

__all__ = ["Depth", "FrameSeries", "GridLine", "IntegrityFacts", "unmeasured_axes"]

Depth = Literal["full", "sampled"]
_F64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrameSeries(Series):
    """One entry per frame read, ascending by display index.

    Luma and colour lie in [0, 1] and are taken on the decimated grid (every ``stride``-th row and
    column, ``stride = max(1, height // 96)``). The last three compare a frame with the one before
    it; they are NaN where that frame was not read or the number was not asked for, and are never
    written to a report as such.

    Attributes:
        index: display index.
        time_s: presentation time, or ``None`` if the clip has no time stamps.
        luma_mean: mean luma.
        luma_std: population standard deviation of luma, in [0, 0.5].
        luma_min: smallest luma.
        luma_max: largest luma.
        red: mean red.
        green: mean green.
        blue: mean blue.
        corr: Pearson correlation of luma, in [-1, 1]; 0 if either frame is flat (std < 1e-6).
        corr_aligned: the same after averaging over cells of ``stride`` pixels and the best shift of
            up to four cells; equal to ``corr`` from 0.9 up, searched only below.
        change: largest mean absolute difference over a run of 16 pixels of a row, in 8-bit levels;
            exact below 8, a lower bound from 8 on; a repeated frame reads 0.
    """

    index: NDArray[np.int64]
    time_s: _F64 | None
    luma_mean: _F64
    luma_std: _F64
    luma_min: _F64
    luma_max: _F64
    red: _F64
    green: _F64
    blue: _F64
    corr: _F64
    corr_aligned: _F64
    change: _F64

    @property
    def rms_difference(self) -> _F64:
        """Root mean square of the luma difference to the frame before, in [0, 1]; NaN without one.

        Exact on the decimated grid, from its moments:
        E(a - b)^2 = var a + var b - 2 cov(a, b) + (mean a - mean b)^2.
        """
        rms = np.full(len(self.luma_std), np.nan)
        a, b = self.luma_std[1:], self.luma_std[:-1]
        shift = self.luma_mean[1:] - self.luma_mean[:-1]
        square = a * a + b * b - 2.0 * self.corr[1:] * a * b + shift * shift
        rms[1:] = np.sqrt(np.maximum(square, 0.0))
        return rms


class GridLine(msgspec.Struct, frozen=True, kw_only=True):
    """The strongest lattice whose period fits its axis at least eight times.

    A picture's own layout, a row of windows, repeats a few times; a decoder's lattice covers all of
    it. ``amplitude_levels`` says how far the mean gradient swings with it, in 8-bit levels: on a
    smooth picture the faintest line stands far above nothing.
    """

    ratio: float
    period_px: float
    phase_px: float
    amplitude_levels: float
    axis: Literal["x", "y"]


class IntegrityFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one clip, to be judged by :func:`screentest.verdicts.judge_integrity`.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        clip: geometry, colour, timing and decoder.
        damage: places where the file does not hold what it should.
        depth: ``"full"`` or ``"sampled"``.
        frames: frames in the clip.
        frames_read: frames measured.
        adjacent_frame_corr: median over the sampled pairs of the correlation of the two frames'
            decimated luma, in [-1, 1]. Near 0 for noise, near 1 for a picture; 0 for flat frames.
        adjacent_frame_corr_aligned: the same after the best small shift; at least as large.
        corr_starts: the pairs (k, k + 1) sampled, by k.
        corr_series: correlation of each of them.
        corr_aligned_series: the same after the best small shift.
        frame_std_min: smallest standard deviation of luma over the sampled frames, in [0, 0.5].
        grid_peak_ratio: strength of the strongest lattice, as its spectral line over the median of
            its neighbours; ``None`` if neither side has 512 px.
        grid_period_px: period of that lattice.
        grid_axis: ``"x"`` for vertical lines, ``"y"`` for horizontal ones.
        grid_phase_px: centre of its first line from the left or top edge.
        grid_line: the strongest lattice that fits eight times, with its amplitude; what is judged.
        grid_frames: frames that the lattice was read from.
        first_frame_change: largest ``change`` between the first frame and the last or one with a
            power of two as its index, if no two neighbours of all frames differ by 8 levels or
            more; a slow movement shows only there.
        non_finite_samples: samples that are NaN or infinite.
        non_finite_frames: runs (first, last) of frames that hold one.
        non_finite_first: frame, row and column of the first.
        series: one entry per frame read.
        unmeasured: axes that gave no number, and why.
    """

    impl: str
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    depth: Depth
    frames: int
    frames_read: int
    adjacent_frame_corr: float | None = None
    adjacent_frame_corr_aligned: float | None = None
    corr_starts: tuple[int, ...] = ()
    corr_series: tuple[float, ...] = ()
    corr_aligned_series: tuple[float, ...] = ()
    frame_std_min: float | None = None
    grid_peak_ratio: float | None = None
    grid_period_px: float | None = None
    grid_axis: Literal["x", "y"] | None = None
    grid_phase_px: float | None = None
    grid_line: GridLine | None = None
    grid_frames: tuple[int, ...] = ()
    first_frame_change: float | None = None
    non_finite_samples: int = 0
    non_finite_frames: tuple[tuple[int, int], ...] = ()
    non_finite_first: tuple[int, int, int] | None = None
    series: FrameSeries
    unmeasured: tuple[Unmeasured, ...] = ()


def unmeasured_axes(
    *,
    depth: Depth,
    frames: int,
    frames_read: int,
    size: tuple[int, int],
    has_pairs: bool,
    has_grid: bool,
) -> tuple[Unmeasured, ...]:
    """Axes that the frames read cannot speak for, with the reason, in the order of reports."""
    gaps: dict[str, Unmeasured] = {}

    def gap(axis: str, reason: str, *, applies: bool = False) -> None:
        gaps.setdefault(axis, Unmeasured(axis, reason, applies=applies))

    if frames < 2:
        for axis in TEMPORAL_AXES:
            gap(axis, "needs 2 frames; this is one")
    if not has_pairs:
        gap("noise", "no two neighbouring frames could be read", applies=True)
    least = _native.INTEGRITY_GRID_MIN_EXTENT
    if max(size) < least:
        gap("grid", f"needs {least} px on one side; this is {size[0]}x{size[1]}")
    elif not has_grid:
        gap("grid", "none of the sampled frames could be read", applies=True)
    if depth == "sampled":
        for axis in EVERY_FRAME_AXES:
            gap(axis, f"depth='sampled' read {frames_read} of {frames} frames; use depth='full'")
    return tuple(gaps[axis] for axis in AXES if axis in gaps)

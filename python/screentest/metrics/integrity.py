"""Is this a render at all: reference-free facts of a clip, cheap enough for every render.

The correlation, contrast and lattice numbers are taken from five adjacent pairs spread over the
clip. At ``depth="full"`` every frame is looked at once besides, on a fixed grid of pixels and rows,
for what changes over time; at ``depth="sampled"`` no other frame is read.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.media import open_clip
from screentest.media.clip import Clip, Frame
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured

__all__ = [
    "AXES",
    "IMPL",
    "Depth",
    "FrameSeries",
    "GridLine",
    "IntegrityAccumulator",
    "IntegrityFacts",
    "measure_integrity",
    "unmeasured_axes",
]

IMPL = "integrity/1"
"""Changes when any value of this family could change."""

Depth = Literal["full", "sampled"]
_F64 = NDArray[np.float64]

AXES = ("noise", "blank", "grid", "frozen", "duplicate", "black", "non_finite", "damaged")
"""Every axis, in the order of reports."""

TEMPORAL_AXES = ("noise", "frozen", "duplicate")
"""Axes that compare frames, so that a single frame has none of them."""

EVERY_FRAME_AXES = ("frozen", "duplicate", "black", "non_finite", "damaged")
"""Axes that a sample of frames cannot speak for."""


@dataclass(frozen=True, eq=False)
class FrameSeries:
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrameSeries):
            return NotImplemented
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return all(
            a is b if a is None or b is None else np.array_equal(a, b, equal_nan=True)
            for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]


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


def measure_integrity(
    source: Any, *, depth: Depth = "full", threads: int | None = None, **options: Any
) -> IntegrityFacts:
    """Facts that tell a render from noise, a blank, a lattice, a freeze or a damaged file.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens.
        depth: ``"full"`` looks at every frame once; ``"sampled"`` reads at most ten and seeks to
            them in a file.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``value_range=``, ``layout=``...).

    Returns:
        The facts. Identical frames correlate at 1; flat ones at 0, with a deviation of 0. NaN and
        infinite samples are counted, and read as black for everything else. A single frame has no
        temporal numbers; a side below 512 px has no lattice: both are named in ``unmeasured``.

    Raises:
        MediaError: the source cannot be read, or its values leave the range they are said to have.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> ramp = np.tile(np.arange(64, dtype=np.uint8)[:, None], (1, 64))
        >>> facts = measure_integrity(np.stack([ramp, ramp, 63 - ramp]), layout="THW")
        >>> facts.corr_series
        (1.0, -1.0)
    """
    if depth not in ("full", "sampled"):
        raise InputError(f'depth={depth!r}: expected "full" or "sampled"', code="bad_depth")
    budget = compute.threads(threads)
    if isinstance(source, Clip):
        return _measure(source, depth, budget)
    with open_clip(source, threads=budget, **options) as clip:
        return _measure(clip, depth, budget)


def _measure(clip: Clip, depth: Depth, threads: int) -> IntegrityFacts:
    accumulator = IntegrityAccumulator(
        clip.format, frames=clip.info.frames, depth=depth, threads=threads
    )
    # Frames in memory are there for the taking; decoded ones come one at a time.
    size = _BATCH if clip.info.kind == "array" else 1
    wanted = _wanted(clip, accumulator)
    while batch := list(islice(wanted, size)):
        accumulator.push_many(batch)
    facts = accumulator.finish(clip.info, clip.damage)
    if depth == "full":
        _search_more_pairs(clip, facts, threads)
    return facts


_BATCH = 16
"""Frames of an array that are measured side by side; two a thread at the largest budget in use."""


def _wanted(clip: Clip, accumulator: IntegrityAccumulator) -> Iterator[Frame]:
    if accumulator.depth == "full":
        return clip.frames()
    return clip.frames_at(accumulator.sampled_frames())


# A pair speaks about noise if both frames have contrast and differ. These are looser than any
# sensible policy, so that a judge who finds no evidence among the sampled pairs finds it here.
_EVIDENCE_STD = 0.02
_EVIDENCE_CHANGE = 1.0
_EVIDENCE_PAIRS = 3


def _speaks(series: FrameSeries) -> NDArray[np.bool_]:
    before = np.concatenate([[0.0], series.luma_std[:-1]])
    contrast = (series.luma_std >= _EVIDENCE_STD) & (before >= _EVIDENCE_STD)
    speaks: NDArray[np.bool_] = (
        contrast & (series.change >= _EVIDENCE_CHANGE) & np.isfinite(series.corr)
    )
    return speaks


def _search_more_pairs(clip: Clip, facts: IntegrityFacts, threads: int) -> None:
    """Aligns a few more pairs where few sampled ones speak: a fade, a freeze, doubled frames."""
    series = facts.series
    speaks = _speaks(series)
    sampled = np.isin(series.index - 1, facts.corr_starts)
    unsearched = speaks & np.isnan(series.corr_aligned)
    if (speaks & sampled).sum() >= _EVIDENCE_PAIRS or not unsearched.any():
        return
    ends = np.flatnonzero(unsearched)
    chosen = ends[np.unique(np.linspace(0, len(ends) - 1, _native.INTEGRITY_PAIRS).astype(int))]
    wanted = sorted({int(i) for end in chosen for i in series.index[end - 1 : end + 1]})
    again = _native.IntegrityAccumulator(clip.format, threads=threads, simd=compute.simd_level())
    previous: Frame | None = None
    for frame in clip.frames_at(wanted):
        adjacent = previous is not None and previous.index + 1 == frame.index
        again.push(
            frame.index,
            frame.planes,
            previous.planes if adjacent and previous is not None else None,
            align=True,
        )
        previous = frame
    found = again.series()
    where = np.searchsorted(series.index, found["index"])
    better = np.isfinite(found["corr_aligned"]) & np.isnan(series.corr_aligned[where])
    series.corr_aligned[where[better]] = found["corr_aligned"][better]


class IntegrityAccumulator:
    """Takes frames as they come and keeps a few numbers of each; :meth:`finish` gives the facts.

    Args:
        format: how the planes of every frame are read.
        frames: how many frames the clip has. If it is not known, the sampled pairs are the nearest
            of up to 32 evenly spaced ones, and the facts say which they were.
        depth: ``"full"``, or ``"sampled"`` to be fed :meth:`sampled_frames` alone.
        threads: threads of the kernels.
        reused_buffers: frames may lie in memory that is overwritten before the next push.

    Memory is the first and the last frame, a small luma plane, two sums of gradients per candidate
    frame and 96 bytes per frame.
    """

    def __init__(
        self,
        format: _native.FrameFormat,
        *,
        frames: int | None,
        depth: Depth = "full",
        threads: int = 1,
        reused_buffers: bool = False,
    ) -> None:
        if depth == "sampled" and frames is None:
            raise InputError(
                'depth="sampled" needs the number of frames: give frames=', code="frames_missing"
            )
        self.depth: Depth = depth
        self._format = format
        self._native = _native.IntegrityAccumulator(
            format, threads=threads, simd=compute.simd_level()
        )
        self._candidates: _Known | _Thinned = (
            _Thinned(self._native) if frames is None else _Known(frames)
        )
        self._frames = frames
        self._times: list[float | None] = []
        self._first: Frame | None = None
        self._moved = 0.0
        self._previous: Frame | None = None
        self._reused_buffers = reused_buffers
        self._own_frames = False

    def sampled_frames(self) -> list[int]:
        """Display indices that the sampled axes read, ascending."""
        starts = self._candidates.starts(self._frames or 0)
        needed = {k for start in starts for k in (start, start + 1)}
        return sorted(needed) if needed else list(range(min(1, self._frames or 0)))

    def push(self, frame: Frame) -> None:
        """Measures one frame. Frames come in display order; a gap starts a new run.

        Raises:
            MediaError: a value lies outside the range that the samples are said to have.
            InputError: the planes do not fit the format.
        """
        if self._reused_buffers:
            frame = self._owned(frame)
        self.push_many([frame])

    def push_many(self, frames: Sequence[Frame]) -> None:
        """Measures frames side by side. Their memory must stay as it is until the next push.

        Raises:
            MediaError: as :meth:`push`.
            InputError: as :meth:`push`; nothing is kept of any of the frames.
        """
        previous = self._previous
        adjacent = previous is not None and previous.index + 1 == frames[0].index
        full = self.depth == "full"
        batch = [
            (
                frame.index,
                frame.planes,
                self._candidates.keeps(frame.index),
                self._candidates.is_start(frame.index - 1),
                full,
            )
            for frame in frames
        ]
        before = previous.planes if adjacent and previous is not None else None
        counted = self._native.push_many(batch, before)
        for frame, (non_finite, out_of_range) in zip(frames, counted, strict=True):
            # A frame with a NaN often holds wild values beside it; the NaN is the finding.
            if out_of_range and not non_finite and not self._native.non_finite_samples:
                raise _out_of_range(self._format, self._native, frame.index)
            self._times.append(frame.time_s)
            self._previous = frame
            if self._first is None:
                self._first = _copied(frame) if self._reused_buffers else frame
            # A loop comes back to where it began, so frames on the way are asked too.
            elif full and frame.index & (frame.index - 1) == 0:
                self._moved = max(self._moved, self._change_from_first() or 0.0)

    def _owned(self, frame: Frame) -> Frame:
        """A copy of a frame whose memory the caller reuses, once that shows."""
        previous = self._previous
        if previous is not None and not self._own_frames:
            self._own_frames = np.may_share_memory(previous.planes[0], frame.planes[0])
            if self._own_frames:
                # What was there is gone; of the first frame there is a copy.
                first = self._first
                kept = first is not None and first.index == previous.index
                self._previous = first if kept else None
        return _copied(frame) if self._own_frames else frame

    def finish(self, clip: ClipInfo, damage: list[Damage] | None = None) -> IntegrityFacts:
        """The facts of the frames pushed.

        Raises:
            MediaError: no frame was pushed, or the values cannot have the range they are said to.
        """
        raw = self._native.series()
        read = len(raw["index"])
        if read == 0:
            raise MediaError(f"{clip.source}: no frames", code="no_frames")
        _check_declared_range(self._format, self._native, self._previous)
        times = None if any(t is None for t in self._times) else np.asarray(self._times, np.float64)
        series = FrameSeries(time_s=times, **raw)
        frames = int(series.index[-1]) + 1 if self._frames is None else self._frames
        # Plain lists: for the five pairs of a sampled screen numpy costs more than the kernels.
        position = {index: at for at, index in enumerate(series.index.tolist())}
        wanted = self._candidates.starts(frames)
        read_pairs = [(k, position[k + 1]) for k in wanted if k + 1 in position]
        pairs = [(k, at, float(series.corr[at])) for k, at in read_pairs]
        pairs = [pair for pair in pairs if math.isfinite(pair[2])]
        starts = [k for k, _, _ in pairs]
        corr = [value for _, _, value in pairs]
        aligned = [float(series.corr_aligned[at]) for _, at, _ in pairs]
        grid_frames = [k for k in wanted if k in position]
        grid = self._native.grid(grid_frames) if grid_frames else None
        peak, repeated = (None, None) if grid is None else map(_line, grid)
        # Of a clip without a pair, whatever was read.
        ends = [at for _, at, _ in pairs]
        stds = series.luma_std[[*ends, *(at - 1 for at in ends)]] if pairs else series.luma_std
        return IntegrityFacts(
            impl=IMPL,
            clip=clip,
            damage=tuple(damage or ()),
            depth=self.depth,
            frames=frames,
            frames_read=read,
            adjacent_frame_corr=statistics.median(corr) if starts else None,
            adjacent_frame_corr_aligned=statistics.median(aligned) if starts else None,
            corr_starts=tuple(starts),
            corr_series=tuple(corr),
            corr_aligned_series=tuple(aligned),
            frame_std_min=float(stds.min()),
            grid_peak_ratio=None if peak is None else peak.ratio,
            grid_period_px=None if peak is None else peak.period_px,
            grid_axis=None if peak is None else peak.axis,
            grid_phase_px=None if peak is None else peak.phase_px,
            grid_line=repeated,
            first_frame_change=self._first_frame_change(),
            grid_frames=tuple(grid_frames) if grid else (),
            non_finite_samples=self._native.non_finite_samples,
            non_finite_frames=tuple(self._native.non_finite_runs),
            non_finite_first=self._native.first_non_finite,
            series=series,
            unmeasured=unmeasured_axes(
                depth=self.depth,
                frames=frames,
                frames_read=read,
                size=(self._format.width, self._format.height),
                has_pairs=bool(starts),
                has_grid=grid is not None,
            ),
        )

    def _first_frame_change(self) -> float | None:
        at_the_end = self._change_from_first()
        return None if at_the_end is None else max(self._moved, at_the_end)

    def _change_from_first(self) -> float | None:
        """Compares the last frame pushed with the first, if little moved from frame to frame."""
        first, last = self._first, self._previous
        if self.depth == "sampled" or first is None or last is None or first is last:
            return None
        changes = self._native.series()["change"][1:]
        if not (changes < _native.INTEGRITY_CONFIRM_BELOW).all():
            return None
        ends = _native.IntegrityAccumulator(self._format, simd=compute.simd_level())
        ends.push(0, first.planes)
        ends.push(1, last.planes, first.planes, change=True)
        return float(ends.series()["change"][1])


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


def _line(line: tuple[float, float, float, float, str]) -> GridLine:
    ratio, period_px, phase_px, amplitude_levels, axis = line
    return GridLine(
        ratio=ratio,
        period_px=period_px,
        phase_px=phase_px,
        amplitude_levels=amplitude_levels,
        axis="y" if axis == "y" else "x",
    )


def _copied(frame: Frame) -> Frame:
    planes = tuple(plane.copy() for plane in frame.planes)
    return Frame(frame.index, frame.time_s, planes, frame.corrupt)


class _Known:
    """Sampled pairs of a clip whose length is known: exactly those of the definition."""

    def __init__(self, frames: int) -> None:
        self._starts = _native.pair_starts(frames, _native.INTEGRITY_PAIRS)
        self._set = frozenset(self._starts)
        # The contrast and the lattice of a single picture are read from it.
        self._lone = frames == 1

    def keeps(self, index: int) -> bool:
        return index in self._set or self._lone

    def is_start(self, index: int) -> bool:
        return index in self._set

    def starts(self, frames: int) -> list[int]:
        return [0] if self._lone and frames == 1 else self._starts


class _Thinned:
    """Candidates while the length is not known: every ``spacing``-th frame, which doubles when
    more than 32 are kept."""

    def __init__(self, native: _native.IntegrityAccumulator) -> None:
        self._native = native
        self._spacing = 1
        self._kept: list[int] = []

    def keeps(self, index: int) -> bool:
        if index % self._spacing:
            return False
        self._kept.append(index)
        if len(self._kept) > 32:
            self._spacing *= 2
            for dropped in (k for k in self._kept if k % self._spacing):
                self._native.forget_grid(dropped)
            self._kept = [k for k in self._kept if k % self._spacing == 0]
        return index % self._spacing == 0

    def is_start(self, index: int) -> bool:
        return index >= 0 and index % self._spacing == 0

    def starts(self, frames: int) -> list[int]:
        if frames == 1:
            return [0]
        usable = [k for k in self._kept if k + 1 < frames]
        if not usable:
            return []
        ideal = _native.pair_starts(frames, _native.INTEGRITY_PAIRS)
        return sorted({min(usable, key=lambda k: (abs(k - want), k)) for want in ideal})


def _out_of_range(
    format: _native.FrameFormat, native: _native.IntegrityAccumulator, index: int
) -> MediaError:
    low, high = native.value_extremes or (0.0, 0.0)
    if format.value_range is None:
        return MediaError(
            f"frame {index} holds the value {high:.0f}, more than its bit depth allows: "
            "say the true bit_depth=",
            code="value_out_of_range",
            frame=index,
            largest=high,
        )
    said_low, said_high = format.value_range
    return MediaError(
        f"frame {index} holds values from {low:.4g} to {high:.4g}, expected [{said_low:g}, "
        f"{said_high:g}]: say the range they are in with value_range=(low, high)",
        code="value_out_of_range",
        frame=index,
        smallest=low,
        largest=high,
        value_range=(said_low, said_high),
    )


def _check_declared_range(
    format: _native.FrameFormat, native: _native.IntegrityAccumulator, last: Frame | None
) -> None:
    """Refuses [0, 1] pictures that are said to span hundreds: they would all measure as black."""
    extremes = native.value_extremes
    if format.value_range is None or extremes is None or native.non_finite_samples:
        return
    low, high = format.value_range
    if high - low <= 2 or extremes[0] < 0 or not 0 < extremes[1] <= 1 or last is None:
        return
    fractional = any(bool(np.any(plane != np.floor(plane))) for plane in last.planes)
    if fractional:
        raise MediaError(
            f"all values lie in [{extremes[0]:.4g}, {extremes[1]:.4g}] but value_range=({low:g}, "
            f"{high:g}) was said: say value_range=(0, 1) if white is 1",
            code="value_range_unlikely",
            smallest=extremes[0],
            largest=extremes[1],
            value_range=(low, high),
        )

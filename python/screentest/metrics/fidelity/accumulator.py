"""Fidelity of a clip whose frames come pair by pair: a few numbers are kept of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.metrics import identity
from screentest.metrics.facts import Score
from screentest.metrics.fidelity.names import FIDELITY
from screentest.metrics.fidelity.scores import scores_of
from screentest.metrics.ranges import out_of_range, refuse_unlikely_range

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Array, Frame

__all__ = [
    "Border",
    "FidelityAccumulator",
    "FidelityFacts",
    "MeasuredPair",
    "no_native_planes",
    "unmeasured_score",
]

Border = Literal["valid", "reflect"]
_SIDES = ("reference", "candidate")
_Scan: TypeAlias = "tuple[int, int, tuple[float, float] | None]"


@dataclass(frozen=True, slots=True, eq=False)
class FidelityFacts:
    """The scores of a clip and what they were made of.

    ``frames`` is (N, 2): the index in reference and candidate of each pair that was compared.
    ``series`` holds each metric's value at each pair, infinite where a PSNR's error is 0.
    """

    scores: tuple[Score, ...]
    frames: NDArray[np.int64]
    series: dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPair:
    """The kernel's numbers of one pair of frames, and what their samples were checked for."""

    reference: Frame
    candidate: Frame
    values: dict[str, float]
    scans: tuple[_Scan, ...]


class FidelityAccumulator:
    """Compares pairs of frames as they come, in constant memory of pixels.

    >>> import numpy as np
    >>> from screentest.media import open_clip
    >>> grey = np.full((2, 16, 16), 100, np.uint8)
    >>> clip, other = open_clip(grey, layout="THW"), open_clip(grey + 2, layout="THW")
    >>> pairs = FidelityAccumulator(clip.format, other.format, ["psnr"])
    >>> for a, b in zip(clip.frames(), other.frames()):
    ...     pairs.push(a, b)
    >>> score = pairs.finish().scores[0]
    >>> score.name, round(score.value, 4), score.unit
    ('psnr', 42.1102, 'dB')

    A metric that cannot be measured of these formats is among the scores, unmeasured, with its
    reason. Accumulators of the parts of a clip :meth:`merge` into exactly what one accumulator of
    the whole would be.

    Raises:
        InputError: a metric that is unknown, or sizes that differ (``size_mismatch``).
    """

    def __init__(
        self,
        reference: FrameFormat,
        candidate: FrameFormat,
        metrics: Iterable[str],
        *,
        border: Border = "valid",
        threads: int | None = None,
    ) -> None:
        self.metrics = tuple(dict.fromkeys(metrics))
        for name in self.metrics:
            if name not in FIDELITY:
                raise InputError(
                    f"metric {name!r} is unknown; the fidelity metrics are {', '.join(FIDELITY)}",
                    code="unknown_metric",
                    metric=name,
                )
        self._formats = (reference, candidate)
        self._border: Border = border
        self.unmeasured = _unmeasured(self.metrics, reference, candidate)
        flags = {FIDELITY[name].flag for name in self.metrics if name not in self.unmeasured}
        self._kernel = _native.FidelityKernel(
            reference,
            candidate,
            **dict.fromkeys(flags, True),
            border=border,
            threads=compute.threads(threads),
            simd=compute.simd_level(),
        )
        self._rows: list[dict[str, float]] = []
        self._frames: list[tuple[int, int]] = []
        self._extremes: list[tuple[float, float] | None] = [None, None]
        self._last: tuple[Sequence[Array], Sequence[Array]] | None = None

    @property
    def pairs(self) -> int:
        """Pairs compared so far."""
        return len(self._rows)

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Compare one frame with another.

        Raises:
            MediaError: a sample is NaN or infinite, or leaves the range that its clip is said to
                have; nothing is kept of the pair.
        """
        self.add(self.measure(reference, candidate))

    def measure(self, reference: Frame, candidate: Frame) -> MeasuredPair:
        """The numbers of one pair, for :meth:`add`; keeps nothing, and may run on any thread."""
        values, *scans = self._kernel.measure(reference.planes, candidate.planes)
        return MeasuredPair(reference, candidate, values, tuple(scans))

    def add(self, pair: MeasuredPair) -> None:
        """Keep the numbers of one pair. Raises as :meth:`push`."""
        frames = (pair.reference, pair.candidate)
        for side, frame, format, scan in zip(
            _SIDES, frames, self._formats, pair.scans, strict=True
        ):
            bad, outside, extremes = scan
            if bad:
                raise MediaError(
                    f"{side} frame {frame.index} holds {bad} NaN or infinite "
                    f"sample{'s' * (bad > 1)}: a comparison needs finite values; screen the clip "
                    "to see where they begin",
                    code="non_finite_samples",
                    side=side,
                    frame=frame.index,
                    samples=bad,
                )
            if outside:
                raise out_of_range(format, extremes, frame.index, of=side)
        self._rows.append(pair.values)
        self._frames.append((pair.reference.index, pair.candidate.index))
        for i, (_, _, extremes) in enumerate(pair.scans):
            self._extremes[i] = _wider(self._extremes[i], extremes)
            if extremes is not None:
                self._last = (pair.reference.planes, pair.candidate.planes)

    def merge(self, other: Self) -> None:
        """Take in the pairs of another accumulator of the same formats and metrics."""
        if (self.metrics, self._border) != (other.metrics, other._border):
            raise InputError(
                f"metrics {self.metrics} and {other.metrics}: only accumulators of the same "
                "metrics and border merge",
                code="cannot_merge",
            )
        order = sorted(
            zip(self._frames + other._frames, self._rows + other._rows, strict=True),
            key=lambda item: (item[0][1], item[0][0]),
        )
        self._frames = [frames for frames, _ in order]
        self._rows = [row for _, row in order]
        for i in (0, 1):
            self._extremes[i] = _wider(self._extremes[i], other._extremes[i])
        self._last = self._last or other._last

    def finish(self, details: dict[str, Any] | None = None) -> FidelityFacts:
        """The scores of all pairs. ``details`` are added to each.

        Raises:
            MediaError: nothing was pushed, or the values contradict the range that was said.
        """
        if not self._rows:
            raise MediaError("no pair of frames was compared", code="no_frames")
        for i, side in enumerate(_SIDES):
            last = None if self._last is None else self._last[i]
            refuse_unlikely_range(self._formats[i], self._extremes[i], last, of=side)
        columns = {
            name: np.array([row[name] for row in self._rows], dtype=np.float64)
            for name in self._rows[0]
        }
        frames = np.array(self._frames, dtype=np.int64)
        suffix = "" if self._border == "valid" else f"+{self._border}"
        sizes = _plane_sizes(self._formats[0])
        scores: list[Score] = []
        series: dict[str, NDArray[np.float64]] = {}
        for name in self.metrics:
            if name in self.unmeasured:
                scores.append(unmeasured_score(name, self.unmeasured[name]))
                continue
            windowed = name in ("ssim", "ssim_y")
            found, series[name] = scores_of(
                name,
                columns,
                frames[:, 1],
                plane_sizes=sizes,
                impl_suffix=suffix if windowed else "",
                details=details,
            )
            scores += found
        return FidelityFacts(tuple(scores), frames, series)


def unmeasured_score(name: str, reason: str) -> Score:
    """The score of a fidelity metric that gave no number."""
    return identity.score(name, None, reason=reason)


def _unmeasured(
    metrics: Sequence[str], reference: FrameFormat, candidate: FrameFormat
) -> dict[str, str]:
    """Why a metric has no meaning for a pair of formats, by name."""
    reasons: dict[str, str] = {}
    least = _native.FIDELITY_TAPS
    small = min(reference.width, reference.height) < least
    native = no_native_planes(reference, candidate)
    for name in metrics:
        metric = FIDELITY[name]
        if metric.domain == "planes" and native:
            reasons[name] = native
        elif name in ("psnr_cb", "psnr_cr") and reference.model == "grey":
            reasons[name] = "the clips are grey: there is no chroma"
        elif small and "ssim" in name:
            size = f"{reference.width}x{reference.height}"
            reasons[name] = f"{size} pixels: the window needs {least} on each side"
    return reasons


def no_native_planes(reference: FrameFormat, candidate: FrameFormat) -> str | None:
    """Why two formats have no planes that compare as they are; ``None`` if they have."""
    try:
        _native.FidelityKernel(reference, candidate, planes=True)
    except InputError as error:
        if error.code == "no_common_planes":
            return (
                f"no native planes in common: the reference is {_described(reference)}, the "
                f"candidate {_described(candidate)}"
            )
        raise
    return None


def _described(format: FrameFormat) -> str:
    bits = format.bit_depth
    depth = "float" if bits is None else f"{bits}-bit"
    if format.model == "rgb":
        return f"{depth} RGB, not Y, Cb and Cr"
    if format.model == "grey":
        return f"{depth} grey"
    sx, sy = format.chroma_shift
    return f"{depth} YUV with chroma 1/{1 << sx} x 1/{1 << sy}"


def _plane_sizes(format: FrameFormat) -> tuple[int, ...]:
    size = format.width * format.height
    if format.model != "yuv":
        return (size,)
    sx, sy = format.chroma_shift
    chroma = -(-format.width >> sx) * -(-format.height >> sy)
    return (size, chroma, chroma)


def _wider(
    a: tuple[float, float] | None, b: tuple[float, float] | None
) -> tuple[float, float] | None:
    if a is None or b is None:
        return a or b
    return (min(a[0], b[0]), max(a[1], b[1]))

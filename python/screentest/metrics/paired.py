"""Every paired metric of two clips: decoded once, in step, each frame handed to all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest import compute
from screentest.errors import InputError, MediaError, ProtocolError
from screentest.media import open_clip
from screentest.media.clip import Clip, Frame
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Score
from screentest.metrics.fidelity import (
    FIDELITY,
    Border,
    FidelityAccumulator,
    FidelityFacts,
    MeasuredPair,
    unmeasured_score,
)
from screentest.metrics.instruments import INSTRUMENT_NAMES
from screentest.metrics.pairing import PairingAccumulator, PairingFacts

if TYPE_CHECKING:
    from screentest.metrics.instruments import Instrument

__all__ = [
    "PAIRED_METRICS",
    "PairFacts",
    "Pairs",
    "check_metrics",
    "check_sizes",
    "measure_pair",
    "metric_impls",
    "open_both",
    "pairs_by_time",
]

PAIRED_METRICS: dict[str, str] = {
    **{name: metric.says for name, metric in FIDELITY.items()},
    **INSTRUMENT_NAMES,
}
"""Every paired metric by the name that asks for it, and what it is."""

Indices: TypeAlias = NDArray[np.int64]
Pairs: TypeAlias = "Literal['index', 'timestamps'] | Indices"
_SIDES = ("reference", "candidate")


@dataclass(frozen=True, slots=True)
class PairFacts:
    """What two clips showed of each other. No judgement: misaligned clips have scores as well.

    ``pairs`` is (N, 2): reference and candidate index of each pair of frames that was compared.
    ``scores`` has an entry for every metric asked for, unmeasured ones with their reason.
    ``series`` holds each metric's value at each pair, infinite where a PSNR's error is 0. ``read``
    are the indices of the frames that could be read of each clip; ``pairing`` counts along them.
    """

    reference: ClipInfo
    candidate: ClipInfo
    pairing: PairingFacts
    pairs: Indices
    scores: tuple[Score, ...]
    series: dict[str, NDArray[np.float64]]
    read: tuple[Indices, Indices]
    damage: dict[str, list[Damage]]


def check_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """The names in their order, each once.

    Raises:
        InputError: one is unknown, or there is none.
    """
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in PAIRED_METRICS:
            raise InputError(
                f"metric {name!r} is unknown; the paired metrics are {', '.join(PAIRED_METRICS)}",
                code="unknown_metric",
                metric=name,
            )
    if not wanted:
        raise InputError(
            f"no metric was asked for; the paired metrics are {', '.join(PAIRED_METRICS)}",
            code="no_metrics",
        )
    return wanted


def metric_impls(names: Sequence[str]) -> dict[str, str]:
    """Which version of each metric this package computes. The two numbers of a name with different
    versions do not compare."""
    from screentest.metrics.instruments import TRAITS

    impls: dict[str, str] = {}
    for name in check_metrics(names):
        if name in FIDELITY:
            impls[name] = FIDELITY[name].impl
        else:
            impls[name] = next(trait.impl for key, trait in TRAITS.items() if key.startswith(name))
    return impls


def check_sizes(reference: ClipInfo, candidate: ClipInfo) -> None:
    """Refuses clips of different size: nothing is resized here.

    Raises:
        ProtocolError: ``size_mismatch``, with both sizes.
    """
    a, b = ((clip.width, clip.height) for clip in (reference, candidate))
    if a != b:
        raise ProtocolError(
            f"{candidate.source} is {b[0]}x{b[1]}, its reference {reference.source} {a[0]}x{a[1]}: "
            "expected one size; nothing is resized, so bring one to the other's size by a scaler "
            "that you name in your protocol",
            code="size_mismatch",
            reference=a,
            candidate=b,
        )


def measure_pair(
    reference: Any,
    candidate: Any,
    *,
    metrics: Sequence[str] = ("psnr",),
    pairs: Pairs = "index",
    border: Border = "valid",
    threads: int | None = None,
    device: str = "cpu",
    **open_options: Any,
) -> PairFacts:
    """Measure a clip against its reference, and how their frames go together.

    Args:
        reference: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`~screentest.media.open_clip` opens.
        candidate: the same.
        metrics: names of :data:`PAIRED_METRICS`.
        pairs: ``"index"`` compares frame i with frame i up to the shorter clip's end;
            ``"timestamps"`` each candidate frame with the reference frame shown at its time, both
            counted from the first frame; an (N, 2) array of indices, ascending in both columns,
            says it outright. Both clips are read to their ends in any case.
        border: of ``ssim`` and ``ssim_y``; see :func:`~screentest.metrics.fidelity.ssim`.
        threads: compute budget of decoders and kernels together.
        device: where the learned metrics run.
        **open_options: passed to :func:`~screentest.media.open_clip` for both.

    Raises:
        ProtocolError: the sizes differ.
        MediaError: a clip cannot be read, or holds values that it cannot have.
        InputError: a metric is unknown, or an argument is wrong.
    """
    wanted = check_metrics(metrics)
    budget = compute.threads(threads)
    with ExitStack() as stack:
        clips = a, b = open_both(reference, candidate, stack, threads=budget, **open_options)
        check_sizes(a.info, b.info)
        run = stack.enter_context(_Run(a, b, wanted, border=border, threads=budget, device=device))
        pairing = PairingAccumulator(a, b)
        read: tuple[list[int], list[int]] = ([], [])
        if isinstance(pairs, str) and pairs == "index":
            for left, right in _in_step(a, b, read, ahead=budget > 1):
                pairing.push(left, right)
                if left is not None and right is not None:
                    run.push(left, right)
        else:
            chosen = pairs_by_time(a, b) if isinstance(pairs, str) else _checked(pairs, a, b)
            for left, right in _in_step(a, b, read, ahead=budget > 1):
                pairing.push(left, right)
            for left, right in _chosen(a, b, chosen):
                run.push(left, right)
        found = run.finish()
        return PairFacts(
            reference=a.info,
            candidate=b.info,
            pairing=pairing.finish(),
            pairs=found.frames,
            scores=found.scores,
            series=found.series,
            read=(np.array(read[0], dtype=np.int64), np.array(read[1], dtype=np.int64)),
            damage={side: list(clip.damage) for side, clip in zip(_SIDES, clips, strict=True)},
        )


class _Run:
    """The metrics of one comparison: the kernels' and the instruments'."""

    def __init__(
        self,
        reference: Clip,
        candidate: Clip,
        metrics: Sequence[str],
        *,
        border: Border,
        threads: int,
        device: str,
    ) -> None:
        infos = (reference.info, candidate.info)
        self._metrics = metrics
        self._domain = "+".join(sorted({info.luma_domain for info in infos}))
        ours = [name for name in metrics if name in FIDELITY]
        self._refused = {
            name: reason for name in ours if (reason := _not_comparable(name, *infos)) is not None
        }
        asked = [name for name in ours if name not in self._refused]
        # Frames side by side rather than the parts of a frame: nobody waits for a part while the
        # decoders have the CPUs. A single image has its parts alone.
        frames = min(reference.info.frames or 1, candidate.info.frames or 1)
        # What needs no window is done sooner than it is handed over.
        windowed = any("ssim" in name for name in asked)
        self._workers = min(threads, frames) if windowed else 1
        self._pairs = FidelityAccumulator(
            reference.format,
            candidate.format,
            asked,
            border=border,
            threads=threads if frames == 1 else 1,
        )
        self._pool = ThreadPoolExecutor(self._workers, "screentest-compare")
        self._ahead: deque[Future[MeasuredPair]] = deque()
        self._instruments: list[Instrument] = []
        self._missing: list[Score] = []
        others = [name for name in metrics if name in INSTRUMENT_NAMES]
        if others:
            from screentest.metrics.instruments import create

            self._instruments, self._missing = create(
                others,
                reference.info,
                reference.format,
                candidate.info,
                candidate.format,
                threads=threads,
                device=device,
            )

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for instrument in self._instruments:
            instrument.close()

    def push(self, reference: Frame, candidate: Frame) -> None:
        if self._workers > 1:
            self._ahead.append(self._pool.submit(self._pairs.measure, reference, candidate))
            if len(self._ahead) > self._workers:
                self._pairs.add(self._ahead.popleft().result())
        else:
            self._pairs.push(reference, candidate)
        for instrument in self._instruments:
            instrument.push(reference, candidate)

    def finish(self) -> FidelityFacts:
        while self._ahead:
            self._pairs.add(self._ahead.popleft().result())
        if not self._pairs.pairs:
            raise MediaError("no frame of one clip goes with one of the other", code="no_pairs")
        facts = self._pairs.finish()
        scores = [_with_domain(score, self._domain) for score in facts.scores]
        scores += [unmeasured_score(name, reason) for name, reason in self._refused.items()]
        scores += self._missing
        series = dict(facts.series)
        for instrument in self._instruments:
            found, values = instrument.finish()
            scores += found
            series.update(values)
        order = {name: i for i, name in enumerate(self._metrics)}
        scores.sort(key=lambda score: min((i for n, i in order.items() if _asks(n, score.name))))
        return FidelityFacts(tuple(scores), facts.frames, series)


def _asks(request: str, score: str) -> bool:
    """Whether a request gives a score of this name: ``psnr_y`` gives ``psnr_y_worst``."""
    if request in FIDELITY:
        return score in (request, f"{request}_pooled", f"{request}_worst")
    return score == request or (request == "xpsnr" and score.startswith("xpsnr_"))


def _with_domain(score: Score, domain: str) -> Score:
    """RGB metrics of decoder planes and of RGB arrays agree only within a tolerance."""
    base = next((m for name, m in FIDELITY.items() if _asks(name, score.name)), None)
    if base is None or base.domain == "planes" or score.state == "unmeasured":
        return score
    return _replaced(score, details={"from": domain, **score.details})


def _replaced(score: Score, **changes: Any) -> Score:
    import msgspec

    return msgspec.structs.replace(score, **changes)


def _not_comparable(name: str, reference: ClipInfo, candidate: ClipInfo) -> str | None:
    """Why the pictures of two clips have no common scale for an RGB or luma metric."""
    if FIDELITY[name].domain == "planes":
        return None
    hdr = {clip.hdr for clip in (reference, candidate)}
    if hdr - {None}:
        kinds = " and ".join(sorted(str(kind).upper() for kind in hdr if kind))
        return f"{kinds} picture: {name} is defined on SDR; the native plane metrics compare codes"
    alpha = {clip.alpha for clip in (reference, candidate)}
    if "transparent" in alpha:
        return "partly transparent: what is seen depends on what lies behind; say alpha= to choose"
    return None


def open_both(
    reference: Any, candidate: Any, stack: ExitStack, *, threads: int, **options: Any
) -> tuple[Clip, Clip]:
    """Both clips, opened side by side within one budget; ``stack`` closes what was opened here.

    Raises what :func:`~screentest.media.open_clip` raises, of the reference first.
    """
    # Two decoders run at once.
    options["threads"] = max(1, threads // 2)

    def opened(source: Any) -> Clip:
        return open_clip(source, **options)

    if threads == 1 or isinstance(reference, Clip) or isinstance(candidate, Clip):
        first, second = (
            source if isinstance(source, Clip) else stack.enter_context(opened(source))
            for source in (reference, candidate)
        )
        return first, second
    with ThreadPoolExecutor(1, "screentest-open") as other:
        waiting = other.submit(opened, candidate)
        try:
            first = opened(reference)
        finally:
            if waiting.exception() is None:
                stack.enter_context(waiting.result())
        return stack.enter_context(first), waiting.result()


def _in_step(
    reference: Clip, candidate: Clip, read: tuple[list[int], list[int]], *, ahead: bool
) -> Iterator[tuple[Frame | None, Frame | None]]:
    """Frames of equal display index side by side; ``None`` where a clip lacks one. What was read of
    each goes to ``read``."""
    clips = (reference, candidate)
    sources = [
        _noted(clip.frames(ahead=ahead), seen) for clip, seen in zip(clips, read, strict=True)
    ]
    left, right = (next(source, None) for source in sources)
    while left is not None or right is not None:
        if right is None or (left is not None and left.index < right.index):
            yield left, None
            left = next(sources[0], None)
        elif left is None or right.index < left.index:
            yield None, right
            right = next(sources[1], None)
        else:
            yield left, right
            left, right = (next(source, None) for source in sources)


def _noted(frames: Iterator[Frame], seen: list[int]) -> Iterator[Frame]:
    for frame in frames:
        seen.append(frame.index)
        yield frame


def _chosen(reference: Clip, candidate: Clip, pairs: Indices) -> Iterator[tuple[Frame, Frame]]:
    """The frames of these pairs, in order; a frame may go with several of the other clip."""
    sources = [
        clip.frames_at(np.unique(pairs[:, i]).tolist())
        for i, clip in enumerate((reference, candidate))
    ]
    held: list[Frame | None] = [None, None]
    for pair in pairs.tolist():
        for i, index in enumerate(pair):
            frame = held[i]
            while frame is None or frame.index < index:
                frame = next(sources[i], None)
                if frame is None:
                    return
            held[i] = frame
        left, right = held
        if left is not None and right is not None and [left.index, right.index] == pair:
            yield left, right


def _checked(pairs: Any, reference: Clip, candidate: Clip) -> Indices:
    chosen = np.asarray(pairs, dtype=np.int64)
    if chosen.ndim != 2 or chosen.shape[1] != 2 or not len(chosen):
        raise InputError(
            f"pairs of shape {chosen.shape}: expected (N, 2), reference and candidate index",
            code="bad_pairs",
        )
    counts = [clip.info.frames or 0 for clip in (reference, candidate)]
    if (np.diff(chosen, axis=0) < 0).any() or chosen.min() < 0 or (chosen.max(0) >= counts).any():
        raise InputError(
            f"pairs must ascend and stay below {counts[0]} reference and {counts[1]} candidate "
            "frames",
            code="bad_pairs",
        )
    return chosen


def pairs_by_time(reference: Clip, candidate: Clip) -> Indices:
    """Each candidate frame with the reference frame nearest in time, within half of its duration.

    Times count from each clip's first frame: a container that starts late shifts nothing.

    Raises:
        InputError: a clip has no time stamps, or no frames go together.
    """
    times = []
    for side, clip in zip(_SIDES, (reference, candidate), strict=True):
        if clip.times_s is None:
            raise InputError(
                f"the {side} has no time stamps: align by index, or say frame_rate=",
                code="no_time_stamps",
                side=side,
            )
        times.append(clip.times_s - clip.times_s[0])
    ours, theirs = times
    after = np.clip(np.searchsorted(ours, theirs), 1, max(1, len(ours) - 1))
    if len(ours) == 1:
        nearest = np.zeros(len(theirs), dtype=np.int64)
    else:
        later = np.abs(ours[after] - theirs) < np.abs(theirs - ours[after - 1])
        nearest = np.where(later, after, after - 1)
    lasting = reference.durations_s
    assert lasting is not None
    # A microsecond of grace: stamps are rounded to their clocks.
    near = np.abs(ours[nearest] - theirs) <= lasting[nearest] / 2 + 1e-6
    pairs: Indices = np.stack([nearest, np.arange(len(theirs))], axis=1)[near].astype(np.int64)
    if not len(pairs):
        raise InputError("no frames of the two clips are shown at one time", code="no_pairs")
    return pairs

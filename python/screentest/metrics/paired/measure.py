"""Every paired metric of two clips: decoded once, in step, each frame handed to all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from screentest import compute
from screentest.errors import InputError
from screentest.media.clip import Clip, Frame
from screentest.metrics.fidelity import Border
from screentest.metrics.paired.facts import PairFacts
from screentest.metrics.paired.frames import (
    SIDES,
    Indices,
    Pairs,
    check_sizes,
    checked_pairs,
    chosen_pairs,
    in_step,
    open_both,
    pairs_by_time,
)
from screentest.metrics.paired.requests import check_metrics
from screentest.metrics.paired.run import Run
from screentest.metrics.pairing import PairingAccumulator, PairingFacts

__all__ = ["measure_pair"]


def measure_pair(
    reference: Any,
    candidate: Any,
    *,
    metrics: Sequence[str] = ("psnr",),
    pairs: Pairs = "index",
    known: PairFacts | None = None,
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
            ``"timestamps"`` each candidate frame as :func:`pairs_by_time` pairs it; an (N, 2) array
            of indices, ascending in both columns, says it outright. Both clips are read to their
            ends in any case.
        known: what an earlier call found of these open clips: with ``pairs`` said outright, their
            pairing is taken from it and not measured again.
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
        chosen: Indices | None = None
        if not isinstance(pairs, str):
            chosen = checked_pairs(pairs, a, b)
        elif pairs != "index":
            chosen = pairs_by_time(a, b)
        run = stack.enter_context(
            Run(
                a,
                b,
                wanted,
                pairs=_shorter(a, b) if chosen is None else len(chosen),
                border=border,
                threads=budget,
                device=device,
            )
        )
        if chosen is None:
            pairing, read = _pairing_of(a, b, budget, run.push)
        else:
            if known is None:
                pairing, read = _pairing_of(a, b, budget)
            else:
                pairing, read = known.pairing, known.read
            for left, right in chosen_pairs(a, b, chosen):
                run.push(left, right)
        found = run.finish()
        return PairFacts(
            reference=a.info,
            candidate=b.info,
            pairing=pairing,
            pairs=found.frames,
            scores=found.scores,
            series=found.series,
            read=read,
            damage={side: list(clip.damage) for side, clip in zip(SIDES, clips, strict=True)},
        )


def _shorter(reference: Clip, candidate: Clip) -> int | None:
    """How many frames go together by index, where both lengths are known."""
    counts = reference.info.frames, candidate.info.frames
    return None if counts[0] is None or counts[1] is None else min(counts[0], counts[1])


def _pairing_of(
    reference: Clip,
    candidate: Clip,
    budget: int,
    each: Callable[[Frame, Frame], None] | None = None,
) -> tuple[PairingFacts, tuple[Indices, Indices]]:
    """How the frames of two clips go together, and the indices of those that could be read of each.
    ``each`` is given every pair of one index on the way."""
    pairing = _Pairing(reference, candidate)
    read: tuple[list[int], list[int]] = ([], [])
    for left, right in in_step(reference, candidate, read, ahead=budget > 1):
        pairing.push(left, right)
        if each is not None and left is not None and right is not None:
            each(left, right)
    first, second = (np.array(indices, dtype=np.int64) for indices in read)
    return pairing.finish(), (first, second)


class _Pairing:
    """The pairing of two clips of which either may lack frames in the middle."""

    def __init__(self, reference: Clip, candidate: Clip) -> None:
        self._pairing = PairingAccumulator(reference, candidate)
        self._frames = [0, 0]
        self._lost = False

    def push(self, reference: Frame | None, candidate: Frame | None) -> None:
        for side, frame in enumerate((reference, candidate)):
            self._frames[side] += frame is not None
        if self._lost:
            return
        try:
            self._pairing.push(reference, candidate)
        except InputError as error:
            if error.code != "out_of_step":
                raise
            self._lost = True

    def finish(self) -> PairingFacts:
        """What was found; where more frames are missing in one piece than a shift is searched over,
        the counts alone."""
        found = self._pairing.finish()
        if not self._lost:
            return found
        return PairingFacts(
            frames_reference=self._frames[0],
            frames_candidate=self._frames[1],
            differences=found.differences,
        )

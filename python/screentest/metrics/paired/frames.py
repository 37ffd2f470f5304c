"""Two clips opened together, and their frames in pairs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest.errors import InputError, ProtocolError
from screentest.media import open_clip
from screentest.media.clip import Clip, Frame
from screentest.media.info import ClipInfo

__all__ = [
    "SIDES",
    "Indices",
    "Pairs",
    "check_sizes",
    "checked_pairs",
    "chosen_pairs",
    "in_step",
    "open_both",
    "pairs_by_time",
]

Indices: TypeAlias = NDArray[np.int64]
Pairs: TypeAlias = "Literal['index', 'timestamps'] | Indices"
SIDES = ("reference", "candidate")

_TIE_S = 1e-6
"""Finer than the clock of any container, coarser than the rounding of a float."""


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


def in_step(
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


def chosen_pairs(reference: Clip, candidate: Clip, pairs: Indices) -> Iterator[tuple[Frame, Frame]]:
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


def checked_pairs(pairs: Any, reference: Clip, candidate: Clip) -> Indices:
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
    """Each candidate frame with the reference frame that is shown when it appears.

    Times count from each clip's first frame: a container that starts late shifts nothing. A
    reference frame that appears up to half a frame later counts as there: clocks round, and half
    of the candidate's frame or of the reference's usual one, whichever is shorter, decides. What
    appears after the reference's end has no partner.

    Raises:
        InputError: a clip has no time stamps, or no frames go together.
    """
    starts, lasting = [], []
    for side, clip in zip(SIDES, (reference, candidate), strict=True):
        if clip.times_s is None or clip.durations_s is None:
            raise InputError(
                f"the {side} has no time stamps: align by index, or say frame_rate=",
                code="no_time_stamps",
                side=side,
            )
        starts.append(clip.times_s - clip.times_s[0])
        lasting.append(clip.durations_s)
    ours, theirs = starts
    at = theirs + np.minimum(lasting[1], np.median(lasting[0])) / 2
    # A tie goes to the frame before, whatever the last bit of a stamp says.
    at -= _TIE_S
    shown = np.maximum(np.searchsorted(ours, at, side="right") - 1, 0)
    there = at < ours[shown] + lasting[0][shown]
    pairs: Indices = np.stack([shown, np.arange(len(theirs))], axis=1)[there].astype(np.int64)
    if not len(pairs):
        raise InputError("no frames of the two clips are shown at one time", code="no_pairs")
    return pairs

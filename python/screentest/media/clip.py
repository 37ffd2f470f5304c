"""What every opened clip offers, whatever it was opened from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from screentest.errors import InputError
from screentest.media.info import ClipInfo, Damage

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.timing import Timing

__all__ = ["Array", "Clip", "Frame", "check_indices"]

Array = np.ndarray[Any, Any]


@dataclass(slots=True)
class Frame:
    """One picture in display order.

    ``planes`` are read-only views of the decoder's memory (or of the caller's array), laid out as
    the clip's ``format`` says; they stay valid for as long as they are referenced. ``index`` is the
    display index in the clip: where a damaged file lost frames, the indices have a gap. ``time_s``
    is the presentation time, ``None`` if the source has no time stamps.
    """

    index: int
    time_s: float | None
    planes: tuple[Array, ...]
    corrupt: bool = False


class Clip(ABC):
    """An opened clip: ``info`` is complete, no frame has been kept. Use it as a context manager.

    ``format`` describes the planes of each frame to the kernels. ``array`` is the whole clip as one
    ``(T, H, W, 3)`` or ``(T, H, W)`` view where it is one block of memory of a dtype that the
    kernels take, else ``None``.
    """

    info: ClipInfo
    format: FrameFormat
    timing: Timing
    array: Array | None = None

    @abstractmethod
    def frames(self, *, ahead: bool = True) -> Iterator[Frame]:
        """Every frame once, in display order. Each call starts again from the first frame.

        What must be decoded is decoded ahead, on a thread of its own. ``ahead=False`` decodes each
        frame when it is asked for, on the caller's thread: for callers whose other threads keep the
        CPUs busy.
        """

    @abstractmethod
    def frames_at(self, indices: Sequence[int]) -> Iterator[Frame]:
        """Exactly the frames of these display indices, ascending; seeks where the source can.

        Raises:
            InputError: the indices are not strictly ascending, or one lies outside the clip.
        """

    @property
    def damage(self) -> list[Damage]:
        """Damage known so far; complete once ``frames()`` has been read to its end."""
        return []

    @property
    def times_s(self) -> Array | None:
        """Presentation time of each frame (float64), or ``None`` if there are no time stamps."""
        return self.timing.times_s

    @property
    def durations_s(self) -> Array | None:
        """How long each frame is shown (float64), or ``None`` if there are no time stamps."""
        return self.timing.durations_s

    def close(self) -> None:  # noqa: B027 - most clips hold nothing to give up
        """Give up the source. Frames already handed out stay valid."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def check_indices(indices: Sequence[int], count: int) -> list[int]:
    """The indices as ints, refused unless strictly ascending and inside ``[0, count)``."""
    wanted = [int(i) for i in indices]
    for before, after in pairwise(wanted):
        if after <= before:
            raise InputError(
                f"frame indices must ascend strictly; {after} follows {before}",
                code="bad_indices",
            )
    if wanted and (wanted[0] < 0 or wanted[-1] >= count):
        bad = wanted[0] if wanted[0] < 0 else wanted[-1]
        raise InputError(
            f"frame {bad} does not exist: the clip has frames 0 to {count - 1}",
            code="bad_indices",
            index=bad,
            frames=count,
        )
    return wanted

"""The samples of a frame as plain planes, and where those of two clips are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.media.clip import Array, Frame

if TYPE_CHECKING:
    from screentest._native import FrameFormat

__all__ = ["Sameness", "codes", "same_coding"]


def codes(frame: Frame, format: FrameFormat) -> tuple[Array, ...]:
    """One ``(H, W)`` array per channel (R G B, Y Cb Cr or grey), integers shifted down to their
    significant bits; views wherever nothing has to be moved.

    >>> import numpy as np
    >>> from screentest._native import FrameFormat
    >>> p010 = FrameFormat.yuv(width=2, height=1, bit_depth=10, shift=6, kr=0.299, kb=0.114,
    ...                        limited=True, chroma_shift=(0, 0))
    >>> frame = Frame(0, None, (np.array([[64, 1024]], np.uint16),) * 3)
    >>> codes(frame, p010)[0].tolist()
    [[1, 16]]
    """
    planes = frame.planes
    if format.model == "rgb" and len(planes) == 1:
        planes = tuple(planes[0][..., channel] for channel in range(3))
    if format.shift:
        planes = tuple(plane >> format.shift for plane in planes)
    return planes


def same_coding(reference: FrameFormat, candidate: FrameFormat, *, colour: bool) -> bool:
    """Whether equal codes of the two mean equal samples. ``colour``: also the same colour, which
    takes the same range and matrix."""

    def key(format: FrameFormat) -> tuple[object, ...]:
        sampling = (format.model, format.bit_depth, format.value_range, format.chroma_shift)
        return (*sampling, format.limited, format.weights) if colour else sampling

    return key(reference) == key(candidate)


class Sameness:
    """Which pairs of frames are equal, channel by channel; ``frames`` counts the pairs seen.

    ``comparable`` is false where the two clips' samples are coded differently: then none is equal.
    """

    def __init__(self, comparable: bool) -> None:
        self.frames = 0
        self._comparable = comparable
        self._equal: list[int] = []
        self._whole = 0

    def push(self, reference: tuple[Array, ...], candidate: tuple[Array, ...]) -> bool:
        """Counts a pair of frames' :func:`codes`; true if every channel is equal."""
        equal = [
            self._comparable and np.array_equal(a, b)
            for a, b in zip(reference, candidate, strict=False)
        ]
        self._equal = self._equal or [0] * len(equal)
        self._equal = [n + same for n, same in zip(self._equal, equal, strict=True)]
        self.frames += 1
        self._whole += all(equal)
        return all(equal)

    @property
    def identical_frames(self) -> int:
        """Pairs that are equal in every channel."""
        return self._whole

    @property
    def identical(self) -> bool:
        """Whether there was a pair, and every pair is equal in every channel."""
        return self.frames > 0 and self._whole == self.frames

    def channel(self, index: int) -> int:
        """Pairs that are equal in one channel."""
        return self._equal[index] if index < len(self._equal) else 0

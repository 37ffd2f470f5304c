"""A clip seen through a window: a part of every picture, as views of its planes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from screentest.errors import InputError
from screentest.media.clip import Array, Clip, Frame
from screentest.media.images import ImagesClip
from screentest.media.info import Damage
from screentest.media.video import VideoClip

__all__ = ["WindowClip"]


class WindowClip(Clip):
    """The rectangle (x, y, width, height) of a file's pictures.

    Where the corner lies on a chroma sample, the planes are views and the pixel format stays.
    Elsewhere chroma is repeated to the size of luma first, which changes no picture that is shown,
    and makes the clip 4:4:4. The clip stays the caller's to close.

    Raises :class:`~screentest.errors.InputError` for a rectangle that is empty or leaves the
    picture, and for a clip that was not opened from a file.
    """

    def __init__(self, clip: Clip, window: tuple[int, int, int, int]) -> None:
        if not isinstance(clip, VideoClip | ImagesClip):
            raise InputError("a window is for a clip that was opened from a file")
        x, y, width, height = window
        info = clip.info
        if min(x, y) < 0 or min(width, height) < 1 or x + width > info.width or (
            y + height > info.height
        ):  # fmt: skip
            raise InputError(
                f"window x={x} y={y} {width}x{height}: not a part of a picture of "
                f"{info.width}x{info.height}",
                code="bad_window",
            )
        self._clip = clip
        self._window = window
        plan = clip._plan
        shift_x, shift_y = plan.layout.chroma_shift if plan.layout.kind == "yuv" else (0, 0)
        self._repeat = bool(x % (1 << shift_x) or y % (1 << shift_y))
        self._shift = (shift_x, shift_y)
        if self._repeat:
            plan = replace(plan, layout=replace(plan.layout, chroma_shift=(0, 0)))
        assert info.colour is not None
        self.format = plan.frame_format(width, height, info.colour)
        self.timing = clip.timing
        self.info = msgspec.structs.replace(
            info,
            width=width,
            height=height,
            conversion="chroma repeated to 4:4:4" if self._repeat else info.conversion,
        )

    def frames(self, *, ahead: bool = True) -> Iterator[Frame]:
        """Every frame's part, in display order."""
        return map(self._part, self._clip.frames(ahead=ahead))

    def frames_at(self, indices: Sequence[int]) -> Iterator[Frame]:
        """The part of exactly these frames."""
        return map(self._part, self._clip.frames_at(indices))

    @property
    def damage(self) -> list[Damage]:
        """Damage of the whole clip."""
        return self._clip.damage

    def _part(self, frame: Frame) -> Frame:
        first, *others = frame.planes
        planes = (_cut(first, self._window), *map(self._other, others))
        return Frame(frame.index, frame.time_s, planes, frame.corrupt)

    def _other(self, plane: Array) -> Array:
        x, y, width, height = self._window
        shift_x, shift_y = self._shift
        if self._repeat:
            left, top = x >> shift_x, y >> shift_y
            part = plane[top : -(-(y + height) >> shift_y), left : -(-(x + width) >> shift_x)]
            part = np.repeat(np.repeat(part, 1 << shift_y, axis=0), 1 << shift_x, axis=1)
            whole = _cut(part, (x - (left << shift_x), y - (top << shift_y), width, height))
            whole = np.ascontiguousarray(whole)
            whole.flags.writeable = False
            return whole
        size = (-(-width >> shift_x), -(-height >> shift_y))
        return _cut(plane, (x >> shift_x, y >> shift_y, *size))


def _cut(plane: Array, window: tuple[int, int, int, int]) -> Array:
    x, y, width, height = window
    return plane[y : y + height, x : x + width]

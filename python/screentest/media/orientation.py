"""The display matrix of a container, applied as views: quarter turns and mirrors, no copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.media.clip import Array

if TYPE_CHECKING:
    from av import VideoFrame

__all__ = ["Orientation", "orientation_of"]


@dataclass(frozen=True, slots=True)
class Orientation:
    """Transpose first, then flip: together all eight ways a picture can lie on its sides."""

    transpose: bool = False
    flip_y: bool = False
    flip_x: bool = False
    free: bool = False

    @property
    def is_identity(self) -> bool:
        """True when pictures are shown as they are coded."""
        return not (self.transpose or self.flip_y or self.flip_x)

    @property
    def mirrored(self) -> bool:
        """True when the picture is seen as in a mirror."""
        return (self.transpose + self.flip_y + self.flip_x) % 2 == 1

    @property
    def clockwise_degrees(self) -> int:
        """The clockwise turn, applied after mirroring left to right where ``mirrored``."""
        if self.transpose:
            return 90 if self.flip_x else 270
        return 180 if self.flip_y else 0

    @property
    def flips_source_x(self) -> bool:
        """True when the coded columns are read from the last to the first."""
        return self.flip_y if self.transpose else self.flip_x

    @property
    def flips_source_y(self) -> bool:
        """True when the coded rows are read from the last to the first."""
        return self.flip_x if self.transpose else self.flip_y

    def shown_size(self, width: int, height: int) -> tuple[int, int]:
        """(width, height) as shown, of a coded picture of that size."""
        return (height, width) if self.transpose else (width, height)

    def apply(self, plane: Array) -> Array:
        """The plane as shown: ``(H, W)`` or ``(H, W, 3)``, a view."""
        if self.transpose:
            plane = plane.swapaxes(0, 1)
        rows = slice(None, None, -1 if self.flip_y else 1)
        columns = slice(None, None, -1 if self.flip_x else 1)
        return plane[rows, columns]


_TURNS = {
    0: Orientation(),
    90: Orientation(transpose=True, flip_x=True),
    180: Orientation(flip_y=True, flip_x=True),
    270: Orientation(transpose=True, flip_y=True),
}


def orientation_of(frame: VideoFrame) -> Orientation:
    """How the frame's display matrix wants it shown; the identity if it has none.

    The matrix ``[a b u; c d v; x y w]`` (ISO/IEC 14496-12, 16.16 fixed point) sends the point
    (x, y) to (a x + c y, b x + d y), y pointing down.
    """
    try:
        matrix = _display_matrix(frame)
    except ValueError:
        # PyAV 18 has no name for EXIF side data and then lists none at all. It still tells the
        # angle (counter-clockwise), though not whether the picture is mirrored.
        return _TURNS.get(-frame.rotation % 360, Orientation(free=True))
    if matrix is None:
        return Orientation()
    a, b, c, d = (int(matrix[i]) for i in (0, 1, 3, 4))
    # A scaling display matrix is rare and says nothing about the turn, so signs alone are read.
    if b == 0 and c == 0 and a != 0 and d != 0:
        return Orientation(flip_x=a < 0, flip_y=d < 0)
    if a == 0 and d == 0 and b != 0 and c != 0:
        return Orientation(transpose=True, flip_x=c < 0, flip_y=b < 0)
    return Orientation(free=True)


def _display_matrix(frame: VideoFrame) -> Array | None:
    data: Any = _tiny(frame).side_data.get("DISPLAYMATRIX")
    raw = b"" if data is None else bytes(data)
    return np.frombuffer(raw, dtype="<i4") if len(raw) == 36 else None


def _tiny(frame: VideoFrame) -> VideoFrame:
    """A picture of four pixels with the same side data.

    A frame and PyAV's list of its side data hold each other until the garbage collector comes by,
    and a frame holds the decoder's whole pool of pictures. A batch of many files grew by that.
    """
    from av.error import FFmpegError
    from av.video.reformatter import Interpolation

    try:
        return frame.reformat(2, 2, "gray", interpolation=Interpolation.POINT)
    except (FFmpegError, ValueError, NotImplementedError):
        return frame

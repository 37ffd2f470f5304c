"""Values outside the range that a clip is said to have: refused, with the words that would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest import _native
from screentest.errors import MediaError

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Array, Frame

__all__ = ["SampleCheck", "out_of_range", "refuse_samples", "refuse_unlikely_range"]

Extremes = tuple[float, float] | None


class SampleCheck:
    """The samples of a clip's frames as they come: finite, and in the range they are said to have.

    ``take`` is given each frame with what a kernel's scan of it found.
    """

    def __init__(self, format: FrameFormat) -> None:
        self._format = format
        self._extremes: Extremes = None
        self._last: Sequence[Array] | None = None

    def take(self, frame: Frame, scan: tuple[int, int, Extremes]) -> None:
        """Notes one frame.

        Raises:
            MediaError: a sample is NaN or infinite, or leaves its range.
        """
        bad, outside, extremes = scan
        if bad:
            raise MediaError(
                f"frame {frame.index} holds {bad} NaN or infinite sample{'s' * (bad > 1)}: "
                "this measurement needs finite values; screen the clip to see where they begin",
                code="non_finite_samples",
                frame=frame.index,
                samples=bad,
            )
        if outside:
            raise out_of_range(self._format, extremes, frame.index)
        if extremes is not None:
            # Of the last frame alone, and only where a caller may have to be told of it.
            self._last = [plane.copy() for plane in frame.planes] if self._wide else None
            low, high = self._extremes or extremes
            self._extremes = (min(low, extremes[0]), max(high, extremes[1]))

    @property
    def _wide(self) -> bool:
        said = self._format.value_range
        return said is not None and said[1] - said[0] > 2

    def finish(self) -> None:
        """Refuses a clip whose values contradict the range that was said."""
        refuse_unlikely_range(self._format, self._extremes, self._last)


def out_of_range(
    format: FrameFormat, extremes: Extremes, index: int, *, of: str = ""
) -> MediaError:
    """The error for frame ``index`` (``of`` which clip), whose values leave their range."""
    low, high = extremes or (0.0, 0.0)
    frame = f"{of} frame {index}".strip()
    if format.value_range is None:
        return MediaError(
            f"{frame} holds the value {high:.0f}, more than its bit depth allows: "
            "say the true bit_depth=",
            code="value_out_of_range",
            frame=index,
            largest=high,
        )
    said_low, said_high = format.value_range
    return MediaError(
        f"{frame} holds values from {low:.4g} to {high:.4g}, expected [{said_low:g}, "
        f"{said_high:g}]: say the range they are in with value_range=(low, high)",
        code="value_out_of_range",
        frame=index,
        smallest=low,
        largest=high,
        value_range=(said_low, said_high),
    )


def refuse_samples(format: FrameFormat, frames: Sequence[Frame]) -> None:
    """Raises for the first of some frames whose samples mean nothing, by its display index.

    A kernel that takes frames side by side knows no more than that one of them does.
    """
    for frame in frames:
        non_finite, outside, extremes = _native.scan_samples(format, frame.planes)
        if non_finite:
            raise MediaError(
                f"frame {frame.index} holds NaN or infinite samples: this measurement needs finite "
                "values; the integrity family counts and places them",
                code="non_finite",
                frame=frame.index,
            )
        if outside:
            raise out_of_range(format, extremes, frame.index)


def refuse_unlikely_range(
    format: FrameFormat, extremes: Extremes, last: Sequence[Array] | None, *, of: str = ""
) -> None:
    """Refuses [0, 1] pictures that are said to span hundreds: they would all measure as black.

    ``extremes`` are those of the whole clip, ``last`` the planes of one of its frames.
    """
    if format.value_range is None or extremes is None or last is None:
        return
    low, high = format.value_range
    if high - low <= 2 or extremes[0] < 0 or not 0 < extremes[1] <= 1:
        return
    fractional = any(bool(np.any(plane != np.floor(plane))) for plane in last)
    if fractional:
        whose = f"{of}: " if of else ""
        raise MediaError(
            f"{whose}all values lie in [{extremes[0]:.4g}, {extremes[1]:.4g}] but value_range="
            f"({low:g}, {high:g}) was said: say value_range=(0, 1) if white is 1",
            code="value_range_unlikely",
            smallest=extremes[0],
            largest=extremes[1],
            value_range=(low, high),
        )

"""Screening of frames as a generator makes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from screentest import compute
from screentest.errors import InputError, MediaError, ScreentestError
from screentest.screening.request import asked_for
from screentest.screening.result import Screening, judged
from screentest.verdicts.delivery import DeliveryLike
from screentest.verdicts.policy import PolicyLike

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame
    from screentest.media.info import ClipInfo
    from screentest.metrics.integrity import IntegrityAccumulator
    from screentest.metrics.temporal import TemporalAccumulator
    from screentest.verdicts.temporal_policy import TemporalPolicyLike

__all__ = ["Screener"]


class Screener:
    """Screens frames as a generator makes them, in constant memory: push each, then finish.

    A frame is what one frame of :func:`screen` may be: ``(H, W, 3)`` or ``(H, W)``, uint8, uint16
    with ``bit_depth``, or float in [0, 1] unless ``value_range`` says otherwise; all of one size
    and type. A frame may be overwritten once the next has been pushed; where one buffer serves for
    all, the frames are copied.

    Give ``frames`` if the number is known: the calibrated axes then read exactly the pairs that
    they read of a file, and a generator that stops early is rejected as damaged. ``frame_rate``
    gives the defects their seconds. ``temporal`` adds the temporal screens, as in :func:`screen`.

    >>> import numpy as np
    >>> screener = Screener(frame_rate=24)
    >>> for _ in range(48):
    ...     screener.push(np.zeros((96, 128, 3), np.uint8))
    >>> screener.finish().defects[0].code
    'blank'
    """

    def __init__(
        self,
        *,
        frames: int | None = None,
        width: int | None = None,
        height: int | None = None,
        frame_rate: float | None = None,
        policy: PolicyLike = None,
        spec: DeliveryLike = None,
        require: Iterable[str] = (),
        temporal: bool = False,
        temporal_policy: TemporalPolicyLike = None,
        source: str = "<frames>",
        layout: str | None = None,
        value_range: tuple[float, float] | None = None,
        bit_depth: int | None = None,
        alpha: Any = None,
        threads: int | None = None,
    ) -> None:
        from screentest.media.open import is_rate

        self._asked = asked_for(policy, spec, "full", require, temporal, temporal_policy)
        self._threads = compute.threads(threads)
        for name, count in (("frames", frames), ("width", width), ("height", height)):
            if count is not None and (isinstance(count, bool) or count < 1):
                raise InputError(f"{name}={count!r}: a whole number of at least 1 was expected")
        if frame_rate is not None and not is_rate(frame_rate):
            raise InputError(f"frame_rate={frame_rate!r}: frames per second above 0 were expected")
        self._frames, self._frame_rate, self._source = frames, frame_rate, source
        self._size = (width, height)
        self._options = {
            "layout": layout,
            "value_range": value_range,
            "bit_depth": bit_depth,
            "alpha": alpha,
        }
        self._pushed = 0
        self._first: ClipInfo | None = None
        self._accumulator: IntegrityAccumulator | None = None
        self._temporal: TemporalAccumulator | ScreentestError | None = None
        self._finished = False

    @property
    def pushed(self) -> int:
        """Frames taken so far."""
        return self._pushed

    def push(self, frame: Any, *, time_s: float | None = None) -> None:
        """Take the next frame, shown at ``time_s`` (default: by its index and ``frame_rate``).

        Raises :class:`~screentest.errors.MediaError` for a frame that cannot be read as described
        or differs from the first in size or type, and :class:`~screentest.errors.InputError` for a
        frame too many or after :meth:`finish`.
        """
        from screentest.media import open_clip
        from screentest.media.clip import Frame

        if self._finished:
            raise InputError("the screener has finished; make a new one for the next clip")
        if self._frames is not None and self._pushed >= self._frames:
            raise InputError(f"frames={self._frames} was said, and this would be one more")
        options = {key: value for key, value in self._options.items() if value is not None}
        with open_clip(frame, **options) as clip:
            info = clip.info
            if info.frames != 1:
                raise MediaError(
                    f"push takes one frame at a time; this is {info.frames}", code="many_frames"
                )
            planes = next(iter(clip.frames())).planes
            accumulator = self._accumulator or self._begin(info, clip.format)
        self._check_like_the_first(info)
        if info.alpha == "transparent":
            # One frame that shows what lies behind it makes the clip one that does.
            self._first = info
        if time_s is None and self._frame_rate is not None:
            time_s = self._pushed / self._frame_rate
        pushed = Frame(self._pushed, time_s, planes)
        accumulator.push(pushed)
        self._push_temporal(pushed)
        self._pushed += 1

    def finish(self) -> Screening:
        """Judge what was pushed. Raises ``MediaError`` if that is nothing."""
        if self._accumulator is None or self._first is None:
            raise MediaError(f"{self._source}: no frames were pushed", code="no_frames")
        self._finished = True
        rate, count = self._frame_rate, self._pushed
        clip = msgspec.structs.replace(
            self._first,
            source=self._source,
            kind="array",
            frames=count if self._frames is None else self._frames,
            frame_rate=rate,
            constant_frame_rate=None if rate is None else True,
            duration_s=None if rate is None else count / rate,
        )
        facts, over_time = self._accumulator.finish(clip), self._temporal
        if over_time is None or isinstance(over_time, ScreentestError):
            return judged(facts, over_time, None, self._asked)
        return judged(facts, over_time.finish(clip), None, self._asked)

    def _push_temporal(self, frame: Frame) -> None:
        if self._temporal is None or isinstance(self._temporal, ScreentestError):
            return
        try:
            self._temporal.push_many([frame])
        except MediaError as error:
            if error.code != "non_finite":
                raise
            # The integrity screen counts such samples; over time they mean nothing.
            self._temporal = error

    def _begin(self, info: ClipInfo, format: FrameFormat) -> IntegrityAccumulator:
        from screentest.metrics.integrity import IntegrityAccumulator

        for name, wanted, has in (
            ("width", self._size[0], info.width),
            ("height", self._size[1], info.height),
        ):
            if wanted is not None and wanted != has:
                raise MediaError(f"frame 0 has {name} {has}, {name}={wanted} was said")
        self._first = info
        self._accumulator = IntegrityAccumulator(
            format, frames=self._frames, threads=self._threads, reused_buffers=True
        )
        if self._asked.temporal is not None:
            from screentest.metrics.family import Begin
            from screentest.metrics.temporal import TemporalAccumulator

            self._temporal = TemporalAccumulator(
                Begin(format=format, frames=self._frames, threads=self._threads)
            )
        return self._accumulator

    def _check_like_the_first(self, info: ClipInfo) -> None:
        first = self._first
        assert first is not None
        had = (first.width, first.height, first.pixel_format, first.bit_depth)
        has = (info.width, info.height, info.pixel_format, info.bit_depth)
        if has != had:
            raise MediaError(
                f"frame {self._pushed} is {info.width}x{info.height} {info.pixel_format}; the "
                f"first was {first.width}x{first.height} {first.pixel_format}",
                code="frames_differ",
            )

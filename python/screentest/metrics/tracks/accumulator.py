"""Tracks of frames as they come: the one way in which they are measured."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.media.clip import Array, Frame
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.ranges import refuse_samples, refuse_unlikely_range
from screentest.metrics.tracks.facts import TrackFacts, TrackWindow, Trajectories
from screentest.metrics.tracks.names import IMPL

__all__ = ["TrackAccumulator", "window_frames"]

_LEAST_FRAMES = 3


def window_frames(frames: int, windows: int) -> list[int]:
    """Display indices of all frames in the windows of a clip of so many frames, ascending."""
    length = _native.TRACK_WINDOW_LENGTH
    starts = _native.window_starts(frames, windows, length)
    return sorted({k for start in starts for k in range(start, min(start + length, frames))})


class TrackAccumulator:
    """Takes the frames of a clip's windows, in display order; others are passed over.

    Args:
        format: how the planes of every frame are read.
        frames: how many frames the clip has; the windows are spread over them.
        windows: windows at most, of 24 frames each.
        trajectories: whether the facts hold the tracks themselves.
        threads: threads of the kernels.

    Memory is nine pictures of the working size with their pyramids, and eight bytes per track and
    frame of a window, whatever the clip's length.

    Raises:
        MediaError: the clip has fewer than 3 frames (``code="too_few_frames"``).
        InputError: its length is not known (``frames_missing``), or ``windows`` is below 1.
    """

    def __init__(
        self,
        format: _native.FrameFormat,
        *,
        frames: int | None,
        windows: int = _native.TRACK_WINDOWS,
        trajectories: bool = False,
        threads: int = 1,
    ) -> None:
        if frames is None:
            raise InputError(
                "tracks are measured in windows spread over the clip: give frames=, how many it "
                "has",
                code="frames_missing",
            )
        if type(windows) is not int or windows < 1:
            raise InputError(
                f"windows={windows!r}: give a whole number of at least 1", code="bad_windows"
            )
        if frames < _LEAST_FRAMES:
            raise MediaError(
                f"a clip of {frames} frame{'' if frames == 1 else 's'}: tracks need at least "
                f"{_LEAST_FRAMES}",
                code="too_few_frames",
                frames=frames,
            )
        self._format = format
        self._trajectories = trajectories
        self._native = _native.TrackAccumulator(
            format, frames=frames, windows=windows, threads=threads, simd=compute.simd_level()
        )
        self._wanted = frozenset(window_frames(frames, windows))
        self._frames_read = 0
        self._last: tuple[Array, ...] | None = None

    def push(self, frame: Frame) -> None:
        """Takes one frame; see :meth:`push_many`."""
        self.push_many([frame])

    def push_many(self, frames: Sequence[Frame]) -> None:
        """Takes the next frames. How they are cut into calls changes no bit of the facts.

        Raises:
            MediaError: a sample is NaN or infinite (``code="non_finite"``), or lies outside the
                range that the samples are said to have; nothing is kept of any of the frames.
            InputError: the planes do not fit the format, or the frames do not ascend.
        """
        mine = [frame for frame in frames if frame.index in self._wanted]
        if not mine:
            return
        try:
            self._native.push_many([(frame.index, frame.planes) for frame in mine])
        except InputError as error:
            if error.code in ("non_finite", "out_of_range"):
                refuse_samples(self._format, mine)
            raise
        self._frames_read += len(mine)
        if self._format.value_range is not None:
            self._last = tuple(plane.copy() for plane in mine[-1].planes)

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> TrackFacts:
        """The facts of the frames taken; call it once, after the last.

        Raises:
            MediaError: there was none, or the values cannot have the range they are said to have.
        """
        if not self._frames_read:
            raise MediaError(f"{clip.source}: no frames to track in", code="no_frames")
        refuse_unlikely_range(self._format, self._native.value_extremes, self._last)
        found = self._native.finish(trajectories=self._trajectories)
        whole = [window for window in found if window["complete"]]
        tracked = [w for w in whole if w["seeded"] >= _native.TRACK_LEAST_TRACKS]
        seeded = sum(window["seeded"] for window in tracked)
        width, height = _native.working_size(self._format.width, self._format.height)
        stayed = seeded - sum(window["left"] for window in tracked)
        shaped = [window for window in tracked if window["coherent"] is not None]
        return TrackFacts(
            impl=IMPL,
            clip=clip,
            damage=tuple(damage),
            working_width=width,
            working_height=height,
            windows=tuple(_window(window) for window in whole),
            frames_read=self._frames_read,
            track_stability=sum(w["coherent"] for w in shaped) / seeded if seeded else None,
            stability_inside=sum(w["coherent"] for w in shaped) / stayed if stayed else None,
            track_survival=sum(w["alive"] for w in tracked) / seeded if seeded else None,
            track_jitter=_median(shaped, "jitter"),
            track_rigidity_error=_median(shaped, "rigidity_error"),
            motion_magnitude=_median(shaped, "motion"),
            trajectories=tuple(map(_paths, whole)) if self._trajectories else None,
            unmeasured=_gaps(found, whole, tracked, shaped),
        )


def _median(windows: Sequence[dict[str, Any]], name: str) -> float | None:
    return statistics.median(window[name] for window in windows) if windows else None


def _window(window: dict[str, Any]) -> TrackWindow:
    counts = ("start", "frames", "seeded", "alive", "left")
    shape = ("coherent", "jitter", "rigidity_error", "motion")
    return TrackWindow(
        **{name: window[name] for name in (*counts, *shape)},
        brightness=tuple(window["brightness"]),
    )


def _paths(window: dict[str, Any]) -> Trajectories:
    return Trajectories(
        start=window["start"],
        positions=window["positions"],
        alive_frames=window["alive_frames"],
        left_picture=window["left_picture"],
        coherence=window["coherence"],
        jitter=window["track_jitter"],
        rigidity=window["track_rigidity"],
    )


def _gaps(
    found: Sequence[dict[str, Any]],
    whole: Sequence[dict[str, Any]],
    tracked: Sequence[dict[str, Any]],
    shaped: Sequence[dict[str, Any]],
) -> tuple[Unmeasured, ...]:
    """What has no value, and why."""
    gaps = []
    least = _native.TRACK_LEAST_TRACKS
    shapes = ("track_jitter", "track_rigidity_error", "motion_magnitude")
    if not whole:
        reason = "no window of frames could be read whole"
    elif not tracked:
        reason = f"no window shows {least} corners: the picture is flat or too small"
    else:
        reason = f"in no window {least} tracks live to the end"
    if not tracked:
        gaps += [Unmeasured(name, reason) for name in ("track_stability", "track_survival")]
    if not shaped:
        gaps += [Unmeasured(name, reason) for name in shapes]
    for window in found:
        if not window["complete"]:
            last = window["start"] + window["frames"] - 1
            gaps.append(
                Unmeasured(
                    f"window {window['start']}",
                    f"not all of its frames {window['start']} to {last} could be read",
                )
            )
    return tuple(gaps)

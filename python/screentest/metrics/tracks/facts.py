"""What the tracks family measures of a clip, and what it could not."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.series import Series

__all__ = ["TrackFacts", "TrackWindow", "Trajectories", "track_ratio"]


class TrackWindow(msgspec.Struct, frozen=True, kw_only=True):
    """One window of frames.

    Attributes:
        start: display index of its first frame.
        frames: how many frames it has.
        seeded: corners of its first frame. With fewer than 8 the window is not tracked and counts
            for nothing.
        alive: tracks that live in its last frame.
        left: tracks that were lost at the picture's edge, within half a search window (11 px).
        coherent: sum over the surviving tracks of how coherently each moves, from 0 to 1; like the
            next three ``None`` if fewer than 8 survive.
        jitter: median over them of the acceleration over the speed.
        rigidity_error: median over them of the change of the distances to their neighbours, in
            percent.
        motion: median over the steps of their mean length, in pixels of the working size.
        brightness: mean grey level of each frame, 0 to 255.
    """

    start: int
    frames: int
    seeded: int
    alive: int
    left: int = 0
    coherent: float | None = None
    jitter: float | None = None
    rigidity_error: float | None = None
    motion: float | None = None
    brightness: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Trajectories(Series):
    """The tracks of one window, in the order of their corners' strength.

    Attributes:
        start: display index of the window's first frame.
        positions: (frames, tracks, 2): x and y in pixels of the working size; NaN from where the
            track is lost.
        alive_frames: in how many frames each track was found.
        left_picture: whether each was lost at the picture's edge; one that was lost elsewhere was
            covered, or changed its look.
        coherence: how coherently each moves, from 0 to 1; NaN, like the next two, for a track that
            is lost before the end, or of a window with fewer than 8 survivors.
        jitter: acceleration over speed.
        rigidity: change of the distances to its neighbours, in percent.
    """

    start: int
    positions: NDArray[np.float32]
    alive_frames: NDArray[np.int32]
    left_picture: NDArray[np.bool_]
    coherence: NDArray[np.float64]
    jitter: NDArray[np.float64]
    rigidity: NDArray[np.float64]


class TrackFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one clip. Pixels are those of the working size.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        clip: geometry, colour, timing and decoder.
        damage: places where the file does not hold what it should.
        working_width: width of the pictures that were tracked in.
        working_height: their height, at most 384.
        windows: every window whose frames could all be read.
        frames_read: frames read, all windows together.
        track_stability: sum of ``coherent`` over the sum of ``seeded`` of the windows with at least
            8 corners, in [0, 1]. ``None`` if there is no such window.
        stability_inside: the same without the tracks that left the picture, in [0, 1]: what a
            camera that moves fast takes out of sight says nothing of how things hold their shape.
        track_survival: sum of ``alive`` over the sum of ``seeded``, in [0, 1].
        track_jitter: median over the windows that have one.
        track_rigidity_error: the same, in percent.
        motion_magnitude: the same of ``motion``, in pixels a frame.
        trajectories: the tracks themselves, window by window, if they were asked for.
        unmeasured: metrics that have no value, and windows that could not be read, with the reason.
    """

    impl: str
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    working_width: int
    working_height: int
    windows: tuple[TrackWindow, ...] = ()
    frames_read: int
    track_stability: float | None = None
    stability_inside: float | None = None
    track_survival: float | None = None
    track_jitter: float | None = None
    track_rigidity_error: float | None = None
    motion_magnitude: float | None = None
    trajectories: tuple[Trajectories, ...] | None = None
    unmeasured: tuple[Unmeasured, ...] = ()


def track_ratio(candidate: TrackFacts, control: TrackFacts) -> float | None:
    """Track stability of a candidate over that of its control; they need not agree in size or
    length. A clip against itself gives exactly 1.

    ``None`` where either has no stability, the control's is 1e-9 or less, or they were measured by
    different versions (``impl``).
    """
    ours, theirs = candidate.track_stability, control.track_stability
    if candidate.impl != control.impl or ours is None or theirs is None or theirs <= 1e-9:
        return None
    return ours / theirs

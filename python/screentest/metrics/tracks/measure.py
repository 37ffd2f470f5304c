"""Track stability of a whole clip."""

from __future__ import annotations

from typing import Any

from screentest import _native, compute
from screentest.metrics.one_pass import measure_alone
from screentest.metrics.tracks.facts import TrackFacts
from screentest.metrics.tracks.family import FAMILY

__all__ = ["measure_tracks"]


def measure_tracks(
    source: Any,
    *,
    windows: int = _native.TRACK_WINDOWS,
    trajectories: bool = False,
    threads: int | None = None,
    **options: Any,
) -> TrackFacts:
    """How steadily the things in a clip move, and whether they keep their shape.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens. Only the frames of the windows are read; in a
            file they are sought.
        windows: windows of 24 frames at most, spread evenly; they may overlap.
        trajectories: whether the facts hold the tracks themselves.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``value_range=``, ``layout=``...).

    Returns:
        The facts, the same bits for any number of threads and on any CPU. A frozen clip reads a
        stability of 1; a flat one has no corners and is unmeasured; noise reads 0.

    Raises:
        MediaError: the source cannot be read, has fewer than 3 frames, holds NaN or infinite
            samples, or values leave the range they are said to have.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> picture = np.random.default_rng(5).integers(0, 256, (60, 80), np.uint8)
        >>> facts = measure_tracks(np.stack([picture] * 3), layout="THW")
        >>> facts.track_stability, facts.motion_magnitude
        (1.0, 0.0)
    """
    return measure_alone(
        source,
        FAMILY,
        threads=compute.threads(threads),
        options={"windows": windows, "trajectories": trajectories},
        **options,
    )

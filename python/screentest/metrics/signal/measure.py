"""Signal statistics of a whole clip."""

from __future__ import annotations

from typing import Any

from screentest import compute
from screentest.metrics.one_pass import measure_alone
from screentest.metrics.signal.facts import SignalFacts
from screentest.metrics.signal.family import FAMILY

__all__ = ["measure_signal"]


def measure_signal(
    source: Any, *, features: bool = True, threads: int | None = None, **options: Any
) -> SignalFacts:
    """Detail, tone and change of a clip's pictures: the input of population statistics.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens.
        features: ``False`` for luma and its changes alone (flicker, jerk, motion).
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``value_range=``, ``layout=``...).

    Returns:
        The facts, the same bits for any number of threads and on any CPU. A constant clip reads 0
        with the floors that :class:`SignalFacts` states; one frame has no change and says so.

    Raises:
        MediaError: the source cannot be read, a sample is NaN or infinite, or values leave the
            range they are said to have.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> steps = np.repeat(np.array([10, 40, 50], np.uint8), 64).reshape(3, 8, 8)
        >>> facts = measure_signal(steps, layout="THW")
        >>> round(facts.motion_energy, 6), round(facts.jerk_ratio, 6), facts.flat_frames
        (20.0, 1.0, 3)
    """
    return measure_alone(
        source,
        FAMILY,
        threads=compute.threads(threads),
        options={"features": features},
        **options,
    )

"""Temporal facts of a whole clip."""

from __future__ import annotations

from typing import Any

from screentest import compute
from screentest.metrics.one_pass import measure_alone
from screentest.metrics.temporal.facts import TemporalFacts
from screentest.metrics.temporal.family import FAMILY

__all__ = ["measure_temporal"]


def measure_temporal(source: Any, *, threads: int | None = None, **options: Any) -> TemporalFacts:
    """Facts that tell flicker, flashes, fades, cuts and an uneven cadence from each other.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``frame_rate=``, ``layout=``...).

    Returns:
        The facts. A single frame has none of these numbers, two or three have few; each that is
        ``None`` is named in ``unmeasured``.

    Raises:
        MediaError: the source cannot be read, or holds NaN or infinite samples.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.
    """
    return measure_alone(source, FAMILY, threads=compute.threads(threads), **options)

"""Facts of a whole clip."""

from __future__ import annotations

from typing import Any

from screentest import compute
from screentest.errors import InputError
from screentest.metrics.integrity.facts import Depth, IntegrityFacts

__all__ = ["measure_integrity"]


def measure_integrity(
    source: Any, *, depth: Depth = "full", threads: int | None = None, **options: Any
) -> IntegrityFacts:
    """Facts that tell a render from noise, a blank, a lattice, a freeze or a damaged file.

    Args:
        source: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens.
        depth: ``"full"`` looks at every frame once; ``"sampled"`` reads at most ten and seeks to
            them in a file.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``value_range=``, ``layout=``...).

    Returns:
        The facts. Identical frames correlate at 1; flat ones at 0, with a deviation of 0. NaN and
        infinite samples are counted, and read as black for everything else. A single frame has no
        temporal numbers; a side below 512 px has no lattice: both are named in ``unmeasured``.

    Raises:
        MediaError: the source cannot be read, or its values leave the range they are said to have.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> ramp = np.tile(np.arange(64, dtype=np.uint8)[:, None], (1, 64))
        >>> facts = measure_integrity(np.stack([ramp, ramp, 63 - ramp]), layout="THW")
        >>> facts.corr_series
        (1.0, -1.0)
    """
    from screentest.metrics.integrity.family import FAMILY
    from screentest.metrics.one_pass import measure_alone

    if depth not in ("full", "sampled"):
        raise InputError(f'depth={depth!r}: expected "full" or "sampled"', code="bad_depth")
    return measure_alone(
        source,
        FAMILY,
        threads=compute.threads(threads),
        options={"depth": depth},
        **options,
    )

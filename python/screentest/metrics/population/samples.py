"""What a statistic over the prompts is drawn from when prompts are drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from screentest.metrics.population.ratios import DETAIL, IMAGING, TONE
from screentest.metrics.population.statistic import Kind
from screentest.metrics.population.structure import STRUCTURE
from screentest.metrics.population.temporal import TEMPORAL

if TYPE_CHECKING:
    from screentest.metrics.population.derive import Derived

__all__ = ["Samples", "samples_of"]

_KINDS: Mapping[str, Kind] = {each.name: each.kind for each in (*TEMPORAL, *STRUCTURE)}


class Samples(NamedTuple):
    """One statistic as its prompts have it.

    Attributes:
        rows: numbers of each prompt, ``(prompts, k)``; a prompt is drawn with all of its numbers.
        of: from resamples ``(..., prompts, k)`` to the statistic ``(...)``.
        kind: how the result is shown.
    """

    rows: NDArray[np.float64]
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    kind: Kind


def samples_of(statistic: str, found: Derived) -> Samples:
    """The samples of a statistic that has logarithms in ``found``."""
    kind = _KINDS.get(statistic, "ratio")
    if statistic == "imaging_index":
        columns = [found.logs[f"ratio_{name}"] for name in IMAGING]
        return Samples(np.array(columns, np.float64).T, _imaging_of, kind)
    if kind == "median":
        plain = [values[statistic] for values in found.values if statistic in values]
    else:
        plain = found.logs[statistic]
    return Samples(np.array(plain, np.float64)[:, None], _median_of, kind)


def _median_of(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.median(drawn[..., 0], axis=-1))


def _imaging_of(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    middle = np.median(drawn, axis=-2)
    detail = middle[..., : len(DETAIL)].sum(axis=-1) / len(DETAIL)
    tone = middle[..., len(DETAIL) :].sum(axis=-1) / len(TONE)
    return np.asarray((2.0 * detail + tone) / 3.0)

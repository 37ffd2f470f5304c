"""What can be asked of a pair, by name."""

from __future__ import annotations

from collections.abc import Sequence

from screentest.errors import InputError
from screentest.metrics.fidelity import FIDELITY
from screentest.metrics.instruments import INSTRUMENT_NAMES, REQUESTS, TRAITS

__all__ = ["PAIRED_METRICS", "asks", "check_metrics", "metric_impls"]

PAIRED_METRICS: dict[str, str] = {
    **{name: metric.says for name, metric in FIDELITY.items()},
    **INSTRUMENT_NAMES,
}
"""Every paired metric by the name that asks for it, and what it is."""


def check_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """The names in their order, each once.

    Raises:
        InputError: one is unknown, or there is none.
    """
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in PAIRED_METRICS:
            raise InputError(
                f"metric {name!r} is unknown; the paired metrics are {', '.join(PAIRED_METRICS)}",
                code="unknown_metric",
                metric=name,
            )
    if not wanted:
        raise InputError(
            f"no metric was asked for; the paired metrics are {', '.join(PAIRED_METRICS)}",
            code="no_metrics",
        )
    return wanted


def metric_impls(names: Sequence[str]) -> dict[str, str]:
    """Which version of each metric this package computes. The two numbers of a name with different
    versions do not compare."""
    return {
        name: FIDELITY[name].impl if name in FIDELITY else TRAITS[REQUESTS[name][0]].impl
        for name in check_metrics(names)
    }


def asks(request: str, score: str) -> bool:
    """Whether a request gives a score of this name: ``psnr_y`` gives ``psnr_y_worst``."""
    if request in FIDELITY:
        return score in (request, f"{request}_pooled", f"{request}_worst")
    return score in REQUESTS[request]

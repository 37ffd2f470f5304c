"""From frames to one number of a pair, and from pairs to one number of two arms.

Pure, so that a stored report can be held against its own rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from screentest.errors import InputError, ProtocolError
from screentest.gates.report import ReferenceFacts, ReferenceRow
from screentest.gates.statistics import REFERENCE
from screentest.metrics import registry

__all__ = [
    "IMPL",
    "METRICS",
    "PSNR_CAP_DB",
    "aggregate",
    "check_metrics",
    "inconsistencies",
    "metric_of",
    "metrics_for",
]

IMPL = "reference-gate@1"

PSNR_CAP_DB = 99.0
"""What equal frames read, so that a mean over all frames exists. Nothing reads more: a frame that
is one code off anywhere must not stand above one that is equal."""

METRICS: Mapping[str, tuple[str, ...]] = {
    "psnr": ("psnr_mean", "psnr_worst"),
    "ssim": ("ssim_mean", "ssim_worst"),
    "ms_ssim": ("ms_ssim_mean", "ms_ssim_worst"),
    "lpips": ("lpips_mean", "lpips_worst"),
    "dists": ("dists_mean", "dists_worst"),
    "vmaf": ("vmaf", "vmaf_mean", "vmaf_min"),
}
"""Paired metric -> the statistics that a gate makes of it."""

_DOMAINS = ("", "planes", "rgb", "planes+rgb")
"""What RGB and luma may have been read from; nothing where no metric says it."""

_OF = {statistic: metric for metric, names in METRICS.items() for statistic in names}


def metric_of(statistic: str) -> str:
    """The paired metric behind a statistic.

    >>> metric_of("vmaf_min")
    'vmaf'
    """
    return _OF[statistic]


def check_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """The metrics, each once.

    Raises:
        InputError: one is none that a reference gate makes a statistic of.
    """
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        if name not in METRICS:
            raise InputError(
                f"metric {name!r}: a reference gate measures {', '.join(METRICS)}",
                code="unknown_metric",
                metric=str(name),
            )
    return tuple(dict.fromkeys(given))


def metrics_for(asked: Sequence[str], budgeted: Iterable[str]) -> tuple[str, ...]:
    """The metrics that were asked for and those that the budgets need, in one fixed order.

    >>> metrics_for(["ssim"], ["psnr_worst"])
    ('psnr', 'ssim')
    """
    wanted = {*check_metrics(asked), *(metric_of(name) for name in budgeted)}
    return tuple(name for name in METRICS if name in wanted)


def aggregate(
    rows: Sequence[ReferenceRow], metrics: Iterable[str]
) -> tuple[dict[str, float], dict[str, str]]:
    """(values, unmeasured) of the metrics over all pairs. A statistic that one pair has no number
    for has none: the mean of the others would be one of other arms.

    Raises:
        ProtocolError: an aggregate is not finite.
    """
    values: dict[str, float] = {}
    unmeasured: dict[str, str] = {}
    for name in (statistic for metric in metrics for statistic in METRICS[metric]):
        lacking = [row for row in rows if name not in row.values]
        if lacking or not rows:
            unmeasured[name] = _why(name, lacking, len(rows))
            continue
        found = [row.values[name] for row in rows]
        value = _worst(name, found) if _is_worst(name) else math.fsum(found) / len(found)
        if not math.isfinite(value):
            raise ProtocolError(
                f"{name} over {len(rows)} pairs is {value}: a number that is not finite says "
                "nothing about the arms",
                code="not_finite",
                statistic=name,
            )
        values[name] = value
    return values, unmeasured


def inconsistencies(facts: ReferenceFacts) -> Iterator[str]:
    """What facts contradict themselves in, in sentences: their aggregates are made again from their
    rows."""
    if not facts.rows:
        yield "there is no pair"
        return
    if facts.impl != IMPL:
        yield f"impl is {facts.impl!r}; this version makes {IMPL!r}"
        return
    if unknown := [name for name in facts.metrics if name not in METRICS]:
        yield f"{', '.join(unknown)} is no metric of a reference gate"
        return
    if facts.metrics != tuple(name for name in METRICS if name in facts.metrics):
        yield f"metrics are {', '.join(facts.metrics)}: one stands twice, or out of order"
    for row in facts.rows:
        yield from (f"the pair of {row.prompt!r}: {said}" for said in _of_row(row, facts.metrics))
    try:
        values, unmeasured = aggregate(facts.rows, facts.metrics)
    except ProtocolError as error:
        yield error.message
        return
    for name in dict.fromkeys((*values, *facts.values)):
        if values.get(name) != facts.values.get(name):
            yield (f"{name} is {facts.values.get(name)}; its pairs give {values.get(name, 'none')}")
    if unmeasured != facts.unmeasured:
        names = dict.fromkeys((*unmeasured, *facts.unmeasured))
        differ = [name for name in names if unmeasured.get(name) != facts.unmeasured.get(name)]
        yield f"why {', '.join(differ)} was not measured is not what the pairs say"
    for metric in dict.fromkeys(metric_of(name) for name in values):
        if not facts.impls.get(metric):
            yield f"{metric} has numbers and no impl"
    measured = {_OF.get(name) for row in facts.rows for name in row.values}
    if foreign := [name for name in facts.impls if name not in measured]:
        yield f"{', '.join(foreign)} has an impl and no number"


def _of_row(row: ReferenceRow, metrics: Sequence[str]) -> Iterator[str]:
    expected = [statistic for metric in metrics for statistic in METRICS[metric]]
    if row.misaligned and row.values:
        yield "not aligned, and yet it has numbers"
    if row.frames < 1:
        yield f"{row.frames} frames"
    if strange := [name for name in row.values if name not in expected]:
        yield f"{', '.join(strange)} was not asked for"
    if strange := [name for name in row.unmeasured if name not in expected]:
        yield f"why {', '.join(strange)} was not measured, which nobody asked for"
    for metric, frame in row.worst_frame.items():
        if metric not in metrics or METRICS[metric][0] not in row.values or frame < 0:
            yield f"its worst frame of {metric} is {frame}, and it has no such number or frame"
    if row.domain not in _DOMAINS:
        yield f"frames were read from {row.domain!r}; expected {', '.join(_DOMAINS[1:])}"
    if both := [name for name in row.values if name in row.unmeasured]:
        yield f"{', '.join(both)} is measured and unmeasured"
    for name, value in row.values.items():
        if name in REFERENCE and (why := _impossible(name, value)):
            yield f"{name} is {value:g}, {why}"
    for metric in metrics:
        mean, worst = (row.values.get(f"{metric}_{end}") for end in ("mean", "worst"))
        if metric == "vmaf":
            worst = row.values.get("vmaf_min")
        if mean is None or worst is None:
            continue
        # A mean of equal numbers may round to either side of them.
        better = (mean - worst) * (1 if _rises(metric) else -1)
        if better < -1e-9 * max(1.0, abs(worst)):
            yield f"its mean {metric} {mean:g} is worse than its worst frame's {worst:g}"


def _impossible(name: str, value: float) -> str:
    if not math.isfinite(value):
        return "not finite"
    low, high = registry.spec(metric_of(name)).bounds
    if metric_of(name) == "psnr":
        high = PSNR_CAP_DB
    if low is not None and value < low:
        return f"below {low:g}, the least there is"
    if high is not None and value > high:
        return f"above {high:g}, the most there is"
    return ""


def _is_worst(name: str) -> bool:
    return name.endswith(("_worst", "_min"))


def _rises(metric: str) -> bool:
    """Whether more is better."""
    return registry.spec(metric).direction == "up"


def _worst(name: str, values: Sequence[float]) -> float:
    if any(math.isnan(value) for value in values):
        return math.nan
    return min(values) if _rises(metric_of(name)) else max(values)


def _why(name: str, lacking: Sequence[ReferenceRow], pairs: int) -> str:
    if not lacking:
        return "there is no pair"
    first = lacking[0]
    if first.misaligned:
        why = "its frames do not go together"
    else:
        why = first.unmeasured.get(name, "not measured")
        if len(lacking) == pairs and all(row.unmeasured.get(name) == why for row in lacking):
            return why
    return f"the pair of {first.prompt!r} has none ({len(lacking)} of {pairs} pairs): {why}"

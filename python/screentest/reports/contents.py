"""Which registered metrics the numbers of a document come from, and in which version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from screentest.errors import SchemaError
from screentest.gates import reference_facts
from screentest.gates.statistics import REFERENCE
from screentest.metrics import registry

if TYPE_CHECKING:
    from screentest.gates.report import GateReport, NullControl, RepeatControl
    from screentest.reports.schemas import Kind

__all__ = [
    "contract_metrics",
    "impls_of",
    "metric_of",
    "of_control",
    "of_gate_report",
    "refuse_impls",
    "stated_by_gate_report",
]

_OTHERWISE_CALLED = {"flicker": "luma_flicker"}
"""Fields of a clip's score that the registry has under another name."""

_FIRST = {"hf_ratio": 2}
"""Versions that were replaced before there were documents: none has numbers of one before these."""

_RATIO = "ratio_"

_IMPL = re.compile(r"(?P<name>.+?)(?P<at>[@/])(?P<version>[1-9][0-9]{0,8})(?P<options>(?![0-9]).*)")


def contract_metrics(kind: Kind, body: object) -> tuple[str, ...]:
    """The registered metrics that a body carries numbers of, sorted."""
    known = _measured()
    found = {_metric_among(known, name) for name in set(kind.statistics(body))}
    return tuple(sorted(name for name in found if name is not None))


def metric_of(statistic: str) -> str | None:
    """The metric that a statistic is a number of: itself, or what it was pooled from.

    >>> metric_of("psnr_worst"), metric_of("ratio_sharpness"), metric_of("n_frames")
    ('psnr', 'sharpness', None)
    """
    return _metric_among(_measured(), statistic)


def _measured() -> frozenset[str]:
    return frozenset(spec.name for spec in registry.specs() if spec.status == "measured")


def _metric_among(known: frozenset[str], statistic: str) -> str | None:
    if statistic in REFERENCE:
        return reference_facts.metric_of(statistic)
    name = statistic.removeprefix(_RATIO)
    name = _OTHERWISE_CALLED.get(name, name)
    return name if name in known else None


def impls_of(kind: Kind, body: object) -> dict[str, str]:
    """The versions of a body's metrics: those that it states itself, else the current ones."""
    stated = kind.impls(body)
    return {
        name: stated.get(name) or registry.spec(name).impl for name in contract_metrics(kind, body)
    }


def refuse_impls(kind: Kind, body: object, impls: Mapping[str, str]) -> None:
    """Refuse versions that are not exactly those of a body's numbers.

    Raises:
        SchemaError: ``bad_impls``; a metric is missing or has no number here, or its version is
            unknown to this one, or is not the one that the body states.
    """
    needed = contract_metrics(kind, body)
    if missing := [name for name in needed if name not in impls]:
        _refuse(f"no version of {', '.join(missing)}, which the body has numbers of")
    if foreign := sorted(ascii(name)[:60] for name in impls if name not in needed):
        _refuse(f"versions of {', '.join(foreign[:4])}, which the body has no number of")
    stated = kind.impls(body)
    for name, impl in impls.items():
        known, given = _IMPL.fullmatch(registry.spec(name).impl), _IMPL.fullmatch(impl)
        if (
            known is None
            or given is None
            or given["name"] + given["at"] != known["name"] + known["at"]
            or not _FIRST.get(name, 1) <= int(given["version"]) <= int(known["version"])
            or (name not in stated and given["options"] != known["options"])
        ):
            _refuse(
                f"{name} is of version {ascii(impl)[:60]}; this version knows "
                f"{registry.spec(name).impl}, and those before it that documents have; "
                "read a newer one with the screentest that wrote it"
            )
        if stated.get(name, impl) != impl:
            _refuse(f"{name} is of {ascii(impl)[:60]}; the body says another version")


def _refuse(why: str) -> None:
    raise SchemaError(f"impls: {why}", code="bad_impls")


def of_gate_report(report: GateReport) -> Iterator[str]:
    """Statistics that a gate report has numbers of, those of its controls among them."""
    if report.population is not None:
        for prompt in report.population.prompts:
            yield from prompt.reference
            yield from prompt.candidate
            yield from prompt.values
        for benchmark in report.population.benchmarks.values():
            yield from benchmark.values
    if report.reference is not None:
        yield from report.reference.values
        for row in report.reference.rows:
            yield from row.values
    for control in (report.null_control, report.repeat_control):
        if control is not None:
            yield from control.values


def stated_by_gate_report(report: GateReport) -> Mapping[str, str]:
    """Versions that the facts of a reference gate name, and those that its control alone does."""
    control = report.repeat_control
    stated = {} if control is None else dict(control.impls)
    return stated | ({} if report.reference is None else report.reference.impls)


def of_control(control: NullControl | RepeatControl) -> Iterator[str]:
    """Statistics that a control has numbers of."""
    yield from control.values

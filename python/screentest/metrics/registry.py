"""Every metric by name: what it answers, in which unit, which way is better, and who measures it.

The table is that of the families and of the catalogue of what is planned; reading it loads no
kernel and no extra. :func:`register` adds a metric from outside.

>>> from screentest.metrics import registry
>>> registry.spec("psnr").unit, registry.spec("psnr").direction
('dB', 'up')
>>> registry.headline("temporal", "video").name
'adjacent_frame_corr'
"""

from __future__ import annotations

import difflib
import functools
import importlib
import threading
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from screentest.errors import InputError
from screentest.metrics.spec import WORDS, MetricSpec, check_spec

__all__ = [
    "FAMILIES",
    "SCHEMA",
    "as_json",
    "builtin",
    "by_cost",
    "by_dimension",
    "by_family",
    "headline",
    "is_measured_on",
    "reference_free",
    "reference_only",
    "register",
    "request_of",
    "spec",
    "specs",
    "stands_beside",
    "unregister",
]

SCHEMA = "screentest/metrics@1"

FAMILIES = (
    "integrity",
    "fidelity",
    "instruments",
    "signal",
    "temporal",
    "tracks",
    "flow",
    "detail",
    "audio",
    "audio_pair",
    "audio_content",
    "sync",
    "population",
)
"""The packages of metrics whose ``names`` hold a table ``METRICS``."""

_lock = threading.RLock()
# Replaced whole and never changed in place, so that whoever reads it needs no lock.
_added: Mapping[str, MetricSpec] = MappingProxyType({})


@functools.cache
def builtin() -> Mapping[str, MetricSpec]:
    """The metrics that come with the package. What a family measures is no longer planned."""
    from screentest.metrics.catalogue import PLANNED

    tables = [importlib.import_module(f"screentest.metrics.{name}.names") for name in FAMILIES]
    measured = {spec.name: spec for table in tables for spec in table.METRICS}
    return MappingProxyType({**measured, **{s.name: s for s in PLANNED if s.name not in measured}})


def _table() -> Mapping[str, MetricSpec]:
    added = _added
    return {**builtin(), **added} if added else builtin()


def spec(name: str) -> MetricSpec:
    """The metric of this name.

    Raises:
        InputError: there is none (``unknown_metric``); the message has the names closest to it.
    """
    table = _table()
    try:
        return table[name]
    except (KeyError, TypeError):
        raise _unknown(str(name), table) from None


def _unknown(name: str, table: Iterable[str]) -> InputError:
    close = difflib.get_close_matches(name, list(table), n=4, cutoff=0.6)
    if len(name) > 2:
        close += [other for other in table if name in other and other not in close][
            : 4 - len(close)
        ]
    hint = f"did you mean {' or '.join(close)}?" if close else "no name is close to it"
    return InputError(
        f"metric {name!r} is unknown; {hint} `screentest metrics --all` lists every one",
        code="unknown_metric",
        metric=name,
        close=close,
    )


def specs() -> tuple[MetricSpec, ...]:
    """Every metric: the families' in their order, the planned ones, those added from outside."""
    return tuple(_table().values())


def by_dimension(dimension: str) -> tuple[MetricSpec, ...]:
    """The metrics that answer this question. Raises InputError for a word that is no dimension."""
    _known_word("dimension", dimension)
    return tuple(spec for spec in specs() if spec.dimension == dimension)


def by_cost(cost: str) -> tuple[MetricSpec, ...]:
    """The metrics of this cost class. Raises InputError for a word that is none."""
    _known_word("cost", cost)
    return tuple(spec for spec in specs() if spec.cost == cost)


def by_family(family: str) -> tuple[MetricSpec, ...]:
    """The metrics of one family. Raises InputError where no metric has it."""
    found = tuple(spec for spec in specs() if spec.family == family)
    if not found:
        known = dict.fromkeys(spec.family for spec in specs())
        raise InputError(
            f"no metric is of family {family!r}; expected one of {', '.join(known)}",
            code="unknown_word",
            family=family,
        )
    return found


def reference_only() -> tuple[MetricSpec, ...]:
    """The metrics that mean nothing between two takes of a prompt."""
    return tuple(spec for spec in specs() if spec.reference_only)


def reference_free() -> tuple[MetricSpec, ...]:
    """The metrics that need no reference at all."""
    return tuple(spec for spec in specs() if not spec.paired)


def is_measured_on(spec: MetricSpec, modality: str) -> bool:
    """Whether a metric is measured on such material: ``"any"`` is images and video, no sound.

    >>> is_measured_on(spec("lpips"), "video"), is_measured_on(spec("lpips"), "audio")
    (True, False)
    """
    return spec.modality == modality or (spec.modality == "any" and modality in ("image", "video"))


def headline(dimension: str, modality: str) -> MetricSpec:
    """The metric to look at first for a question about such material.

    That of the very modality, else for images and video the one of ``"any"``. It may be planned:
    see its ``status``.

    Raises:
        InputError: a word is unknown (``unknown_word``), or nothing answers this question of such
            material (``no_headline``).
    """
    _known_word("dimension", dimension)
    _known_word("modality", modality)
    fitting = [s for s in by_dimension(dimension) if is_measured_on(s, modality)]
    marked = [s for s in fitting if s.headline]
    marked.sort(key=lambda s: s.modality != modality)
    if marked:
        return marked[0]
    why = f"none of {', '.join(s.name for s in fitting)} is one" if fitting else "no metric has it"
    raise InputError(
        f"there is no headline for {dimension} of {modality}: {why}",
        code="no_headline",
        dimension=dimension,
        modality=modality,
    )


def request_of(name: str) -> str:
    """What a metric is asked for by; its own name where that is unknown or asks for itself.

    >>> request_of("psnr_worst"), request_of("psnr"), request_of("xpsnr_y")
    ('psnr', 'psnr', 'xpsnr')
    """
    found = _table().get(name)
    return name if found is None else found.request or name


def stands_beside(name: str) -> str:
    """The metric that this one is another number of, and is told with; empty where it is none.

    >>> stands_beside("psnr_worst"), stands_beside("psnr"), stands_beside("xpsnr_y")
    ('psnr', '', '')
    """
    table = _table()
    request = table[name].request if name in table else ""
    return request if request in table else ""


def as_json() -> dict[str, Any]:
    """The whole registry as plain JSON: ``schema``, ``metrics`` and ``headlines``.

    ``headlines`` is {dimension: {modality: name}} of every pair that has one.
    """
    metrics = specs()
    marked: dict[str, dict[str, str]] = {}
    for dimension in WORDS["dimension"]:
        cells = {
            modality: headline(dimension, modality).name
            for modality in WORDS["modality"]
            if any(
                s.headline and s.dimension == dimension and is_measured_on(s, modality)
                for s in metrics
            )
        }
        if cells:
            marked[dimension] = cells
    return {
        "schema": SCHEMA,
        "metrics": [msgspec.to_builtins(spec) for spec in metrics],
        "headlines": marked,
    }


def register(spec: MetricSpec, *, replace: bool = False) -> None:
    """Add a metric from outside the package, for this process.

    Args:
        spec: the metric; its ``family`` is whatever names what measures it.
        replace: put it in the place of an added metric of the same name.

    Raises:
        InputError: the spec contradicts itself (see
            :func:`~screentest.metrics.spec.check_spec`); the name is taken (``metric_exists``) or
            comes with the package (``builtin_metric``); its (dimension, modality) has a headline
            (``headline_exists``); ``fallback_for`` names no metric (``unknown_metric``) or one
            that answers another question (``contradiction``).

    >>> mine = MetricSpec(
    ...     name="mylab_wobble", says="how much it wobbles", dimension="temporal", modality="video",
    ...     unit="px", direction="down", impl="mylab_wobble@1", family="mylab")
    >>> register(mine)
    >>> spec("mylab_wobble").unit
    'px'
    >>> unregister("mylab_wobble")
    """
    global _added
    if not isinstance(spec, MetricSpec):
        raise InputError(
            f"expected a MetricSpec, this is a {type(spec).__name__}", code="bad_metric"
        )
    check_spec(spec)
    with _lock:
        table = _table()
        if spec.name in builtin():
            raise InputError(
                f"metric {spec.name!r} comes with the package and cannot be replaced; "
                "choose another name",
                code="builtin_metric",
                metric=spec.name,
            )
        if spec.name in table and not replace:
            raise InputError(
                f"metric {spec.name!r} is registered already; say replace=True to put this one in "
                "its place",
                code="metric_exists",
                metric=spec.name,
            )
        others = [other for other in table.values() if other.name != spec.name]
        _check_among(spec, others)
        _added = MappingProxyType({**_added, spec.name: spec})


def _check_among(spec: MetricSpec, others: Iterable[MetricSpec]) -> None:
    """What a metric must not say beside these others."""
    if spec.headline:
        cell = (spec.dimension, spec.modality)
        for other in others:
            if other.headline and (other.dimension, other.modality) == cell:
                raise InputError(
                    f"metric {spec.name!r}: {other.name!r} is the headline for {cell[0]} of "
                    f"{cell[1]}, and there is one",
                    code="headline_exists",
                    metric=spec.name,
                    headline=other.name,
                )
    if spec.fallback_for:
        known = {other.name: other for other in others}
        if spec.fallback_for not in known:
            raise _unknown(spec.fallback_for, known)
        if known[spec.fallback_for].dimension != spec.dimension:
            raise InputError(
                f"metric {spec.name!r} answers another question than {spec.fallback_for!r} and "
                "cannot stand in for it",
                code="contradiction",
                metric=spec.name,
            )
        _check_chain(spec, known)
    for other in others:
        # Of a metric that this one takes the place of.
        if other.fallback_for == spec.name and other.dimension != spec.dimension:
            raise InputError(
                f"metric {spec.name!r}: {other.name!r} falls back for it and answers another "
                "question",
                code="contradiction",
                metric=spec.name,
            )


def _check_chain(spec: MetricSpec, known: Mapping[str, MetricSpec]) -> None:
    """Fallbacks that end nowhere: each would decide only where the other is unmeasured."""
    at = spec.fallback_for
    while at:
        if at == spec.name:
            raise InputError(
                f"metric {spec.name!r} and {spec.fallback_for!r} would fall back for each other",
                code="contradiction",
                metric=spec.name,
            )
        at = known[at].fallback_for


def unregister(name: str) -> None:
    """Take out a metric that :func:`register` added.

    Raises:
        InputError: it is unknown (``unknown_metric``), comes with the package
            (``builtin_metric``), or another one falls back for it (``metric_in_use``).
    """
    global _added
    with _lock:
        spec(name)
        if name in builtin():
            raise InputError(
                f"metric {name!r} comes with the package and stays",
                code="builtin_metric",
                metric=name,
            )
        users = [other.name for other in _added.values() if other.fallback_for == name]
        if users:
            raise InputError(
                f"{', '.join(users)} fall back for {name!r}; take them out first",
                code="metric_in_use",
                metric=name,
            )
        _added = MappingProxyType({key: value for key, value in _added.items() if key != name})


def _known_word(field: str, word: str) -> None:
    if word not in WORDS[field]:
        raise InputError(
            f"{field}={word!r}: expected one of {', '.join(WORDS[field])}",
            code="unknown_word",
            **{field: word},
        )

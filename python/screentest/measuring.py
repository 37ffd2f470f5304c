"""Measure clips: one decode, every family of facts, no verdict.

:func:`measure` reads one source, :func:`measure_many` many within one compute budget. What was
measured can be kept in a folder, so that no later call decodes the same content again.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from screentest import compute
from screentest.errors import InputError, ScreentestError
from screentest.media.info import ClipInfo, Damage
from screentest.metrics import families as table
from screentest.metrics.facts import Score
from screentest.reports import canonical
from screentest.reports.measurement import error_record, measurement_record
from screentest.reports.screening import describe_error
from screentest.side_by_side import check_sources, name_of, results_in_order

if TYPE_CHECKING:
    from screentest.media.clip import Clip
    from screentest.media.content import Content
    from screentest.metrics.fact_cache import FactCache
    from screentest.metrics.family import Family

__all__ = ["Measurement", "MeasurementError", "measure", "measure_many"]

Families: TypeAlias = "str | Iterable[str | Family[Any]] | None"
Options: TypeAlias = "Mapping[str, Mapping[str, Any]] | None"
Cache: TypeAlias = "FactCache | str | os.PathLike[str] | None"


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one clip, by family; no threshold has touched them.

    They can be judged by :mod:`screentest.verdicts` any number of times; nothing is decoded for it.

    Attributes:
        source: name of the clip.
        content: content key of its bytes, ``None`` where nobody took it (it is taken for a cache).
        clip: geometry, colour, timing and decoder.
        damage: places where the source does not hold what it should, as far as it was read.
        facts: by family; a family that could not be measured has none.
        values: metric -> number, ``None`` where it is unmeasured.
        metrics: family -> its metrics, of every family that was asked for.
        unmeasured: family or metric -> why it has no number.
        sampled: of a family that reads a sample, the runs (first, last) of frames it asked for;
            a family that is not named here was given every frame.
        options: as passed and as resolved.
        notes: what happened on the way that changes no number.
    """

    source: str
    content: str | None = None
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    facts: dict[str, Any]
    values: dict[str, float | None]
    metrics: dict[str, tuple[str, ...]]
    unmeasured: dict[str, str] = {}
    sampled: dict[str, tuple[tuple[int, int], ...]] = {}
    options: dict[str, Any] = {}
    notes: tuple[str, ...] = ()

    @property
    def scores(self) -> tuple[Score, ...]:
        """Every metric of the families asked for, with unit, direction and version, in the order
        of the registry; one that gave no number is there with its reason."""
        from screentest.metrics.identity import score

        found = []
        for family, names in self.metrics.items():
            # A library that the numbers come from stands behind a plus.
            version = getattr(self.facts.get(family), "impl", "").partition("+")
            said: dict[str, Any] = {"frames": self.frames_read(family)}
            if version[2]:
                said["impl_suffix"] = "".join(version[1:])
            for name in names:
                value, why = self.values.get(name), None
                if value is None:
                    why = self.unmeasured.get(name) or self.unmeasured.get(family, "not measured")
                found.append(score(name, value, reason=why, **said))
        return tuple(found)

    def __getitem__(self, name: str) -> Score:
        """The score of this name."""
        scores = self.scores
        for score in scores:
            if score.name == name:
                return score
        raise KeyError(f"{name}: this measurement has {', '.join(one.name for one in scores)}")

    def frames_read(self, family: str) -> int:
        """How many frames a family was given."""
        facts = self.facts.get(family)
        if facts is None:
            return 0
        if (told := getattr(facts, "frames_read", None)) is not None:
            return int(told)
        if family in self.sampled:
            return sum(last - first + 1 for first, last in self.sampled[family])
        return self.clip.frames or 0

    def measured(self, family: str) -> bool:
        """Whether a family has facts, and a number for at least one of its metrics."""
        if family not in self.facts:
            return False
        names = self.metrics[family]
        return not names or any(self.values.get(name) is not None for name in names)

    def to_dict(self) -> dict[str, Any]:
        """The record that ``screentest measure --json`` prints, as plain data."""
        return measurement_record(self)

    def to_json(self) -> bytes:
        """The record as canonical JSON (RFC 8785): equal measurements are equal bytes."""
        return canonical.dumps(self.to_dict())

    def __repr__(self) -> str:
        known = [f"{k}={v:.6g}" for k, v in self.values.items() if v is not None]
        return f"<Measurement {canonical.printable(self.source)!r}: {', '.join(known)}>"


class MeasurementError(msgspec.Struct, frozen=True, kw_only=True):
    """An input of a batch that could not be read: which, a stable code, and one line."""

    source: str
    code: str
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The record that ``screentest measure --json`` prints for such an input."""
        return error_record(self.source, self.code, self.message)

    def to_json(self) -> bytes:
        """The record as canonical JSON (RFC 8785)."""
        return canonical.dumps(self.to_dict())


def measure(
    source: Any,
    *,
    families: Families = None,
    windows: int = 4,
    options: Options = None,
    cache: Cache = None,
    threads: int | None = None,
    **open_options: Any,
) -> Measurement:
    """Measure one clip: decode once, and give each frame to every family that wants it.

    Args:
        source: whatever :func:`~screentest.media.open_clip` opens, or an opened clip (left open).
        families: names of :data:`screentest.metrics.families.FAMILIES`; by default what the base
            install measures.
        windows: stretches of the clip that are tracked, evenly spread.
        options: options of single families, ``{"integrity": {"depth": "sampled"}}``. If every
            family samples, only their frames are read, by seeking.
        cache: a folder to keep the facts in (or a :class:`~screentest.metrics.fact_cache.FactCache`
            of it). Content that was measured before, under whatever name, is not decoded again.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``. It
            changes no number.
        **open_options: passed to :func:`~screentest.media.open_clip`.

    Returns:
        The facts. A family that refuses the clip (NaN samples) or lacks its extra has none, and
        ``unmeasured`` says why; the others are as if it had not been asked for.

    Raises:
        MediaError: the source cannot be read, or is not what it was said to be.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> ramp = np.arange(128, dtype=np.uint8)[None, None, :].repeat(96, 1).repeat(6, 0)
        >>> measured = measure(ramp, layout="THW", families="integrity")
        >>> measured.values["adjacent_frame_corr"], round(measured.values["frame_std_min"], 4)
        (1.0, 0.1449)
    """
    plan = _plan(families, windows, options, cache, open_options)
    return _measure(source, plan, compute.threads(threads), open_options)


def measure_many(
    sources: Iterable[Any],
    *,
    families: Families = None,
    windows: int = 4,
    options: Options = None,
    cache: Cache = None,
    threads: int | None = None,
    **open_options: Any,
) -> Generator[Measurement | MeasurementError, None, None]:
    """Measure many sources within one compute budget; results come in the order of the sources.

    A source that cannot be read gives a :class:`MeasurementError` and the batch goes on; a wrong
    argument raises before the first source is opened. ``sources`` may be a generator: it is read
    only a little ahead of the results. Closing the iterator drops what has not begun.
    """
    check_sources(sources)
    plan = _plan(families, windows, options, cache, open_options)

    def one(source: Any, each: int) -> Measurement | MeasurementError:
        try:
            return _measure(source, plan, each, open_options)
        except (ScreentestError, OSError) as error:
            code, message = describe_error(error)
            return MeasurementError(source=name_of(source), code=code, message=message)

    return results_in_order(one, sources, compute.threads(threads))


@dataclass(frozen=True, slots=True)
class _Plan:
    families: tuple[Family[Any], ...]
    options: dict[str, dict[str, Any]]
    cache: FactCache | None
    record: dict[str, Any]


def _plan(
    families: Families,
    windows: int,
    options: Options,
    cache: Cache,
    open_options: Mapping[str, Any],
) -> _Plan:
    """The request, checked as far as it can be before anything is opened."""
    chosen = table.choose(families)
    resolved = table.resolve_options(chosen, options, windows=windows)
    if cache is not None:
        from screentest.metrics.fact_cache import FactCache

        if not isinstance(cache, FactCache):
            cache = FactCache(cache)
    record = {
        "passed": {
            "families": None if families is None else [one.name for one in chosen],
            "windows": windows,
            "options": {name: dict(said) for name, said in (options or {}).items()},
            "open": dict(open_options),
        },
        "resolved": {one.name: {"impl": one.impl, "options": resolved[one.name]} for one in chosen},
    }
    return _Plan(chosen, resolved, cache, record)


def _measure(
    source: Any, plan: _Plan, threads: int, open_options: Mapping[str, Any]
) -> Measurement:
    from screentest.media import open_clip
    from screentest.media.clip import Clip
    from screentest.media.open import is_in_memory
    from screentest.metrics.one_pass import derive_what_can_be, run

    notes: list[str] = []
    with ExitStack() as stack:
        clip: Clip | None = None
        if isinstance(source, Clip):
            if open_options:
                raise InputError(
                    f"an opened clip takes no {', '.join(sorted(open_options))}; "
                    "give it to open_clip instead"
                )
            clip = source
        elif is_in_memory(source):
            clip = stack.enter_context(open_clip(source, threads=threads, **open_options))
        content = None if plan.cache is None else _content(source, clip, open_options, notes)
        facts, keys = _known(plan, content, notes)
        refused: dict[str, ScreentestError] = {}
        damage: tuple[Damage, ...] = ()
        fresh = derive_what_can_be(plan.families, facts, refused)
        rest = [one for one in plan.families if one.name not in facts | refused]
        if rest:
            if clip is None:
                clip = stack.enter_context(open_clip(source, threads=threads, **open_options))
            found = run(clip, rest, plan.options, threads)
            facts |= found.facts
            refused |= found.refused
            damage = found.damage
            fresh += found.facts
        if content is not None and not content.unchanged:
            notes.append(f"{content.source}: changed while it was read; nothing is kept of it")
            content = None
        if content is not None and plan.cache is not None:
            for name in fresh:
                plan.cache.put(keys[name], facts[name], notes)
        info = next(iter(facts.values())).clip if clip is None else clip.info
    # Whoever read most of the source knows most of its damage.
    damage = max((damage, *(one.damage for one in facts.values())), key=len)
    digest = None if content is None else content.digest
    return _measurement(plan, info, facts, refused, damage, digest, notes)


def _content(
    source: Any, clip: Clip | None, open_options: Mapping[str, Any], notes: list[str]
) -> Content | None:
    """What the source is by its content; ``None`` for a file that the caller opened himself."""
    from screentest.media.content import content_of_clip, content_of_file

    if clip is None:
        return content_of_file(source, open_options)
    if clip.info.kind == "array":
        return content_of_clip(clip)
    notes.append(f"{clip.info.source}: an opened file has no cached facts; give its path instead")
    return None


def _known(
    plan: _Plan, content: Content | None, notes: list[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The facts that the cache holds, and the key of each family."""
    facts: dict[str, Any] = {}
    keys: dict[str, str] = {}
    if content is None or plan.cache is None:
        return facts, keys
    for one in plan.families:
        keys[one.name] = plan.cache.key(content, one, plan.options[one.name])
        found = plan.cache.get(keys[one.name], one, content.source, notes)
        if found is not None:
            facts[one.name] = found
    return facts, keys


def _measurement(
    plan: _Plan,
    info: ClipInfo,
    facts: dict[str, Any],
    refused: Mapping[str, ScreentestError],
    damage: tuple[Damage, ...],
    content: str | None,
    notes: list[str],
) -> Measurement:
    values: dict[str, float | None] = {}
    metrics: dict[str, tuple[str, ...]] = {}
    unmeasured: dict[str, str] = {}
    sampled: dict[str, tuple[tuple[int, int], ...]] = {}
    for one in plan.families:
        name = one.name
        if name not in facts:
            unmeasured[name] = " ".join(refused[name].message.split())
            known = name in table.FAMILIES
            metrics[name] = tuple(s.name for s in table.metric_specs(name)) if known else ()
            values |= dict.fromkeys(metrics[name])
            continue
        held = dict(one.values(facts[name]))
        metrics[name] = tuple(held)
        values |= held
        reasons = one.reasons(facts[name])
        unmeasured |= {
            metric: reasons.get(metric, "not measured")
            for metric, value in held.items()
            if value is None
        }
        wanted = one.wanted(info.frames or 0, plan.options[name])
        if wanted is not None:
            sampled[name] = _runs(wanted)
    return Measurement(
        source=info.source,
        content=content,
        clip=info,
        damage=damage,
        facts={one.name: facts[one.name] for one in plan.families if one.name in facts},
        values=values,
        metrics=metrics,
        unmeasured=unmeasured,
        sampled=sampled,
        options=plan.record,
        notes=tuple(notes),
    )


def _runs(indices: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ascending indices as runs (first, last)."""
    runs: list[tuple[int, int]] = []
    for index in sorted(set(indices)):
        if runs and runs[-1][1] + 1 == index:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return tuple(runs)

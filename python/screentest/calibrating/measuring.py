"""Populations from their clips, each clip decoded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from screentest.errors import InputError
from screentest.gates.budget import Kind
from screentest.gates.calibration.calibrate import Population
from screentest.gates.report import ReferenceFacts

if TYPE_CHECKING:
    from screentest.calibrating.sources import Source
    from screentest.metrics.population.facts import PopulationFacts

__all__ = ["measured"]


def measured(
    sources: Sequence[Source],
    kind: Kind | None,
    hardware: str,
    metrics: Sequence[str],
    threads: int | None,
    cache: Any,
) -> tuple[Kind, list[Population]]:
    """The kind of gate, and the facts of every population."""
    kind = kind or _kind_of_reports(sources)
    if kind == "reference":
        return kind, [_by_frames(source, hardware, metrics, threads) for source in sources]
    populations = _by_clips(sources, hardware, threads, cache)
    if kind is None:
        first = populations[0].facts
        kind = "image" if not isinstance(first, ReferenceFacts) and first.still else "video"
    return kind, populations


def _kind_of_reports(sources: Sequence[Source]) -> Kind | None:
    for source in sources:
        if source.known is not None:
            facts = source.known.facts
            if isinstance(facts, ReferenceFacts):
                return "reference"
            return "image" if facts.still else "video"
    return None


def _by_clips(
    sources: Sequence[Source], hardware: str, threads: int | None, cache: Any
) -> list[Population]:
    from screentest.gates.scoring import score_arm

    files = list(dict.fromkeys(clip for source in sources for clip in source.clips))
    clips = dict(zip(files, score_arm(files, threads=threads, cache=cache), strict=True))
    found = []
    for source in sources:
        if source.arms is None:
            found.append(_known(source))
            continue
        pairs = [
            (clips[reference], clips[candidate])
            for reference, candidate in zip(
                source.arms.references, source.arms.candidates, strict=True
            )
        ]
        found.append(_population(source, _measure(source, pairs), hardware))
    return found


def _measure(source: Source, pairs: Sequence[tuple[Any, Any]]) -> PopulationFacts:
    from screentest.metrics.population.measure import measure_population

    assert source.arms is not None
    return measure_population(pairs, source.arms.names)


def _by_frames(
    source: Source, hardware: str, metrics: Sequence[str], threads: int | None
) -> Population:
    """Frame by frame; sizes and lengths may differ between populations, not within one."""
    from screentest.gates.reference import measure_reference
    from screentest.gating.headers import read_headers, stamp_of
    from screentest.protocol import ChangeKind, Protocol, Purpose

    if source.arms is None:
        return _known(source)
    arms = source.arms
    headers = read_headers([*arms.references, *arms.candidates])
    pairs = list(zip(headers[: len(arms.names)], headers[len(arms.names) :], strict=True))
    stamp = stamp_of(arms, pairs, width=None, height=None, frames=None, fps=None)
    protocol = Protocol(
        family="not stated",
        reference_arm="reference",
        candidate_arm="candidate",
        changes=(ChangeKind.REPEAT,),
        width=stamp.width,
        height=stamp.height,
        frames=stamp.frames,
        steps=1,
        seeds=(0,),
        prompts=arms.names,
        hardware=hardware or "not stated",
        purpose=Purpose.PAIRED_FIDELITY,
    )
    facts = measure_reference(
        arms.references, arms.candidates, protocol, metrics=metrics, threads=threads
    )
    for row in facts.rows:
        if row.misaligned:
            raise InputError(
                f"{source.name}: the pair of {row.prompt!r} is not aligned: "
                f"{'; '.join(row.misaligned)}",
                code="misaligned",
            )
    return _population(source, facts, hardware)


def _population(
    source: Source, facts: PopulationFacts | ReferenceFacts, hardware: str
) -> Population:
    return Population(name=source.name, degraded=source.degraded, facts=facts, hardware=hardware)


def _known(source: Source) -> Population:
    assert source.known is not None
    return source.known

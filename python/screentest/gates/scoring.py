"""Clips of both arms, each decoded once for everything that a population gate asks of it.

A clip that does not hold what it should is refused: a number of half a clip says nothing about the
change.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from screentest import _native, compute
from screentest.errors import InputError, MediaError, ScreentestError
from screentest.media import open_clip
from screentest.media.content import Content, content_of_file
from screentest.media.open import is_in_memory
from screentest.metrics import families as table
from screentest.metrics.one_pass import run
from screentest.metrics.population.facts import ArmClip
from screentest.metrics.signal.clip_score import ClipScore
from screentest.side_by_side import check_sources, results_in_order

if TYPE_CHECKING:
    from screentest.media.clip import Clip
    from screentest.media.info import ClipInfo, Damage
    from screentest.metrics.fact_cache import FactCache
    from screentest.metrics.family import Family

__all__ = ["refuse_damage", "score_arm", "score_clips", "score_pairs"]

OPTIONS: dict[str, dict[str, Any]] = {
    "signal": {},
    "tracks": {},
    # The lattice is read from a few frames; the screen of every frame is another command's.
    "integrity": {"depth": "sampled"},
}
"""What is measured of a clip, and how. A still has no tracks."""


def score_arm(
    sources: Iterable[Any],
    *,
    threads: int | None = None,
    cache: FactCache | str | os.PathLike[str] | None = None,
    **open_options: Any,
) -> tuple[ArmClip, ...]:
    """Measures the clips of one arm: detail, tone, change, tracks and lattice in one decode each.

    Args:
        sources: what :func:`~screentest.media.open_clip` opens, one by one.
        threads: compute budget of all clips together; it changes no bit.
        cache: a folder to keep facts in; content that it knows is not decoded again.
        **open_options: passed to :func:`~screentest.media.open_clip`.

    Returns:
        One record per clip, in order. A still is one frame without tracks. A blank clip has a
        record too, which says that it is degenerate.

    Raises:
        MediaError: a clip cannot be read, is damaged or truncated, holds NaN or infinite samples,
            is transparent, or changed while it was read. The message names it.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    >>> import numpy as np
    >>> still = np.random.default_rng(0).integers(0, 256, (1, 32, 32, 3), np.uint8)
    >>> [(clip.score.n_frames, clip.tracks_seen) for clip in score_arm([still])]
    [(1, False)]
    """
    return tuple(score_clips(sources, threads=threads, cache=cache, **open_options))


def score_pairs(
    references: Sequence[Any],
    candidates: Sequence[Any],
    *,
    threads: int | None = None,
    cache: FactCache | str | os.PathLike[str] | None = None,
    **open_options: Any,
) -> tuple[tuple[ArmClip, ArmClip], ...]:
    """Measures two arms, the clips of which go together in order; see :func:`score_arm`.

    Raises:
        InputError: the arms are not equally long.
    """
    references, candidates = _listed(references), _listed(candidates)
    if len(references) != len(candidates):
        raise InputError(
            f"{len(references)} references and {len(candidates)} candidates: expected a pair of "
            "clips for each prompt",
            code="unequal_arms",
        )
    clips = score_arm([*references, *candidates], threads=threads, cache=cache, **open_options)
    return tuple(zip(clips[: len(references)], clips[len(references) :], strict=True))


def score_clips(
    sources: Iterable[Any],
    *,
    threads: int | None = None,
    cache: FactCache | str | os.PathLike[str] | None = None,
    notes: list[str] | None = None,
    **open_options: Any,
) -> Generator[ArmClip, None, None]:
    """As :func:`score_arm`, clip by clip as they are done. ``notes`` takes what happened to the
    cache on the way.
    """
    sources = _listed(sources)
    if cache is not None:
        from screentest.metrics.fact_cache import FactCache

        cache = cache if isinstance(cache, FactCache) else FactCache(cache)
    families = table.choose(OPTIONS)
    options = table.resolve_options(families, OPTIONS, windows=_native.TRACK_WINDOWS)
    said: list[str] = [] if notes is None else notes

    def one(source: Any, each: int) -> ArmClip:
        return _score(source, families, options, cache, each, said, open_options)

    budget = compute.threads(threads)
    # Clips enough for every thread are read one a thread, a quarter faster than one after another.
    return results_in_order(one, sources, budget, least=1 if len(sources) >= 2 * budget else 2)


def _listed(sources: Any) -> list[Any]:
    check_sources(sources)
    return list(sources)


def _score(
    source: Any,
    families: Sequence[Family[Any]],
    options: dict[str, dict[str, Any]],
    cache: FactCache | None,
    threads: int,
    notes: list[str],
    open_options: dict[str, Any],
) -> ArmClip:
    content = None if is_in_memory(source) else content_of_file(source, open_options)
    keys: dict[str, str] = {}
    facts: dict[str, Any] = {}
    if cache is not None and content is not None:
        for family in families:
            keys[family.name] = cache.key(content, family, options[family.name])
            known = cache.get(keys[family.name], family, content.source, notes)
            if known is not None:
                facts[family.name] = known
    lacking = [family for family in families if family.name not in facts]
    if "signal" in facts and _is_still(facts["signal"].clip):
        lacking = [family for family in lacking if family.name != "tracks"]
    if lacking:
        with open_clip(source, threads=threads, **open_options) as clip:
            fresh = _measure(clip, lacking, options, threads, content)
        facts |= fresh
        if cache is not None and content is not None:
            for name, found in fresh.items():
                cache.put(keys[name], found, notes)
    for found in facts.values():
        refuse_damage(found.clip, found.damage)
    return _record(facts, content)


def _measure(
    clip: Clip,
    families: Sequence[Family[Any]],
    options: dict[str, dict[str, Any]],
    threads: int,
    content: Content | None,
) -> dict[str, Any]:
    name = clip.info.source
    wanted = [one for one in families if one.name != "tracks" or not _is_still(clip.info)]
    found = run(clip, wanted, options, threads)
    refuse_damage(clip.info, found.damage)
    for error in found.refused.values():
        # A clip that is too short for tracks is whole all the same.
        if error.code != "too_few_frames":
            raise _named(error, name)
    if clip.info.alpha == "transparent":
        raise MediaError(
            f"{name}: its pictures are transparent, so they have no single appearance; lay them "
            "over a colour first",
            code="transparent",
            source=name,
        )
    if content is not None and not content.unchanged:
        raise MediaError(
            f"{name}: changed while it was read; run again when it is whole",
            code="changed",
            source=name,
        )
    return found.facts


def _is_still(info: ClipInfo) -> bool:
    return info.frames == 1


def refuse_damage(info: ClipInfo, damage: Sequence[Damage]) -> None:
    if damage:
        more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
        raise MediaError(
            f"{info.source}: damaged ({damage[0].kind}: {damage[0].detail}){more}; a gate judges "
            "whole clips, so render or copy it again",
            code="damaged",
            source=info.source,
        )


def _named(error: ScreentestError, name: str) -> ScreentestError:
    """The error of one clip among many says which."""
    if name in error.message or not isinstance(error, MediaError):
        return error
    return MediaError(f"{name}: {error.message}", code=error.code, **error.context)


def _record(facts: dict[str, Any], content: Content | None) -> ArmClip:
    signal, integrity, tracks = facts["signal"], facts["integrity"], facts.get("tracks")
    corners = None
    if tracks is not None:
        seeded = [window.seeded for window in tracks.windows]
        corners = sum(count for count in seeded if count >= _native.TRACK_LEAST_TRACKS)
    return ArmClip(
        # Where a file lies is no part of what was measured: a report moved stays the same bytes.
        source=os.path.basename(signal.clip.source) or signal.clip.source,
        content=None if content is None else content.digest,
        score=ClipScore.of(signal),
        tracks_seen=not _is_still(signal.clip),
        corners=corners,
        track_stability=None if tracks is None else tracks.track_stability,
        stability_inside=None if tracks is None else tracks.stability_inside,
        grid_peak_ratio=integrity.grid_peak_ratio,
    )

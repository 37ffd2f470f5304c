"""One decode for any number of families: each frame goes to every accumulator that wants it.

Frames are collected into small batches while the decoder runs ahead, and a batch is given to one
family after the other; each works on it in parallel. Memory is one batch, the decoder's queue, and
what the accumulators keep. How frames are cut into batches changes no bit of any facts.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec

from screentest.errors import InputError, MissingBackendError, ScreentestError
from screentest.media import open_clip
from screentest.media.clip import Clip, Frame
from screentest.media.info import Damage
from screentest.metrics.family import Accumulator, Begin, Family

__all__ = ["Pass", "derive_what_can_be", "measure_alone", "run"]

# Of decoded frames, so many bytes and no more than so many frames wait to be measured together: two
# for each thread of the default budget, but of 1080p in 8 bits five.
_BATCH_BYTES = 16 << 20
_BATCH_DECODED = 8
# Frames of an array are there for the taking; two a thread at the largest budget in use.
_BATCH_ARRAY = 16

# What makes a clip other than it was said to be is no matter of one family.
_OF_THE_SOURCE = frozenset({"value_out_of_range", "value_range_unlikely"})

Facts = TypeVar("Facts", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass gave: the facts of each family, and why the others have none. ``damage`` is
    what the source showed while it was read."""

    facts: dict[str, Any]
    refused: dict[str, ScreentestError]
    damage: tuple[Damage, ...]


@dataclass(slots=True)
class _Member:
    """One family during the pass."""

    family: Family[Any]
    accumulator: Accumulator[Any]
    wanted: frozenset[int] | None

    def feed(self, batch: Sequence[Frame]) -> None:
        mine = batch
        if self.wanted is not None:
            mine = [frame for frame in batch if frame.index in self.wanted]
        if mine:
            self.accumulator.push_many(mine)


def run(
    clip: Clip,
    families: Sequence[Family[Any]],
    options: Mapping[str, Mapping[str, Any]],
    threads: int,
) -> Pass:
    """Reads an opened clip once and fills every family.

    If every family samples, only the frames that one of them wants are read, by seeking where the
    source can; else all are, and a family that samples is given its own.

    Args:
        clip: stays open.
        families: each once.
        options: all options of each family, by its name.
        threads: compute budget.

    Returns:
        The facts. A family that cannot run here or refuses a frame has none; the pass goes on for
        the others.

    Raises:
        MediaError: the source cannot be read, or is not what it was said to be.
        InputError: an option is wrong.
    """
    refused: dict[str, ScreentestError] = {}
    order = [family.name for family in families]
    members: list[_Member] = []
    for family in families:
        if family.derive is not None and family.derived_from in order:
            continue
        member = _begin(clip, family, options[family.name], threads, refused)
        if member is not None:
            members.append(member)
    live = list(members)
    with closing(_batches(clip, members, threads)) as batches:
        for batch in batches:
            live = [member for member in live if _went_well(member, batch, refused)]
            if not live:
                break
    damage = tuple(clip.damage)
    facts: dict[str, Any] = {}
    for member in live:
        name = member.family.name
        try:
            facts[name] = member.accumulator.finish(clip.info, damage)
        except ScreentestError as error:
            refused[name] = _own(error)
    for member in live:
        name = member.family.name
        if name in facts:
            facts[name] = member.family.look_again(clip, facts[name], threads)
    derive_what_can_be(families, facts, refused)
    return Pass({name: facts[name] for name in order if name in facts}, refused, damage)


def derive_what_can_be(
    families: Sequence[Family[Any]],
    facts: dict[str, Any],
    refused: dict[str, ScreentestError],
) -> list[str]:
    """Fills in the families that have no facts yet and are made from those of another.

    Returns:
        Their names.
    """
    made = []
    for family in families:
        name, other = family.name, family.derived_from
        if family.derive is None or name in facts or name in refused:
            continue
        if other in refused:
            refused[name] = refused[other]
        elif other in facts:
            try:
                facts[name] = family.derive(facts[other])
                made.append(name)
            except ScreentestError as error:
                refused[name] = error
    return made


def measure_alone(
    source: Any,
    family: Family[Facts],
    *,
    threads: int,
    options: Mapping[str, Any] | None = None,
    **open_options: Any,
) -> Facts:
    """The facts of one family alone, of an opened clip (left open) or of anything that opens.

    Raises:
        ScreentestError: the family refuses the clip, or cannot run here.
    """
    if isinstance(source, Clip):
        whole = {**family.options, **(options or {})}
        found = run(source, (family,), {family.name: whole}, threads)
        if family.name in found.refused:
            raise found.refused[family.name]
        return cast(Facts, found.facts[family.name])
    with open_clip(source, threads=threads, **open_options) as clip:
        return measure_alone(clip, family, threads=threads, options=options)


def _begin(
    clip: Clip,
    family: Family[Any],
    options: Mapping[str, Any],
    threads: int,
    refused: dict[str, ScreentestError],
) -> _Member | None:
    lacking = family.missing()
    if lacking is not None:
        refused[family.name] = MissingBackendError(lacking)
        return None
    frames = clip.info.frames
    try:
        wanted = None if frames is None else family.wanted(frames, options)
        begin = Begin(
            format=clip.format,
            frames=frames,
            threads=threads,
            times_s=clip.times_s,
            options=options,
        )
        accumulator = family.begin(begin)
    except InputError:
        raise
    except ScreentestError as error:
        refused[family.name] = error
        return None
    return _Member(family, accumulator, None if wanted is None else frozenset(wanted))


def _went_well(
    member: _Member, batch: Sequence[Frame], refused: dict[str, ScreentestError]
) -> bool:
    try:
        member.feed(batch)
    except ScreentestError as error:
        refused[member.family.name] = _own(error)
        return False
    return True


def _own(error: ScreentestError) -> ScreentestError:
    """The error, if it is the family's own."""
    if error.code in _OF_THE_SOURCE:
        raise error
    return error


def _batches(
    clip: Clip, members: Sequence[_Member], threads: int
) -> Generator[list[Frame], None, None]:
    if not members:
        return
    if any(member.wanted is None for member in members):
        frames = clip.frames(ahead=threads > 1)
    else:
        union: set[int] = set().union(*(member.wanted or () for member in members))
        frames = clip.frames_at(sorted(union))
    most, size = 0, 1
    batch: list[Frame] = []
    for frame in frames:
        if not most:
            most = _batch_size(clip, frame, members)
            # The first frames of a decoder are not waited for: they are measured as they come.
            size = most if clip.info.kind == "array" else 1
        batch.append(frame)
        if len(batch) >= size:
            yield batch
            size = min(most, 2 * size)
            # While the next one fills, no frame of this one may be held by the list.
            batch.clear()
    if batch:
        yield batch


def _batch_size(clip: Clip, frame: Frame, members: Sequence[_Member]) -> int:
    most = _BATCH_ARRAY if clip.info.kind == "array" else _BATCH_DECODED
    if clip.info.kind != "array" and not any(member.family.side_by_side for member in members):
        return 1
    if clip.array is not None:
        # Views of the caller's own memory take up none.
        return most
    return max(1, min(most, _BATCH_BYTES // max(1, sum(plane.nbytes for plane in frame.planes))))

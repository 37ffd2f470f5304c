"""The record of one audio verdict: no wall time, no NaN, no arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from screentest.reports.canonical import printable
from screentest.reports.plain import family_record, plain, tool
from screentest.reports.screening import describe_error, media_record
from screentest.verdicts.audio import SCOPE_NOTE

if TYPE_CHECKING:
    from screentest.listening import Listening
    from screentest.media.info import SoundInfo
    from screentest.metrics.audio.facts import AudioFacts
    from screentest.metrics.audio_pair.facts import AudioPairFacts
    from screentest.metrics.sync.facts import SyncFacts

__all__ = ["SCHEMA", "audio_record", "error_record", "sound_record"]

SCHEMA = "screentest/audio@1"


def audio_record(listening: Listening) -> dict[str, Any]:
    """The record as plain data; an absent number is ``None``.

    ``values`` holds the facts by family, under the names of the metrics; the series stay in memory.
    """
    facts, reference = listening.facts, listening.reference
    values = {
        "audio": _facts(facts),
        "reference": _facts(reference),
        "audio_pair": _pair(listening.pair),
        "sync": _sync(listening.sync),
        "reference_sync": _sync(listening.reference_sync),
        "audio_content": None
        if listening.content is None
        else _without(family_record(listening.content), "sound"),
    }
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "status": listening.verdict,
        "tool": tool(),
        "scope": SCOPE_NOTE,
        "input": _input(listening.source, facts),
        "reference": None
        if listening.reference_source is None
        else _input(listening.reference_source, reference),
        "policy": {"name": listening.policy, "sha256": listening.policy_sha256},
        "values": values,
        "defects": listening.defects,
        "notes": listening.notes,
        "unmeasured": listening.unmeasured,
        "error": None,
    }
    cleaned: dict[str, Any] = plain(msgspec.to_builtins(record))
    return cleaned


def error_record(source: str, reference: str | None, error: BaseException) -> dict[str, Any]:
    """The record of a sound that could not be judged, with the keys of every other."""
    code, message = describe_error(error)
    return {
        "schema": SCHEMA,
        "status": "error",
        "tool": tool(),
        "scope": SCOPE_NOTE,
        "input": {"source": printable(source)},
        "reference": None if reference is None else {"source": printable(reference)},
        "policy": None,
        "values": None,
        "defects": [],
        "notes": [],
        "unmeasured": [],
        "error": {"code": code, "message": printable(message)},
    }


def sound_record(sound: SoundInfo) -> dict[str, Any]:
    """What is known of a sound; what is not is null. The source stands one level up."""
    known: dict[str, Any] = msgspec.to_builtins(sound)
    del known["source"]
    return known


def _input(source: str, facts: AudioFacts | None) -> dict[str, Any]:
    record: dict[str, Any] = {"source": source}
    if facts is not None:
        record |= {**sound_record(facts.sound), "damage": facts.damage}
    return record


def _facts(facts: AudioFacts | None) -> dict[str, Any] | None:
    return None if facts is None else _without(family_record(facts), "sound")


def _pair(pair: AudioPairFacts | None) -> dict[str, Any] | None:
    """Both sounds stand among the inputs."""
    if pair is None:
        return None
    elsewhere = ("reference", "candidate", "reference_damage", "candidate_damage")
    return _without(family_record(pair), *elsewhere)


def _sync(sync: SyncFacts | None) -> dict[str, Any] | None:
    if sync is None:
        return None
    picture = {"source": sync.clip.source, **media_record(sync.clip)}
    return {"picture": picture, **_without(family_record(sync), "sound")}


def _without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in names}

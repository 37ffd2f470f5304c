"""The record of one track measurement, judged or not: no wall time, no NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from screentest.metrics.tracks.names import METRICS
from screentest.reports.canonical import printable
from screentest.reports.plain import plain, tool
from screentest.reports.screening import describe_error, media_record
from screentest.verdicts.tracks import SCOPE_NOTE

if TYPE_CHECKING:
    from screentest.metrics.tracks.facts import TrackFacts
    from screentest.tracking import Tracking

__all__ = ["SCHEMA", "error_record", "tracks_record"]

SCHEMA = "screentest/tracks@1"


def tracks_record(tracking: Tracking) -> dict[str, Any]:
    """The record as plain data; an absent number is ``None``.

    ``status`` is the verdict, or ``measured`` where there was no reference to judge by. The
    positions of the tracks stay in memory.
    """
    verdict, reference = tracking.verdict, tracking.reference
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "status": "measured" if verdict is None else verdict.verdict,
        "tool": tool(),
        "scope": SCOPE_NOTE,
        "input": _input(tracking.facts),
        "reference": None if reference is None else _input(reference),
        "options": {"windows": tracking.windows},
        "policy": None
        if verdict is None
        else {"name": verdict.policy, "sha256": verdict.policy_sha256},
        "values": _values(tracking.facts),
        "reference_values": None if reference is None else _values(reference),
        "track_stability_ratio": None if verdict is None else verdict.ratio,
        "defects": [] if verdict is None else msgspec.to_builtins(verdict.defects),
        "notes": [] if verdict is None else msgspec.to_builtins(verdict.notes),
        "unmeasured": _gaps(tracking),
        "error": None,
    }
    cleaned: dict[str, Any] = plain(record)
    return cleaned


def error_record(source: str, reference: str | None, error: BaseException) -> dict[str, Any]:
    """The record of a measurement that could not be made, with the keys of every other."""
    code, message = describe_error(error)
    return {
        "schema": SCHEMA,
        "status": "error",
        "tool": tool(),
        "scope": SCOPE_NOTE,
        "input": {"source": printable(source)},
        "reference": None if reference is None else {"source": printable(reference)},
        "options": None,
        "policy": None,
        "values": None,
        "reference_values": None,
        "track_stability_ratio": None,
        "defects": [],
        "notes": [],
        "unmeasured": [],
        "error": {"code": code, "message": printable(message)},
    }


def _input(facts: TrackFacts) -> dict[str, Any]:
    return {
        "source": printable(facts.clip.source),
        **media_record(facts.clip),
        "damage": msgspec.to_builtins(facts.damage),
    }


def _values(facts: TrackFacts) -> dict[str, Any]:
    """The numbers of a clip by metric name, and of its windows."""
    return {
        "impl": facts.impl,
        "metrics": {
            spec.name: {
                "value": getattr(facts, spec.name),
                "unit": spec.unit,
                "impl": spec.impl,
                "direction": spec.direction,
            }
            for spec in METRICS
            if not spec.paired
        },
        "working_size": [facts.working_width, facts.working_height],
        "frames_read": facts.frames_read,
        "windows": msgspec.to_builtins(facts.windows),
    }


def _gaps(tracking: Tracking) -> list[dict[str, Any]]:
    """What has no number: of the verdict, of the input, of the reference."""
    verdict, reference = tracking.verdict, tracking.reference
    groups = (
        ("verdict", () if verdict is None else verdict.unmeasured),
        ("input", tracking.facts.unmeasured),
        ("reference", () if reference is None else reference.unmeasured),
    )
    return [
        {"of": of, "axis": gap.axis, "reason": gap.reason, "applies": gap.applies}
        for of, gaps in groups
        for gap in gaps
    ]

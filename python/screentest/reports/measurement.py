"""The record of one measurement: what was measured of what, and what could not be. No verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from screentest.reports.canonical import printable
from screentest.reports.comparison import scores_record
from screentest.reports.plain import family_record, plain, tool
from screentest.reports.screening import media_record

if TYPE_CHECKING:
    from screentest.measuring import Measurement

__all__ = ["SCHEMA", "error_record", "measurement_record"]

SCHEMA = "screentest/measurement@1"


def measurement_record(measurement: Measurement) -> dict[str, Any]:
    """The record of a measurement as plain data; an absent number is ``None``.

    The numbers of single frames stay in memory; ``screentest measure --series`` writes them.
    """
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "status": "incomplete" if measurement.unmeasured else "measured",
        "tool": tool(),
        "source": measurement.source,
        "input": {
            "content": measurement.content,
            **media_record(measurement.clip),
            "damage": msgspec.to_builtins(measurement.damage),
        },
        "options": {
            **measurement.options,
            "sampled_frames": {
                name: [list(run) for run in runs] for name, runs in measurement.sampled.items()
            },
        },
        "metrics": scores_record(measurement.scores),
        "facts": {name: family_record(facts) for name, facts in measurement.facts.items()},
        "unmeasured": [
            {"name": name, "reason": reason} for name, reason in measurement.unmeasured.items()
        ],
        "error": None,
    }
    cleaned: dict[str, Any] = plain(msgspec.to_builtins(record, enc_hook=_number))
    return cleaned


def error_record(source: str, code: str, message: str) -> dict[str, Any]:
    """The record of an input that could not be read, with the keys of every other."""
    return {
        "schema": SCHEMA,
        "status": "error",
        "tool": tool(),
        "source": printable(source),
        "input": None,
        "options": None,
        "metrics": {},
        "facts": {},
        "unmeasured": [],
        "error": {"code": code, "message": printable(message)},
    }


def _number(value: Any) -> Any:
    """Numbers of numpy, or what an option was given as that no document can hold."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)

"""The record of one comparison: the pairing, then the scores. No wall time, no NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from screentest.reports.canonical import printable
from screentest.reports.plain import plain, tool
from screentest.reports.screening import describe_error, media_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.comparing import CodecFloorFinding, Comparison
    from screentest.metrics.facts import Score

__all__ = ["SCHEMA", "comparison_record", "error_record", "score_record", "scores_record"]

SCHEMA = "screentest/comparison@1"


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """The record of a comparison as plain data; an absent number is ``None``."""
    facts, pairing = comparison.facts, comparison.facts.pairing
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "status": "scored" if comparison.scored else "not_scored",
        "tool": tool(),
        "reference": {"source": printable(comparison.reference), **media_record(facts.reference)},
        "candidate": {"source": printable(comparison.candidate), **media_record(facts.candidate)},
        "pairing": {
            "impl": pairing.impl,
            "aligned": comparison.aligned,
            "reasons": list(comparison.reasons),
            "frames_reference": pairing.frames_reference,
            "frames_candidate": pairing.frames_candidate,
            "lag": pairing.lag,
            "lag_evidence": pairing.lag_evidence,
            "dropped": list(pairing.dropped),
            "repeated": list(pairing.repeated),
            "missing_at_end": pairing.missing_at_end,
            "extra_at_end": pairing.extra_at_end,
            "differences": msgspec.to_builtins(pairing.differences),
            "align": comparison.align,
            "pairs_compared": len(facts.pairs) if comparison.scored else 0,
        },
        "findings": list(comparison.findings),
        "metrics": scores_record(comparison.scores),
        "unmeasured": [
            {"name": score.name, "reason": score.reason} for score in comparison.unmeasured
        ],
        "damage": msgspec.to_builtins(facts.damage),
        "codec_floor": None
        if comparison.codec_floor is None
        else _floor_record(comparison.codec_floor),
        "error": None,
    }
    cleaned: dict[str, Any] = plain(record)
    return cleaned


def error_record(reference: str, candidate: str, error: BaseException) -> dict[str, Any]:
    """The record of a comparison that could not be made, with the keys of every other."""
    code, message = describe_error(error)
    return {
        "schema": SCHEMA,
        "status": "error",
        "tool": tool(),
        "reference": {"source": printable(reference)},
        "candidate": {"source": printable(candidate)},
        "pairing": None,
        "findings": [],
        "metrics": {},
        "unmeasured": [],
        "damage": {"reference": [], "candidate": []},
        "codec_floor": None,
        "error": {"code": code, "message": printable(message)},
    }


def scores_record(scores: Sequence[Score]) -> dict[str, Any]:
    """Scores by name."""
    return {score.name: score_record(score) for score in scores}


def score_record(score: Score) -> dict[str, Any]:
    """One score as plain data, without its name."""
    record: dict[str, Any] = msgspec.to_builtins(score)
    del record["name"]
    return record


def _floor_record(floor: CodecFloorFinding) -> dict[str, Any]:
    return {
        "reason": floor.reason,
        "how": floor.how,
        "encoder": floor.encoder,
        "parameters": floor.parameters,
        "differences": {name: list(pair) for name, pair in floor.differences.items()},
        "metrics": scores_record(floor.scores),
    }

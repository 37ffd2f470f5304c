"""The record of one screening: a closed JSON object without wall time, NaN or decoration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from screentest.reports.canonical import printable
from screentest.reports.plain import family_record, plain, tool
from screentest.verdicts.integrity import SCOPE_NOTE
from screentest.verdicts.policy import AXES

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo
    from screentest.metrics.integrity import IntegrityFacts
    from screentest.screening import Screening
    from screentest.verdicts.judgement import Note

__all__ = [
    "SCHEMA",
    "describe_error",
    "error_record",
    "media_record",
    "screening_record",
]

SCHEMA = "screentest/screening@1"


def screening_record(screening: Screening) -> dict[str, Any]:
    """The record of a screening as plain data; an absent number is ``None``.

    ``notes`` and ``temporal`` stand in it where the temporal screens were asked for, and only then;
    ``audio`` where the clip has a soundtrack that was not left out.
    """
    facts = screening.facts
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": tool(),
        "scope": SCOPE_NOTE,
        "source": printable(screening.source),
        "media": media_record(facts.clip),
        "policy": {"name": screening.policy, "sha256": screening.policy_sha256},
        "depth": facts.depth,
        "frames": facts.frames,
        "frames_read": facts.frames_read,
        "verdict": screening.verdict,
        "defects": msgspec.to_builtins(screening.defects),
        "unmeasured": msgspec.to_builtins(screening.unmeasured),
        "facts": facts_record(facts),
        "spec": screening.spec,
        "error": None,
    }
    if screening.temporal_policy is not None:
        policy = {"name": screening.temporal_policy, "sha256": screening.temporal_policy_sha256}
        temporal = None if screening.temporal is None else family_record(screening.temporal)
        record |= _temporal_part(screening.notes, policy, temporal)
    if screening.audio_policy is not None:
        record["audio"] = _audio_part(screening)
    cleaned: dict[str, Any] = plain(record)
    return cleaned


def _audio_part(screening: Screening) -> dict[str, Any]:
    from screentest.verdicts import audio

    facts = screening.audio
    return {
        "scope": audio.SCOPE_NOTE,
        "policy": {"name": screening.audio_policy, "sha256": screening.audio_policy_sha256},
        "facts": None if facts is None else msgspec.to_builtins(family_record(facts)),
        "damage": [] if facts is None else msgspec.to_builtins(facts.damage),
        "unmeasured": [] if facts is None else msgspec.to_builtins(facts.unmeasured),
    }


def _temporal_part(
    notes: tuple[Note, ...], policy: dict[str, Any] | None, facts: dict[str, Any] | None
) -> dict[str, Any]:
    from screentest.verdicts import temporal

    return {
        "notes": msgspec.to_builtins(notes),
        "temporal": {
            "scope": temporal.SCOPE_NOTE,
            "policy": policy,
            "facts": msgspec.to_builtins(facts),
        },
    }


def error_record(source: str, code: str, message: str, *, temporal: bool = False) -> dict[str, Any]:
    """The record of an input that could not be read: unmeasured, with the ``error`` that says why.

    It has the keys of every other record, so that a reader of many needs no second shape;
    ``temporal`` says that those of the temporal screens are among them.
    """
    axes: tuple[str, ...] = AXES
    if temporal:
        from screentest.metrics.temporal import AXES as TEMPORAL_AXES

        axes += TEMPORAL_AXES
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": tool(),
        "scope": SCOPE_NOTE,
        "source": printable(source),
        "media": None,
        "policy": None,
        "depth": None,
        "frames": None,
        "frames_read": 0,
        "verdict": "unmeasured",
        "defects": [],
        "unmeasured": [
            {"axis": axis, "reason": "the input could not be read", "applies": True}
            for axis in axes
        ],
        "facts": {},
        "spec": None,
        "error": {"code": code, "message": printable(message)},
    }
    return record | _temporal_part((), None, None) if temporal else record


def facts_record(facts: IntegrityFacts) -> dict[str, Any]:
    """The scalar facts under the metric names of the specification. The series stays in memory."""
    return {
        "impl": facts.impl,
        "adjacent_frame_corr": facts.adjacent_frame_corr,
        "adjacent_frame_corr_aligned": facts.adjacent_frame_corr_aligned,
        "corr_starts": list(facts.corr_starts),
        "corr_series": list(facts.corr_series),
        "corr_aligned_series": list(facts.corr_aligned_series),
        "frame_std_min": facts.frame_std_min,
        "grid_peak_ratio": facts.grid_peak_ratio,
        "grid_period_px": facts.grid_period_px,
        "grid_axis": facts.grid_axis,
        "grid_phase_px": facts.grid_phase_px,
        "grid_line": msgspec.to_builtins(facts.grid_line),
        "grid_frames": list(facts.grid_frames),
        "first_frame_change": facts.first_frame_change,
        "non_finite_samples": facts.non_finite_samples,
        "non_finite_frames": [list(run) for run in facts.non_finite_frames],
        "non_finite_first": (
            None if facts.non_finite_first is None else list(facts.non_finite_first)
        ),
        "damage": msgspec.to_builtins(facts.damage),
    }


def media_record(clip: ClipInfo) -> dict[str, Any]:
    """What is known of the clip; what is not is null. The source stands one level up."""
    known: dict[str, Any] = msgspec.to_builtins(clip)
    del known["source"]
    return known


def describe_error(error: BaseException) -> tuple[str, str]:
    """A stable code and one line for an error that ends the reading of one input."""
    from screentest.errors import ScreentestError

    if isinstance(error, ScreentestError):
        return error.code, " ".join(error.message.split())
    if isinstance(error, FileNotFoundError):
        return "not_found", f"{_named(error)}: no such file or folder"
    if isinstance(error, PermissionError):
        return "not_permitted", f"{_named(error)}: may not be read (permission denied)"
    if isinstance(error, OSError):
        return "unreadable_file", f"{_named(error)}: {error.strerror or error}"
    return "error", " ".join(str(error).split()) or type(error).__name__


def _named(error: OSError) -> str:
    return str(error.filename) if error.filename is not None else "input"

"""Controls of a gate, however they were given: measured before, in a sealed document, or as clips
that are still to be measured."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from screentest.errors import InputError, ProtocolError
from screentest.gates.budget import BudgetTable
from screentest.gates.repeat_control import require_faultless
from screentest.gates.report import GateReport, NullControl, RepeatControl
from screentest.gating.arms import Arms, find_arms
from screentest.gating.headers import Stamp, geometry_faults, read_headers
from screentest.protocol import ArmLanes, ChangeKind, Protocol, Purpose

__all__ = ["ControlClips", "null_control_of", "repeat_control_of"]


@dataclass(frozen=True, slots=True)
class ControlClips:
    """A control that is measured when its gate runs."""

    protocol: Protocol
    arms: Arms


def null_control_of(
    given: Any,
    reference: Any,
    protocol: Protocol,
    table: BudgetTable,
    **open_options: Any,
) -> NullControl | ControlClips | None:
    """The null control that was given.

    Args:
        given: ``None``; a control; the path of a sealed control, or of the sealed gate report of a
            run whose only change was the seed; a folder or list of clips that the reference arm
            rendered under other seeds; or two folders, one seed and another.
        reference: the run's reference arm, which such clips are paired with.
        protocol: of the run.
        table: the budgets that it tries.
        **open_options: passed to :func:`~screentest.media.open_clip`.

    Raises:
        SchemaError: the document is neither.
        ProtocolError: the report is of another change, or clips are not what the run's stamp says.
        InputError: clips and references do not go together.
        FileNotFoundError: there is no such file.
    """
    if given is None or isinstance(given, NullControl):
        return given
    if (path := _document(given)) is not None:
        body = _read(path, NullControl)
        if isinstance(body, NullControl):
            return body
        return _null_of_report(path, body, table)
    return _clips(given, reference, protocol, ChangeKind.SEED, Purpose.QUALITY, open_options)


def repeat_control_of(
    given: Any, reference: Any, protocol: Protocol, **open_options: Any
) -> RepeatControl | ControlClips | None:
    """The repeat control that was given; as :func:`null_control_of`, of clips that the reference
    arm rendered again, or of a report whose only change was ``repeat``."""
    if given is None or isinstance(given, RepeatControl):
        return given
    if (path := _document(given)) is not None:
        body = _read(path, RepeatControl)
        if isinstance(body, RepeatControl):
            return body
        if body.reference is None:
            raise _wrong_report(path, body, "repeat")
        facts = body.reference
        return RepeatControl(
            protocol=body.protocol, values=facts.values, impls=facts.impls, impl=facts.impl
        )
    paired = Purpose.PAIRED_FIDELITY
    clips = _clips(given, reference, protocol, ChangeKind.REPEAT, paired, open_options)
    require_faultless(clips.protocol, len(clips.arms.names))
    return clips


def _null_of_report(path: str, report: GateReport, table: BudgetTable) -> NullControl:
    from screentest.gates.null_control import null_control_from

    if report.population is None or report.protocol.changes != (ChangeKind.SEED,):
        raise _wrong_report(path, report, "seed")
    return null_control_from(report.population, report.protocol, table)


def _wrong_report(path: str, report: GateReport, wanted: str) -> ProtocolError:
    changes = ", ".join(change.value for change in report.protocol.changes)
    return ProtocolError(
        f"{path}: a gate report of {changes}; a control is one whose only change is {wanted}",
        code="not_a_control",
    )


def _document(given: Any) -> str | None:
    """The path, if it is that of a file that holds no pictures."""
    if isinstance(given, list | tuple) and len(given) == 1:
        given = given[0]
    if not isinstance(given, str | os.PathLike) or os.path.isdir(given):
        return None
    with open(given, "rb") as file:
        return os.fsdecode(given) if file.read(1) == b"{" else None


Body = TypeVar("Body", NullControl, RepeatControl)


def _read(path: str, kind: type[Body]) -> Body | GateReport:
    from screentest.reports import canonical, sealed

    body = sealed.load(canonical.without_newline(Path(path).read_bytes())).body
    if not isinstance(body, kind | GateReport):
        raise InputError(
            f"{path} is sealed and holds a {type(body).__name__}; expected a {kind.__name__}, or "
            "the gate report that one can be made of",
            code="not_a_control",
        )
    return body


def _clips(
    given: Any,
    reference: Any,
    protocol: Protocol,
    change: ChangeKind,
    purpose: Purpose,
    open_options: dict[str, Any],
) -> ControlClips:
    try:
        arms = find_arms(*given) if _is_two_folders(given) else find_arms(reference, given)
    except InputError as error:
        raise InputError(
            f"the {change.value} control: {error.message} (a control is clips that pair with the "
            "reference arm, or a sealed document)",
            code=error.code,
            **error.context,
        ) from None
    headers = read_headers([*arms.references, *arms.candidates], **open_options)
    pairs = list(zip(headers[: len(arms.names)], headers[len(arms.names) :], strict=True))
    stamp = Stamp(protocol.width, protocol.height, protocol.frames, protocol.fps)
    for fault in geometry_faults(arms, pairs, stamp):
        raise ProtocolError(f"the {change.value} control: {fault}", code="control_geometry")
    same_clips = len(arms.names) == protocol.n
    ran = protocol.execution_lane.reference
    return ControlClips(
        replace(
            protocol,
            changes=(change,),
            purpose=purpose,
            candidate_arm=protocol.reference_arm,
            execution_lane=ArmLanes(reference=ran, candidate=ran),
            # Clips of another number have other prompts, which the gate will say.
            prompts=protocol.prompts if same_clips else arms.names,
            seeds=protocol.seeds if same_clips else protocol.seeds[:1],
        ),
        arms,
    )


def _is_two_folders(given: Any) -> bool:
    return (
        isinstance(given, Sequence)
        and not isinstance(given, str)
        and len(given) == 2
        and all(isinstance(each, str | os.PathLike) and os.path.isdir(each) for each in given)
    )

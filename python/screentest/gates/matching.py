"""Does a control belong to a run: was it taken under the same conditions?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from screentest.gates.verdict import MIN_PROMPTS
from screentest.protocol import ChangeKind

if TYPE_CHECKING:
    from screentest.gates.report import NullControl, ReferenceFacts, RepeatControl
    from screentest.metrics.population.facts import PopulationFacts
    from screentest.protocol import Protocol

__all__ = ["null_faults", "null_stamp_faults", "repeat_faults", "repeat_stamp_faults"]

SHARED = ("family", "width", "height", "frames", "steps", "execution_lane", "hardware")
"""What any control shares with its run."""

OF_A_REPEAT = (*SHARED, "fps", "guidance", "prompts", "seeds", "same_pod", "reference_arm", "extra")
"""What a repeat shares besides: it is the same render once more."""


def null_faults(control: NullControl, protocol: Protocol, facts: PopulationFacts) -> Iterator[str]:
    """Why a null control says nothing about this run."""
    yield from null_stamp_faults(control.protocol, protocol)
    yield from _other_version("null control", "the gate", control.impl, facts.impl)


def null_stamp_faults(control: Protocol, protocol: Protocol) -> Iterator[str]:
    """What the stamps alone say against a null control, before anything is measured."""
    if control.changes != (ChangeKind.SEED,):
        changes = ", ".join(change.value for change in control.changes)
        yield f"the null control changes {changes}, where the seed alone was expected"
    yield from _faults("null control", control, protocol, SHARED)
    if control.n < MIN_PROMPTS:
        yield f"the null control has {control.n} prompts; expected {MIN_PROMPTS}"
    if set(control.prompts) != set(protocol.prompts):
        yield "the null control was taken on other prompts than the run"


def repeat_faults(
    control: RepeatControl, protocol: Protocol, facts: ReferenceFacts
) -> Iterator[str]:
    """Why a repeat control says nothing about this run."""
    yield from repeat_stamp_faults(control.protocol, protocol)
    yield from _other_version("repeat control", "the gate", control.impl, facts.impl)
    for metric in sorted(facts.impls):
        # What only one of the two measured is no conflict.
        if metric in control.impls:
            ours, theirs = control.impls[metric], facts.impls[metric]
            yield from _other_version("repeat control", metric, ours, theirs)


def repeat_stamp_faults(control: Protocol, protocol: Protocol) -> Iterator[str]:
    """The same of a repeat control."""
    yield from _faults("repeat control", control, protocol, OF_A_REPEAT)


def _other_version(control: str, what: str, ours: str, theirs: str) -> Iterator[str]:
    if ours != theirs:
        yield (
            f"the {control} was measured by {what} of version {ours or 'unknown'}, the run by "
            f"{theirs or 'unknown'}: such numbers do not compare"
        )


def _faults(
    what: str, control: Protocol, protocol: Protocol, fields: Iterable[str]
) -> Iterator[str]:
    # What a stamp says against its own run counts against the control as well; what both stamps
    # say is said of the run.
    known = {*protocol.faults()}
    yield from (f"{what}: {fault}" for fault in control.faults() if fault not in known)
    for field in fields:
        ours, theirs = getattr(control, field), getattr(protocol, field)
        if ours == theirs:
            continue
        if isinstance(ours, tuple | dict):
            # Too long to print, and a prompt may be what nobody wants in a log.
            yield f"the {what} was taken with other {field} than the run"
        else:
            yield f"the {what} was taken with {field} {_told(ours)}, the run with {_told(theirs)}"


def _told(value: object) -> str:
    reference, candidate = (getattr(value, arm, None) for arm in ("reference", "candidate"))
    if isinstance(reference, str):
        return f"{reference or 'not observed'}/{candidate or 'not observed'}"
    return str(value)

"""The conditions that two arms were rendered and compared under, stamped on every result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, NoReturn, TypeAlias, get_args

import msgspec
from msgspec.structs import force_setattr

from screentest.errors import ProtocolError
from screentest.protocol.kinds import ChangeKind, Lane, Purpose, as_change, classify_change

__all__ = ["ArmLanes", "ExecutionLane", "Protocol"]

ExecutionLane: TypeAlias = Literal["", "compiled", "eager"]
"""How an arm was executed; empty where nobody observed it."""

LARGEST_INTEGER = 2**53 - 1
"""What JSON carries exactly in every reader."""


class ArmLanes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each arm's execution mode."""

    reference: ExecutionLane = ""
    candidate: ExecutionLane = ""


class Protocol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one comparison of two arms was made under. Closed, and checked when it is made.

    Attributes:
        family: of the model, e.g. ``"ltx-2.3"``.
        reference_arm: name of the arm that is compared with.
        candidate_arm: name of the arm in question.
        changes: what differs between them; at least one, or its name.
        width: of every clip, in pixels.
        height: of every clip, in pixels.
        frames: of every clip; 1 for stills.
        steps: of the sampler.
        seeds: one for all prompts, or one for each.
        prompts: each its own; their order is that of the pairs.
        execution_lane: each arm's mode; ``"compiled"`` or ``"eager"`` for both is taken as well.
        hardware: what both arms ran on.
        fps: frames per second; 0 where it was not stated.
        guidance: 0 where it was not stated.
        same_pod: whether both arms ran on one worker: host and GPU variant move these statistics by
            themselves.
        purpose: did it get worse (``quality``), or how far did it move (``paired-fidelity``).
        notes: for people.
        extra: what else defines the run.

    Raises:
        ProtocolError: a field is empty, not finite, out of range or names nothing known; a prompt
            stands twice; seeds and prompts do not go together. The message names the field.

    >>> Protocol(family="f", reference_arm="a", candidate_arm="b", changes=("compile",), width=64,
    ...          height=48, frames=6, steps=8, seeds=(0,), prompts=("a cat",),
    ...          execution_lane="compiled", hardware="H100").lane.value
    'population'
    """

    family: str
    reference_arm: str
    candidate_arm: str
    changes: tuple[ChangeKind, ...]
    width: int
    height: int
    frames: int
    steps: int
    seeds: tuple[int, ...]
    prompts: tuple[str, ...]
    hardware: str
    execution_lane: ArmLanes = ArmLanes()
    fps: float = 0.0
    guidance: float = 0.0
    same_pod: bool = True
    purpose: Purpose = Purpose.QUALITY
    notes: str = ""
    extra: dict[str, str] = {}

    def __post_init__(self) -> None:
        for name in ("family", "reference_arm", "candidate_arm", "hardware"):
            _check_text(name, getattr(self, name))
        _check_text("notes", self.notes, may_be_empty=True)
        for name in ("width", "height", "frames", "steps"):
            _check_count(name, getattr(self, name))
        for name in ("fps", "guidance"):
            _check_number(name, getattr(self, name))
        if not isinstance(self.same_pod, bool):
            _refuse("same_pod", self.same_pod, "true or false")
        force_setattr(self, "changes", _changes(self.changes))
        force_setattr(self, "execution_lane", _lanes(self.execution_lane))
        force_setattr(self, "purpose", _purpose(self.purpose))
        force_setattr(self, "prompts", _prompts(self.prompts))
        force_setattr(self, "seeds", _seeds(self.seeds, len(self.prompts)))
        if not isinstance(self.extra, dict):
            _refuse("extra", self.extra, "a table of texts")
        for key, value in self.extra.items():
            _check_text("extra", key)
            _check_text(f"extra.{key}", value, may_be_empty=True)

    @property
    def n(self) -> int:
        """How many prompts, and so pairs."""
        return len(self.prompts)

    @property
    def lane(self) -> Lane:
        """Which family of statistics the changes leave meaning in."""
        return classify_change(*self.changes)

    @property
    def resolution(self) -> str:
        """``WxH``."""
        return f"{self.width}x{self.height}"

    def line(self) -> str:
        """One line for people: what was compared, at which size, how it ran, and on which lane."""
        lanes = self.execution_lane
        ran: str = lanes.reference or "not observed"
        if lanes.candidate != lanes.reference:
            ran = f"{ran} against {lanes.candidate or 'not observed'}"
        return (
            f"{self.family}: {self.candidate_arm} against {self.reference_arm}, "
            f"{self.resolution}x{self.frames}f, {self.steps} steps, n={self.n}, execution {ran}, "
            f"{self.hardware}, {'same pod' if self.same_pod else 'CROSS POD'}, {self.lane.value} "
            f"lane, purpose {self.purpose.value}"
        )

    def faults(self) -> Iterator[str]:
        """Why no quality claim can follow from a comparison under these conditions."""
        if not self.same_pod:
            yield (
                "the arms ran on different pods, and host and GPU variant move these statistics by "
                "themselves: render both on one"
            )
        lanes = self.execution_lane
        for arm, mode in (("reference", lanes.reference), ("candidate", lanes.candidate)):
            if not mode:
                yield f"the execution mode of the {arm} arm was not observed: compiled or eager?"
        if lanes.reference and lanes.candidate and lanes.reference != lanes.candidate:
            yield (
                f"the arms ran in different modes: {lanes.reference} in the reference, "
                f"{lanes.candidate} in the candidate; render both in the mode that serves"
            )


def _changes(given: Any) -> tuple[ChangeKind, ...]:
    if isinstance(given, str) or not isinstance(given, tuple | list):
        _refuse("changes", given, "a list of change kinds")
    changes = tuple(as_change(kind) for kind in given)
    classify_change(*changes)
    if len(set(changes)) != len(changes):
        _refuse("changes", [kind.value for kind in changes], "each kind once")
    return changes


def _lanes(given: Any) -> ArmLanes:
    modes = get_args(ExecutionLane)
    if isinstance(given, str):
        given = ArmLanes(reference=given, candidate=given)  # type: ignore[arg-type]
    if not isinstance(given, ArmLanes):
        _refuse("execution_lane", given, "compiled or eager, for both arms or for each")
    for arm in ("reference", "candidate"):
        if (mode := getattr(given, arm)) not in modes:
            _refuse(f"execution_lane of the {arm}", mode, "compiled or eager")
    return given


def _purpose(given: Any) -> Purpose:
    try:
        return Purpose(given)
    except ValueError:
        _refuse("purpose", given, " or ".join(purpose.value for purpose in Purpose))


def _prompts(given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, tuple | list) or not given:
        _refuse("prompts", given, "at least one prompt, in the order of the pairs")
    seen: set[str] = set()
    for at, prompt in enumerate(given):
        _check_text(f"prompts[{at}]", prompt)
        if prompt in seen:
            raise ProtocolError(
                f"prompt {prompt!r} stands twice, at {given.index(prompt)} and {at}: each pair "
                "needs a prompt of its own",
                code="duplicate_prompt",
            )
        seen.add(prompt)
    return tuple(given)


def _seeds(given: Any, prompts: int) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, tuple | list):
        _refuse("seeds", given, "one seed for all prompts, or one for each")
    for seed in given:
        if isinstance(seed, bool) or not isinstance(seed, int) or abs(seed) > LARGEST_INTEGER:
            _refuse("seeds", seed, "whole numbers up to 2**53 - 1; note a larger one in extra")
    if len(given) not in (1, prompts):
        raise ProtocolError(
            f"{len(given)} seeds for {prompts} prompts: expected one for all, or one for each",
            code="seed_count",
        )
    return tuple(given)


def _check_text(name: str, value: Any, *, may_be_empty: bool = False) -> None:
    if not isinstance(value, str) or not (may_be_empty or value.strip()):
        _refuse(name, value, "text" if may_be_empty else "text that is not empty")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        _refuse(name, value, "text that UTF-8 can carry")


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LARGEST_INTEGER:
        _refuse(name, value, "a whole number above 0")


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(name, value, "a number")
    if not (math.isfinite(value) and 0 <= value <= LARGEST_INTEGER):
        _refuse(name, value, "a finite number from 0 on, 0 where it is not known")


def _refuse(name: str, value: Any, expected: str) -> NoReturn:
    raise ProtocolError(
        f"protocol field {name} is {value!r}: expected {expected}", code="bad_field", field=name
    )

"""What a family of reference-free metrics is to the engine that feeds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Clip, Frame
    from screentest.media.info import ClipInfo, Damage

__all__ = ["Accumulator", "Begin", "Family", "why_unmeasured"]

Facts_co = TypeVar("Facts_co", covariant=True)
Facts = TypeVar("Facts", bound=msgspec.Struct)


class Accumulator(Protocol[Facts_co]):
    """Takes the frames that its family wants, in display order, and gives the facts once."""

    def push_many(self, frames: Sequence[Frame], /) -> None:
        """Takes the next frames; how they are cut into batches changes no bit of the facts.

        A frame that is compared with the next one may be kept until that has come: its planes must
        stay as they are until then.
        """

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> Facts_co:
        """The facts of the frames taken; called once, after the last frame."""


@dataclass(frozen=True, kw_only=True)
class Begin:
    """What an accumulator is told before the first frame.

    ``frames`` is the clip's length, or ``None`` where it is not known. ``times_s`` are the
    presentation times of all frames where they are known.
    """

    format: FrameFormat
    frames: int | None
    threads: int
    times_s: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)


def _every_frame(_frames: int, _options: Mapping[str, Any]) -> None:
    return None


def why_unmeasured(facts: Any) -> dict[str, str]:
    """The reasons that the facts themselves give, by axis."""
    return {gap.axis: gap.reason for gap in facts.unmeasured}


def _nothing_missing() -> None:
    return None


def _as_they_are(_clip: Clip, facts: Facts, _threads: int) -> Facts:
    return facts


@dataclass(frozen=True, kw_only=True)
class Family(Generic[Facts]):
    """One family of facts about a clip.

    Attributes:
        name: ``screentest.metrics.<name>``, and what ``families=`` calls it.
        says: one line for people.
        impl: changes when any fact could change.
        facts: what its accumulator gives; msgspec can write it and read it back.
        begin: makes an accumulator.
        wanted: the display indices that a clip of so many frames is read at, with these options;
            ``None`` is every frame.
        values: the metrics of these facts, by registry name; ``None`` where one is unmeasured.
        reasons: why each value that is ``None`` is: metric name -> one line; by default what the
            facts say of the axis of that name.
        options: the options it takes, with their defaults.
        missing: why it cannot run here (an extra that is not installed), or ``None``.
        look_again: what a look at a few more frames adds once the clip has been read to its end;
            gives the facts. For what only the whole can tell: which frames would be evidence.
        side_by_side: whether its kernels gain by several decoded frames at once; where no family
            of a pass does, frames are measured as they come, and nobody waits for a part of one.
        derive: makes the facts, to the last bit, from those of the family called ``derived_from``;
            where that one is measured too, this one is given no frames.
        derived_from: name of a family whose facts hold all that this one reads of the frames.
    """

    name: str
    says: str
    impl: str
    facts: type[Facts]
    begin: Callable[[Begin], Accumulator[Facts]]
    values: Callable[[Facts], Mapping[str, float | None]]
    reasons: Callable[[Facts], Mapping[str, str]] = why_unmeasured
    wanted: Callable[[int, Mapping[str, Any]], Sequence[int] | None] = _every_frame
    options: Mapping[str, Any] = field(default_factory=dict)
    missing: Callable[[], str | None] = _nothing_missing
    look_again: Callable[[Clip, Facts, int], Facts] = _as_they_are
    side_by_side: bool = True
    derive: Callable[[Any], Facts] | None = None
    derived_from: str = ""

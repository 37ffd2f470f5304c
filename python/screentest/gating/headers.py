"""What the clips of both arms say of themselves before they are decoded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from screentest.errors import ProtocolError
from screentest.gates.prompts import some
from screentest.gates.scoring import refuse_damage
from screentest.gating.arms import Arms
from screentest.media import open_clip

__all__ = ["Header", "Stamp", "geometry_faults", "read_headers", "stamp_of", "surprises"]

_SAME_RATE = 0.005
"""Rates that differ by less show the same motion a frame: 24 and 23.976 do."""

_NUMBERED = re.compile(r"\d$")


class Header(NamedTuple):
    """Size, length and rate of one clip; ``rate_hz`` is 0 where there is none, ``uneven`` says that
    the times between frames differ."""

    name: str
    width: int
    height: int
    frames: int | None
    rate_hz: float
    uneven: bool = False


class Stamp(NamedTuple):
    """What the protocol says of every clip."""

    width: int
    height: int
    frames: int
    fps: float


def read_headers(sources: Sequence[Any], **open_options: Any) -> tuple[Header, ...]:
    """Opens each clip once and measures nothing: packets are counted and one picture is decoded, to
    know its form.

    Raises:
        MediaError: a clip cannot be read, or is cut off.
        FileNotFoundError: there is no such file.
    """
    found = []
    for source in sources:
        with open_clip(source, **open_options) as clip:
            info = clip.info
            refuse_damage(info, clip.damage)
            rate = info.frame_rate if info.frames != 1 else None
            # Time stamps in milliseconds make 23.976 of 24000/1001.
            found.append(
                Header(
                    os.path.basename(info.source) or info.source,
                    info.width,
                    info.height,
                    info.frames,
                    0.0 if rate is None else round(rate, 3),
                    "vfr" in info.flags,
                )
            )
    return tuple(found)


def stamp_of(
    arms: Arms,
    headers: Sequence[tuple[Header, Header]],
    *,
    width: int | None,
    height: int | None,
    frames: int | None,
    fps: float | None,
) -> Stamp:
    """Size, length and rate as they were said, else as the first reference has them.

    Raises:
        ProtocolError: stills stand beside clips, nothing tells a length, or the rates contradict
            each other.
    """
    stills = [header.frames == 1 for pair in headers for header in pair]
    if any(stills) and not all(stills):
        at = stills.index(not stills[0])
        raise ProtocolError(
            f"the {_ARMS[at % 2]} of {arms.names[at // 2]!r} is "
            f"{'a still' if stills[at] else 'a clip of several frames'}, and the first reference "
            "is not: stills and video have gates of their own",
            code="mixed_stills",
        )
    first = headers[0][0]
    count = first.frames if frames is None else frames
    if count is None:
        raise ProtocolError(
            f"{first.name} does not tell how many frames it has: say frames", code="no_length"
        )
    if (count == 1) != stills[0]:
        raise ProtocolError(
            f"frames={count} was said, and the clips are {'stills' if stills[0] else 'no stills'}",
            code="mixed_stills",
        )
    return Stamp(
        first.width if width is None else width,
        first.height if height is None else height,
        count,
        _rate(arms, headers, fps),
    )


def geometry_faults(
    arms: Arms, headers: Sequence[tuple[Header, Header]], stamp: Stamp
) -> Iterator[str]:
    """Clips that are not what the stamp says, one line for all that differ alike."""
    wrong: dict[tuple[str, str], list[str]] = {}
    for name, pair in zip(arms.names, headers, strict=True):
        for arm, header in zip(_ARMS, pair, strict=True):
            length = stamp.frames if header.frames is None else header.frames
            if (header.width, header.height, length) != (stamp.width, stamp.height, stamp.frames):
                said = f"{header.width}x{header.height} with {length} frames"
                wrong.setdefault((arm, said), []).append(name)
    for (arm, said), names in wrong.items():
        yield (
            f"the {arm} of {some(names)} is {said}; the protocol says "
            f"{stamp.width}x{stamp.height} and {stamp.frames}"
        )


def surprises(arms: Arms, headers: Sequence[tuple[Header, Header]], stamp: Stamp) -> Iterator[str]:
    """What of the clips decides nothing and may not be what was meant."""
    for at, arm in enumerate(_ARMS):
        named = zip(arms.names, headers, strict=True)
        if uneven := [name for name, pair in named if pair[at].uneven]:
            yield (
                f"the {arm} of {some(uneven)} has uneven times between its frames, which are "
                "compared one after the other as if there were none"
            )
    if stamp.frames == 1 and len(arms.names) > 1 and all(map(_NUMBERED.search, arms.names)):
        yield (
            f"{len(arms.names)} numbered pictures an arm are taken as stills, one prompt each; the "
            "frames of a clip go into a folder of their own within the arm's"
        )


_ARMS = ("reference", "candidate")


def _rate(arms: Arms, headers: Sequence[tuple[Header, Header]], said: float | None) -> float:
    known = [
        (name, arm, header.rate_hz)
        for name, pair in zip(arms.names, headers, strict=True)
        for arm, header in zip(_ARMS, pair, strict=True)
        if header.rate_hz > 0.0
    ]
    rate = said if said is not None else known[0][2] if known else 0.0
    for name, arm, own in known:
        if rate > 0.0 and abs(own - rate) > _SAME_RATE * rate:
            whose = "was said" if said is not None else "is the first reference's"
            raise ProtocolError(
                f"the {arm} of {name!r} has {own:g} frames a second, and {rate:g} {whose}: what "
                "changes from frame to frame does not compare",
                code="rate_mismatch",
            )
    return rate

"""What a comparison found besides its numbers, in sentences that stand for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screentest.metrics.facts import Score

if TYPE_CHECKING:
    from screentest.metrics.paired import PairFacts
    from screentest.verdicts.pairing import Alignment

__all__ = ["findings_of"]

_TAGS = ("range", "matrix", "primaries", "transfer")
# What two files of one clip may differ in without a word about the pictures.
_SILENT = ("codec", "container", "profile", "frames", "size")


def findings_of(facts: PairFacts, alignment: Alignment, align: str | None) -> Iterator[str]:
    """Why the pair is not aligned and what was done about it; identity; tags that differ, with what
    the planes say; frames that the candidate repeats; damage."""
    yield from alignment.reasons
    if align is not None and not alignment.aligned:
        yield _what_was_done(facts, align)
    scored = alignment.aligned or align is not None
    if scored and facts.scores and all(score.state == "identical" for score in _told(facts)):
        yield f"all {len(facts.pairs)} frames are identical"
    for difference in facts.pairing.differences:
        name = difference.field
        if name in _SILENT:
            continue
        said = f"{_told_value(difference.reference)} in the reference, "
        said += f"{_told_value(difference.candidate)} in the candidate"
        if name in _TAGS:
            yield f"the {name} tag differs: {said}{_planes_say(facts) if scored else ''}"
        else:
            verb = "differ" if name.endswith("s") else "differs"
            yield f"{name.replace('_', ' ')} {verb}: {said}"
    if facts.pairing.repeated and alignment.aligned:
        yield f"the candidate shows the frame before again in {_listed(facts.pairing.repeated)}"
    for side, found in facts.damage.items():
        for one in found[:3]:
            yield f"the {side} is damaged: {one.kind.replace('_', ' ')}, {one.detail}"


def _told(facts: PairFacts) -> list[Score]:
    measured = [score for score in facts.scores if score.state != "unmeasured"]
    return measured or list(facts.scores)


def _told_value(value: object) -> str:
    if value is None:
        return "not said"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _planes_say(facts: PairFacts) -> str:
    """What the decoder's planes have to say beside a tag that differs."""
    planes = [score for score in facts.scores if score.name in ("psnr_y", "psnr_cb", "psnr_cr")]
    if not planes or any(score.state == "unmeasured" for score in planes):
        return ""
    if all(score.state == "identical" for score in planes):
        return "; the planes are identical"
    values = [
        f"{score.name} {'identical' if score.value is None else f'{score.value:.2f} dB'}"
        for score in planes
    ]
    return f"; of the planes, {', '.join(values)}"


def _what_was_done(facts: PairFacts, align: str) -> str:
    how = {
        "index": "by number, up to the shorter clip's end",
        "timestamps": "by time from each clip's start",
        "auto": "as the pictures go together",
    }[align]
    a, b = facts.pairing.frames_reference, facts.pairing.frames_candidate
    return (
        f"frames were paired {how}: {len(facts.pairs)} pairs of {a} reference and {b} candidate "
        "frames"
    )


def _listed(indices: tuple[int, ...], most: int = 6) -> str:
    """``frames 3, 8 to 12 and 4 more`` for indices that ascend."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    named = [str(a) if a == b else f"{a} to {b}" for a, b in runs[:most]]
    word = "frame" if len(indices) == 1 else "frames"
    rest = sum(b - a + 1 for a, b in runs[most:])
    return f"{word} {', '.join(named)}{f' and {rest} more' if rest else ''}"

"""What a comparison found besides its numbers, in sentences that stand for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screentest.metrics import registry
from screentest.verdicts.timeline import plural, stretches

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo
    from screentest.metrics.paired import PairFacts
    from screentest.verdicts.pairing import Alignment

__all__ = ["findings_of"]

_READ_PICTURES = frozenset(("psnr", "mse", "mae"))
_PLANES = ("psnr_y", "psnr_cb", "psnr_cr")
_TAGS = ("range", "matrix", "primaries", "transfer")
# What two files of one clip may differ in without a word about the pictures.
_SILENT = ("codec", "container", "profile", "frames", "size")


def findings_of(facts: PairFacts, alignment: Alignment, align: str | None) -> Iterator[str]:
    """Why the pair is not aligned and what was done about it; identity; tags that differ, with what
    the planes say; frames that the candidate repeats; damage."""
    yield from alignment.reasons
    several = facts.pairing.frames_reference > 1
    if alignment.aligned and several and not (facts.pairing.lag_evidence or _identical(facts)):
        yield "aligned by number and rate alone: the pictures do not tell one pairing from another"
    if align is not None and not alignment.aligned:
        yield _what_was_done(facts, align)
    scored = alignment.aligned or align is not None
    if scored and _identical(facts):
        yield _identity(facts)
    for difference in facts.pairing.differences:
        name = difference.field
        if name in _SILENT:
            continue
        ours = _told_value(difference.reference, facts.reference, name)
        theirs = _told_value(difference.candidate, facts.candidate, name)
        said = f"{ours} in the reference, {theirs} in the candidate"
        if name in _TAGS:
            yield f"the {name} tag differs: {said}{_planes_say(facts) if scored else ''}"
        else:
            verb = "differ" if name.endswith("s") else "differs"
            yield f"{name.replace('_', ' ')} {verb}: {said}"
    if facts.pairing.repeated and facts.pairing.lag_evidence and alignment.aligned:
        yield f"the candidate shows the frame before again in {_listed(facts.pairing.repeated)}"
    for side, found in facts.damage.items():
        for one in found[:3]:
            yield f"the {side} is damaged: {one.kind.replace('_', ' ')}, {one.detail}"


def _identical(facts: PairFacts) -> bool:
    measured = [score for score in facts.scores if score.state != "unmeasured"]
    return bool(measured) and all(score.state == "identical" for score in measured)


def _identity(facts: PairFacts) -> str:
    """What is equal throughout: the pictures only where a metric read all of their samples."""
    names = [score.name for score in facts.scores if score.state == "identical"]
    count = len(facts.pairs)
    frames, are = ("the only frame", "is") if count == 1 else (f"all {count} frames", "are")
    if not _READ_PICTURES.isdisjoint(names):
        return f"{frames} {are} identical"
    if "psnr_avg" in names or set(names).issuperset(_PLANES):
        return f"the planes of {frames} are identical"
    read = [name for name in names if not registry.stands_beside(name)]
    return f"{frames} {are} identical in what is read for {', '.join(read)}"


def _told_value(value: object, clip: ClipInfo, name: str) -> str:
    if value is None:
        return "not said"
    if clip.colour is not None and getattr(clip.colour, f"{name}_from", None) == "rule":
        return f"untagged (read as {value})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _planes_say(facts: PairFacts) -> str:
    """What the decoder's planes have to say beside a tag that differs."""
    planes = [score for score in facts.scores if score.name in _PLANES]
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
        f"frames were paired {how}: {plural(len(facts.pairs), 'pair')} of {a} reference and {b} "
        "candidate frames"
    )


def _listed(indices: tuple[int, ...], most: int = 6) -> str:
    """``frames 3, 8 to 12 and 4 more`` for indices that ascend."""
    runs = stretches(indices)
    named = [str(a) if a == b else f"{a} to {b}" for a, b in runs[:most]]
    word = "frame" if len(indices) == 1 else "frames"
    rest = sum(b - a + 1 for a, b in runs[most:])
    return f"{word} {', '.join(named)}{f' and {rest} more' if rest else ''}"

"""Compare a clip with its reference: is the pair comparable at all, and if so, how far did it move?

:func:`compare` proves the pairing first. A pair whose frames do not go together has no score,
unless the caller says how to align it; then the result says what was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from screentest import compute
from screentest.errors import InputError, MediaError
from screentest.metrics.facts import Score
from screentest.metrics.fidelity import NATIVE, FrameMaps, frame_maps, no_native_planes
from screentest.metrics.paired import (
    PairFacts,
    Pairs,
    asks,
    check_metrics,
    check_sizes,
    measure_pair,
    open_both,
)
from screentest.reports import canonical
from screentest.reports.comparison import comparison_record
from screentest.verdicts.comparison import findings_of
from screentest.verdicts.pairing import Alignment, judge_pairing

if TYPE_CHECKING:
    from screentest.media.clip import Clip
    from screentest.metrics.codec_floor import CodecFloor

__all__ = ["Align", "CodecFloorFinding", "Comparison", "WorstPair", "compare", "worst_pairs"]

Align = Literal["auto", "index", "timestamps"]
_ALIGNS = ("auto", "index", "timestamps")
_DEFAULT = ("psnr", "ssim", "ms_ssim")
_DEFAULT_NATIVE = ("psnr_y", "psnr_cb", "psnr_cr")


@dataclass(frozen=True, slots=True)
class CodecFloorFinding:
    """The distance that writing the file alone makes: the reference against its own encode with the
    candidate's settings. ``reason`` says why there is none. ``how`` and ``parameters`` say what was
    done; ``differences`` which settings could not be met."""

    scores: tuple[Score, ...] = ()
    reason: str | None = None
    how: str | None = None
    encoder: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    differences: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """The pairing of two clips, and the scores of a pair that is comparable.

    ``scores`` has every metric that was asked for. Where the pair is not aligned and ``align`` was
    not given, each is unmeasured for that reason; ``facts`` still hold what was measured on the
    way. ``align`` is what the caller said, ``None`` for nothing.
    """

    facts: PairFacts
    alignment: Alignment
    align: Align | None
    scores: tuple[Score, ...]
    findings: tuple[str, ...]
    requested: tuple[str, ...] = ()
    codec_floor: CodecFloorFinding | None = None

    @property
    def reference(self) -> str:
        """Name of the reference."""
        return self.facts.reference.source

    @property
    def candidate(self) -> str:
        """Name of the candidate."""
        return self.facts.candidate.source

    @property
    def aligned(self) -> bool:
        """Whether frame i goes with frame i throughout, as far as the pictures tell."""
        return self.alignment.aligned

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the pair is not aligned; empty if it is."""
        return self.alignment.reasons

    @property
    def scored(self) -> bool:
        """Whether the pair has scores: it is aligned, or the caller said how to align it."""
        return self.aligned or self.align is not None

    @property
    def unmeasured(self) -> tuple[Score, ...]:
        """The scores that gave no number, each with its reason."""
        return tuple(score for score in self.scores if score.state == "unmeasured")

    @property
    def complete(self) -> bool:
        """Whether every metric that the caller named has a number."""
        return self.scored and not any(
            asks(name, score.name) for name in self.requested for score in self.unmeasured
        )

    def __getitem__(self, name: str) -> Score:
        """The score of this name."""
        for score in self.scores:
            if score.name == name:
                return score
        known = ", ".join(score.name for score in self.scores)
        raise KeyError(f"{name}: this comparison has {known}")

    def __repr__(self) -> str:
        word = "aligned" if self.aligned else "not aligned"
        values = [f"{s.name}={_short(s)}" for s in self.scores if not s.name.endswith("_worst")]
        return f"<Comparison {self.candidate!r} against {self.reference!r}: {word}; " + (
            f"{', '.join(values)}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """The record that ``screentest compare --json`` prints, as plain data."""
        return comparison_record(self)

    def to_json(self) -> bytes:
        """The record as canonical JSON (RFC 8785): equal comparisons are equal bytes."""
        return canonical.dumps(self.to_dict())


def compare(
    reference: Any,
    candidate: Any,
    *,
    metrics: Sequence[str] | None = None,
    align: Align | None = None,
    codec_floor: bool = False,
    border: Literal["valid", "reflect"] = "valid",
    threads: int | None = None,
    device: str = "cpu",
    **open_options: Any,
) -> Comparison:
    """Prove that two clips go together frame by frame, then say how far apart they are.

    Args:
        reference: the clip that the candidate is compared with: whatever
            :func:`~screentest.media.open_clip` opens.
        candidate: the clip in question, of the same size.
        metrics: names of :data:`~screentest.metrics.paired.PAIRED_METRICS`; by default PSNR,
            SSIM and MS-SSIM, and the PSNR of Y, Cb and Cr where both clips have such planes.
        align: how to pair the frames of clips that are not aligned: ``"index"`` by number up to the
            shorter's end, ``"timestamps"`` by time from each clip's start, ``"auto"`` as the
            pictures go together (lag, dropped and repeated frames are left out). Without it such a
            pair has no score.
        codec_floor: also put the reference through the candidate's own encoder, where the file
            tells its settings, and measure what that alone costs.
        border: of SSIM; see :func:`screentest.metrics.fidelity.ssim`.
        threads: compute budget of decoders and kernels together; default ``min(4, CPUs)``.
        device: where learned metrics run, ``"cpu"`` or ``"cuda"``.
        **open_options: passed to :func:`~screentest.media.open_clip` for both clips.

    Returns:
        The pairing and the scores. Identical clips have state ``"identical"``.

    Raises:
        ProtocolError: the sizes differ; nothing is resized.
        MediaError: a clip cannot be read, or holds NaN, infinite or out-of-range samples.
        InputError: an argument is wrong.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> clip = np.random.default_rng(0).integers(0, 250, (4, 32, 32, 3), np.uint8)
        >>> result = compare(clip, clip + 5, metrics=["psnr"])
        >>> result.aligned, round(result["psnr"].value, 2), result["psnr"].worst_frame
        (True, 34.15, 0)
    """
    if align is not None and align not in _ALIGNS:
        raise InputError(
            f"align={align!r}: expected one of {', '.join(_ALIGNS)}", code="bad_align", align=align
        )
    asked = () if metrics is None else check_metrics(metrics)
    budget = compute.threads(threads)
    with ExitStack() as stack:
        clips = open_both(reference, candidate, stack, threads=budget, **open_options)
        check_sizes(clips[0].info, clips[1].info)
        chosen = asked or _by_default(*clips)
        # Where only the tags differ, the planes say so.
        added = _beside_tags(chosen, *clips)
        options: dict[str, Any] = {"border": border, "threads": budget, "device": device}
        first: Pairs = "timestamps" if align == "timestamps" else "index"
        facts = measure_pair(*clips, metrics=(*chosen, *added), pairs=first, **options)
        alignment = judge_pairing(facts.pairing)
        if align == "auto" and not alignment.aligned:
            pairs = _pairs_found(facts)
            facts = measure_pair(
                *clips, metrics=(*chosen, *added), pairs=pairs, known=facts, **options
            )
        floor = None
        if codec_floor:
            floor = _floor(clips[0], clips[1], candidate, (*chosen, *added), options)
    scores = facts.scores
    if not alignment.aligned and align is None:
        why = "the pair is not frame-aligned, and nothing was said about how to align it"
        scores = tuple(_withheld(score, why) for score in scores)
    return Comparison(
        facts=facts,
        alignment=alignment,
        align=align,
        scores=scores,
        findings=tuple(findings_of(facts, alignment, align)),
        requested=asked,
        codec_floor=floor,
    )


@dataclass(frozen=True, slots=True, eq=False)
class WorstPair:
    """The pictures behind one metric's worst frame."""

    metric: str
    reference_index: int
    candidate_index: int
    value: float
    unit: str
    maps: FrameMaps


def worst_pairs(
    comparison: Comparison,
    reference: Any,
    candidate: Any,
    *,
    most: int = 4,
    threads: int | None = None,
    **open_options: Any,
) -> Iterator[WorstPair]:
    """The worst frame of each metric of a comparison, with its maps; each frame once.

    ``reference`` and ``candidate`` are what was compared; only the frames wanted are decoded.
    """
    worst: dict[int, Score] = {}
    for score in comparison.scores:
        if score.worst_frame is not None and score.state == "measured":
            worst.setdefault(score.worst_frame, score)
    wanted = dict(sorted(list(worst.items())[:most]))
    of_candidate = {int(c): int(r) for r, c in comparison.facts.pairs}
    with ExitStack() as stack:
        budget = compute.threads(threads)
        clips = open_both(reference, candidate, stack, threads=budget, **open_options)
        sources = [sorted({of_candidate[c] for c in wanted}), list(wanted)]
        frames = [
            {frame.index: frame for frame in clip.frames_at(indices)}
            for clip, indices in zip(clips, sources, strict=True)
        ]
        for index, score in wanted.items():
            left, right = frames[0][of_candidate[index]], frames[1][index]
            maps = frame_maps(left, right, clips[0].format, clips[1].format, threads=threads)
            assert score.worst is not None
            yield WorstPair(score.name, left.index, index, score.worst, score.unit, maps)


def _by_default(reference: Clip, candidate: Clip) -> tuple[str, ...]:
    return _DEFAULT + (_DEFAULT_NATIVE if _share_planes(reference, candidate) else ())


def _share_planes(reference: Clip, candidate: Clip) -> bool:
    """Whether both have Y, Cb and Cr of one kind."""
    a, b = reference.format, candidate.format
    return a.model == "yuv" and no_native_planes(a, b) is None


def _tags_differ(reference: Clip, candidate: Clip) -> bool:
    a, b = reference.info.colour, candidate.info.colour
    return a is not None and b is not None and (a.matrix, a.range) != (b.matrix, b.range)


def _beside_tags(chosen: Sequence[str], reference: Clip, candidate: Clip) -> tuple[str, ...]:
    if not _tags_differ(reference, candidate):
        return ()
    if any(name in NATIVE for name in chosen) or not _share_planes(reference, candidate):
        return ()
    return _DEFAULT_NATIVE


def _pairs_found(facts: PairFacts) -> Any:
    """Candidate frames with the reference frame they show; repeats show nothing new."""
    path = facts.pairing.path
    if path is None:
        raise MediaError(
            "the pictures do not tell how these clips go together: align by index or timestamps",
            code="no_alignment",
        )
    shown = np.asarray(path)
    keep = shown >= 0
    keep[list(facts.pairing.repeated)] = False
    of_reference, of_candidate = facts.read
    pairs = np.stack([of_reference[shown[keep]], of_candidate[keep]], axis=1)
    if not len(pairs):
        raise MediaError("no frame of the candidate shows one of the reference", code="no_pairs")
    return pairs


def _short(score: Score) -> str:
    return score.state if score.value is None else f"{score.value:.6g}"


def _withheld(score: Score, reason: str) -> Score:
    return msgspec.structs.replace(
        score,
        value=None,
        state="unmeasured",
        reason=score.reason or reason,
        worst=None,
        worst_frame=None,
        identical_frames=0,
        details={},
    )


def _floor(
    reference: Clip,
    candidate: Clip,
    source: Any,
    metrics: Sequence[str],
    options: dict[str, Any],
) -> CodecFloorFinding:
    from screentest.metrics.codec_floor import CodecFloorUnknown, codec_floor_clip
    from screentest.metrics.instruments import INSTRUMENT_NAMES

    if _tags_differ(reference, candidate):
        # The encode is read with the candidate's tags, so its codes are not the reference's codes.
        metrics = [name for name in metrics if name not in (*NATIVE, *INSTRUMENT_NAMES)]
        if not metrics:
            return CodecFloorFinding(
                reason="matrix or range differ, so the floor is of the RGB picture alone: ask for "
                "psnr, ssim or ms_ssim"
            )
    with codec_floor_clip(reference, candidate, file=source) as floor:
        if isinstance(floor, CodecFloorUnknown):
            return CodecFloorFinding(reason=floor.reason)
        return _floor_scores(reference, floor, metrics, options)


def _floor_scores(
    reference: Clip, floor: CodecFloor, metrics: Sequence[str], options: dict[str, Any]
) -> CodecFloorFinding:
    found = measure_pair(reference, floor.clip, metrics=metrics, **options)
    return CodecFloorFinding(
        scores=found.scores,
        how=floor.how,
        encoder=floor.encoder,
        parameters=dict(floor.parameters),
        differences=dict(floor.differences),
    )

"""What the page of a gate shows beside its report: series and pictures of the worst prompts.

Only those prompts are decoded again; nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest import _native, compute
from screentest.errors import InputError, MediaError
from screentest.gates.allowance import worst_prompts
from screentest.gates.report import GateReport
from screentest.metrics.fidelity import frame_maps
from screentest.metrics.paired import open_both
from screentest.metrics.sampling import strip
from screentest.metrics.signal import SignalFacts, measure_signal
from screentest.reports.html.filmstrip import small_map, small_photo
from screentest.reports.html.gate_model import ArmSeries, GateEvidence, GateFrame, PromptEvidence

if TYPE_CHECKING:
    from screentest.media.clip import Clip, Frame

__all__ = ["gather_evidence"]

# What a person sees in a clip frame by frame: name -> (column of the signal series, factor, unit).
_SERIES = {
    "sharpness": ("laplacian_variance", 1.0, "levels²"),
    "local contrast": ("highpass", 1.0, ""),
    "motion": ("motion", 255.0, "levels"),
    "brightness": ("luma_mean", 1.0, ""),
    "contrast": ("luma_std", 1.0, ""),
    "saturation": ("saturation", 1.0, ""),
}


def gather_evidence(
    report: GateReport,
    references: Sequence[Any],
    candidates: Sequence[Any],
    *,
    worst: int = 3,
    frames: int = 8,
    threads: int | None = None,
) -> GateEvidence:
    """Series and pictures of the prompts that take most of their budgets' room.

    Args:
        report: the gate's report.
        references: the reference arm's clips in the order of the report's pairs: whatever
            :func:`~screentest.media.open_clip` opens.
        candidates: the candidate arm's.
        worst: how many prompts; each is decoded once for its series, and seeked in for pictures.
        frames: pictures of each, evenly spread; the worst frames that the report names are added.
        threads: compute budget; default ``min(4, CPUs)``.

    Returns:
        The evidence. A clip that cannot be read any more leaves a note: the report stands without.

    Raises:
        InputError: the lists are not as long as the report's.
    """
    facts = report.population or report.reference
    pairs = 0 if facts is None else facts.n
    if len(references) != pairs or len(candidates) != pairs:
        raise InputError(
            f"the report is of {pairs} pairs; given were {len(references)} references and "
            f"{len(candidates)} candidates",
            code="evidence_count",
        )
    budget = compute.threads(threads)
    shown: list[PromptEvidence] = []
    notes: list[str] = []
    for prompt in worst_prompts(report)[: max(0, worst)]:
        wanted = _worst_frames(report, prompt)
        try:
            shown.append(
                _of_pair(
                    prompt, references[prompt], candidates[prompt], wanted, frames, budget, notes
                )
            )
        except (MediaError, OSError) as error:
            notes.append(f"prompt {prompt} has no pictures: {error}")
    return GateEvidence(prompts=tuple(shown), notes=tuple(notes))


def _of_pair(
    prompt: int,
    reference: Any,
    candidate: Any,
    wanted: set[int],
    frames: int,
    budget: int,
    notes: list[str],
) -> PromptEvidence:
    with ExitStack() as stack:
        clips = open_both(reference, candidate, stack, threads=budget)
        counts = [clip.info.frames or 0 for clip in clips]
        chosen = set(strip(max(counts), frames)) | {at for at in wanted if at < max(counts)}
        pictures = tuple(_frames(clips, sorted(chosen), budget))
    one, two = (measure_signal(source, threads=budget) for source in (reference, candidate))
    if counts[0] != counts[1]:
        notes.append(
            f"prompt {prompt}: the clips have {counts[0]} and {counts[1]} frames, so the strip of "
            "one ends before the other's"
        )
    return PromptEvidence(prompt=prompt, series=_series(one, two), frames=pictures)


def _frames(clips: tuple[Clip, Clip], indices: list[int], budget: int) -> Iterator[GateFrame]:
    """One instant after the other, each made small at once, so that no clip is ever in memory."""
    counts = [clip.info.frames or 0 for clip in clips]
    reads = [
        clip.frames_at([at for at in indices if at < count])
        for clip, count in zip(clips, counts, strict=True)
    ]
    formats = [clip.format for clip in clips]
    alike = (clips[0].info.width, clips[0].info.height) == (
        clips[1].info.width,
        clips[1].info.height,
    )
    for index in indices:
        found: list[Frame | None] = [
            next(read) if index < count else None for read, count in zip(reads, counts, strict=True)
        ]
        one, two = found
        if one is not None and two is not None and alike:
            maps = frame_maps(one, two, *formats, threads=budget)
            yield GateFrame(
                index=index,
                reference=small_photo(maps.reference_rgb),
                candidate=small_photo(maps.candidate_rgb),
                difference=small_map(maps.error_map),
            )
            continue
        pictures = [
            None
            if frame is None
            else small_photo(_native.rgb8(format, frame.planes, threads=budget))
            for frame, format in zip(found, formats, strict=True)
        ]
        yield GateFrame(index=index, reference=pictures[0], candidate=pictures[1])


def _series(reference: SignalFacts, candidate: SignalFacts) -> dict[str, ArmSeries]:
    found = {}
    for name, (column, factor, unit) in _SERIES.items():
        one, two = (
            np.asarray(getattr(facts.series, column), dtype=np.float64) * factor
            for facts in (reference, candidate)
        )
        if len(one) and (np.isfinite(one).any() or np.isfinite(two).any()):
            found[name] = ArmSeries(reference=one, candidate=two, unit=unit)
    return found


def _worst_frames(report: GateReport, prompt: int) -> set[int]:
    if report.reference is None:
        return set()
    return set(report.reference.rows[prompt].worst_frame.values())

"""What two arms of rendered clips are measured to differ in; no threshold has touched it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from screentest.metrics.signal.clip_score import ClipScore

__all__ = [
    "ArmClip",
    "BenchmarkFacts",
    "Interval",
    "PopulationFacts",
    "Power",
    "PromptFacts",
]


class Interval(NamedTuple):
    """Ends of a 95 % confidence interval."""

    low: float
    high: float


class ArmClip(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One clip of an arm, measured once.

    Attributes:
        source: name of its file.
        content: content key of its file's bytes, ``None`` for frames in memory.
        score: detail, tone and change of its pictures.
        tracks_seen: whether corners were looked for at all; a bare :class:`ClipScore` says no.
        corners: corners of the windows that could be followed; 0 where there is none, ``None``
            where the clip is too short for a window.
        track_stability: how well things hold their shape, in [0, 1].
        stability_inside: the same without the tracks that left the picture.
        grid_peak_ratio: strength of a lattice of fixed period, 1 to 2 for none.
    """

    source: str = ""
    content: str | None = None
    score: ClipScore
    tracks_seen: bool = False
    corners: int | None = None
    track_stability: float | None = None
    stability_inside: float | None = None
    grid_peak_ratio: float | None = None


class BenchmarkFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of one benchmark over the pairs.

    A statistic stands in exactly one of ``values``, ``unmeasured`` (it could not be measured, so
    nothing that needs it passes) and ``inapplicable`` (the reference has nothing of what it
    measures, so nothing waits for it).

    Attributes:
        values: by name; every one is finite.
        intervals: of those that have one, a 95 % interval over the prompts.
        unmeasured: by name, why there is no number.
        inapplicable: by name, why there is nothing to measure.
        notes: sentences for people; none decides.
    """

    values: dict[str, float] = {}
    intervals: dict[str, Interval] = {}
    unmeasured: dict[str, str] = {}
    inapplicable: dict[str, str] = {}
    notes: tuple[str, ...] = ()


class PromptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One pair.

    Attributes:
        prompt: which one.
        reference: statistics of the reference's clip by name, ``n_frames``, ``width``, ``height``
            and ``flat_frames`` among them; one that is missing was not measured. ``mean_`` and
            ``var_`` of the six features over the frames, and ``frozen_share`` of the steps: every
            statistic of two arms is derived from these.
        candidate: the same of the candidate's.
        values: statistics of the pair itself by name: ``imaging_index``, ``population_frechet``,
            ``ratio_<metric>``, ``motion_ratio``, ``frozen_share_excess``, ...
        sources: names of the two clips, reference first.
        contents: their content keys.
    """

    prompt: str
    reference: dict[str, float]
    candidate: dict[str, float]
    values: dict[str, float] = {}
    sources: tuple[str, str] = ("", "")
    contents: tuple[str | None, str | None] = (None, None)


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """What a paired test over these prompts could have seen of one statistic.

    Of the six statistics that are tested together, at the level that Holm's correction leaves to
    one that moves alone, 5 % / 6; of any other at 5 %, although no test decides on it.

    Attributes:
        spread: standard deviation of the log-ratio over prompts.
        detectable: smallest effect of the mean that is found with 80 % power, as a ratio less 1;
            ``None`` for fewer prompts than a test needs.
        prompts_needed: prompts that find an effect of 2 % with 80 % power; ``None`` where the
            spread is not known.
    """

    spread: float | None = None
    detectable: float | None = None
    prompts_needed: int | None = None


class PopulationFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Two arms, prompt by prompt.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        prompts: one entry per pair, in the order of the stamp.
        degenerate_references: which of them have nothing to compare (no contrast, or half the
            frames flat); then there are no benchmarks.
        degenerate_candidates: the same of the candidate's.
        benchmarks: ``imaging``, ``temporal``, ``structure`` and ``distributional``; stills have no
            ``temporal``, and of ``structure`` the lattice alone.
        power: by statistic.
        scales: what each feature was divided by for the Fréchet distance.
    """

    impl: str
    prompts: tuple[PromptFacts, ...]
    degenerate_references: tuple[int, ...] = ()
    degenerate_candidates: tuple[int, ...] = ()
    benchmarks: dict[str, BenchmarkFacts] = {}
    power: dict[str, Power] = {}
    scales: dict[str, float] = {}

    @property
    def n(self) -> int:
        """How many pairs."""
        return len(self.prompts)

    @property
    def still(self) -> bool:
        """Whether every clip is one picture."""
        return all(
            clip.get("n_frames") == 1
            for prompt in self.prompts
            for clip in (prompt.reference, prompt.candidate)
        )

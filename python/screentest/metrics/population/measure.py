"""Two arms of clips, measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from screentest.errors import ProtocolError
from screentest.metrics.population.derive import Derived, degenerate, derive
from screentest.metrics.population.distributional import LEAST_PROMPTS
from screentest.metrics.population.facts import (
    ArmClip,
    BenchmarkFacts,
    Interval,
    PopulationFacts,
    Power,
    PromptFacts,
)
from screentest.metrics.population.frechet import full_distance
from screentest.metrics.population.names import IMPL
from screentest.metrics.population.ratios import IMAGING, Pair
from screentest.metrics.population.samples import samples_of
from screentest.metrics.population.scalars import (
    as_arm_clip,
    check_clip,
    clip_scalars,
    moving_level,
)
from screentest.metrics.population.significance import interval, paired_p, power, require_scipy
from screentest.metrics.population.statistic import shown
from screentest.metrics.signal.clip_score import ClipScore

__all__ = ["measure_population"]


def measure_population(
    pairs: Sequence[tuple[ArmClip | ClipScore, ArmClip | ClipScore]], prompts: Sequence[str]
) -> PopulationFacts:
    """How the candidate's clips differ from the reference's, over prompts.

    Args:
        pairs: (reference, candidate) of each prompt, all of stills or all of clips. A bare
            :class:`ClipScore` leaves unmeasured what needs tracks or a lattice.
        prompts: one for each pair, in their order.

    Returns:
        The facts; those of equal arms are 1 for ratios and 0 for excesses, distances and effects.
        With a clip that has nothing to compare there are no benchmarks. No number is NaN or
        infinite, whatever the clips read.

    Raises:
        ProtocolError: no pair, another number of prompts than of pairs, stills and clips mixed.
        InputError: a number of a clip is not finite; the message names clip and frame.
        MissingBackendError: scipy is not installed.
    """
    require_scipy()
    clips = _checked(pairs, prompts)
    described = [
        Pair(prompt, clip_scalars(reference, level), clip_scalars(candidate, level))
        for prompt, (reference, candidate) in zip(prompts, clips, strict=True)
        for level in (moving_level(reference),)
    ]
    facts = PopulationFacts(
        impl=IMPL,
        prompts=tuple(map(_prompt_facts, described, clips)),
        degenerate_references=_degenerate([pair.reference for pair in described]),
        degenerate_candidates=_degenerate([pair.candidate for pair in described]),
    )
    if facts.degenerate_references or facts.degenerate_candidates:
        return facts

    def full(scale: Mapping[str, float]) -> list[float]:
        return [full_distance(r.score.features, c.score.features, scale) for r, c in clips]

    found = derive(described, paired_p, full)
    return msgspec.structs.replace(
        facts,
        prompts=tuple(
            msgspec.structs.replace(prompt, values=values)
            for prompt, values in zip(facts.prompts, found.values, strict=True)
        ),
        benchmarks=_with_intervals(found),
        power={name: _power_of(name, logs) for name, logs in found.logs.items()},
        scales=found.scales,
    )


def _checked(
    pairs: Sequence[tuple[ArmClip | ClipScore, ArmClip | ClipScore]], prompts: Sequence[str]
) -> list[tuple[ArmClip, ArmClip]]:
    if not len(pairs):
        raise ProtocolError(
            "no pair of clips was given: a population needs one for each prompt", code="no_pairs"
        )
    if len(pairs) != len(prompts):
        raise ProtocolError(
            f"{len(pairs)} pairs and {len(prompts)} prompts: expected one pair for each prompt",
            code="unequal_counts",
        )
    clips = [(as_arm_clip(reference), as_arm_clip(candidate)) for reference, candidate in pairs]
    for prompt, pair in zip(prompts, clips, strict=True):
        for arm, clip in zip(("reference", "candidate"), pair, strict=True):
            check_clip(clip, f"the {arm} of {prompt!r}")
    lengths = {clip.score.n_frames == 1 for pair in clips for clip in pair}
    if len(lengths) > 1:
        raise ProtocolError(
            "stills and clips are mixed: a population is all of single pictures or all of clips",
            code="mixed_stills",
        )
    return clips


def _prompt_facts(pair: Pair, clips: tuple[ArmClip, ArmClip]) -> PromptFacts:
    reference, candidate = clips
    return PromptFacts(
        prompt=pair.prompt,
        reference=dict(pair.reference),
        candidate=dict(pair.candidate),
        sources=(reference.source, candidate.source),
        contents=(reference.content, candidate.content),
    )


def _degenerate(clips: Sequence[Mapping[str, float]]) -> tuple[int, ...]:
    return tuple(at for at, clip in enumerate(clips) if degenerate(clip))


def _with_intervals(found: Derived) -> dict[str, BenchmarkFacts]:
    """The benchmarks, with an interval of each statistic that is a median over prompts."""
    return {
        name: msgspec.structs.replace(
            facts,
            intervals={
                statistic: ends
                for statistic in facts.values
                if statistic in found.logs and (ends := _interval(statistic, found)) is not None
            },
        )
        for name, facts in found.benchmarks.items()
    }


def _power_of(statistic: str, logs: Sequence[float]) -> Power:
    if statistic.removeprefix("ratio_") in IMAGING:
        return power(logs, tests=len(IMAGING), least=LEAST_PROMPTS)
    return power(logs)


def _interval(statistic: str, found: Derived) -> Interval | None:
    samples = samples_of(statistic, found)
    ends = interval(samples.rows, samples.of)
    return ends and Interval(shown(samples.kind, ends.low), shown(samples.kind, ends.high))

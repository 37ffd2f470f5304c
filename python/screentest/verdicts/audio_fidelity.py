"""How far a sound lies from its reference, and whether the two are the same sound at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screentest.metrics.audio_pair.scores import CAP_DB
from screentest.metrics.facts import Unmeasured
from screentest.verdicts.audio_policy import budgets_of
from screentest.verdicts.audio_tiers import FIGURES, Tier, breaches, figure, first_reason
from screentest.verdicts.judgement import Defect

if TYPE_CHECKING:
    from screentest.metrics.audio_pair.facts import AudioPairFacts, WorstSecond
    from screentest.verdicts.audio_policy import AudioPolicy

__all__ = ["audible_worst", "judge_pair", "lag_ms"]

SAME_LAG_MS = 1.0
"""Less than this is no delay that anyone could mean."""

SAME_SOUND = 0.5
"""Below this correlation a sound has too little of its reference for a delay or a sign of the two
to mean anything: unrelated sounds have a best lag as well, and a sign at it."""

SAME_START_S = 0.005
"""Containers that count in milliseconds, and coders' priming, move a start by less."""

SAME_LENGTH_S = 0.1
"""Coders pad a sound to whole frames, of up to 0.05 s, at both ends."""


def audible_worst(pair: AudioPairFacts) -> Iterator[WorstSecond]:
    """The worst seconds in which there is a difference: those of a copy are no place to listen."""
    for second in pair.worst:
        perfect = CAP_DB if second.metric in ("audio_si_sdr", "audio_snr_db") else 0.0
        if second.metric in FIGURES and second.value != perfect:
            yield second


def judge_pair(pair: AudioPairFacts, policy: AudioPolicy) -> Tier:
    """How far the sound lies from its reference, by the caller's budgets alone."""
    values = {name: getattr(pair, name) for name in policy.fidelity.__struct_fields__}
    tier = Tier(values)
    if _is_unlike(pair):
        values["audio_align_lag_ms"] = lag_ms(pair)
        tier.gaps.append(Unmeasured("audio_align_lag_ms", _unlike(pair)))
    worst = {second.metric: second for second in pair.worst}
    tier.defects += breaches(policy.fidelity, "fidelity", values, worst)
    tier.gaps += pair.unmeasured
    tier.gaps += [
        Unmeasured(name, "no second of it lies above -60 dBFS, so none is the worst")
        for name, budget in budgets_of(policy.fidelity)
        if (budget.worst_low, budget.worst_high) != (None, None)
        and name not in worst
        and values[name] is not None
    ]
    told = [figure(n, v) for n, v in values.items() if v is not None and n != "audio_align_lag_ms"]
    if not told:
        reason = first_reason(pair.unmeasured, "no number came of the comparison")
        tier.gaps.append(Unmeasured("audio_pair", reason))
    elif not any(True for _ in budgets_of(policy.fidelity)):
        tier.note(
            "not_gated",
            pair.audio_si_sdr,
            "dB",
            f"measured, not gated, since the policy has no budget: {', '.join(told)}",
        )
    _polarity(pair, policy, tier)
    _lag(pair, tier)
    _start(pair, tier)
    _shape(pair, policy, tier)
    return tier


def lag_ms(pair: AudioPairFacts) -> float | None:
    """By how much the sound is late, where the two are like enough to say."""
    return None if _is_unlike(pair) else pair.audio_align_lag_ms


def _is_unlike(pair: AudioPairFacts) -> bool:
    return pair.lag_correlation is not None and abs(pair.lag_correlation) < SAME_SOUND


def _unlike(pair: AudioPairFacts) -> str:
    return (
        f"at no delay up to {pair.lag_bound_ms:g} ms is the sound like the reference (correlation "
        f"{pair.lag_correlation:.2f}): it is another sound, or further away in time"
    )


def _polarity(pair: AudioPairFacts, policy: AudioPolicy, tier: Tier) -> None:
    if pair.polarity != "inverted" or _is_unlike(pair):
        return
    told = "" if pair.lag_correlation is None else f" (correlation {pair.lag_correlation:.2f})"
    tier.defects.append(
        Defect(
            severity=policy.severities.inverted_polarity,
            code="inverted_polarity",
            value=pair.lag_correlation,
            limit=0.0,
            unit="correlation",
            message=f"the sound is the reference with its sign turned{told}",
        )
    )


def _lag(pair: AudioPairFacts, tier: Tier) -> None:
    lag = lag_ms(pair)
    if lag is None:
        return
    if pair.lag_at_bound:
        tier.note(
            "lag_at_bound",
            lag,
            "ms",
            f"the best lag, {lag:+.1f} ms, is the last that was looked at "
            f"(up to {pair.lag_bound_ms:g} ms): the true one may lie beyond, and the numbers of "
            "the comparison with it",
        )
    elif abs(lag) >= SAME_LAG_MS:
        how = "late" if lag > 0 else "early"
        tier.note("lag", lag, "ms", f"the sound is {abs(lag):.1f} ms {how} against the reference")


def _start(pair: AudioPairFacts, tier: Tier) -> None:
    """What a player adds to the lag, which counts from the first sample of each."""
    ours, theirs = pair.candidate.start_s, pair.reference.start_s
    if ours is None or theirs is None or abs(ours - theirs) < SAME_START_S:
        return
    change = 1000.0 * (ours - theirs)
    how = "later" if change > 0 else "earlier"
    tier.note(
        "start_differs",
        change,
        "ms",
        f"the soundtrack begins {abs(change):.0f} ms {how} in its file than the reference's; a lag "
        "counts from the first sample of each",
    )


def _shape(pair: AudioPairFacts, policy: AudioPolicy, tier: Tier) -> None:
    """Channels and length that are not the reference's."""
    ours, theirs = pair.candidate, pair.reference
    if ours.channels != theirs.channels:
        tier.defects.append(
            Defect(
                severity=policy.severities.channels_differ,
                code="channels_differ",
                value=float(ours.channels),
                limit=float(theirs.channels),
                unit="channels",
                message=f"the sound is {ours.layout} ({ours.channels}), the reference "
                f"{theirs.layout} ({theirs.channels})",
            )
        )
    rate = ours.sample_rate_hz
    change = (pair.candidate_samples - pair.reference_samples) / rate
    if abs(change) > SAME_LENGTH_S:
        how = "longer" if change > 0 else "shorter"
        tier.defects.append(
            Defect(
                severity=policy.severities.length_differs,
                code="length_differs",
                value=change,
                limit=SAME_LENGTH_S,
                unit="s",
                message=f"the sound is {abs(change):.2f} s {how} than the reference "
                f"({pair.candidate_samples / rate:.2f} against "
                f"{pair.reference_samples / rate:.2f} s)",
            )
        )

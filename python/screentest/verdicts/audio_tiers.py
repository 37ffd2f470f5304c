"""What a sound is judged by beyond itself: a reference, the picture, a checklist.

None of these has limits that hold for everybody. What is measured is noted; a caller's budget makes
it decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from screentest.metrics.facts import Unmeasured
from screentest.metrics.sync.facts import sync_drift_ms
from screentest.verdicts.audio_channels import duration_s
from screentest.verdicts.audio_policy import Budget, budgets_of
from screentest.verdicts.judgement import Defect, Note
from screentest.verdicts.timeline import plural

if TYPE_CHECKING:
    import msgspec

    from screentest.media.info import ClipInfo
    from screentest.metrics.audio.facts import AudioFacts
    from screentest.metrics.audio_content.facts import AudioContentFacts, ContentAnswer
    from screentest.metrics.audio_pair.facts import WorstSecond
    from screentest.metrics.sync.facts import SyncFacts
    from screentest.verdicts.audio_policy import AudioPolicy

__all__ = [
    "EVENT_SYNC",
    "FIGURES",
    "Tier",
    "breaches",
    "figure",
    "first_reason",
    "judge_content",
    "judge_sync",
    "length_note",
]

EVENT_SYNC = "(of events; lip sync is not measured)"
"""Stands behind every offset."""

FIGURES: dict[str, tuple[str, str, int]] = {
    "audio_si_sdr": ("SI-SDR", "dB", 1),
    "audio_snr_db": ("SNR", "dB", 1),
    "audio_lsd_db": ("log-spectral distance", "dB", 2),
    "audio_mel_l1": ("mel distance", "", 3),
    "audio_lufs_delta": ("loudness change", "LU", 1),
    "audio_align_lag_ms": ("lag", "ms", 1),
    "av_sync_offset_ms": ("offset from the picture", "ms", 0),
    "av_sync_drift_ms": ("change of the offset from the picture", "ms", 0),
    "audio_event_recall": ("share of the events that are heard", "", 2),
    "audio_speech_exact": ("share of the words said to the letter", "", 2),
    "audio_speech_fuzzy": ("likeness of the words", "", 2),
}
"""Per metric what a person calls it, its unit, and the decimals that mean something."""


@dataclass
class Tier:
    """What one tier found; ``values`` are the numbers that may have a budget."""

    values: Mapping[str, float | None] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    gaps: list[Unmeasured] = field(default_factory=list)

    def note(self, code: str, value: float | None, unit: str, message: str) -> None:
        """Something that is no defect."""
        self.notes.append(Note(code=code, value=value, unit=unit, message=message))


def figure(name: str, value: float) -> str:
    """A number of a metric in words: ``SNR 21.3 dB``."""
    words, unit, decimals = FIGURES[name]
    return f"{words} {_rounded(value, decimals)}{' ' if unit else ''}{unit}"


def _rounded(value: float, decimals: int) -> str:
    # A change that rounds to nothing has no sign.
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def first_reason(gaps: Sequence[Unmeasured], default: str) -> str:
    """Why nothing was measured: the first of the reasons that speak of what was asked for."""
    asked = [gap.reason for gap in gaps if gap.applies]
    return next(iter([*asked, *(gap.reason for gap in gaps), default]))


def breaches(
    table: msgspec.Struct,
    prefix: str,
    values: Mapping[str, float | None],
    worst: Mapping[str, WorstSecond] | None = None,
) -> Iterator[Defect]:
    """The budgets that are not kept, each first on the whole, then on its worst second."""
    worst = worst or {}
    for name, budget in budgets_of(table):
        value, tail = values.get(name), worst.get(name)
        if value is not None and (limit := _beyond(value, budget.low, budget.high)) is not None:
            yield _breach(prefix, name, value, limit, budget, "")
        if tail is None:
            continue
        limit = _beyond(tail.value, budget.worst_low, budget.worst_high)
        if limit is not None:
            start, end = tail.seconds
            where = f" in its worst second, {start:.2f} to {end:.2f} s"
            yield _breach(prefix, name, tail.value, limit, budget, where, tail.seconds)


def _beyond(value: float, low: float | None, high: float | None) -> float | None:
    """The bound that is broken."""
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return None


def _breach(
    prefix: str,
    name: str,
    value: float,
    limit: float,
    budget: Budget,
    where: str,
    seconds: tuple[float, float] | None = None,
) -> Defect:
    side = "under" if value < limit else "over"
    about = f" {EVENT_SYNC}" if prefix == "sync" else ""
    return Defect(
        severity="reject",
        code=f"{prefix}_{name.removeprefix('audio_').removeprefix('av_sync_')}",
        value=value,
        limit=limit,
        unit=FIGURES[name][1] or "1",
        message=f"{figure(name, value)}{where}{about}, {side} its budget of {limit:g} "
        f"({budget.provenance})",
        seconds=seconds,
    )


# ------------------------------------------------------------------ against the picture


def judge_sync(sync: SyncFacts, reference: SyncFacts | None, policy: AudioPolicy) -> Tier:
    """Whether sudden sounds come with sudden changes of the picture."""
    offset = sync.av_sync_offset_ms
    drift = None if reference is None else sync_drift_ms(sync, reference)
    tier = Tier({"av_sync_offset_ms": offset, "av_sync_drift_ms": drift})
    tier.defects += breaches(policy.sync, "sync", tier.values)
    tier.gaps += sync.unmeasured
    if offset is None:
        reason = first_reason(sync.unmeasured, "no offset was found")
        tier.gaps.append(Unmeasured("sync", reason))
    else:
        _offset(sync, offset, policy, tier)
    if drift is not None:
        tier.note("sync_drift", drift, "ms", f"{figure('av_sync_drift_ms', drift)} {EVENT_SYNC}")
    elif reference is not None and offset is not None:
        why = "the reference was measured by another version"
        if reference.av_sync_offset_ms is None:
            told = first_reason(reference.unmeasured, "no offset was found")
            why = f"of the reference: {told}"
        tier.gaps.append(Unmeasured("av_sync_drift_ms", why))
    return tier


def _offset(sync: SyncFacts, offset: float, policy: AudioPolicy, tier: Tier) -> None:
    how = "late" if offset > 0 else "early"
    told = f"the sound is {abs(offset):.0f} ms {how}" if round(offset) else "the sound is on time"
    if sync.interval_ms is not None:
        low, high = sync.interval_ms
        told += f", with 95 % confidence {low:+.0f} to {high:+.0f} ms"
    chance = sync.by_chance is not None and sync.by_chance > policy.limits.sync_by_chance.value
    if chance:
        told += f", if that is no chance (of {plural(len(sync.events), 'event')})"
    told += f" {EVENT_SYNC}"
    low, high = sync.interval_ms or (offset, offset)
    early, late = policy.limits.sync_early_ms, policy.limits.sync_late_ms
    if not chance and (high < -early.value or low > late.value):
        limit = late if low > late.value else early
        tier.defects.append(
            Defect(
                severity=policy.severities.out_of_sync,
                code="out_of_sync",
                value=offset,
                limit=limit.value if limit is late else -limit.value,
                unit="ms",
                message=f"{told}; people notice sound that is {early.value:g} ms early or "
                f"{late.value:g} ms late",
                seconds=_first_event(sync),
            )
        )
    else:
        tier.note("sync", offset, "ms", told)
    _slope(sync, policy, tier)


def _slope(sync: SyncFacts, policy: AudioPolicy, tier: Tier) -> None:
    """A clock that is surely wrong, by more in a minute than people notice."""
    slope, interval = sync.slope_ms_per_minute, sync.slope_interval_ms_per_minute
    if slope is None or interval is None or interval[0] <= 0.0 <= interval[1]:
        return
    limits = policy.limits
    if abs(slope) >= (limits.sync_late_ms if slope > 0 else limits.sync_early_ms).value:
        how = "later" if slope > 0 else "earlier"
        told = f"the sound gets {abs(slope):.0f} ms {how} each minute {EVENT_SYNC}"
        tier.note("sync_slope", slope, "ms/min", told)


def _first_event(sync: SyncFacts) -> tuple[float, float] | None:
    """From the first event of the picture to its sound, or the other way round."""
    if not sync.events:
        return None
    first = sync.events[0]
    start, end = sorted((first.picture_s, first.sound_s))
    return round(start, 6), round(end, 6)


def length_note(facts: AudioFacts, clip: ClipInfo) -> Note | None:
    """That the sound lasts longer or shorter than the picture it belongs to."""
    lasts = duration_s(facts)
    if "audio_length_differs" not in clip.flags or clip.duration_s is None:
        return None
    return Note(
        code="audio_length_differs",
        value=lasts - clip.duration_s,
        unit="s",
        message=f"the sound lasts {lasts:.2f} s, the picture {clip.duration_s:.2f} s",
    )


# ------------------------------------------------------------------ against a checklist


def judge_content(content: AudioContentFacts, policy: AudioPolicy) -> Tier:
    """Whether the sound holds what was asked for."""
    values = {name: getattr(content, name) for name in policy.content.__struct_fields__}
    tier = Tier(values)
    tier.defects += breaches(policy.content, "content", values)
    tier.gaps += content.unmeasured
    told = [figure(name, value) for name, value in values.items() if value is not None]
    if not told:
        reason = first_reason(content.unmeasured, "no item has an answer")
        tier.gaps.append(Unmeasured("audio_content", reason))
    else:
        tier.note("content", None, "1", f"checklist {content.checklist!r}: {', '.join(told)}")
    for answer in content.answers:
        _answer(answer, tier)
    return tier


def _answer(answer: ContentAnswer, tier: Tier) -> None:
    asked = f"{answer.id}: {answer.asked!r}"
    if answer.reason is not None:
        tier.note("no_answer", None, "1", f"{asked} has no answer that counts: {answer.reason}")
    elif answer.kind == "speech" and answer.exact is False:
        like = "" if answer.likeness is None else f"; the closest words are {answer.likeness:.2f}"
        like += " like it" if like else ""
        tier.note("not_said", answer.likeness, "1", f"{asked} is not said to the letter{like}")
    elif answer.kind == "audio-event" and answer.heard is False:
        tier.note("not_heard", 0.0, "1", f"{asked} is not heard")

"""What is wrong with a sound by itself: level, clipping, silence, and what its channels have.

A finding that good sounds share warns. Where the reference has none of it, it is a loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from screentest.metrics.facts import Unmeasured
from screentest.verdicts.audio_channels import FLOOR_DBFS, ChannelJudge, duration_s, found
from screentest.verdicts.audio_policy import AXES, TIERS
from screentest.verdicts.judgement import Defect
from screentest.verdicts.timeline import listed, percent, plural, stretches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.metrics.audio.facts import AudioFacts
    from screentest.verdicts.audio_policy import AudioPolicy

__all__ = ["ALONE", "SoundJudge"]

ALONE = tuple(axis for axis in AXES if axis not in TIERS)
"""The axes of a sound by itself."""

TENTH_S = 0.1
"""How long an entry of a sound's series lasts."""

FULL_SCALE_DBFS = 20.0 * math.log10(0.999) - 1e-6
"""A sample of this level counts as clipped; the little is what a logarithm may round by."""

SINKING_DB = 10.0
"""Less than this above silence a sound has sunk into it, and was not cut off."""

ABOVE_DBFS = 0.1
"""A largest sample above this is beyond full scale, which samples cannot be that were cut off."""

PUSHED_DB = 1.0
"""By how much a sound is louder than its reference that was pushed beyond full scale."""


class SoundJudge:
    """Judges one sound by its facts, and by those of its reference where there is one."""

    def __init__(
        self, facts: AudioFacts, policy: AudioPolicy, reference: AudioFacts | None = None
    ) -> None:
        self.facts, self.policy = facts, policy
        self.limits, self.severities = policy.limits, policy.severities
        comparable = reference is not None and reference.impl == facts.impl
        self.reference = SoundJudge(reference, policy) if reference and comparable else None
        theirs = None if self.reference is None else self.reference.channels
        self.channels: ChannelJudge = ChannelJudge(facts, policy, theirs)

    def defects(self) -> list[Defect]:
        """Everything that is wrong, in the order of a listener's concern."""
        told = [*self._non_finite(), *self._damaged()]
        if self.facts.non_finite or self._too_short is not None:
            return told
        told += self._level()
        if self.is_silent:
            return told
        told += [*self._clipped(), *self._true_peak(), *self._silence()]
        return [*told, *self.channels.defects()]

    def gaps(self) -> Iterator[Unmeasured]:
        """What has no number, and why; the first reason for an axis stands."""
        reasons: dict[str, Unmeasured] = {}
        for gap in self.facts.unmeasured:
            reasons.setdefault(gap.axis, gap)
        for axis in ALONE:
            if getattr(self.facts, axis) is None:
                why = "there is no number"
                if self.facts.non_finite:
                    why = "samples are NaN or infinite, which no level can be of"
                reasons.setdefault(axis, Unmeasured(axis, why))
        if self._too_short is not None:
            reasons |= {axis: Unmeasured(axis, self._too_short) for axis in ALONE}
        yield from reasons.values()

    @property
    def _too_short(self) -> str | None:
        if duration_s(self.facts) >= self.limits.shortest_s.value:
            return None
        lasts = 1000 * duration_s(self.facts)
        return (
            f"the sound lasts {lasts:.3g} ms, too short to be judged: that needs "
            f"{1000 * self.limits.shortest_s.value:g} ms"
        )

    # ------------------------------------------------------------------ the file

    def _non_finite(self) -> Iterator[Defect]:
        count, first = self.facts.non_finite, self.facts.first_non_finite_s
        if count:
            at = "" if first is None else f", the first at {first:.2f} s"
            yield Defect(
                severity="reject",
                code="non_finite",
                value=float(count),
                limit=0.0,
                unit="samples",
                seconds=None if first is None else self._tenth(first),
                message=f"{plural(count, 'sample')} NaN or infinite{at}: nothing else can be "
                "measured",
            )

    def _damaged(self) -> Iterator[Defect]:
        places = self.facts.damage
        if not places:
            return
        known = [place.time_s for place in places if place.time_s is not None]
        told = [
            place.detail if place.time_s is None else f"{place.detail} ({place.time_s:.2f} s)"
            for place in places
        ]
        yield Defect(
            severity="reject",
            code="damaged",
            value=float(len(places)),
            limit=0.0,
            unit="places",
            seconds=(round(min(known), 6), round(max(known), 6)) if known else None,
            message=f"the soundtrack is damaged in {plural(len(places), 'place')}: "
            f"{listed(told, most=3)}",
        )

    # ------------------------------------------------------------------ level

    @cached_property
    def is_silent(self) -> bool:
        """Whether the level lies below the limit, and no tenth of a second stands out of it."""
        level, limits = self.facts.audio_rms_dbfs, self.limits
        return (
            level is not None
            and level < limits.audio_rms_dbfs.value
            and self._loudest_dbfs < limits.loudest_tenth_dbfs.value
        )

    @property
    def _loudest_dbfs(self) -> float:
        series, level = self.facts.series, self.facts.audio_rms_dbfs
        if series is None or not len(series.rms_dbfs):
            return FLOOR_DBFS if level is None else level
        return float(np.max(series.rms_dbfs))

    def _level(self) -> Iterator[Defect]:
        level, limit = self.facts.audio_rms_dbfs, self.limits.audio_rms_dbfs
        if level is None or level >= limit.value:
            return
        peak = self.facts.audio_peak_dbfs
        code, severity = "silent", self.severities.silent
        if peak is not None and peak <= FLOOR_DBFS:
            message = "digital silence: every sample is 0"
        elif self.is_silent:
            message = (
                f"the sound is at {level:.1f} dBFS, inaudible beside others: {limit.value:g} dBFS "
                "is the floor"
            )
        else:
            code, severity = "quiet", self.severities.quiet
            message = (
                f"the sound is at {level:.1f} dBFS as a whole, under {limit.value:g}, though its "
                f"loudest tenth of a second reaches {self._loudest_dbfs:.1f} dBFS"
            )
        whole = (0.0, round(duration_s(self.facts), 6))
        yield found(severity, code, level, limit, message, whole)

    def _true_peak(self) -> Iterator[Defect]:
        peak, limit = self.facts.audio_true_peak_dbtp, self.limits.audio_true_peak_dbtp
        if peak is None or peak <= limit.value:
            return
        at = self.facts.loudest_s
        where = "" if at is None else f", at {at:.2f} s"
        message = (
            f"between its samples the sound reaches {peak:+.2f} dBTP{where}; above "
            f"{limit.value:+g} a player that has no headroom clips it"
        )
        place = None if at is None else self._tenth(at)
        severity = self.severities.true_peak
        yield found(severity, "true_peak", peak, limit, message, place)

    def _clipped(self) -> Iterator[Defect]:
        share, limit = self.facts.audio_clip_fraction, self.limits.audio_clip_fraction
        if share is None or share <= limit.value:
            return
        place, where = None, ""
        if self.facts.first_clip_s is not None:
            place = self._tenth(self.facts.first_clip_s)
            where = f", the first at {self.facts.first_clip_s:.2f} s"
        series = self.facts.series
        if series is not None:
            full = np.flatnonzero(series.peak_dbfs >= FULL_SCALE_DBFS)
            if len(full):
                first, last = int(full[0]), int(full[-1])
                place = (self._span(first, first)[0], self._span(last, last)[1])
                where = f", from {place[0]:.2f} to {place[1]:.2f} s ({_spread(full, first, last)})"
        severity = self.severities.clipped
        message = f"the sound is clipped: {_share(share)} of its samples are at full scale{where}"
        peak = self.facts.audio_peak_dbfs
        if peak is not None and peak > ABOVE_DBFS:
            # Nothing is cut off yet: a coder that overshoots reads like one that coded a cut sound.
            message = (
                f"{_share(share)} of the samples are at or beyond full scale, up to {peak:+.1f} "
                f"dBFS{where}: a coder's overshoot, or a clipped sound that was coded"
            )
            limit = self.limits.overshoot_fraction
            if share <= limit.value:
                severity = "warn"
                if self._was_pushed:
                    severity = self.severities.not_in_reference
                    message += "; the reference is less loud and has none of it"
        message += f"; the limit is {_share(limit.value)}"
        yield found(severity, "clipped", share, limit, message, place)

    @property
    def _was_pushed(self) -> bool:
        """Whether the sound is louder than a reference that is not clipped: coders leave the level
        as it is."""
        if self.reference is None:
            return False
        theirs, level = self.reference.facts, self.facts.audio_rms_dbfs
        share = theirs.audio_clip_fraction
        if share is None or theirs.audio_rms_dbfs is None or level is None:
            return False
        limit = self.limits.audio_clip_fraction.value
        return share <= limit and level - theirs.audio_rms_dbfs > PUSHED_DB

    # ------------------------------------------------------------------ silence

    def _silence(self) -> Iterator[Defect]:
        run, limit = self.facts.audio_max_silence_run, self.limits.audio_max_silence_run
        place = self.facts.longest_silence_s
        if run is None:
            return
        lasts = run * duration_s(self.facts) if place is None else place[1] - place[0]
        is_long = run > limit.value
        if lasts < self.limits.silence_s.value or not (is_long or self._is_cut_off):
            return
        told = f"silent for {lasts:.2f} s, {percent(run)} of its length"
        told += "" if place is None else f" ({place[0]:.2f} to {place[1]:.2f} s)"
        code, severity = "silence_run", self.severities.silence_run
        if self._is_cut_off:
            # Speech ends a word as abruptly, and pauses for less than that.
            code, severity = "dropout", self.severities.dropout if is_long else "warn"
            message = f"the sound stops as if cut off and is {told}"
        elif self._is_lost_sound(run):
            severity = self.severities.not_in_reference
            message = f"the sound is {told}, where the reference goes on"
        else:
            message = f"the sound is {told}"
        seconds = None if place is None else (round(place[0], 6), round(place[1], 6))
        yield found(severity, code, run, limit, message, seconds)

    @property
    def _is_cut_off(self) -> bool:
        """Whether the longest silence begins while the sound goes on at its level. A short sound
        amid silence ends as abruptly as it begins, and one that sinks into it slowly ends just
        above it."""
        if self.facts.silence_edge_dbfs is None:
            return False
        before, last = self.facts.silence_edge_dbfs
        return (
            before - last <= self.limits.cut_off_db.value
            and last >= self.limits.dead_channel_dbfs.value + SINKING_DB
        )

    def _is_lost_sound(self, run: float) -> bool:
        """Whether the silence is longer than the reference's by what would be too long alone."""
        if self.reference is None:
            return False
        theirs = self.reference.facts.audio_max_silence_run
        return theirs is not None and run - theirs > self.limits.audio_max_silence_run.value

    # ------------------------------------------------------------------ places

    def _tenth(self, time_s: float) -> tuple[float, float]:
        """The tenth of a second that holds a moment."""
        at = math.floor(time_s / TENTH_S + 1e-9)
        return self._span(at, at)

    def _span(self, first: int, last: int) -> tuple[float, float]:
        end = min((last + 1) * TENTH_S, duration_s(self.facts))
        return round(first * TENTH_S, 6), round(max(end, first * TENTH_S), 6)


def _spread(full: NDArray[np.int64], first: int, last: int) -> str:
    """In how many of the tenths between its ends something happens."""
    runs = stretches(full.tolist())
    if len(runs) == 1:
        return "in each tenth of a second"
    return f"in {len(full)} of {last - first + 1} tenths of a second"


def _share(share: float) -> str:
    """A small share as a person reads it."""
    return f"{100 * share:.3g} %"

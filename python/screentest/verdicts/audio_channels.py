"""What is wrong with the channels of a sound: an offset, a dead one, two that are one or cancel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from screentest.verdicts.judgement import Defect, Severity

if TYPE_CHECKING:
    from screentest.metrics.audio.facts import AudioFacts, ChannelFacts
    from screentest.verdicts.audio_policy import AudioPolicy
    from screentest.verdicts.document import Limit

__all__ = ["FLOOR_DBFS", "ChannelJudge", "duration_s", "found"]

FLOOR_DBFS = -120.0
"""What a level reads where every sample is 0."""

LOW_EFFECTS = ("LFE", "LFE2")
"""Channels that are silent in most sounds."""


def duration_s(facts: AudioFacts) -> float:
    """How long the sound lasts."""
    return facts.samples / facts.sound.sample_rate_hz


def found(
    severity: Severity,
    code: str,
    value: float,
    limit: Limit,
    message: str,
    seconds: tuple[float, float] | None = None,
) -> Defect:
    """A number that broke its limit."""
    return Defect(
        severity=severity,
        code=code,
        value=value,
        limit=limit.value,
        unit=limit.unit,
        message=message,
        seconds=seconds,
    )


class ChannelJudge:
    """Judges the channels of one sound, and what of its reference they lack."""

    def __init__(
        self, facts: AudioFacts, policy: AudioPolicy, reference: ChannelJudge | None
    ) -> None:
        self.facts, self.reference = facts, reference
        self.limits, self.severities = policy.limits, policy.severities

    def defects(self) -> Iterator[Defect]:
        """Everything that is wrong with them."""
        yield from self._dc_offset()
        yield from self._dead_channels()
        yield from self._dual_mono()
        yield from self._inverted_phase()

    def _dc_offset(self) -> Iterator[Defect]:
        offset, limit = self.facts.audio_dc_offset, self.limits.audio_dc_offset
        if offset is None or offset <= limit.value:
            return
        channels = [c for c in self.facts.channels if abs(c.dc_offset) > limit.value]
        told = ", ".join(f"{c.position} {c.dc_offset:+.3f}" for c in channels) or f"{offset:.3f}"
        message = f"the sound does not swing about 0 but about {told} of full scale"
        theirs = None if self.reference is None else self.reference.facts.audio_dc_offset
        severity: Severity = "warn"
        if duration_s(self.facts) < self.limits.dc_offset_s.value:
            message += "; it is so short that part of a low tone would read so"
        elif offset > self.limits.heavy_dc_offset.value:
            severity, limit = self.severities.dc_offset, self.limits.heavy_dc_offset
        elif theirs is not None and theirs <= limit.value:
            severity = self.severities.not_in_reference
            message += f"; the reference has {theirs:.3f}"
        yield found(severity, "dc_offset", offset, limit, message)

    @cached_property
    def dead(self) -> tuple[ChannelFacts, ...]:
        """The channels that are silent while another sounds."""
        heard = [c for c in self.facts.channels if c.position not in LOW_EFFECTS]
        if len(heard) < 2:
            return ()
        loudest, limits = max(c.rms_dbfs for c in heard), self.limits
        return tuple(
            c
            for c in heard
            if c.rms_dbfs < limits.dead_channel_dbfs.value
            and loudest - c.rms_dbfs > limits.dead_channel_db.value
        )

    def _dead_channels(self) -> Iterator[Defect]:
        dead = self.dead
        if not dead:
            return
        names = [channel.position for channel in dead]
        told = f"channel {names[0]} is" if len(dead) == 1 else f"channels {', '.join(names)} are"
        level = max(channel.rms_dbfs for channel in dead)
        how = "digitally silent" if level <= FLOOR_DBFS else f"silent ({level:.1f} dBFS)"
        message = f"{told} {how} while others sound"
        code, severity = "dead_channel", self.severities.dead_channel
        if self.facts.sound.channels > 2:
            # Many a film in 5.1 has silent surrounds.
            code, severity = "silent_channel", self.severities.silent_channel
            if self._is_alive_in_reference(names):
                severity = self.severities.not_in_reference
                message += ", and sound in the reference"
        limit = self.limits.dead_channel_dbfs
        yield found(severity, code, level, limit, message)

    def _is_alive_in_reference(self, names: list[str]) -> bool:
        theirs = self.reference
        if theirs is None or theirs.facts.sound.layout != self.facts.sound.layout:
            return False
        return bool(set(names) - {channel.position for channel in theirs.dead})

    @property
    def _front_sounds(self) -> bool:
        """Whether neither of the two channels that are compared is dead."""
        positions = [channel.position for channel in self.facts.channels]
        front = ("FL", "FR") if {"FL", "FR"} <= set(positions) else tuple(positions[:2])
        levels = [c.rms_dbfs for c in self.facts.channels if c.position in front]
        return all(level >= self.limits.dead_channel_dbfs.value for level in levels)

    def _dual_mono(self) -> Iterator[Defect]:
        apart, limit = self.facts.audio_stereo_separation_db, self.limits.audio_stereo_separation_db
        if apart is None or apart <= limit.value or not self._front_sounds:
            return
        theirs = None if self.reference is None else self.reference.facts.audio_stereo_separation_db
        severity = self.severities.dual_mono
        message = "left and right are the same sound: this is mono in two channels"
        if theirs is not None and theirs <= limit.value:
            severity = self.severities.not_in_reference
            message += ", where the reference is stereo"
        yield found(severity, "dual_mono", apart, limit, message)

    def _inverted_phase(self) -> Iterator[Defect]:
        related, limit = self.facts.audio_channel_correlation, self.limits.audio_channel_correlation
        if related is None or related >= limit.value or not self._front_sounds:
            return
        theirs = None if self.reference is None else self.reference.facts.audio_channel_correlation
        severity = self.severities.inverted_phase
        message = (
            f"right is left with its sign turned (correlation {related:.2f}): on one loudspeaker "
            "the two cancel"
        )
        if theirs is not None and theirs >= limit.value:
            severity = self.severities.not_in_reference
            message += f"; the reference has {theirs:.2f}"
        yield found(severity, "inverted_phase", related, limit, message)

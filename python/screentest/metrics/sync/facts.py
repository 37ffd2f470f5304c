"""What is measured of the time between sound and picture, and what could not be."""

from __future__ import annotations

import msgspec

from screentest.media.info import ClipInfo, Damage, SoundInfo
from screentest.metrics.facts import Unmeasured

__all__ = ["SCOPE_NOTE", "SyncEvent", "SyncFacts", "sync_drift_ms"]

SCOPE_NOTE = (
    "event sync: sudden sounds against sudden changes of the picture; lip sync is not measured"
)
"""Stands beside the number wherever it is reported."""


class SyncEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the picture and the sound that goes with it, in seconds of the clip's clock."""

    picture_s: float
    sound_s: float


class SyncFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one clip with its sound.

    Attributes:
        impl: version of the definitions; facts of different ``impl`` do not compare.
        clip: the picture.
        sound: the sound.
        damage: places where either does not hold what it should.
        scope: what the number is and is not.
        av_sync_offset_ms: by how much the sound is late; negative where it is early.
        interval_ms: where the offset lies with 95 % confidence: the spread of the events and at
            least a hop to either side; above it the one frame by which a picture shows late what
            happened since the last; below it what a sound that does not begin like a click reads
            late (3.4 ms at 48 kHz, 20 ms at 8 kHz), and for how long the changes go on to grow:
            hands move before they clap, and are read from where they begin to. That the events
            belong together is taken for granted (see ``by_chance``).
        av_sync_confidence: greatest correlation of both onset envelopes, there also without an
            offset where it was too low for one.
        prominence: how many standard deviations that peak stands over the correlations at all
            offsets.
        runner_up: largest correlation at another offset.
        search_ms: how far the search went to either side.
        hop_ms: step of the search.
        picture_onsets: sudden changes of the picture.
        sound_onsets: sudden sounds.
        events: pairs of them at that offset.
        by_chance: how many groups of events as close together as these chance alone would make, at
            most 0.02 for an offset but where every change of the picture has its sound and there
            are no others. Of one flash and one click in 6 s it is 0.17: that they belong together
            is then likely, and no more.
        slope_ms_per_minute: how much later the sound gets; ``None`` with too few events to say: it
            takes four over five seconds.
        slope_interval_ms_per_minute: where that lies with 95 % confidence; with 0 in it no clock
            can be said to be wrong.
        cuts_s: cuts that were left out: a cut is no event.
        unmeasured: ``av_sync_offset_ms`` with the reason, where there is no shared event.
    """

    impl: str
    clip: ClipInfo
    sound: SoundInfo
    damage: tuple[Damage, ...] = ()
    scope: str = SCOPE_NOTE
    av_sync_offset_ms: float | None = None
    interval_ms: tuple[float, float] | None = None
    av_sync_confidence: float | None = None
    prominence: float | None = None
    runner_up: float | None = None
    search_ms: float = 500.0
    hop_ms: float
    picture_onsets: int = 0
    sound_onsets: int = 0
    events: tuple[SyncEvent, ...] = ()
    by_chance: float | None = None
    slope_ms_per_minute: float | None = None
    slope_interval_ms_per_minute: tuple[float, float] | None = None
    cuts_s: tuple[float, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()


def sync_drift_ms(candidate: SyncFacts, reference: SyncFacts) -> float | None:
    """``av_sync_drift_ms``: size of the change of the offset against the reference's, in ms.

    ``None`` where either has no offset or they were measured by different versions (``impl``).
    """
    ours, theirs = candidate.av_sync_offset_ms, reference.av_sync_offset_ms
    if candidate.impl != reference.impl or ours is None or theirs is None:
        return None
    return abs(ours - theirs)

"""The facts of sync from what picture and sound say: pure arithmetic, nothing is read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from screentest.media.clip import Array
from screentest.media.packets import count_of
from screentest.metrics.sync.curve import HOP_S, LEAST_POINTS, SEARCH_S, Curve, correlate
from screentest.metrics.sync.facts import SyncEvent
from screentest.metrics.sync.onsets import Onsets, onsets
from screentest.metrics.sync.pairs import Pairs, chance, pair_events, t_95
from screentest.metrics.sync.picture import Picture
from screentest.metrics.sync.sound import SILENT, Flux

__all__ = ["sync_numbers"]

# As published: below either there is no peak to speak of.
_LEAST_PROMINENCE = 3.0
_LEAST_CONFIDENCE = 0.15
# Another peak nearly as high: the events repeat, and which goes with which is not known.
_RIVAL = 0.85
# One in fifty searches among events that know nothing of each other may find such a group.
_MOST_BY_CHANCE = 0.02

_LEAST_FRAMES = 3
# A cell of the picture must suddenly change by this many levels.
_LEAST_RISE = 4.0
# A sudden sound is at least this part of the level of the whole; 512 is the sum of the window.
_LEAST_FLUX = 0.01 * 512
# Parts of the greatest strength, which is a root: a 25th of the levels, a tenth of the flux.
_PART_OF_PICTURE = 0.2
_PART_OF_SOUND = 0.3
# Closer changes of the picture, or sounds, are one event.
_PICTURES_APART_S = 0.1
_SOUNDS_APART_S = 0.05
# Longer frames do not spread an event further: the peak would fill the search.
_LONGEST_FRAME_S = 0.06
# Hands move before they clap, and most is new as they meet. What has fallen to half is over.
_STILL_GROWING = 0.5


_NONE_SHARED = "no shared events: at no offset do sounds and changes of the picture go together"
_TOO_SHORT = f"too short: sound and picture have less than {LEAST_POINTS * HOP_S:g} s in common"


class _Reason(Exception):
    """Why there is no offset."""


def sync_numbers(picture: Picture, flux: Flux) -> tuple[dict[str, Any], str]:
    """The fields of :class:`~screentest.metrics.sync.facts.SyncFacts` that are numbers, and why
    there is no offset; an empty reason if there is one."""
    found: dict[str, Any] = {"cuts_s": picture.cuts_s}
    try:
        _measure(picture, flux, found)
    except _Reason as reason:
        return found, str(reason)
    return found, ""


def _measure(picture: Picture, flux: Flux, found: dict[str, Any]) -> None:
    frame_s = _check_readable(picture, flux)
    seen, heard = _onsets(picture, flux)
    found.update(picture_onsets=len(seen.event_s), sound_onsets=len(heard.event_s))
    if not len(heard.event_s):
        raise _Reason("no sudden sounds: the sound is steady or swells slowly")
    if not len(seen.event_s):
        still = float(picture.rise.max(initial=0.0)) < _LEAST_RISE
        if not still:
            raise _Reason("no sudden changes in the picture: what moves in it moves steadily")
        raise _Reason("no changes in the picture" + " besides its cuts" * bool(picture.cuts_s))
    curve = correlate(seen, heard, min(frame_s, _LONGEST_FRAME_S))
    if curve is None:
        raise _Reason(_TOO_SHORT)
    attack = flux.attack_s
    # The peak itself is as wide as a frame's triangle and the rise of a sound.
    rival = curve.rival(2 * (min(frame_s, _LONGEST_FRAME_S) + attack + HOP_S))
    found.update(
        av_sync_confidence=float(curve.r[curve.best]),
        prominence=curve.prominence,
        runner_up=0.0 if rival is None else float(curve.r[rival]),
    )
    pairs = pair_events(
        seen.event_s, heard.event_s, curve.offset_s, frame_s / 2 + attack + 2 * HOP_S
    )
    _check_shared(curve, pairs, seen, heard, rival, found)
    offset = curve.offset_s
    found.update(
        av_sync_offset_ms=1e3 * offset,
        interval_ms=_interval_ms(
            offset, pairs, _growth_s(picture, pairs.picture_s), frame_s, attack
        ),
        events=tuple(
            SyncEvent(picture_s=float(p), sound_s=float(s))
            for p, s in zip(pairs.picture_s, pairs.sound_s, strict=True)
        ),
    )
    if pairs.slope is not None and pairs.slope_error is not None:
        per_minute = 6e4
        low, high = pairs.slope - pairs.slope_error, pairs.slope + pairs.slope_error
        found.update(
            slope_ms_per_minute=per_minute * pairs.slope,
            slope_interval_ms_per_minute=(per_minute * low, per_minute * high),
        )


def _check_readable(picture: Picture, flux: Flux) -> float:
    """How long a frame is shown, if both can be looked at."""
    if picture.time_s is None:
        raise _Reason("no evidence: the frames have no time stamps (frame_rate= gives them some)")
    if flux.bad:
        raise _Reason(f"the sound holds {flux.bad} NaN or infinite samples")
    if picture.frames < _LEAST_FRAMES:
        raise _Reason(f"too short: {picture.frames} frames, and a change needs {_LEAST_FRAMES}")
    steps = np.diff(picture.time_s)
    if not (steps > 0).all():
        raise _Reason("no evidence: the time stamps of the frames do not ascend")
    if flux.peak <= SILENT:
        raise _Reason("silent: no sample of the sound is above -60 dBFS")
    if flux.mean_peak <= SILENT * flux.peak:
        raise _Reason("silent: mixed to one, the channels cancel each other")
    if not len(flux.time_s):
        raise _Reason("too short: the sound is hardly a window of 1024 samples long")
    common = min(flux.time_s[-1], picture.time_s[-1]) - max(flux.time_s[0], picture.time_s[0])
    if common < 0:
        raise _Reason("sound and picture have no time in common")
    if common < LEAST_POINTS * HOP_S:
        raise _Reason(_TOO_SHORT)
    return float(np.median(steps))


def _onsets(picture: Picture, flux: Flux) -> tuple[Onsets, Onsets]:
    assert picture.time_s is not None
    seen = onsets(
        picture.time_s,
        picture.rise,
        floor=_LEAST_RISE,
        part=_PART_OF_PICTURE,
        block_s=1.0,
        apart_s=_PICTURES_APART_S,
        between=False,
    )
    heard = onsets(
        flux.time_s,
        flux.flux,
        lately=flux.lately,
        floor=_LEAST_FLUX * flux.rms,
        part=_PART_OF_SOUND,
        block_s=0.5,
        apart_s=_SOUNDS_APART_S,
        between=True,
    )
    return seen, heard


def _check_shared(
    curve: Curve,
    pairs: Pairs,
    seen: Onsets,
    heard: Onsets,
    rival: int | None,
    found: dict[str, Any],
) -> None:
    confidence = float(curve.r[curve.best])
    if confidence < _LEAST_CONFIDENCE or not len(pairs.picture_s):
        raise _Reason(_NONE_SHARED)
    start, end = seen.time_s[0] - SEARCH_S, seen.time_s[-1] + SEARCH_S
    sounds = int(np.count_nonzero((heard.event_s >= start) & (heard.event_s <= end)))
    pictures = len(seen.event_s)
    expected = chance(
        pairs.offsets_s,
        pictures=pictures,
        sounds=sounds,
        common_s=curve.common * HOP_S,
        search_s=float(curve.lag_s[-1] - curve.lag_s[0]),
    )
    found.update(by_chance=expected)
    # One flash with one click is never more than chance gives, and all there is to go by.
    complete = len(pairs.picture_s) == pictures == sounds
    if not complete and expected > _MOST_BY_CHANCE:
        raise _Reason(
            f"no shared events: of {count_of(pictures, 'change')} of the picture and "
            f"{count_of(sounds, 'sudden sound')} {len(pairs.picture_s)} go together, which chance "
            "alone may do"
        )
    if curve.best in (0, len(curve.r) - 1):
        raise _Reason(
            f"no shared events within {1e3 * SEARCH_S:g} ms: they go together best at the end of "
            "the search"
        )
    if rival is not None and curve.r[rival] >= _RIVAL * confidence:
        one, other = sorted((curve.offset_s, float(curve.lag_s[rival])))
        raise _Reason(
            "ambiguous: the events repeat, and go together as well with the sound "
            f"{_told(one)} as with it {_told(other)}"
        )
    if curve.prominence < _LEAST_PROMINENCE:
        raise _Reason(_NONE_SHARED)


def _told(late_s: float) -> str:
    return f"{1e3 * abs(late_s):.0f} ms {'late' if late_s >= 0 else 'early'}"


def _growth_s(picture: Picture, event_s: Array) -> Array:
    """For how long each change of the picture goes on to grow: to the end of the frame that most
    is new in; 0 where that is the first."""
    assert picture.time_s is not None
    at, new = picture.time_s, picture.new
    growth = np.zeros(len(event_s))
    for k, start in enumerate(np.searchsorted(at, event_s)):
        most, j = int(start), int(start) + 1
        while j < len(at) - 1 and at[j] - at[start] < SEARCH_S:
            if new[j] < _STILL_GROWING * new[most]:
                break
            if new[j] > new[most]:
                most = j
            j += 1
        if most > start:
            growth[k] = at[most + 1] - at[start]
    return growth


def _interval_ms(
    offset: float, pairs: Pairs, growth_s: Array, frame_s: float, attack: float
) -> tuple[float, float]:
    """What is heard goes with any moment from the frame before each change to its growth's end."""
    late = pairs.offsets_s
    grown = late - growth_s
    low = min(offset - float(growth_s.mean()), float(grown.mean())) - _half_width(grown) - attack
    high = max(offset, float(late.mean())) + _half_width(late) + frame_s
    return 1e3 * low, 1e3 * high


def _half_width(late: Array) -> float:
    """Of the 95 % interval of a mean; at least a hop."""
    if len(late) < 2:
        return HOP_S
    spread = float(np.std(late, ddof=1)) / math.sqrt(len(late))
    return max(HOP_S, t_95(len(late) - 1) * spread)

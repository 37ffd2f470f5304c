"""Two sounds in, facts out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from screentest import compute
from screentest._native import AudioPair, LagSearch
from screentest.errors import ProtocolError
from screentest.media.sound import Sound, read_audio
from screentest.metrics.audio.facts import AudioFacts
from screentest.metrics.audio.measure import measure_audio
from screentest.metrics.audio_pair.facts import (
    AudioPairFacts,
    PairChannel,
    PairSeries,
    WorstSecond,
)
from screentest.metrics.audio_pair.names import IMPL, METRICS
from screentest.metrics.audio_pair.replay import Replay
from screentest.metrics.audio_pair.scores import Sums
from screentest.metrics.facts import Unmeasured
from screentest.metrics.identity import worst_of

__all__ = ["measure_audio_pair"]

_NAMES = ("reference", "candidate")

_SCORES = {
    "audio_si_sdr": "si_sdr_db",
    "audio_snr_db": "snr_db",
    "audio_lsd_db": "lsd_db",
    "audio_mel_l1": "mel_l1",
}
"""Metrics that have a value in each second, and what they are called there."""


def measure_audio_pair(
    reference: Any,
    candidate: Any,
    *,
    facts: tuple[AudioFacts, AudioFacts] | None = None,
    threads: int | None = None,
    **read_options: Any,
) -> AudioPairFacts:
    """Measure how far a sound moved from its reference.

    Args:
        reference: what :func:`~screentest.media.read_audio` opens, or an opened sound.
        candidate: the same, of the same sample rate.
        facts: what :func:`~screentest.metrics.audio.measure_audio` found of the two, so that their
            loudness is not measured again.
        threads: worker threads; they change no bit of the facts.
        read_options: options of ``read_audio`` for both.

    Returns:
        The facts. Sounds that are alike read 99 dB and 0; a silent candidate -120 dB, and no lag.
        With silence in both, or a NaN in either, nothing is measured. What one has more than the
        other is not compared.

    Raises:
        ProtocolError: ``different_rates``: nothing is resampled.
        MediaError, InputError: as ``read_audio``.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).uniform(-0.5, 0.5, (48000, 2)).astype(np.float32)
    >>> late = np.concatenate([np.zeros((240, 2), np.float32), noise])
    >>> measured = measure_audio_pair(noise, late, sample_rate=48000)
    >>> measured.audio_align_lag_ms, measured.audio_si_sdr
    (5.0, 99.0)
    """
    budget = compute.threads(threads)
    with ExitStack() as stack:
        sounds = []
        for source in (reference, candidate):
            sound = read_audio(source, **({} if isinstance(source, Sound) else read_options))
            if sound is not source:
                stack.enter_context(sound)
            sounds.append(sound)
        return _Pair(sounds[0], sounds[1], facts, budget).measure()


class _Pair:
    def __init__(
        self,
        reference: Sound,
        candidate: Sound,
        facts: tuple[AudioFacts, AudioFacts] | None,
        threads: int,
    ) -> None:
        ours, theirs = candidate.info, reference.info
        if ours.sample_rate_hz != theirs.sample_rate_hz:
            raise ProtocolError(
                f"the reference has {theirs.sample_rate_hz} samples per second, the candidate "
                f"{ours.sample_rate_hz}: expected one rate; nothing is resampled",
                code="different_rates",
                rates=(theirs.sample_rate_hz, ours.sample_rate_hz),
            )
        self.sounds = (reference, candidate)
        self.sides = tuple(Replay(sound, loudness=facts is None) for sound in self.sounds)
        self.rate = ours.sample_rate_hz
        self.facts = facts
        self.threads = threads
        self.by_channel = ours.channels == theirs.channels > 1 and ours.layout == theirs.layout
        self.gaps: list[Unmeasured] = []

    def measure(self) -> AudioPairFacts:
        search = LagSearch(self.rate, threads=self.threads)
        for a, b in self._side_by_side():
            if a is not None and b is not None:
                search.push(a, b)
        best = search.finish()
        for side, name in zip(self.sides, _NAMES, strict=True):
            if side.first_non_finite_s is not None:
                where = f"from {side.first_non_finite_s:.3f} s on"
                reason = f"the {name} holds NaN or infinite samples, {where}"
                gaps = tuple(Unmeasured(spec.name, reason) for spec in METRICS)
                return self._facts(unmeasured=gaps)
        lag, correlation, bound = best or (0, None, 0)
        tracks = self._compared(lag)
        programme = Sums.over(tracks[0])
        why = _unchanging(programme, [Sums.over(track) for track in tracks[1:]])
        why = why or "they share too little sound"
        if best is None:
            self._gap("audio_align_lag_ms", why)
        values = {name: getattr(programme, field) for name, field in _SCORES.items()}
        for name, value in values.items():
            if value is None:
                self._gap(name, f"where they overlap, {why}")
        series = self._series(tracks[0], lag)
        return self._facts(
            **values,
            audio_align_lag_ms=None if best is None else 1000.0 * lag / self.rate,
            lag_correlation=correlation,
            polarity=None if correlation is None else ("inverted" if correlation < 0.0 else "same"),
            lag_at_bound=abs(lag) == bound > 0,
            lag_bound_ms=1000.0 * bound / self.rate,
            compared_s=programme.samples / self.rate,
            audio_lufs_delta=self._lufs_delta(),
            channels=self._channels(tracks[1:]),
            series=series,
            worst=tuple(self._worst(tracks, series, lag)),
            unmeasured=tuple(self.gaps),
        )

    def _side_by_side(self) -> Iterator[tuple[Any, Any]]:
        """Blocks of both, second by second, to the end of the longer one."""
        first, second = self.sides
        return zip_longest(first.blocks(), second.blocks())

    def _compared(self, lag: int) -> npt.NDArray[np.float64]:
        """The sums (tracks, seconds, 10) of what both have at this lag."""
        pair = AudioPair(
            (self.sounds[0].info.channels, self.sounds[1].info.channels),
            self.rate,
            lag=lag,
            by_channel=self.by_channel,
            threads=self.threads,
        )
        for a, b in self._side_by_side():
            pair.push(a, b)
            if a is None or b is None:
                # A second more than the other has is more than any lag: the rest has no partner.
                break
        return pair.finish()

    def _gap(self, axis: str, reason: str) -> None:
        self.gaps.append(Unmeasured(axis, reason))

    def _lufs_delta(self) -> float | None:
        theirs, ours = (self._lufs(at) for at in (0, 1))
        if ours is not None and theirs is not None:
            return ours - theirs
        at = 0 if theirs is None else 1
        facts = (
            self.facts[at] if self.facts else measure_audio(self.sounds[at], threads=self.threads)
        )
        why = next(gap.reason for gap in facts.unmeasured if gap.axis == "audio_lufs")
        self._gap("audio_lufs_delta", f"the {_NAMES[at]} has no loudness: {why}")
        return None

    def _lufs(self, at: int) -> float | None:
        return self.facts[at].audio_lufs if self.facts else self.sides[at].lufs

    def _channels(self, tracks: npt.NDArray[np.float64]) -> tuple[PairChannel, ...]:
        sums = [Sums.over(track) for track in tracks]
        return tuple(
            PairChannel(
                position=position,
                si_sdr_db=each.si_sdr_db,
                snr_db=each.snr_db,
                lsd_db=each.lsd_db,
                mel_l1=each.mel_l1,
            )
            for position, each in zip(self.sounds[1].info.channel_names, sums, strict=False)
        )

    def _series(self, programme: npt.NDArray[np.float64], lag: int) -> PairSeries:
        seconds = [Sums.over(row[None]) for row in programme]

        def column(field: str) -> npt.NDArray[np.float64]:
            values = [getattr(second, field) for second in seconds]
            return np.array([np.nan if value is None else value for value in values], np.float64)

        return PairSeries(
            time_s=np.arange(len(seconds), dtype=np.float64) + max(lag, 0) / self.rate,
            **{field: column(field) for field in _SCORES.values()},
        )

    def _worst(
        self, tracks: npt.NDArray[np.float64], series: PairSeries, lag: int
    ) -> Iterator[WorstSecond]:
        """Of each metric the second to listen to: one in which there is something to hear."""
        seconds = [Sums.over(row[None]) for row in tracks[0]]
        # A stump of a second at the end says little about a second.
        whole = [k for k, each in enumerate(seconds) if 2 * each.samples >= self.rate]
        heard = [k for k in whole or range(len(seconds)) if not seconds[k].quiet]
        for metric, field in _SCORES.items():
            column = getattr(series, field)
            known = [k for k in heard if not np.isnan(column[k])]
            if not known:
                continue
            value, at = worst_of(metric, [float(column[k]) for k in known], known)
            start, length = float(series.time_s[at]), seconds[at].samples / self.rate
            yield WorstSecond(
                metric=metric,
                value=value,
                seconds=(start, start + length),
                reference_seconds=(start - lag / self.rate, start - lag / self.rate + length),
                position=self._worst_channel(metric, field, tracks[1:, at]),
            )

    def _worst_channel(self, metric: str, field: str, rows: npt.NDArray[np.float64]) -> str | None:
        found = [(c, getattr(Sums.over(row[None]), field)) for c, row in enumerate(rows)]
        known = [(c, value) for c, value in found if value is not None]
        if not known:
            return None
        _, at = worst_of(metric, [value for _, value in known], [c for c, _ in known])
        return self.sounds[1].info.channel_names[at]

    def _facts(self, **found: Any) -> AudioPairFacts:
        reference, candidate = self.sounds
        return AudioPairFacts(
            impl=IMPL,
            reference=reference.info,
            candidate=candidate.info,
            reference_damage=reference.damage,
            candidate_damage=candidate.damage,
            reference_samples=self.sides[0].samples,
            candidate_samples=self.sides[1].samples,
            **found,
        )


def _unchanging(programme: Sums, channels: Sequence[Sums]) -> str:
    """Which of the two is constant, and how: where its channels are not, it is their mean."""
    found = []
    for at, name in enumerate(_NAMES):
        if programme.changes[at]:
            continue
        cancels = any(channel.changes[at] for channel in channels)
        what = f"the mean of the {name}'s channels" if cancels else f"the {name}"
        is_silent = not (programme.aa, programme.bb)[at]
        found.append(f"{what} is {'digital silence' if is_silent else 'a constant'}")
    return " and ".join(found)

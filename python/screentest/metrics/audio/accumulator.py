"""A sound block by block, and its facts at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest import compute
from screentest._native import AudioMeter
from screentest.media.info import Damage, SoundInfo
from screentest.metrics.audio.facts import AudioFacts, AudioSeries, ChannelFacts
from screentest.metrics.audio.names import IMPL
from screentest.metrics.audio.reasons import FLOOR_DB, unmeasured_of
from screentest.metrics.audio.weights import front_pair, weights_of

if TYPE_CHECKING:
    from screentest._native import _Audio

__all__ = ["AudioAccumulator"]


class AudioAccumulator:
    """Takes a sound's blocks in time order. Memory grows by four numbers per tenth of a second.

    Args:
        info: what is known of the sound; its channels, places and rate are used.
        threads: compute budget; default ``min(4, CPUs)``. It changes no bit of the result.
    """

    def __init__(self, info: SoundInfo, *, threads: int | None = None) -> None:
        self._info = info
        weights = weights_of(info.positions, info.sample_rate_hz)
        self._no_loudness = weights if isinstance(weights, str) else None
        self._meter = AudioMeter(
            info.channels,
            info.sample_rate_hz,
            weights=None if isinstance(weights, str) else weights,
            front=front_pair(info.positions),
            threads=compute.threads(threads),
            simd=compute.simd_level(),
        )

    def push(self, block: NDArray[np.float32]) -> None:
        """Take the next samples, C-contiguous float32 ``(n, channels)``; any ``n``.

        Raises:
            InputError: the block has another shape, or ``finish`` was called.
        """
        self._meter.push(block)

    def finish(self, damage: Sequence[Damage] = ()) -> AudioFacts:
        """The facts of all that was pushed; once. ``damage`` is what the source says is missing.

        Raises:
            InputError: it was called before.
        """
        found = self._meter.finish()
        rate = self._info.sample_rate_hz
        first = found["first_non_finite"]
        # Of a sound without samples, or with one that is no number, nothing else is known.
        is_known = found["samples"] > 0 and found["non_finite"] == 0
        facts = AudioFacts(
            impl=IMPL,
            sound=self._info,
            damage=tuple(damage),
            samples=found["samples"],
            non_finite=found["non_finite"],
            first_non_finite_s=None if first is None else first / rate,
            true_peak_oversampling=found["oversampling"],
            **({**_values(found, rate), "channels": self._channels(found)} if is_known else {}),
        )
        blocks = found["loudness"]["blocks"] if found["loudness"] else 0
        reasons = unmeasured_of(facts, self._no_loudness, blocks=blocks)
        return msgspec.structs.replace(facts, unmeasured=reasons)

    def _channels(self, found: _Audio) -> tuple[ChannelFacts, ...]:
        return tuple(
            ChannelFacts(
                position=position,
                rms_dbfs=channel["rms_dbfs"],
                peak_dbfs=channel["peak_dbfs"],
                true_peak_dbtp=channel["true_peak_dbtp"],
                dc_offset=channel["dc_offset"],
                clip_fraction=channel["clipped"] / found["samples"],
            )
            for position, channel in zip(self._info.channel_names, found["channels"], strict=True)
        )


def _values(found: _Audio, rate: int) -> dict[str, Any]:
    """Every fact that a sound of finite samples has."""
    channels, samples = found["channels"], found["samples"]
    loudest = max(channels, key=lambda channel: channel["true_peak_dbtp"])
    is_silent = loudest["true_peak_dbtp"] == FLOOR_DB
    first_clip = found["first_clip"]
    start = found["longest_silence_from"]
    end = min(start + found["longest_silence"] * found["block_samples"], samples)
    values: dict[str, Any] = {
        "audio_rms_dbfs": found["rms_dbfs"],
        "audio_peak_dbfs": max(channel["peak_dbfs"] for channel in channels),
        "audio_true_peak_dbtp": loudest["true_peak_dbtp"],
        "audio_clip_fraction": sum(c["clipped"] for c in channels) / (samples * len(channels)),
        "audio_dc_offset": max(abs(channel["dc_offset"]) for channel in channels),
        "audio_spectral_flatness": found["spectral_flatness"],
        "audio_silence_fraction": found["silent_blocks"] / found["silence_blocks"],
        "audio_max_silence_run": found["longest_silence"] / found["silence_blocks"],
        "longest_silence_s": (start / rate, end / rate) if found["longest_silence"] else None,
        "silence_edge_dbfs": found["silence_edge_dbfs"],
        "loudest_s": None if is_silent else loudest["true_peak_at"] / rate,
        "first_clip_s": None if first_clip is None else first_clip / rate,
    }
    if found["stereo"] is not None:
        level, side, correlation = found["stereo"]
        values["audio_side_dbfs"] = side
        values["audio_stereo_separation_db"] = level - side
        values["audio_channel_correlation"] = correlation
    return {**values, **_loudness(found, rate)}


def _loudness(found: _Audio, rate: int) -> dict[str, Any]:
    loudness = found["loudness"]
    tenths = found["tenth_rms_dbfs"].size
    nowhere = np.full(tenths, np.nan)
    series = AudioSeries(
        time_s=np.arange(tenths, dtype=np.float64) * (found["tenth_samples"] / rate),
        rms_dbfs=found["tenth_rms_dbfs"],
        peak_dbfs=found["tenth_peak_dbfs"],
        momentary_lufs=nowhere if loudness is None else loudness["momentary"],
        short_term_lufs=nowhere if loudness is None else loudness["short_term"],
    )
    if loudness is None:
        return {"series": series}
    return {
        "series": series,
        "audio_lufs": loudness["integrated"],
        "ungated_lufs": loudness["ungated"],
        "momentary_max_lufs": loudness["momentary_max"],
        "short_term_max_lufs": loudness["short_term_max"],
        "loudness_range_lu": loudness["range"],
    }

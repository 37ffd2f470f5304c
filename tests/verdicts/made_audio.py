"""Audio facts made by hand, with the fields that the verdict reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from screentest.media.info import SoundInfo
from screentest.metrics.audio.facts import AudioFacts, AudioSeries, ChannelFacts
from screentest.metrics.audio_content.facts import AudioContentFacts, ContentAnswer
from screentest.metrics.audio_pair.facts import AudioPairFacts, WorstSecond
from screentest.metrics.sync.facts import SyncEvent, SyncFacts
from tests.verdicts.made import clip_info

LAYOUTS = {
    "mono": ("FC",),
    "stereo": ("FL", "FR"),
    "5.1": ("FL", "FR", "FC", "LFE", "SL", "SR"),
}


def sound_info(layout: str = "stereo", **changes: Any) -> SoundInfo:
    positions = LAYOUTS[layout]
    known: dict[str, Any] = {
        "source": "made.wav",
        "kind": "file",
        "sample_rate_hz": 48000,
        "channels": len(positions),
        "layout": layout,
        "positions": positions,
        "samples": 240000,
        "duration_s": 5.0,
    }
    return SoundInfo(**{**known, **changes})


def channel(position: str, **changes: Any) -> ChannelFacts:
    known: dict[str, Any] = {
        "rms_dbfs": -20.0,
        "peak_dbfs": -6.0,
        "true_peak_dbtp": -5.8,
        "dc_offset": 0.0002,
        "clip_fraction": 0.0,
    }
    return ChannelFacts(position=position, **{**known, **changes})


def series(rms: Sequence[float], peak: Sequence[float] | None = None) -> AudioSeries:
    """One entry per tenth of a second."""
    levels = np.asarray(rms, dtype=np.float64)
    return AudioSeries(
        time_s=np.arange(len(levels)) / 10.0,
        rms_dbfs=levels,
        peak_dbfs=levels + 12.0 if peak is None else np.asarray(peak, dtype=np.float64),
        momentary_lufs=levels - 1.0,
        short_term_lufs=levels - 1.0,
    )


def audio(layout: str = "stereo", *, seconds: float = 5.0, **numbers: Any) -> AudioFacts:
    """Facts of a good sound of 48 kHz; ``numbers`` replace what a test is about."""
    info = sound_info(layout, samples=round(48000 * seconds), duration_s=seconds)
    two = layout != "mono"
    known: dict[str, Any] = {
        "impl": "audio/1",
        "sound": info,
        "samples": round(48000 * seconds),
        "audio_rms_dbfs": -20.0,
        "audio_peak_dbfs": -6.0,
        "audio_true_peak_dbtp": -5.8,
        "audio_clip_fraction": 0.0,
        "audio_dc_offset": 0.0002,
        "audio_spectral_flatness": 0.2,
        "audio_silence_fraction": 0.0,
        "audio_max_silence_run": 0.0,
        "loudest_s": 1.234,
        "audio_side_dbfs": -32.0 if two else None,
        "audio_stereo_separation_db": 12.0 if two else None,
        "audio_channel_correlation": 0.7 if two else None,
        "audio_lufs": -21.0,
        "ungated_lufs": -21.2,
        "momentary_max_lufs": -18.0,
        "short_term_max_lufs": -19.0,
        "loudness_range_lu": 4.0,
        "channels": tuple(channel(position) for position in LAYOUTS[layout]),
        "series": series([-20.0] * max(1, round(10 * seconds))),
    }
    return AudioFacts(**{**known, **numbers})


def silent_from(
    start_s: float, *, seconds: float = 5.0, before: float = -20.0, edge: float | None = -1.0
) -> dict[str, Any]:
    """Numbers of a sound that is at -20 dBFS, then for half a second at ``before``, in the end
    ``edge`` above that, and then silent."""
    levels = np.full(round(10 * seconds), -20.0)
    levels[round(10 * start_s) :] = -120.0
    run = (seconds - start_s) / seconds
    return {
        "audio_max_silence_run": run,
        "audio_silence_fraction": run,
        "longest_silence_s": (start_s, seconds),
        "silence_edge_dbfs": None if edge is None else (before, before + edge),
        "series": series(levels.tolist()),
    }


def pair(**numbers: Any) -> AudioPairFacts:
    known: dict[str, Any] = {
        "impl": "audio_pair/1",
        "reference": sound_info(source="reference.wav"),
        "candidate": sound_info(),
        "reference_samples": 240000,
        "candidate_samples": 240000,
        "audio_align_lag_ms": 0.0,
        "lag_correlation": 0.98,
        "polarity": "same",
        "compared_s": 5.0,
        "audio_si_sdr": 21.0,
        "audio_snr_db": 20.0,
        "audio_lsd_db": 1.5,
        "audio_mel_l1": 0.2,
        "audio_lufs_delta": -0.3,
        "worst": (
            WorstSecond(
                metric="audio_snr_db", value=11.0, seconds=(3.0, 4.0), reference_seconds=(3.0, 4.0)
            ),
        ),
    }
    return AudioPairFacts(**{**known, **numbers})


def sync(offset: float | None = 10.0, half: float = 25.0, **more: Any) -> SyncFacts:
    known: dict[str, Any] = {
        "impl": "sync/1",
        "clip": clip_info(),
        "sound": sound_info(),
        "hop_ms": 5.0,
    }
    if offset is not None:
        known |= {
            "av_sync_offset_ms": offset,
            "interval_ms": (offset - half, offset + half),
            "av_sync_confidence": 0.8,
            "prominence": 9.0,
            "runner_up": 0.2,
            "picture_onsets": 4,
            "sound_onsets": 4,
            "events": (SyncEvent(picture_s=1.0, sound_s=1.0 + offset / 1000.0),),
        }
    return SyncFacts(**{**known, **more})


def content(*answers: ContentAnswer, **numbers: Any) -> AudioContentFacts:
    return AudioContentFacts(
        impl="audio_content/1",
        sound=sound_info(),
        checklist="kitchen",
        checklist_sha256="0" * 64,
        answers=answers,
        **numbers,
    )

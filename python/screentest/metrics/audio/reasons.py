"""Why a metric of a sound has no value."""

from __future__ import annotations

from screentest.metrics.audio.facts import AudioFacts
from screentest.metrics.audio.names import METRICS
from screentest.metrics.facts import Unmeasured

__all__ = ["FLOOR_DB", "unmeasured_of"]

FLOOR_DB = -120.0
"""What every level reads that is not above it."""

_STEREO = ("audio_side_dbfs", "audio_stereo_separation_db", "audio_channel_correlation")


def unmeasured_of(
    facts: AudioFacts, no_loudness: str | None, *, blocks: int
) -> tuple[Unmeasured, ...]:
    """Every metric without a value, with its reason. ``no_loudness`` is why the sound as such has
    none; ``blocks`` counts its whole blocks of 400 ms."""
    missing = [spec.name for spec in METRICS if getattr(facts, spec.name) is None]
    nothing = _nothing(facts)
    if nothing is not None:
        return tuple(Unmeasured(name, nothing) for name in missing)
    return tuple(_reason(name, facts, no_loudness, blocks) for name in missing)


def _nothing(facts: AudioFacts) -> str | None:
    """Why there is no value at all."""
    if facts.samples == 0:
        return "the sound has no samples"
    if facts.non_finite:
        return (
            f"{facts.non_finite} of the samples are NaN or infinite, the first at "
            f"{facts.first_non_finite_s:.3f} s: nothing else is measured"
        )
    return None


def _reason(name: str, facts: AudioFacts, no_loudness: str | None, blocks: int) -> Unmeasured:
    if name == "audio_lufs":
        return Unmeasured(name, no_loudness or _loudness(facts, blocks))
    if name in _STEREO:
        layout = facts.sound.layout
        return Unmeasured(name, f"the layout {layout} has no left and right", applies=False)
    if facts.audio_peak_dbfs == FLOOR_DB:
        return Unmeasured(name, "silent: no sample is above -120 dBFS")
    if len(facts.channels) > 1:
        return Unmeasured(name, "the mean of the channels is silent: they cancel each other")
    return Unmeasured(name, "no frame of 1024 samples holds anything")


def _loudness(facts: AudioFacts, blocks: int) -> str:
    if blocks == 0:
        lasts = facts.samples / facts.sound.sample_rate_hz
        return f"{lasts:.2f} s of sound; loudness needs blocks of 0.4 s"
    if facts.audio_peak_dbfs == FLOOR_DB:
        return "silent: no sample is above -120 dBFS"
    if facts.ungated_lufs is None:
        return "the channels that count for loudness are silent; low-frequency effects do not count"
    return (
        "every block is below the gate of -70 LUFS; ungated loudness is "
        f"{facts.ungated_lufs:.1f} LUFS"
    )

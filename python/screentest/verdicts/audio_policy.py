"""The limits of the audio verdict as data; ``policies/audio.toml`` says what each means."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from screentest.errors import PolicyError
from screentest.verdicts.document import Kind, Limit, PolicyDocument
from screentest.verdicts.judgement import Severity

__all__ = [
    "AXES",
    "TIERS",
    "AudioLimits",
    "AudioPolicy",
    "AudioPolicyLike",
    "AudioSeverities",
    "Budget",
    "ContentBudgets",
    "FidelityBudgets",
    "SyncBudgets",
    "as_audio_policy",
    "budgets_of",
    "default_audio_policy",
    "load_audio_policy",
    "parse_audio_policy",
]

TIERS = ("audio_pair", "sync", "audio_content")
"""What is measured against a reference, the picture and a checklist, each an axis as a whole."""

AXES = (
    "audio_rms_dbfs",
    "audio_true_peak_dbtp",
    "audio_clip_fraction",
    "audio_max_silence_run",
    "audio_dc_offset",
    "audio_stereo_separation_db",
    "audio_channel_correlation",
    *TIERS,
)
"""What ``required`` and ``require`` may name."""


class AudioLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of the audio verdict, those of a metric under its name."""

    audio_rms_dbfs: Limit
    loudest_tenth_dbfs: Limit
    audio_true_peak_dbtp: Limit
    audio_clip_fraction: Limit
    overshoot_fraction: Limit
    audio_max_silence_run: Limit
    silence_s: Limit
    cut_off_db: Limit
    audio_dc_offset: Limit
    heavy_dc_offset: Limit
    dc_offset_s: Limit
    audio_stereo_separation_db: Limit
    dead_channel_dbfs: Limit
    dead_channel_db: Limit
    audio_channel_correlation: Limit
    shortest_s: Limit
    sync_early_ms: Limit
    sync_late_ms: Limit
    sync_by_chance: Limit


class AudioSeverities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a defect does to the verdict. A soundtrack that is missing where one is expected, damage
    and non-finite samples always reject."""

    silent: Severity
    quiet: Severity
    true_peak: Severity
    clipped: Severity
    dropout: Severity
    silence_run: Severity
    dc_offset: Severity
    dual_mono: Severity
    dead_channel: Severity
    silent_channel: Severity
    inverted_phase: Severity
    not_in_reference: Severity
    inverted_polarity: Severity
    channels_differ: Severity
    length_differs: Severity
    out_of_sync: Severity


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far a number may go before the candidate is rejected; bounds are inclusive.

    ``worst_low`` and ``worst_high`` hold for the worst second.
    """

    low: float | None = None
    high: float | None = None
    worst_low: float | None = None
    worst_high: float | None = None
    provenance: str


class FidelityBudgets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Budgets against a reference; none ships, since what a codec costs depends on the codec."""

    audio_si_sdr: Budget | None = None
    audio_snr_db: Budget | None = None
    audio_lsd_db: Budget | None = None
    audio_mel_l1: Budget | None = None
    audio_lufs_delta: Budget | None = None
    audio_align_lag_ms: Budget | None = None


class SyncBudgets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Budgets for the sound's offset from the picture, and for its change against a reference."""

    av_sync_offset_ms: Budget | None = None
    av_sync_drift_ms: Budget | None = None


class ContentBudgets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Budgets for what a checklist asks for."""

    audio_event_recall: Budget | None = None
    audio_speech_exact: Budget | None = None
    audio_speech_fuzzy: Budget | None = None


class AudioPolicy(PolicyDocument, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits, severities, the axes that a pass must have measured, and a caller's own budgets.

    Build one with :func:`load_audio_policy` or :func:`parse_audio_policy`, which check it.
    """

    required: tuple[str, ...]
    severities: AudioSeverities
    limits: AudioLimits
    fidelity: FidelityBudgets = FidelityBudgets()
    sync: SyncBudgets = SyncBudgets()
    content: ContentBudgets = ContentBudgets()


AudioPolicyLike: TypeAlias = "AudioPolicy | str | os.PathLike[str] | None"

_TABLES = {
    "fidelity": FidelityBudgets,
    "sync": SyncBudgets,
    "content": ContentBudgets,
}

_WITH_WORST = frozenset({"audio_si_sdr", "audio_snr_db", "audio_lsd_db", "audio_mel_l1"})

_LEVEL = (-120.0, 0.0, "it is in dB of full scale")
_SHARE = (0.0, 1.0, "it is a share")
_SECONDS = (0.0, 86400.0, "it is a duration in seconds")
_DECIBELS = (0.0, 120.0, "it is a difference of two levels")
_OFFSET = (0.0, 1e5, "it is the size of an offset in ms")


def budgets_of(table: msgspec.Struct) -> Iterator[tuple[str, Budget]]:
    """Each metric of a table that has a budget."""
    for name in table.__struct_fields__:
        budget = getattr(table, name)
        if budget is not None:
            yield name, budget


def _check(policy: AudioPolicy, source: str) -> None:
    limits = policy.limits
    if limits.loudest_tenth_dbfs.value < limits.audio_rms_dbfs.value:
        raise PolicyError(
            f"{source}: limits.loudest_tenth_dbfs ({limits.loudest_tenth_dbfs.value:g}) is below "
            f"limits.audio_rms_dbfs ({limits.audio_rms_dbfs.value:g}): the loudest tenth of a "
            "second is never below the level of the whole, so nothing would be silent"
        )
    for first, second in (
        ("audio_clip_fraction", "overshoot_fraction"),
        ("audio_dc_offset", "heavy_dc_offset"),
    ):
        low, high = getattr(limits, first).value, getattr(limits, second).value
        if high < low:
            raise PolicyError(
                f"{source}: limits.{second} ({high:g}) is below limits.{first} ({low:g}), where "
                "the finding begins"
            )
    for table in _TABLES:
        for name, budget in budgets_of(getattr(policy, table)):
            _check_budget(f"{source}: {table}.{name}", name, budget)


def _check_budget(where: str, name: str, budget: Budget) -> None:
    bounds = {
        key: getattr(budget, key) for key in ("low", "high", "worst_low", "worst_high")
    }  # fmt: skip
    given = {key: value for key, value in bounds.items() if value is not None}
    if not given:
        raise PolicyError(f"{where} has no bound; give low, high, or both")
    for key, value in given.items():
        if not math.isfinite(value):
            raise PolicyError(f"{where}.{key} is {value}; a bound is a finite number")
        if key.startswith("worst_") and name not in _WITH_WORST:
            raise PolicyError(
                f"{where}.{key}: {name} has no worst second; only "
                f"{', '.join(sorted(_WITH_WORST))} have"
            )
    for low, high in (("low", "high"), ("worst_low", "worst_high")):
        if low in given and high in given and given[low] > given[high]:
            raise PolicyError(
                f"{where}: {low} ({given[low]:g}) is above {high} ({given[high]:g}), so no sound "
                "could meet both"
            )
    if not budget.provenance.strip():
        raise PolicyError(f"{where} has an empty provenance; which sounds say so?")


_KIND = Kind(
    type=AudioPolicy,
    schema="screentest/audio-policy@1",
    file="audio.toml",
    ranges={
        "audio_rms_dbfs": _LEVEL,
        "loudest_tenth_dbfs": _LEVEL,
        "audio_true_peak_dbtp": (-120.0, 24.0, "it is in dB of full scale"),
        "audio_clip_fraction": _SHARE,
        "overshoot_fraction": _SHARE,
        "audio_max_silence_run": _SHARE,
        "silence_s": _SECONDS,
        "cut_off_db": _DECIBELS,
        "audio_dc_offset": _SHARE,
        "heavy_dc_offset": _SHARE,
        "dc_offset_s": _SECONDS,
        "audio_stereo_separation_db": _DECIBELS,
        "dead_channel_dbfs": _LEVEL,
        "dead_channel_db": _DECIBELS,
        "audio_channel_correlation": (-1.0, 0.0, "in inverted phase it is -1"),
        "shortest_s": _SECONDS,
        "sync_early_ms": _OFFSET,
        "sync_late_ms": _OFFSET,
        "sync_by_chance": _SHARE,
    },
    axes=AXES,
    positive=frozenset({"dead_channel_db", "shortest_s"}),
    budgets={name: table.__struct_fields__ for name, table in _TABLES.items()},
    check=_check,
)


@lru_cache(maxsize=1)
def default_audio_policy() -> AudioPolicy:
    """The policy that ships: every number with its provenance, provisional ones marked."""
    return _KIND.shipped()


def as_audio_policy(policy: AudioPolicyLike) -> AudioPolicy:
    """A policy from what a caller may pass: a policy, the path of a TOML file, or ``None``."""
    return _KIND.given(policy, default_audio_policy())


def load_audio_policy(path: str | os.PathLike[str]) -> AudioPolicy:
    """Read a policy file over the default policy.

    Raises :class:`~screentest.errors.PolicyError` for a file that is not TOML, has an unknown key,
    overrides a limit or sets a budget without saying why, or contradicts itself;
    ``FileNotFoundError`` as such.
    """
    return _KIND.load(path, default_audio_policy())


def parse_audio_policy(document: str | Mapping[str, Any], *, source: str = "policy") -> AudioPolicy:
    """Merge a policy document (TOML text or its mapping) over the default policy.

    >>> policy = parse_audio_policy('''
    ... name = "our codec"
    ... [fidelity.audio_snr_db]
    ... low = 18.0
    ... worst_low = 9.0
    ... provenance = "60 renders coded at 128 kbit/s read 21 to 34 dB, their worst second 12"
    ... ''')
    >>> policy.fidelity.audio_snr_db.low, policy.limits.audio_dc_offset.value
    (18.0, 0.01)
    """
    return _KIND.parse(document, default_audio_policy(), source)

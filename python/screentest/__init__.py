"""Tests generated video: is this a render at all, do two clips go together, how far apart are they?

>>> import numpy as np, screentest
>>> screentest.screen(np.zeros((8, 96, 128, 3), np.uint8)).verdict
'reject'

The names below are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from screentest.errors import (
    InputError,
    MediaError,
    MissingBackendError,
    PolicyError,
    ProtocolError,
    SchemaError,
    ScreentestError,
    TrajectoryPerturbingError,
)

if TYPE_CHECKING:
    from screentest.comparing import Comparison, compare
    from screentest.evaluations import evaluate_actions, evaluate_videos
    from screentest.gating import Gating, gate
    from screentest.listening import Listening, audio_verdict
    from screentest.measuring import Measurement, MeasurementError, measure, measure_many
    from screentest.media import open_clip, probe
    from screentest.metrics.accumulator import MetricAccumulator, SuiteAccumulator
    from screentest.metrics.facts import Score
    from screentest.metrics.integrity import IntegrityFacts, measure_integrity
    from screentest.protocol import Protocol
    from screentest.screening import Screener, Screening, ScreeningError, screen, screen_many
    from screentest.tracking import Tracking, tracks
    from screentest.verdicts.audio import judge_audio
    from screentest.verdicts.delivery import Delivery, load_delivery, parse_delivery
    from screentest.verdicts.integrity import judge_integrity
    from screentest.verdicts.judgement import Defect, Judgement
    from screentest.verdicts.policy import Policy, default_policy, load_policy, parse_policy
    from screentest.verdicts.temporal import judge_temporal
    from screentest.verdicts.tracks import track_verdict

    __version__: str

__all__ = [
    "Comparison",
    "Defect",
    "Delivery",
    "Gating",
    "InputError",
    "IntegrityFacts",
    "Judgement",
    "Listening",
    "Measurement",
    "MeasurementError",
    "MediaError",
    "MetricAccumulator",
    "MissingBackendError",
    "Policy",
    "PolicyError",
    "Protocol",
    "ProtocolError",
    "SchemaError",
    "Score",
    "Screener",
    "Screening",
    "ScreeningError",
    "ScreentestError",
    "SuiteAccumulator",
    "Tracking",
    "TrajectoryPerturbingError",
    "__version__",
    "audio_verdict",
    "compare",
    "default_policy",
    "evaluate_actions",
    "evaluate_videos",
    "gate",
    "judge_audio",
    "judge_integrity",
    "judge_temporal",
    "load_delivery",
    "load_policy",
    "measure",
    "measure_integrity",
    "measure_many",
    "open_clip",
    "parse_delivery",
    "parse_policy",
    "probe",
    "screen",
    "screen_many",
    "track_verdict",
    "tracks",
]

_HOMES = {
    "screentest.comparing": ("Comparison", "compare"),
    "screentest.evaluations": ("evaluate_actions", "evaluate_videos"),
    "screentest.gating": ("Gating", "gate"),
    "screentest.listening": ("Listening", "audio_verdict"),
    "screentest.measuring": ("Measurement", "MeasurementError", "measure", "measure_many"),
    "screentest.media": ("open_clip", "probe"),
    "screentest.metrics.accumulator": ("MetricAccumulator", "SuiteAccumulator"),
    "screentest.metrics.facts": ("Score",),
    "screentest.metrics.integrity": ("IntegrityFacts", "measure_integrity"),
    "screentest.protocol": ("Protocol",),
    "screentest.screening": ("Screener", "Screening", "ScreeningError", "screen", "screen_many"),
    "screentest.tracking": ("Tracking", "tracks"),
    "screentest.verdicts.audio": ("judge_audio",),
    "screentest.verdicts.delivery": ("Delivery", "load_delivery", "parse_delivery"),
    "screentest.verdicts.integrity": ("judge_integrity",),
    "screentest.verdicts.judgement": ("Defect", "Judgement"),
    "screentest.verdicts.policy": ("Policy", "default_policy", "load_policy", "parse_policy"),
    "screentest.verdicts.temporal": ("judge_temporal",),
    "screentest.verdicts.tracks": ("track_verdict",),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from screentest._native import VERSION

        return VERSION
    import importlib

    if name == "metrics":
        return importlib.import_module("screentest.metrics")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

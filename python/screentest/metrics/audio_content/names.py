"""The metrics of what a sound holds, by name."""

from __future__ import annotations

from typing import Any

from screentest.metrics.spec import MetricSpec

__all__ = ["IMPL", "METRICS"]

IMPL = "audio_content@1"
"""Changes when any fact of this family could change."""


def _metric(name: str, says: str, seam: str, **more: Any) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension="adherence",
        modality="audio",
        unit="1",
        direction="up",
        impl=f"{name}@1",
        family="audio_content",
        cost="model-backed",
        seam=seam,
        bounds=(0.0, 1.0),
        options=("checklist",),
        **more,
    )


METRICS: tuple[MetricSpec, ...] = (
    _metric(
        "audio_event_recall",
        "weighted share of the sounds asked for that are heard",
        "AudioJudge",
        headline=True,
        gated=True,
        note="unmeasured while the judge has not answered for every one of them",
    ),
    _metric(
        "audio_speech_exact",
        "weighted share of the words asked for that are spoken to the letter",
        "Transcriber",
        note="to the letter: a near match counts in audio_speech_fuzzy alone",
    ),
    _metric(
        "audio_speech_fuzzy",
        "weighted mean likeness of what is spoken to what was asked for",
        "Transcriber",
        source="Sellers, Journal of Algorithms 1(4), 1980",
        note="by characters, against the closest stretch of whole words",
    ),
)

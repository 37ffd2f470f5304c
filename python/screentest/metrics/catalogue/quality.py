"""Planned: fine detail, learned picture quality, legibility, and a model's opinion of both."""

from __future__ import annotations

from typing import Any

from screentest.metrics.catalogue.planned import planned

__all__ = ["PLANNED"]

_LEARNED: dict[str, Any] = {
    "dimension": "quality", "modality": "any", "family": "learned", "unit": "1",
    "direction": "up", "cost": "small-model",
}  # fmt: skip
_TEXT: dict[str, Any] = {**_LEARNED, "family": "text", "bounds": (0.0, 1.0)}
_JUDGED: dict[str, Any] = {
    "dimension": "quality", "modality": "any", "family": "judge", "unit": "1", "direction": "up",
    "cost": "model-backed", "seam": "Judge", "bounds": (0.0, 1.0),
}  # fmt: skip
_WORST: dict[str, Any] = {
    "dimension": "similarity", "modality": "video", "family": "instruments",
    "cost": "small-model", "paired": True, "reference_only": True,
}  # fmt: skip

PLANNED = (
    planned("vmaf_min", "VMAF of the worst frame", unit="VMAF", direction="up", pool="min",
            bounds=(0.0, 100.0), extra="vmaf", model_ref="vmaf_v0.6.1", **_WORST,
            note="the `worst` of a `vmaf` score"),
    planned("lpips_frame_worst", "LPIPS of the worst frame", unit="LPIPS", direction="down",
            pool="max", bounds=(0.0, None), extra="reference", model_ref="lpips-alex", **_WORST,
            note="the `worst` of an `lpips` score"),
    planned("niqe", "distance of natural-scene statistics from those of pristine pictures",
            dimension="quality", modality="any", unit="1", direction="down", family="detail",
            bounds=(0.0, None), source="Mittal, Soundararajan and Bovik, IEEE SPL 2013",
            note="needs 192 px on each side, and a pristine model of known origin"),
    planned("arniqa", "ARNIQA, regressor of KonIQ-10k", headline=True, model_ref="arniqa-koniq10k",
            source="Agnolucci, Galteri, Bertini and Del Bimbo, WACV 2024", **_LEARNED),
    planned("clip_iqa", "CLIP-IQA", model_ref="clip-rn50",
            source="Wang, Chan and Loy, AAAI 2023", **_LEARNED),
    planned("musiq", "MUSIQ, trained on KonIQ-10k", model_ref="musiq-koniq10k",
            source="Ke, Wang, Wang, Milanfar and Yang, ICCV 2021", **_LEARNED),
    planned("text_legibility", "mean confidence of a text reader", **_TEXT,
            note="stylised and non-Latin signs are a known blind spot"),
    planned("text_legible_fraction", "share of the text regions read with confidence 0.60",
            **_TEXT),
    planned("video_physics_score", "a judge's mark for plausible physics, 1 to 5",
            **{**_JUDGED, "modality": "video", "bounds": (1.0, 5.0)}),
    planned("detail_score", "mean of the four detail axes that a judge answered", **_JUDGED),
    planned("detail_text_legible", "a judge finds the text legible", **_JUDGED),
    planned("detail_face_coherent", "a judge finds the faces coherent", **_JUDGED),
    planned("detail_edge_clean", "a judge finds the edges clean", **_JUDGED),
    planned("detail_texture_real", "a judge finds the textures real", **_JUDGED),
)  # fmt: skip

"""Planned: does it show what was asked for, and which of two does one prefer."""

from __future__ import annotations

from typing import Any

from screentest.metrics.catalogue.planned import planned

__all__ = ["PLANNED"]

_SHARE: dict[str, Any] = {
    "dimension": "adherence", "unit": "1", "direction": "up", "bounds": (0.0, 1.0),
}  # fmt: skip
_JUDGED: dict[str, Any] = {
    **_SHARE, "family": "adherence", "cost": "model-backed", "seam": "Judge",
}  # fmt: skip
_SOFT: dict[str, Any] = {**_JUDGED, "modality": "any", "seam": "SoftJudge"}
_READ: dict[str, Any] = {**_SHARE, "modality": "any", "family": "text", "cost": "small-model"}
_COMPOSED: dict[str, Any] = {**_READ, "family": "composition"}
_MARK: dict[str, Any] = {
    "modality": "video", "unit": "1", "direction": "up", "bounds": (1.0, 5.0),
    "cost": "model-backed", "seam": "Judge",
}  # fmt: skip
_PREFERRED: dict[str, Any] = {
    "dimension": "preference", "modality": "any", "unit": "1", "direction": "up",
    "family": "preference", "cost": "model-backed", "seam": "PreferenceScorer",
}  # fmt: skip

PLANNED = (
    planned("element_recall", "weighted share of the checklist that is there", modality="any",
            headline=True, gated=True, **_JUDGED,
            note="of a video, the worst of its windows; a gate looks at candidate minus reference"),
    planned("element_recall_mean", "mean over the windows of element_recall", modality="video",
            **_JUDGED),
    planned("element_recall_drop", "element_recall of the first window minus the last",
            modality="video", **{**_JUDGED, "direction": "target", "bounds": (-1.0, 1.0)},
            target=0.0, note="positive where elements are lost, negative where they come late"),
    planned("motion_compliance", "share of the motions asked for that happen", modality="video",
            **_JUDGED),
    planned("static_preservation", "share of what must stay that stays", modality="video",
            **_JUDGED),
    planned("edit_compliance", "share of the changes asked for that are made", modality="image",
            **_JUDGED),
    planned("edit_preservation", "share of what must stay that stays in an edit",
            modality="image", **_JUDGED),
    planned("text_exact", "share of the texts asked for that can be read to the letter", **_READ,
            note="to the letter: a near match counts in text_fuzzy alone"),
    planned("text_fuzzy", "mean likeness of the texts read to those asked for", **_READ),
    planned("clip_delta", "CLIP similarity to the prompt minus the reference's, times 100",
            dimension="adherence", modality="any", unit="1", direction="up",
            bounds=(-100.0, 100.0), family="learned", cost="small-model", paired=True, gated=True,
            fallback_for="element_recall", model_ref="clip-vit-b-32",
            note="decides only where element_recall is unmeasured"),
    planned("video_alignment_score", "a judge's mark for following the prompt, 1 to 5",
            dimension="adherence", family="adherence", **_MARK),
    planned("composition_correct", "every clause of the composition holds, and none that must not",
            **_COMPOSED),
    planned("composition_recall", "share of the composition's clauses that hold", **_COMPOSED),
    planned("vqascore", "probability that a model answers yes to the prompt as a question",
            source="Lin, Pathak, Li, Li, Xia, Neubig, Zhang and Ramanan, ECCV 2024", **_SOFT),
    planned("atom_score", "mean probability of yes over the prompt's single statements", **_SOFT),
    planned("pref_delta", "preference score minus the reference's, of one prompt", headline=True,
            gated=True, paired=True, **_PREFERRED,
            note="between prompts the scores do not compare"),
    planned("pref_score", "preference score", **_PREFERRED),
    planned("hpsv3_score", "HPSv3", model_ref="hpsv3", **_PREFERRED,
            source="Ma, Shui, Wu, Sun and Li, ICCV 2025"),
    planned("video_style_score", "a judge's mark for style, 1 to 5", dimension="preference",
            family="preference", **_MARK),
    planned("detail_pref_delta", "which of two a judge prefers for its detail: +1, 0 or -1",
            **{**_PREFERRED, "seam": "Judge"}, bounds=(-1.0, 1.0), paired=True),
)  # fmt: skip

"""Clip scores by hand, and the facts of arms of them."""

import numpy as np

from screentest.metrics.population import ArmClip, measure_population
from screentest.metrics.signal.clip_score import ClipScore

FIELDS = {
    "width": 640, "height": 360, "sharpness": 500.0, "sharpness_p10": 450.0, "hf_ratio": 0.02,
    "detail_entropy": 5.0, "contrast": 0.2, "saturation": 0.25, "local_contrast": 0.02,
    "brightness": 0.5, "flicker": 0.5, "jerk_ratio": 0.8, "shimmer": 0.5, "motion_energy": 4.0,
}  # fmt: skip
TRACKED = {"tracks_seen": True, "corners": 100, "track_stability": 0.8, "stability_inside": 0.8,
           "grid_peak_ratio": 2.0}  # fmt: skip


def score(n_frames=6, motion=4.0, features=None, **fields):
    """One clip; ``motion`` of each step, one number for all or ``None`` for a record without."""
    values = {**FIELDS, **fields}
    if features is None:
        sharpness, hf, local = (
            np.log(max(values[name], 1e-9)) for name in ("sharpness", "hf_ratio", "local_contrast")
        )
        tone = (values["detail_entropy"], values["contrast"], values["saturation"])
        row = [sharpness, hf, *tone, local]
        features = np.tile(row, (n_frames, 1))
    if motion is None:
        series = np.empty(0)
    elif np.ndim(motion):
        series = np.concatenate([[0.0], motion])
    else:
        series = np.concatenate([[0.0], np.full(n_frames - 1, float(motion))])
    return ClipScore(
        n_frames=n_frames, features=np.asarray(features, float), motion=series, **values
    )


def clip(tracks=TRACKED, **fields):
    """One clip with its tracks; ``fields`` are those of :func:`score`."""
    return ArmClip(score=score(**fields), **tracks)


def unlike(n, **fields):
    """References of n prompts that differ in everything, as prompts do."""
    spread = [1.0, 0.6, 1.5, 0.8, 1.25, 0.7, 1.4, 0.9, 1.1, 0.75]
    names = ("sharpness", "hf_ratio", "contrast", "saturation", "local_contrast")
    return [
        {**{name: FIELDS[name] * spread[at % 10] for name in names},
         "detail_entropy": 5.0 * spread[(at + 3) % 10] ** 0.5, **fields}
        for at in range(n)
    ]  # fmt: skip


def facts(pairs):
    """Of pairs of clips, under prompts by number."""
    return measure_population(pairs, [f"prompt {at}" for at in range(len(pairs))])


def values(measured):
    """Every statistic that has a value."""
    return {name: v for b in measured.benchmarks.values() for name, v in b.values.items()}

"""How far the frames of two clips lie apart in six features: Fréchet distances of their Gaussians.

Each feature is divided by what it spreads over the reference's frames, and by no less than a floor:
on prompts that look alike the spread is next to nothing, and the distance would be set by it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from screentest.metrics.population.ratios import Pair, Scalars
from screentest.metrics.signal.facts import FEATURES

__all__ = [
    "SCALE_FLOORS",
    "diagonal_distance",
    "full_distance",
    "has_features",
    "homogeneous",
    "scales",
]

_F64 = NDArray[np.float64]

SCALE_FLOORS: Mapping[str, float] = {
    "log_sharpness": 0.08,
    "log_hf_ratio": 0.08,
    "entropy": 0.03,
    "contrast": 0.005,
    "saturation": 0.01,
    "log_local_contrast": 0.04,
}
"""About a tenth of what four real clips spread in the mean over their frames (big buck bunny,
bikes, carphone and a bad copy of it): 0.78, 0.84, 0.19, 0.03, 0.07 and 0.35. Of contrast more than
that: the four have much the same. Eight scenes that look alike spread 0.005 in entropy, 0.0003 in
contrast and 0.0002 in saturation."""


def has_features(clip: Scalars) -> bool:
    """Whether the record of a clip kept its frames' features."""
    return all(f"mean_{name}" in clip for name in FEATURES)


def scales(references: Sequence[Scalars]) -> dict[str, float]:
    """What each feature is divided by: its deviation over all frames of all references, or its
    floor where that is larger."""
    frames = [clip["n_frames"] for clip in references]
    found = {}
    for name in FEATURES:
        means = [clip[f"mean_{name}"] for clip in references]
        total = math.fsum(frames)
        centre = math.fsum(n * m for n, m in zip(frames, means, strict=True)) / total
        spread = math.fsum(
            n * (clip[f"var_{name}"] + (mean - centre) ** 2)
            for n, mean, clip in zip(frames, means, references, strict=True)
        )
        found[name] = max(math.sqrt(spread / total), SCALE_FLOORS[name])
    return found


def homogeneous(references: Sequence[Scalars]) -> tuple[str, ...]:
    """The features in which the prompts look alike, if they are more than half of them: then there
    is no spread to measure a distance by. Else nothing."""
    alike = tuple(
        name
        for name in FEATURES
        if statistics.pstdev(clip[f"mean_{name}"] for clip in references) < SCALE_FLOORS[name]
    )
    return alike if 2 * len(alike) > len(FEATURES) else ()


def diagonal_distance(pair: Pair, scale: Mapping[str, float]) -> float:
    """Squared Fréchet distance with the features taken one by one: 0 for equal clips, no limit.

    Per feature the squared difference of the means and that of the deviations, scaled. A still has
    no deviation.
    """
    ours, theirs = pair.candidate, pair.reference
    return math.fsum(
        ((ours[f"mean_{name}"] - theirs[f"mean_{name}"]) / unit) ** 2
        + ((math.sqrt(ours[f"var_{name}"]) - math.sqrt(theirs[f"var_{name}"])) / unit) ** 2
        for name, unit in scale.items()
    )


def full_distance(reference: _F64, candidate: _F64, scale: Mapping[str, float]) -> float:
    """Squared Fréchet distance with the features' covariances, each shrunk towards a multiple of
    the identity (Ledoit and Wolf 2004).

    Args:
        reference: features ``(frames, 6)`` of a clip, float64.
        candidate: the same of the other; another number of frames is fine.
        scale: what each feature is divided by.

    Returns:
        0 for equal clips; for stills the squared distance of the two. Nine digits and six decimals:
        the last bits of an eigenvalue depend on the processor, and a small distance of covariances
        is what large numbers leave.
    """
    unit = np.array([scale[name] for name in FEATURES])
    a, b = reference / unit, candidate / unit
    if np.array_equal(a, b):
        return 0.0
    means = a.mean(axis=0) - b.mean(axis=0)
    first, second = _shrunk_covariance(a), _shrunk_covariance(b)
    root = _root(first)
    cross = np.linalg.eigvalsh(root @ second @ root)
    trace = np.trace(first) + np.trace(second) - 2.0 * np.sqrt(np.maximum(cross, 0.0)).sum()
    return round(float(f"{float((means**2).sum() + max(float(trace), 0.0)):.9g}"), 6)


def _shrunk_covariance(rows: _F64) -> _F64:
    n, width = rows.shape
    centred = rows - rows.mean(axis=0)
    sample = centred.T @ centred / n
    target = np.trace(sample) / width * np.eye(width)
    apart = ((sample - target) ** 2).sum()
    if apart == 0.0:
        return np.asarray(sample)
    outer = centred[:, :, None] * centred[:, None, :]
    noise = ((outer - sample) ** 2).sum() / n**2
    weight = min(noise / apart, 1.0)
    return np.asarray(weight * target + (1.0 - weight) * sample)


def _root(matrix: _F64) -> _F64:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

"""What is fixed about a metric before anything is measured.

Each family declares its own in ``metrics/<family>/names.py``; the registry puts them together.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from screentest.metrics.facts import Direction

__all__ = ["Cost", "Dimension", "MetricSpec", "Modality", "Pool"]

Dimension: TypeAlias = Literal[
    "similarity", "adherence", "preference", "quality", "temporal", "distributional"
]
Modality: TypeAlias = Literal["any", "image", "video", "audio", "av"]
Cost: TypeAlias = Literal["cheap-deterministic", "small-model", "model-backed"]
Pool: TypeAlias = Literal["mean", "median", "min", "max", "harmonic_mean"]


class MetricSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One metric: what question it answers, of what, in which unit, and which way is better.

    Attributes:
        name: ``[a-z][a-z0-9_]*``; a published method keeps its name, an own metric is
            ``<subject>_<quantity>``. Unique over the registry.
        says: one line: what it is.
        dimension: the question it answers; audio is folded in.
        modality: what it is measured on; ``"any"`` is images and video.
        unit: ``"1"`` where it has none.
        direction: which way is better; ``"target"`` is better nearer to ``target``.
        impl: changes when any value could change; numbers of different ``impl`` do not compare.
        family: the family that measures it: ``screentest.metrics.<family>``.
        cost: ``"cheap-deterministic"`` is a closed form with the same bits for any thread count,
            ``"small-model"`` runs on a CPU with optional weights, ``"model-backed"`` calls a model
            that the user brings, through ``seam``.
        bounds: least and largest value it can take, ``None`` where there is no limit.
        target: the best value of a ``"target"`` metric, where it is a number (0 for a signed
            difference, 1 for a ratio); ``None`` where it depends on the reference.
        pool: how a clip's frames become one number.
        paired: needs a reference.
        reference_only: means nothing between two takes of a prompt: pixels must correspond.
        headline: the one to look at first for its (dimension, modality).
        gated: a gate may decide on it.
        options: names of the options that change the number, all of them part of its identity.
        extra: the extra to install, empty for the base install.
        seam: the protocol of the model of a ``"model-backed"`` metric, else empty.
        model_ref: name of the weights; never an address.
        source: paper or standard.
        note: what a reader must know to use it rightly.
    """

    name: str
    says: str
    dimension: Dimension
    modality: Modality
    unit: str
    direction: Direction
    impl: str
    family: str
    cost: Cost = "cheap-deterministic"
    bounds: tuple[float | None, float | None] = (None, None)
    target: float | None = None
    pool: Pool = "mean"
    paired: bool = False
    reference_only: bool = False
    headline: bool = False
    gated: bool = False
    options: tuple[str, ...] = ()
    extra: str = ""
    seam: str = ""
    model_ref: str = ""
    source: str = ""
    note: str = ""

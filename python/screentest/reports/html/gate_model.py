"""What the page of a gate shows beside the report: series and pictures of some prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArmSeries", "GateEvidence", "GateFrame", "PromptEvidence"]


@dataclass(frozen=True, slots=True, eq=False)
class ArmSeries:
    """One number per frame of either arm, NaN where a frame has none; lengths may differ."""

    reference: NDArray[np.float64]
    candidate: NDArray[np.float64]
    unit: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class GateFrame:
    """One instant of a pair.

    ``index`` is the display index in both clips. The pictures are uint8 ``(H, W, 3)``, ``None``
    where a clip has no such frame; ``difference`` is float32 ``(H, W)``, the mean absolute
    difference of R, G and B with white being 1, ``None`` for pictures of different size.
    """

    index: int
    reference: NDArray[np.uint8] | None
    candidate: NDArray[np.uint8] | None
    difference: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class PromptEvidence:
    """What there is to see of one pair: ``prompt`` is its index in the run."""

    prompt: int
    series: Mapping[str, ArmSeries] = field(default_factory=dict)
    frames: Sequence[GateFrame] = ()


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """Evidence by prompt, in the order in which the page shows it; ``notes`` say what is missing
    and why."""

    prompts: Sequence[PromptEvidence] = ()
    notes: Sequence[str] = ()

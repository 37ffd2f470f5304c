"""What the pages are made from: plain data, so that they need to know nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo
    from screentest.metrics.facts import Score

__all__ = [
    "CodecFloor",
    "Comparison",
    "EvaluationView",
    "Filmstrip",
    "FilmstripFrame",
    "PairFacts",
    "SampleRow",
    "WorstFrame",
]


class PairFacts(Protocol):
    """What a page reads of the facts about a pair."""

    @property
    def reference(self) -> ClipInfo: ...
    @property
    def candidate(self) -> ClipInfo: ...
    @property
    def pairing(self) -> Any: ...
    @property
    def pairs(self) -> NDArray[np.int64]: ...
    @property
    def series(self) -> Mapping[str, NDArray[np.float64]]: ...


class CodecFloor(Protocol):
    """What a page reads of the codec floor: how it was made, or the reason why it is unknown."""

    @property
    def scores(self) -> Sequence[Score]: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def how(self) -> str | None: ...
    @property
    def encoder(self) -> str | None: ...
    @property
    def parameters(self) -> Mapping[str, str]: ...


class Comparison(Protocol):
    """What a page reads of a comparison. ``findings`` are sentences, the reasons among them."""

    @property
    def reference(self) -> str: ...
    @property
    def candidate(self) -> str: ...
    @property
    def facts(self) -> PairFacts: ...
    @property
    def aligned(self) -> bool: ...
    @property
    def scored(self) -> bool: ...
    @property
    def findings(self) -> Sequence[str]: ...
    @property
    def scores(self) -> Sequence[Score]: ...
    @property
    def unmeasured(self) -> Sequence[Score]: ...
    @property
    def codec_floor(self) -> CodecFloor | None: ...
    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class WorstFrame:
    """The pictures behind one metric's worst frame.

    ``reference_rgb`` and ``candidate_rgb`` are uint8 ``(H, W, 3)``. ``error_map`` is float32
    ``(H, W)``, the error of each pixel in [0, 1] of the full scale. ``ssim_map`` is float32
    ``(H - 10, W - 10)`` in [-1, 1], ``None`` where the frame is too small for one.
    """

    metric: str
    reference_index: int
    candidate_index: int
    value: float | None
    reference_rgb: NDArray[np.uint8]
    candidate_rgb: NDArray[np.uint8]
    error_map: NDArray[np.float32]
    ssim_map: NDArray[np.float32] | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One sample of an evaluation.

    ``metrics`` is name -> value, ``None`` where there is no number; ``states`` says why then
    (``"identical"``, ``"unmeasured"``). ``reason`` is the stable code of a skip, ``detail`` its
    sentence.
    """

    group: str
    key: str
    state: Literal["scored", "skipped", "missing"]
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    detail: str | None = None
    prediction: str | None = None
    ground_truth: str | None = None
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FilmstripFrame:
    """One instant of a filmstrip: the display index, and both pictures, uint8 ``(H, W, 3)``."""

    index: int
    ground_truth: NDArray[np.uint8] | None
    prediction: NDArray[np.uint8] | None


@dataclass(frozen=True, slots=True)
class Filmstrip:
    """A few frames of one sample, ground truth over prediction, and why it is shown."""

    group: str
    key: str
    metric: str
    value: float | None
    frames: Sequence[FilmstripFrame]


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """An evaluation as a page shows it.

    ``aggregate`` is ``{group: {metric: row}}`` as ``metrics_aggregate.json`` has it; a row may have
    ``mean``, ``count``, ``std``, ``ci95`` (or ``interval``), ``n_missing``, ``n_skipped`` {reason:
    count}, ``n_identical``, ``unit``, ``direction``, ``impl``, ``reason``. ``facts`` are lines for
    the protocol card: (name, value).
    """

    title: str
    predictions: str
    ground_truth: str
    aggregate: Mapping[str, Mapping[str, Mapping[str, Any]]]
    samples: Sequence[SampleRow]
    filmstrips: Sequence[Filmstrip] = ()
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()

"""What is fixed about a metric before anything is measured.

Each family declares its own in ``metrics/<family>/names.py``; the registry puts them together.
"""

from __future__ import annotations

import math
import re
from typing import Literal, NoReturn, TypeAlias, get_args

import msgspec

from screentest.errors import InputError
from screentest.metrics.facts import Direction

__all__ = ["WORDS", "Cost", "Dimension", "MetricSpec", "Modality", "Pool", "Status", "check_spec"]

Dimension: TypeAlias = Literal[
    "similarity", "adherence", "preference", "quality", "temporal", "distributional"
]
Modality: TypeAlias = Literal["any", "image", "video", "audio", "av"]
Cost: TypeAlias = Literal["cheap-deterministic", "small-model", "model-backed"]
Pool: TypeAlias = Literal["mean", "median", "min", "max", "harmonic_mean"]
Status: TypeAlias = Literal["measured", "planned"]

WORDS: dict[str, tuple[str, ...]] = {
    "dimension": get_args(Dimension),
    "modality": get_args(Modality),
    "direction": get_args(Direction),
    "cost": get_args(Cost),
    "pool": get_args(Pool),
    "status": get_args(Status),
}
"""The words that each closed field may hold, in the order of listings."""


class MetricSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One metric: what question it answers, of what, in which unit, and which way is better.

    A spec that contradicts itself is refused when it is made: see :func:`check_spec`.

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
        fallback_for: the metric beside which it decides nothing: it may stand in where that one is
            unmeasured.
        options: names of the options that change the number, all of them part of its identity.
        request: what it is asked for by, where that is not its own name: ``psnr`` gives
            ``psnr_worst`` as well, ``xpsnr`` the three planes.
        status: ``"planned"`` where nothing here measures it yet; its ``impl`` ends in ``@0``.
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
    fallback_for: str = ""
    options: tuple[str, ...] = ()
    request: str = ""
    status: Status = "measured"
    extra: str = ""
    seam: str = ""
    model_ref: str = ""
    source: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        check_spec(self)

    def badness(self, value: float) -> float | None:
        """How far a value lies in the bad direction, comparable among values of this metric alone;
        ``None`` where the best value depends on the reference."""
        if self.direction == "up":
            return -value
        if self.direction == "down":
            return value
        return None if self.target is None else abs(value - self.target)


_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NEEDED = ("says", "unit", "impl", "family")
_TEXTS = (*_NEEDED, "fallback_for", "request", "extra", "seam", "model_ref", "source", "note")
_FLAGS = ("paired", "reference_only", "headline", "gated")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://|(?:https?|ftps?|git(?:\+\w+)?|s3|gs|hf|file|data):|www\.|git@"
    r"|[a-z]:\\|[/~\\]|\.\.?[/\\]",
    re.IGNORECASE,
)


def check_spec(spec: MetricSpec) -> None:
    """Refuse a spec that contradicts itself; what needs the other metrics is the registry's to say.

    Raises:
        InputError: by ``code``: ``bad_metric_name``, ``unknown_word`` (a closed field),
            ``empty_field``, ``bad_field`` (of another type), ``seam_missing`` and ``seam_unused``,
            ``bad_bounds``, ``bad_target``, ``model_ref_is_address``, ``contradiction``.
    """
    name: object = spec.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        _refuse(spec, "bad_metric_name", f"a name is like 'grid_peak_ratio', this is {name!r}")
    for field, words in WORDS.items():
        if (word := getattr(spec, field)) not in words:
            _refuse(spec, "unknown_word", f"{field}={word!r}: expected one of {', '.join(words)}")
    for field in _TEXTS:
        value = getattr(spec, field)
        if not isinstance(value, str) or "\n" in value:
            _refuse(spec, "bad_field", f"{field}={value!r}: expected text of one line")
        if field in _NEEDED and not value.strip():
            _refuse(spec, "empty_field", f"{field} is empty")
    for field in _FLAGS:
        if not isinstance(value := getattr(spec, field), bool):
            _refuse(spec, "bad_field", f"{field}={value!r}: expected True or False")
    if not _is_names(spec.options):
        _refuse(spec, "bad_field", f"options={spec.options!r}: expected a tuple of names")
    _check_model(spec)
    _check_numbers(spec)
    if spec.reference_only and not spec.paired:
        _refuse(spec, "contradiction", "it is reference_only and not paired")
    if name in (spec.fallback_for, spec.request):
        _refuse(spec, "contradiction", "it names itself as fallback_for or request")


def _check_model(spec: MetricSpec) -> None:
    if spec.cost == "model-backed" and not spec.seam:
        _refuse(
            spec,
            "seam_missing",
            "it is model-backed and names no seam: say through which protocol its model is brought",
        )
    if spec.seam and spec.cost != "model-backed":
        _refuse(spec, "seam_unused", f"seam={spec.seam!r} and cost={spec.cost!r}, which has none")
    if spec.seam and not spec.seam.isidentifier():
        _refuse(spec, "bad_field", f"seam={spec.seam!r}: expected the name of a protocol")
    if _ADDRESS.match(spec.model_ref.strip()):
        _refuse(
            spec,
            "model_ref_is_address",
            f"model_ref={spec.model_ref!r} is an address: name the weights, and leave where they "
            "are to whoever runs the metric",
        )


def _check_numbers(spec: MetricSpec) -> None:
    given: object = spec.bounds
    target = spec.target
    if (
        not isinstance(given, tuple)
        or len(given) != 2
        or not all(end is None or _is_finite(end) for end in given)
    ):
        _refuse(spec, "bad_bounds", f"bounds={given!r}: expected two finite numbers or None")
    low, high = bounds = spec.bounds
    if low is not None and high is not None and not low < high:
        _refuse(spec, "bad_bounds", f"bounds={bounds!r} do not ascend")
    if target is None:
        return
    if spec.direction != "target":
        _refuse(spec, "bad_target", f"target={target!r}, but the better way is {spec.direction!r}")
    if not _is_finite(target):
        _refuse(spec, "bad_target", f"target={target!r}: expected a finite number or None")
    if (low is not None and target < low) or (high is not None and target > high):
        _refuse(spec, "bad_target", f"target={target!r} lies outside bounds={bounds!r}")


def _is_names(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(item, str) and _NAME.fullmatch(item) for item in value
    )


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _refuse(spec: MetricSpec, code: str, why: str) -> NoReturn:
    raise InputError(f"metric {spec.name!r}: {why}", code=code, metric=str(spec.name))

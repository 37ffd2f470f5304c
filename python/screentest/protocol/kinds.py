"""What changed between two arms, and which statistics that leaves meaning in.

A change after the latent (the decoder, the container) keeps the sampling trajectory: frame i of one
arm is frame i of the other, and a reference metric measures the change. A change of the sampling
path gives another *take* of the same prompt. A compiled model without any quantization reads LPIPS
0.196 to 0.249 against its own eager run, from frame 0 on: no damage, another take.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from screentest.errors import ProtocolError

__all__ = [
    "ChangeKind",
    "Lane",
    "Purpose",
    "as_change",
    "as_lane",
    "as_purpose",
    "classify_change",
    "perturbing",
]


class Lane(StrEnum):
    """Which family of statistics a comparison may use."""

    SAME_TRAJECTORY = "same-trajectory"
    POPULATION = "population"


class Purpose(StrEnum):
    """What is asked: did it get worse, or how far did matched outputs move.

    ``paired-fidelity`` admits reference distances on any lane; no claim about quality follows from
    them.
    """

    QUALITY = "quality"
    PAIRED_FIDELITY = "paired-fidelity"


class ChangeKind(StrEnum):
    """One thing that differs between two arms. ``repeat`` is the same settings rendered again,
    ``seed`` the same weights with another seed."""

    VAE_DECODE_DTYPE = "vae-decode-dtype"
    VAE_DECODE_TILING = "vae-decode-tiling"
    VAE_DECODE_BACKEND = "vae-decode-backend"
    COLOR_CONVERSION = "color-conversion"
    OUTPUT_RESIZE = "output-resize"
    VIDEO_ENCODER = "video-encoder"
    CONTAINER_MUX = "container-mux"
    REPEAT = "repeat"
    WEIGHT_QUANTIZATION = "weight-quantization"
    ACTIVATION_QUANTIZATION = "activation-quantization"
    WEIGHT_STORAGE_CAST = "weight-storage-cast"
    COMPILE = "compile"
    ATTENTION_BACKEND = "attention-backend"
    SCHEDULER = "scheduler"
    STEP_COUNT = "step-count"
    GUIDANCE = "guidance"
    LORA_ATTACH = "lora-attach"
    LORA_FUSE = "lora-fuse"
    DENOISER_DTYPE = "denoiser-dtype"
    OFFLOAD_PLACEMENT = "offload-placement"
    HARDWARE_SKU = "hardware-sku"
    MODEL_WEIGHTS = "model-weights"
    SEED = "seed"


_POST_LATENT = frozenset(
    (
        ChangeKind.VAE_DECODE_DTYPE,
        ChangeKind.VAE_DECODE_TILING,
        ChangeKind.VAE_DECODE_BACKEND,
        ChangeKind.COLOR_CONVERSION,
        ChangeKind.OUTPUT_RESIZE,
        ChangeKind.VIDEO_ENCODER,
        ChangeKind.CONTAINER_MUX,
    )
)


def as_change(kind: Any) -> ChangeKind:
    """The change kind of this name.

    Raises:
        ProtocolError: there is none; it never falls back to the lane of reference metrics.
    """
    try:
        return ChangeKind(kind)
    except ValueError:
        import difflib

        names = [known.value for known in ChangeKind]
        near = difflib.get_close_matches(str(kind), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
        raise ProtocolError(
            f"change {kind!r} is unknown; {hint}", code="unknown_change", change=str(kind)
        ) from None


def as_lane(lane: Any) -> Lane:
    """The lane of this name. Raises ProtocolError where there is none."""
    try:
        return Lane(lane)
    except ValueError:
        raise _unknown("lane", lane, Lane) from None


def as_purpose(purpose: Any) -> Purpose:
    """The purpose of this name. Raises ProtocolError where there is none."""
    try:
        return Purpose(purpose)
    except ValueError:
        raise _unknown("purpose", purpose, Purpose) from None


def _unknown(what: str, given: Any, known: type[StrEnum]) -> ProtocolError:
    return ProtocolError(
        f"{what} {given!r} is unknown; expected {' or '.join(known)}",
        code=f"unknown_{what}",
    )


def classify_change(*kinds: ChangeKind | str) -> Lane:
    """The lane of a set of changes: same-trajectory only if every one comes after the latent.

    Raises:
        ProtocolError: no change was named, or an unknown one.
        TypeError: the kinds came packed in one sequence.

    >>> classify_change("container-mux").value, classify_change("container-mux", "compile").value
    ('same-trajectory', 'population')
    """
    return Lane.POPULATION if perturbing(*kinds) else Lane.SAME_TRAJECTORY


def perturbing(*kinds: ChangeKind | str) -> tuple[ChangeKind, ...]:
    """Those of the kinds that move the sampling path. Raises as :func:`classify_change`."""
    if not kinds:
        raise ProtocolError(
            "no change was named; say what differs between the arms: --change KIND",
            code="no_change",
        )
    for kind in kinds:
        if not isinstance(kind, str):
            raise TypeError(
                f"the kinds of change come one by one, not in a {type(kind).__name__}: "
                "classify_change(*kinds)"
            )
    return tuple(change for kind in kinds if (change := as_change(kind)) not in _POST_LATENT)

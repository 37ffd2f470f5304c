"""What every external instrument is, and how a score of one that could not run looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from screentest.metrics.facts import Direction, Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.media.clip import Frame

__all__ = ["CLOSED", "NO_PAIR", "REQUESTS", "TRAITS", "Instrument", "Trait", "unmeasured"]


class Instrument(Protocol):
    """Takes pairs of frames in display order and gives its scores once, at the end.

    ``names`` are those of the scores that :meth:`finish` gives, in that order. What goes wrong
    inside the other program or library makes the scores unmeasured, with a reason of one line;
    nothing of it is raised. Not for several threads at once.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores, fixed when the instrument is made."""

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Takes one pair. The frames' memory must stay as it is until :meth:`finish`."""

    def finish(self) -> tuple[list[Score], dict[str, NDArray[Any]]]:
        """The scores, and the per-frame values (float64, one per pair) of those that have any."""

    def close(self) -> None:
        """Ends processes, removes files and frees memory on the device; may be called twice."""


@dataclass(frozen=True, slots=True)
class Trait:
    """What is fixed about a score before anything is measured. ``impl`` is extended by what the
    number turns out to depend on: the model, the library's version, the weights."""

    unit: str
    direction: Direction
    impl: str


TRAITS: dict[str, Trait] = {
    "vmaf": Trait("VMAF", "up", "vmaf@1+vmaf_v0.6.1"),
    "vmaf_neg": Trait("VMAF", "up", "vmaf_neg@1+vmaf_v0.6.1neg"),
    "vmaf_phone": Trait("VMAF", "up", "vmaf_phone@1+vmaf_v0.6.1-phone"),
    "xpsnr_y": Trait("dB", "up", "xpsnr@1"),
    "xpsnr_cb": Trait("dB", "up", "xpsnr@1"),
    "xpsnr_cr": Trait("dB", "up", "xpsnr@1"),
    "cvvdp": Trait("JOD", "up", "cvvdp@1+standard_4k"),
    "lpips": Trait("LPIPS", "down", "lpips@1+alex-v0.1"),
    "dists": Trait("DISTS", "down", "dists@1+vgg16"),
}

# Reasons that any instrument may have to give.
CLOSED = "it was closed before the clips' end"
NO_PAIR = "there is no pair of frames"

# Request name -> names of the scores it gives.
REQUESTS: dict[str, tuple[str, ...]] = {
    "vmaf": ("vmaf",),
    "vmaf_neg": ("vmaf_neg",),
    "vmaf_phone": ("vmaf_phone",),
    "xpsnr": ("xpsnr_y", "xpsnr_cb", "xpsnr_cr"),
    "cvvdp": ("cvvdp",),
    "lpips": ("lpips",),
    "dists": ("dists",),
}


def unmeasured(name: str, reason: str, **details: Any) -> Score:
    """The score of an instrument that gave no number, with the reason on one line."""
    trait = TRAITS[name]
    return Score(
        name=name,
        value=None,
        state="unmeasured",
        unit=trait.unit,
        impl=trait.impl,
        direction=trait.direction,
        reason=" ".join(reason.split()),
        details=details,
    )

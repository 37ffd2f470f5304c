"""What every external instrument is, and how its scores are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from screentest.errors import InputError
from screentest.metrics import identity
from screentest.metrics.facts import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.media.clip import Frame

__all__ = ["CLOSED", "NO_PAIR", "Instrument", "measured", "unmeasured"]


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


# Reasons that any instrument may have to give.
CLOSED = "it was closed before the clips' end"
NO_PAIR = "there is no pair of frames"


def measured(name: str, value: float | None, **about: Any) -> Score:
    """The score of an instrument's number, ``about`` being what
    :func:`~screentest.metrics.identity.score` takes; unmeasured where the metric cannot have it."""
    try:
        return identity.score(name, value, **about)
    except InputError as error:
        if error.code not in ("non_finite_value", "out_of_bounds"):
            raise
        return unmeasured(name, error.message)


def unmeasured(name: str, reason: str, **details: Any) -> Score:
    """The score of an instrument that gave no number, with the reason on one line."""
    return identity.score(name, None, reason=reason, details=details)

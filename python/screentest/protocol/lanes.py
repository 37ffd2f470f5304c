"""Which metrics a lane admits: a reference metric means nothing between two takes of a prompt."""

from __future__ import annotations

from collections.abc import Iterable

from screentest.errors import InputError, TrajectoryPerturbingError
from screentest.metrics import registry
from screentest.protocol.kinds import ChangeKind, Lane, Purpose, as_lane, as_purpose, perturbing

__all__ = ["admissible", "require_admissible", "require_reference_lane"]


def require_reference_lane(
    *kinds: ChangeKind | str, purpose: Purpose | str = Purpose.QUALITY
) -> None:
    """Refuse a comparison by reference metrics of arms whose trajectories differ.

    Raises:
        TrajectoryPerturbingError: a kind moves the trajectory and the purpose is quality; the
            message names the kinds.
        ProtocolError: no kind, or an unknown one, or an unknown purpose.
        TypeError: the kinds came packed in one sequence.
    """
    moving = perturbing(*kinds)
    if as_purpose(purpose) is Purpose.QUALITY and moving:
        names = ", ".join(kind.value for kind in moving)
        raise TrajectoryPerturbingError(
            f"{names} moves the sampling trajectory, so the candidate is another take and a "
            "distance from the reference is no damage: use the population gate, or "
            "purpose='paired-fidelity' to measure the distance without a claim about quality",
            kinds=[kind.value for kind in moving],
        )


def admissible(
    lane: Lane | str, names: Iterable[str], purpose: Purpose | str = Purpose.QUALITY
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(admitted, refused) of these metrics. Unknown names pass: whether a metric exists is the
    registry's to say.

    >>> admissible("population", ["lpips", "track_stability_ratio"])
    (('track_stability_ratio',), ('lpips',))
    """
    off_lane = as_lane(lane) is Lane.POPULATION and as_purpose(purpose) is Purpose.QUALITY
    admitted: list[str] = []
    refused: list[str] = []
    for name in names:
        (refused if off_lane and _needs_one_trajectory(name) else admitted).append(name)
    return tuple(admitted), tuple(refused)


def require_admissible(
    lane: Lane | str, *names: str, purpose: Purpose | str = Purpose.QUALITY
) -> None:
    """Refuse metrics that mean nothing on this lane.

    Raises:
        TrajectoryPerturbingError: at least one is refused; the message names them.
    """
    refused = admissible(lane, names, purpose)[1]
    if refused:
        raise TrajectoryPerturbingError(
            f"{', '.join(refused)}: needs pixels that correspond, and on the {as_lane(lane).value} "
            "lane the candidate is another take; ask for purpose='paired-fidelity' to measure the "
            "distance without a claim about quality",
            metrics=list(refused),
        )


def _needs_one_trajectory(name: str) -> bool:
    try:
        return registry.spec(name).reference_only
    except InputError:
        return False

"""How the candidate's pictures change over time, against the reference's: jerk, flicker, shimmer,
motion, and standing still."""

from __future__ import annotations

from functools import partial

from screentest.metrics.population.ratios import FLOORS, Missing, Pair, log_ratio
from screentest.metrics.population.scalars import FROZEN_SHARE_OF
from screentest.metrics.population.statistic import Statistic

__all__ = ["TEMPORAL", "frozen_share_excess", "jerk_log"]

STILL = FLOORS["motion_energy"]
_LEAST_JERK_FRAMES = 3


def jerk_log(pair: Pair) -> float | Missing:
    """ln of the ratio of the two jerk ratios.

    Where neither clip moves, both are the jerk of a coder's noise and say nothing.
    """
    for clip, applies in ((pair.reference, False), (pair.candidate, True)):
        if clip["n_frames"] < _LEAST_JERK_FRAMES:
            return Missing(f"a clip of {clip['n_frames']:g} frames has no acceleration", applies)
    if max(pair.reference["motion_energy"], pair.candidate["motion_energy"]) < STILL:
        return Missing("nothing moves in either clip", False)
    return log_ratio("jerk_ratio", pair)


def frozen_share_excess(pair: Pair) -> float | Missing:
    """Share of the candidate's steps that stand still, less that of the reference's.

    A step stands still whose motion is under 5 % of the median of the reference's steps that move.
    A record without the motion of each frame tells it only where the candidate as a whole moves
    less than that share of the reference: it is 1 then.
    """
    if pair.reference["motion_energy"] < STILL:
        return Missing("the reference does not move, so nothing stands still beside it", False)
    ours, theirs = pair.candidate.get("frozen_share"), pair.reference.get("frozen_share")
    if ours is not None and theirs is not None:
        return ours - theirs
    if pair.candidate["motion_energy"] < FROZEN_SHARE_OF * pair.reference["motion_energy"]:
        return 1.0
    return Missing("a record has no motion per frame: measure the clip again", True)


TEMPORAL = (
    Statistic("jerk_excess", "excess", jerk_log),
    Statistic("flicker_ratio", "ratio", partial(log_ratio, "flicker")),
    Statistic("shimmer_ratio", "ratio", partial(log_ratio, "shimmer")),
    Statistic("motion_ratio", "ratio", partial(log_ratio, "motion_energy")),
    Statistic("frozen_share_excess", "max", frozen_share_excess),
)

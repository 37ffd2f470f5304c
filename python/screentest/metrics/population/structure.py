"""Do things hold their shape as well as in the reference, and is there a lattice over them?"""

from __future__ import annotations

from screentest import _native
from screentest.metrics.population.ratios import FLOORS, Missing, Pair, log_ratio
from screentest.metrics.population.statistic import Statistic

__all__ = ["STILL_STRUCTURE", "STRUCTURE", "grid_log", "track_ratio"]

LEAST_FRAMES = 3
"""A shorter clip has no window to follow anything through."""

LEAST_CORNERS = _native.TRACK_LEAST_TRACKS
LEAST_STABILITY = 0.02
"""Of a reference. Below it the ratio of two takes of a real clip (27 pairs without a cut, of 12 to
48 frames of big buck bunny, bikes and carphone) spreads by 0.33 in its logarithm, from it on (145
pairs) by 0.15."""


def track_ratio(pair: Pair) -> float | Missing:
    """Track stability of the candidate over that of the reference.

    The larger of two ratios: of all tracks, and of those that stay in the picture. Both must be low
    to say that things lose their shape. A candidate without corners beside a reference that has
    twice what can be followed has lost its texture and reads 0.
    """
    ours, theirs = pair.candidate, pair.reference
    if theirs["n_frames"] < LEAST_FRAMES:
        return Missing(f"a clip of {theirs['n_frames']:g} frames has no window to follow", False)
    if theirs["motion_energy"] < FLOORS["motion_energy"]:
        return Missing("the reference does not move, so nothing can lose its shape", False)
    if not (theirs["tracks_seen"] and ours["tracks_seen"]):
        return Missing("nobody looked for tracks: score the clip with the tracks family", True)
    if "corners" not in theirs:
        return Missing("no window of the reference could be read whole", True)
    if theirs["corners"] < 2 * LEAST_CORNERS:
        return Missing("hardly anything in the reference can be followed", False)
    if ours["n_frames"] < LEAST_FRAMES or "corners" not in ours:
        return Missing("the candidate has no window to follow", True)
    if ours["corners"] < LEAST_CORNERS:
        return 0.0
    stable = theirs.get("track_stability", 0.0)
    if stable < LEAST_STABILITY:
        return Missing(
            f"the reference hardly holds its shape itself (track stability {stable:.2g}, less than "
            f"{LEAST_STABILITY:g}), so a ratio to it is chance",
            False,
        )
    if "track_stability" not in ours:
        return Missing("the candidate's tracks have no stability", True)
    ratios = [ours["track_stability"] / stable]
    inside = theirs.get("stability_inside", 0.0)
    if inside >= LEAST_STABILITY and "stability_inside" in ours:
        ratios.append(ours["stability_inside"] / inside)
    return max(ratios)


def grid_log(pair: Pair) -> float | Missing:
    """ln of the candidate's strength of a lattice over the reference's."""
    least = _native.INTEGRITY_GRID_MIN_EXTENT
    for clip, applies in ((pair.reference, False), (pair.candidate, True)):
        if "grid_peak_ratio" in clip:
            continue
        if max(clip["width"], clip["height"]) < least:
            size = f"{clip['width']:g}x{clip['height']:g}"
            return Missing(f"a lattice needs {least} px on one side; this is {size}", applies)
        return Missing("nobody looked for a lattice: score the clip with the integrity family",
                       True)  # fmt: skip
    return log_ratio("grid_peak_ratio", pair)


_GRID = Statistic("grid_ratio", "ratio", grid_log)

STRUCTURE = (
    Statistic("track_stability_ratio", "median", track_ratio),
    Statistic("track_stability_worst", "min", track_ratio),
    _GRID,
)

STILL_STRUCTURE = (_GRID,)
"""Of stills: nothing moves."""

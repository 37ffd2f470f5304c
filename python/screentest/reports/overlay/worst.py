"""The tracks that held their shape worst, enlarged and followed through their window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest._native import rgb8
from screentest.reports.overlay.canvas import FAINT, SMOOTH, as_image, text
from screentest.reports.overlay.colours import coherence_colours

if TYPE_CHECKING:
    from PIL.Image import Image

    from screentest.media.clip import Clip
    from screentest.metrics.tracks.facts import TrackFacts, Trajectories

__all__ = ["ROW", "draw_row", "held_still", "worst_tracks"]

_PATCH, _LABEL, _GAP = 128, 136, 12
ROW = _PATCH + 26
"""Height of one row."""

_SHOWN = 8
_MOST = 4

# Of working-size pixels: more than the 21 that are matched, so that the surroundings are seen.
_REACH = 34
_NEIGHBOURS = 12
_OUTSIDE = (44, 47, 54)


def worst_tracks(paths: Sequence[Trajectories], most: int = _MOST) -> list[tuple[int, int]]:
    """(window, track) of the least coherent tracks, no two of them side by side at one time."""
    order = sorted(
        (float(value), at, track)
        for at, tracks in enumerate(paths)
        for track, value in enumerate(tracks.coherence)
        if np.isfinite(value)
    )
    chosen: list[tuple[int, int]] = []
    for _, at, track in order:
        if not any(_near(paths[at], track, paths[of], which) for of, which in chosen):
            chosen.append((at, track))
        if len(chosen) == most:
            break
    return chosen


def _near(one: Trajectories, track: int, other: Trajectories, which: int) -> bool:
    """Whether two tracks begin at about one place in windows that overlap."""
    first, second = sorted((one, other), key=lambda tracks: tracks.start)
    apart = np.abs(one.positions[0, track] - other.positions[0, which]).max()
    return second.start < first.start + len(first.positions) and bool(apart < _REACH)


def held_still(tracks: Trajectories, track: int) -> NDArray[np.float64]:
    """Where a track would be, frame by frame, had it moved with its nearest neighbours: ``(frames,
    2)`` in working-size pixels. The median motion of up to 12 that survive, itself left out."""
    start = tracks.positions[0].astype(np.float64)
    lives = np.isfinite(tracks.coherence)
    lives[track] = False
    others = np.flatnonzero(lives)
    if not len(others):
        return np.asarray(tracks.positions[:, track], np.float64)
    away = np.linalg.norm(start[others] - start[track], axis=1)
    near = others[np.argsort(away, kind="stable")[:_NEIGHBOURS]]
    moved = np.median(tracks.positions[:, near] - start[near], axis=1)
    return np.asarray(start[track] + moved, np.float64)


def draw_row(
    sheet: Image,
    at: tuple[int, int],
    clip: Clip,
    facts: TrackFacts,
    tracks: Trajectories,
    window: int,
    track: int,
) -> None:
    """Draw one track with its left upper corner ``at``: its numbers, then what it followed."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(sheet)
    left, top = at
    for line, words in enumerate(
        (
            f"window {window + 1}",
            f"coherence {tracks.coherence[track]:.3f}",
            f"jitter {tracks.jitter[track]:.3f}",
            f"rigidity {tracks.rigidity[track]:.2f} %",
        )
    ):
        text(draw, (left, top + 12 + 21 * line), words, 13, most=_LABEL - 8)
    frames = len(tracks.positions)
    picked = sorted({int(i) for i in np.linspace(0, frames - 1, _SHOWN)})
    centres = held_still(tracks, track)
    # The scribble: by how much it has strayed from where its neighbours would have it.
    strayed = tracks.positions[:, track] - centres
    colour = tuple(coherence_colours(tracks.coherence[track : track + 1])[0].tolist())
    x = left + _LABEL
    for frame in clip.frames_at([tracks.start + i for i in picked]):
        i = frame.index - tracks.start
        picture = as_image(rgb8(clip.format, frame.planes))
        patch = _patch(picture, centres[i], (facts.working_width, facts.working_height))
        _scribble(patch, strayed[: i + 1], colour)
        sheet.paste(patch.reduce(SMOOTH), (x, top))
        text(draw, (x, top + _PATCH + 10), f"frame {frame.index}", 12, fill=FAINT)
        x += _PATCH + _GAP


def _patch(picture: Image, centre: NDArray[np.float64], working: tuple[int, int]) -> Image:
    """The surroundings of a point, enlarged."""
    from PIL import Image

    sx, sy = (have / of for have, of in zip(picture.size, working, strict=True))
    x, y = (centre[0] + 0.5) * sx, (centre[1] + 0.5) * sy
    wide, high = _REACH * sx / 2, _REACH * sy / 2
    side = _PATCH * SMOOTH
    step_x, step_y = 2 * wide / side, 2 * high / side
    return picture.transform(
        (side, side),
        Image.Transform.AFFINE,
        (step_x, 0, x - wide, 0, step_y, y - high),
        Image.Resampling.BICUBIC,
        fillcolor=_OUTSIDE,
    )


def _scribble(patch: Image, strayed: NDArray[np.float64], colour: tuple[int, ...]) -> None:
    from PIL import ImageDraw

    draw = ImageDraw.Draw(patch)
    side = patch.size[0]
    points = [tuple(point) for point in np.rint(side / 2 + strayed * (side / _REACH)).tolist()]
    if len(points) > 1:
        draw.line(points, (16, 18, 22), round(2.4 * SMOOTH), joint="curve")
        draw.line(points, colour, round(1.2 * SMOOTH), joint="curve")
    x, y = points[-1]
    for radius, fill in ((2.8, (16, 18, 22)), (2.0, colour)):
        r = radius * SMOOTH
        draw.ellipse((x - r, y - r, x + r, y + r), fill)

"""Tracks over a picture: what moves steadily is calm, what warbles loud, what is lost crossed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest.errors import InputError
from screentest.reports.overlay.canvas import INK, SMOOTH, as_array, as_image, require_pillow
from screentest.reports.overlay.colours import coherence_colours

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

    from screentest.metrics.tracks.facts import Trajectories

__all__ = ["draw_paths", "draw_tracks"]

_TRAIL = 10
_MARKED = 6

# Of the picture's own brightness and colour, so that the colours above it are the scale's alone.
_BRIGHT, _COLOURED = 0.6, 0.3

_EDGE = (16, 18, 22)


def draw_tracks(
    frame_rgb: NDArray[np.uint8],
    trajectories: Trajectories,
    at: int,
    *,
    working_size: tuple[int, int],
    trail: int = _TRAIL,
    marked: int = _MARKED,
) -> NDArray[np.uint8]:
    """One frame with the tracks of its window, ``(H, W, 3)`` uint8 as the frame itself.

    The picture is dimmed. Each living track is a dot with a trail over its last frames, from blue
    (it keeps its shape over the window) to orange and thick (it warbles); grey for one that dies
    before the window's end and so has no coherence. Where a track has died, a cross stands for the
    next frames.

    Args:
        frame_rgb: the picture ``(H, W, 3)`` uint8, at the size to draw at.
        trajectories: the window's tracks.
        at: the frame's place in the window, from 0.
        working_size: (width, height) in whose pixels the positions are.
        trail: frames that a trail reaches back.
        marked: frames that a lost track is marked for.

    Raises:
        MissingBackendError: Pillow is not installed (``pip install 'screentest[report]'``).
        InputError: the frame lies outside the window, or is no RGB picture.
    """
    frames = len(trajectories.positions)
    if not 0 <= at < frames:
        raise InputError(f"frame {at} of a window of {frames} frames: expected 0 to {frames - 1}")
    image = _dimmed(frame_rgb)
    draw, scale = _pen(image)
    path = _placed(trajectories, image.size, working_size)
    colours, widths = _looks(trajectories, scale)
    for track in _quiet_first(trajectories):
        lived = int(trajectories.alive_frames[track])
        if lived > at:
            points = path[max(0, at - trail) : at + 1, track]
            _trail(draw, points, colours[track], widths[track])
            _dot(draw, points[-1], 0.9 * widths[track] + 0.7 * scale, colours[track])
        elif at - lived < marked:
            fresh = 1.0 - (at - lived) / marked
            _cross(draw, path[lived - 1, track], (2.0 + 2.5 * fresh) * scale, scale)
    return as_array(image.reduce(SMOOTH))


def draw_paths(
    frame_rgb: NDArray[np.uint8],
    trajectories: Trajectories,
    *,
    working_size: tuple[int, int],
) -> NDArray[np.uint8]:
    """A window's first frame with the whole way of every track; arguments as :func:`draw_tracks`.

    A dot is where a track begins, a cross where it is lost.
    """
    image = _dimmed(frame_rgb)
    draw, scale = _pen(image)
    path = _placed(trajectories, image.size, working_size)
    colours, widths = _looks(trajectories, scale)
    for track in _quiet_first(trajectories):
        lived = int(trajectories.alive_frames[track])
        points = path[:lived, track]
        _way(draw, points, colours[track], round(widths[track]))
        _dot(draw, points[0], 0.8 * widths[track], colours[track])
        if lived < len(path):
            _cross(draw, points[-1], 3.0 * scale, scale)
    return as_array(image.reduce(SMOOTH))


def _dimmed(rgb: NDArray[np.uint8]) -> Image:
    """The picture as ground for the drawing, enlarged."""
    require_pillow()
    from PIL import Image

    if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8:
        raise InputError(
            f"a picture of shape {rgb.shape} and {rgb.dtype}: expected (H, W, 3) and uint8"
        )
    image = as_image(rgb)
    grey = image.convert("L").convert("RGB")
    ground = Image.blend(grey, image, _COLOURED).point(lambda level: level * _BRIGHT)
    width, height = image.size
    return ground.resize((width * SMOOTH, height * SMOOTH), Image.Resampling.NEAREST)


def _pen(image: Image) -> tuple[ImageDraw, float]:
    """A pen that mixes with what lies below, and the width of a hairline of this picture."""
    from PIL import ImageDraw

    return ImageDraw.Draw(image, "RGBA"), SMOOTH * max(1.0, image.size[0] / SMOOTH / 900)


def _placed(
    trajectories: Trajectories, size: tuple[int, int], working_size: tuple[int, int]
) -> NDArray[np.float64]:
    """Positions in pixels of the enlarged picture. The centre of the first pixel is (0, 0) at every
    size, so half a pixel is added before scaling and taken off after it."""
    scale = np.array(size) / np.array(working_size)
    placed: NDArray[np.float64] = (trajectories.positions + 0.5) * scale - 0.5
    return placed


def _looks(
    trajectories: Trajectories, scale: float
) -> tuple[list[tuple[int, ...]], NDArray[np.float64]]:
    """Colour and width of each track."""
    coherence = trajectories.coherence
    colours = [tuple(colour) for colour in coherence_colours(coherence).tolist()]
    loud = np.where(np.isfinite(coherence), 1.0 - coherence, 0.0)
    return colours, scale * (1.3 + 1.2 * loud)


def _quiet_first(trajectories: Trajectories) -> list[int]:
    """The order of drawing: tracks without coherence, then from the calmest to the loudest."""
    order: list[int] = np.argsort(-np.nan_to_num(trajectories.coherence, nan=2.0)).tolist()
    return order


def _trail(
    draw: ImageDraw, points: NDArray[np.float64], colour: tuple[int, ...], width: float
) -> None:
    """A line that grows fainter and thinner towards its older end."""
    steps = len(points) - 1
    for step in range(steps):
        share = (step + 1) / steps
        _way(draw, points[step : step + 2], (*colour, round(60 + 195 * share)),
             max(1, round(width * (0.45 + 0.55 * share))))  # fmt: skip


def _way(draw: ImageDraw, points: NDArray[np.float64], colour: tuple[int, ...], width: int) -> None:
    if len(points) > 1:
        draw.line([tuple(p) for p in np.rint(points).tolist()], colour, width, joint="curve")


def _dot(draw: ImageDraw, at: NDArray[np.float64], radius: float, colour: tuple[int, ...]) -> None:
    x, y = np.rint(at).tolist()
    r = round(radius)
    edge = r + max(1, r // 3)
    draw.ellipse((x - edge, y - edge, x + edge, y + edge), _EDGE)
    draw.ellipse((x - r, y - r, x + r, y + r), colour)


def _cross(draw: ImageDraw, at: NDArray[np.float64], arm: float, scale: float) -> None:
    x, y = np.rint(at).tolist()
    a = round(arm)
    for colour, width in ((_EDGE, 2.6), (INK, 1.2)):
        for way in ((x - a, y - a, x + a, y + a), (x - a, y + a, x + a, y - a)):
            draw.line(way, colour, round(width * scale))

"""The legend of the track colours, and the strip below a video's picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.reports.overlay.canvas import FAINT, GROUND, INK, text
from screentest.reports.overlay.colours import LOST, coherence_colours
from screentest.reports.overlay.words import when, window_numbers, window_span

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

    from screentest.media.clip import Frame
    from screentest.metrics.tracks.facts import TrackFacts

__all__ = ["STRIP", "draw_legend", "strip"]

STRIP = 88
"""Height of the strip."""

_SIZE = 13
_MARGIN = 12
_BAR = (110, 10)
_TRACK, _WINDOW = (48, 52, 60), (96, 104, 118)


def draw_legend(draw: ImageDraw, x: float, y: float) -> None:
    """The scale of coherence and what grey and a cross mean, on one line about ``y``."""
    x += 6 + text(draw, (x, y), "coherence 0, unsteady", _SIZE, fill=FAINT)
    wide, high = _BAR
    colours = coherence_colours(np.linspace(0.0, 1.0, wide))
    for column, colour in enumerate(colours.tolist()):
        draw.line((x + column, y - high / 2, x + column, y + high / 2), tuple(colour))
    x += wide + 6
    x += 18 + text(draw, (x, y), "1, steady", _SIZE, fill=FAINT)
    draw.ellipse((x - 3, y - 3, x + 3, y + 3), LOST)
    x += 8
    x += 18 + text(draw, (x, y), "will be lost", _SIZE, fill=FAINT)
    for down in (-4, 4):
        draw.line((x - 4, y - down, x + 4, y + down), INK, 2)
    text(draw, (x + 9, y), "lost", _SIZE, fill=FAINT)


def strip(facts: TrackFacts, at: int, frame: Frame, width: int) -> Image:
    """What stands below a frame of window ``at``: where it is, the window's numbers, the legend,
    and the clip from end to end with its windows."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, STRIP), GROUND)
    draw = ImageDraw.Draw(image)
    now = when(facts.clip, frame.index, frame.time_s)
    taken = text(draw, (width - _MARGIN, 17), now, 15, anchor="rm")
    room = width - 3 * _MARGIN - taken
    text(draw, (_MARGIN, 17), window_span(facts, at), 15, most=room)
    text(draw, (_MARGIN, 39), window_numbers(facts.windows[at]), _SIZE, most=width - 2 * _MARGIN)
    draw_legend(draw, _MARGIN, 60)
    _timeline(draw, facts, at, frame.index, width)
    return image


def _timeline(draw: ImageDraw, facts: TrackFacts, at: int, index: int, width: int) -> None:
    ends = [window.start + window.frames for window in facts.windows]
    frames = max(facts.clip.frames or 0, *ends)

    def x(frame: float) -> float:
        return _MARGIN + frame / frames * (width - 2 * _MARGIN)

    top, bottom = STRIP - 14, STRIP - 8
    draw.rectangle((x(0), top, x(frames) - 1, bottom), _TRACK)
    for window, end in zip(facts.windows, ends, strict=True):
        draw.rectangle((x(window.start), top, x(end) - 1, bottom), _WINDOW)
    own = facts.windows[at]
    draw.rectangle((x(own.start), top, x(own.start + own.frames) - 1, bottom), FAINT)
    here = x(index + 0.5)
    draw.rectangle((here - 1, top - 3, here + 1, bottom + 3), INK)

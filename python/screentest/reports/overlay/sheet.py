"""One picture of all windows of a clip, and the tracks that held their shape worst."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from screentest import compute
from screentest._native import rgb8
from screentest.files import write_atomically
from screentest.reports.overlay.canvas import (
    FAINT,
    GROUND,
    INK,
    as_array,
    as_image,
    display_size,
    require_pillow,
    text,
    text_width,
)
from screentest.reports.overlay.legend import draw_legend
from screentest.reports.overlay.trails import draw_paths
from screentest.reports.overlay.video import trajectories_of
from screentest.reports.overlay.words import (
    clip_line,
    clip_numbers,
    window_numbers,
    window_span,
)
from screentest.reports.overlay.worst import ROW, draw_row, worst_tracks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

    from screentest.media.clip import Clip
    from screentest.metrics.tracks.facts import TrackFacts

__all__ = ["draw_sheet", "write_tracks_png"]

_WIDE = 1296
_MARGIN, _GAP = 16, 12
_HEAD, _LINE = 82, 20
_TILE_HIGH = 560
_SIZE = 13


def write_tracks_png(
    clip: Clip,
    facts: TrackFacts,
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
) -> None:
    """Write one PNG: the first frame of each window with the way of every track, the numbers, and
    the least coherent tracks enlarged. Arguments and errors as :func:`write_tracks_video`."""
    sheet = draw_sheet(clip, facts, threads=threads)
    written = io.BytesIO()
    sheet.save(written, "png")
    write_atomically(Path(path), written.getvalue())


def draw_sheet(clip: Clip, facts: TrackFacts, *, threads: int | None = None) -> Image:
    """The picture that :func:`write_tracks_png` writes."""
    require_pillow()
    from PIL import Image, ImageDraw

    paths = trajectories_of(facts)
    budget = compute.threads(threads)
    worst = worst_tracks(paths)
    columns, (wide, high) = _grid(display_size(clip.info), len(paths))
    rows = -(-len(paths) // columns)
    room = _WIDE - 2 * _MARGIN
    width = room if columns == 1 else wide
    captions = [
        [window_span(facts, at), *_folded(window_numbers(window), width)]
        for at, window in enumerate(facts.windows)
    ]
    step = high + 6 + _LINE * max(map(len, captions)) + _GAP
    below = _HEAD + rows * step
    tall = below + (34 + len(worst) * ROW if worst else 0) + _MARGIN
    sheet = Image.new("RGB", (_WIDE, tall), GROUND)
    draw = ImageDraw.Draw(sheet)
    name = os.path.basename(clip.info.source) or clip.info.source
    text(draw, (_MARGIN, 20), f"{name} · {clip_line(facts)}", 16, most=room)
    text(draw, (_MARGIN, 43), clip_numbers(facts), 14, most=room)
    draw_legend(draw, _MARGIN, 65)
    working = (facts.working_width, facts.working_height)
    for at, (window, tracks) in enumerate(zip(facts.windows, paths, strict=True)):
        left = _MARGIN + (at % columns) * (wide + _GAP)
        top = _HEAD + (at // columns) * step
        for frame in clip.frames_at([window.start]):
            rgb = as_array(as_image(rgb8(clip.format, frame.planes, threads=budget), (wide, high)))
            drawn = draw_paths(rgb, tracks, working_size=working)
            sheet.paste(as_image(drawn), (left, top))
        for line, words in enumerate(captions[at]):
            y = top + high + 14 + line * _LINE
            text(draw, (left, y), words, _SIZE, fill=FAINT if line else INK, most=width)
    if worst:
        said = "least coherent tracks: what they followed, held still by their neighbours' motion"
        text(draw, (_MARGIN, below + 12), said, 14)
    for row, (at, track) in enumerate(worst):
        draw_row(sheet, (_MARGIN, below + 30 + row * ROW), clip, facts, paths[at], at, track)
    return sheet


def _folded(words: str, width: float) -> list[str]:
    """Lines no wider than that, broken at the dots."""
    lines: list[str] = []
    for part in words.split(" · "):
        if lines and text_width(f"{lines[-1]} · {part}", _SIZE) <= width:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return lines


def _grid(size: Sequence[int], count: int) -> tuple[int, tuple[int, int]]:
    """How many tiles stand side by side, and their size: as large as the sheet's width allows."""
    for columns in range(min(count, 2), count + 1):
        wide = (_WIDE - 2 * _MARGIN - (columns - 1) * _GAP) // columns
        high = round(wide * size[1] / size[0])
        if high <= _TILE_HIGH or columns == count:
            break
    if high > _TILE_HIGH:
        wide, high = round(_TILE_HIGH * size[0] / size[1]), _TILE_HIGH
    return columns, (wide, high)

"""Two pens with one hand: a chart drawn as SVG text, or as pixels by Pillow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Protocol
from xml.sax.saxutils import escape

from screentest.reports.canonical import one_line, printable
from screentest.reports.overlay.canvas import font, require_pillow

__all__ = ["Pen", "PngPen", "SvgPen"]

Point = tuple[float, float]
Colour = tuple[int, int, int]

_ANCHORS = {"l": "start", "m": "middle", "r": "end"}


class Pen(Protocol):
    """Draws on a white sheet; x to the right, y down, in units of the sheet."""

    def rectangle(self, corner: Point, size: Point, fill: Colour, opacity: float = 1.0) -> None:
        """A filled rectangle by its left upper corner."""

    def line(self, points: Sequence[Point], colour: Colour, width: float) -> None:
        """A line through the points; a dot for a single one."""

    def area(self, points: Sequence[Point], fill: Colour, opacity: float = 1.0) -> None:
        """A filled polygon."""

    def text(self, at: Point, words: str, size: int, colour: Colour, anchor: str = "l") -> None:
        """A line of text, its middle at this height; anchor ``l``, ``m`` or ``r``."""

    def finish(self) -> bytes:
        """The file."""


class SvgPen:
    """Writes SVG that stands alone: no script, no style sheet, nothing fetched."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" role="img">',
            f"<title>{_escaped(title)}</title>",
        ]
        self.rectangle((0, 0), (width, height), (255, 255, 255))

    def rectangle(self, corner: Point, size: Point, fill: Colour, opacity: float = 1.0) -> None:
        """See :class:`Pen`."""
        self._parts.append(
            f'<rect x="{corner[0]:.2f}" y="{corner[1]:.2f}" width="{size[0]:.2f}" '
            f'height="{size[1]:.2f}" fill="{_hex(fill)}"{_opacity(opacity)}/>'
        )

    def line(self, points: Sequence[Point], colour: Colour, width: float) -> None:
        """See :class:`Pen`."""
        path = "L".join(f"{x:.2f},{y:.2f}" for x, y in points)
        alone = "h0" if len(points) == 1 else ""
        self._parts.append(
            f'<path d="M{path}{alone}" fill="none" stroke="{_hex(colour)}" '
            f'stroke-width="{width:g}" stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def area(self, points: Sequence[Point], fill: Colour, opacity: float = 1.0) -> None:
        """See :class:`Pen`."""
        path = "L".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self._parts.append(f'<path d="M{path}z" fill="{_hex(fill)}"{_opacity(opacity)}/>')

    def text(self, at: Point, words: str, size: int, colour: Colour, anchor: str = "l") -> None:
        """See :class:`Pen`."""
        # Not every viewer knows dominant-baseline; a third of the size is where its middle lies.
        self._parts.append(
            f'<text x="{at[0]:.2f}" y="{at[1] + size * 0.35:.2f}" font-size="{size}" '
            f'fill="{_hex(colour)}" text-anchor="{_ANCHORS[anchor]}">{_escaped(words)}</text>'
        )

    def finish(self) -> bytes:
        """See :class:`Pen`."""
        return "\n".join([*self._parts, "</svg>", ""]).encode()


class PngPen:
    """Draws with Pillow at twice the units, so that a dense display has its pixels."""

    _SCALE = 2

    def __init__(self, width: int, height: int) -> None:
        require_pillow()
        from PIL import Image, ImageDraw

        # Drawn twice as large again and averaged, as Pillow's lines have hard edges.
        self._big = 2 * self._SCALE
        self._image = Image.new("RGB", (width * self._big, height * self._big), "white")
        self._draw: Any = ImageDraw.Draw(self._image, "RGBA")

    def rectangle(self, corner: Point, size: Point, fill: Colour, opacity: float = 1.0) -> None:
        """See :class:`Pen`."""
        (x, y), (wide, high) = self._at(corner), self._at(size)
        box = (x, y, x + max(wide, 1) - 1, y + max(high, 1) - 1)
        self._draw.rectangle(box, (*fill, round(255 * opacity)))

    def line(self, points: Sequence[Point], colour: Colour, width: float) -> None:
        """See :class:`Pen`."""
        placed = [self._at(point) for point in points]
        thick = max(1, round(width * self._big))
        if len(placed) > 1:
            self._draw.line(placed, colour, thick, joint="curve")
        for x, y in {placed[0], placed[-1]}:
            r = thick / 2
            self._draw.ellipse((x - r, y - r, x + r, y + r), colour)

    def area(self, points: Sequence[Point], fill: Colour, opacity: float = 1.0) -> None:
        """See :class:`Pen`."""
        self._draw.polygon([self._at(p) for p in points], (*fill, round(255 * opacity)))

    def text(self, at: Point, words: str, size: int, colour: Colour, anchor: str = "l") -> None:
        """See :class:`Pen`."""
        face = font(size * self._big)
        self._draw.text(self._at(at), printable(words), fill=colour, font=face, anchor=anchor + "m")

    def finish(self) -> bytes:
        """See :class:`Pen`."""
        written = io.BytesIO()
        self._image.reduce(2).save(written, "png")
        return written.getvalue()

    def _at(self, point: Point) -> tuple[int, int]:
        return round(point[0] * self._big), round(point[1] * self._big)


def _hex(colour: Colour) -> str:
    return "#" + bytes(colour).hex()


def _opacity(opacity: float) -> str:
    return "" if opacity == 1.0 else f' fill-opacity="{opacity:g}"'


def _escaped(words: str) -> str:
    # XML has no word for most control characters, escaped or not.
    return escape(one_line(words))

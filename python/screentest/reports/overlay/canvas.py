"""What every drawing shares: the extra that it needs, sizes, text, and smooth lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from screentest.errors import MissingBackendError
from screentest.reports.canonical import printable

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

    from screentest.media.info import ClipInfo

__all__ = [
    "FAINT",
    "GROUND",
    "INK",
    "SMOOTH",
    "as_array",
    "as_image",
    "display_size",
    "even",
    "font",
    "require_pillow",
    "text",
    "text_width",
]

GROUND, INK, FAINT = (22, 24, 29), (236, 238, 242), (150, 156, 168)

# Pillow's lines have hard edges: they are drawn this many times as large and averaged.
SMOOTH = 3

_LEAST_WIDE, _MOST_WIDE, _MOST_HIGH = 640, 1280, 1080


def require_pillow() -> None:
    """Whether pictures can be drawn; for a caller that has long work to do before it draws one.

    Raises:
        MissingBackendError: Pillow is not installed (``pip install 'screentest[report]'``).
    """
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise MissingBackendError(
            "a drawing needs Pillow: pip install 'screentest[report]'", extra="report"
        ) from None


def even(value: float) -> int:
    """The nearest even number of at least 2; coded pictures have no odd sides.

    >>> even(271.4), even(0.3)
    (272, 2)
    """
    return max(2, 2 * round(value / 2))


def display_size(clip: ClipInfo) -> tuple[int, int]:
    """(width, height) at which a clip is drawn: square pixels, even sides, small clips enlarged so
    that a trail can be seen, large ones reduced to 1280 by 1080."""
    width, height = float(clip.width), float(clip.height)
    if clip.sample_aspect_ratio is not None:
        across, down = (int(part) for part in clip.sample_aspect_ratio.split(":"))
        width *= across / down
    scale = min(max(1.0, _LEAST_WIDE / width), _MOST_WIDE / width, _MOST_HIGH / height)
    return even(width * scale), even(height * scale)


def as_image(rgb: NDArray[np.uint8], size: tuple[int, int] | None = None) -> Image:
    """A picture ``(H, W, 3)`` uint8 as Pillow's, resized to (width, height) if that is given."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(rgb))
    if size is None or size == image.size:
        return image
    return image.resize(size, Image.Resampling.BICUBIC, reducing_gap=3.0)


def as_array(image: Image) -> NDArray[np.uint8]:
    """The pixels, ``(H, W, 3)`` uint8."""
    return np.asarray(image.convert("RGB"))


@cache
def font(size: int) -> Any:
    """The typeface that Pillow carries; it has no signs beyond Latin-1's letters."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def text_width(words: str, size: int) -> float:
    """How many pixels a line of text takes."""
    return float(font(size).getlength(words))


def text(
    draw: ImageDraw,
    at: tuple[float, float],
    words: str,
    size: int,
    *,
    fill: Sequence[int] = INK,
    anchor: str = "lm",
    most: float | None = None,
) -> float:
    """One line of text; cut with an ellipsis where it is wider than ``most``. Gives its width."""
    words = printable(words)
    if most is not None and text_width(words, size) > most:
        while words and text_width(words + "…", size) > most:
            words = words[:-1]
        words += "…"
    draw.text(at, words, fill=tuple(fill), font=font(size), anchor=anchor)
    return text_width(words, size)

"""The panels of a sound: waveform, spectrogram, difference, loudness, each as one picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest.reports.html.charts import runs
from screentest.reports.overlay.canvas import SMOOTH, as_image

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "CHANGE_DB",
    "LOUDNESS",
    "PANEL",
    "POWER_DB",
    "THEIRS",
    "WAVE",
    "change_colours",
    "height_of",
    "hertz_ticks",
    "loudness_panel",
    "power_colours",
    "spectrogram_panel",
    "spectrogram_rows",
    "waveform_panel",
]

Colour = tuple[int, int, int]

PANEL: Colour = (14, 15, 19)
WAVE: Colour = (92, 164, 236)
THEIRS: Colour = (150, 156, 168)
RULE: Colour = (52, 56, 66)

POWER_DB = (-110.0, -10.0)
"""What the colours of a spectrogram span, in dB of a sine of full scale."""

CHANGE_DB = 24.0
"""Where the colours of a difference end, to either side."""

LOUDNESS = (-60.0, 0.0)
"""What a loudness panel spans, in LUFS."""

_TICKS_HZ = (125, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)

# From nothing to full scale, each lighter than the one before, so that a grey print tells as much.
_POWER = np.array(
    [(14, 15, 19), (22, 36, 78), (36, 82, 150), (70, 140, 196), (178, 196, 180), (255, 196, 92),
     (255, 244, 214)],
    np.float64,
)  # fmt: skip

# Lost, the same, added: the pair of hues that red- and green-blind eyes keep apart.
_CHANGE = np.array(
    [(56, 144, 240), (36, 82, 150), (30, 32, 38), (164, 92, 20), (255, 152, 30)], np.float64
)


def _mixed(at: NDArray[np.float64], stops: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Colours of numbers in [0, 1]."""
    places = np.linspace(0.0, 1.0, len(stops))
    parts = [np.interp(at, places, channel) for channel in stops.T]
    mixed: NDArray[np.uint8] = np.rint(np.stack(parts, axis=-1)).astype(np.uint8)
    return mixed


def power_colours(power_db: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The colour of each power in dB."""
    low, high = POWER_DB
    return _mixed(np.clip((power_db - low) / (high - low), 0.0, 1.0), _POWER)


def change_colours(change_db: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The colour of each change in dB: blue where power was lost, orange where it was added."""
    return _mixed(np.clip(0.5 + change_db / (2.0 * CHANGE_DB), 0.0, 1.0), _CHANGE)


def _mel(hertz: float) -> float:
    return 2595.0 * math.log10(1.0 + hertz / 700.0)


def height_of(hertz: float, rate: int) -> float:
    """How far up the axis a frequency stands, from 0 to 1: even in mel, as pitch is heard."""
    return _mel(hertz) / _mel(rate / 2.0)


def hertz_ticks(rate: int) -> list[int]:
    """Frequencies that an axis of this rate names."""
    return [hertz for hertz in _TICKS_HZ if height_of(hertz, rate) <= 0.985]


def spectrogram_rows(power: NDArray[np.float64], rate: int, high: int) -> NDArray[np.float64]:
    """``(spectra, 513)`` powers as ``(high, spectra)`` dB, the highest frequency first.

    A row has the strongest of the bins that it spans, or lies between two of them.
    """
    level = 10.0 * np.log10(np.maximum(power, 1e-12))
    edges = np.arange(high + 1) / high * _mel(rate / 2.0)
    bins = 700.0 * (10.0 ** (edges / 2595.0) - 1.0) / (rate / 2.0) * (power.shape[1] - 1)
    rows = np.empty((high, len(power)))
    for row, (low, top) in enumerate(pairwise(bins.tolist())):
        first, last = math.ceil(low), math.floor(top)
        if first <= last:
            rows[row] = level[:, first : last + 1].max(axis=1)
        else:
            middle = (low + top) / 2.0
            below = int(middle)
            share = middle - below
            rows[row] = (1.0 - share) * level[:, below] + share * level[:, below + 1]
    return rows[::-1]


def spectrogram_panel(rgb: NDArray[np.uint8], size: tuple[int, int], wide: float) -> Image:
    """Coloured rows as a panel in which they take the first ``wide`` columns."""
    from PIL import Image

    panel = Image.new("RGB", size, PANEL)
    taken = max(1, min(size[0], round(wide)))
    panel.paste(as_image(rgb).resize((taken, size[1]), Image.Resampling.BILINEAR), (0, 0))
    return panel


def waveform_panel(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    full: NDArray[np.bool_],
    size: tuple[int, int],
    colour: Colour,
    clipped: Colour,
) -> Image:
    """From the smallest to the largest sample of each column; ``full`` ones in their own colour."""
    wide, tall = size
    at = np.arange(wide) * len(low) // wide
    middle = tall / 2.0
    reach = middle - 2.0
    top = middle - np.clip(high[at], -1.0, 1.0) * reach - 0.5
    bottom = middle - np.clip(low[at], -1.0, 1.0) * reach + 0.5
    rows = np.arange(tall, dtype=np.float64)[:, None]
    # How much of each pixel the column covers.
    cover = np.clip(np.minimum(rows + 1.0, bottom) - np.maximum(rows, top), 0.0, 1.0)
    cover = np.nan_to_num(cover)[:, :, None]
    ink = np.where(full[at][None, :, None], np.array(clipped), np.array(colour))
    ground = np.broadcast_to(np.array(PANEL, np.float64), (tall, wide, 3)).copy()
    ground[tall // 2] = RULE
    return as_image(np.rint(ground * (1.0 - cover) + ink * cover).astype(np.uint8))


def loudness_panel(
    lines: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], Colour, int]],
    levels: Sequence[tuple[float, Colour]],
    size: tuple[int, int],
) -> Image:
    """Curves (x in columns, LUFS, colour, width) and levels of the whole, on rules of 10 LU."""
    from PIL import Image, ImageDraw

    wide, tall = size[0] * SMOOTH, size[1] * SMOOTH
    panel = Image.new("RGB", (wide, tall), PANEL)
    draw = ImageDraw.Draw(panel)
    low, high = LOUDNESS

    def y(lufs: float) -> float:
        return (high - min(max(lufs, low), high)) / (high - low) * (tall - 1)

    for rule in range(int(low), int(high) + 1, 10):
        draw.line((0, y(rule), wide, y(rule)), RULE, SMOOTH)
    for level, colour in levels:
        dash = 6 * SMOOTH
        for start in range(0, wide, 2 * dash):
            draw.line((start, y(level), start + dash, y(level)), colour, SMOOTH)
    for x, lufs, colour, thick in lines:
        for first, end in runs(np.isfinite(lufs)):
            points = [(float(a) * SMOOTH, y(float(b))) for a, b in
                      zip(x[first:end], lufs[first:end], strict=True)]  # fmt: skip
            if len(points) > 1:
                draw.line(points, colour, thick * SMOOTH, joint="curve")
            else:
                r = thick * SMOOTH
                (a, b) = points[0]
                draw.ellipse((a - r, b - r, a + r, b + r), colour)
    return panel.resize(size, Image.Resampling.BOX)

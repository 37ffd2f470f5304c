"""Pictures for the pages: worst frames with their maps and a detail, and filmstrips of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from screentest.reports.html.gate_model import GateFrame
from screentest.reports.html.images import (
    indexed_png_url,
    jpeg_url,
    png_url,
    reduced,
    reduced_map,
)
from screentest.reports.html.model import Filmstrip, WorstFrame
from screentest.reports.html.text import number, unit_word

__all__ = [
    "ArmsPanel",
    "Detail",
    "FramePanel",
    "Picture",
    "StripPanel",
    "arms_panel",
    "frame_panels",
    "small_map",
    "small_photo",
    "strip_panel",
]

# Wide enough for a desktop column at twice the density; four of them are some 200 KB.
_WIDE = 640
_STRIP_WIDE = 240
_ARMS_WIDE = 288
# Two dozen pictures and as many maps: what the eye tells apart at this size.
_ARMS_JPEG, _ARMS_LEVELS, _LEVELS = 5, 24, 64
_DETAIL = (160, 120)
_GRID = 8

# Full brightness stands at the least of these that holds all but a thousandth of the map: it says
# something at 40 dB, one pixel does not darken the rest, and pages of one clip are mostly alike.
_ALL_BUT = 0.999
_SCALES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)

# Black over violet and orange to pale yellow: rises in lightness, so it prints and serves readers
# who do not tell red from green.
_STOPS = np.array(
    [(0, 0, 4), (40, 11, 84), (101, 21, 110), (159, 42, 99), (212, 72, 66), (245, 125, 21),
     (250, 193, 39), (252, 255, 164)], dtype=np.float64)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Picture:
    """One embedded picture; ``scale`` is the legend's right end for a map."""

    label: str
    url: str
    width: int
    height: int
    scale: str | None = None


@dataclass(frozen=True, slots=True)
class Detail:
    """The part of the frame with the most error, in its own pixels and without loss."""

    x: int
    y: int
    width: int
    height: int
    reference: str
    candidate: str


@dataclass(frozen=True, slots=True)
class FramePanel:
    """One pair of frames, and every metric that calls it the worst."""

    reference_index: int
    candidate_index: int
    metrics: tuple[str, ...]
    width: int
    height: int
    pictures: tuple[Picture, ...]
    detail: Detail | None


@dataclass(frozen=True, slots=True)
class StripPanel:
    """A sample's filmstrip: (index, ground truth, prediction), pictures as URLs."""

    group: str
    key: str
    metric: str
    value: str
    frames: tuple[tuple[int, Picture | None, Picture | None], ...]


@dataclass(frozen=True, slots=True)
class ArmsPanel:
    """A pair's filmstrip: (index, reference, candidate, difference). ``scale`` is the right end of
    the legend that all differences share, ``None`` where there is none."""

    frames: tuple[tuple[int, Picture | None, Picture | None, Picture | None], ...]
    scale: str | None


def frame_panels(worst: Sequence[WorstFrame]) -> list[FramePanel]:
    """One panel for each pair of frames, in the order given; metrics that share one are merged."""
    together: dict[tuple[int, int], list[WorstFrame]] = {}
    for item in worst:
        together.setdefault((item.reference_index, item.candidate_index), []).append(item)
    return [_panel(items) for items in together.values()]


def strip_panel(strip: Filmstrip, unit: str) -> StripPanel:
    """A filmstrip with its pictures made small."""
    return StripPanel(
        group=strip.group,
        key=strip.key,
        metric=strip.metric,
        value=f"{number(strip.value, unit)} {unit_word(unit)}".strip(),
        frames=tuple(
            (
                frame.index,
                _small("Ground truth", frame.ground_truth),
                _small("Prediction", frame.prediction),
            )
            for frame in strip.frames
        ),
    )


def small_photo(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture as large as a gate's filmstrip shows it."""
    return reduced(rgb, _ARMS_WIDE)


def small_map(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The map as large as a gate's filmstrip shows it, a small fault kept."""
    return reduced_map(values, _ARMS_WIDE)


def arms_panel(frames: Sequence[GateFrame]) -> ArmsPanel:
    """A pair's filmstrip with its pictures made small, its differences in one scale."""
    maps = [small_map(frame.difference) for frame in frames if frame.difference is not None]
    top, scale = _scale_of(maps, "of full scale") if maps else (1.0, None)

    def photo(label: str, rgb: NDArray[np.uint8] | None, index: int) -> Picture | None:
        if rgb is None:
            return None
        small = small_photo(rgb)
        said = f"{label}, frame {index}"
        return Picture(said, jpeg_url(small, _ARMS_JPEG), small.shape[1], small.shape[0])

    def difference(values: NDArray[np.float32] | None, index: int) -> Picture | None:
        if values is None:
            return None
        small = small_map(values)
        said = f"Difference, frame {index}"
        return Picture(
            said, _map_url(small, top, _ARMS_LEVELS), small.shape[1], small.shape[0], scale
        )

    return ArmsPanel(
        frames=tuple(
            (
                frame.index,
                photo("Reference", frame.reference, frame.index),
                photo("Candidate", frame.candidate, frame.index),
                difference(frame.difference, frame.index),
            )
            for frame in frames
        ),
        scale=scale,
    )


def _panel(items: list[WorstFrame]) -> FramePanel:
    first = items[0]
    height, width = first.reference_rgb.shape[:2]
    pictures = [
        _photo("Reference", first.reference_rgb),
        _photo("Candidate", first.candidate_rgb),
        _map("Error", first.error_map, "of full scale"),
    ]
    with_map = next((item for item in items if item.ssim_map is not None), None)
    if with_map is not None and with_map.ssim_map is not None:
        # With its border of window halves, so that flipping keeps every place where it is.
        rows, columns = (
            a - b for a, b in zip((height, width), with_map.ssim_map.shape, strict=True)
        )
        border = ((rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2))
        loss = np.pad(np.clip(1 - with_map.ssim_map, 0, 2), border)
        pictures.append(_map("1 − SSIM", loss, ""))
    return FramePanel(
        reference_index=first.reference_index,
        candidate_index=first.candidate_index,
        metrics=tuple(
            f"{item.metric} {number(item.value, item.unit)} {unit_word(item.unit)}".strip()
            for item in items
        ),
        width=width,
        height=height,
        pictures=tuple(pictures),
        detail=_detail(first),
    )


def _photo(label: str, rgb: NDArray[np.uint8]) -> Picture:
    small = reduced(rgb, _WIDE)
    return Picture(label, jpeg_url(small), small.shape[1], small.shape[0])


def _small(label: str, rgb: NDArray[np.uint8] | None) -> Picture | None:
    if rgb is None:
        return None
    small = reduced(rgb, _STRIP_WIDE)
    return Picture(label, jpeg_url(small), small.shape[1], small.shape[0])


def _map(label: str, values: NDArray[np.float32], what: str) -> Picture:
    small = reduced_map(values, _WIDE)
    top, scale = _scale_of([small], what)
    return Picture(label, _map_url(small, top), small.shape[1], small.shape[0], scale)


def _scale_of(maps: Sequence[NDArray[np.float32]], what: str) -> tuple[float, str]:
    """What stands at full brightness in these maps, and how the legend says it."""
    values = np.concatenate([_finite(values).ravel() for values in maps])
    largest = float(values.max(initial=0.0))
    most = float(np.quantile(values, _ALL_BUT))
    top = next((scale for scale in _SCALES if most <= scale), _SCALES[-1])
    return top, f"{top:.4g} {'or more ' if largest > top else ''}{what}".strip()


def _map_url(values: NDArray[np.float32], top: float, levels: int = _LEVELS) -> str:
    colours = _colours(levels)
    last = len(colours) - 1
    level = np.clip(np.rint(_finite(values) / top * last), 0, last).astype(np.uint8)
    return indexed_png_url(level, colours)


def _finite(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.nan_to_num(values, nan=0.0, posinf=2.0, neginf=0.0)


def _colours(levels: int) -> NDArray[np.uint8]:
    at = np.linspace(0, len(_STOPS) - 1, levels)
    channels = [np.interp(at, np.arange(len(_STOPS)), _STOPS[:, i]) for i in range(3)]
    return np.asarray(np.rint(np.stack(channels, axis=-1)).astype(np.uint8))


def _detail(item: WorstFrame) -> Detail | None:
    height, width = item.error_map.shape
    wide, high = min(_DETAIL[0], width), min(_DETAIL[1], height)
    if width <= _DETAIL[0] * 1.5 and height <= _DETAIL[1] * 1.5:
        return None  # the pictures above already show every pixel
    x, y = _window(np.nan_to_num(item.error_map), wide, high)
    part = (slice(y, y + high), slice(x, x + wide))
    return Detail(
        x, y, wide, high, png_url(item.reference_rgb[part]), png_url(item.candidate_rgb[part])
    )


def _window(error: NDArray[np.float32], wide: int, high: int) -> tuple[int, int]:
    """(x, y) of the window with the largest sum of squared errors, on a grid of eight pixels."""
    sums = np.zeros((error.shape[0] + 1, error.shape[1] + 1))
    np.cumsum(np.cumsum(np.square(error, dtype=np.float64), axis=0), axis=1, out=sums[1:, 1:])
    ys = np.unique(np.append(np.arange(0, error.shape[0] - high + 1, _GRID), error.shape[0] - high))
    xs = np.unique(np.append(np.arange(0, error.shape[1] - wide + 1, _GRID), error.shape[1] - wide))
    a, b = np.ix_(ys, xs), np.ix_(ys + high, xs + wide)
    c, d = np.ix_(ys, xs + wide), np.ix_(ys + high, xs)
    total = sums[b] - sums[c] - sums[d] + sums[a]
    row, column = np.unravel_index(int(total.argmax()), total.shape)
    x, y = int(xs[column]), int(ys[row])
    # Then with what it found in its middle.
    weight = np.square(error[y : y + high, x : x + wide], dtype=np.float64)
    if not weight.sum():
        return x, y
    middle_y = y + int(weight.sum(axis=1) @ np.arange(high) / weight.sum())
    middle_x = x + int(weight.sum(axis=0) @ np.arange(wide) / weight.sum())
    return (
        int(np.clip(middle_x - wide // 2, 0, error.shape[1] - wide)),
        int(np.clip(middle_y - high // 2, 0, error.shape[0] - high)),
    )

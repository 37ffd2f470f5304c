"""Small clips and action files with values that can be worked out by hand."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np

SIZE = (48, 32)

EVAL = (sys.executable, "-m", "screentest.cli.main", "eval")
"""The command in a process of its own."""


def write_clip(
    path: Path, frames: Any, *, codec: str = "ffv1", pix_fmt: str = "bgr0", rate: int = 24
) -> Path:
    """Write ``(T, H, W, 3)`` uint8 frames; ffv1 keeps every bit, in whatever the name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    container_format = "mp4" if codec == "mpeg4" else "matroska"
    with av.open(str(path), "w", format=container_format) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height = frames.shape[2], frames.shape[1]
        stream.pix_fmt = pix_fmt
        stream.time_base = Fraction(1, rate)
        for index, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts = index
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def flat(path: Path, level: int, frames: int = 3, size: tuple[int, int] = SIZE) -> Path:
    """A clip of one grey level; its bits are kept."""
    width, height = size
    return write_clip(path, np.full((frames, height, width, 3), level, np.uint8))


def moving(frames: int = 5, size: tuple[int, int] = SIZE, seed: int = 0) -> np.ndarray:
    """Frames of a texture that moves by two pixels each."""
    width, height = size
    wide = np.random.default_rng(seed).integers(0, 256, (height, width + 2 * frames, 3), np.uint8)
    return np.stack([wide[:, 2 * i : 2 * i + width] for i in range(frames)])


def psnr_of_levels(difference: int) -> float:
    """PSNR in dB of two clips whose every sample differs by this many of 255 levels."""
    return 20 * math.log10(255 / difference)


class Folders(NamedTuple):
    """Predictions, ground truth and outputs of one evaluation."""

    predictions: Path
    ground_truth: Path
    out: Path


def two_groups(root: Path) -> Folders:
    """Two groups of flat clips: robots/lift is off by 10 and by 20 levels in its two outputs,
    robots/push by 20, and drop, of no group, by 0."""
    made = Folders(root / "p", root / "g", root / "out")
    for key in ("lift", "push", "drop"):
        flat(made.ground_truth / f"{key}.mp4", 100)
    flat(made.predictions / "robots" / "lift" / "0" / "vision.mp4", 110)
    flat(made.predictions / "robots" / "lift" / "1" / "vision.mp4", 120)
    flat(made.predictions / "robots" / "push" / "0" / "vision.mp4", 120)
    flat(made.predictions / "drop" / "0" / "vision.mp4", 100)
    return made

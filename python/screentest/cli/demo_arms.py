"""Arms for ``screentest demo --arms``: eight prompts rendered three times, for ``screentest gate``.

``retake`` is what a change of the sampler gives that does no harm: the same scenes in another take.
``blurred`` is a retake that has lost a quarter of its fine detail.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from screentest.cli.demo_clips import Picture, encode, texture

__all__ = ["ARMS", "make_arms"]

ARMS = ("reference", "retake", "blurred")

WIDTH, HEIGHT, FRAMES = 480, 272, 48
MARGIN = 160

PROMPTS = ("bark", "clouds", "coral", "dunes", "gravel", "moss", "rust", "surf")

BLUR_SHARE = 0.25


def make_arms(folder: Path) -> Path:
    """Write the clips of every arm, by prompt."""
    for arm in ARMS:
        (folder / arm).mkdir(parents=True, exist_ok=True)
        for at, prompt in enumerate(PROMPTS):
            frames = _scene(at, take=0 if arm == "reference" else 1)
            if arm == "blurred":
                frames = map(_blurred, frames)
            encode(folder / arm / f"{prompt}.mp4", frames)
    return folder


def _scene(prompt: int, take: int) -> Iterator[Picture]:
    """A window that moves over the prompt's own material; another take begins elsewhere on it and
    moves a little differently."""
    rng = np.random.default_rng(100 + prompt)
    material = texture(int(rng.integers(1 << 30)), HEIGHT + MARGIN, WIDTH + MARGIN)
    tint, depth = rng.uniform(0.4, 1.0, 3), rng.uniform(0.3, 1.0)
    picture = (255 * np.clip((0.5 + depth * (material - 0.5)) * tint, 0, 1)).astype(np.uint8)
    speed = rng.uniform(0.6, 1.6, 2)
    start = rng.uniform(0, MARGIN - 2 * FRAMES, 2)
    if take:
        of_take = np.random.default_rng(1000 * take + prompt)
        speed = speed * of_take.uniform(0.97, 1.03, 2)
        start = of_take.uniform(0, MARGIN - 2 * FRAMES, 2)
    for t in range(FRAMES):
        y, x = (start + t * speed).astype(int)
        yield np.ascontiguousarray(picture[y : y + HEIGHT, x : x + WIDTH])


def _blurred(picture: Picture) -> Picture:
    """A blend with the picture's own 3x3 mean."""
    soft = picture.astype(np.float32)
    mean: npt.NDArray[np.float32] = soft
    for axis in (0, 1):
        mean = (np.roll(mean, 1, axis) + mean + np.roll(mean, -1, axis)) / np.float32(3)
    blend: Picture = (soft + 2 * BLUR_SHARE * (mean - soft) + 0.5).astype(np.uint8)
    return blend

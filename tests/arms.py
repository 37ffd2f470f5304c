"""Two arms of small clips for gates: eight textures that a window moves over, and what a change may
do to them."""

from pathlib import Path

import numpy as np

from screentest.cli.demo_clips import encode
from tests.oracles import clips

FRAMES, HEIGHT, WIDTH = 26, 96, 144


def pan(prompt, frames=FRAMES, take=0):
    """One clip, uint8: a texture of its own under a window that moves by the same step each frame.
    Each prompt has its own contrast and colour, as scenes have; another take begins elsewhere."""
    picture = clips.texture(HEIGHT + 40, WIDTH + 80, 100 + prompt).astype(np.float64) / 256
    grey = picture.mean(axis=2, keepdims=True)
    picture = grey + (picture - grey) * (0.4 + 0.15 * prompt)
    picture = 128 + (picture - 128) * (0.5 + 0.06 * ((3 * prompt) % 8))
    picture = np.clip(picture, 0, 255).round().astype(np.uint8)
    steps = [(3 * take + at, 4 * take + 2 * at) for at in range(frames)]
    return np.stack([picture[y : y + HEIGHT, x : x + WIDTH] for y, x in steps])


def blurred(clip):
    """Every pixel is the mean of the 3 by 3 about it."""
    padded = np.pad(clip.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    _, height, width, _ = clip.shape
    moved = (padded[:, y : y + height, x : x + width] for y in range(3) for x in range(3))
    return (sum(moved) / 9).round().astype(np.uint8)


def black(clip):
    """Nothing was rendered."""
    return np.zeros_like(clip)


def write_arm(folder: Path, change=None, *, prompts=8, frames=FRAMES, take=0) -> Path:
    """A folder of ``scene_0.mp4`` and on; ``change`` is what is done to each clip."""
    folder.mkdir()
    for prompt in range(prompts):
        clip = pan(prompt, frames, take)
        encode(folder / f"scene_{prompt}.mp4", iter(clip if change is None else change(clip)))
    return folder


def write_arms(root: Path) -> dict[str, Path]:
    """Folders: a reference arm, two other takes, one of them blurred, and a black arm."""
    return {
        "reference": write_arm(root / "reference"),
        "retake": write_arm(root / "retake", take=1),
        "other_seed": write_arm(root / "other_seed", take=2),
        "blurred": write_arm(root / "blurred", blurred, take=1),
        "black": write_arm(root / "black", black),
    }


def files(folder: Path, count: int = 8) -> list[Path]:
    """The first clips of an arm."""
    return sorted(folder.iterdir())[:count]

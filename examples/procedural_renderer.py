"""A renderer for ``screentest eval``, small enough to read: it stands where a model would.

Make a few samples of ground truth, then let screentest render and score them:

    python examples/procedural_renderer.py DATA
    cd examples
    screentest eval videos -o OUT --gt-dir DATA --renderer procedural_renderer:render --mode joint

The "model" is a square that moves where the actions say. It paints a little too dark, and reads
actions from a video a little too small.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from screentest.evaluations import Rendered, Sample
from screentest.media import open_clip

WIDTH, HEIGHT, SQUARE, FRAMES = 96, 64, 16, 13
BACKGROUND, FOREGROUND = 64, 192

# What the stand-in does wrong: levels of 255, and a share of every action.
TOO_DARK, TOO_SMALL = 4, 0.05


def render(sample: Sample) -> Rendered:
    """What screentest calls, once for each sample."""
    video = action = None
    if sample.mode in ("vision", "forward_dynamics", "wam"):
        assert sample.ground_truth_action is not None
        video = paint(np.load(sample.ground_truth_action)) - np.uint8(TOO_DARK)
    if sample.mode in ("inverse_dynamics", "wam"):
        assert sample.ground_truth is not None
        action = seen_actions(sample.ground_truth) * (1 - TOO_SMALL)
    return Rendered(video=video, action=action)


# A renderer with weights would name them here, so that new ones are scored anew.
render.version = "1"  # type: ignore[attr-defined]


def paint(actions: np.ndarray) -> np.ndarray:
    """Frames ``(T, H, W, 3)`` of a square that starts at the left and moves by each action."""
    frames = np.full((len(actions) + 1, HEIGHT, WIDTH, 3), BACKGROUND, np.uint8)
    places = np.cumsum([[4, 24], *actions.tolist()], axis=0).round().astype(int)
    for frame, (x, y) in zip(frames, places, strict=True):
        frame[y : y + SQUARE, x : x + SQUARE] = FOREGROUND
    return frames


def seen_actions(video: Path) -> np.ndarray:
    """How far the square moves from frame to frame, in pixels: ``(T - 1, 2)``."""
    middle = (BACKGROUND + FOREGROUND) / 2
    with open_clip(video) as clip:
        corners = [
            np.argwhere(np.asarray(frame.planes[0]).reshape(HEIGHT, WIDTH, -1)[..., 0] > middle)
            .min(axis=0)[::-1]
            for frame in clip.frames()
        ]  # fmt: skip
    return np.diff(np.array(corners, np.float64), axis=0)


def make_ground_truth(folder: Path, samples: int = 4) -> None:
    """``<key>.mp4`` and ``<key>.npy`` for each sample."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(0)
    for index in range(samples):
        actions = np.stack(
            [draw.integers(0, 6, FRAMES - 1), draw.integers(-1, 2, FRAMES - 1)], axis=1
        ).astype(np.float32)
        np.save(folder / f"square_{index}.npy", actions)
        write_video(folder / f"square_{index}.mp4", paint(actions))


def write_video(path: Path, frames: np.ndarray) -> None:
    """Keeps every bit, so that what is scored is the renderer and not the codec."""
    with av.open(str(path), "w", format="matroska") as container:
        stream = container.add_stream("ffv1", rate=24)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "bgr0"
        stream.time_base = Fraction(1, 24)
        for index, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = index
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/procedural_renderer.py DATA")
    make_ground_truth(Path(sys.argv[1]))
    print(f"ground truth in {sys.argv[1]}")

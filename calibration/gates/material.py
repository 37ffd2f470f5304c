"""Made renders: scenes, a prompt each, in several takes.

A prompt fixes what is shown: how fast the camera goes and along which path, how many things move,
how fine and how colourful the picture is, how the light swings, how much grain lies over it. A take
is what a perturbed sampler makes of the same prompt: the composition stays, the fine texture is
drawn anew, and path, light, detail and colour are a little off. How much off is set by what is
published of real renders (see README.md).
"""

from typing import NamedTuple

import numpy as np

from calibration.integrity.material import enlarge, to_u8
from tests.oracles import clips

__all__ = ["FRAMES", "PROMPTS", "SIZE", "TAKES", "Scene", "scene", "take"]

SIZE = (288, 512)
"""Height and width: the shortest at which a lattice is looked for."""

FRAMES = 32
PROMPTS = 64
TAKES = 3

CELLS = (96, 48, 24, 12, 6, 3)
"""Octaves of the texture. The first two are the composition, which a take shares."""

# What one take is off another by, as standard deviations of logarithms unless said otherwise.
SHARED = 0.93
"""Correlation of the composition."""
SPEED = 0.06
LIGHT = 0.12
DETAIL = 0.02
COLOUR = 0.015
JITTER = 0.0005
"""Of the gain from frame to frame, next to the prompt's own."""


class Scene(NamedTuple):
    """What a prompt shows."""

    seed: int
    speed: float
    heading: float
    bend: float
    things: int
    shapes: int
    slope: float
    contrast: float
    saturation: float
    grain: float
    swing: float
    swings: float
    shake: float
    soft: int


def scene(prompt: int) -> Scene:
    g = clips.rng(7000 + prompt)
    still = g.random() < 0.2
    return Scene(
        seed=100_000 + 1000 * prompt,
        speed=0.0 if still else float(np.exp(g.uniform(np.log(0.4), np.log(3)))),
        heading=float(g.uniform(0, 2 * np.pi)),
        bend=float(g.uniform(-1, 1)),
        things=int(g.integers(2, 7)),
        shapes=int(np.exp(g.uniform(np.log(40), np.log(240)))),
        slope=float(g.uniform(0.3, 1.2)),
        contrast=float(np.exp(g.uniform(np.log(12), np.log(40)))),
        saturation=float(np.exp(g.uniform(np.log(0.4), np.log(3)))),
        grain=float(g.choice([0.0, 0.0, 0.4, 0.8])),
        swing=float(np.exp(g.uniform(np.log(0.01), np.log(0.05)))),
        swings=float(g.uniform(0.4, 1.5)),
        shake=float(g.choice([0.0, 0.0, 0.0, 0.2])),
        soft=int(g.choice([0, 0, 0, 0, 1, 2])),
    )


def canvas(s: Scene, h: int, w: int, number: int, detail: float, colour: float):
    """The picture that the camera goes over: float32 about 0."""
    fresh, same = clips.rng(s.seed + 1 + number), clips.rng(s.seed)
    light, hue = np.zeros((h, w, 1), np.float32), np.zeros((h, w, 3), np.float32)
    for at, cell in enumerate(CELLS):
        shape = (-(-h // cell) + 2, -(-w // cell) + 2, 4)
        own = fresh.standard_normal(shape, dtype=np.float32)
        if at < 2:
            shared = same.standard_normal(shape, dtype=np.float32)
            own = np.float32(SHARED) * shared + np.float32(np.sqrt(1 - SHARED**2)) * own
        strength = np.float32((cell / CELLS[0]) ** s.slope * (1.0 if at < 2 else detail))
        light += enlarge(own[..., :1], h, w, cell) * strength
        # Colour changes more slowly over a picture than light does.
        if at < 4:
            hue += enlarge(own[..., 1:], h, w, cell) * strength
    light *= np.float32(s.contrast)
    hue *= np.float32(0.5 * s.contrast)
    for _ in range(s.shapes):
        y, x = same.integers(0, h), same.integers(0, w)
        y, x = y + int(fresh.integers(-2, 3)), x + int(fresh.integers(-2, 3))
        tall, wide = same.integers(8, 60, 2)
        part = np.s_[max(0, y) : max(0, y + tall), max(0, x) : max(0, x + wide)]
        # A thing keeps a little of the texture beneath it.
        light[part] = 0.3 * light[part] + np.float32(detail * s.contrast * same.uniform(-4, 4))
        hue[part] = 0.3 * hue[part] + (s.contrast * same.uniform(-1.5, 1.5, 3)).astype(np.float32)
    hue -= hue.mean(axis=2, keepdims=True)
    picture = light + hue * np.float32(s.saturation * colour)
    for _ in range(s.soft):
        for axis in (0, 1):
            ahead, behind = np.roll(picture, 1, axis), np.roll(picture, -1, axis)
            picture = (picture + picture + ahead + behind) * np.float32(0.25)
    return picture


def path(s: Scene, count: int, faster: float, number: int, slowed: float):
    """Where the camera stands in each frame, in pixels from the canvas's middle."""
    g = clips.rng(s.seed + 500 + number)
    heading = s.heading + 0.03 * g.standard_normal()
    at = np.arange(count) * slowed - (count - 1) * slowed / 2
    along = s.speed * faster * at
    across = s.bend * s.speed * faster * at * at / count
    # The same hand shakes in every take, each time otherwise.
    shaken = s.shake * g.standard_normal((2, count))
    x = along * np.cos(heading) - across * np.sin(heading) + shaken[0]
    y = along * np.sin(heading) + across * np.cos(heading) + shaken[1]
    return x, y


def window(picture, x, y, h, w):
    """An h x w crop at a sub-pixel offset, bilinear, float32."""
    (x, fx), (y, fy) = divmod(x, 1), divmod(y, 1)
    part = picture[int(y) : int(y) + h + 1, int(x) : int(x) + w + 1]
    rows = part[:-1] + (part[1:] - part[:-1]) * np.float32(fy)
    return rows[:, :-1] + (rows[:, 1:] - rows[:, :-1]) * np.float32(fx)


def take(prompt: int, number: int, *, slowed: float = 1.0):
    """One render as (T, H, W, 3) uint8; everything has the share ``slowed`` of its speed."""
    s, (h, w) = scene(prompt), SIZE
    g = clips.rng(s.seed + 900 + number)
    faster, light, detail, colour = np.exp(g.standard_normal(4) * (SPEED, LIGHT, DETAIL, COLOUR))
    reach = int(6 * FRAMES + 24)
    picture = canvas(s, h + reach, w + reach, number, detail, colour)
    x, y = path(s, FRAMES, faster, number, slowed)
    things = list(_things(s, picture, faster, slowed, number))
    phase = clips.rng(s.seed + 1).uniform(0, 2 * np.pi) + 0.1 * g.standard_normal()
    swing = s.swing * light
    out = np.empty((FRAMES, h, w, 3), np.uint8)
    for i in range(FRAMES):
        frame = window(picture, reach / 2 + x[i], reach / 2 + y[i], h, w)
        for patch, left, top in things:
            _lay(frame, patch, left[i], top[i])
        gain = 1 + swing * np.sin(phase + 2 * np.pi * s.swings * i * slowed / FRAMES)
        gain += JITTER * g.standard_normal()
        frame = (118 + frame) * np.float32(gain)
        if s.grain:
            frame += np.float32(s.grain) * g.standard_normal((h, w, 1), dtype=np.float32)
        out[i] = to_u8(frame)
    return out


def _things(s, picture, faster, slowed, number):
    """Opaque patches that cross the picture along straight lines."""
    same, g = clips.rng(s.seed + 2), clips.rng(s.seed + 700 + number)
    h, w = SIZE
    at = np.arange(FRAMES) - (FRAMES - 1) / 2
    for _ in range(s.things):
        size = int(same.integers(36, 80))
        x, y = same.uniform(0, w - size), same.uniform(0, h - size)
        vx, vy = same.uniform(-2, 2, 2) * faster * slowed
        top, left = (int(v) for v in same.integers(0, 60, 2))
        patch = picture[top : top + size, left : left + size] * np.float32(1.1)
        lift = np.float32(2 * s.contrast * same.uniform(-1, 1))
        x, y = x + 2 * g.standard_normal(), y + 2 * g.standard_normal()
        yield patch + lift, x + vx * at, y + vy * at


def _lay(frame, patch, left, top):
    """A patch over a frame at a sub-pixel place; what lies outside is cut off."""
    size = len(patch) - 1
    (x, fx), (y, fy) = divmod(left, 1), divmod(top, 1)
    moved = window(patch, 1 - fx if fx else 0.0, 1 - fy if fy else 0.0, size - 1, size - 1)
    x, y = int(x), int(y)
    h, w = frame.shape[:2]
    rows, columns = slice(max(0, y), min(h, y + size - 1)), slice(max(0, x), min(w, x + size - 1))
    if rows.start < rows.stop and columns.start < columns.stop:
        frame[rows, columns] = moved[
            rows.start - y : rows.stop - y, columns.start - x : columns.stop - x
        ]

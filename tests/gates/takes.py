"""Arms of small clips whose faults are known: eight unlike scenes, another take of each, and what a
change does to them.

A scene is a texture of its own that a window moves over at a speed of its own, in steps of parts of
a pixel. Another take begins a few pixels elsewhere on it and moves a little differently. Wide
enough for a lattice, tall enough for corners to follow.
"""

import functools

import numpy as np

from screentest.gates.scoring import score_arm
from screentest.protocol import Protocol
from tests.oracles import clips

FRAMES, HEIGHT, WIDTH, PROMPTS = 8, 80, 512, 8
MARGIN = 64


@functools.cache
def _texture(seed, prompt):
    return clips.texture(HEIGHT + MARGIN, WIDTH + 2 * MARGIN, 1000 * seed + prompt)


def scene(prompt, *, seed=1, take=0, frames=FRAMES):
    """One clip, uint8 ``(frames, HEIGHT, WIDTH, 3)``."""
    drawn = np.random.default_rng((seed, prompt, take))
    vx, vy = (280 + 24 * prompt, 20 * (prompt - 4)) + drawn.integers(-6, 7, 2) * bool(take)
    x, y = np.array((4096, 8192)) + drawn.integers(-512, 513, 2) * bool(take)
    picture = np.stack(
        [
            clips.crop_q(_texture(seed, prompt), x + vx * t, y + vy * t, HEIGHT, WIDTH)
            for t in range(frames)
        ]
    ).astype(np.float64)
    grey = picture.mean(axis=-1, keepdims=True)
    picture = grey + (picture - grey) * (0.3 + 0.2 * prompt)
    picture = 128 + (picture - 128) * (0.6 + 0.1 * ((3 * prompt) % 8))
    sharp = clips.u8(np.rint(picture))
    return clips.blur(sharp, 11 * ((5 * prompt) % 8)) if prompt else sharp


@functools.cache
def references(seed=1):
    """The clips of the arm that is compared with, by prompt; do not write to them."""
    return tuple(scene(at, seed=seed) for at in range(PROMPTS))


@functools.cache
def reference_scores(seed=1):
    """The same, measured: detail, tone, change, tracks and lattice."""
    return score_arm(references(seed))


@functools.cache
def alike():
    """Eight takes of one scene."""
    return tuple(scene(3, take=at) for at in range(1, PROMPTS + 1))


def changed(change, *, seed=1, only=None):
    """Pairs of scores of the references and what ``change(clip, prompt)`` makes of each, or of one
    prompt alone."""
    theirs = references(seed)
    scored = list(reference_scores(seed))
    touched = range(PROMPTS) if only is None else (only,)
    for at, clip in zip(
        touched, score_arm([change(theirs[at], at) for at in touched]), strict=True
    ):
        scored[at] = clip
    return list(zip(reference_scores(seed), scored, strict=True))


def protocol(n=PROMPTS, **fields):
    """The stamp of the scenes; ``fields`` take the place of its own."""
    given = {
        "family": "made", "reference_arm": "bf16", "candidate_arm": "w8a8",
        "changes": ("weight-quantization",), "width": WIDTH, "height": HEIGHT, "frames": FRAMES,
        "steps": 8, "seeds": (0,), "prompts": tuple(f"scene {at}" for at in range(n)),
        "execution_lane": "compiled", "hardware": "H100",
    }  # fmt: skip
    return Protocol(**{**given, **fields})


def another_take(clip, prompt, *, seed=1, take=1):
    """The same scene again."""
    return scene(prompt, seed=seed, take=take, frames=len(clip))


def blurred(percent):
    """A blend with a blur of sigma 1.4."""
    return lambda clip, _: clips.blur(clip, percent)


def desaturated(percent):
    """Less colour."""
    return lambda clip, _: clips.desat(clip, percent)


def jittered(permille, seed=0):
    """The brightness of each frame is off by as much."""
    return lambda clip, prompt: clips.gain_jitter(clip, 10 * seed + prompt, permille)


def noised(permille, seed=0):
    """New noise in each frame, of so many thousandths of full scale."""
    return lambda clip, prompt: clips.add_noise(clip, 10 * seed + prompt, permille)


def frozen(clip, _):
    """The first frame throughout."""
    return np.repeat(clip[:1], len(clip), axis=0)


def slowed(clip, _):
    """Half the speed, every second frame the mean of two."""
    between = ((clip[:-1].astype(int) + clip[1:] + 1) // 2).astype(np.uint8)
    made = np.empty((2 * len(clip) - 1, *clip.shape[1:]), np.uint8)
    made[::2], made[1::2] = clip, between
    return made[: len(clip)]


def doubled(clip, _):
    """Half the speed, every frame shown twice."""
    return np.repeat(clip, 2, axis=0)[: len(clip)]


def latticed(levels):
    """Lines of so many levels every 16 px."""
    return lambda clip, _: clips.lattice(clip, amount=levels)


def warbled(amplitude, seed=0):
    """Every place is elsewhere in each frame, by up to so many 256ths of a pixel."""

    def change(clip, prompt):
        drawn = np.random.default_rng((seed, prompt))
        height, width = clip.shape[1:3]
        rows, columns = np.mgrid[0:height, 0:width] * 256
        cell = 24
        (iy, fy), (ix, fx) = (np.divmod(np.arange(n), cell) for n in (height, width))
        fy, fx = fy[:, None, None], fx[None, :, None]
        made = []
        for frame in clip:
            drift = drawn.integers(
                -amplitude, amplitude + 1, (height // cell + 2, width // cell + 2, 2)
            )
            top = drift[iy][:, ix] * (cell - fx) + drift[iy][:, ix + 1] * fx
            below = drift[iy + 1][:, ix] * (cell - fx) + drift[iy + 1][:, ix + 1] * fx
            moved = (top * (cell - fy) + below * fy) // cell**2
            at = columns + moved[..., 0], rows + moved[..., 1]
            made.append(clips.sample_q(frame.astype(np.int64) * 256, *at))
        return np.stack(made)

    return change


def grey(clip, _=0):
    """No colour at all."""
    luma = (77 * clip[..., 0].astype(int) + 150 * clip[..., 1] + 29 * clip[..., 2] + 128) >> 8
    return np.repeat(luma.astype(np.uint8)[..., None], 3, axis=-1)

"""Flashes and claps whose times are known."""

import numpy as np

RATES = {"24": 24.0, "25": 25.0, "29.97": 30000 / 1001, "60": 60.0}


def flashes(frame_rate, seconds, frames, *, size=(48, 64), side=20, held=2, base=40):
    """A grey picture on which a square lights up at each of ``frames``, for ``held`` frames."""
    clip = np.full((round(seconds * frame_rate), *size, 3), base, np.uint8)
    for k, at in enumerate(frames):
        y, x = (7 * k) % (size[0] - side), (11 * k) % (size[1] - side)
        clip[at : at + held, y : y + side, x : x + side] = 200
    return clip


def claps(sample_rate, seconds, times, *, kind="click", seed=0, level=0.5):
    """Silence with a clap at each time. A click is one sample; a ``"clap"`` noise that dies away
    within 15 ms, a ``"burst"`` a tenth of a second of noise that stops."""
    sound = np.zeros(round(seconds * sample_rate))
    random = np.random.default_rng(seed)
    length = {"click": 1, "clap": sample_rate // 10, "burst": sample_rate // 10}[kind]
    for time in times:
        at = round(time * sample_rate)
        part = sound[at : at + length]
        if kind == "click":
            part += level
        else:
            noise = level * random.uniform(-1, 1, length)
            if kind == "clap":
                noise *= np.exp(-np.arange(length) / (0.015 * sample_rate))
            part += noise[: len(part)]
    return sound.astype(np.float32)


def irregular(seed, count, seconds, *, apart=0.3):
    """``count`` times at least ``apart`` from each other, and 0.6 s from either end."""
    random = np.random.default_rng(seed)
    room = seconds - 1.2 - apart * (count - 1)
    return 0.6 + np.sort(random.uniform(0, room, count)) + apart * np.arange(count)

"""Clips with a known behaviour in time: planted flicker, flashes and cadences, and clean motion."""

import functools

import av
import numpy as np

from calibration.integrity import material as m
from tests.oracles import clips

SEEDS = (3, 17, 29)


# ------------------------------------------------------------------------------------- sources


@functools.cache
def half(name, first, count):
    """Frames of a real clip, large ones halved by the mean of 2x2."""
    frames = m.decoded(name)[first : first + count]
    if frames.shape[1] < 500:
        return frames
    h, w = frames.shape[1] // 2 * 2, frames.shape[2] // 2 * 2
    return np.stack(
        [
            m.to_u8(f[:h, :w].reshape(h // 2, 2, w // 2, 2, 3).mean(axis=(1, 3), dtype=np.float32))
            for f in frames
        ]
    )


@functools.cache
def sources():
    """Short clips that move in different ways: none flickers, flashes or judders."""
    return {
        "pan": clips.pan(48, 144, 256, 3),
        "zoom": clips.zoom(48, 144, 256, 12),
        "parallax": clips.with_squares(clips.checker(48, 144, 256, 13), 4, 6, 30),
        "bigbuckbunny": half("bigbuckbunny", 30, 48),
        "bikes": half("bikes", 139, 46),
        "carphone": half("carphone_pristine", 0, 48),
    }


def file_frames(path):
    """A coded file as RGB frames."""
    with av.open(str(path)) as container:
        return np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])


def coded(frames, *encoder):
    return file_frames(m.ffmpeg("temporal", *encoder, frames=frames))


# ------------------------------------------------------------------------------------- brightness


def lit(frames, levels):
    """Every frame brighter by so many levels."""
    return clips.u8(frames.astype(int) + np.rint(levels).astype(int)[:, None, None, None])


def alternating(frames, amplitude):
    return lit(frames, amplitude * (-1.0) ** np.arange(len(frames)))


def one_in(frames, period, height):
    return lit(frames, height * (np.arange(len(frames)) % period == 1))


def square(frames, half_period, amplitude):
    return lit(frames, amplitude * (1 - 2.0 * (np.arange(len(frames)) // half_period % 2)))


def pulsing(frames, hz, rate=24.0, percent=15):
    """A light whose gain swings like a sine."""
    swing = np.sin(2 * np.pi * hz * np.arange(len(frames)) / rate)
    return clips.gain(frames, np.rint(1000 + 10 * percent * swing).astype(int))


def flashed(frames, at, lasts, height):
    levels = np.zeros(len(frames))
    levels[at : at + lasts] = height
    return lit(frames, levels)


def lamp(frames, period, height, part=(0, 3)):
    """One sixteenth of the picture brighter in every ``period``-th frame."""
    h, w = frames.shape[1] // 4, frames.shape[2] // 4
    out = frames.copy()
    at = np.s_[:, part[0] * h : (part[0] + 1) * h, part[1] * w : (part[1] + 1) * w]
    out[at] = one_in(frames[at], period, height)
    return out


# ------------------------------------------------------------------------------------- cadence

CADENCES = {
    "on twos": lambda n: np.arange(n) // 2,
    "on threes": lambda n: np.arange(n) // 3,
    "3:2": lambda n: np.repeat(np.arange(n), np.resize([3, 2], n))[:n],
    "24 in 30": lambda n: np.arange(n) * 4 // 5,
    "every sixth held": lambda n: np.arange(n) * 5 // 6,
}


def held(frames, cadence):
    return frames[CADENCES[cadence](len(frames))]


# ------------------------------------------------------------------------------------- motion


def shaken(count, seed, reach):
    """A camera in a shaking hand: a new offset of up to ``reach`` px in every frame."""
    picture, g = clips.texture(150 + 2 * reach, 262 + 2 * reach, seed), clips.rng(seed + 1)
    offsets = g.integers(256, 256 * (2 * reach + 1) + 1, (count, 2))
    return np.stack([clips.crop_q(picture, x, y, 144, 256) for x, y in offsets])


def crossing(count, seed, speed, width=60):
    """A bright block that crosses a still picture again and again, ``speed`` px a frame."""
    still = clips.pan(1, 144, 256, seed)[0]
    out = np.repeat(still[None], count, axis=0)
    for i in range(count):
        x = speed * i % (256 + width) - width
        out[i, 20:124, max(0, x) : max(0, x + width)] = 240
    return out


def fence(count, speed, period=32, columns=256):
    """Bright bars that pass before a dark ground, ``speed`` px a frame."""
    x = np.arange(columns)
    frames = [((x + speed * i) % period < period // 2) * 160 + 40 for i in range(count)]
    picture = np.repeat(np.array(frames, np.uint8)[:, None, :, None], 144, axis=1)
    return np.repeat(picture, 3, axis=3)


def slides(count, each, seed):
    """Unlike stills, ``each`` frames long."""
    stills = [clips.pan(1, 144, 256, seed + k)[0] for k in range(count // each + 1)]
    return np.repeat(np.stack(stills), each, axis=0)[:count]


def dissolve(count, seed):
    one, two = clips.pan(count, 144, 256, seed), clips.pan(count, 144, 256, seed + 1, vx=-200)
    share = np.linspace(0, 1, count)[:, None, None, None]
    return m.to_u8(one * (1 - share) + two * share)

"""Clips by a formula, whose numbers another program has published."""

import functools

import numpy as np

T, H, W = 6, 48, 64


@functools.cache
def clip(k):
    """Float32 frames in [0, 1], ``(6, 48, 64, 3)``; do not write to it."""
    t, y, x, c = np.meshgrid(*map(np.arange, (T, H, W, 3)), indexing="ij")
    v = (
        0.5
        + 0.20 * np.sin(2 * np.pi * (x + 2 * t) * (1 + k / 8) / 16 + c)
        + 0.15 * np.cos(2 * np.pi * (y - t) * (1 + k / 5) / 12 + k)
        + 0.08 * np.sin((x * y + 7 * k) / 37 + 0.1 * t)
    )
    return np.clip(v, 0, 1).astype(np.float32)


def same(frames):
    return frames


def less_colour(frames):
    """Nine tenths of the colour."""
    luma = (frames * np.array([0.299, 0.587, 0.114], np.float32)).sum(-1, keepdims=True)
    return np.clip(luma + np.float32(0.9) * (frames - luma), 0, 1).astype(np.float32)


def jittered(frames):
    """A gain of 1.02 and 0.98, frame by frame."""
    gain = 1 + 0.02 * (-1.0) ** np.arange(T)
    return np.clip(frames * gain[:, None, None, None], 0, 1).astype(np.float32)


def softened(frames):
    """Half of it is the mean of 3 by 3."""
    padded = np.pad(frames, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    mean = sum(padded[:, i : i + H, j : j + W] for i in range(3) for j in range(3)) / 9
    return (0.5 * frames + 0.5 * mean).astype(np.float32)

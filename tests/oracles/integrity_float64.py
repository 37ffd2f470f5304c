"""The integrity screen's formulas in float64 numpy, written to be read beside their definition.

Nothing here is fast and nothing comes from the package: it is the second opinion of its tests.
"""

import numpy as np


def pair_starts(frames, pairs=5):
    """Up to `pairs` frames k, evenly spread, so that k and k + 1 both exist."""
    last = frames - 2
    if pairs >= last + 1:
        return list(range(last + 1))
    step = last / (pairs - 1)
    return sorted({round(i * step) for i in range(pairs)})


def luma(frame):
    """Y of a uint8 (H, W, 3) or of an already grey float (H, W) frame, in [0, 1]."""
    if frame.ndim == 2:
        return frame.astype(np.float64)
    return frame.astype(np.float64) @ [0.299, 0.587, 0.114] / 255


def decimated(frame):
    stride = max(1, frame.shape[0] // 96)
    return luma(frame[::stride, ::stride])


def correlation(a, b):
    if a.std() < 1e-6 or b.std() < 1e-6:
        return 0.0
    return float(((a - a.mean()) * (b - b.mean())).mean() / (a.std() * b.std()))


def correlations(clip):
    return [correlation(decimated(clip[k]), decimated(clip[k + 1])) for k in pair_starts(len(clip))]


def frame_std_min(clip):
    needed = sorted({i for k in pair_starts(len(clip)) for i in (k, k + 1)})
    return min(float(decimated(clip[i]).std()) for i in needed)


def grid(clip):
    """(ratio, period_px, axis) over the start frames, or None where no side reaches 512 px."""
    best = None
    for axis, dimension in (("x", 1), ("y", 0)):
        if clip.shape[1 + dimension] < 512:
            continue
        spectrum = 0
        for k in pair_starts(len(clip)):
            step = np.abs(np.diff(luma(clip[k]), axis=dimension))
            profile = step.mean(axis=1 - dimension)
            n = profile.size
            window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / (n - 1))
            spectrum = spectrum + np.abs(np.fft.rfft((profile - profile.mean()) * window))
        found = peak(spectrum / len(pair_starts(len(clip))), n)
        if best is None or found[0] > best[0]:
            best = (*found, axis)
    return best


def peak(magnitude, n):
    best = (0.0, 0.0)
    for k in range(max(2, -(-n // 128)), n // 8 + 1):
        around = [*range(k - 24, k - 2), *range(k + 3, k + 25)]
        around = [j for j in around if 1 <= j <= n // 2]
        if len(around) < 8:
            continue
        ratio = magnitude[k] / max(float(np.median(magnitude[around])), 1e-9)
        if ratio > best[0]:
            best = (float(ratio), n / k)
    return best

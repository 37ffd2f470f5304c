"""The clips whose reference values stand in ``integrity.json``, made from integers alone.

Every clip is uint8 RGB of shape (T, H, W, 3). All pixel work is done in integers, and every
trigonometric value is rounded onto an integer grid before it is used, so the arrays do not depend
on the CPU, the BLAS or the libm. ``integrity.json`` holds the sha256 of each array (C order):
compare it before comparing any number.
"""

import hashlib
import math

import numpy as np


def rng(seed):
    return np.random.Generator(np.random.PCG64(seed))


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()


def texture(h, w, seed, rects=True):
    """RGB texture, int64, 256 units per grey level. Integer value noise + opaque rectangles."""
    g = rng(seed)
    acc = np.zeros((h, w, 3), np.int64)
    total = 0
    for cell, amp in ((64, 10), (32, 8), (16, 6), (8, 4), (4, 3)):
        lat = g.integers(0, 256, (h // cell + 2, w // cell + 2, 3)).astype(np.int64)
        iy, fy = np.divmod(np.arange(h), cell)
        ix, fx = np.divmod(np.arange(w), cell)
        fy, fx = fy[:, None, None], fx[None, :, None]
        a, b = lat[iy][:, ix], lat[iy][:, ix + 1]
        c, d = lat[iy + 1][:, ix], lat[iy + 1][:, ix + 1]
        v = (a * (cell - fx) + b * fx) * (cell - fy) + (c * (cell - fx) + d * fx) * fy
        acc += amp * (v * 256 // (cell * cell))
        total += amp
    out = acc // total
    if rects:
        for _ in range(h * w // 1800):
            rh, rw = (int(x) for x in g.integers(5, 26, 2))
            y, x = int(g.integers(0, h)), int(g.integers(0, w))
            out[y : y + rh, x : x + rw] = g.integers(24, 232, 3).astype(np.int64) * 256
    for axis in (0, 1):  # 1-2-1 smoothing, edge replicated
        pad = [(0, 0)] * 3
        pad[axis] = (1, 1)
        p = np.pad(out, pad, mode="edge")
        n = out.shape[axis]
        out = (
            np.take(p, range(0, n), axis)
            + 2 * np.take(p, range(1, n + 1), axis)
            + np.take(p, range(2, n + 2), axis)
            + 2
        ) >> 2
    return out


def crop_q(tex, xq, yq, h, w):
    """h x w window of a texture at a constant sub-pixel offset (1/256 px), bilinear."""
    x, fx = divmod(int(xq), 256)
    y, fy = divmod(int(yq), 256)
    a = tex[y : y + h, x : x + w]
    b = tex[y : y + h, x + 1 : x + w + 1]
    c = tex[y + 1 : y + h + 1, x : x + w]
    d = tex[y + 1 : y + h + 1, x + 1 : x + w + 1]
    v = (a * (256 - fx) + b * fx) * (256 - fy) + (c * (256 - fx) + d * fx) * fy
    return to_u8((v + 32768) >> 16)


def sample_q(tex, xq, yq):
    """Texture at per-pixel positions (int arrays, 1/256 px), bilinear, edge clamped."""
    h, w = tex.shape[:2]
    xq = np.clip(xq, 0, (w - 1) * 256 - 1)
    yq = np.clip(yq, 0, (h - 1) * 256 - 1)
    x, fx = np.divmod(xq, 256)
    y, fy = np.divmod(yq, 256)
    fx, fy = fx[..., None], fy[..., None]
    v = (tex[y, x] * (256 - fx) + tex[y, x + 1] * fx) * (256 - fy) + (
        tex[y + 1, x] * (256 - fx) + tex[y + 1, x + 1] * fx
    ) * fy
    return to_u8((v + 32768) >> 16)


def to_u8(v):
    return np.clip((v + 128) >> 8, 0, 255).astype(np.uint8)


def u8(v):
    return np.clip(v, 0, 255).astype(np.uint8)


def cs(angle, unit=65536):
    return round(unit * math.cos(angle)), round(unit * math.sin(angle))


def pan(t, h, w, seed, vx=320, vy=-128, tex=None):
    """Camera pan over a texture; velocity in 1/256 px per frame."""
    mx, my = abs(vx) * t // 256 + 4, abs(vy) * t // 256 + 4
    tex = texture(h + my + 2, w + mx + 2, seed) if tex is None else tex
    x0, y0 = (256 if vx >= 0 else mx * 256), (256 if vy >= 0 else my * 256)
    return np.stack([crop_q(tex, x0 + vx * i, y0 + vy * i, h, w) for i in range(t)])


def zoom(t, h, w, seed, step=9):
    tex = texture(h, w, seed)
    yy, xx = np.mgrid[0:h, 0:w].astype(np.int64)
    cx, cy = (w - 1) * 128, (h - 1) * 128
    out = []
    for i in range(t):
        s = 65536 * (1000 - step * i) // 1000
        out.append(
            sample_q(tex, cx + ((xx * 256 - cx) * s >> 16), cy + ((yy * 256 - cy) * s >> 16))
        )
    return np.stack(out)


def checker(t, h, w, seed, square=28, radius=0.36, dps=1.5, vx=200):
    """Checkered disc turning `dps` degrees a frame and drifting against a slower background."""
    bg = pan(t, h, w, seed, vx=vx // 2, vy=0)
    yy, xx = np.mgrid[0:h, 0:w].astype(np.int64)
    r2 = round(radius * min(h, w) * 256) ** 2
    out = []
    for i in range(t):
        c, s = cs(math.radians(dps * i))
        dx = xx * 256 - ((w * 96) + vx * i)
        dy = yy * 256 - h * 128
        u = (dx * c + dy * s) >> 16
        v = (dy * c - dx * s) >> 16
        q = square * 256
        odd = ((u // q) + (v // q)) & 1
        frame = bg[i].copy()
        inside = dx * dx + dy * dy < r2
        frame[inside & (odd == 1)] = (226, 214, 190)
        frame[inside & (odd == 0)] = (38, 52, 84)
        out.append(frame)
    return np.stack(out)


def noise(t, h, w, seed):
    return rng(seed).integers(0, 256, (t, h, w, 3), dtype=np.uint8)


def flat(t, h, w, rgb):
    return np.broadcast_to(np.array(rgb, np.uint8), (t, h, w, 3)).copy()


def fade(t, h, w, seed):
    c = pan(t, h, w, seed).astype(np.int64)
    k = np.arange(t - 1, -1, -1)[:, None, None, None]
    return u8((c * k * 2 + (t - 1)) // (2 * (t - 1)))


def cut(t, h, w, seed, at):
    return np.concatenate([pan(at, h, w, seed), pan(t - at, h, w, seed + 1, vx=-256, vy=96)])


def with_squares(c, seed, count=6, size=40):
    """Opaque textured squares moving in straight lines over a clip (independent motion)."""
    t, h, w = c.shape[:3]
    g = rng(seed)
    c = c.copy()
    for k in range(count):
        patch = to_u8(texture(size, size, seed * 31 + k))
        x, y = int(g.integers(0, w - size)), int(g.integers(0, h - size))
        vx, vy = (int(v) for v in g.integers(-3, 4, 2))
        for i in range(t):
            a, b = x + vx * i, y + vy * i
            if 0 <= a <= w - size and 0 <= b <= h - size:
                c[i, b : b + size, a : a + size] = patch
    return c


def warble(t, h, w, seed, amp=230, cell=24, vx=320, vy=-128):
    """The pan of the same seed, with a fresh smooth displacement lattice every frame."""
    mx, my = abs(vx) * t // 256 + 4, abs(vy) * t // 256 + 4
    tex = texture(h + my + 2, w + mx + 2, seed)
    x0, y0 = (256 if vx >= 0 else mx * 256), (256 if vy >= 0 else my * 256)
    g = rng(seed + 7919)
    yy, xx = np.mgrid[0:h, 0:w].astype(np.int64)
    iy, fy = np.divmod(np.arange(h), cell)
    ix, fx = np.divmod(np.arange(w), cell)
    fy, fx = fy[:, None, None], fx[None, :, None]
    out = []
    for i in range(t):
        lat = g.integers(-amp, amp + 1, (h // cell + 2, w // cell + 2, 2)).astype(np.int64)
        d = (
            (lat[iy][:, ix] * (cell - fx) + lat[iy][:, ix + 1] * fx) * (cell - fy)
            + (lat[iy + 1][:, ix] * (cell - fx) + lat[iy + 1][:, ix + 1] * fx) * fy
        ) // (cell * cell)
        out.append(
            sample_q(tex, x0 + vx * i + xx * 256 + d[..., 0], y0 + vy * i + yy * 256 + d[..., 1])
        )
    return np.stack(out)


def lattice(c, period=16, amount=10):
    h, w = c.shape[1:3]
    on = (np.arange(h) % period == 0)[:, None] | (np.arange(w) % period == 0)[None, :]
    return u8(c.astype(np.int64) + amount * on[None, :, :, None])


def block(c, size=8, dc=12, ac=40):
    """Per block: mean rounded to `dc` steps, deviation to `ac` steps. Ragged edge untouched."""
    t, h, w = c.shape[:3]
    hh, ww = h // size * size, w // size * size
    out = c.copy()
    b = c[:, :hh, :ww].astype(np.int64).reshape(t, hh // size, size, ww // size, size, 3)
    n = size * size
    m = (b.sum(axis=(2, 4), keepdims=True) * 2 + n) // (2 * n)
    d = b - m
    q = (2 * d + ac) // (2 * ac) * ac
    mq = (2 * m + dc) // (2 * dc) * dc
    out[:, :hh, :ww] = u8(mq + q).reshape(t, hh, ww, 3)
    return out


def gain(c, permille):
    k = np.asarray(permille, np.int64)[:, None, None, None]
    return u8((c.astype(np.int64) * k + 500) // 1000)


def gain_jitter(c, seed, permille=20):
    return gain(c, 1000 + rng(seed).integers(-permille, permille + 1, c.shape[0]))


def gain_one(c, at, permille=20):
    k = np.full(c.shape[0], 1000)
    k[at] += permille
    return gain(c, k)


def blur(c, percent=25):
    """Blend with a separable 9-tap binomial blur (sigma = sqrt 2), edge replicated."""
    k = (1, 8, 28, 56, 70, 56, 28, 8, 1)
    out = np.empty_like(c)
    for i, f in enumerate(c):
        v = f.astype(np.int64)
        for axis in (0, 1):
            p = np.pad(v, [(4, 4) if a == axis else (0, 0) for a in range(3)], mode="edge")
            n = v.shape[axis]
            v = sum(k[j] * np.take(p, range(j, j + n), axis) for j in range(9))
        v = (v + 32768) >> 16
        out[i] = u8((f.astype(np.int64) * (100 - percent) + v * percent + 50) // 100)
    return out


def add_noise(c, seed, sigma_permille=20):
    """Near-Gaussian noise (12-fold Irwin-Hall) of sigma = permille/1000 of full scale."""
    g = rng(seed)
    k = round(sigma_permille * 255 / 1000 / 4096 * (1 << 22))
    out = np.empty_like(c)
    for i, f in enumerate(c):
        s = g.integers(0, 4096, (12, *f.shape), dtype=np.int32).sum(axis=0, dtype=np.int64) - 24570
        out[i] = u8(f.astype(np.int64) + ((s * k + (1 << 21)) >> 22))
    return out


def desat(c, percent=8):
    v = c.astype(np.int64)
    y = (77 * v[..., 0] + 150 * v[..., 1] + 29 * v[..., 2] + 128) >> 8
    return u8((v * (100 - percent) + y[..., None] * percent + 50) // 100)


def _base():
    return pan(32, 288, 512, 11)


CLIPS = {
    "pan": _base,
    "zoom": lambda: zoom(26, 300, 400, 12),
    "checker_parallax": lambda: checker(30, 448, 448, 13),
    "noise": lambda: noise(12, 256, 512, 14),
    "black": lambda: flat(8, 120, 160, (0, 0, 0)),
    "white": lambda: flat(8, 120, 160, (255, 255, 255)),
    "grey": lambda: flat(8, 120, 160, (119, 119, 119)),
    "fade": lambda: fade(30, 240, 320, 15),
    "hard_cut": lambda: cut(40, 240, 320, 16, 17),
    "frozen": lambda: np.repeat(_base()[:1], 32, axis=0),
    "lattice16": lambda: lattice(_base()),
    "block8": lambda: block(_base()),
    "gain_one": lambda: gain_one(_base(), 15),
    "gain_jitter2": lambda: gain_jitter(_base(), 17),
    "blur25": lambda: blur(_base()),
    "noise002": lambda: add_noise(_base(), 18),
    "desat8": lambda: desat(_base()),
    "warble": lambda: warble(32, 288, 512, 11),
    "odd_321x243": lambda: with_squares(pan(26, 243, 321, 19, vx=-300, vy=200), 20, 4, 31),
    "portrait_512x768": lambda: with_squares(pan(24, 768, 512, 21, vx=96, vy=352), 22, 6, 48),
    "wide_1344x768x49": lambda: with_squares(pan(49, 768, 1344, 23, vx=448, vy=64), 24, 10, 64),
    "two_frames": lambda: pan(2, 96, 128, 25),
    "three_frames": lambda: pan(3, 96, 128, 25),
    "tiny_12x10": lambda: pan(5, 10, 12, 26),
}


def clip(name):
    return CLIPS[name]()


def population(arm):
    """Eight (reference, candidate) pairs of short clips: ``same``, ``desat8``, ``blur25``,
    ``noise002`` or ``reroll``, another take of each."""
    pairs = []
    for k in range(8):
        at = {"vx": 128 + 64 * k, "vy": 32 * (k - 4)}
        reference = pan(8, 96, 160, 200 + k, **at)
        changes = {
            "same": lambda clip=reference: clip,
            "desat8": lambda clip=reference: desat(clip),
            "blur25": lambda clip=reference: blur(clip),
            "noise002": lambda clip=reference, seed=300 + k: add_noise(clip, seed),
            "reroll": lambda seed=400 + k, at=at: pan(8, 96, 160, seed, **at),
        }
        pairs.append((reference, changes[arm]()))
    return pairs

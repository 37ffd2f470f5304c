"""Lattices against pictures, how faint a lattice shows, and whether less than 512 px can do."""

from collections.abc import Iterator

import numpy as np

from calibration.integrity import material as m
from calibration.integrity.rows import judged, rounded
from screentest import default_policy
from tests.oracles import clips, integrity_float64

AMPLITUDES = (2, 4, 8, 16)
PERIODS = (8, 16, 32, 64, 128)


def rows() -> Iterator[dict]:
    for group, bad, cases in (
        ("pictures", False, _pictures()),
        ("regular content", False, _regular()),
        ("blocks of a coder", False, _coarse()),
        ("planted lattices", True, _planted()),
    ):
        for clip, source in cases:
            yield judged("grid", group, clip, source, bad=bad, depth="sampled")


def spread(name):
    """Six frames over a real clip: the screen reads the lattice from five of them."""
    frames = {"bigbuckbunny": 26, "bikes": 49}[name]
    return m.decoded(name, frames)[:6]


def _pictures():
    yield "bigbuckbunny", m.real("bigbuckbunny")
    yield "bikes", m.real("bikes")
    for name in ("pan", "portrait_512x768", "warble"):
        yield f"made: {name}", clips.clip(name)
    for left in (0, 320, 640):
        crop = np.ascontiguousarray(spread("bigbuckbunny")[:, :, left : left + 640])
        yield f"bigbuckbunny, columns {left} to {left + 639}", crop
    for seed in (61, 62, 63, 64):
        picture = m.texture(721, 1330, seed)
        yield f"made: texture {seed - 60}, pan, 1280x720", m.pan(picture, 6, 720, 1280, 5)
    for pattern in ("mandelbrot", "life=ratio=0.1:mold=10:seed=70", "smptehdbars"):
        name, _, more = pattern.partition("=")
        given = ("-f", "lavfi", "-i", f"{name}=s=1280x720:r=24{':' + more if more else ''}")
        yield f"ffmpeg's {name}", m.ffmpeg("grid", *given, "-frames:v", 12, *m.x264(18))


def _regular():
    h, w = m.LARGE
    for period in (12, 24, 48, 96):
        row = np.where(np.arange(w + 24) // (period // 2) % 2, 200, 50)
        clip = np.stack([np.broadcast_to(row[2 * i : 2 * i + w], (h, w)) for i in range(6)])
        yield f"stripes of {period} px, moving", np.repeat(clip[..., None], 3, 3).astype(np.uint8)
    yield "bricks of 64x32 px", np.stack([_bricks(h, w, 2 * i) for i in range(6)])
    yield "windows of a facade, 80x60 px", np.stack([_facade(h, w, 2 * i) for i in range(6)])
    yield "a fence in a third of the picture", _fence()
    yield (
        "ffmpeg's testsrc2",
        m.ffmpeg("grid", *m.lavfi("testsrc2", "1280x720", 0.5), *m.x264(18)),
    )
    pixels = m.to_u8(m.texture(90, 160, 65)).repeat(8, axis=0).repeat(8, axis=1)
    yield "pixel art, 8x8 px a dot", np.stack([pixels] * 6)


def _bricks(h, w, shift):
    y, x = np.mgrid[0:h, 0:w]
    x = x + shift + 32 * (y // 32 % 2)
    tone = (x // 64 * 37 + y // 32 * 91) % 40
    mortar = (x % 64 < 4) | (y % 32 < 4)
    return np.repeat(np.where(mortar, 180, 110 + tone)[..., None], 3, 2).astype(np.uint8)


def _facade(h, w, shift):
    y, x = np.mgrid[0:h, 0:w]
    x = x + shift
    pane = (x % 80 > 24) & (y % 60 > 20)
    lit = (x // 80 * 53 + y // 60 * 29) % 90
    return np.repeat(np.where(pane, 40 + lit, 150)[..., None], 3, 2).astype(np.uint8)


def _fence():
    clip = spread("bigbuckbunny").copy()
    pales = np.arange(clip.shape[2]) % 40 < 14
    clip[:, 480:, pales] = (120, 90, 60)
    return clip


def _coarse():
    clip = spread("bigbuckbunny")
    for crf in (23, 35, 45, 51):
        yield f"bigbuckbunny, x264 crf {crf}", m.ffmpeg("grid", *m.x264(crf), frames=clip)
    for quality in (2, 4, 8, 31):
        coded = m.ffmpeg("grid", "-c:v", "mpeg4", "-q:v", quality, frames=clip)
        yield f"bigbuckbunny, MPEG-4 part 2, quantiser {quality}", coded
        coded = m.ffmpeg("grid", "-c:v", "mjpeg", "-q:v", quality, frames=clip)
        yield f"bigbuckbunny, motion JPEG, quantiser {quality}", coded
    yield "made: pan in 8 px blocks of few levels", clips.clip("block8")
    sky = m.gradient(*m.LARGE)[..., :1] * np.float32([0.2, 0.3, 0.4]) + np.float32([60, 90, 130])
    sky = m.to_u8(sky + 20 * m.vignette(*m.LARGE))
    yield "an empty sky, as an array", np.stack([sky] * 6)
    for crf in (18, 23, 28):
        coded = m.ffmpeg("sky", *m.x264(crf), frames=np.stack([sky] * 6))
        yield f"an empty sky, x264 crf {crf}", coded


def _planted():
    for name in ("bigbuckbunny", "bikes"):
        for amount in AMPLITUDES:
            for period in PERIODS:
                clip = clips.lattice(spread(name), period, amount)
                yield f"{name}, ridges of {amount} levels every {period} px", clip


# ------------------------------------------------------------------ what else would tell them apart


def lines() -> Iterator[dict]:
    """Per clip: the ratio, the strength of its line in levels of mean gradient, and both again when
    only periods that fit the extent eight times count."""
    for group, bad, cases in (
        ("pictures", False, _pictures()),
        ("blocks of a coder", False, _coarse()),
        ("planted lattices", True, _planted()),
    ):
        for clip, source in cases:
            luma = _luma(_frames(source))
            ratio, period, levels = _line(luma, least=2)
            fine = _line(luma, least=8)
            yield {
                "group": group,
                "clip": clip,
                "bad": bad,
                "ratio": rounded(ratio),
                "period_px": rounded(period, 1),
                "levels": rounded(levels),
                "ratio_eight_cycles": rounded(fine[0]),
                "levels_eight_cycles": rounded(fine[2]),
            }


def _frames(source):
    if not isinstance(source, np.ndarray):
        with m.av.open(str(source)) as container:
            source = [f.to_ndarray(format="rgb24") for f in container.decode(video=0)]
    return np.stack([source[k] for k in integrity_float64.pair_starts(len(source))])


def _line(luma, least):
    """(ratio, period, amplitude in levels) of the strongest line of either axis."""
    best = (0.0, 0.0, 0.0)
    for axis in (2, 1):
        if luma.shape[axis] < 512:
            continue
        magnitude, n = _magnitude(luma, axis)
        ratio, bin = _peak(magnitude, n, 24, least)
        # A sine of amplitude a under a Hann window reads a n / 4.
        best = max(best, (ratio, n / max(bin, 1), float(magnitude[bin]) * 4 / n * 255))
    return best


def _magnitude(luma, axis, coherent=False):
    profile = np.abs(np.diff(luma, axis=axis)).mean(axis=3 - axis, dtype=np.float64)
    n = profile.shape[1]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / (n - 1))
    spectra = np.fft.rfft((profile - profile.mean(axis=1, keepdims=True)) * window, axis=1)
    return (np.abs(spectra.mean(axis=0)) if coherent else np.abs(spectra).mean(axis=0)), n


# --------------------------------------------------------------------------- less than 512 px

EXTENTS = (640, 512, 448, 384, 320, 256)
LATTICES = ((4, 8), (4, 16), (8, 32), (8, 64))
"""Ridges as faint as the reference system says it still sees: levels, period in pixels."""

RULES = {
    "as defined": "24 neighbours on each side, magnitudes averaged over the frames",
    "scaled": "the neighbourhood shrinks with the extent",
    "coherent": "spectra averaged before their magnitude is taken, so that what moves cancels",
    "eight cycles": "as defined, for periods that fit the extent at least eight times",
}


def small_extents() -> Iterator[dict]:
    """Square crops of the same material at each extent, with and without a faint lattice."""
    limit = default_policy().limits.grid_ratio.value
    crops = list(_crops())
    for rule in RULES:
        for extent in EXTENTS:
            clean = [_score(c[:, y : y + extent, x : x + extent], rule) for c, y, x in crops]
            worst = max(clean)
            for amount, period in LATTICES:
                planted = [
                    _score(_ridged(c[:, y : y + extent, x : x + extent], amount, period), rule)
                    for c, y, x in crops
                ]
                yield {
                    "rule": rule,
                    "extent_px": extent,
                    "levels": amount,
                    "period_px": period,
                    "crops": len(crops),
                    "clean_median": rounded(float(np.median(clean)), 2),
                    "clean_max": rounded(worst, 2),
                    "lattice_min": rounded(min(planted), 2),
                    "lattice_median": rounded(float(np.median(planted)), 2),
                    "gap": rounded(min(planted) / worst, 2),
                    "clean_over_limit": sum(v > limit for v in clean),
                    "lattice_missed": sum(v <= limit for v in planted),
                    # The best that any limit could do.
                    "errors_at_best_limit": _fewest_errors(clean, planted),
                }


def _crops():
    for first in (0, 40, 80):
        clip = _luma(m.decoded("bigbuckbunny", 10, first)[:5])
        for y, x in ((0, 0), (80, 320), (40, 640)):
            yield clip, y, x
    for seed in (66, 67, 68):
        yield _luma(m.pan(m.texture(721, 760, seed), 5, 720, 720, 7)), 40, 40


def _luma(clip):
    return np.stack([integrity_float64.luma(f) for f in clip]).astype(np.float32)


def _ridged(luma, amount, period):
    h, w = luma.shape[1:]
    on = (np.arange(h) % period == 0)[:, None] | (np.arange(w) % period == 0)[None, :]
    return np.minimum(luma + np.float32(amount / 255) * on, 1)


def _score(luma, rule):
    """The larger ratio of the two axes under a rule; "as defined" is the shipped formula."""
    best = 0.0
    for axis in (2, 1):
        magnitude, n = _magnitude(luma, axis, coherent=rule == "coherent")
        outer = round(24 * (n + 1) / 512) if rule == "scaled" else 24
        least = 8 if rule == "eight cycles" else 2
        best = max(best, _peak(magnitude, n, outer, least)[0])
    return best


def _peak(magnitude, n, outer, least):
    """(ratio, bin) of the strongest line."""
    best = (0.0, 0)
    for k in range(max(least, -(-n // 128)), n // 8 + 1):
        around = [*range(max(1, k - outer), k - 2), *range(k + 3, min(n // 2, k + outer) + 1)]
        if len(around) >= 8:
            ratio = float(magnitude[k]) / max(float(np.median(magnitude[around])), 1e-9)
            best = max(best, (ratio, k))
    return best


def _fewest_errors(clean, planted):
    limits = [0.0, *clean, *planted]
    return min(sum(v > at for v in clean) + sum(v <= at for v in planted) for at in limits)

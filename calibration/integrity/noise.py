"""Noise against pictures: what the plain and the shift-tolerant correlation read."""

from collections.abc import Iterator

import numpy as np

from calibration.integrity import material as m
from calibration.integrity.rows import judged
from tests.oracles import clips

REAL = ("bigbuckbunny", "bikes", "carphone_pristine", "carphone_distorted")

# The two cases of a textured pan that plain decimation calls noise, at 360 rows (decimated by 3).
TEXTURED_PANS = {
    "texture of 6 px period, 2 px a frame": (3, 2.0),
    "texture of 6 px period, 5/3 px a frame": (3, 5 / 3),
    "texture of 12 px period, 2 px a frame": (6, 2.0),
    "texture of 6 px period, 13 px a frame": (3, 13.0),
}


def textured_pan(name):
    cell, speed = TEXTURED_PANS[name]
    picture = m.texture(362, 482 + int(8 * speed) + 2, 41, cells=(cell,))
    return m.pan(picture, 8, 360, 480, speed)


def small(seed=7):
    return m.uniform_noise(12, *m.SMALL, seed)


def rows() -> Iterator[dict]:
    for group, bad, cases in (
        ("plain noise", True, _noise()),
        ("noise that correlates in time", True, _correlated()),
        ("noise over a picture that stands", True, _over_pictures()),
        ("noise shown more than once", True, _held_noise()),
        ("coded noise", True, _coded()),
        ("real clips", False, _real()),
        ("pans, zooms, turns", False, _moving()),
        ("grain", False, _grain()),
        ("cuts and slide shows", False, _cuts()),
    ):
        for clip, source, *depth in cases:
            yield judged("noise", group, clip, source, bad=bad, depth=(depth or ["full"])[0])


def _noise():
    yield "uniform, 512x288", small()
    yield "uniform, 512x288, sampled", small(), "sampled"
    yield "uniform, 1280x720", m.uniform_noise(6, *m.LARGE, 8)
    yield "uniform, 160x96", m.uniform_noise(12, 96, 160, 9)
    yield "uniform, 64x64", m.uniform_noise(12, 64, 64, 10)
    yield "Gaussian, sigma 64", m.gaussian_noise(12, *m.SMALL, 11)
    yield "Gaussian, sigma 8", m.gaussian_noise(12, *m.SMALL, 12, 8.0)
    for cell in (8, 16, 32, 64, 128):
        yield f"latent, cells of {cell} px, 512x288", m.latent_noise(12, *m.SMALL, 20, cell)
    for cell in (8, 32):
        yield f"latent, cells of {cell} px, 1280x720", m.latent_noise(6, *m.LARGE, 21, cell)
    yield "latent, cells of 8 px, 160x96", m.latent_noise(12, 96, 160, 22)


def _correlated():
    for rho in (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.65):
        yield f"rho {rho:g}", m.gaussian_noise(12, *m.SMALL, 13, 48.0, rho)
    for k in (2, 3, 4, 8):
        clip = m.latent_noise(24, *m.SMALL, 23, 8, per_latent=k)
        yield f"latent of 8 px, one latent for {k} frames, blended", clip


def _over_pictures():
    h, w = m.SMALL
    ramp, spot = m.gradient(h, w), m.vignette(h, w)
    still = m.texture(h, w, 31)
    pixels = small(14).astype(np.float32)
    latent = m.latent_noise(12, h, w, 24).astype(np.float32)
    for name, noise in (("pixel noise", pixels), ("latent noise of 8 px", latent)):
        for share in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            clip = m.to_u8(noise * (1 - share) + ramp * share)
            yield f"{name}, {share:.0%} gradient, 512x288", clip
        for depth in (0.25, 0.5, 0.75):
            clip = m.to_u8(noise * (1 - depth + depth * spot))
            yield f"{name}, vignette {depth:.0%}, 512x288", clip
        for share in (0.2, 0.35, 0.5):
            clip = m.to_u8(noise * (1 - share) + still * share)
            yield f"{name}, {share:.0%} still texture, 512x288", clip
    h, w = m.LARGE
    ramp = m.gradient(h, w)
    pixels = m.uniform_noise(6, h, w, 15).astype(np.float32)
    for share in (0.05, 0.1, 0.15, 0.2, 0.3):
        yield (
            f"pixel noise, {share:.0%} gradient, 1280x720",
            m.to_u8(pixels * (1 - share) + ramp * share),
        )


def _held_noise():
    for k in (2, 3, 4, 5, 6, 8):
        held = np.repeat(m.uniform_noise(48 // k, *m.SMALL, 16), k, axis=0)
        yield f"each frame {k} times", held
        if k in (2, 4):
            yield f"each frame {k} times, sampled", held, "sampled"


def _coded():
    pixels, latent = m.uniform_noise(24, *m.SMALL, 17), m.latent_noise(24, *m.SMALL, 25)
    for name, clip in (("pixel noise", pixels), ("latent noise of 8 px", latent)):
        for crf in (18, 28, 40):
            yield f"{name}, x264 crf {crf}", m.ffmpeg("noise", *m.x264(crf), frames=clip)


def _real():
    for name in REAL:
        yield name, m.real(name)
        yield f"{name}, sampled", m.real(name), "sampled"
        for step in (8, 16, 49):
            if len(frames := m.decoded(name, step)) > 2:
                yield f"{name}, every {step}th frame", frames


def _moving():
    for name in TEXTURED_PANS:
        yield name + ", 480x360", textured_pan(name)
    h, w = m.SMALL
    picture = m.texture(h + 1, w + 96 * 6 + 2, 32)
    for speed in (4, 8, 12, 16, 24, 32, 64, 96):
        clip = m.pan(picture, 6, h, w, speed)
        yield f"texture of many scales, {speed} px a frame, 512x288", clip
    real = m.decoded("bigbuckbunny", 33)[1].astype(np.float32)
    for speed in (8, 16, 32, 64):
        yield f"real still, {speed} px a frame, 944x540", m.pan(real, 6, 540, 944, speed)
    for zoom in (0.01, 0.03, 0.06, 0.1, 0.2):
        yield f"zoom of {zoom:.0%} a frame", m.turned(6, 288, 512, 33, zoom=zoom)
    for degrees in (1, 3, 6, 10, 20):
        yield f"turn of {degrees} degrees a frame", m.turned(6, 288, 512, 34, degrees=degrees)


def _grain():
    for name, step in (("bigbuckbunny", 26), ("bikes", 40), ("carphone_pristine", 20)):
        # Neighbours in time as well: a pair is two frames that follow each other.
        still = np.repeat(m.decoded(name, step)[1:3], 3, axis=0)
        for sigma in (10, 25, 50):
            yield f"{name} stills, sigma {sigma}", m.grained(still, 35, sigma)
        for share in (0.25, 0.1):
            dark = m.scaled(still, share)
            yield f"{name} stills at {share:.0%} light, sigma 10", m.grained(dark, 36, 10)


def _cuts():
    yield "one cut", clips.clip("hard_cut")
    stills = [m.to_u8(m.texture(*m.SMALL, 200 + i)) for i in range(24)]
    for k in (1, 2, 3, 4, 5, 6, 8, 12):
        shown = np.repeat(np.stack(stills[: max(2, 24 // k)]), k, axis=0)
        yield f"unlike stills, each for {k} frames", shown
    moving = [m.pan(m.texture(289, 540, 300 + i), 3, *m.SMALL, 4) for i in range(8)]
    yield "a cut every 3 frames, moving between", np.concatenate(moving)
    yield "picture and negative in turn", np.stack([stills[0], 255 - stills[0]] * 6)
    flash = np.full_like(stills[0], 255)
    yield "picture and white flash in turn", np.stack([stills[0], flash] * 6)

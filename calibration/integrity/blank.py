"""Flat frames against dark, foggy and sparse ones: deviation of luma, share of flat frames."""

from collections.abc import Iterator

import numpy as np

from calibration.integrity import material as m
from calibration.integrity.rows import judged
from screentest import default_policy

COLOURS = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "grey": (119, 119, 119),
    "blue": (20, 40, 200),
}


def rows() -> Iterator[dict]:
    for group, bad, cases in (
        ("one colour, as arrays", True, _arrays()),
        ("one colour, coded", True, _coded()),
        ("one colour with grain", True, _grainy()),
        ("real clips, dimmed", False, _dimmed()),
        ("fog", False, _fog()),
        ("sparse pictures", False, _sparse()),
        ("fades and openings", False, _fades()),
    ):
        for clip, source in cases:
            yield judged("blank", group, clip, source, bad=bad, numbers=numbers)


def numbers(facts):
    std = facts.series.luma_std
    flat = std < default_policy().limits.blank_std.value
    return {
        "std_median": float(np.median(std)),
        "std_max": float(std.max()),
        "flat_share": float(flat.mean()),
    }


def flat(name, t=12, h=180, w=320):
    return np.broadcast_to(np.array(COLOURS[name], np.uint8), (t, h, w, 3)).copy()


def _arrays():
    for name in COLOURS:
        yield name, flat(name)
    dithered = flat("grey")
    yield (
        "grey, dithered by one level",
        dithered + m.clips.rng(51).integers(0, 2, dithered.shape, dtype=np.uint8),
    )


def _coded():
    for name in COLOURS:
        for crf in (18, 28, 40):
            yield f"{name}, x264 crf {crf}", m.ffmpeg("flat", *m.x264(crf), frames=flat(name, 24))
    for sigma in (1, 2):
        grain = m.grained(flat("grey", 24), 52, sigma)
        for crf in (18, 28):
            coded = m.ffmpeg("flat", *m.x264(crf), frames=grain)
            yield f"grey with grain of sigma {sigma}, x264 crf {crf}", coded


def _grainy():
    for sigma in (0.5, 1, 2, 3, 4, 8):
        yield f"grey with grain of sigma {sigma:g}", m.grained(flat("grey"), 53, sigma)


def _dimmed():
    for name, step in (("bigbuckbunny", 12), ("bikes", 10), ("carphone_pristine", 10)):
        for share in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02):
            yield f"{name} at {share:.0%} light", m.scaled(m.decoded(name, step), share)


def _fog():
    for name, step in (("bigbuckbunny", 12), ("bikes", 10)):
        for contrast in (0.2, 0.1, 0.05):
            clip = m.scaled(m.decoded(name, step), contrast, around=180.0)
            yield f"{name} at {contrast:.0%} contrast", clip
    sky = 200 + 8 * (m.gradient(180, 320) / 127.5 - 1)
    yield "gradient of 16 levels", np.stack([m.to_u8(sky)] * 6)
    sky = 200 + 4 * (m.gradient(180, 320) / 127.5 - 1)
    yield "gradient of 8 levels", np.stack([m.to_u8(sky)] * 6)


def _sparse():
    h, w = m.LARGE
    for side in (8, 16, 24, 48):
        clip = np.zeros((6, h, w, 3), np.uint8)
        for i, frame in enumerate(clip):
            frame[300 : 300 + side, 400 + 9 * i : 400 + 9 * i + side] = 255
        yield f"white square of {side} px on black, 1280x720", clip
    g = m.clips.rng(54)
    for count in (50, 400, 2000):
        clip = np.zeros((6, h, w, 3), np.uint8)
        y, x = g.integers(0, h - 1, count), g.integers(0, w - 8, count)
        for i, frame in enumerate(clip):
            for dy in (0, 1):
                for dx in (0, 1):
                    frame[y + dy, x + dx + i] = 255
        yield f"{count} stars of 2 px on black, 1280x720", clip
    title = np.zeros((6, h, w, 3), np.uint8)
    title[:, 348:372:4, 500:780:3] = 235
    yield "a line of small print on black, 1280x720", title


def _fades():
    picture = m.decoded("bikes", 10)[:1].repeat(48, axis=0)
    for frames in (12, 24, 47):
        level = np.clip(np.arange(48) / frames, 0, 1)
        fade = np.stack([m.to_u8(f * k) for f, k in zip(picture, level, strict=True)])
        yield f"fade from black over {frames} of 48 frames", fade
    for frames in (4, 24, 42, 43, 44, 47):
        opening = picture.copy()
        opening[:frames] = 255
        yield f"opens on white for {frames} of 48 frames", opening

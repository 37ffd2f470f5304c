"""Pairs of a control and a candidate for the track verdict, and one measured row of each."""

from collections.abc import Iterator

import numpy as np

from calibration.integrity import material as m
from calibration.integrity.rows import rounded
from calibration.temporal.material import coded
from screentest.metrics.integrity import measure_integrity
from screentest.metrics.temporal import measure_temporal
from screentest.metrics.tracks import measure_tracks
from screentest.verdicts.tracks import track_verdict
from tests.oracles import clips

__all__ = ["rows"]

SEEDS = (11, 23, 37)
STRENGTHS = (16, 32, 64, 96, 128, 192, 230, 384)
"""Largest displacement of the warble in 1/256 px, fresh in every frame: 1/16 to 1.5 px."""

CELLS = (12, 24, 48)
"""Size of the warble's cells in px."""

SIZE = (288, 512)
FRAMES = 48


def rows() -> Iterator[dict]:
    for seed in SEEDS:
        control = clips.pan(FRAMES, *SIZE, seed)
        for group, bad, cases in (
            ("elastic warble", True, _warbles(seed)),
            ("frozen", True, _frozen(control)),
            ("texture that collapses", True, _flat(control)),
            ("the same clip", False, (("itself", control),)),
            ("coded again", False, _coded(control)),
            ("small changes", False, _changed(control)),
            ("exposure", True, _exposed(control, seed)),
            ("noise", True, _noisy(control, seed)),
        ):
            for clip, candidate in cases:
                yield judged(group, f"{clip}, seed {seed}", control, candidate, bad=bad)
        strong = _strong(seed)
        for clip, candidate in _grains(np.repeat(strong[:1], FRAMES, axis=0)):
            clip = f"{clip}, strong texture, seed {seed}"
            yield judged("frozen", clip, strong, candidate, bad=True)
        wobbling = clips.warble(FRAMES, *SIZE, seed, amp=32)
        yield judged("steadier than its control", f"seed {seed}", wobbling, control, bad=True)
    for clip, control, candidate in _clean():
        yield judged("clean motion", clip, control, candidate, bad=False)
    for clip, control, candidate in _other_speeds():
        yield judged("another speed", clip, control, candidate, bad=False)
    for clip, control, candidate in _coded_scenes():
        yield judged("coded again", clip, control, candidate, bad=False)


_CONTROL = (None, None)


def _facts(frames):
    options = {"frame_rate": 24.0}
    return (
        measure_tracks(frames, **options),
        measure_temporal(frames, **options),
        measure_integrity(frames, **options),
    )


def judged(group, clip, control, candidate, *, bad):
    """``bad`` says whether the candidate ought to be rejected."""
    global _CONTROL
    if _CONTROL[0] is not control:
        _CONTROL = (control, _facts(control))
    tracks, temporal, integrity = _facts(candidate)
    theirs = _CONTROL[1]
    alone = track_verdict(tracks, theirs[0])
    verdict = track_verdict(
        tracks,
        theirs[0],
        candidate_temporal=temporal,
        reference_temporal=theirs[1],
        candidate_integrity=integrity,
        reference_integrity=theirs[2],
    )
    said = {"reject": "reject", "unmeasured": "none", "pass": "pass"}[verdict.verdict]
    values = {
        "ratio": verdict.ratio,
        "stability": tracks.track_stability,
        "inside": _over(tracks.stability_inside, theirs[0].stability_inside),
        "survival": tracks.track_survival,
        "jitter": tracks.track_jitter,
        "rigidity": tracks.track_rigidity_error,
        "motion": tracks.motion_magnitude,
        "control": theirs[0].track_stability,
    }
    return {
        "axis": "tracks",
        "group": group,
        "clip": clip,
        "bad": bad,
        "said": said,
        "alone": alone.verdict,
        "codes": [defect.code for defect in verdict.defects],
        "values": {name: rounded(value) for name, value in values.items()},
    }


def _over(ours, theirs):
    return None if ours is None or not theirs else ours / theirs


# ------------------------------------------------------------------------------------- candidates


def _warbles(seed):
    for strength in STRENGTHS:
        yield (
            f"{strength / 256:.3g} px, cells of 24 px",
            clips.warble(FRAMES, *SIZE, seed, amp=strength),
        )
    for cell in CELLS:
        if cell != 24:
            yield f"0.898 px, cells of {cell} px", clips.warble(FRAMES, *SIZE, seed, cell=cell)


def _frozen(control):
    yield "the first frame throughout", np.repeat(control[:1], FRAMES, axis=0)
    yield "frozen from the middle on", control[np.minimum(np.arange(FRAMES), FRAMES // 2)]
    held = np.repeat(control[:1], FRAMES, axis=0)
    for crf in (18, 28):
        yield f"the first frame, x264 crf {crf}", coded(held, *m.x264(crf))
    yield from _grains(held)


def _grains(held):
    """Every sample moved by a whole number from -level to level."""
    for level in (1, 2):
        grain = clips.rng(5).integers(-level, level + 1, held.shape)
        yield f"the first frame, grain of {level}", clips.u8(held.astype(int) + grain)


def _strong(seed):
    """A pan over a texture of four times the contrast, where grain weighs little."""
    tex = clips.texture(SIZE[0] + 64, SIZE[1] + 96, seed)
    tex = np.clip(4 * (tex - int(tex.mean())) + 128 * 256, 0, 255 * 256)
    return clips.pan(FRAMES, *SIZE, seed, tex=tex)


def _flat(control):
    yield "grey", clips.flat(FRAMES, *SIZE, (119, 119, 119))
    half = control.copy()
    half[FRAMES // 3 :] = 119
    yield "grey from a third on", half


def _coded(control):
    for crf in (18, 23, 28):
        yield f"x264 crf {crf}", coded(control, *m.x264(crf))


def _changed(control):
    yield "blurred by 25 %", clips.blur(control)
    yield "blurred wholly", clips.blur(clips.blur(control, 100), 100)
    yield "desaturated by 8 %", clips.desat(control)
    yield "noise of 0.002", clips.add_noise(control, 5, 2)
    yield "half the size", control[:, ::2, ::2]
    yield "the first half", control[: FRAMES // 2]


def _exposed(control, seed):
    """They are rejected for a warble that is none; the change of brightness must come first."""
    for permille in (10, 20, 40):
        yield f"{permille / 10:g} % on one frame", clips.gain_one(control, 20, permille)
        yield f"jitter of {permille / 10:g} %", clips.gain_jitter(control, seed, permille)


def _noisy(control, seed):
    for permille in (10, 20, 40):
        yield f"noise of {permille / 1000:g}", clips.add_noise(control, seed, permille)


SPEEDS = ((80, -32), (160, -64), (320, -128), (640, -256), (1280, 0), (0, 700))
"""Pans in 1/256 px per frame."""

ZOOMS = (3, 6, 9, 12, 15)


def _clean():
    """Pans, zooms and things that move over others, each against another take of its kind."""
    h, w = SIZE
    for vx, vy in SPEEDS:
        control = clips.pan(FRAMES, h, w, 11, vx=vx, vy=vy)
        for seed in (23, 37, 51, 64):
            candidate = clips.pan(FRAMES, h, w, seed, vx=vx, vy=vy)
            yield f"pan of ({vx / 256:.3g}, {vy / 256:.3g}) px, seed {seed}", control, candidate
    for step in ZOOMS:
        control = clips.zoom(FRAMES, h, w, 12, step=step)
        for seed in (22, 33, 52, 63):
            candidate = clips.zoom(FRAMES, h, w, seed, step=step)
            yield f"zoom of step {step}, seed {seed}", control, candidate
    for count, size in ((3, 48), (6, 48), (6, 64), (10, 40)):
        control = _parallax(11, 14, count, size)
        for seed in (23, 37, 53):
            candidate = _parallax(seed, seed + 1, count, size)
            yield f"{count} things of {size} px, seed {seed}", control, candidate


def _other_speeds():
    """Clean clips that move at another speed than their control."""
    h, w = SIZE
    pan, zoom = clips.pan(FRAMES, h, w, 11), clips.zoom(FRAMES, h, w, 12)
    for vx, vy in SPEEDS:
        yield (
            f"pan of ({vx / 256:.3g}, {vy / 256:.3g}) px for (1.25, -0.5)",
            pan,
            clips.pan(FRAMES, h, w, 11, vx=vx, vy=vy),
        )
    for step in ZOOMS:
        yield f"zoom of step {step} for 9", zoom, clips.zoom(FRAMES, h, w, 12, step=step)


def _parallax(seed, things, count, size):
    return clips.with_squares(clips.pan(FRAMES, *SIZE, seed), things, count, size)


def _coded_scenes():
    parallax, zoom = _parallax(11, 14, 6, 48), clips.zoom(FRAMES, *SIZE, 12)
    yield "parallax, x264 crf 23", parallax, coded(parallax, *m.x264(23))
    yield "zoom, x264 crf 23", zoom, coded(zoom, *m.x264(23))
    for name in ("bikes", "carphone_pristine"):
        real = m.decoded(name)[:60] if name != "bikes" else m.decoded(name)[139:186]
        for crf in (18, 28):
            yield f"{name}, x264 crf {crf}", real, coded(real, *m.x264(crf))

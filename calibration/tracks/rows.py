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
            ("smoother", True, _smoothed(control)),
        ):
            for clip, candidate in cases:
                yield judged(group, f"{clip}, seed {seed}", control, candidate, bad=bad)
    for clip, control, candidate in _scenes():
        yield judged("other takes of a kind", clip, control, candidate, bad=False)


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


def _smoothed(control):
    yield "blurred wholly", clips.blur(clips.blur(control, 100), 100)


def _scenes():
    """Two takes of one kind: another seed, another speed."""
    h, w = SIZE
    pan, zoom = clips.pan(FRAMES, h, w, 11), clips.zoom(FRAMES, h, w, 12)
    parallax = clips.with_squares(clips.checker(FRAMES, h, w, 13), 4, 6, 48)
    yield "pan: another seed", pan, clips.pan(FRAMES, h, w, 51)
    yield "pan: twice as fast", pan, clips.pan(FRAMES, h, w, 11, vx=640, vy=-256)
    yield "zoom: another seed", zoom, clips.zoom(FRAMES, h, w, 52)
    yield (
        "parallax: another seed",
        parallax,
        clips.with_squares(clips.checker(FRAMES, h, w, 53), 54, 6, 48),
    )
    yield "parallax: itself, x264 crf 23", parallax, coded(parallax, *m.x264(23))
    yield "zoom: itself, x264 crf 23", zoom, coded(zoom, *m.x264(23))
    for name in ("bikes", "carphone_pristine"):
        real = m.decoded(name)[:60] if name != "bikes" else m.decoded(name)[139:186]
        yield f"{name}: itself, x264 crf 18", real, coded(real, *m.x264(18))
        yield f"{name}: itself, x264 crf 28", real, coded(real, *m.x264(28))

"""The clips of the temporal screen, by axis and population, and one measured row of each."""

from collections.abc import Iterator

import numpy as np

from calibration.integrity import material as m
from calibration.integrity.rows import rounded
from calibration.temporal import material as t
from screentest.metrics.temporal import measure_temporal
from screentest.verdicts.temporal import judge_temporal
from tests.oracles import clips

__all__ = ["rows"]


def rows() -> Iterator[dict]:
    for axis, group, bad, cases in (
        ("flicker", "brightness that alternates", True, _alternating()),
        ("flicker", "gain that jitters", True, _jitter()),
        ("flicker", "one frame in n, and square waves", True, _trains()),
        ("flicker", "one part of the picture", True, _lamps()),
        ("flicker", "coded flicker", True, _coded_flicker()),
        ("flicker", "lights that pulse slowly", False, _pulses()),
        ("flicker", "lights that flash in the scene", False, _strobes()),
        ("flash", "planted flashes", True, _flashes()),
        ("judder", "frames held in a rhythm", True, _cadences()),
    ):
        for clip, frames, *rate in cases:
            yield judged(axis, group, clip, frames, bad=bad, rate=(rate or [24.0])[0])
    for group, cases in (
        ("real clips", _real),
        ("real clips, coded", _real_coded),
        ("real clips, fast", _real_fast),
        ("made motion", _made),
        ("fades, cuts, slides", _changes),
        ("grain", _grain),
    ):
        for clip, frames, *rate in cases():
            for axis in ("flicker", "flash", "judder"):
                yield judged(axis, group, clip, frames, bad=False, rate=(rate or [24.0])[0])


_LAST = None


def _facts(frames, rate):
    """The facts of the frames asked for last are kept: three axes ask for the same."""
    global _LAST
    if _LAST is None or _LAST[0] is not frames or _LAST[1] != rate:
        _LAST = (frames, rate, measure_temporal(frames, frame_rate=rate))
    return _LAST[2]


def judged(axis, group, clip, frames, *, bad, rate=24.0):
    """``bad`` says whether the axis ought to name the clip."""
    facts = _facts(frames, rate)
    judgement = judge_temporal(facts)
    found = [d for d in judgement.defects if d.code == axis]
    shared = np.abs(facts.series.shared)
    alone = any(gap.axis == axis for gap in judgement.unmeasured)
    cadence = facts.cadence
    values = {
        "strength": facts.flicker_strength,
        "largest": float(np.nanmax(shared)),
        "periodicity": facts.flicker_periodicity,
        "period": 1 / facts.flicker_frequency if facts.flicker_frequency else None,
        "region": facts.region_flicker,
        "motion": facts.motion_energy,
        "cadence": None if cadence is None else float(cadence.period),
        "explained": None if cadence is None else cadence.explained,
        "least": None if cadence is None else min(cadence.pattern),
        "found": found[0].value if found else None,
    }
    return {
        "axis": axis,
        "group": group,
        "clip": clip,
        "bad": bad,
        "said": "warn" if found else "none" if alone else "pass",
        "verdict": judgement.verdict,
        "codes": sorted({d.code for d in judgement.defects}),
        "notes": sorted({n.code for n in judgement.notes}),
        "values": {name: rounded(value) for name, value in values.items()},
    }


# ------------------------------------------------------------------------------------- bad clips


def _alternating():
    for source, frames in t.sources().items():
        for amplitude in (1, 2, 4):
            yield f"{source}, +-{amplitude} levels", t.alternating(frames, amplitude)
    for rate in (8.0, 60.0, 120.0):
        yield f"pan, +-4 levels, {rate:g}/s", t.alternating(t.sources()["pan"], 4), rate


def _jitter():
    for source, frames in t.sources().items():
        for permille in (5, 10, 20, 40):
            for seed in t.SEEDS:
                jittered = clips.gain_jitter(frames, seed, permille)
                yield f"{source}, up to {permille / 10:g} %, seed {seed}", jittered


def _trains():
    for source in ("pan", "bigbuckbunny", "carphone"):
        frames = t.sources()[source]
        for period in (3, 4, 5, 8):
            yield f"{source}, one in {period} by 4 levels", t.one_in(frames, period, 4)
        for half in (2, 4):
            yield f"{source}, {half} and {half} by +-3", t.square(frames, half, 3)


def _lamps():
    for source, frames in t.sources().items():
        for period, height in ((2, 12), (3, 12), (3, 40), (6, 40)):
            yield f"{source}, one in {period} by {height}", t.lamp(frames, period, height)


def _coded_flicker():
    for source in ("pan", "bigbuckbunny", "carphone"):
        for crf in (18, 28, 35):
            frames = t.alternating(t.sources()[source], 4)
            yield f"{source}, +-4 levels, x264 crf {crf}", t.coded(frames, *m.x264(crf))
            frames = clips.gain_jitter(t.sources()[source], 3, 20)
            yield f"{source}, 2 %, x264 crf {crf}", t.coded(frames, *m.x264(crf))


def _flashes():
    for source, frames in t.sources().items():
        for lasts, height in ((1, 3), (1, 12), (1, 60), (2, 60), (4, 60), (2, -60)):
            yield f"{source}, {lasts} by {height}", t.flashed(frames, 20, lasts, height)


def _cadences():
    for source, frames in t.sources().items():
        for cadence in t.CADENCES:
            shown = t.held(frames, cadence)
            yield f"{source}, {cadence}", shown
            if cadence in ("on twos", "24 in 30"):
                for crf in (18, 28):
                    yield f"{source}, {cadence}, x264 crf {crf}", t.coded(shown, *m.x264(crf))


# ------------------------------------------------------------------------------------- good clips


def _pulses():
    for source in ("pan", "bigbuckbunny", "carphone"):
        for hz in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0):
            yield f"{source}, {hz:g} Hz", t.pulsing(t.sources()[source], hz)
    yield "pan, 1 Hz at 8/s", t.pulsing(t.sources()["pan"], 1.0, 8.0), 8.0
    yield "pan, 1 Hz at 60/s", t.pulsing(t.sources()["pan"], 1.0, 60.0), 60.0


def _strobes():
    """Nothing tells these from a render that flickers; they warn."""
    for hz in (4.0, 6.0, 10.0):
        yield f"pan, light of {hz:g} Hz", t.pulsing(t.sources()["pan"], hz)
    yield "pan, a strobe each third frame", t.one_in(t.sources()["pan"], 3, 80)


def _real():
    for name in ("bikes", "carphone_pristine", "carphone_distorted"):
        yield name, m.decoded(name)
    yield "bigbuckbunny", t.half("bigbuckbunny", 0, 132)


def _real_coded():
    for name in ("bigbuckbunny", "bikes", "carphone"):
        for crf in (18, 28, 35, 42):
            for words, more in (("", ()), (", key frame each 8", ("-g", 8))):
                frames = t.coded(t.sources()[name], *m.x264(crf, *more))
                yield f"{name}, x264 crf {crf}{words}", frames


def _real_fast():
    for name in ("bikes", "carphone_pristine", "carphone_distorted"):
        for step in (2, 3, 4, 6):
            yield f"{name}, every {step}th frame", m.decoded(name, step)
    for step in (2, 4, 6):
        frames = t.half("bigbuckbunny", 0, 132)[::step]
        yield f"bigbuckbunny, every {step}th frame", frames


def _made():
    for speed in (1, 4, 12, 32):
        for seed in t.SEEDS:
            yield (
                f"pan of {speed} px a frame, seed {seed}",
                clips.pan(48, 144, 256, seed, vx=256 * speed, vy=0),
            )
    for seed in t.SEEDS:
        for reach in (1, 4):
            yield f"a hand that shakes by {reach} px, seed {seed}", t.shaken(48, seed, reach)
        yield f"elastic warble, seed {seed}", clips.warble(48, 144, 256, seed)
    for name in ("zoom", "parallax"):
        yield name, t.sources()[name]
    for speed in (8, 30, 60):
        yield f"a bright block that crosses at {speed} px a frame", t.crossing(60, 3, speed)
    for speed in (2, 6, 11):
        yield f"a fence that passes at {speed} px a frame", t.fence(60, speed)
    for rate in (8.0, 60.0, 120.0):
        yield f"pan at {rate:g}/s", t.sources()["pan"], rate


def _changes():
    yield "fade to black", clips.fade(48, 144, 256, 3)
    yield "fade from black", clips.fade(48, 144, 256, 3)[::-1]
    yield (
        "fade to black in 6 frames",
        np.concatenate(
            [
                clips.pan(30, 144, 256, 3),
                clips.fade(6, 144, 256, 3),
                clips.flat(10, 144, 256, (0,) * 3),
            ]
        ),
    )
    yield "hard cut", clips.cut(48, 144, 256, 3, 20)
    yield "dissolve", t.dissolve(48, 3)
    for each in (6, 12, 24):
        yield f"stills of {each} frames", t.slides(72, each, 3)


def _grain():
    for name in ("pan", "carphone"):
        for sigma in (4, 16):
            yield f"{name}, sigma {sigma}", m.grained(t.sources()[name], 5, sigma)
    still = np.repeat(t.sources()["pan"][:1], 48, axis=0)
    for sigma in (1, 16):
        yield f"a still, sigma {sigma}", m.grained(still, 5, sigma)
    yield "noise", clips.noise(24, 144, 256, 5)

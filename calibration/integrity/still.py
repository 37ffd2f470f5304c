"""Held pictures and repeats against slow motion and grain."""

from collections.abc import Iterator

import numpy as np

from calibration.integrity import material as m
from calibration.integrity.rows import judged
from screentest import default_policy
from screentest.verdicts.stillness import Stillness
from screentest.verdicts.timeline import Timeline

SOURCES = {
    "testsrc2": ("testsrc2=s=640x360:r=24:d=2", ""),
    "mandelbrot": ("mandelbrot=s=640x360:r=24", ""),
    "grainy testsrc2": ("testsrc2=s=640x360:r=24:d=2", "noise=alls=12:allf=t:all_seed=71,"),
}
HOLD = "trim=end_frame=48,tpad=stop_mode=clone:stop_duration=2"
ENCODERS = {
    "x264 crf 18": m.x264(18),
    "x264 crf 23": m.x264(23),
    "x264 crf 28": m.x264(28),
    "x264 crf 23, key frame each 12": m.x264(23, "-g", 12),
    "x265 crf 28": m.x265(28),
}


def rows() -> Iterator[dict]:
    for axis, group, bad, first, cases in (
        ("frozen", "pictures held for two seconds", True, 49, _held()),
        ("frozen", "a real still, coded", True, 1, _stills()),
        ("frozen", "real clips", False, 1, _real()),
        ("frozen", "slow zooms", False, 1, _zooms()),
        ("frozen", "grain on a still", False, 1, _grain()),
        ("frozen", "little that moves", False, 1, _little()),
        ("duplicate", "real clips", False, 1, _real()),
        ("duplicate", "slow zooms", False, 1, _zooms()),
        ("duplicate", "frames shown twice", True, 1, _doubled()),
    ):
        for clip, source in cases:
            numbers = _numbers_from(first)
            yield judged(axis, group, clip, source, bad=bad, numbers=numbers)


def _numbers_from(first):
    """Of the pairs that end at frame ``first`` or later."""

    def numbers(facts):
        change, rms = facts.series.change[first:], 255 * facts.series.rms_difference[first:]
        limits = default_policy().limits
        stillness = Stillness(facts.series, limits, Timeline(facts))
        repeats = stillness.repeats[first:]
        moving = float(np.median(rms[~repeats])) if (~repeats).any() else float("nan")
        ratio = (
            float(np.median(rms[repeats])) / moving if repeats.any() and moving else float("nan")
        )
        return {
            "pairs": len(change),
            "change_median": float(np.median(change)),
            "change_p90": float(np.percentile(change, 90)),
            "change_max": float(change.max()),
            "rms_median": float(np.median(rms)),
            "rms_p90": float(np.percentile(rms, 90)),
            "rms_max": float(rms.max()),
            "change_within": float(np.mean(change <= limits.frozen_change.value)),
            "rms_within": float(np.mean(rms <= limits.frozen_rms.value)),
            "repeats": float(np.mean(repeats)),
            "repeat_over_other_rms": ratio,
            "frozen_stretches": len(stillness.frozen),
            "frozen_frames": sum(h.repeats + 1 for h in stillness.frozen),
            "duplicates": len(stillness.duplicates()),
            "copies_by_rms": _copies_by_rms(255 * facts.series.rms_difference[1:]),
        }

    return numbers


def _copies_by_rms(rms):
    """What would be called a duplicate if `duplicate_ratio` alone decided, without `frozen_change`:
    a coded copy differs from its original by more than one level in its worst spot."""
    limits, moving = default_policy().limits, rms[rms > default_policy().limits.frozen_rms.value]
    least = limits.duplicate_ratio.value * float(np.median(moving)) if len(moving) else 0.0
    before, after = np.append(np.inf, rms[:-1]), np.append(rms[1:], np.inf)
    return int(((rms < least) & (before > least) & (after > least)).sum())


def _held():
    for source, (pattern, filters) in SOURCES.items():
        for encoder, coded in ENCODERS.items():
            given = ("-f", "lavfi", "-i", pattern, "-vf", filters + HOLD, "-frames:v", 96)
            yield f"{source}, {encoder}", m.ffmpeg("held", *given, *coded)


def _still_file():
    """The first frame of a real clip, as a clip of one frame."""
    return m.ffmpeg("still", "-i", m.real("bikes"), "-frames:v", 1, "-c:v", "ffv1")


def _stills():
    frame = m.decoded("bikes", 40)[:1]
    held = np.repeat(frame, 96, axis=0)
    for encoder in (m.x264(18), m.x264(23), m.x264(28), m.x264(20, "-g", 24)):
        words = " ".join(str(e) for e in encoder[2:]).replace("-", "")
        yield f"bikes, x264 {words}", m.ffmpeg("real-still", *encoder, frames=held)
    yield "bikes, as an array", held


def _real():
    for name in ("bigbuckbunny", "bikes", "carphone_pristine", "carphone_distorted"):
        yield name, m.real(name)


def _zooms():
    still = _still_file()
    for zoom in (0.0025, 0.01, 0.02):
        move = (
            f"loop=loop=120:size=1,scale=2560:-2,zoompan=z='1+{zoom}*on/121':x='iw/2-(iw/zoom/2)'"
            ":y='ih/2-(ih/zoom/2)':d=1:s=640x272:fps=24"
        )
        given = ("-i", still, "-vf", move, "-frames:v", 121)
        yield f"zoom of {100 * zoom:g} % in 5 s, x264 crf 20", m.ffmpeg("zoom", *given, *m.x264(20))


def _grain():
    still = np.repeat(m.decoded("bikes", 40)[:1], 48, axis=0)
    for sigma in (0.25, 0.5, 1.0, 2.0):
        grainy = m.grained(still, 72, sigma)
        yield f"sigma {sigma:g}, lossless", grainy
        for crf in (18, 23):
            yield f"sigma {sigma:g}, x264 crf {crf}", m.ffmpeg("grain", *m.x264(crf), frames=grainy)


def _little():
    still = np.repeat(m.decoded("bikes", 40)[:1], 48, axis=0)
    blinking = still.copy()
    for i, frame in enumerate(blinking):
        frame[100:116, 301:303] = 255 if i // 6 % 2 else 0
    yield "a cursor of 2x16 px that blinks four times a second", blinking
    picture, patch = still[0].astype(np.float32), m.texture(26, 60, 73)
    for speed in (0.125, 0.25, 0.5):
        clip = np.stack([m.to_u8(picture)] * 48)
        for i, frame in enumerate(clip):
            frame[100:124, 200:224] = m.window(patch, i * speed, 0, 24, 24)
        yield f"a patch of 24 px whose texture moves {speed:g} px a frame", clip
        yield (
            f"the same at {speed:g} px, x264 crf 23",
            m.ffmpeg("patch", *m.x264(23), frames=clip),
        )


def _doubled():
    for name, least in (("bigbuckbunny", 30), ("bikes", 0), ("carphone_pristine", 0)):
        clip = m.decoded(name, 1, least)[:40]
        pattern = np.sort(np.concatenate([np.arange(40), np.arange(3, 40, 4)]))
        shown = clip[pattern]
        yield f"{name}, 10 of 50 planted", shown
        for crf in (18, 23, 28):
            coded = m.ffmpeg("doubled", *m.x264(crf), frames=shown)
            yield f"{name}, 10 of 50 planted, x264 crf {crf}", coded
        twos = m.ffmpeg("twos", *m.x264(18), frames=np.repeat(clip[:24], 2, axis=0))
        yield f"{name}, 24 of 48 planted (on twos), x264 crf 18", twos

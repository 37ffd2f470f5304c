"""Traps about time, motion and flatness: flicker against fades, flashes and cuts; holds; rates.

Each test is one row of the list of traps, or one member of its family.
"""

import numpy as np
import pytest

from screentest.metrics.integrity import measure_integrity
from screentest.metrics.temporal import measure_temporal
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.temporal import judge_temporal
from tests.making import src
from tests.oracles import clips

X264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p")
FFV1 = ("-c:v", "ffv1", "-pix_fmt", "yuv420p")


def temporal(source, **options):
    facts = measure_temporal(source, **options)
    return facts, judge_temporal(facts)


def screened(source, **options):
    return judge_integrity(measure_integrity(source, **options))


def codes(judgement):
    return [defect.code for defect in judgement.defects]


def notes(judgement):
    return [note.code for note in judgement.notes]


def reasons(judgement):
    return {gap.axis: gap.reason for gap in judgement.unmeasured}


def base(count=48):
    return clips.pan(count, 144, 256, 3)


# ---------------------------------------------------------------------------- vfr


def test_vfr_is_flagged_and_no_frame_is_invented(studio):
    """20 frames at 30 per second, then every third."""
    path = studio("vfr.mp4", "-i", studio.a_mp4(), "-vf", "select='lt(n,20)+not(mod(n,3))'",
                  "-fps_mode", "vfr", *X264)  # fmt: skip
    facts, judgement = temporal(path)
    assert "vfr" in facts.clip.flags
    assert facts.frames_read == len(facts.series.index) == 33
    assert codes(judgement) == []
    steps = np.diff(facts.series.time_s)
    assert steps[:19] == pytest.approx(1 / 30, abs=1e-3)
    # What moves three times as far in three times the time is as fast.
    constant = measure_temporal(studio.a_mp4())
    assert facts.motion_energy > 1.2 * constant.motion_energy
    assert facts.motion_energy_per_s == pytest.approx(constant.motion_energy_per_s, rel=0.35)


def test_flicker_of_a_vfr_clip_is_told_in_hertz_of_the_time_it_has(studio):
    """The brightness alternates at 10 frames per second, after a steady second at 30."""
    slow = "lt(N,30)*N/30+gte(N,30)*(1+(N-30)/10)"
    path = studio(
        "vfr_flicker.mkv", *src(2, size="128x96"),
        "-vf", "geq=lum='clip(lum(X,Y)+if(gte(N,30),if(mod(N,2),6,-6),0),16,235)':cb='cb(X,Y)'"
        f":cr='cr(X,Y)',setpts='({slow})/TB'", "-fps_mode", "vfr", *FFV1)  # fmt: skip
    facts, judgement = temporal(path)
    assert facts.frames_read == 60
    assert codes(judgement) == ["flicker"]
    assert "5 Hz" in judgement.defects[0].message
    assert judgement.defects[0].seconds[0] == pytest.approx(1.0, abs=0.15)


# ---------------------------------------------------------------------------- fps differs


def test_the_same_scene_at_two_rates_is_as_fast_in_seconds(studio):
    per_second = {}
    for rate in (15, 30, 60):
        path = studio(f"rate{rate}.mkv", *src(2, size="160x120", rate=rate, pattern="testsrc"),
                      *FFV1)  # fmt: skip
        facts, judgement = temporal(path)
        per_second[rate] = facts.motion_energy_per_s
        assert codes(judgement) == []
    assert per_second[60] == pytest.approx(per_second[30], rel=0.3)


@pytest.mark.parametrize("rate", [8, 12, 24, 25, 30, 50, 60, 120])
def test_an_alternation_is_flicker_at_half_of_any_frame_rate(rate):
    frames = clips.u8(base().astype(int) + 4 * (-1) ** np.arange(48)[:, None, None, None])
    facts, judgement = temporal(frames, frame_rate=rate)
    assert facts.flicker_hz == pytest.approx(rate / 2, rel=0.02)
    assert codes(judgement) == ["flicker"]


# ---------------------------------------------------------------------------- missing pts


@pytest.mark.parametrize("name", ["nopts.h264", "nopts.avi"])
def test_without_stamps_the_order_is_judged_and_no_second_is_named(studio, name):
    path = studio(name, *src(1), "-vf", "geq=lum='clip(lum(X,Y)+if(mod(N,2),6,-6),16,235)'"
                  ":cb='cb(X,Y)':cr='cr(X,Y)'", *X264, "-bf", "2")  # fmt: skip
    facts, judgement = temporal(path)
    assert facts.frames_read == 30
    assert codes(judgement) == ["flicker"]
    (defect,) = judgement.defects
    assert (facts.series.time_s, facts.flicker_hz, facts.motion_energy_per_s) == (None, None, None)
    assert (defect.frames, defect.seconds) == ((1, 28), None)
    assert "every 2 frames: frames 1 to 28" in defect.message


# ---------------------------------------------------------------------------- interlaced


def test_interlaced_temporal_screens_are_refused(studio):
    path = studio("woven.mp4", *src(1, rate=50), "-vf", "tinterlace=interleave_top,setfield=tff",
                  "-flags", "+ilme+ildct", *X264)  # fmt: skip
    _, judgement = temporal(path)
    assert (judgement.verdict, judgement.defects) == ("unmeasured", ())
    assert set(reasons(judgement)) == {"flicker", "flash", "judder"}
    assert all("field order tt" in reason for reason in reasons(judgement).values())


# ---------------------------------------------------------------------------- HDR PQ


def test_levels_of_an_hdr_clip_are_refused_and_its_rhythm_is_judged(studio):
    path = studio("pq.mp4", *src(1), "-vf", "geq=lum='clip(lum(X,Y)+if(mod(N,2),24,-24),64,940)'"
                  ":cb='cb(X,Y)':cr='cr(X,Y)'", "-c:v", "libx265", "-pix_fmt", "yuv420p10le",
                  "-x265-params", "log-level=error:colorprim=bt2020:transfer=smpte2084:"
                  "colormatrix=bt2020nc")  # fmt: skip
    _, judgement = temporal(path)
    assert (judgement.verdict, codes(judgement)) == ("unmeasured", [])
    assert {"flicker", "flash"} <= set(reasons(judgement))
    assert all("PQ" in reasons(judgement)[axis] for axis in ("flicker", "flash"))


# ---------------------------------------------------------------------------- one frame


def test_one_frame_has_no_temporal_number_and_does_not_pass(studio):
    path = studio("one.mp4", *src(1), "-frames:v", "1", *X264)
    facts, judgement = temporal(path)
    assert judgement.verdict == "unmeasured"
    assert set(reasons(judgement)) == {"flicker", "flash", "judder"}
    assert (facts.luma_flicker, facts.jerk_ratio, facts.motion_energy) == (None, None, None)
    gaps = {gap.axis: gap.reason for gap in facts.unmeasured}
    assert gaps["luma_flicker"] == "needs 2 frames in a row; this is one"


@pytest.mark.parametrize("count", [2, 3])
def test_two_and_three_frames_are_unmeasured_with_a_reason(count):
    facts, judgement = temporal(base(count), frame_rate=24.0)
    assert judgement.verdict == "unmeasured"
    assert facts.luma_flicker is not None
    assert (facts.jerk_ratio is None) == (count == 2)


# ---------------------------------------------------------------------------- frozen tail


def test_a_frozen_tail_is_the_screens_and_is_not_found_again(studio):
    path = studio("tail.mp4", "-i", studio.a_mp4(), "-vf",
                  "tpad=stop_mode=clone:stop_duration=2", *X264)  # fmt: skip
    facts, judgement = temporal(path)
    assert codes(judgement) == []
    assert facts.still_share == pytest.approx(0.5, abs=0.05)
    shared = judge_temporal(facts, measure_integrity(path))
    (defect,) = shared.defects
    assert (defect.code, defect.severity) == ("frozen", "warn")
    assert defect.seconds[0] == pytest.approx(1.97, abs=0.02)
    assert "51 % of the clip" in defect.message


def test_a_repeated_frame_is_the_screens_duplicate_and_no_judder(studio):
    path = studio("dup.mkv", "-i", studio.a_mp4(), "-vf",
                  "loop=loop=1:size=1:start=20,setpts=N/30/TB", *FFV1)  # fmt: skip
    facts, judgement = temporal(path)
    assert facts.frames_read == 61
    assert codes(judgement) == []
    pictures = studio.pixels(path, "gray", 320, 240)
    (repeat,) = (t for t in range(1, 61) if np.array_equal(pictures[t], pictures[t - 1]))
    shared = judge_temporal(facts, measure_integrity(path))
    assert [(d.code, d.frames) for d in shared.defects] == [("duplicate", (repeat, repeat))]


# ---------------------------------------------------------------------------- grain


def test_a_still_scene_with_grain_is_not_frozen_and_does_not_flicker():
    still = np.repeat(base(1), 48, axis=0)
    grainy = clips.add_noise(still, 5, 4)  # sigma of one level
    facts, judgement = temporal(grainy, frame_rate=24.0)
    assert codes(judgement) == []
    assert "frozen" not in codes(screened(grainy, frame_rate=24.0))
    assert facts.still_share == 0.0
    # Low motion: grain of sigma 1 differs by about a level from frame to frame, and by no more.
    assert 0.3 < facts.motion_energy < 2.0
    assert facts.jerk_ratio == pytest.approx(1.73, abs=0.1)


def test_heavy_grain_does_not_flicker():
    _, judgement = temporal(clips.add_noise(base(), 5, 98), frame_rate=24.0)
    assert codes(judgement) == []


# ---------------------------------------------------------------------------- fade to black


def test_a_fade_to_black_is_noted_and_not_flicker(studio):
    path = studio("fade.mp4", *src(2), "-vf", "fade=out:st=1.5:d=0.5", *X264)
    _, judgement = temporal(path)
    assert (judgement.verdict, codes(judgement)) == ("pass", [])
    (note,) = judgement.notes
    assert note.code == "fade"
    assert note.frames[0] == pytest.approx(45, abs=2)
    assert "to dark" in note.message


def test_a_black_start_is_noted_as_a_cut_or_fade_and_not_flicker(studio):
    for name, filters in (("fadein.mp4", "fade=in:st=0:d=0.5"),
                          ("black.mp4", "tpad=start_duration=0.5:color=black")):  # fmt: skip
        path = studio(name, *src(2), "-vf", filters, *X264)
        _, judgement = temporal(path)
        assert codes(judgement) == [], name
        assert set(notes(judgement)) <= {"fade", "cut"}, name
        assert notes(judgement), name


# ---------------------------------------------------------------------------- flicker


def alternating():
    return clips.u8(base().astype(int) + 4 * (-1) ** np.arange(48)[:, None, None, None])


def flashing():
    frames = base()
    frames[20] = clips.u8(frames[20].astype(int) + 60)
    return frames


@pytest.mark.parametrize(
    ("frames", "defects", "noted"),
    [
        pytest.param(alternating, ["flicker"], [], id="base+4*(-1)**n"),
        pytest.param(lambda: clips.fade(48, 144, 256, 3), [], ["fade"], id="linear fade"),
        pytest.param(flashing, ["flash"], [], id="one flash"),
        pytest.param(lambda: clips.cut(48, 144, 256, 3, 20), [], ["cut"], id="hard cut"),
        pytest.param(base, [], [], id="none of them"),
    ],
)
def test_only_an_alternation_is_flicker_and_the_others_are_named(frames, defects, noted):
    _, judgement = temporal(frames(), frame_rate=24.0)
    assert (codes(judgement), notes(judgement)) == (defects, noted)


@pytest.mark.parametrize("crf", [18, 28])
def test_flicker_and_flash_survive_coding(studio, crf, tmp_path):
    for frames, expected in ((alternating(), "flicker"), (flashing(), "flash")):
        raw = tmp_path / f"{expected}.rgb"
        raw.write_bytes(frames.tobytes())
        path = tmp_path / f"{expected}.mp4"
        studio.run("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "256x144", "-r", "24", "-i", raw,
                   *X264, "-crf", crf, path)  # fmt: skip
        assert codes(temporal(path)[1]) == [expected]


def test_a_gain_step_of_2_percent_on_one_frame_is_a_flash(oracle_clip):
    """Tracks alone read it as warble."""
    _, judgement = temporal(oracle_clip("gain_one"), frame_rate=24.0)
    assert [(d.code, d.frames) for d in judgement.defects] == [("flash", (15, 15))]


def test_a_gain_that_jitters_is_flicker(oracle_clip):
    _, judgement = temporal(oracle_clip("gain_jitter2"), frame_rate=24.0)
    assert codes(judgement) == ["flicker"]


@pytest.mark.parametrize("name", ["bigbuckbunny", "bikes", "carphone_pristine"])
def test_real_clips_neither_flicker_nor_flash_nor_judder(real_clip, name):
    _, judgement = temporal(real_clip(name))
    assert (judgement.verdict, codes(judgement)) == ("pass", [])


# ---------------------------------------------------------------------------- cadence


@pytest.mark.parametrize(
    ("filters", "rate", "says"),
    [
        ("fps=12,fps=24", 24, "every other frame repeats"),
        ("fps=24,fps=30", 30, "24 of 30 frames a second are new"),
        ("fps=24,fps=60", 60, "24 of 60 frames a second are new"),
    ],
    ids=["on twos", "24 in 30", "3:2"],
)
def test_frames_held_in_a_rhythm_are_judder(studio, filters, rate, says):
    path = studio(f"held{rate}.mp4", "-f", "lavfi", "-i", "mandelbrot=s=320x240:r=120", "-t", 3,
                  "-vf", filters, *X264, "-crf", 18)  # fmt: skip
    _, judgement = temporal(path)
    assert codes(judgement) == ["judder"]
    assert says in judgement.defects[0].message


# ---------------------------------------------------------------------------- flat


@pytest.mark.parametrize("colour", ["black", "white", "0x777777"])
def test_a_flat_clip_has_no_motion_and_no_flicker(studio, colour):
    path = studio(f"flat_{colour}.mp4", "-f", "lavfi", "-i", f"color={colour}:s=160x120:r=24:d=1",
                  *X264)  # fmt: skip
    facts, judgement = temporal(path)
    assert codes(judgement) == []
    assert facts.still_share == 1.0
    assert (facts.flicker_strength, facts.jerk_ratio) == (0.0, 0.0)
    assert reasons(judgement) == {"judder": "nothing moves, so there is no rhythm"}


@pytest.mark.parametrize("size", [(1, 1), (5, 5), (7, 7), (64, 64)])
def test_tiny_frames_are_measured(size):
    frames = np.full((24, *size, 3), 100, np.uint8)
    frames[1::2] += 8
    _, judgement = temporal(frames, frame_rate=24.0, layout="THWC")
    assert codes(judgement) == ["flicker"]

"""Pairs that anyone can make, and how their frames go together. Each test is one row of the list
of traps."""

from itertools import zip_longest

import pytest

from screentest.media import open_clip
from screentest.metrics.pairing import INFORMATIONAL, Difference, PairingAccumulator
from screentest.verdicts.pairing import judge_pairing
from tests.making import src

FFV1 = ("-c:v", "ffv1")
X264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p")


def pair(reference, candidate):
    with open_clip(reference) as one, open_clip(candidate) as two:
        pairing = PairingAccumulator(one, two)
        for frames in zip_longest(one.frames(), two.frames()):
            pairing.push(*frames)
        return pairing.finish()


def differs(facts):
    return tuple(d for d in facts.differences if d.field not in INFORMATIONAL)


def plain(facts):
    """Nothing is shifted, left out, put in, or missing."""
    return (facts.lag, facts.dropped, facts.missing_at_end, facts.extra_at_end) == (0, (), 0, 0)


def is_in_step(facts):
    return plain(facts) and not facts.repeated and judge_pairing(facts).aligned


@pytest.mark.parametrize("rate", ["30", "24000/1001"])
@pytest.mark.parametrize("suffix", ["mkv", "nut", "ts"])
def test_a_remux_is_in_step_and_differs_in_nothing_shown(studio, rate, suffix):
    name = rate.replace("/", "_")
    mp4 = studio(f"a{name}.mp4", *src(2, rate=rate), *X264)
    facts = pair(mp4, studio(f"a{name}.{suffix}", "-i", mp4, "-c", "copy"))
    assert is_in_step(facts) and facts.lag_evidence
    assert differs(facts) == ()
    assert [d.field for d in facts.differences] == ["container"]


def test_variable_frame_rate_is_flagged(studio):
    vfr = studio("vfr.mp4", "-i", studio.a_mp4(), "-vf", "select='lt(n,20)+not(mod(n,3))'",
                 "-fps_mode", "vfr")  # fmt: skip
    facts = pair(studio.a_mp4(), vfr)
    assert Difference("frame_times", "constant", "variable") in facts.differences
    assert (facts.frames_reference, facts.frames_candidate) == (60, 33)
    # Frames 0 to 21, then every third: two are left out before each.
    assert facts.lag == 0
    assert set(facts.dropped) >= {22, 23}
    assert not judge_pairing(facts).aligned


def test_equal_frames_at_other_times_are_of_other_moments(studio):
    late = studio("late.mp4", "-i", studio.a_mp4(), "-vf", "setpts='PTS+if(gte(N,30),0.5/TB,0)'",
                  "-fps_mode", "passthrough", *X264, "-crf", "10")  # fmt: skip
    facts = pair(studio.a_mp4(), late)
    assert plain(facts) and not facts.repeated and facts.lag_evidence
    assert Difference("frame_times", "constant", "variable") in facts.differences
    # 60 frames in 2.5 s: the mean rate is another.
    (reason,) = judge_pairing(facts).reasons
    assert "frames per second" in reason


def test_rates_that_differ_are_refused(studio):
    slow = studio("r25.mp4", *src(2, rate=25), *X264)
    alignment = judge_pairing(pair(studio.a_mp4(), slow))
    assert not alignment.aligned
    assert alignment.reasons[0] == (
        "the candidate has 25 frames per second, the reference 30: frames of one index are of "
        "different moments"
    )


def test_the_same_frames_at_another_rate_are_refused(studio):
    slow = studio("slowed.mp4", "-r", 25, "-i", studio.a_mp4(), "-c:v", "libx264", "-crf", 1)
    facts = pair(studio.a_mp4(), slow)
    assert plain(facts) and facts.frames_candidate == 60
    assert Difference("frame_rate", 30.0, 25.0) in facts.differences
    assert not judge_pairing(facts).aligned


@pytest.mark.parametrize("kept", [45, 59])
def test_counts_that_differ_are_named(studio, kept):
    short = studio("short.nut", "-i", studio.a_mp4(), "-frames:v", kept, *FFV1)
    facts = pair(studio.a_mp4(), short)
    assert (facts.lag, facts.dropped, facts.missing_at_end) == (0, (), 60 - kept)
    (reason,) = judge_pairing(facts).reasons
    assert f"{kept} frames, the reference 60: the last" in reason


CODECS = {"lossless": FFV1, "crf30": (*X264, "-crf", "30")}


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
class TestShiftsAreLocated:
    def test_one_frame_of_lag(self, studio, codec):
        lag = studio("lag.nut", "-i", studio.a_mp4(), "-vf",
                     "trim=start_frame=1,setpts=PTS-STARTPTS", *codec)  # fmt: skip
        facts = pair(studio.a_mp4(), lag)
        assert (facts.lag, facts.lag_evidence, facts.dropped) == (1, True, ())
        assert (facts.frames_candidate, facts.missing_at_end) == (59, 0)
        assert not judge_pairing(facts).aligned

    def test_the_dropped_frame_20(self, studio, codec):
        drop = studio("drop.nut", "-i", studio.a_mp4(), "-vf",
                      "select='not(eq(n,20))',setpts=N/30/TB", *codec)  # fmt: skip
        facts = pair(studio.a_mp4(), drop)
        assert (facts.lag, facts.dropped, facts.repeated) == (0, (20,), ())
        assert not judge_pairing(facts).aligned

    def test_a_repeated_frame(self, studio, codec):
        repeat = studio("repeat.nut", "-i", studio.a_mp4(), "-vf",
                        "loop=loop=1:size=1:start=20,setpts=N/30/TB", *codec)  # fmt: skip
        facts = pair(studio.a_mp4(), repeat)
        # This ffmpeg's loop filter counts from the first frame or from the one after it.
        assert facts.frames_candidate == 61
        assert facts.repeated in ((20,), (21,), (22,))
        assert (facts.lag, facts.dropped, facts.extra_at_end) == (0, (), 0)
        assert not judge_pairing(facts).aligned


def test_the_decoders_delay_is_no_lag(studio):
    late = studio("bf.mp4", *src(), *X264, "-bf", "3", "-use_editlist", "0")
    plain_start = studio("plain.mp4", *src(), *X264, "-bf", "0")
    with open_clip(late) as clip:
        assert clip.info.start_s == pytest.approx(0.0667, abs=1e-3)
    assert is_in_step(pair(plain_start, late))
    assert is_in_step(pair(late, plain_start))


def test_an_edit_list_shows_what_a_decoder_would(studio):
    whole = studio("g.mp4", *src(4), *X264, "-g", "60")
    cut = studio("el.mp4", "-ss", "0.5", "-i", whole, "-c", "copy")
    facts = pair(whole, cut)
    assert (facts.frames_reference, facts.frames_candidate) == (120, 105)
    assert (facts.lag, facts.dropped, facts.missing_at_end) == (15, (), 0)
    assert not judge_pairing(facts).aligned


def test_a_flipped_range_flag_is_a_difference_of_tags(studio):
    tv = studio("tv.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v",
                "h264_metadata=video_full_range_flag=0")  # fmt: skip
    pc = studio("pc.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v",
                "h264_metadata=video_full_range_flag=1")  # fmt: skip
    facts = pair(tv, pc)
    assert differs(facts) == (Difference("range", "limited", "full"),)
    assert is_in_step(facts) and facts.lag_evidence


def test_601_against_709_is_a_difference_of_tags(studio):
    def tagged(code):
        bsf = f"h264_metadata=matrix_coefficients={code}"
        return studio(f"m{code}.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v", bsf)

    facts = pair(tagged(6), tagged(1))
    (found,) = differs(facts)
    assert found.field == "matrix" and found.candidate == "bt709"
    assert is_in_step(facts) and facts.lag_evidence


def test_a_frozen_tail_is_extra_or_repeats_in_place(studio):
    tail = studio("tail.mp4", "-i", studio.a_mp4(), "-vf",
                  "tpad=stop_mode=clone:stop_duration=2", "-c:v", "libx264")  # fmt: skip
    longer = pair(studio.a_mp4(), tail)
    assert (longer.lag, longer.dropped, longer.extra_at_end) == (0, (), 60)
    assert not judge_pairing(longer).aligned
    # Against a reference that goes on, the same file is damaged, not shifted.
    four = studio("four.mp4", *src(4), *X264)
    damaged = pair(four, tail)
    assert plain(damaged) and judge_pairing(damaged).aligned
    assert damaged.repeated == tuple(range(60, 120))


@pytest.mark.parametrize("crf", [23, 34])
def test_a_re_encoded_copy_is_in_step(studio, real_clip, crf):
    for name in ("bikes", "carphone_pristine"):
        whole = real_clip(name)
        again = studio(f"{name}{crf}.mp4", "-i", whole, *X264, "-crf", crf)
        facts = pair(whole, again)
        assert is_in_step(facts), (name, facts)

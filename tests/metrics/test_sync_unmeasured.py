"""Where nothing says when sound and picture belong together, there is no number but a reason."""

import re

import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.metrics.sync import SCOPE_NOTE, measure_sync
from tests.metrics.claps import claps, flashes, irregular

FPS, RATE = 24, 48_000
EVENTS = np.array([14, 31, 50, 77, 90])


def reason(frames, sound, *, frame_rate=FPS, sample_rate=RATE):
    facts = measure_sync(frames, sound, frame_rate=frame_rate, sample_rate=sample_rate)
    assert facts.av_sync_offset_ms is None
    assert facts.interval_ms is None
    assert facts.slope_ms_per_minute is None
    assert facts.events == ()
    (one,) = facts.unmeasured
    assert (one.axis, one.applies) == ("av_sync_offset_ms", True)
    return one.reason


@pytest.fixture(scope="module")
def picture():
    return flashes(FPS, 5, EVENTS)


@pytest.fixture(scope="module")
def sound():
    return claps(RATE, 5, EVENTS / FPS)


def test_silence_is_silent(picture):
    assert reason(picture, np.zeros(5 * RATE, np.float32)).startswith("silent")
    whisper = np.full(5 * RATE, 0.0009, np.float32)
    assert reason(picture, whisper) == "silent: no sample of the sound is above -60 dBFS"


def test_one_click_in_a_minute_of_nothing_is_not_silent():
    frames = flashes(FPS, 60, [1200], size=(24, 32), side=12)
    facts = measure_sync(frames, claps(RATE, 60, [50.0]), frame_rate=FPS, sample_rate=RATE)
    assert facts.av_sync_offset_ms == pytest.approx(0, abs=5)
    # A pair in 60 s, looked for over 1 s.
    assert facts.by_chance == pytest.approx(1 / 60, rel=0.01)


def test_of_one_flash_and_one_click_in_a_short_clip_the_facts_say_that_chance_may_do_it():
    facts = measure_sync(flashes(FPS, 4, [40]), claps(RATE, 4, [40 / FPS + 0.3]),
                         frame_rate=FPS, sample_rate=RATE)  # fmt: skip
    assert facts.av_sync_offset_ms == pytest.approx(300, abs=5)
    assert facts.by_chance == pytest.approx(1 / 4, rel=0.05)


def test_channels_that_cancel_are_silent(picture, sound):
    against = np.stack([sound, -sound], axis=1)
    assert reason(picture, against) == "silent: mixed to one, the channels cancel each other"


def test_a_nan_in_the_sound_is_counted(picture, sound):
    bad = sound.copy()
    bad[[10, 99_000]] = np.nan
    assert reason(picture, bad) == "the sound holds 2 NaN or infinite samples"


@pytest.mark.parametrize("kind", ["tone", "noise", "swell"])
def test_a_steady_sound_has_no_sudden_sounds(picture, kind):
    time = np.arange(5 * RATE) / RATE
    made = {
        "tone": 0.3 * np.sin(2 * np.pi * 440 * time),
        "noise": np.random.default_rng(3).normal(0, 0.1, len(time)),
        "swell": 0.3 * np.sin(2 * np.pi * 440 * time) * np.sin(2 * np.pi * 0.1 * time),
    }[kind]
    assert reason(picture, made.astype(np.float32)).startswith("no sudden sounds")


def test_a_static_shot_has_no_changes(sound):
    assert reason(flashes(FPS, 5, []), sound) == "no changes in the picture"


def test_a_slow_fade_has_no_changes(sound):
    fade = np.linspace(20, 220, 5 * FPS).astype(np.uint8)
    frames = np.broadcast_to(fade[:, None, None, None], (5 * FPS, 48, 64, 3))
    assert reason(frames, sound).startswith("no changes in the picture")


@pytest.mark.parametrize("every", [6, 8, 10, 12])
def test_events_that_repeat_within_the_search_are_ambiguous(every):
    frames = np.arange(12, 115, every)
    why = reason(flashes(FPS, 5, frames), claps(RATE, 5, frames / FPS + 0.06))
    assert why.startswith("ambiguous")
    lates = sorted(
        float(ms) if how == "late" else -float(ms)
        for ms, how in re.findall(r"(\d+) ms (late|early)", why)
    )
    period = every * 1000 / FPS
    assert lates in (
        pytest.approx([60 - period, 60], abs=5),
        pytest.approx([60, 60 + period], abs=5),
    )


def test_events_that_repeat_each_second_are_not():
    frames = np.arange(12, 115, 24)
    facts = measure_sync(flashes(FPS, 5, frames), claps(RATE, 5, frames / FPS + 0.06),
                         frame_rate=FPS, sample_rate=RATE)  # fmt: skip
    assert facts.av_sync_offset_ms == pytest.approx(60, abs=5)


def test_one_flash_among_many_sounds_is_no_more_than_chance():
    why = reason(flashes(FPS, 8, [100]), claps(RATE, 8, irregular(4, 12, 8.0)))
    assert "chance" in why or why.startswith("ambiguous")


def test_frames_without_time_stamps_are_no_evidence(picture, sound):
    assert reason(picture, sound, frame_rate=None).startswith("no evidence")


@pytest.mark.parametrize("name", ["nopts.h264", "nopts.avi"])
def test_a_file_without_time_stamps_is_no_evidence(studio, sound, name):
    path = studio(name, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24:d=1", "-c:v", "libx264",
                  "-bf", "2", "-pix_fmt", "yuv420p")  # fmt: skip
    facts = measure_sync(path, sound, sample_rate=RATE)
    assert facts.unmeasured[0].reason.startswith("no evidence")


def test_two_frames_are_too_short(picture, sound):
    assert reason(picture[:2], sound).startswith("too short")


def test_a_sound_of_one_window_is_too_short(picture):
    sound = claps(RATE, 1024 / RATE, [0.01])
    assert reason(picture, sound) == "too short: the sound is hardly a window of 1024 samples long"


def test_a_sound_that_ends_before_the_picture_begins_has_no_time_in_common(studio, sound):
    path = studio("later.mkv", "-itsoffset", "20", "-f", "lavfi", "-i",
                  "testsrc2=s=64x48:r=24:d=1", "-f", "lavfi", "-i", "sine=d=1",
                  "-c:a", "flac")  # fmt: skip
    assert measure_sync(path).clip.start_s > 19
    facts = measure_sync(path, sound, sample_rate=RATE)
    assert facts.unmeasured[0].reason == "sound and picture have no time in common"


def test_pictures_alone_need_a_sound_and_a_file_an_audio_stream(picture, studio, tmp_path):
    for alone in (picture, tmp_path):
        with pytest.raises(InputError, match="sound="):
            measure_sync(alone, frame_rate=FPS)
    with pytest.raises(MediaError) as caught:
        measure_sync(studio.a_mp4())
    assert caught.value.code == "no_audio_stream"


def test_every_record_says_that_lips_are_not_measured(picture, sound):
    facts = measure_sync(picture, sound, frame_rate=FPS, sample_rate=RATE)
    assert facts.scope == SCOPE_NOTE
    assert "lip sync is not measured" in facts.scope


def test_the_real_clip_shares_no_events(real_clip):
    facts = measure_sync(real_clip("bigbuckbunny"))
    assert facts.sound.channels == 6
    assert facts.picture_onsets > 0
    assert facts.sound_onsets > 0
    assert facts.unmeasured[0].reason.startswith("no shared events")

"""What is an event of the picture and what is not: flashes, cuts, pans, lights, frame timing."""

import numpy as np
import pytest

from screentest.errors import MediaError
from screentest.media import open_clip
from screentest.metrics.sync import measure_sync
from screentest.metrics.sync.picture import PictureOnsets
from tests.metrics.claps import claps, flashes
from tests.oracles import clips

FPS, RATE, SECONDS = 24, 48_000, 5
EVENTS = np.array([14, 31, 50, 77, 90])
LATE_S = 0.06
HOP_MS = 5.0


def measured(frames, times=EVENTS / FPS + LATE_S, **options):
    sound = claps(RATE, SECONDS, times)
    return measure_sync(frames, sound, frame_rate=FPS, sample_rate=RATE, **options)


def near(ms):
    return pytest.approx(ms, abs=HOP_MS)


def scene(seed, size=(90, 160)):
    return clips.to_u8(clips.texture(*size, seed))


def with_flashes(frames, box=(slice(20, 40), slice(30, 50))):
    frames = frames.copy()
    for at in EVENTS:
        frames[at : at + 2, *box] = 235
    return frames


@pytest.mark.parametrize("held", [1, 2, 3, 5, 6])
def test_a_flash_is_one_event_however_long_it_lasts(held):
    # Taken as an event, the end of one of two frames would read 83 ms early.
    facts = measured(flashes(FPS, SECONDS, EVENTS, held=held))
    assert facts.av_sync_offset_ms == near(60)
    assert facts.picture_onsets == len(facts.events) == 5


@pytest.mark.parametrize("held", [12, 20, 200])
def test_an_object_that_stays_for_long_is_an_event_as_it_comes(held):
    facts = measured(flashes(FPS, SECONDS, EVENTS, held=held))
    assert facts.av_sync_offset_ms == near(60)


def test_a_flash_of_the_whole_frame_is_an_event_and_no_cut():
    still = np.repeat(scene(3)[None] // 2, SECONDS * FPS, axis=0)
    facts = measured(with_flashes(still, (slice(None), slice(None))))
    assert facts.cuts_s == ()
    assert facts.av_sync_offset_ms == near(60)
    assert len(facts.events) == 5


def test_light_that_goes_on_for_good_is_an_event_and_no_cut():
    frames = np.repeat(scene(3)[None] // 2, SECONDS * FPS, axis=0)
    frames[50:] += 60
    facts = measured(frames, [50 / FPS + LATE_S])
    assert facts.cuts_s == ()
    assert facts.av_sync_offset_ms == near(60)


def shots(*starts):
    frames = np.repeat(scene(10)[None], SECONDS * FPS, axis=0)
    for k, start in enumerate(starts):
        frames[start:] = scene(11 + k)
    return frames


def test_cuts_are_no_events_and_their_times_are_listed():
    facts = measured(shots(30, 70, 100), np.array([30, 70, 100]) / FPS + 0.1)
    assert facts.av_sync_offset_ms is None
    assert facts.picture_onsets == 0
    assert facts.cuts_s == pytest.approx([30 / FPS, 70 / FPS, 100 / FPS])
    assert facts.unmeasured[0].reason == "no changes in the picture besides its cuts"


def test_cuts_between_events_do_not_move_the_offset():
    facts = measured(with_flashes(shots(40, 65)))
    assert facts.cuts_s == pytest.approx([40 / FPS, 65 / FPS])
    assert facts.av_sync_offset_ms == near(60)
    assert len(facts.events) == 5


@pytest.mark.parametrize("speed", [1, 2, 4, 8])
def test_a_local_event_under_a_moving_camera_is_seen(speed):
    wide = scene(5, (90, 160 + speed * SECONDS * FPS))
    pan = np.stack([wide[:, speed * i : speed * i + 160] for i in range(SECONDS * FPS)])
    facts = measured(with_flashes(pan))
    assert facts.av_sync_offset_ms == near(60)
    assert len(facts.events) == 5
    assert facts.cuts_s == ()


def test_a_local_event_in_a_shaking_picture_is_seen():
    wide = scene(5, (120, 200))
    steps = np.random.default_rng(1).integers(0, 6, (SECONDS * FPS, 2))
    shaking = np.stack([wide[a : a + 90, b : b + 160] for a, b in steps])
    assert measured(with_flashes(shaking)).av_sync_offset_ms == near(60)


def test_a_pan_alone_has_no_events():
    wide = scene(5, (90, 160 + 3 * SECONDS * FPS))
    pan = np.stack([wide[:, 3 * i : 3 * i + 160] for i in range(SECONDS * FPS)])
    facts = measured(pan)
    assert facts.av_sync_offset_ms is None
    assert facts.cuts_s == ()


# Between two frames.
MEETINGS = EVENTS + 0.6


def closing_hands():
    """Two bars that come together faster and faster over four frames, and go apart slowly."""
    frames = np.repeat(scene(3)[None] // 2, SECONDS * FPS, axis=0)
    for i in range(len(frames)):
        gaps = [20.0]
        for at in MEETINGS:
            closing, opening = (i - at + 4) / 4, (i - at) / 8
            if 0 <= closing < 1:
                gaps.append(20 * (1 - closing**2))
            if 0 <= opening < 1:
                gaps.append(20 * opening)
        gap = round(min(gaps))
        for left in (56 - gap, 80 + gap):
            frames[i, 20:70, left : left + 24] = 220
    return frames


@pytest.mark.parametrize("late_s", [-0.1, 0.0, 0.12])
def test_the_interval_of_hands_that_move_before_they_clap_reaches_to_the_clap(late_s):
    facts = measured(closing_hands(), MEETINGS / FPS + late_s)
    low, high = facts.interval_ms
    assert low < 1e3 * late_s < high
    # Read from their first movement they are some of the four frames late.
    assert 40 < facts.av_sync_offset_ms - 1e3 * late_s < 140


@pytest.mark.parametrize("sigma", [2, 6])
def test_noise_in_the_picture_changes_nothing(sigma):
    still = np.repeat(scene(3)[None] // 2, SECONDS * FPS, axis=0)
    noise = np.random.default_rng(2).normal(0, sigma, still.shape)
    noisy = np.clip(with_flashes(still) + noise, 0, 255).astype(np.uint8)
    facts = measured(noisy)
    assert facts.av_sync_offset_ms == near(60)
    assert len(facts.events) == 5


@pytest.mark.parametrize("size", [(48, 64), (90, 160), (270, 480), (33, 47), (320, 180)])
def test_the_size_of_the_picture_makes_no_difference(size):
    side = min(size) // 3
    facts = measured(flashes(FPS, SECONDS, EVENTS, size=size, side=side))
    assert facts.av_sync_offset_ms == near(60)
    assert facts.picture_onsets == 5


def test_float_frames_read_as_bytes_do_and_nan_is_refused():
    frames = flashes(FPS, SECONDS, EVENTS)
    assert measured(frames / np.float32(255)).av_sync_offset_ms == pytest.approx(
        measured(frames).av_sync_offset_ms, abs=0.01
    )
    bad = frames / np.float32(255)
    bad[7, 3, 4, 0] = np.nan
    with pytest.raises(MediaError, match="frame 7"):
        measured(bad)


def test_times_are_those_of_the_frames_and_not_their_count(studio):
    # Every third frame and the two of each flash: frames 42, 83 and 125 ms apart.
    path = studio(
        "variable.mkv", "-f", "lavfi", "-i",
        "color=c=gray:s=64x48:r=24:d=5,drawbox=x=20:y=14:w=16:h=16:t=fill:c=white:"
        "enable='gte(n,20)*lt(mod(n,20),2)',select='lt(mod(n,20),2)+not(mod(n,3))'",
        "-f", "lavfi", "-i", "aevalsrc=exprs='gte(t,20/24)*lt(mod(t,20/24),0.002)"
        "*0.8*sin(2*PI*3000*t)':s=48000:d=5",
        "-fps_mode", "vfr", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le",
    )  # fmt: skip
    facts = measure_sync(path)
    assert facts.clip.constant_frame_rate is False
    assert facts.av_sync_offset_ms == near(0)
    assert len(facts.events) == 5


def test_memory_is_a_second_of_small_grids():
    frames = flashes(FPS, 60, [], size=(36, 64))
    with open_clip(frames, frame_rate=FPS) as clip:
        accumulator = PictureOnsets(clip.format)
        for frame in clip.frames():
            accumulator.push(frame)
            assert len(accumulator._recent) <= FPS + 2
    assert accumulator.finish().frames == 60 * FPS

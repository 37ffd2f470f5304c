"""Claps that are late or early by known times: in memory and in files, at every usual rate."""

import io

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screentest.media import open_clip
from screentest.media.sound import read_audio
from screentest.metrics.sync import measure_sync, sync_drift_ms
from tests.metrics.claps import RATES, claps, flashes, irregular

HOP_MS = 5.0


def near(ms):
    return pytest.approx(ms, abs=HOP_MS)


def clapped(rate, sample_rate, late_s, *, seconds=5.0, count=5, seed=3, kind="click"):
    frame_rate = RATES[rate]
    frames = np.round(irregular(seed, count, seconds) * frame_rate).astype(int)
    picture = flashes(frame_rate, seconds, frames)
    sound = claps(sample_rate, seconds, frames / frame_rate + late_s, kind=kind)
    return measure_sync(picture, sound, frame_rate=frame_rate, sample_rate=sample_rate)


@pytest.mark.parametrize("kind", ["click", "clap", "burst"])
@pytest.mark.parametrize("sample_rate", [44100, 48000])
@pytest.mark.parametrize("rate", RATES)
def test_a_shift_of_120_ms_is_read_within_a_hop(rate, sample_rate, kind):
    facts = clapped(rate, sample_rate, 0.12, kind=kind)
    assert facts.av_sync_offset_ms == near(120)
    assert facts.interval_ms[0] <= 120 <= facts.interval_ms[1]
    assert len(facts.events) == 5


@pytest.mark.parametrize("sample_rate", [8000, 16000, 22050, 32000, 96000, 192000])
def test_a_click_is_read_within_a_hop_at_any_sample_rate(sample_rate):
    assert clapped("24", sample_rate, -0.085).av_sync_offset_ms == near(-85)


@pytest.mark.parametrize("sample_rate", [8000, 16000, 22050])
def test_at_a_low_rate_the_interval_says_how_coarse_a_window_of_1024_samples_is(sample_rate):
    facts = clapped("24", sample_rate, 0.12, kind="burst")
    window_ms = 1e3 * 1024 / sample_rate
    assert 120 <= facts.av_sync_offset_ms <= 120 + window_ms / 5 + HOP_MS
    assert facts.interval_ms[0] <= 120
    assert facts.av_sync_offset_ms - facts.interval_ms[0] >= 0.16 * window_ms


@pytest.mark.parametrize("sample_rate", [44100, 48000])
@pytest.mark.parametrize("rate", RATES)
def test_one_clap_60_s_into_the_clip_is_read_within_a_hop(rate, sample_rate):
    frame_rate, at = RATES[rate], round(60 * RATES[rate])
    picture = flashes(frame_rate, 62, [at], size=(24, 32), side=12)
    sound = claps(sample_rate, 62, [at / frame_rate + 0.12])
    facts = measure_sync(picture, sound, frame_rate=frame_rate, sample_rate=sample_rate)
    assert facts.av_sync_offset_ms == near(120)
    assert len(facts.events) == 1
    assert facts.events[0].picture_s == pytest.approx(at / frame_rate)
    assert facts.events[0].sound_s == pytest.approx(at / frame_rate + 0.12, abs=0.001)
    # One event has no spread: a frame above and a hop with the sound's attack below.
    frame_ms, attack_ms = 1e3 / frame_rate, 0.16 * 1024e3 / sample_rate
    assert facts.interval_ms[1] - 120 == pytest.approx(frame_ms + HOP_MS, abs=2)
    assert 120 - facts.interval_ms[0] == pytest.approx(attack_ms + HOP_MS, abs=2)


@pytest.mark.parametrize("rate", ["24", "60"])
def test_claps_over_a_minute_do_not_drift_where_the_clocks_agree(rate):
    frame_rate = RATES[rate]
    frames = np.round(irregular(8, 30, 65.0) * frame_rate).astype(int)
    picture = flashes(frame_rate, 65.0, frames, size=(24, 32), side=12)
    sound = claps(44100, 65.0, frames / frame_rate + 0.04)
    facts = measure_sync(picture, sound, frame_rate=frame_rate, sample_rate=44100)
    assert facts.av_sync_offset_ms == near(40)
    late = [1e3 * (event.sound_s - event.picture_s) for event in facts.events]
    assert late == pytest.approx([40.0] * 30, abs=1.5)
    assert facts.slope_ms_per_minute == pytest.approx(0, abs=1)
    low, high = facts.slope_interval_ms_per_minute
    assert low < 0 < high


@given(st.floats(-0.4, 0.4), st.sampled_from(list(RATES)), st.integers(0, 1000))
@settings(max_examples=25)
def test_any_shift_within_the_search_is_read_within_a_hop(late_s, rate, seed):
    facts = clapped(rate, 48000, late_s, seed=seed, count=4)
    assert facts.av_sync_offset_ms == near(1e3 * late_s)


def test_a_shift_beyond_the_search_is_not_measured():
    facts = clapped("24", 48000, 0.9, count=3, seed=5, seconds=6.0)
    assert facts.av_sync_offset_ms is None


def test_drift_is_the_size_of_the_change_of_the_offset():
    before, after = (clapped("25", 48000, late_s) for late_s in (0.04, -0.06))
    assert sync_drift_ms(after, before) == near(100)
    nothing = clapped("25", 48000, 0.9)
    assert sync_drift_ms(nothing, before) is None
    # The metric's name in the registry.
    assert "av_sync_drift_ms" in sync_drift_ms.__doc__


def clap_file(studio, name, rate, sample_rate, late_s, *codec):
    """Flashes each second in frames, clicks at their very times, and the sound moved by a mux."""
    frames = round(RATES[rate])
    period = frames / RATES[rate]
    fps = "30000/1001" if rate == "29.97" else rate
    picture = (
        f"color=c=gray:s=64x48:r={fps}:d=4,drawbox=x=20:y=14:w=16:h=16:t=fill:c=white:"
        f"enable='gte(n,{frames})*lt(mod(n,{frames}),2)'"
    )
    sound = (
        f"aevalsrc=exprs='gte(t,{period!r})*lt(mod(t,{period!r}),0.002)"
        f"*0.8*sin(2*PI*3000*t)':s={sample_rate}:d=4"
    )
    together = studio(
        f"together_{name}", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound,
        "-c:v", "libx264", "-pix_fmt", "yuv420p", *codec,
    )  # fmt: skip
    return studio(name, "-i", together, "-itsoffset", late_s, "-i", together,
                  "-map", "0:v", "-map", "1:a", "-c", "copy")  # fmt: skip


@pytest.mark.parametrize("sample_rate", [44100, 48000])
@pytest.mark.parametrize("rate", RATES)
def test_a_file_whose_sound_starts_120_ms_later_reads_120_ms(studio, rate, sample_rate):
    path = clap_file(studio, "clap.mp4", rate, sample_rate, 0.12, "-c:a", "aac")
    facts = measure_sync(path)
    assert facts.av_sync_offset_ms == near(120)
    assert facts.interval_ms[0] <= 120 <= facts.interval_ms[1]
    assert len(facts.events) == 3


@pytest.mark.parametrize("late_s", [-0.12, 0.0, 0.3])
def test_a_file_whose_sound_is_moved_reads_by_how_much(studio, late_s):
    path = clap_file(studio, "moved.mov", "25", 48000, late_s, "-c:a", "pcm_s16le")
    assert measure_sync(path).av_sync_offset_ms == near(1e3 * late_s)


def test_a_file_is_read_from_its_bytes_a_file_object_and_an_open_clip(studio):
    path = clap_file(studio, "clap.mp4", "25", 48000, 0.12, "-c:a", "aac")
    expected = measure_sync(path).av_sync_offset_ms
    data = path.read_bytes()
    assert measure_sync(data).av_sync_offset_ms == expected
    assert measure_sync(io.BytesIO(data)).av_sync_offset_ms == expected
    with open_clip(path) as clip, read_audio(path) as sound:
        assert measure_sync(clip).av_sync_offset_ms == expected
        assert measure_sync(clip, sound).av_sync_offset_ms == expected
    # Another file's sound starts at time 0 of its own clock, which is the clip's.
    assert measure_sync(path, path).av_sync_offset_ms == expected


def test_one_damaged_time_stamp_days_away_costs_neither_memory_nor_the_offset(studio):
    path = clap_file(studio, "clap.mkv", "25", 48000, 0.12, "-bf", "0", "-c:a", "flac")
    broken = path.with_name("broken.mkv")
    with av.open(path) as given, av.open(broken, "w") as made:
        streams = [made.add_stream_from_template(stream) for stream in given.streams]
        packets = [packet for packet in given.demux() if packet.dts is not None]
        last = max((p for p in packets if p.stream.type == "video"), key=lambda p: p.dts)
        last.pts = last.dts = 2_000_000_000
        for packet in packets:
            packet.stream = streams[packet.stream.index]
            made.mux_one(packet)
    facts = measure_sync(broken)
    assert facts.av_sync_offset_ms == near(120)
    assert len(facts.events) == 3


def test_pictures_whose_stamps_begin_after_their_sound_are_no_lag(studio):
    # Without an edit list the first picture is shown two frames in, for the sake of B frames.
    path = studio(
        "bframes.mp4", "-f", "lavfi", "-i",
        "color=c=gray:s=64x48:r=30:d=4,drawbox=x=20:y=14:w=16:h=16:t=fill:c=white:"
        "enable='gte(n,30)*lt(mod(n,30),2)'",
        "-f", "lavfi", "-i", "aevalsrc=exprs='gte(t,1)*lt(mod(t,1),0.002)*0.8*sin(2*PI*3000*t)':"
        "s=48000:d=4", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-bf", "3", "-c:a", "pcm_s16le",
        "-f", "mov", "-use_editlist", "0",
    )  # fmt: skip
    facts = measure_sync(path)
    # What a player would show: the pictures late by the start, the sound by its own.
    expected = 1e3 * ((facts.sound.start_s or 0.0) - facts.clip.start_s)
    assert facts.clip.start_s > 0.05
    assert facts.av_sync_offset_ms == near(expected)

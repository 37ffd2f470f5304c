"""The temporal facts of luma series: reference values, values by hand, and what cannot be told."""

import json
import tracemalloc
from pathlib import Path

import av
import msgspec
import numpy as np
import pytest

from screentest.media.info import Damage
from screentest.metrics.temporal import IMPL, TemporalFacts, temporal_facts
from screentest.metrics.temporal.names import METRICS
from tests.oracles import clips
from tests.oracles.luma_series import LumaColumns, luma_series
from tests.verdicts.made import clip_info

REPORTED = json.loads((Path(clips.__file__).parent / "temporal.json").read_text())

SMALL = ("pan", "zoom", "noise", "black", "white", "grey", "fade", "hard_cut", "frozen",
         "gain_one", "gain_jitter2", "noise002", "warble", "two_frames", "three_frames",
         "tiny_12x10")  # fmt: skip


def facts_of(frames, frame_rate=24.0, times_s=None):
    series = luma_series(frames, frame_rate, times_s)
    return temporal_facts(series, clip_info(frames=len(frames), frame_rate=frame_rate))


def unmeasured(facts):
    return {gap.axis for gap in facts.unmeasured}


def check(facts, reported):
    assert facts.luma_flicker == pytest.approx(reported["flicker"], abs=1e-5)
    if facts.jerk_ratio is None:
        assert reported["jerk_ratio"] == 0.0
        assert "jerk_ratio" in unmeasured(facts)
    else:
        assert facts.jerk_ratio == pytest.approx(reported["jerk_ratio"], rel=2e-6, abs=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_flicker_and_jerk_are_those_of_the_reference_system(name, oracle_clip):
    made, reported = oracle_clip(name), REPORTED["clips"][name]
    assert clips.sha256(made) == reported["sha256"]
    check(facts_of(made), reported)


@pytest.mark.parametrize("name", ["carphone_pristine", "carphone_distorted"])
def test_flicker_and_jerk_of_real_clips_are_those_of_the_reference_system(name, real_clip):
    with av.open(str(real_clip(name))) as container:
        frames = np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])
    reported = REPORTED["real"][name]
    # Another swscale may change single levels: then ten times the tolerance.
    if clips.sha256(frames) == reported["sha256"]:
        check(facts_of(frames), reported)
    else:
        assert facts_of(frames).luma_flicker == pytest.approx(reported["flicker"], abs=1e-4)


def grey(levels, size=(16, 16)):
    """Frames of one grey level each."""
    return np.broadcast_to(
        np.asarray(levels, np.uint8)[:, None, None, None], (len(levels), *size, 3)
    ).copy()


def test_an_alternation_of_grey_reads_its_height_frequency_and_rate():
    levels = 100 + 4 * (-1) ** np.arange(24)
    facts = facts_of(grey(levels), frame_rate=30.0)
    # 22 of 24 frames stand out by 8 levels; the first and the last have one side.
    assert facts.flicker_strength == pytest.approx(8 * 22 / 24)
    assert facts.flicker_gain == pytest.approx(8 * 22 / 24)  # the mean is 100 levels
    assert facts.flicker_frequency == 0.5
    assert facts.flicker_hz == pytest.approx(15.0)
    assert facts.flicker_periodicity > 0.9
    assert facts.motion_energy == pytest.approx(8.0)
    assert facts.motion_energy_per_s == pytest.approx(240.0)
    assert facts.jerk_ratio == pytest.approx(2.0)
    assert facts.region_flicker == pytest.approx(facts.flicker_strength)


@pytest.mark.parametrize(
    "levels",
    [np.linspace(200, 10, 32).round(), np.repeat([60, 180], 16), np.full(32, 90)],
    ids=["a linear fade", "a hard cut", "one grey"],
)
def test_fades_and_cuts_have_no_flicker_strength(levels):
    facts = facts_of(grey(levels))
    assert facts.flicker_strength == 0.0
    assert facts.region_flicker == 0.0


def test_a_part_of_the_picture_that_flickers_is_located_and_not_shared():
    frames = np.repeat(clips.pan(1, 64, 64, 3), 30, axis=0).astype(int)
    frames[:, 16:32, 48:64] += (20 * (np.arange(30) % 3 == 0))[:, None, None, None]
    facts = facts_of(frames.clip(0, 255).astype(np.uint8))
    worst = max(facts.regions, key=lambda region: region.strength)
    assert (worst.row, worst.column) == (1, 3)
    assert worst.frequency == pytest.approx(1 / 3)
    assert worst.frequency_hz == pytest.approx(8.0)
    assert facts.flicker_strength == 0.0
    assert [r.strength > 0 for r in facts.regions].count(True) == 1


def test_the_same_stretch_at_twice_the_rate_moves_twice_as_fast():
    frames = clips.pan(24, 48, 64, 3)
    slow, fast = facts_of(frames, 12.0), facts_of(frames, 24.0)
    assert fast.motion_energy == slow.motion_energy
    assert fast.motion_energy_per_s == pytest.approx(2 * slow.motion_energy_per_s)


def test_frames_that_stand_still_are_counted():
    frames = np.concatenate([clips.pan(11, 48, 64, 3), np.repeat(clips.pan(1, 48, 64, 9), 10, 0)])
    assert facts_of(frames).still_share == pytest.approx(9 / 20)


def test_a_frame_that_is_shown_for_longer_may_move_further():
    """Every second frame is shown twice as long and moves twice as far: an even motion."""
    steps = np.array([1, 2] * 20)
    positions = np.concatenate([[0], np.cumsum(steps)])
    frames = clips.pan(int(positions[-1]) + 1, 48, 64, 3, vx=64, vy=0)[positions]
    held = facts_of(frames, times_s=np.arange(len(frames)) / 24.0)
    even = facts_of(frames, times_s=positions / 24.0)
    assert held.cadence.explained > 0.9
    assert min(held.cadence.pattern) < 0.7 < min(even.cadence.pattern)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_short_clips_name_what_they_cannot_say(count):
    facts = facts_of(clips.pan(count, 48, 64, 3))
    missing = unmeasured(facts)
    assert {"flicker", "flash", "judder", "flicker_strength", "region_flicker"} <= missing
    assert (facts.luma_flicker is None) == (count < 2) == ("luma_flicker" in missing)
    assert (facts.jerk_ratio is None) == (count < 3) == ("jerk_ratio" in missing)
    assert (facts.motion_energy is None) == (count < 2)
    assert facts.flicker_strength is None
    assert facts.cadence is None
    assert all(gap.applies and "frames" in gap.reason for gap in facts.unmeasured)


def test_a_clip_that_stands_still_has_no_cadence_and_says_so():
    facts = facts_of(np.repeat(clips.pan(1, 48, 64, 3), 24, axis=0))
    assert facts.cadence is None
    assert (facts.flicker_strength, facts.still_share, facts.motion_energy) == (0.0, 1.0, 0.0)
    reasons = {gap.axis: gap for gap in facts.unmeasured}
    assert not reasons["judder"].applies
    assert "nothing moves" in reasons["judder"].reason


def test_without_time_stamps_nothing_is_said_per_second():
    facts = facts_of(clips.pan(24, 48, 64, 3), frame_rate=None)
    assert facts.motion_energy_per_s is None
    assert facts.flicker_hz is None
    assert all(region.frequency_hz is None for region in facts.regions)
    assert facts.flicker_frequency is not None


def test_frames_that_were_lost_are_not_compared_across():
    series = luma_series(grey([100] * 12 + [140] * 2 + [100] * 12))
    broken = {**vars(series), "index": np.delete(np.arange(30), [13, 14, 15, 16])}
    whole = temporal_facts(series, clip_info())
    facts = temporal_facts(type(series)(**broken), clip_info())
    assert whole.series.shared[12] == 40.0
    assert facts.series.shared[12] == 0.0
    assert np.flatnonzero(np.isnan(facts.series.motion)).tolist() == [0, 13]
    assert whole.motion_energy == pytest.approx(80 / 25)
    assert facts.motion_energy == pytest.approx(80 / 24)


def test_a_picture_without_four_rows_has_parts_without_a_pixel():
    frames = np.full((24, 1, 1, 3), 100, np.uint8)
    frames[1::2] += 8
    series = luma_series(frames)
    cells = np.full_like(series.cells, np.nan)
    cells[:, 3, 3] = series.luma_mean
    facts = temporal_facts(type(series)(**{**vars(series), "cells": cells}), clip_info())
    assert [(region.row, region.column) for region in facts.regions] == [(3, 3)]
    assert facts.flicker_strength == facts.region_flicker == pytest.approx(8 * 22 / 24)


def test_the_same_series_gives_the_same_bits():
    frames = clips.gain_jitter(clips.pan(40, 48, 64, 3), 5, 20)
    assert facts_of(frames) == facts_of(frames)


def test_facts_say_version_clip_and_damage():
    damage = (Damage(kind="truncated", detail="ends early"),)
    series = luma_series(clips.pan(9, 48, 64, 3))
    facts = temporal_facts(series, clip_info(width=64), damage)
    assert (facts.impl, facts.clip.width, facts.damage, facts.frames_read) == (IMPL, 64, damage, 9)


def test_every_metric_of_the_family_is_a_number_or_has_a_reason():
    for frames in (clips.pan(40, 48, 64, 3), clips.pan(2, 48, 64, 3), grey([0] * 24)):
        facts = facts_of(frames)
        for metric in METRICS:
            if metric.name == "cadence_strength":
                value = None if facts.cadence is None else facts.cadence.explained
            else:
                value = getattr(facts, metric.name)
            assert (value is None) == (metric.name in unmeasured(facts)), metric.name
            low, high = metric.bounds
            assert value is None or (low <= value and (high is None or value <= high))


def test_numbers_of_facts_are_plain_and_can_be_written():
    facts = facts_of(clips.gain_jitter(clips.pan(24, 48, 64, 3), 5, 20))
    scalars = {
        name: getattr(facts, name) for name in TemporalFacts.__struct_fields__ if name != "series"
    }
    assert msgspec.json.decode(msgspec.json.encode(scalars))["impl"] == IMPL


def test_a_clip_of_half_an_hour_needs_little_more_than_its_columns():
    """The columns given and those of the facts hold 500 bytes a frame."""
    count = 54_000
    luma = np.random.default_rng(0).random(count)
    parts = np.repeat(luma, 16).reshape(count, 4, 4)
    series = LumaColumns(np.arange(count), np.arange(count) / 30, *[luma] * 4, parts)
    tracemalloc.start()
    temporal_facts(series, clip_info(frames=count, frame_rate=30.0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 600 * count

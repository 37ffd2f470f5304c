"""Pairs of events, their interval, their drift, and what chance alone gives."""

import math

import numpy as np
import pytest

from screentest.metrics.sync import measure_sync
from screentest.metrics.sync.curve import correlate
from screentest.metrics.sync.onsets import Onsets
from screentest.metrics.sync.pairs import chance, pair_events, t_95
from tests.metrics.claps import claps, flashes, irregular


def test_each_picture_takes_the_sound_nearest_to_the_offset_and_no_sound_serves_two():
    picture = np.array([1.0, 1.05, 2.0, 3.0])
    sound = np.array([1.11, 2.4, 3.08])
    pairs = pair_events(picture, sound, 0.1, 0.06)
    assert pairs.picture_s.tolist() == [1.0, 3.0]
    assert pairs.sound_s.tolist() == [1.11, 3.08]
    assert pairs.offsets_s == pytest.approx([0.11, 0.08])
    assert pairs.slope is None


def test_no_sounds_make_no_pairs():
    assert len(pair_events(np.array([1.0]), np.zeros(0), 0.0, 1.0).picture_s) == 0


def test_a_line_is_followed_out_to_where_the_offset_has_left_the_width():
    picture = np.arange(60.0)
    sound = picture * 1.002 + 0.01
    pairs = pair_events(picture, sound, 0.06, 0.03)
    assert len(pairs.picture_s) == 60
    assert pairs.slope == pytest.approx(0.002)
    # Times are told to a step: 10 ms / sqrt(12) over the spread of 0..59, t of 58 degrees is 2.002.
    spread = math.sqrt(sum((k - 29.5) ** 2 for k in range(60)))
    assert pairs.slope_error == pytest.approx(2.002 * 0.01 / math.sqrt(12) / spread, rel=1e-3)


@pytest.mark.parametrize(
    ("count", "apart"), [(3, 10.0), (20, 0.2)], ids=["three events", "four seconds"]
)
def test_too_few_events_and_too_short_a_time_have_no_slope(count, apart):
    times = apart * np.arange(count)
    assert pair_events(times, times + 0.1, 0.1, 0.05).slope is None


@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (13, 2.160), (20, 2.086), (30, 2.042),
     (60, 2.000), (120, 1.980)],
)  # fmt: skip
def test_student_t_is_that_of_the_printed_tables(freedom, t):
    assert t_95(freedom) == pytest.approx(t, abs=6e-4)


def test_chance_of_one_pair_is_the_pairs_in_the_search():
    # 3 pictures and 8 sounds in 12 s: 2 pairs for each second of offset.
    one = chance(np.array([0.1]), pictures=3, sounds=8, common_s=12.0, search_s=1.0)
    assert one == pytest.approx(2.0)


def test_chance_of_three_within_a_width_is_the_poisson_tail():
    # 24 pictures and 8 sounds in 48 s: 4 a second. Within 30 ms 0.12 more are expected.
    late = np.array([0.10, 0.11, 0.13])
    three = chance(late, pictures=24, sounds=8, common_s=48.0, search_s=1.0)
    tail = 1 - math.exp(-0.12) * (1 + 0.12)
    assert three == pytest.approx(4 * tail, rel=1e-9)


def test_chance_counts_groups_as_often_as_random_events_make_them():
    random = np.random.default_rng(1)
    seconds, width, groups, runs = 20.0, 0.03, 0, 400
    for _ in range(runs):
        picture, sound = random.uniform(0, seconds, 10), random.uniform(0, seconds, 12)
        late = np.sort((sound[:, None] - picture[None, :]).ravel())
        late = late[np.abs(late) < 0.5]
        if len(late) > 2:
            groups += int(np.count_nonzero(late[2:] - late[:-2] <= width))
    expected = chance(np.array([0.0, width / 2, width]), pictures=10, sounds=12,
                      common_s=seconds, search_s=1.0)  # fmt: skip
    assert groups / runs == pytest.approx(expected, rel=0.3)


def test_chance_of_many_pairs_of_a_long_clip_keeps_its_digits():
    late = np.linspace(0, 0.02, 3000)
    assert 0 <= chance(late, pictures=4000, sounds=9000, common_s=3600.0, search_s=1.0) < 1e-300


def test_the_curve_is_the_correlation_worked_out_in_numpy():
    random = np.random.default_rng(2)
    picture = Onsets(np.arange(100) * 0.05, random.uniform(0, 1, 100), np.zeros(0))
    sound = Onsets(np.arange(1000) * 0.005, random.uniform(0, 1, 1000), np.zeros(0))
    curve = correlate(picture, sound, 0.05)
    grid = 0.005 * np.arange(991)
    triangles = 1 - np.abs(grid[:, None] - picture.time_s[None, :]) / 0.05
    x = np.max(np.maximum(triangles, 0) * picture.strength, axis=1)
    x = (x - x.mean()) / x.std()
    y = (sound.strength - sound.strength.mean()) / sound.strength.std()
    for lag in (-100, -7, 0, 3, 9):
        a, b = (x[:991], y[lag : lag + 991]) if lag >= 0 else (x[-lag:], y[: 991 + lag])
        expected = (a @ b) / math.sqrt((a @ a) * (b @ b))
        at = int(np.argmin(np.abs(curve.lag_s - 0.005 * lag)))
        assert curve.r[at] == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("parts_per_million", [1000, -1000, 2000, 300])
def test_a_clock_that_is_wrong_shows_as_a_slope(parts_per_million):
    frames = np.round(irregular(4, 40, 65.0) * 24).astype(int)
    picture = flashes(24, 65, frames, size=(24, 32), side=12)
    sound = claps(48_000, 66, frames / 24 * (1 + parts_per_million * 1e-6) + 0.02)
    facts = measure_sync(picture, sound, frame_rate=24, sample_rate=48_000)
    true = 0.06 * parts_per_million
    assert facts.slope_ms_per_minute == pytest.approx(true, abs=1)
    low, high = facts.slope_interval_ms_per_minute
    assert low < true < high
    assert not low < 0 < high


@pytest.mark.parametrize("frame_rate", [24, 60])
def test_events_between_frames_lie_in_the_interval(frame_rate):
    times = irregular(6, 20, 30.0)
    picture = flashes(frame_rate, 30, np.ceil(times * frame_rate).astype(int))
    facts = measure_sync(picture, claps(48_000, 30, times + 0.1), frame_rate=frame_rate,
                         sample_rate=48_000)  # fmt: skip
    # Half a frame early on average, as nothing shows within a frame when it happened.
    assert facts.av_sync_offset_ms == pytest.approx(100 - 500 / frame_rate, abs=5)
    assert facts.interval_ms[0] <= 100 <= facts.interval_ms[1]
    width = facts.interval_ms[1] - facts.interval_ms[0]
    assert 1e3 / frame_rate < width < 1e3 / frame_rate + 35

"""Frequencies and cadences of series whose rhythm is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.metrics.temporal.rhythm import cadence_of, dominant, hertz, pattern_of


@pytest.mark.parametrize("period", [2, 3, 4, 5, 8])
def test_one_frame_in_n_has_the_frequency_of_n_frames_and_all_the_energy(period):
    series = (np.arange(48) % period == 1) * 4.0
    assert dominant(series) == (pytest.approx(1 / period), pytest.approx(1.0))


@pytest.mark.parametrize("hz", [3.3, 7.1, 9.9])
def test_a_beat_between_a_light_and_the_frame_rate_is_found_to_a_quarter_of_the_resolution(hz):
    frames = np.arange(96)
    frequency, share = dominant(5.0 * np.sin(2 * np.pi * hz * frames / 24.0 + 0.4))
    assert frequency == pytest.approx(hz / 24.0, abs=1 / (4 * 96))
    assert share > 0.9


def test_the_share_of_a_sinusoid_is_that_of_a_least_squares_fit():
    random = np.random.default_rng(5)
    # Frequency k / T, where sine and cosine are orthogonal and the fit is the textbook one.
    series = 3.0 * np.cos(2 * np.pi * 10 * np.arange(64) / 64 + 1.0) + random.normal(0, 1, 64)
    frequency, share = dominant(series)
    assert frequency == pytest.approx(10 / 64, abs=1 / 256)
    angle = 2 * np.pi * frequency * np.arange(64)
    columns = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    centred = series - series.mean()
    left = centred - columns @ np.linalg.lstsq(columns, centred, rcond=None)[0]
    assert share == pytest.approx(1 - (left @ left) / (centred @ centred), abs=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_jitter_has_no_rhythm(seed):
    assert dominant(np.random.default_rng(seed).normal(size=120))[1] < 0.3


@given(st.lists(st.integers(-50, 50).map(float), max_size=60))
def test_periodicity_is_a_share_and_frequency_at_most_one_half(series):
    frequency, share = dominant(np.array(series))
    assert 0.0 <= frequency <= 0.5
    assert 0.0 <= share <= 1.0


def test_a_constant_or_too_short_series_has_no_frequency():
    assert dominant(np.full(40, 3.0)) == (0.0, 0.0)
    assert dominant(np.array([1.0, 2.0])) == (0.0, 0.0)


def test_hertz_are_cycles_per_frame_times_the_frame_rate():
    series = (-1.0) ** np.arange(30)
    assert hertz(0.5, series, np.arange(30) / 25.0) == pytest.approx(12.5)
    assert hertz(0.5, series, None) is None


def test_hertz_of_a_variable_rate_are_those_where_the_flicker_is():
    # 20 frames at 30 per second, then 20 at 10; only the slow half flickers.
    times = np.concatenate([np.arange(20) / 30.0, 20 / 30.0 + np.arange(20) / 10.0])
    series = np.where(np.arange(40) >= 22, (-1.0) ** np.arange(40), 0.0)
    assert hertz(0.5, series, times) == pytest.approx(5.0)


def test_stamps_that_all_say_the_same_time_give_no_rate():
    assert hertz(0.5, np.ones(4), np.zeros(4)) is None


@pytest.mark.parametrize(
    ("held", "period"),
    [("x-", 2), ("x--", 3), ("x-x--", 5), ("xxxx-", 5), ("xx-", 3), ("x" * 24 + "-", 25)],
    ids=["on twos", "on threes", "3:2", "24 in 30", "two of three", "24 in 25"],
)
def test_a_cadence_of_held_frames_is_found_with_its_pattern(held, period):
    moving = np.array([c == "x" for c in held] * (120 // len(held)), dtype=float)
    speed = 0.02 * moving * np.random.default_rng(1).uniform(0.9, 1.1, len(moving))
    cadence = cadence_of(speed)
    assert cadence is not None
    assert cadence.period == period
    assert cadence.explained > 0.9
    assert [value > 0.5 for value in cadence.pattern] == [c == "x" for c in held]


def test_the_pattern_belongs_to_the_index_of_the_frames():
    speed = np.array([0.0, 1, 1] * 10)
    assert cadence_of(speed, first=0).pattern == pytest.approx((0.0, 1.0, 1.0), abs=0.01)
    assert cadence_of(speed, first=1).pattern == pytest.approx((1.0, 0.0, 1.0), abs=0.01)


def test_a_cut_does_not_hide_a_cadence():
    speed = np.array([0.01, 0.0] * 24)
    speed[20] = 0.9
    cadence = cadence_of(speed)
    assert (cadence.period, cadence.explained > 0.6) == (2, True)


def test_motion_that_speeds_up_keeps_its_cadence():
    cadence = cadence_of(np.array([1.0, 0.0] * 60) * np.linspace(0.001, 0.1, 120))
    assert (cadence.period, cadence.explained > 0.8) == (2, True)


@pytest.mark.parametrize("seed", range(5))
def test_uneven_motion_without_a_rhythm_explains_little(seed):
    speed = np.random.default_rng(seed).uniform(0.01, 0.03, 96)
    assert cadence_of(speed).explained < 0.5


def test_even_motion_and_none_at_all():
    assert cadence_of(np.full(40, 0.02)).explained == 0.0
    assert cadence_of(np.zeros(40)) is None
    assert cadence_of(np.full(7, 0.02)) is None
    assert pattern_of(np.full(40, 0.02)) is None

"""Excursions, drift and the shared part, against values worked by hand and a slow definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.metrics.temporal.excursions import WIDTH, drift_of, excursions, shared

LEVEL = st.integers(0, 255).map(float)


def by_definition(series):
    """The docstring in loops: levels that last WIDTH + 1 frames around each."""

    def at(i):
        return series[min(max(i, 0), len(series) - 1)]

    out = []
    for t in range(len(series)):
        windows = [[at(j + k) for k in range(WIDTH + 1)] for j in range(t - WIDTH, t + 1)]
        opening, closing = max(map(min, windows)), min(map(max, windows))
        out.append((series[t] - opening) - (closing - series[t]))
    return out


@given(st.lists(LEVEL, min_size=1, max_size=30))
def test_excursions_are_what_the_definition_says(series):
    assert excursions(np.array(series)).tolist() == by_definition(series)


@given(st.lists(LEVEL, min_size=1, max_size=30), st.booleans())
def test_a_series_that_only_rises_or_only_falls_has_none(series, falls):
    ordered = np.array(sorted(series, reverse=falls))
    assert not excursions(ordered).any()


@given(st.lists(LEVEL, min_size=1, max_size=30), LEVEL)
def test_a_shift_of_all_frames_changes_nothing_and_a_mirrored_series_mirrors_them(series, by):
    values = np.array(series)
    assert np.array_equal(excursions(values + by), excursions(values))
    assert np.array_equal(excursions(255.0 - values), -excursions(values))


@pytest.mark.parametrize("lasts", range(1, WIDTH + 1))
@pytest.mark.parametrize("height", [40.0, -40.0])
def test_a_flash_reads_its_height_in_its_frames_and_nothing_elsewhere(lasts, height):
    series = np.full(24, 100.0)
    series[9 : 9 + lasts] += height
    assert excursions(series).tolist() == (series - 100.0).tolist()


def test_what_lasts_longer_than_a_flash_may_is_its_own_course():
    series = np.full(24, 100.0)
    series[9 : 9 + WIDTH + 1] += 40.0
    assert not excursions(series).any()


def test_an_alternation_reads_its_peak_to_peak_height_but_at_the_ends():
    series = 100.0 + 4.0 * (-1.0) ** np.arange(12)
    assert excursions(series).tolist() == [0.0, *(8.0 * (-1.0) ** np.arange(1, 11)), 0.0]


def test_columns_are_read_apart():
    one = np.array([5.0, 5, 9, 5, 5, 5, 5, 5])
    two = np.arange(8.0)
    both = excursions(np.stack([one, two], axis=1))
    assert np.array_equal(both, np.stack([excursions(one), np.zeros(8)], axis=1))


def test_no_frames_have_no_excursions():
    assert excursions(np.zeros((0, 16))).shape == (0, 16)
    assert drift_of(np.zeros(0)).shape == (0,)


def test_drift_is_the_smaller_range_of_the_two_sides():
    # Six frames before frame 7 stay, six after it rise by 1 each; a step is on one side alone.
    rises = np.concatenate([np.zeros(8), np.arange(1.0, 9.0)])
    assert drift_of(rises)[7] == 0.0
    assert drift_of(rises)[9] == 2.0
    assert not drift_of(np.repeat([0.0, 50.0], 20)).any()


def test_drift_near_an_end_is_that_of_the_whole_side():
    ramp = np.arange(20.0)
    assert drift_of(ramp)[0] == 6.0
    assert drift_of(ramp)[19] == 6.0
    assert drift_of(np.arange(5.0))[2] == 2.0
    # Frame 5 of 20 has six frames after it, the step among them, and only five before.
    assert drift_of(np.repeat([0.0, 50.0], 10))[5] == 50.0


def test_the_shared_part_is_the_weighted_median():
    parts = np.array([[1.0, 2, 3, 10], [0.0, 0, 8, 8]])
    assert shared(parts, np.ones(4)).tolist() == [2.5, 4.0]
    assert shared(parts, np.array([0.0, 0, 1, 0])).tolist() == [3.0, 8.0]
    assert shared(parts, np.array([1.0, 1, 3, 1])).tolist() == [3.0, 8.0]


def test_black_parts_do_not_outvote_those_that_are_lit():
    letterboxed = np.zeros((3, 16))
    letterboxed[1, 4:8] = 5.0
    weights = np.where((np.arange(16) >= 4) & (np.arange(16) < 8), 120.0, 0.0)
    assert shared(letterboxed, weights).tolist() == [0.0, 5.0, 0.0]
    assert not shared(letterboxed, np.zeros(16)).any()


def test_shared_of_a_long_clip_is_that_of_its_frames_one_by_one():
    parts = np.random.default_rng(3).normal(size=(9001, 16))
    weights = np.linspace(0.1, 1.0, 16)
    alone = [shared(parts[t : t + 1], weights)[0] for t in range(0, 9001, 50)]
    assert shared(parts, weights)[::50].tolist() == alone

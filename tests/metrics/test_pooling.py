"""Streamed, merged or at once: the same bits, for every pool."""

import json
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest import MetricAccumulator, SuiteAccumulator
from screentest.errors import InputError, ProtocolError, SchemaError
from screentest.metrics import registry
from screentest.metrics.pooling import pool
from screentest.metrics.spec import WORDS, MetricSpec
from screentest.reports.canonical import dumps

POOLS = WORDS["pool"]
DIRECTIONS = {"up": None, "down": None, "target": 0.0}

finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.lists(finite, min_size=1, max_size=40)
gappy = st.lists(st.none() | finite, max_size=40)
pools = st.sampled_from(POOLS)
directions = st.sampled_from(sorted(DIRECTIONS))


@pytest.fixture(scope="module", autouse=True)
def metrics():
    """A metric without bounds for each pool and direction."""
    names = []
    for kind in POOLS:
        for direction, target in DIRECTIONS.items():
            names.append(named(kind, direction))
            registry.register(
                MetricSpec(
                    name=names[-1], says="a test's", dimension="quality", modality="video",
                    unit="1", direction=direction, target=target, pool=kind, impl=f"{names[-1]}@1",
                    family="test",
                )
            )  # fmt: skip
    yield
    for name in names:
        registry.unregister(name)


def named(kind, direction="up"):
    return f"mylab_{kind}_{direction}"


def filled(name, items):
    one = MetricAccumulator(name)
    one.update_many(items)
    return one


@pytest.mark.parametrize("place", [{"unit": 3}, {"index": "3"}, {"index": 1.0}])
def test_a_place_that_no_state_can_hold_is_refused_and_nothing_taken_in(place):
    one, suite = MetricAccumulator("psnr"), SuiteAccumulator(["psnr", "ssim"])
    with pytest.raises(InputError, match="expected"):
        one.update(3.0, **place)
    with pytest.raises(InputError, match="expected"):
        suite.update({"psnr": 3.0}, **place)
    assert (one.compute().n, suite.compute()) == (0, {})


def test_an_index_of_numpy_is_written_as_a_number():
    one = MetricAccumulator("psnr")
    one.update(3.0, "a", np.int64(7))
    assert json.loads(json.dumps(one.state()))["worst"]["index"] == 7


def bits(value):
    return None if value is None else value.hex()


class TestPool:
    @given(values)
    def test_the_mean_is_the_exact_sum_over_the_count(self, items):
        exact = sum(map(Fraction, items)) / len(items)
        found = pool("mean", items)
        # Rounded twice: by half a bit of the sum, and by half a bit of the quotient.
        assert abs(Fraction(found) - exact) <= abs(exact) * Fraction(1, 2**51) + Fraction(5e-324)
        assert min(items) <= found <= max(items)

    @given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=40))
    def test_the_mean_is_fsums_within_the_values(self, items):
        usual = math.fsum(items) / len(items)
        assert pool("mean", items) == min(max(usual, min(items)), max(items))

    @given(values)
    def test_min_max_and_median_are_pythons(self, items):
        assert pool("min", items) == min(items)
        assert pool("max", items) == max(items)
        median = statistics.median(map(Fraction, items))
        assert pool("median", items) == pytest.approx(float(median), rel=1e-15, abs=5e-324)

    @given(st.lists(st.floats(5e-324, exclude_min=False, allow_infinity=False), min_size=1))
    def test_the_harmonic_mean_is_that_of_fractions(self, items):
        exact = len(items) / sum(1 / Fraction(item) for item in items)
        assert pool("harmonic_mean", items) == pytest.approx(float(exact), rel=1e-14, abs=1e-323)

    def test_values_worked_by_hand(self):
        assert pool("mean", [1.0, 2.0, 6.0]) == 3.0
        assert pool("median", [7.0, 1.0, 2.0]) == 2.0
        assert pool("median", [7.0, 1.0, 2.0, 4.0]) == 3.0
        assert pool("harmonic_mean", [1.0, 2.0, 4.0]) == pytest.approx(12 / 7, rel=1e-15)
        assert pool("harmonic_mean", [40.0, 60.0]) == pytest.approx(48.0, rel=1e-15)
        assert pool("harmonic_mean", [0.1, 0.1, 0.1]) == 0.1
        assert pool("min", [3.0, -1.0]) == -1.0
        assert pool("max", [3.0, -1.0]) == 3.0

    @pytest.mark.parametrize("items", [[0.0, 1.0], [-1.0, 1.0], [1.0, -0.0]])
    def test_the_harmonic_mean_with_a_value_of_0_or_less_is_0(self, items):
        assert pool("harmonic_mean", items) == 0.0

    def test_the_largest_numbers_do_not_overflow(self):
        big = 1.7976931348623157e308
        assert pool("mean", [big, big, big]) == big
        assert pool("median", [big, big]) == big
        assert pool("harmonic_mean", [big, big]) == big

    @pytest.mark.parametrize("kind", POOLS)
    def test_nothing_and_what_is_not_finite_are_refused(self, kind):
        with pytest.raises(InputError) as caught:
            pool(kind, [])
        assert caught.value.code == "no_values"
        for bad in (math.nan, math.inf):
            with pytest.raises(InputError) as caught:
                pool(kind, [1.0, bad])
            assert caught.value.code == "non_finite_value"

    def test_an_unknown_pool_is_refused(self):
        with pytest.raises(InputError, match="mean, median, min, max, harmonic_mean"):
            pool("sum", [1.0])


class TestMetricAccumulator:
    @given(kind=pools, direction=directions, items=values)
    def test_streamed_is_at_once_bit_for_bit(self, kind, direction, items):
        found = filled(named(kind, direction), items).compute()
        assert bits(found.value) == bits(pool(kind, items))
        assert found.n == len(items)

    @given(kind=pools, direction=directions, items=gappy, cut=st.integers(0, 40))
    def test_halves_merge_into_the_whole(self, kind, direction, items, cut):
        name = named(kind, direction)
        whole = filled(name, items)
        first, second = filled(name, items[:cut]), filled(name, items[cut:])
        first.merge(second)
        assert first.compute() == whole.compute()
        assert first.state() == whole.state()

    @given(kind=pools, items=values, seed=st.randoms(use_true_random=False))
    def test_no_order_of_the_values_changes_a_number(self, kind, items, seed):
        other = list(items)
        seed.shuffle(other)
        a, b = (filled(named(kind), some).compute() for some in (items, other))
        assert [bits(v) for v in (a.value, a.least, a.most, a.deviation)] == [
            bits(v) for v in (b.value, b.least, b.most, b.deviation)
        ]

    @given(kind=pools, direction=directions, items=gappy, cut=st.integers(0, 40))
    def test_a_state_goes_through_json_and_on(self, kind, direction, items, cut):
        name = named(kind, direction)
        first = filled(name, items[:cut])
        state = json.loads(json.dumps(first.state()))
        second = MetricAccumulator(name)
        second.load_state(state)
        assert second.compute() == first.compute()
        second.update_many(items[cut:])
        assert second.compute() == filled(name, items).compute()

    @given(kind=pools, items=st.lists(st.floats(-1e15, 1e15), max_size=20))
    def test_a_state_goes_through_canonical_json(self, kind, items):
        one = filled(named(kind), items)
        other = MetricAccumulator(named(kind))
        other.load_state(json.loads(dumps(one.state())))
        assert other.compute() == one.compute()

    @given(st.lists(st.floats(-1e100, 1e100), min_size=2, max_size=40))
    def test_the_deviation_is_that_of_exact_fractions(self, items):
        expected = statistics.stdev(map(Fraction, items))
        found = filled(named("mean"), items).compute().deviation
        assert found == pytest.approx(float(expected), rel=1e-14, abs=1e-320)

    def test_one_value_has_no_deviation_and_equal_ones_0(self):
        assert filled("psnr", [30.0]).compute().deviation is None
        assert filled("psnr", [30.1] * 7).compute().deviation == 0.0

    @given(gappy, directions)
    def test_the_worst_is_the_first_extreme_in_the_bad_direction(self, items, direction):
        found = filled(named("mean", direction), items).compute()
        known = [(i, v) for i, v in enumerate(items) if v is not None]
        bad = {"up": lambda v: -v, "down": lambda v: v, "target": abs}[direction]
        if not known:
            assert (found.worst, found.worst_index) == (None, None)
        else:
            at, worst = max(known, key=lambda item: (bad(item[1]), -item[0]))
            assert (found.worst, found.worst_index) == (worst, at)

    def test_the_worst_is_told_with_what_it_is_of(self):
        one = MetricAccumulator("psnr")
        one.update(38.0, "a.mp4", index=70)
        one.update(31.0, "b.mp4", index=71)
        one.update(31.0, "c.mp4", index=72)
        found = one.compute()
        assert (found.worst, found.worst_unit, found.worst_index) == (31.0, "b.mp4", 71)
        assert (found.metric, found.impl, found.unit, found.pool) == (
            "psnr",
            "psnr@1",
            "dB",
            "mean",
        )

    def test_a_metric_that_has_no_bad_direction_has_no_worst(self):
        assert filled("audio_lufs", [-20.0, -9.0]).compute().worst is None

    @pytest.mark.parametrize(("name", "items", "expected"), [
        ("frame_std_min", [0.2, 0.01, 0.3], 0.01),
        ("grid_peak_ratio", [2.0, 9.5, 3.0], 9.5),
        ("adjacent_frame_corr", [0.9, 0.1, 0.8], 0.8),
        ("psnr", [30.0, 40.0], 35.0),
    ])  # fmt: skip
    def test_a_metric_is_pooled_as_the_registry_says(self, name, items, expected):
        assert filled(name, items).compute().value == expected

    def test_nothing_measured_is_a_reason_and_no_number(self):
        empty = MetricAccumulator("psnr").compute()
        assert (empty.value, empty.n, empty.unmeasured, empty.reason) == (
            None, 0, 0, "no value: none came")  # fmt: skip
        gaps = filled("psnr", [None, None]).compute()
        assert (gaps.value, gaps.worst, gaps.unmeasured) == (None, None, 2)
        assert gaps.reason == "no value: none of 2 was measured"

    @pytest.mark.parametrize(("value", "code"), [
        (math.nan, "non_finite_value"), (math.inf, "non_finite_value"), ("1", "not_a_number"),
        (-3.0, "out_of_bounds"),
    ])  # fmt: skip
    def test_a_refused_value_leaves_everything_as_it_was(self, value, code):
        one = filled("psnr", [30.0, None])
        before = one.state()
        with pytest.raises(InputError) as caught:
            one.update(value)
        assert caught.value.code == code
        assert one.state() == before

    def test_reset_forgets(self):
        one = filled("psnr", [30.0, None])
        one.reset()
        assert one.state() == MetricAccumulator("psnr").state()

    def test_merging_with_itself_doubles_it(self):
        one = filled(named("median"), [1.0, None, 2.0])
        one.merge(one)
        assert one.state() == filled(named("median"), [1.0, None, 2.0] * 2).state()

    def test_an_unknown_metric_is_refused(self):
        with pytest.raises(InputError, match="did you mean psnr"):
            MetricAccumulator("psnrr")

    def test_another_metric_does_not_go_in(self):
        one = filled("psnr", [30.0])
        for take in (
            lambda: one.merge(filled("psnr_y", [30.0])),
            lambda: one.load_state(filled("psnr_y", [30.0]).state()),
        ):
            with pytest.raises(InputError, match="two metrics") as caught:
                take()
            assert caught.value.code == "different_metric"

    def test_another_impl_does_not_go_in(self):
        one = filled("psnr", [30.0])
        state = one.state() | {"impl": "psnr@9"}
        with pytest.raises(ProtocolError, match=r"psnr@9 and by psnr@1") as caught:
            one.load_state(state)
        assert caught.value.code == "different_impl"
        assert one.compute().value == 30.0

    @pytest.mark.parametrize("forged", [
        {"schema": "screentest/accumulator@9"}, {"n": 3}, {"n": -1}, {"unmeasured": -1},
        {"total": "0x1p0"}, {"total": "ten"}, {"total": "0x46p99999"}, {"squares": "0x0p-2148"},
        {"least": 31.0}, {"least": None}, {"most": "a"}, {"worst": None}, {"values": [30.0]},
        {"most": 41.0}, {"n": "2"}, {"more": 1}, {"least": -5.0},
        {"worst": {"value": 35.0, "unit": "", "position": 0, "index": None}},
        {"worst": {"value": 30.0, "unit": "", "position": 9, "index": None}},
    ])  # fmt: skip
    def test_a_state_that_contradicts_itself_is_refused(self, forged):
        state = filled("psnr", [30.0, 40.0]).state()
        assert set(forged) - set(state) <= {"more"}
        one = filled("psnr", [20.0])
        with pytest.raises(SchemaError):
            one.load_state(state | forged)
        assert one.compute().value == 20.0

    @pytest.mark.parametrize("forged", [
        {"values": [1.0, 3.0]}, {"values": None}, {"values": [1.0]}, {"total": "0x7p0"},
    ])  # fmt: skip
    def test_kept_values_must_be_those_of_the_sums(self, forged):
        state = filled(named("median"), [1.0, 2.0]).state()
        with pytest.raises(SchemaError):
            MetricAccumulator(named("median")).load_state(state | forged)


class TestSuiteAccumulator:
    def suite(self):
        suite = SuiteAccumulator(["psnr", "ssim", "lpips"])
        suite.update({"psnr": 38.0, "ssim": 0.9, "lpips": None}, "a.mp4")
        suite.update({"psnr": 30.0}, "b.mp4")
        return suite

    def test_only_what_is_measured_is_computed_and_the_rest_has_a_reason(self):
        suite = self.suite()
        found = suite.compute()
        assert list(found) == ["psnr", "ssim"]
        assert (found["psnr"].value, found["psnr"].worst_unit) == (34.0, "b.mp4")
        assert (found["ssim"].n, found["ssim"].unmeasured) == (1, 1)
        assert suite.unmeasured() == {"lpips": "no value: none of 2 was measured"}
        assert suite.impls() == {
            "psnr": "psnr@1", "ssim": "ssim@1", "lpips": "lpips@1+alex-v0.1"}  # fmt: skip

    def test_a_clip_with_a_fault_is_not_taken_in_by_half(self):
        suite = self.suite()
        before = suite.state()
        for bad in ({"psnr": 30.0, "mse": 0.1}, {"psnr": 30.0, "ssim": math.nan}):
            with pytest.raises(InputError):
                suite.update(bad)
            assert suite.state() == before

    def test_state_and_halves_give_the_whole(self):
        whole = self.suite()
        first, second = SuiteAccumulator(whole.metrics), SuiteAccumulator(whole.metrics)
        first.update({"psnr": 38.0, "ssim": 0.9}, "a.mp4")
        second.update({"psnr": 30.0}, "b.mp4")
        taken_up = SuiteAccumulator(whole.metrics)
        taken_up.load_state(json.loads(json.dumps(first.state())))
        taken_up.merge(second)
        assert taken_up.state() == whole.state()

    def test_another_suite_does_not_go_in(self):
        suite = self.suite()
        for take in (
            lambda: suite.merge(SuiteAccumulator(["psnr"])),
            lambda: suite.load_state(SuiteAccumulator(["psnr"]).state()),
        ):
            with pytest.raises(InputError, match="only suites of the same"):
                take()
        broken = suite.state() | {"ssim": {}}
        with pytest.raises(SchemaError):
            suite.load_state(broken)
        suite.reset()
        assert suite.compute() == {}

    def test_a_suite_of_nothing_is_refused(self):
        with pytest.raises(InputError, match="no metric was named"):
            SuiteAccumulator([])


@pytest.mark.parametrize("state", [None, 3, [1], "psnr"])
def test_what_is_no_state_of_a_suite_is_refused(state):
    with pytest.raises(SchemaError, match="not the state of an accumulator"):
        SuiteAccumulator(["psnr"]).load_state(state)

"""Paired tests, Holm, power and intervals, each against something that is not us."""

import importlib.util
import itertools
import math
import statistics

import numpy as np
import pytest

from screentest.errors import MissingBackendError
from screentest.metrics.population import measure_population, require_scipy, significance
from screentest.metrics.population.holm import holm
from screentest.metrics.population.significance import interval, paired_p, power
from screentest.metrics.population.verify import t_test_p
from tests.population.made import clip

stats = pytest.importorskip("scipy.stats", reason="pip install 'screentest[gate]'")

LOGS = [0.01, 0.02, -0.005, 0.03, 0.015, 0.01, 0.02, 0.0]


class TestPairedTest:
    def test_published_example(self):
        assert paired_p(LOGS) == pytest.approx(0.0168897925, abs=1e-10)

    def test_it_is_scipys_test_of_two_samples(self):
        drawn = np.random.default_rng(3)
        for n in (2, 6, 8, 31):
            reference = drawn.normal(0, 1, n)
            candidate = reference + drawn.normal(0.3, 0.5, n)
            twin = stats.ttest_rel(candidate, reference).pvalue
            assert paired_p(candidate - reference) == pytest.approx(twin, rel=1e-9)

    @pytest.mark.parametrize(("logs", "p"), [([0.0] * 8, 1.0), ([0.1] * 8, 0.0),
                                             ([math.log(0.9)] * 7, 0.0)])  # fmt: skip
    def test_prompts_that_all_move_alike_are_certain_and_do_not_warn(self, logs, p):
        assert paired_p(logs) == t_test_p(logs) == p

    @pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 9, 40, 41])
    def test_the_closed_form_that_checks_a_record_agrees_with_scipy(self, n):
        drawn = np.random.default_rng(n)
        for shift in (0.0, 0.3, 1.0, 3.0):
            logs = list(drawn.normal(shift, 1.0, n))
            assert t_test_p(logs) == pytest.approx(paired_p(logs), abs=1e-12)

    def test_published_incomplete_beta(self):
        """I_0.3(7/2, 1/2) is the tail of t with 7 degrees of freedom where 7 / (7 + t^2) = 0.3."""
        t = math.sqrt(7 / 0.3 - 7)
        unit = [v / statistics.stdev(self.BASE) for v in self.BASE]
        logs = [v + t / math.sqrt(8) for v in unit]
        assert t_test_p(logs) == pytest.approx(0.004923824, abs=3e-8)
        assert paired_p(logs) == pytest.approx(0.004923824, abs=3e-8)

    BASE = (1, -1, 1, -1, 1, -1, 1, -1)

    def test_published_tail_of_seven_degrees_of_freedom(self):
        # t = 2: with a deviation of 1 the mean of eight is 2 / sqrt 8.
        unit = [v / statistics.stdev(self.BASE) for v in self.BASE]
        logs = [v + 2 / math.sqrt(8) for v in unit]
        assert t_test_p(logs) == pytest.approx(0.0856193286, abs=1e-10)
        assert paired_p(logs) == pytest.approx(0.0856193286, abs=1e-10)


class TestHolm:
    def test_published_example(self):
        assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
            {"a": 0.03, "b": 0.06, "c": 0.06}
        )

    def test_by_hand(self):
        # 0.001 x 5, 0.011 x 4, 0.02 x 3 = 0.06, 0.021 x 2 = 0.042 -> held at 0.06, 0.5 -> 0.5.
        p = {"a": 0.021, "b": 0.001, "c": 0.5, "d": 0.011, "e": 0.02}
        expected = {"a": 0.06, "b": 0.005, "c": 0.5, "d": 0.044, "e": 0.06}
        assert holm(p) == pytest.approx(expected)

    def test_none_exceeds_one_and_order_of_names_is_kept(self):
        adjusted = holm({"z": 0.9, "a": 0.4})
        assert list(adjusted) == ["z", "a"]
        assert adjusted == {"z": 0.9, "a": 0.8}
        assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}

    def test_among_nothing_but_chance_one_test_in_twenty_finds_anything(self):
        """What Holm keeps: the rate of any false finding among six, here over 1,500 draws."""
        drawn = np.random.default_rng(5)
        found = sum(
            min(holm({str(k): paired_p(row) for k, row in enumerate(rows)}).values()) < 0.05
            for rows in drawn.normal(0, 1, (1500, 6, 8))
        )
        assert 0.03 < found / 1500 < 0.06


class TestPower:
    @pytest.mark.parametrize("n", [3, 8, 20])
    def test_the_smallest_detectable_effect_is_found_four_times_in_five(self, n):
        logs = list(np.random.default_rng(1).normal(0, 0.05, n))
        said = power(logs)
        assert said.spread == pytest.approx(statistics.stdev(logs))
        effect = math.log1p(said.detectable) / said.spread
        drawn = np.random.default_rng(2).normal(effect, 1.0, (40_000, n))
        p = stats.ttest_1samp(drawn, 0.0, axis=1).pvalue
        assert np.mean((p < 0.05) & (drawn.mean(axis=1) > 0)) == pytest.approx(0.80, abs=0.01)

    @pytest.mark.parametrize("spread", [0.005, 0.02, 0.06])
    def test_the_prompts_that_two_percent_needs_are_the_fewest_that_find_it(self, spread):
        base = np.array([1.0, -1.0, 0.5, -0.5, 0.0])
        logs = base / statistics.stdev(base) * spread
        needed = power(list(logs)).prompts_needed
        chances = []
        for n in (needed - 1, needed):
            drawn = np.random.default_rng(n).normal(math.log(1.02), spread, (20_000, max(n, 2)))
            chances.append(np.mean(stats.ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05))
        assert chances[1] > 0.79
        assert needed == 3 or chances[0] < 0.81

    def test_of_six_tests_that_holm_corrects_it_is_the_effect_that_the_gate_finds(self):
        logs = list(np.random.default_rng(1).normal(0, 0.05, 8))
        said = power(logs, tests=6, least=6)
        effect = math.log1p(said.detectable) / said.spread
        assert effect == pytest.approx(1.65, abs=0.01)
        assert power(logs).detectable < said.detectable
        drawn = np.random.default_rng(3).normal(0, 1, (1000, 6, 8))
        drawn[:, 0] += effect
        found = [holm(dict(zip("abcdef", p, strict=True)))["a"] < 0.05
                 for p in stats.ttest_1samp(drawn, 0.0, axis=2).pvalue]  # fmt: skip
        assert np.mean(found) == pytest.approx(0.80, abs=0.03)

    def test_fewer_prompts_than_are_tested_find_nothing(self):
        said = power([0.0, 0.01, 0.02, 0.0, 0.01], tests=6, least=6)
        assert said.detectable is None
        assert said.prompts_needed >= 6

    def test_the_ratios_that_are_tested_have_the_level_of_their_test(self):
        logs = np.random.default_rng(4).normal(0, 0.03, 8)
        pairs = [(clip(), clip(contrast=0.2 * math.exp(v), flicker=0.5 * math.exp(v)))
                 for v in logs]  # fmt: skip
        told = measure_population(pairs, list("abcdefgh")).power
        together = power(list(logs), tests=6, least=6)
        assert told["ratio_contrast"].detectable == pytest.approx(together.detectable)
        assert told["ratio_contrast"].prompts_needed == together.prompts_needed
        assert told["flicker_ratio"].detectable == pytest.approx(power(list(logs)).detectable)

    def test_by_table(self):
        """A paired t test of 8 pairs finds 1.16 deviations, of 10 pairs 1.00 (Cohen 1988)."""
        for n, effect in ((8, 1.156), (10, 0.996)):
            logs = list(np.random.default_rng(n).normal(0, 1e-3, n))
            said = power(logs)
            assert math.log1p(said.detectable) / said.spread == pytest.approx(effect, abs=2e-3)

    def test_one_prompt_says_nothing_of_the_spread(self):
        assert power([0.1]).spread is power([0.1]).detectable is power([0.1]).prompts_needed is None

    def test_prompts_that_all_move_alike_show_anything(self):
        said = power([0.01] * 8)
        assert said.detectable == pytest.approx(0, abs=1e-12)
        assert said.prompts_needed == 3

    def test_a_wide_spread_needs_many(self):
        # (1.960 + 0.842)^2 / (ln 1.02 / 0.5)^2 = 5004
        logs = list(np.array([1.0, -1.0] * 4) * 0.5 / statistics.stdev([1.0, -1.0] * 4))
        assert power(logs).prompts_needed == pytest.approx(5006, abs=3)


class TestInterval:
    @staticmethod
    def median(drawn):
        return np.median(drawn[..., 0], axis=-1)

    def test_three_prompts_against_every_resample(self):
        """27 resamples of three: their medians are 0 seven times, 1 thirteen times, 4 seven
        times."""
        values = [0.0, 1.0, 4.0]
        medians = sorted(statistics.median(draw) for draw in itertools.product(values, repeat=3))
        assert [medians.count(v) for v in values] == [7, 13, 7]
        assert interval([[v] for v in values], self.median) == (0.0, 4.0)

    @pytest.mark.parametrize("n", [8, 20])
    def test_it_covers_the_median_about_as_often_as_is_said(self, n):
        """0.93 of 1,500; three deviations of 250 draws are 0.05."""
        drawn = np.random.default_rng(7)
        covered = 0
        for _ in range(250):
            ends = interval(drawn.normal(0, 1, (n, 1)), self.median)
            covered += ends.low <= 0 <= ends.high
        assert 0.88 <= covered / 250 <= 0.98

    def test_the_same_prompts_give_the_same_interval(self):
        rows = np.random.default_rng(9).normal(0, 1, (8, 1))
        assert interval(rows, self.median) == interval(rows, self.median)

    def test_of_one_prompt_there_is_none(self):
        assert interval([[1.0]], self.median) is None

    def test_of_equal_prompts_it_is_a_point(self):
        ends = interval([[math.log(0.9)]] * 8, self.median)
        assert ends.low <= ends.high
        assert ends == pytest.approx((math.log(0.9),) * 2)


class TestWithoutScipy:
    @pytest.fixture(autouse=True)
    def _none(self, monkeypatch):
        found = importlib.util.find_spec
        monkeypatch.setattr(
            significance.importlib.util,
            "find_spec",
            lambda name, *rest: None if name == "scipy" else found(name, *rest),
        )

    def test_the_extra_is_named(self):
        with pytest.raises(MissingBackendError, match=r"pip install 'screentest\[gate\]'"):
            require_scipy()

    def test_nothing_is_measured_before_it_is_said(self):
        with pytest.raises(MissingBackendError):
            measure_population([(clip(), "not a clip")], ["a"])

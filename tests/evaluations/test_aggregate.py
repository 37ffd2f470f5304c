"""The table of many records: values by hand, nothing made up where there is no number."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.evaluations.aggregate import aggregate, bootstrap_interval
from screentest.evaluations.records import Record, Skip
from screentest.metrics.facts import Score
from screentest.reports.canonical import dumps


def score(name: str, value: float | None, **more: Any) -> Score:
    fields = {"state": "measured", "unit": "dB", "impl": f"{name}@1", "direction": "up"}
    return Score(name=name, value=value, **(fields | more))


def record(place: str, *scores: Score, requested: tuple[str, ...] = ("psnr",),
           skips: tuple[Skip, ...] = (), group: str = "g") -> Record:  # fmt: skip
    return Record(
        mode="vision",
        group=group,
        key=place,
        place=place,
        state="scored" if scores else "skipped",
        prediction=None,
        ground_truth=None,
        requested=requested,
        content={},
        metrics={one.name: one.value for one in scores},
        states={one.name: one.state for one in scores},
        scores=scores,
        skips=skips,
    )


def table(*records: Record, expected: dict[str, Any] | None = None) -> Any:
    return aggregate({one.place: one for one in records}, expected or {})


def test_mean_count_and_deviation_by_hand() -> None:
    row = table(*(record(f"k{v}", score("psnr", v)) for v in (30.0, 32.0, 37.0)))["g"]["psnr"]
    assert (row["mean"], row["count"]) == (33.0, 3)
    # Squares 9 + 1 + 16 over n - 1 = 2.
    assert row["std"] == pytest.approx(math.sqrt(13))
    assert (row["n_identical"], row["n_skipped"], row["n_missing"]) == (0, {}, 0)
    assert (row["unit"], row["direction"], row["impl"]) == ("dB", "up", "psnr@1")
    assert "reason" not in row


def test_only_groups_are_at_the_top_so_that_readers_may_iterate() -> None:
    found = table(record("a", score("psnr", 1.0)), record("b", score("psnr", 2.0), group="h"))
    assert [(group, metric, row["mean"], row["count"])
            for group, metrics in found.items() for metric, row in metrics.items()] == [
        ("g", "psnr", 1.0, 1), ("h", "psnr", 2.0, 1)]  # fmt: skip


def test_an_identical_pair_is_in_no_mean_where_it_has_no_number() -> None:
    psnr = score("psnr", None, state="identical")
    ssim = score("ssim", 1.0, state="identical")
    other = (score("psnr", 30.0), score("ssim", 0.5))
    found = table(*(record(p, *s, requested=("psnr", "ssim"))
                    for p, s in (("a", (psnr, ssim)), ("b", other))))["g"]  # fmt: skip
    assert (found["psnr"]["mean"], found["psnr"]["count"], found["psnr"]["n_identical"]) == (
        30.0, 1, 1)  # fmt: skip
    assert (found["ssim"]["mean"], found["ssim"]["count"], found["ssim"]["n_identical"]) == (
        0.75, 2, 1)  # fmt: skip


def test_nothing_measured_is_null_with_a_reason() -> None:
    skip = Skip(("psnr",), "no_ground_truth", "looked for x")
    row = table(record("a", skips=(skip,)), expected={"b": ("g", ("psnr",))})["g"]["psnr"]
    assert (row["mean"], row["count"], row["std"], row["ci95"]) == (None, 0, None, None)
    assert row["n_skipped"] == {"no_ground_truth": 1}
    assert row["n_missing"] == 1
    assert row["reason"] == "no sample has a number: 1 skipped (no_ground_truth), 1 missing"
    assert row["worst"] == []


def test_skips_and_missing_count_for_every_name_that_a_request_gives() -> None:
    scores = (score("psnr", 30.0), score("psnr_worst", 20.0), score("psnr_y", 31.0),
              score("psnr_y_worst", 21.0))  # fmt: skip
    skip = Skip(("psnr",), "size_mismatch", "")
    requested = ("psnr", "psnr_y")
    found = table(
        record("a", *scores, requested=requested),
        record("b", requested=requested, skips=(skip,)),
        expected={"c": ("g", ("psnr_y",)), "a": ("g", requested)},
    )["g"]
    assert {name: row["n_skipped"] for name, row in found.items()} == {
        "psnr": {"size_mismatch": 1}, "psnr_worst": {"size_mismatch": 1},
        "psnr_y": {}, "psnr_y_worst": {}}  # fmt: skip
    assert {name: row["n_missing"] for name, row in found.items()} == {
        "psnr": 0, "psnr_worst": 0, "psnr_y": 1, "psnr_y_worst": 1}  # fmt: skip


def test_a_record_without_a_metric_asked_for_now_counts_as_missing_it() -> None:
    found = table(record("a", score("psnr", 30.0)), expected={"a": ("g", ("psnr", "ssim"))})["g"]
    assert (found["psnr"]["n_missing"], found["ssim"]["n_missing"]) == (0, 1)


def test_an_unmeasured_score_is_a_skip_and_not_a_zero() -> None:
    row = table(
        record("a", score("vmaf", None, state="unmeasured", reason="no extra"), requested=("vmaf",))
    )["g"]["vmaf"]
    assert (row["mean"], row["n_skipped"]) == (None, {"unmeasured": 1})


def test_a_sample_that_was_not_measured_does_not_spoil_the_mean_of_the_others() -> None:
    """Before it has run, a metric does not know the version of the program behind it."""
    lacking = score("vmaf", None, state="unmeasured", reason="too small")
    row = table(
        record("a", score("vmaf", 90.0, impl="vmaf@1+libvmaf-3"), requested=("vmaf",)),
        record("b", lacking, requested=("vmaf",)),
    )["g"]["vmaf"]
    assert (row["mean"], row["count"], row["n_skipped"]) == (90.0, 1, {"unmeasured": 1})
    assert row["impl"] == "vmaf@1+libvmaf-3"


def test_the_worst_ten_by_the_metrics_own_direction() -> None:
    records = [record(f"k{i:02}", score("psnr", float(i)), score("mse", float(i), direction="down"))
               for i in range(12)]  # fmt: skip
    found = table(*records)["g"]
    assert [one["value"] for one in found["psnr"]["worst"]] == [float(i) for i in range(10)]
    assert [one["value"] for one in found["mse"]["worst"]] == [float(i) for i in range(11, 1, -1)]
    assert found["psnr"]["worst"][0] == {"key": "k00", "place": "k00", "value": 0.0}


def test_records_of_different_impl_are_not_averaged() -> None:
    row = table(record("a", score("psnr", 30.0)), record("b", score("psnr", 40.0, impl="psnr@2")))[
        "g"
    ]["psnr"]
    assert (row["mean"], row["count"], row["impl"], row["worst"]) == (None, 0, None, [])
    assert "psnr@1, psnr@2" in row["reason"]


def test_the_interval_is_that_of_a_bootstrap_of_the_mean() -> None:
    """Against numpy's own resampling under another seed, and the normal approximation."""
    values = np.random.default_rng(5).normal(30, 2, 400)
    low, high = bootstrap_interval(list(values), "seed") or (0, 0)
    draw = np.random.default_rng(99)
    means = draw.choice(values, (4000, 400)).mean(axis=1)
    spread = values.std(ddof=1) / 20
    assert (low, high) == pytest.approx(np.percentile(means, (2.5, 97.5)), abs=0.15 * spread)
    assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.06)


def test_few_numbers_have_no_interval() -> None:
    """Of two numbers it would be the two: a bootstrap says something from about ten on."""
    assert bootstrap_interval([1.0], "x") is None
    assert bootstrap_interval([float(n) for n in range(9)], "x") is None
    assert bootstrap_interval([float(n) for n in range(10)], "x") is not None
    # A sum of hundreds would round away from it.
    assert bootstrap_interval([32.53328373719492] * 200, "x") == [32.53328373719492] * 2


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.randoms())
def test_no_order_of_records_changes_a_byte(values: list[float], random: Any) -> None:
    records = [record(f"k{i}", score("psnr", value)) for i, value in enumerate(values)]
    before = dumps(table(*records))
    random.shuffle(records)
    assert dumps(table(*records)) == before


def test_a_record_survives_its_bytes() -> None:
    one = record("a", score("psnr", 30.5, worst=20.0, worst_frame=3, details={"n": math.nan}),
                 skips=(Skip(("ssim",), "x", "y"),))  # fmt: skip
    read = msgspec.json.decode(one.to_json(), type=Record)
    assert read.scores[0].details == {"n": None}
    assert (read.metrics, read.skips, read.scores[0].worst_frame) == ({"psnr": 30.5}, one.skips, 3)

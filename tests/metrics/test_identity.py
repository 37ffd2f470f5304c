"""What a row is made of, and which rows compare."""

import numpy as np
import pytest

from screentest.errors import InputError, ProtocolError
from screentest.metrics import registry
from screentest.metrics.fidelity import FIDELITY, fidelity
from screentest.metrics.identity import (
    Coverage,
    delta,
    require_comparable,
    require_same_impl,
    score,
)
from screentest.metrics.instruments import REQUESTS


def test_a_row_takes_unit_impl_and_direction_from_the_registry():
    found = score("lpips", 0.25, frames=8, worst=0.5, worst_frame=3, details={"device": "cpu"})
    assert (found.unit, found.impl, found.direction) == ("LPIPS", "lpips@1+alex-v0.1", "down")
    assert (found.value, found.state, found.frames) == (0.25, "measured", 8)
    assert (found.worst, found.worst_frame, found.details) == (0.5, 3, {"device": "cpu"})


def test_options_and_versions_become_part_of_the_impl():
    assert score("ssim", 0.5, impl_suffix="+reflect").impl == "ssim@1+reflect"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_value_that_is_not_finite_is_refused(value):
    for given in ({"value": value}, {"value": 1.0, "worst": value}):
        with pytest.raises(InputError) as caught:
            score("psnr", **given)
        assert caught.value.code == "non_finite_value"


@pytest.mark.parametrize(("name", "value"), [
    ("ssim", 1.01), ("ssim", -1.01), ("mse", -0.001), ("vmaf", 100.001), ("frame_std_min", 0.6),
])  # fmt: skip
def test_a_value_that_the_metric_cannot_have_is_refused(name, value):
    with pytest.raises(InputError, match="outside") as caught:
        score(name, value)
    assert caught.value.code == "out_of_bounds"


@pytest.mark.parametrize(("name", "value"), [
    ("ssim", 1.0000001), ("lpips", -1e-7), ("vmaf", 100.00001), ("psnr", 0.0), ("cvvdp", -40.0),
])  # fmt: skip
def test_a_value_at_its_limit_but_for_rounding_is_kept_as_it_is(name, value):
    assert score(name, value).value == value


@pytest.mark.parametrize("value", ["3", b"3", [3.0], object(), np.array([1.0, 2.0]), np.array([])])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(InputError) as caught:
        score("psnr", value)
    assert caught.value.code == "not_a_number"


def test_a_numpy_number_is_a_number():
    found = score("psnr", np.float32(37.5)).value
    assert type(found) is float
    assert found == 37.5


def test_no_value_needs_a_reason_and_a_value_has_none():
    found = score("psnr", None, reason="two\nlines of it")
    assert (found.state, found.value, found.reason) == ("unmeasured", None, "two lines of it")
    assert score("psnr", None, state="identical").state == "identical"
    for bad in (
        {"value": None},
        {"value": None, "reason": " "},
        {"value": 1.0, "reason": "why"},
        {"value": None, "state": "measured"},
        {"value": 1.0, "state": "unmeasured", "reason": "why"},
        {"value": None, "state": "identical", "reason": "why"},
    ):
        with pytest.raises(InputError) as caught:
            score("psnr", **bad)
        assert caught.value.code == "contradiction"


def test_every_score_of_a_comparison_is_a_row_of_the_registry():
    reference = np.random.default_rng(0).integers(0, 256, (2, 64, 64), np.uint8)
    found = fidelity(reference, reference // 2, tuple(FIDELITY), layout="THW").scores
    assert {"psnr_pooled", "psnr_avg_worst"} <= {one.name for one in found}
    for one in found:
        spec = registry.spec(one.name)
        assert (one.unit, one.direction) == (spec.unit, spec.direction)
        assert one.impl.split("+")[0] == spec.impl


def test_requests_of_instruments_are_those_of_the_registry():
    for request, names in REQUESTS.items():
        assert [registry.request_of(name) for name in names] == [request] * len(names)


class TestCompare:
    def test_one_metric_of_one_version_has_a_difference(self):
        assert delta(score("psnr", 31.0), score("psnr", 38.5)) == -7.5
        assert delta(score("psnr", 31.0), score("psnr", None, reason="no frames")) is None

    def test_two_metrics_have_none(self):
        with pytest.raises(ProtocolError, match="psnr and psnr_y are two metrics") as caught:
            delta(score("psnr", 31.0), score("psnr_y", 31.0))
        assert caught.value.code == "different_metric"

    def test_two_versions_have_none_and_both_are_named(self):
        with pytest.raises(ProtocolError, match=r"ssim@1 and by ssim@1\+reflect") as caught:
            require_same_impl(score("ssim", 0.5), score("ssim", 0.5, impl_suffix="+reflect"))
        assert caught.value.code == "different_impl"

    def test_sets_of_versions_compare_but_for_their_coverage(self):
        a = {"psnr": "psnr@1", "ssim": "ssim@1", "mae": "mae@1"}
        b = {"psnr": "psnr@1", "vmaf": "vmaf@1"}
        assert require_comparable(a, b) == Coverage(("mae", "ssim"), ("vmaf",))
        assert require_comparable(a, dict(a)) == Coverage((), ())

    def test_a_set_with_another_version_is_refused_with_every_conflict(self):
        a = {"psnr": "psnr@1", "ssim": "ssim@1", "mae": "mae@1"}
        b = {"psnr": "psnr@2", "ssim": "ssim@1", "mae": "mae@3"}
        with pytest.raises(ProtocolError) as caught:
            require_comparable(a, b)
        assert "mae by mae@1 and by mae@3; psnr by psnr@1 and by psnr@2" in str(caught.value)
        assert set(caught.value.context["impls"]) == {"mae", "psnr"}

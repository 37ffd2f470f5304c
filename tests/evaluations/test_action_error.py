"""Mean squared error of actions, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from screentest.errors import ProtocolError
from screentest.evaluations.action_error import action_mse
from screentest.evaluations.action_files import Actions, as_actions


def actions(values: Any, mask: Any = None) -> Actions:
    return as_actions(values, mask, where="test")


TRUE = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
# Off by 1, 0, 2 and 0, 3, 0: squares 1 + 4 + 9 over 6 numbers.
PREDICTED = [[1.0, 1.0, 4.0], [3.0, 1.0, 5.0]]


def test_all_channels_count_without_a_mask() -> None:
    score = action_mse(actions(PREDICTED), actions(TRUE))
    assert score.value == pytest.approx(14 / 6, rel=1e-15)
    assert (score.state, score.direction, score.frames) == ("measured", "down", 2)
    assert score.details == {"valid": 6, "of": 6}


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ([1, 0, 0], 1 / 2),
        ([True, False, True], 5 / 4),
        ([0, 1, 0], 9 / 2),
        ([[1, 1, 0], [0, 0, 0]], 1 / 2),
        ([[0, 0, 0], [0, 1, 0]], 9.0),
        ([[1, 1, 1], [1, 1, 1]], 14 / 6),
    ],
)
def test_only_the_valid_channels_count(mask: Any, expected: float) -> None:
    by_truth = action_mse(actions(PREDICTED), actions(TRUE, mask))
    by_prediction = action_mse(actions(PREDICTED, mask), actions(TRUE))
    given = action_mse(actions(PREDICTED), actions(TRUE), np.array(mask, bool))
    assert by_truth.value == by_prediction.value == given.value == pytest.approx(expected)


def test_the_mask_of_the_ground_truth_outweighs_that_of_the_prediction() -> None:
    score = action_mse(actions(PREDICTED, [0, 1, 0]), actions(TRUE, [1, 0, 0]))
    assert score.value == 1 / 2


def test_equal_actions_are_zero_and_say_so() -> None:
    score = action_mse(actions(TRUE), actions(TRUE))
    assert (score.value, score.state) == (0.0, "identical")


def test_a_difference_whose_square_vanishes_is_not_called_identical() -> None:
    score = action_mse(actions([[1e-200]]), actions([[0.0]]))
    assert (score.value, score.state) == (0.0, "measured")


def test_integers_do_not_wrap() -> None:
    score = action_mse(actions(np.array([[0]], np.uint8)), actions(np.array([[255]], np.uint8)))
    assert score.value == 255**2


@pytest.mark.parametrize(
    ("prediction", "truth", "mask", "code"),
    [
        (PREDICTED[:1], TRUE, None, "shape_mismatch"),
        ([row[:2] for row in PREDICTED], TRUE, None, "shape_mismatch"),
        (PREDICTED, TRUE, [1, 0], "shape_mismatch"),
        (PREDICTED, TRUE, [[1, 0, 1]], "shape_mismatch"),
        (PREDICTED, TRUE, [0, 0, 0], "no_valid_channel"),
        ([[float("nan"), 0, 0], [0, 0, 0]], TRUE, None, "non_finite"),
        (PREDICTED, [[0, 0, 0], [0, float("inf"), 0]], None, "non_finite"),
        ([[1e300, 0, 0], [0, 0, 0]], TRUE, None, "non_finite"),
        ([[1.3e154, 1.3e154, 0], [0, 0, 0]], TRUE, None, "non_finite"),
    ],
)
def test_what_has_no_error_is_refused_with_its_reason(
    prediction: Any, truth: Any, mask: Any, code: str
) -> None:
    with pytest.raises(ProtocolError) as refused:
        action_mse(actions(prediction), actions(truth, mask))
    assert refused.value.code == code


def test_a_nan_is_named_by_its_place() -> None:
    with pytest.raises(ProtocolError, match="step 1, channel 2"):
        action_mse(actions([[0.0] * 3, [0.0, 0.0, float("nan")]]), actions(TRUE))


def test_a_nan_that_does_not_count_does_no_harm() -> None:
    score = action_mse(
        actions([[1.0, float("nan")], [0.0, 0.0]]), actions([[0.0, 0.0], [0.0, 0.0]], [1, 0])
    )
    assert score.value == 1 / 2


def test_it_equals_numpy_on_many_numbers() -> None:
    draw = np.random.default_rng(3)
    a, b = draw.normal(size=(2, 200, 14))
    mask = draw.random((200, 14)) < 0.6
    expected = np.mean((a[mask] - b[mask]) ** 2)
    assert action_mse(actions(a), actions(b, mask)).value == pytest.approx(expected, rel=1e-13)

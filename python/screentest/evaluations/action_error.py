"""The distance between two actions: mean squared error over the channels that count."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from screentest.errors import ProtocolError
from screentest.evaluations.action_files import MASK, Actions
from screentest.media.clip import Array
from screentest.metrics.facts import Score

__all__ = ["IMPL", "NAME", "action_mse"]

NAME: Final = "action_mse"
IMPL: Final = "action_mse/1"


def action_mse(prediction: Actions, ground_truth: Actions, mask: Array | None = None) -> Score:
    """Mean squared error in the squared unit of the actions; lower is better.

    ``mask`` (``(A,)`` or ``(T, A)``, default the ground truth's, else the prediction's) says which
    numbers count; what does not count may be NaN. Equal actions are 0, in state ``identical``.

    Raises :class:`~screentest.errors.ProtocolError`: ``shape_mismatch``, ``no_valid_channel``,
    ``non_finite`` (a NaN or infinity that counts, or an error beyond float64).

    >>> from screentest.evaluations.action_files import as_actions
    >>> one = as_actions([[0.0, 1.0]], None, where="a")
    >>> action_mse(one, as_actions([[0.0, 3.0]], None, where="b")).value
    2.0
    """
    a, b = prediction.values, ground_truth.values
    if a.shape != b.shape:
        raise ProtocolError(
            f"predicted actions are {a.shape}, the ground truth is {b.shape} (T, A)",
            code="shape_mismatch",
        )
    if mask is None:
        mask = prediction.mask if ground_truth.mask is None else ground_truth.mask
    if mask is None:
        counted = np.ones(a.shape, dtype=np.bool_)
    elif mask.shape in (a.shape, a.shape[1:]):
        counted = np.broadcast_to(mask, a.shape)
    else:
        raise ProtocolError(
            f"{MASK} is {mask.shape}; actions of {a.shape} take {a.shape[1:]} or {a.shape}",
            code="shape_mismatch",
        )
    if not counted.any():
        raise ProtocolError(f"{MASK} leaves no valid channel", code="no_valid_channel")
    for name, values in (("predicted actions", a), ("ground truth", b)):
        bad = np.argwhere(counted & ~np.isfinite(values))
        if len(bad):
            step, channel = (int(i) for i in bad[0])
            raise ProtocolError(
                f"{name}: {values[step, channel]} at step {step}, channel {channel}, "
                f"one of {len(bad)} values that are not finite",
                code="non_finite",
            )
    with np.errstate(over="ignore"):
        squares = np.square(a[counted] - b[counted])
    try:
        # An exact sum: no order of adding, and so no CPU, changes a bit.
        value = math.fsum(squares) / squares.size
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ProtocolError("the squared error is beyond float64", code="non_finite")
    return Score(
        name=NAME,
        value=value,
        state="identical" if np.array_equal(a[counted], b[counted]) else "measured",
        unit="action^2",
        impl=IMPL,
        direction="down",
        frames=a.shape[0],
        details={"valid": int(squares.size), "of": int(a.size)},
    )

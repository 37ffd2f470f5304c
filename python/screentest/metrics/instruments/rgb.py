"""Frames as RGB tensors on a device: float32 in [0, 1], one rule for every source.

Planes are read by their own matrix and range, chroma samples are repeated over the pixels that
they cover, and the result is clipped to [0, 1]; the RGB kernels of this package do the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.media.clip import Array

if TYPE_CHECKING:
    from screentest._native import FrameFormat

__all__ = ["to_rgb"]


def to_rgb(frames: Sequence[Sequence[Array]], format: FrameFormat, device: Any) -> Any:
    """``(N, 3, H, W)`` float32 in [0, 1] of N frames' :func:`~.samples.codes`, on ``device``."""
    import torch

    channels = []
    for index in range(len(frames[0])):
        stacked = np.stack([planes[index] for planes in frames])
        # torch reads 16 unsigned bits as signed ones in some operations.
        tensor = torch.from_numpy(stacked.view(np.int16) if stacked.dtype == np.uint16 else stacked)
        tensor = tensor.to(device)
        if stacked.dtype == np.uint16:
            tensor = tensor.to(torch.int32) & 0xFFFF
        channels.append(tensor.to(torch.float32))
    if format.value_range is not None:
        low, high = format.value_range
        channels = [(channel - low) / (high - low) for channel in channels]
    else:
        channels = _of_integers(channels, format)
    if format.model == "grey":
        channels = channels * 3
    return torch.stack(channels, 1).clamp(0.0, 1.0)


def _of_integers(channels: list[Any], format: FrameFormat) -> list[Any]:
    """Luma or RGB in [0, 1] (a little outside, where the codes are), from integer codes."""
    bits = format.bit_depth
    assert bits is not None
    white = float((1 << bits) - 1)
    black, span, chroma_span = 0.0, white, white
    if format.limited:
        unit = float(1 << (bits - 8))
        black, span, chroma_span = 16 * unit, 219 * unit, 224 * unit
    if format.weights is None:
        return [(channel - black) / span for channel in channels]
    kr, kb = format.weights
    kg = 1.0 - kr - kb
    neutral = float(1 << (bits - 1))
    luma = (channels[0] - black) / span
    across, down = format.chroma_shift
    chroma = [(channel - neutral) / chroma_span for channel in channels[1:]]
    cb, cr = (
        c.repeat_interleave(1 << down, 1).repeat_interleave(1 << across, 2)[
            :, : format.height, : format.width
        ]
        for c in chroma
    )
    red, blue = 2.0 * (1.0 - kr) * cr, 2.0 * (1.0 - kb) * cb
    return [luma + red, luma - (kr / kg) * red - (kb / kg) * blue, luma + blue]

"""LPIPS v0.1 with AlexNet.

Zhang, Isola, Efros, Shechtman and Wang, "The Unreasonable Effectiveness of Deep Features as a
Perceptual Metric", CVPR 2018. A distance: 0 for equal pictures, lower is better, no fixed upper
end. The pictures are RGB in [0, 1] and are brought to the network's [-1, 1] inside; they are read
at their own size.
"""

from __future__ import annotations

from typing import Any

from screentest.metrics.instruments import backbones, names, weights

__all__ = ["LEAST_SIDE", "PIXELS_PER_BATCH", "WEIGHTS", "Lpips"]

WEIGHTS = names.WEIGHTS["lpips"]
# Below this a map of AlexNet is empty.
LEAST_SIDE = 31
# Pixels of one side of a batch: some 60 bytes of maps for each on AlexNet.
PIXELS_PER_BATCH = 1 << 22

# Of the published network: its input, (x - shift) / scale for x in [-1, 1].
_SHIFT = (-0.030, -0.088, -0.188)
_SCALE = (0.458, 0.448, 0.450)
# Of the published code (lpips 0.1.4), so that a pixel without any feature divides by no zero.
_EPSILON = 1e-10


class Lpips:
    """The network on one device."""

    def __init__(self, device: Any) -> None:
        self._layers = {name: t.to(device) for name, t in backbones.load("alexnet").items()}
        held = backbones.read_tensors("lpips-alex", weights.locate("lpips-alex"))
        self._linear = [held[f"lin{k}.model.1.weight"].float().to(device) for k in range(5)]

    def distance(self, reference: Any, candidate: Any) -> Any:
        """(N,) distances of two ``(N, 3, H, W)`` batches in [0, 1]."""
        total = 0.0
        for a, b, linear in zip(
            self._features(reference), self._features(candidate), self._linear, strict=True
        ):
            total = total + ((a - b).square() * linear).sum(1).mean((1, 2))
        return total

    def _features(self, image: Any) -> list[Any]:
        import torch

        shift, scale = (torch.tensor(v, device=image.device).view(1, 3, 1, 1)
                        for v in (_SHIFT, _SCALE))  # fmt: skip
        taps = backbones.alexnet_taps((2.0 * image - 1.0 - shift) / scale, self._layers)
        return [tap / (tap.square().sum(1, keepdim=True).sqrt() + _EPSILON) for tap in taps]

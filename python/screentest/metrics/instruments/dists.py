"""DISTS.

Ding, Ma, Wang and Simoncelli, "Image Quality Assessment: Unifying Structure and Texture
Similarity", IEEE TPAMI 2020. A distance: 0 for equal pictures, about 1 at most, lower is better.
The pictures are RGB in [0, 1]; they are read at their own size (the authors' example program
shrinks them to 256 pixels first, which gives other numbers).
"""

from __future__ import annotations

from typing import Any

from screentest.metrics.instruments import backbones, names, weights

__all__ = ["LEAST_SIDE", "PIXELS_PER_BATCH", "WEIGHTS", "Dists"]

WEIGHTS = names.WEIGHTS["dists"]
# Below this the deepest map is a single pixel, and the structure term means nothing.
LEAST_SIDE = 32
# Pixels of one side of a batch: some 1500 bytes of maps for each on VGG-16.
PIXELS_PER_BATCH = 1 << 20

_CHANNELS = (3, 64, 128, 256, 512, 512)
# Of the published network: the mean and deviation of ImageNet's pixels in [0, 1].
_MEAN = (0.485, 0.456, 0.406)
_DEVIATION = (0.229, 0.224, 0.225)
# Of the published code: what keeps flat maps from dividing by zero, and its root's derivative.
_C1 = _C2 = 1e-6
_ROOT = 1e-12


class Dists:
    """The network on one device."""

    def __init__(self, device: Any) -> None:
        import torch

        self._layers = {name: t.to(device) for name, t in backbones.load("vgg16").items()}
        held = backbones.read_tensors("dists", weights.locate("dists"))
        alpha, beta = (held[name].detach().float().to(device) for name in ("alpha", "beta"))
        total = alpha.sum() + beta.sum()
        self._alpha = torch.split(alpha / total, _CHANNELS, dim=1)
        self._beta = torch.split(beta / total, _CHANNELS, dim=1)
        # A Hann window of five, without its zeros: 1 2 1 crossed with itself.
        row = torch.tensor([0.25, 0.5, 0.25], device=device)
        self._window = torch.outer(row, row).view(1, 1, 3, 3)

    def distance(self, reference: Any, candidate: Any) -> Any:
        """(N,) distances of two ``(N, 3, H, W)`` batches in [0, 1]."""
        similarity = 0.0
        a, b = reference, candidate
        for k, (alpha, beta) in enumerate(zip(self._alpha, self._beta, strict=True)):
            if k > 0:
                a, b = self._stage(a, k - 1), self._stage(b, k - 1)
            mean_a, mean_b = a.mean((2, 3), keepdim=True), b.mean((2, 3), keepdim=True)
            texture = (2 * mean_a * mean_b + _C1) / (mean_a**2 + mean_b**2 + _C1)
            var_a = (a - mean_a).square().mean((2, 3), keepdim=True)
            var_b = (b - mean_b).square().mean((2, 3), keepdim=True)
            both = (a * b).mean((2, 3), keepdim=True) - mean_a * mean_b
            structure = (2 * both + _C2) / (var_a + var_b + _C2)
            similarity = similarity + (alpha * texture + beta * structure).sum((1, 2, 3))
        return 1.0 - similarity

    def _stage(self, image: Any, stage: int) -> Any:
        import torch
        from torch.nn import functional

        if stage == 0:
            mean, deviation = (torch.tensor(v, device=image.device).view(1, 3, 1, 1)
                               for v in (_MEAN, _DEVIATION))  # fmt: skip
            image = (image - mean) / deviation
        else:
            channels = image.shape[1]
            window = self._window.expand(channels, 1, 3, 3)
            pooled = functional.conv2d(image.square(), window, stride=2, padding=1, groups=channels)
            image = (pooled + _ROOT).sqrt()
        return backbones.vgg16_stage(image, self._layers, stage)

"""The fidelity metrics by name: what each reads, its unit, which way is better, which version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from screentest.metrics.facts import Direction

__all__ = ["FIDELITY", "MS_SSIM_SCALES", "NATIVE", "FidelityMetric"]

MS_SSIM_SCALES = 5
"""Of MS-SSIM as published; what a small picture has at fewer is another number."""

Domain = Literal["rgb", "luma", "planes"]


@dataclass(frozen=True, slots=True)
class FidelityMetric:
    """One metric that can be asked for.

    ``domain``: ``"rgb"`` reads red, green and blue, ``"luma"`` 0.299 R + 0.587 G + 0.114 B of the
    same, both in [0, 1]; ``"planes"`` reads the decoder's own Y, Cb and Cr codes. ``flag`` is what
    the kernel is asked for.
    """

    name: str
    domain: Domain
    flag: str
    unit: str
    direction: Direction
    impl: str
    says: str


def _metric(
    name: str, domain: Domain, flag: str, unit: str, direction: Direction, says: str
) -> tuple[str, FidelityMetric]:
    return name, FidelityMetric(name, domain, flag, unit, direction, f"{name}@1", says)


FIDELITY: dict[str, FidelityMetric] = dict(
    [
        _metric("psnr", "rgb", "rgb", "dB", "up", "mean over frames of the PSNR of R, G and B"),
        _metric("mse", "rgb", "rgb", "1", "down", "mean squared error of R, G and B, white 1"),
        _metric("mae", "rgb", "rgb", "1", "down", "mean absolute error of R, G and B, white 1"),
        _metric("ssim", "luma", "ssim", "1", "up", "structural similarity of luma"),
        _metric("ms_ssim", "luma", "ms_ssim", "1", "up", "the same at five scales"),
        _metric("psnr_y", "planes", "planes", "dB", "up", "mean over frames of the PSNR of Y"),
        _metric("psnr_cb", "planes", "planes", "dB", "up", "the same of Cb"),
        _metric("psnr_cr", "planes", "planes", "dB", "up", "the same of Cr"),
        _metric("psnr_avg", "planes", "planes", "dB", "up", "the same of all samples of Y, Cb, Cr"),
        _metric("ssim_y", "planes", "ssim_y", "1", "up", "structural similarity of the Y codes"),
        _metric("ms_ssim_y", "planes", "ms_ssim_y", "1", "up", "the same at five scales"),
    ]
)
"""Every fidelity metric by the name that asks for it."""

NATIVE = tuple(name for name, metric in FIDELITY.items() if metric.domain == "planes")
"""Those that read the decoder's planes."""

"""The fidelity metrics by name: what each reads, its unit, which way is better, which version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from screentest.metrics.facts import Direction
from screentest.metrics.spec import MetricSpec

__all__ = ["FIDELITY", "METRICS", "MS_SSIM_SCALES", "NATIVE", "FidelityMetric"]

MS_SSIM_SCALES = 5
"""Of MS-SSIM as published; what a small picture has at fewer is another number."""

Domain = Literal["rgb", "luma", "planes"]


@dataclass(frozen=True, slots=True)
class FidelityMetric:
    """One metric that can be asked for.

    ``domain``: ``"rgb"`` reads red, green and blue, ``"luma"`` 0.299 R + 0.587 G + 0.114 B of the
    same, both in [0, 1]; ``"planes"`` reads the decoder's own Y, Cb and Cr codes. ``flag`` is what
    the kernel is asked for. What every metric has is its ``spec``'s.
    """

    spec: MetricSpec
    domain: Domain
    flag: str

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def says(self) -> str:
        return self.spec.says

    @property
    def unit(self) -> str:
        return self.spec.unit

    @property
    def direction(self) -> Direction:
        return self.spec.direction

    @property
    def impl(self) -> str:
        return self.spec.impl


def _spec(name: str, says: str, **more: Any) -> MetricSpec:
    return MetricSpec(
        name=name,
        says=says,
        dimension="similarity",
        modality="any",
        impl=f"{name}@1",
        family="fidelity",
        paired=True,
        reference_only=True,
        **more,
    )


_PSNR_SOURCE = "ITU-T J.340"
_SSIM_SOURCE = "Wang, Bovik, Sheikh and Simoncelli, IEEE TIP 2004"
_MS_SSIM_SOURCE = "Wang, Simoncelli and Bovik, Asilomar 2003"
_SMOOTH = "a clip's mean rewards smoothing: no gate should decide on it"


# A float sample may lie 1/512 of its range beyond either end, so that an error of R, G or B may
# exceed the range by 1/256: these are the limits, rounded outwards.
_MOST_ERROR, _MOST_SQUARE, _LEAST_DB = 1.004, 1.008, -0.04


def _psnr(name: str, of: str, least: float = 0.0) -> tuple[MetricSpec, ...]:
    """A PSNR, and the two other ways to make one number of a clip's frames."""
    decibels: dict[str, Any] = {
        "unit": "dB", "direction": "up", "bounds": (least, None), "source": _PSNR_SOURCE,
    }  # fmt: skip
    identical = "identical frames have none and are left out of the mean"
    pooled = "takes all frames; a mean of several clips' is a mean of dB again"
    return (
        _spec(name, f"mean over frames of the PSNR of {of}", note=identical, **decibels),
        _spec(f"{name}_pooled", f"PSNR of the error of {of} pooled over all frames", request=name,
              note=pooled, **decibels),
        _spec(f"{name}_worst", f"lowest PSNR of {of} of any frame", request=name, pool="min",
              **decibels),
    )  # fmt: skip


def _error(name: str, says: str, most: float) -> MetricSpec:
    return _spec(name, says, unit="1", direction="down", bounds=(0.0, most))


def _ssim(name: str, says: str, **more: Any) -> MetricSpec:
    return _spec(name, says, unit="1", direction="up", bounds=(-1.0, 1.0), note=_SMOOTH, **more)


METRICS: tuple[MetricSpec, ...] = (
    *_psnr("psnr", "R, G and B", least=_LEAST_DB),
    _error("mse", "mean squared error of R, G and B, white 1", _MOST_SQUARE),
    _error("mae", "mean absolute error of R, G and B, white 1", _MOST_ERROR),
    _ssim("ssim", "structural similarity of luma", options=("border",), source=_SSIM_SOURCE),
    _ssim("ms_ssim", "structural similarity of luma at five scales", source=_MS_SSIM_SOURCE),
    *_psnr("psnr_y", "Y"),
    *_psnr("psnr_cb", "Cb"),
    *_psnr("psnr_cr", "Cr"),
    *_psnr("psnr_avg", "all samples of Y, Cb and Cr"),
    _ssim("ssim_y", "structural similarity of the Y codes", options=("border",),
          source=_SSIM_SOURCE),
    _ssim("ms_ssim_y", "structural similarity of the Y codes at five scales",
          source=_MS_SSIM_SOURCE),
)  # fmt: skip

_READS: dict[str, tuple[Domain, str]] = {
    "psnr": ("rgb", "rgb"),
    "mse": ("rgb", "rgb"),
    "mae": ("rgb", "rgb"),
    "ssim": ("luma", "ssim"),
    "ms_ssim": ("luma", "ms_ssim"),
    "psnr_y": ("planes", "planes"),
    "psnr_cb": ("planes", "planes"),
    "psnr_cr": ("planes", "planes"),
    "psnr_avg": ("planes", "planes"),
    "ssim_y": ("planes", "ssim_y"),
    "ms_ssim_y": ("planes", "ms_ssim_y"),
}

FIDELITY: dict[str, FidelityMetric] = {
    spec.name: FidelityMetric(spec, *_READS[spec.name]) for spec in METRICS if not spec.request
}
"""Every fidelity metric by the name that asks for it."""

NATIVE = tuple(name for name, metric in FIDELITY.items() if metric.domain == "planes")
"""Those that read the decoder's planes."""

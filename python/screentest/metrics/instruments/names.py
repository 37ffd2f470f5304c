"""The metrics that other programs and libraries bring, by name."""

from __future__ import annotations

from typing import Any

from screentest.metrics.spec import MetricSpec

__all__ = ["INSTRUMENT_NAMES", "METRICS", "REQUESTS", "TRAITS", "WEIGHTS"]


def _spec(name: str, says: str, impl: str, **more: Any) -> MetricSpec:
    """``impl`` is extended by what the number turns out to depend on: the model, the library's
    version, the weights."""
    return MetricSpec(
        name=name,
        says=says,
        impl=impl,
        dimension="similarity",
        family="instruments",
        paired=True,
        reference_only=True,
        **more,
    )


def _vmaf(name: str, model: str, says: str) -> MetricSpec:
    return _spec(
        name,
        says,
        f"{name}@1+{model}",
        modality="video",
        unit="VMAF",
        direction="up",
        cost="small-model",
        bounds=(0.0, 100.0),
        extra="vmaf",
        model_ref=model,
        source="Li, Aaron, Katsavounidis, Moorthy and Manohara, 2016",
        note="an identical pair need not reach 100; details hold the harmonic mean and the minimum",
    )


def _xpsnr(plane: str) -> MetricSpec:
    return _spec(
        f"xpsnr_{plane.lower()}",
        f"PSNR of {plane}, weighed by what the eye sees",
        "xpsnr@1",
        modality="video",
        unit="dB",
        direction="up",
        request="xpsnr",
        extra="vmaf",
        source="Helmrich, Bosse, Siekmann, Schwarz, Marpe and Wiegand, ICASSP 2020",
        note="one figure for the clip, by ffmpeg's filter; identical planes have none",
    )


def _distance(name: str, says: str, impl: str, weights: str, **more: Any) -> MetricSpec:
    return _spec(
        name,
        says,
        impl,
        modality="any",
        unit=name.upper(),
        direction="down",
        cost="small-model",
        bounds=(0.0, None),
        extra="reference",
        model_ref=weights,
        **more,
    )


METRICS: tuple[MetricSpec, ...] = (
    _vmaf("vmaf", "vmaf_v0.6.1", "VMAF, model v0.6.1"),
    _vmaf("vmaf_neg", "vmaf_v0.6.1neg", "VMAF NEG, model v0.6.1neg: no gain from sharpening"),
    _vmaf("vmaf_phone", "vmaf_v0.6.1-phone", "VMAF, model v0.6.1 with the phone transform"),
    *(_xpsnr(plane) for plane in ("Y", "Cb", "Cr")),
    _spec(
        "cvvdp",
        "ColorVideoVDP on a 4K monitor: just-objectionable differences",
        "cvvdp@1+standard_4k",
        modality="video",
        unit="JOD",
        direction="up",
        cost="small-model",
        bounds=(None, 10.0),
        extra="reference",
        source="Mantiuk, Hanji, Ashraf, Asano and Chapiro, ACM TOG 2024",
        note="10 is no visible difference; there is no fixed lower end",
    ),
    _distance(
        "lpips",
        "LPIPS v0.1, AlexNet: distance of features, mean over frames",
        "lpips@1+alex-v0.1",
        "lpips-alex",
        headline=True,
        gated=True,
        source="Zhang, Isola, Efros, Shechtman and Wang, CVPR 2018",
    ),
    _distance(
        "dists",
        "DISTS, VGG-16: distance of structure and texture, mean over frames",
        "dists@1+vgg16",
        "dists",
        source="Ding, Ma, Wang and Simoncelli, IEEE TPAMI 2020",
        note="reads frames at their own size; 0 is equal, about 1 the most",
    ),
)

TRAITS: dict[str, MetricSpec] = {spec.name: spec for spec in METRICS}
"""What is fixed about a score before anything is measured, by its name."""

REQUESTS: dict[str, tuple[str, ...]] = {
    request: tuple(spec.name for spec in METRICS if request in (spec.name, spec.request))
    for request in dict.fromkeys(spec.request or spec.name for spec in METRICS)
}
"""Names of the scores that each request gives."""

INSTRUMENT_NAMES: dict[str, str] = {
    request: TRAITS[request].says if request in TRAITS else "XPSNR of Y, Cb and Cr"
    for request in REQUESTS
}
"""What each request is; the order is that of a listing."""

WEIGHTS: dict[str, tuple[str, ...]] = {
    "lpips": ("alexnet", "lpips-alex"),
    "dists": ("vgg16", "dists"),
}
"""The weights that a metric reads, by their names in the manifest."""

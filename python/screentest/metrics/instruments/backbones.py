"""The convolutional parts of AlexNet and VGG-16, as functions of their weights.

The keys are those of torchvision's state dicts, ``features.N.weight`` and ``features.N.bias``; the
classifiers, which no metric reads, are left on disk.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from screentest.errors import MissingBackendError
from screentest.metrics.instruments import weights

__all__ = ["alexnet_taps", "load", "read_tensors", "vgg16_stage"]

# (index in `features`, (out, in, kernel), stride, padding, a 3x3 stride-2 maximum comes before it)
_ALEXNET = (
    (0, (64, 3, 11), 4, 2, False),
    (3, (192, 64, 5), 1, 2, True),
    (6, (384, 192, 3), 1, 1, True),
    (8, (256, 384, 3), 1, 1, False),
    (10, (256, 256, 3), 1, 1, False),
)
# The 3x3 convolutions of each stage by their index in `features`, and (out, in) channels.
_VGG16 = (
    ((0, (64, 3)), (2, (64, 64))),
    ((5, (128, 64)), (7, (128, 128))),
    ((10, (256, 128)), (12, (256, 256)), (14, (256, 256))),
    ((17, (512, 256)), (19, (512, 512)), (21, (512, 512))),
    ((24, (512, 512)), (26, (512, 512)), (28, (512, 512))),
)


def load(name: str) -> dict[str, Any]:
    """The feature layers of ``alexnet`` or ``vgg16`` on the CPU, from the verified file.

    Raises:
        MissingBackendError: the file is missing, or holds other layers.
    """
    path = weights.locate(name)
    about = path.stat()
    return _load_once(name, str(path), (about.st_ino, about.st_mtime_ns, about.st_size))


@functools.lru_cache(maxsize=2)
def _load_once(name: str, path: str, stamp: tuple[int, ...]) -> dict[str, Any]:
    del stamp
    held = read_tensors(name, Path(path))
    layers = {}
    for index, shape in _shapes(name).items():
        for part, expected in (("weight", shape), ("bias", shape[:1])):
            tensor = held.get(f"features.{index}.{part}")
            if tensor is None or tuple(tensor.shape) != expected:
                raise MissingBackendError(
                    f"the weights {name} hold no features.{index}.{part} of shape {expected}",
                    code="wrong_layers",
                    weights=name,
                )
            # A copy, so that the rest of the file's memory can go.
            layers[f"{index}.{part}"] = tensor.detach().float().clone()
    return layers


def read_tensors(name: str, path: Path) -> dict[str, Any]:
    """A file of tensors on the CPU; nothing in it is run.

    Raises:
        MissingBackendError: it is no such file.
    """
    import torch

    try:
        held: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what its readers raise
        raise MissingBackendError(
            f"the weights {name} are no file of tensors ({type(error).__name__})",
            code="wrong_layers",
            weights=name,
        ) from error
    return held


def alexnet_taps(image: Any, layers: dict[str, Any]) -> list[Any]:
    """The five rectified maps that LPIPS reads; ``image`` (N, 3, H, W), at least 31 by 31."""
    from torch.nn import functional

    taps = []
    for index, _, stride, padding, pooled in _ALEXNET:
        if pooled:
            image = functional.max_pool2d(image, 3, 2)
        weight, bias = layers[f"{index}.weight"], layers[f"{index}.bias"]
        image = functional.relu(functional.conv2d(image, weight, bias, stride, padding))
        taps.append(image)
    return taps


def vgg16_stage(image: Any, layers: dict[str, Any], stage: int) -> Any:
    """One of VGG-16's five stages, without the maximum in front of it."""
    from torch.nn import functional

    for index, _ in _VGG16[stage]:
        weight, bias = layers[f"{index}.weight"], layers[f"{index}.bias"]
        image = functional.relu(functional.conv2d(image, weight, bias, 1, 1))
    return image


def _shapes(name: str) -> dict[int, tuple[int, ...]]:
    if name == "alexnet":
        return {index: (*shape, shape[2]) for index, shape, *_ in _ALEXNET}
    return {index: (*shape, 3, 3) for stage in _VGG16 for index, shape in stage}

"""From whatever the caller has in memory to a numpy array, without importing where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from screentest.errors import MediaError
from screentest.media.clip import Array

__all__ = ["Adopted", "adopt", "is_pil_image"]

# Devices of the DLPack standard whose memory the CPU can read: CPU, and host memory pinned by CUDA
# or ROCm.
_HOST_DEVICES = (1, 3, 11)


@dataclass(slots=True)
class Adopted:
    """What had to be done to the sources on the way; becomes flags of the clip."""

    flags: set[str] = field(default_factory=set)
    conversions: set[str] = field(default_factory=set)
    pil_alpha: bool = False
    bit_depth: int | None = None


def adopt(source: Any, notes: Adopted) -> Array:
    """The array behind ``source``, without a copy where its memory can be read from the CPU.

    Takes numpy arrays, torch tensors, PIL images, DLPack, ``__array_interface__`` and the buffer
    protocol.

    Raises:
        MediaError: it is none of these, or its memory cannot be read.
    """
    if isinstance(source, np.ndarray):
        if isinstance(source, np.ma.MaskedArray):
            raise MediaError(
                "a masked array has samples without a value; fill them first (array.filled())",
                code="bad_array",
            )
        return _known_dtype(np.asarray(source), notes)
    if is_pil_image(source):
        return _from_pil(source, notes)
    if _is_tensor(source):
        return _from_tensor(source, notes)
    if hasattr(source, "__dlpack__"):
        return _from_dlpack(source, notes)
    if hasattr(source, "__array_interface__") or hasattr(source, "__array__"):
        return _known_dtype(np.asarray(source), notes)
    if hasattr(source, "__cuda_array_interface__") and callable(getattr(source, "get", None)):
        notes.flags.add("cuda_copied")
        return np.asarray(source.get())
    try:
        return np.asarray(memoryview(source))
    except (TypeError, ValueError) as error:
        raise MediaError(
            f"a {type(source).__name__} cannot be read as pictures; expected a path, bytes, a "
            "binary file object, an array, a tensor, or a list of arrays or PIL images",
            code="bad_source",
            type=type(source).__name__,
        ) from error


def is_pil_image(source: Any) -> bool:
    """True for a PIL image, told by its methods so that PIL is not imported."""
    return hasattr(source, "getbands") and hasattr(source, "mode") and hasattr(source, "convert")


def _is_tensor(source: Any) -> bool:
    return type(source).__module__.split(".")[0] == "torch" or (
        hasattr(source, "requires_grad") and hasattr(source, "detach")
    )


def _known_dtype(array: Array, notes: Adopted) -> Array:
    # ml_dtypes registers bfloat16 as a dtype that numpy itself cannot compute with.
    if array.dtype.name == "bfloat16":
        notes.conversions.add("bfloat16 to float32")
        return array.astype(np.float32)
    return array


def _from_tensor(tensor: Any, notes: Adopted) -> Array:
    if getattr(tensor, "requires_grad", False):
        notes.flags.add("detached")
        tensor = tensor.detach()
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
        notes.conversions.add("sparse to dense")
        tensor = tensor.to_dense()
    if str(tensor.dtype) == "torch.bfloat16":
        notes.conversions.add("bfloat16 to float32")
        tensor = tensor.float()
    if tensor.device.type != "cpu":
        if tensor.device.type == "meta":
            raise MediaError("a tensor on the meta device has no samples", code="bad_array")
        notes.flags.add("cuda_copied")
        tensor = tensor.cpu()
    if hasattr(tensor, "resolve_neg"):
        tensor = tensor.resolve_neg()
    try:
        return np.asarray(tensor.numpy())
    except (TypeError, RuntimeError) as error:
        raise MediaError(
            f"a tensor of dtype {tensor.dtype} cannot be read ({error}); expected uint8, uint16, "
            "float16, bfloat16 or float32",
            code="bad_dtype",
        ) from error


def _from_dlpack(source: Any, notes: Adopted) -> Array:
    device = source.__dlpack_device__()[0] if hasattr(source, "__dlpack_device__") else 1
    if int(device) not in _HOST_DEVICES:
        notes.flags.add("cuda_copied")
        if callable(getattr(source, "get", None)):
            return np.asarray(source.get())
        if hasattr(source, "__array__"):
            return _known_dtype(np.asarray(source), notes)
        raise MediaError(
            f"a {type(source).__name__} lies on a device, and offers no copy; copy it to the CPU",
            code="bad_array",
        )
    try:
        return np.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if hasattr(source, "__array__"):
            return _known_dtype(np.asarray(source), notes)
        raise MediaError(
            f"a {type(source).__name__} cannot be read through DLPack ({error})", code="bad_array"
        ) from error


def _from_pil(image: Any, notes: Adopted) -> Array:
    if getattr(image, "n_frames", 1) > 1:
        raise MediaError(
            "an animated PIL image holds one frame at a time; pass the path of its file",
            code="animated_image",
        )
    mode = image.mode
    if mode in ("L", "RGB", "F"):
        return np.asarray(image)
    if mode == "1":
        return np.asarray(image.convert("L"))
    if mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        notes.pil_alpha = True
        return np.asarray(image if mode == "RGBA" else image.convert("RGBA"))
    if mode.startswith("I;16"):
        notes.bit_depth = 16
        return np.asarray(image)
    if mode == "I":
        return np.asarray(image)
    notes.conversions.add(f"{mode} to RGB")
    return np.asarray(image.convert("RGB"))

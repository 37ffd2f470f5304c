"""Reading actions: ``(T, A)`` numbers from .npy, .npz, JSON or safetensors, and their mask.

A file with several arrays holds the actions as ``action``, ``actions`` or as its only array besides
``action_valid_mask``. Nothing is unpickled, and a size in a header is believed only as far as the
file goes.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from screentest.errors import MediaError
from screentest.media.clip import Array

__all__ = ["EXTENSIONS", "MASK", "Actions", "as_actions", "read_actions"]

EXTENSIONS = (".npy", ".npz", ".json", ".safetensors")
MASK = "action_valid_mask"
_NAMES = ("action", "actions")

_SAFETENSORS = {
    "BOOL": np.dtype(np.bool_),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I8": np.dtype("i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    # Widened by hand: the upper half of a float32.
    "BF16": np.dtype("<u2"),
}


@dataclass(frozen=True, slots=True)
class Actions:
    """``values`` is ``(T, A)`` float64; ``mask`` is bool, ``(A,)`` or ``(T, A)``, or ``None``."""

    values: Array
    mask: Array | None


def read_actions(path: Path) -> Actions:
    """The actions in a file.

    Raises ``OSError``, and :class:`~screentest.errors.MediaError` for bytes that are no actions.
    """
    if path.is_dir():
        raise MediaError(f"{path}: a folder, and a file was expected", code="is_a_folder")
    extension = path.suffix.lower()
    reader = {".npy": _npy, ".npz": _npy, ".json": _json, ".safetensors": _safetensors}
    if extension not in reader:
        raise MediaError(
            f"{path}: actions are read from {', '.join(EXTENSIONS)}", code="unknown_action_format"
        )
    try:
        arrays = reader[extension](path)
    except OSError:
        raise
    except MediaError as error:
        raise MediaError(f"{path}: {error.message}", code=error.code) from None
    except Exception as error:
        # numpy and zipfile raise a wide choice of errors for bytes that are not theirs.
        raise MediaError(
            f"{path}: cannot be read as {extension[1:]} ({str(error) or type(error).__name__})",
            code="unreadable_actions",
        ) from error
    mask = arrays.pop(MASK, None)
    return as_actions(_only(arrays, path), mask, where=path)


def as_actions(values: Any, mask: Any, *, where: object) -> Actions:
    """Checked arrays: numbers of two axes, a mask of yes and no."""
    return Actions(_numbers(values, where), None if mask is None else _mask(mask, where))


def _only(arrays: dict[str, Any], path: Path) -> Any:
    for name in _NAMES:
        if name in arrays:
            return arrays[name]
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    names = ", ".join(sorted(arrays)[:8]) or "no array"
    raise MediaError(
        f"{path}: holds {names}; the actions were expected as 'action'", code="no_actions"
    )


def _npy(path: Path) -> dict[str, Any]:
    with open(path, "rb") as file:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"action": loaded}
        names = [name for name in (*_NAMES, MASK) if name in loaded.files]
        if not set(names) & set(_NAMES):
            names = loaded.files[:9]
        return {name: loaded[name] for name in names}


def _json(path: Path) -> dict[str, Any]:
    said = json.loads(path.read_bytes())
    return said if isinstance(said, dict) else {"action": said}


def _safetensors(path: Path) -> dict[str, Any]:
    """The format is eight bytes of length, a JSON header of that length, then the numbers."""
    data = path.read_bytes()
    if len(data) < 8:
        raise MediaError("shorter than a safetensors header", code="unreadable_actions")
    (length,) = struct.unpack("<Q", data[:8])
    if length > len(data) - 8:
        raise MediaError("its header is cut off", code="unreadable_actions")
    header = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    header.pop("__metadata__", None)
    return {name: _tensor(entry, body) for name, entry in header.items()}


def _tensor(entry: dict[str, Any], body: memoryview) -> Array:
    dtype = _SAFETENSORS.get(entry["dtype"])
    if dtype is None:
        raise MediaError(f"numbers of type {entry['dtype']}", code="unreadable_actions")
    start, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not 0 <= start <= end <= len(body) or end - start != math.prod(shape) * dtype.itemsize:
        raise MediaError("its header does not fit its bytes", code="unreadable_actions")
    array = np.frombuffer(body[start:end], dtype).reshape(shape)
    if entry["dtype"] == "BF16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _numbers(values: Any, where: object) -> Array:
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "iuf":
        raise MediaError(
            f"{where}: actions are rows of numbers of one length, (T, A); this is not",
            code="bad_actions",
        )
    if array.ndim != 2 or 0 in array.shape:
        raise MediaError(
            f"{where}: actions of shape {array.shape}; (T, A) was expected, with at least one step",
            code="bad_shape",
        )
    return array.astype(np.float64)


def _mask(values: Any, where: object) -> Array:
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise MediaError(f"{where}: {MASK} holds something else than yes and no", code="bad_mask")
    return array.astype(np.bool_)

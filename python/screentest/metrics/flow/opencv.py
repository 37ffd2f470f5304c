"""OpenCV where it is installed: loaded when flow is computed, and not before."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from screentest.errors import MissingBackendError

__all__ = ["load", "missing", "one_thread", "version"]

# Any of them brings the module; only one can be installed at a time.
_DISTRIBUTIONS = (
    "opencv-python-headless",
    "opencv-python",
    "opencv-contrib-python-headless",
    "opencv-contrib-python",
)

_lock = threading.Lock()
_inside = 0
_threads_before = 1


def missing() -> str | None:
    """Why there is no OpenCV, with what to install; ``None`` where it is."""
    if importlib.util.find_spec("cv2") is None:
        return "OpenCV is not installed; pip install 'screentest[flow]'"
    return None


def load() -> Any:
    """OpenCV's module.

    Raises:
        MissingBackendError: it is not installed.
    """
    reason = missing()
    if reason is not None:
        raise MissingBackendError(reason, extra="flow")
    import cv2

    return cv2


def version() -> str | None:
    """OpenCV's version, without loading it where its files say it; ``None`` without OpenCV."""
    spec = importlib.util.find_spec("cv2")
    if spec is None:
        return None
    for folder in spec.submodule_search_locations or ():
        try:
            text = (Path(folder) / "version.py").read_text()
        except OSError:
            continue
        found = re.search(r"""opencv_version\s*=\s*["']([\w.+-]+)["']""", text)
        if found:
            return found[1]
    for name in _DISTRIBUTIONS:
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return str(load().__version__)


@contextmanager
def one_thread() -> Iterator[Any]:
    """OpenCV's module, each of whose calls works on the thread that makes it.

    Pairs of frames are worked on side by side instead, within the compute budget. The number of
    threads is one for the whole process: it is put back when the last one leaves.
    """
    global _inside, _threads_before
    cv2 = load()
    with _lock:
        if _inside == 0:
            _threads_before = cv2.getNumThreads()
            cv2.setNumThreads(1)
        _inside += 1
    try:
        yield cv2
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                cv2.setNumThreads(_threads_before)

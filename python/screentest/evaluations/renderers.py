"""Renderers: a function of yours that makes what is scored, one sample at a time.

``--renderer package.module:function`` names it. It is called with a :class:`Sample` and returns a
path or frames (anything that :func:`~screentest.media.open_clip` opens), actions (a path or a
``(T, A)`` array) in mode ``inverse_dynamics``, or a :class:`Rendered` with both and more. It runs
on the calling thread, sample after sample in order, while earlier samples are scored.

A finished sample is not rendered again as long as its ground truth, the renderer's source file and
its ``version`` attribute stay the same. A renderer that depends on more, such as weights, says so
in ``version``.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from screentest.errors import InputError, MediaError
from screentest.media.content import digest_bytes

__all__ = ["MODES", "Mode", "Rendered", "Renderer", "Sample", "as_rendered", "load_renderer",
           "renderer_identity"]  # fmt: skip

Mode: TypeAlias = Literal["vision", "forward_dynamics", "inverse_dynamics", "wam", "joint"]
MODES = ("vision", "forward_dynamics", "inverse_dynamics", "wam", "joint")


@dataclass(frozen=True, slots=True)
class Sample:
    """What a renderer is given.

    ``ground_truth`` is the video's path and ``ground_truth_action`` the actions', ``None`` where
    there is no such file. ``mode`` is the mode being scored, never ``joint``. ``folder`` is where
    the sample's record will be: files may be left there.
    """

    key: str
    group: str
    mode: str
    ground_truth: Path | None
    ground_truth_action: Path | None
    folder: Path


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a renderer made. ``options`` go to ``open_clip`` with frames in memory;
    ``padding`` and ``alignment`` say how the ground truth is cut before it is compared."""

    video: Any = None
    action: Any = None
    padding: tuple[int, int, int, int] | None = None
    alignment: int | None = None
    action_valid_mask: Any = None
    options: Mapping[str, Any] | None = None


Renderer: TypeAlias = Callable[[Sample], Any]


def load_renderer(name: str) -> Renderer:
    """The function that ``module:function`` names; the current folder is looked into as well.

    Raises :class:`~screentest.errors.InputError` where there is no such function.
    """
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise _bad(name, "module:function was expected")
    if os.getcwd() not in sys.path:
        # It stays: the module may import what lies beside it while it renders.
        sys.path.append(os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise _bad(name, f"cannot import {module} ({error})") from error
    for part in function.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise _bad(name, f"{module} has no function {function}")
    renderer: Renderer = found
    return renderer


def renderer_identity(renderer: Renderer) -> dict[str, str | None]:
    """What of a renderer decides its output, as far as can be seen: name, source file, version."""
    kind = renderer if inspect.isroutine(renderer) or inspect.isclass(renderer) else type(renderer)
    try:
        source = digest_bytes(Path(inspect.getfile(kind)).read_bytes())
    except (OSError, TypeError):
        source = None
    version = getattr(renderer, "version", None)
    return {
        "name": f"{kind.__module__}:{kind.__qualname__}",
        "source": source,
        "version": None if version is None else str(version),
    }


def as_rendered(returned: Any, mode: str) -> Rendered:
    """What a renderer returned, by name. A bare value is the one thing that the mode scores."""
    if isinstance(returned, Rendered):
        return returned
    if isinstance(returned, Mapping):
        known = {name for name in Rendered.__dataclass_fields__ if name in returned}
        if known and set(returned) <= set(Rendered.__dataclass_fields__):
            return Rendered(**dict(returned))
    elif returned is not None:
        if mode == "inverse_dynamics":
            return Rendered(action=returned)
        if mode in ("vision", "forward_dynamics"):
            return Rendered(video=returned)
    raise MediaError(
        f"the renderer returned {type(returned).__name__}; mode {mode} takes a Rendered, a mapping "
        f"with {', '.join(Rendered.__dataclass_fields__)}, or the one thing that is scored",
        code="bad_rendering",
    )


def _bad(name: str, why: str) -> InputError:
    return InputError(f"renderer {name!r}: {why}", code="bad_renderer")

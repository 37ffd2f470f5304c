"""Drawings that a command is asked for, checked before anything is decoded."""

from __future__ import annotations

import os
from collections.abc import Iterable

__all__ = ["check_drawing"]


def check_drawing(option: str, path: str, form: str, inputs: Iterable[str]) -> None:
    """Everything that can go wrong with a drawing of this form (``"png"``, ``"mp4"``, ``"svg"``).

    Raises:
        FileNotFoundError: there is no such folder.
        InputError: the name does not end in the form, or is that of an input.
        MissingBackendError: the form needs Pillow.
    """
    from screentest.errors import InputError
    from screentest.reports import overlay

    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(None, None, folder)
    if not path.lower().endswith(f".{form}"):
        raise InputError(f"{option} {path}: give a name that ends in .{form}")
    if form != "svg":
        overlay.require_pillow()
    for other in inputs:
        if os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other):
            raise InputError(f"{option} {path} would replace the clip that is measured")

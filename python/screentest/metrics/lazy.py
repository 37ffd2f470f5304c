"""A package whose names are loaded on first use.

The registry reads each family's table of names. Were the package around the table to import its
kernels, listing the metrics would load numpy and the Rust core.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazily"]


def lazily(
    package: str, names: Sequence[str], modules: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package that has these names from these submodules.

    A name is taken from the first submodule that exports it, so the light ones come first. No
    submodule may be called like a name: importing it would put the module in the name's place.

    >>> find, listed = lazily("screentest.metrics.fidelity", ["NATIVE", "psnr"], ["names"])
    >>> find("NATIVE")[0], "psnr" in listed()
    ('psnr_y', True)
    """
    clashes = set(names).intersection(modules)
    assert not clashes, clashes

    def find(name: str) -> Any:
        if name in names:
            for part in modules:
                module = import_module(f"{package}.{part}")
                if name in module.__all__:
                    value = getattr(module, name)
                    setattr(sys.modules[package], name, value)
                    return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted({*vars(sys.modules[package]), *names})

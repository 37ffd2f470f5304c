"""What is measured. Facts hold no threshold, no verdict and no wall time.

:mod:`screentest.metrics.registry` has every metric by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from screentest.metrics import registry

__all__ = ["registry"]


def __getattr__(name: str) -> Any:
    if name == "registry":
        import importlib

        return importlib.import_module("screentest.metrics.registry")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

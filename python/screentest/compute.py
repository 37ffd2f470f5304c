"""The compute budget: how many threads one screening may use, all parts together."""

from __future__ import annotations

import os

from screentest.errors import InputError

__all__ = ["ENVIRONMENT_VARIABLE", "SIMD_VARIABLE", "simd_level", "threads", "usable_cpus"]

ENVIRONMENT_VARIABLE = "SCREENTEST_THREADS"
SIMD_VARIABLE = "SCREENTEST_SIMD"

# More threads than this help neither the decoder nor the kernels at the sizes that models render,
# and a machine that renders has other work for the rest.
_DEFAULT_LIMIT = 4


def usable_cpus() -> int:
    """CPUs that this process may run on (its affinity mask where there is one), at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def threads(explicit: int | None = None) -> int:
    """Threads to use: ``explicit``, else ``SCREENTEST_THREADS``, else ``min(4, usable CPUs)``.

    A number above the usable CPUs is clamped to them: more threads than cores only wait for each
    other. The decoder, the kernels and torch share this one budget; a caller that runs several
    workers divides it among them.

    Raises:
        InputError: the number asked for is not a whole number of at least 1.
    """
    cpus = usable_cpus()
    if explicit is not None:
        if type(explicit) is not int or explicit < 1:
            raise InputError(
                f"threads={explicit!r}: give a whole number of at least 1",
                code="bad_threads",
                threads=repr(explicit),
            )
        return min(explicit, cpus)
    said = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not said:
        return min(_DEFAULT_LIMIT, cpus)
    if not said.isascii() or not said.isdigit() or int(said) < 1:
        raise InputError(
            f"{ENVIRONMENT_VARIABLE}={said!r}: give a whole number of at least 1, or unset it",
            code="bad_threads",
            threads=said,
        )
    return min(int(said), cpus)


def simd_level() -> str | None:
    """The dispatch level that ``SCREENTEST_SIMD`` forces (``baseline``, ``avx2``, ``avx512``), or
    ``None`` for the best of this CPU. It changes speed and no bit of any result."""
    return os.environ.get(SIMD_VARIABLE, "").strip() or None

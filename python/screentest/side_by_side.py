"""Many sources within one compute budget, their results in the order of the sources."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from screentest.errors import InputError

__all__ = ["check_sources", "name_of", "results_in_order"]

Result = TypeVar("Result")


def check_sources(sources: Any) -> None:
    """Refuses one source where a list of them was meant.

    Raises:
        InputError: it is a path, bytes, a file object, or nothing that can be gone through.
    """
    alone = isinstance(sources, (str, bytes, bytearray, os.PathLike)) or hasattr(sources, "read")
    if alone or not isinstance(sources, Iterable):
        # The bytes of a film are no name.
        told = f"{sources!r}" if isinstance(sources, (str, os.PathLike)) else name_of(sources)
        raise InputError(f"sources is {told}: a list of sources was expected, not one")


def name_of(source: Any) -> str:
    """What a source is called where it could not be opened."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    if isinstance(source, (bytes, bytearray)):
        return "<bytes>"
    name = getattr(source, "name", None)
    if isinstance(name, str):
        return name
    return "<file object>" if hasattr(source, "read") else type(source).__name__


def results_in_order(
    one: Callable[[Any, int], Result], sources: Iterable[Any], budget: int, *, least: int = 2
) -> Generator[Result, None, None]:
    """``one(source, threads)`` of each source, several at a time where the budget allows.

    ``least`` is how many threads a source is given before another is read beside it: 1 is best for
    many sources of one kind. ``sources`` may be a generator: it is read only a little ahead of the
    results. Closing the iterator drops what has not begun.
    """
    workers = max(1, budget // least)
    each = max(1, budget // workers)
    if workers == 1:
        # On the caller's thread, so that an interrupt ends the file that is being read.
        for source in sources:
            yield one(source, each)
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="screentest-source")
    ahead: deque[Future[Result]] = deque()
    try:
        for source in sources:
            ahead.append(pool.submit(one, source, each))
            if len(ahead) >= 2 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        # What has begun is not waited for: an interrupt must not last as long as a two-hour file.
        pool.shutdown(wait=False, cancel_futures=True)

"""Pairs of frames worked on side by side while the next frames come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["Ahead"]

R = TypeVar("R")


class Ahead(Generic[R]):
    """Runs work on up to ``threads`` threads; results come in the order it was given.

    Not more than ``threads`` pieces wait or run: whoever gives one more waits for the oldest.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, "screentest-flow") if threads > 1 else None
        self._running: deque[Future[R]] = deque()
        self._done: list[R] = []

    def add(self, work: Callable[[], R]) -> None:
        """Raises what an earlier piece raised."""
        if self._pool is None:
            self._done.append(work())
            return
        if len(self._running) == self._threads:
            self._done.append(self._running.popleft().result())
        self._running.append(self._pool.submit(work))

    def results(self) -> list[R]:
        """All results, when the last is there; the threads end."""
        try:
            while self._running:
                self._done.append(self._running.popleft().result())
        finally:
            self.close()
        return self._done

    def close(self) -> None:
        """Ends the threads once what runs has run; may be called twice."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

"""A generator run on a thread of its own, a bounded number of items ahead of its consumer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from queue import SimpleQueue
from typing import TypeVar

__all__ = ["in_background"]

Item = TypeVar("Item")


class _End:
    """Marks the end of the items, with the error that ended them if one did."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def in_background(
    make: Callable[[], Generator[Item, None, None]], depth: int, name: str = "screentest-decode"
) -> Iterator[Item]:
    """Yield the items of ``make()``, which runs on its own thread at most ``depth`` items ahead.

    The thread starts with the first item asked for, and has ended when this generator has: at its
    end, on ``close()``, or when it is abandoned. An error in ``make()`` is raised here, after the
    items before it.
    """
    items: SimpleQueue[Item | _End] = SimpleQueue()
    # One token per item that may be ahead. A pair of C queues costs a microsecond per frame, where
    # queue.Queue with its Python locks costs ten.
    room: SimpleQueue[None] = SimpleQueue()
    for _ in range(depth):
        room.put(None)
    stopping = threading.Event()

    def work() -> None:
        error: BaseException | None = None
        source = None
        try:
            source = make()
            for item in source:
                room.get()
                if stopping.is_set():
                    break
                items.put(item)
        except BaseException as caught:
            error = caught
        finally:
            if source is not None:
                source.close()
            items.put(_End(error))

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    try:
        while True:
            item = items.get()
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
            del item
            room.put(None)
    finally:
        stopping.set()
        room.put(None)
        thread.join()

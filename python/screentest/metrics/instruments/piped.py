"""A program that reads two raw streams at once, each from a pipe of its own.

Each pipe has a thread that writes to it, so neither the order in which the program reads its inputs
nor how much of one it reads ahead can make both sides wait for each other.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from screentest.media.clip import Array

__all__ = ["Piped", "PipedError", "Source"]

# What goes down a pipe for one frame; called on the pipe's own thread.
Source: TypeAlias = Callable[[], list[Array]]

# Frames that wait for the program, per pipe.
_AHEAD = 3
# A program that takes no frame for so long is stuck: an 8K frame costs VMAF a few seconds.
_STALL_S = 180.0
_TICK_S = 0.2


class PipedError(Exception):
    """The program ended, failed or got stuck; the message is one line."""


class Piped:
    """Runs ``command(first, second)`` in a private, empty folder; the arguments are the numbers of
    the two descriptors that it is to read.

    What it prints on stderr lands in a file there, so it never waits for a reader.
    """

    def __init__(self, command: Callable[[int, int], list[str]]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="screentest-"))
        self.fed = 0
        reads, writes = [], []
        try:
            for _ in range(2):
                read, write = os.pipe()
                os.set_blocking(write, False)
                reads.append(read)
                writes.append(write)
            with open(self.folder / "stderr", "wb") as stderr:
                self._process = subprocess.Popen(
                    command(reads[0], reads[1]),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    cwd=self.folder,
                    pass_fds=reads,
                    # An interrupt from the keyboard reaches us alone; we end the program.
                    start_new_session=True,
                )
        except BaseException:
            for descriptor in writes:
                os.close(descriptor)
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            for descriptor in reads:
                os.close(descriptor)
        self._abandoned = threading.Event()
        self._queues: list[queue.Queue[Source | None]] = [queue.Queue(_AHEAD) for _ in writes]
        self._threads = [
            threading.Thread(target=_write, args=(write, waiting, self._abandoned), daemon=True)
            for write, waiting in zip(writes, self._queues, strict=True)
        ]
        # Also where close() was never reached.
        self._cleanup = weakref.finalize(self, _end, self._process, self._abandoned, self.folder)
        for thread in self._threads:
            thread.start()

    def feed(self, first: Source, second: Source) -> None:
        """Hands one frame to each pipe; waits while the program is behind.

        Raises:
            PipedError: the program ended before its input did, or is stuck.
        """
        for waiting, item in zip(self._queues, (first, second), strict=True):
            self._put(waiting, item)
        self.fed += 1

    def finish(self) -> None:
        """Ends both streams and waits until the program is done.

        Raises:
            PipedError: it failed, or is stuck.
        """
        for waiting in self._queues:
            self._put(waiting, None)
        try:
            status = self._process.wait(_STALL_S)
        except subprocess.TimeoutExpired:
            raise self._stuck() from None
        if status != 0:
            raise PipedError(self._failure())

    def close(self) -> None:
        """Kills the program if it still runs, and removes the folder."""
        self._cleanup()
        for thread in self._threads:
            thread.join()

    def _put(self, waiting: queue.Queue[Source | None], item: Source | None) -> None:
        limit = time.monotonic() + _STALL_S
        while True:
            if self._process.poll() is not None and item is not None:
                raise PipedError(self._failure())
            try:
                waiting.put(item, timeout=_TICK_S)
                return
            except queue.Full:
                if time.monotonic() > limit:
                    raise self._stuck() from None

    def _stuck(self) -> PipedError:
        _kill(self._process)
        return PipedError(f"it took no frame for {_STALL_S:.0f} s and was ended")

    def _failure(self) -> str:
        status = self._process.wait()
        how = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
        said = (self.folder / "stderr").read_bytes()[-4096:].decode("utf-8", "replace")
        # ffmpeg's cause comes first, its consequences after it.
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return f"{how} after {self.fed} frames" + (f": {lines[0][:300]}" if lines else "")


def _write(
    descriptor: int, waiting: queue.Queue[Source | None], abandoned: threading.Event
) -> None:
    """Writes frames until ``None`` comes. Once the reader has gone the rest is taken and dropped,
    so that nobody waits for room."""
    gone = False
    try:
        while not abandoned.is_set():
            try:
                item = waiting.get(timeout=_TICK_S)
            except queue.Empty:
                continue
            if item is None:
                return
            if gone:
                continue
            try:
                for plane in item():
                    _write_all(descriptor, plane, abandoned)
            except Exception:
                # The reader went away, or the frame could not be had; the program's own end, or
                # the frames missing from its log, tell of it.
                gone = True
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _write_all(descriptor: int, plane: Array, abandoned: threading.Event) -> None:
    # Not blocking: what a dead program leaves behind may hold the pipe open and never read.
    left = np.ascontiguousarray(plane).data.cast("B")
    room = select.poll()
    room.register(descriptor, select.POLLOUT)
    while len(left) and not abandoned.is_set():
        if room.poll(_TICK_S * 1000):
            left = left[os.write(descriptor, left) :]


def _end(process: subprocess.Popen[bytes], abandoned: threading.Event, folder: Path) -> None:
    abandoned.set()
    _kill(process)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program and what it started: it may be a script around the real one."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

"""Files that survive a kill: written whole or not at all."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["remove_leftovers", "replacing", "write_atomically"]

_LEFTOVER = re.compile(r"\.screentest-(?P<machine>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}\.tmp")

# Of a process that cannot be asked, because it ran on another machine. A write takes seconds.
_DEAD_AFTER_S = 86_400.0

# What this process is writing now.
_in_flight: set[str] = set()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of ``path`` when the block ends.

    A reader, and whoever comes after a kill, sees the whole file or the one before. If the block
    raises, nothing has changed. A device or a pipe is written to as it is.

    An ``OSError`` that names no file, such as that of a full disk, is given ``path``.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        try:
            with open(path, "wb") as file:
                yield file
        except OSError as error:
            if error.errno is not None and error.filename is None:
                error.filename = os.fspath(path)
            raise
        return
    name = f".screentest-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    temporary = path.parent / name
    _in_flight.add(name)
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None and (
            error.filename in (None, os.fspath(temporary))
        ):  # fmt: skip
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        _in_flight.discard(name)
    # Some network file systems refuse to sync a folder; the file itself is there.
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file by :func:`replacing` it."""
    with replacing(path) as file:
        file.write(data)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes left in one folder.

    A process that still runs keeps its own, and so does one of another machine or container for a
    day: it may be writing here.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        found = _LEFTOVER.fullmatch(name)
        if found is None or name in _in_flight:
            continue
        with suppress(OSError):
            if found["machine"] == _machine():
                dead = not _is_another(int(found["pid"]))
            else:
                dead = time.time() - os.stat(folder / name).st_mtime > _DEAD_AFTER_S
            if dead:
                (folder / name).unlink()


def _is_another(pid: int) -> bool:
    """Whether a process of this number runs that is not this one."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@functools.cache
def _machine() -> str:
    """Where a process number means one process: the machine since it started, and the container,
    for those of one machine may share its name and have process 1 each."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=4).hexdigest()

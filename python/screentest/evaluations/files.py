"""Files that survive a kill: written whole or not at all, and known by their bytes."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import stat
from contextlib import suppress
from pathlib import Path

from screentest.errors import MediaError

__all__ = ["digest_bytes", "digest_path", "remove_leftovers", "write_atomically"]

# BLAKE2b of the standard library: about 1 GB/s, where decoding reads some 10 MB/s of a file.
_HASH = "blake2b-256"
_DIGEST_BYTES = 32
_LEFTOVER = re.compile(r"\.(?P<name>[^/]+)\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)\.tmp")


def digest_bytes(data: bytes) -> str:
    """The content key of bytes."""
    return f"{_HASH}:{hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()}"


def digest_path(path: Path) -> str:
    """The content key of a file, or of a folder's files with their names.

    Raises ``OSError`` for what cannot be read.
    """
    if not path.is_dir():
        return f"{_HASH}:{_of_file(path).hex()}"
    whole = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for name in sorted(os.listdir(path), key=os.fsencode):
        if (path / name).is_file():
            whole.update(os.fsencode(name) + b"\0" + _of_file(path / name))
    return f"{_HASH}:{whole.hexdigest()}"


def _of_file(path: Path) -> bytes:
    if not stat.S_ISREG(os.stat(path).st_mode):
        # Reading a pipe would wait for whoever writes to it, forever.
        raise MediaError(f"{path}: not a regular file", code="not_a_file")
    with open(path, "rb") as file:
        return hashlib.file_digest(
            file, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)
        ).digest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader, and whoever comes after a kill, sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{_host()}-{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that a killed process of this machine left in one folder.

    A process that still runs keeps its own: another shard may be writing here.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        found = _LEFTOVER.fullmatch(name)
        if found and found["host"] == _host() and not _is_another(int(found["pid"])):
            with suppress(OSError):
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


def _host() -> str:
    return hashlib.blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()

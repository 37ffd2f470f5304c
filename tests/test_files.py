"""A file is written whole or not at all, and what a killed write leaves is cleared away."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from screentest import files
from screentest.files import remove_leftovers, replacing, write_atomically


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_write_that_fails_leaves_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    write_atomically(path, b"one")

    def fails(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"two")
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == {"x.json"}


def test_an_error_names_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    """The system tells of a full disk without a name, and of a rename by the temporary one."""
    path = tmp_path / "x.json"
    with pytest.raises(OSError, match="No space left") as full, replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert full.value.filename == str(path)
    path.mkdir()
    with pytest.raises(IsADirectoryError) as taken:
        write_atomically(path, b"")
    assert (taken.value.filename, taken.value.filename2) == (str(path), None)
    assert names(tmp_path) == {"x.json"}


def test_a_device_that_takes_nothing_is_named() -> None:
    with pytest.raises(OSError, match="No space left") as full:
        write_atomically(Path("/dev/full"), b"one")
    assert full.value.filename == "/dev/full"


def test_a_block_that_raises_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.json"

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == set()


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """As root, /dev/stdout and /dev/null would otherwise become files."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_atomically(path, b"said")
    reader.join()
    assert read == [b"said"]
    assert path.is_fifo()


def test_a_name_as_long_as_the_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_atomically(path, b"one")
    assert path.read_bytes() == b"one"


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        here = files._machine()
        left = {
            who: f".screentest-{machine}-{pid}-00000000.tmp"
            for who, machine, pid in (
                ("dead", here, ended.pid),
                ("own", here, os.getpid()),
                ("living", here, living.pid),
                ("elsewhere", "00000000", ended.pid),
                ("elsewhere and old", "00000001", ended.pid),
            )
        }
        for name in (*left.values(), ".x.tmp", "x.tmp"):
            (tmp_path / name).write_text("torn")
        two_days_ago = time.time() - 2 * 86_400
        os.utime(tmp_path / left["elsewhere and old"], (two_days_ago, two_days_ago))
        with replacing(tmp_path / "x.json") as file:
            remove_leftovers(tmp_path)
            file.write(b"one")
        assert names(tmp_path) == {"x.json", ".x.tmp", "x.tmp", left["living"], left["elsewhere"]}
    finally:
        living.communicate(b"\n")


def test_a_folder_that_is_not_there_has_no_leftovers(tmp_path: Path) -> None:
    remove_leftovers(tmp_path / "none")
    assert names(tmp_path) == set()

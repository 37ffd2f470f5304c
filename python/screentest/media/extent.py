"""Does a file hold as many bytes as its own structure says?

Decoders stop without a word where a file ends early. The containers' outermost sizes tell, without
decoding and without trusting any duration: an MP4 box, a Matroska segment or a RIFF chunk that
reaches beyond the end of the file, a GIF without its trailer, a PNG without IEND, a JPEG without
its end marker.
"""

from __future__ import annotations

import os
from typing import BinaryIO

__all__ = ["missing_end"]

_EBML = b"\x1a\x45\xdf\xa3"
_SEGMENT = b"\x18\x53\x80\x67"
# A file with more top-level boxes than this is a long fragmented one; the walk stays bounded.
_MAX_BOXES = 1_000_000


def missing_end(file: BinaryIO) -> str | None:
    """What is missing at the end of the file, or ``None`` if nothing is known to be.

    ``file`` is seekable; its position is not kept.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(16)
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp"):
        return _boxes(file, size)
    if head.startswith(_EBML):
        return _matroska(file, size)
    if head.startswith(b"RIFF"):
        return _riff(head, size)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(file, size)
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _gif(file)
    if head.startswith(b"\xff\xd8\xff"):
        # Cameras append data behind the picture, so the marker may stand anywhere in the tail.
        file.seek(0)
        return None if b"\xff\xd9" in file.read() else "the JPEG end marker is missing"
    if head.startswith(b"\x47") and size > 188 * 4 and _is_transport_stream(file):
        lacking = -size % 188
        return f"{lacking} bytes of the last transport packet are missing" if lacking else None
    return None


def _beyond(what: str, end: int, size: int) -> str | None:
    if end <= size:
        return None
    return f"the {what} should end at byte {end}, the file ends at byte {size}"


def _boxes(file: BinaryIO, size: int) -> str | None:
    at = 0
    for _ in range(_MAX_BOXES):
        if at >= size:
            return None
        file.seek(at)
        head = file.read(16)
        if len(head) < 8:
            # A few stray bytes behind the last box are common and hold nothing.
            return None
        length = int.from_bytes(head[:4], "big")
        name = head[4:8]
        if length == 1:
            if len(head) < 16:
                return f"the file ends inside the header of a box at byte {at}"
            length = int.from_bytes(head[8:16], "big")
        if length == 0:
            return None
        if length < 8 or not name.isascii():
            return None
        at += length
        if at > size:
            return _beyond(f"'{name.decode('ascii', 'replace')}' box", at, size)
    return None


def _vint(data: bytes, at: int) -> tuple[int | None, int]:
    """(value, bytes used) of an EBML size; the value is ``None`` where it means "unknown"."""
    if at >= len(data) or data[at] == 0:
        return None, 0
    width = 9 - data[at].bit_length()
    raw = data[at : at + width]
    if len(raw) < width:
        return None, 0
    value = int.from_bytes(raw, "big") & ((1 << (7 * width)) - 1)
    return (None if value == (1 << (7 * width)) - 1 else value), width


def _matroska(file: BinaryIO, size: int) -> str | None:
    file.seek(0)
    head = file.read(4096)
    header, used = _vint(head, 4)
    if header is None or used == 0:
        return None
    at = 4 + used + header
    if head[at : at + 4] != _SEGMENT:
        return None
    length, used = _vint(head, at + 4)
    if length is None:
        return None
    return _beyond("Matroska segment", at + 4 + used + length, size)


def _riff(head: bytes, size: int) -> str | None:
    length = int.from_bytes(head[4:8], "little")
    # Writers that could not seek back leave 0 or the largest number here.
    if length in (0, 0xFFFFFFFF, 0x7FFFFFFF):
        return None
    return _beyond("RIFF chunk", 8 + length, size)


def _png(file: BinaryIO, size: int) -> str | None:
    at = 8
    while at + 8 <= size:
        file.seek(at)
        head = file.read(8)
        if head[4:8] == b"IEND":
            return None
        at += 12 + int.from_bytes(head[:4], "big")
    return "the PNG ends before its IEND chunk"


def _gif(file: BinaryIO) -> str | None:
    file.seek(0)
    data = file.read()
    lacking = "the GIF ends before its trailer"
    if len(data) < 13:
        return lacking
    at = 13 + _colour_table(data[10])
    while at < len(data):
        kind = data[at]
        if kind == 0x3B:
            return None
        if kind == 0x21:
            at += 2
        elif kind == 0x2C and at + 10 <= len(data):
            at += 11 + _colour_table(data[at + 9])
        elif kind == 0x2C:
            return lacking
        else:
            # Not a GIF block: what follows cannot be walked, which is no sign of a missing end.
            return None
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
    return lacking


def _colour_table(packed: int) -> int:
    return 3 << (packed & 7) + 1 if packed & 0x80 else 0


def _is_transport_stream(file: BinaryIO) -> bool:
    file.seek(0)
    start = file.read(188 * 4)
    return all(start[i * 188] == 0x47 for i in range(4))

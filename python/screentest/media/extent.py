"""Does a file hold as many bytes as its own structure says?

Decoders stop without a word where a file ends early. The containers' outermost sizes tell, without
decoding and without trusting any duration: an MP4 box, a Matroska segment or a RIFF chunk that
reaches beyond the end of the file, an Ogg stream without its last page, a Y4M file that ends within
a frame, a GIF without its trailer, a PNG without IEND, a JPEG without its end marker, and the sizes
that files of sound alone store.
"""

from __future__ import annotations

import os
import re
from typing import BinaryIO

from screentest.media.sound.extent import beyond, sound_end

__all__ = ["missing_end"]

_EBML = b"\x1a\x45\xdf\xa3"
_SEGMENT = b"\x18\x53\x80\x67"
_CLUSTER = b"\x1f\x43\xb6\x75"
# Cluster, SimpleBlock, BlockGroup.
_MATROSKA_PICTURES = (_CLUSTER, b"\xa3", b"\xa0")
# The boxes without which there are no pictures. Text and trailers that tools append to a file read
# as boxes too, with names and sizes of no meaning.
_MEDIA_BOXES = (b"mdat", b"moov", b"moof")
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
        return _jpeg(file, size)
    if head.startswith(b"OggS"):
        return _ogg(file, size)
    if head.startswith(b"YUV4MPEG2 "):
        return _y4m(file, size)
    if head.startswith(b"\x47") and size > 188 * 4 and _is_transport_stream(file):
        lacking = -size % 188
        return f"{lacking} bytes of the last transport packet are missing" if lacking else None
    what, end = sound_end(file, head)
    return beyond(what, end, size)


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
            length = int.from_bytes(head[8:16], "big")
        if length == 0:
            return None
        if length < 8 or not name.isascii():
            return None
        at += length
        if at > size:
            return beyond(f"'{name.decode()}' box", at, size) if name in _MEDIA_BOXES else None
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
    at += 4 + used
    if length is None:
        return _live_segment(file, at, size) if used else None
    return beyond("Matroska segment", at + length, size)


def _live_segment(file: BinaryIO, at: int, size: int) -> str | None:
    """A muxer that cannot seek leaves the size of the segment open, but not that of its blocks."""
    while at < size:
        file.seek(at)
        head = file.read(12)
        name = head[: 9 - head[0].bit_length()]
        length, used = _vint(head, len(name))
        if length is None and (name != _CLUSTER or not used):
            return None
        # A cluster of unknown size is stepped into.
        at += len(name) + used + (length or 0)
        if at > size:
            return beyond("Matroska block", at, size) if name in _MATROSKA_PICTURES else None
    return None


def _riff(head: bytes, size: int) -> str | None:
    length = int.from_bytes(head[4:8], "little")
    # Writers that could not seek back leave 0 or the largest number here.
    if length in (0, 0xFFFFFFFF, 0x7FFFFFFF):
        return None
    return beyond("RIFF chunk", 8 + length, size)


def _jpeg(file: BinaryIO, size: int) -> str | None:
    at = 2
    while at + 4 <= size:
        file.seek(at)
        head = file.read(4)
        if head[0] != 0xFF:
            return None
        if head[1] == 0xDA:
            # From here on the end marker cannot be part of a thumbnail; cameras append data to it.
            file.seek(at)
            return None if b"\xff\xd9" in file.read() else "the JPEG end marker is missing"
        at += 1 if head[1] == 0xFF else 2 + int.from_bytes(head[2:], "big")
    return "the JPEG ends before its picture"


def _ogg(file: BinaryIO, size: int) -> str | None:
    # A page has at most 27 + 255 + 255 * 255 bytes (RFC 3533).
    start = max(0, size - 65_307)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"OggS")
    page = tail[at : at + 282]
    if at < 0 or len(page) < 27:
        return "the file ends inside the header of an Ogg page"
    body = sum(page[27 : 27 + page[26]])
    lacking = beyond("last Ogg page", start + at + 27 + page[26] + body, size)
    if lacking is None and not page[5] & 4:
        return "no Ogg page is marked as the last of its stream"
    return lacking


_Y4M_SAMPLES = re.compile(rb"(420|422|444|411|mono)(?:jpeg|paldv|mpeg2|(alpha)|p?(9|1\d))?")
_Y4M_CHROMA = {b"420": (2, 2), b"422": (2, 1), b"444": (1, 1), b"411": (4, 1)}


def _y4m(file: BinaryIO, size: int) -> str | None:
    file.seek(0)
    header = file.readline(1024)
    said = {token[:1]: token[1:] for token in header.split()[1:]}
    samples = _Y4M_SAMPLES.fullmatch(said.get(b"C", b"420"))
    frame_header = file.readline(1024)
    width, height = said.get(b"W", b""), said.get(b"H", b"")
    if samples is None or frame_header != b"FRAME\n" or not (width + height).isdigit():
        return None
    luma = int(width) * int(height)
    count = luma * (2 if samples[2] else 1)
    if samples[1] in _Y4M_CHROMA:
        step_x, step_y = _Y4M_CHROMA[samples[1]]
        if samples[3] and int(width) % step_x:
            # FFmpeg up to version 5 at least writes half a sample here.
            return None
        count += 2 * -(-int(width) // step_x) * -(-int(height) // step_y)
    frame = len(frame_header) + count * (2 if samples[3] else 1)
    over = (size - len(header)) % frame
    return f"{frame - over} bytes of the last frame are missing" if over else None


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

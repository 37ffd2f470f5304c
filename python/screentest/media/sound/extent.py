"""Where a file that holds sound alone should end, by the size that its own header stores."""

from __future__ import annotations

from typing import BinaryIO, Literal

__all__ = ["beyond", "sound_end"]

# Wave64 names its chunks by GUIDs, of which the first begins like this.
_W64 = b"riff\x2e\x91\xcf\x11"
# Writers that could not seek back leave one of these for a size.
_UNSAID = (0, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
# The first frame of an MP3 lies behind its ID3 tag; some writers pad that.
_MP3_REACH = 8192
_XING = (b"Xing", b"Info")
# Where it stands: behind the frame's header, its side information and perhaps a checksum.
_XING_PLACES = (13, 15, 21, 23, 36, 38)
_MAX_CHUNKS = 1000


def beyond(what: str, end: int, size: int) -> str | None:
    """One line where something reaches beyond the end of the file."""
    if end <= size:
        return None
    return f"the {what} should end at byte {end}, the file ends at byte {size}"


def sound_end(file: BinaryIO, head: bytes) -> tuple[str, int]:
    """(what, the byte behind it) as the header says; byte 0 where it does not.

    ``head`` is the first 16 bytes.
    """
    if head.startswith(b"FORM") and head[8:12] in (b"AIFF", b"AIFC"):
        return "FORM chunk", _end(8, head[4:8], "big")
    if head.startswith((b"RF64", b"BW64")) and head[12:16] == b"ds64":
        # EBU Tech 3306: the size of a RIFF chunk beyond 32 bits stands in the first chunk.
        return "RIFF chunk", _end(8, _read(file, 20, 8), "little")
    if head.startswith(_W64):
        return "Wave64 file", _end(0, _read(file, 16, 8), "little")
    if head.startswith(b".snd"):
        return "AU data", _end(int.from_bytes(head[4:8], "big"), head[8:12], "big")
    if head.startswith(b"caff"):
        return "CAF chunk", _caf(file)
    if head.startswith(b"ID3") or (head[:1] == b"\xff" and head[1:2] >= b"\xe0"):
        return "MP3", _mp3(file, head)
    return "", 0


def _read(file: BinaryIO, at: int, count: int) -> bytes:
    file.seek(at)
    return file.read(count)


def _end(start: int, stored: bytes, order: Literal["big", "little"]) -> int:
    length = int.from_bytes(stored, order)
    return 0 if length in _UNSAID else start + length


def _caf(file: BinaryIO) -> int:
    """The end of the last chunk; a data chunk may reach to the end of the file (size -1)."""
    at = 8
    for _ in range(_MAX_CHUNKS):
        head = _read(file, at, 12)
        if len(head) < 12:
            break
        length = int.from_bytes(head[4:], "big", signed=True)
        if length < 0:
            return 0
        at += 12 + length
    return at


def _mp3(file: BinaryIO, head: bytes) -> int:
    """The end of the frames by the Xing header, which LAME and FFmpeg write into the first one."""
    start = 0
    if head.startswith(b"ID3"):
        # The size has seven bits in each byte, and leaves out its own header.
        start = 0
        for byte in head[6:10]:
            start = start << 7 | byte & 0x7F
        start += 10
    data = _read(file, start, _MP3_REACH)
    frame = data.find(b"\xff")
    mark = next((at for at in _XING_PLACES if data[frame + at :][:4] in _XING), None)
    if frame < 0 or mark is None:
        return 0
    said = data[frame + mark + 4 :][:12]
    flags = int.from_bytes(said[:4], "big")
    if not flags & 2:
        return 0
    skipped = 8 if flags & 1 else 4
    return _end(start + frame, said[skipped : skipped + 4], "big")

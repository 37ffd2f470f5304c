"""The packet table: what a file holds, found by reading its packets without decoding any."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from screentest.media.info import Damage

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream

__all__ = ["PacketTable", "read_table"]

# Codecs whose display times FFmpeg cannot work out where the container has none. For MPEG-2 and
# MPEG-4, which announce a delay also without B frames, it can.
_REORDERING = frozenset({"h264", "hevc", "vvc"})


@dataclass(slots=True)
class PacketTable:
    """Packets in decoding order, and the display order of those that are shown.

    ``shown[i]`` is the place in decoding order of the packet that becomes frame ``i``.
    ``frame_of_pts`` and ``place_of_pts`` are ``None`` where stamps are missing, not unique, or say
    the decoding order; then frames are counted as they come.
    """

    pts: list[int | None] = field(default_factory=list)
    dts: list[int | None] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)
    discarded: int = 0
    leading: int = 0
    marked_corrupt: list[int] = field(default_factory=list)
    read_error: str | None = None
    partial_tail: bool = False
    reorders: bool = False
    shown: list[int] = field(default_factory=list)
    frame_of_pts: dict[int, int] | None = None
    place_of_pts: dict[int, int] | None = None
    # Only raw elementary streams and AVI lack presentation times; AVI's are worked out from the
    # decoding order, which says nothing about time.
    times_known: bool = False

    def arrange(self) -> None:
        """Work out the display order from what was read."""
        unstamped = self._unstamped_leading()
        self.leading += sum(place not in self.hidden for place in unstamped)
        self.hidden.update(unstamped)
        places = [i for i in range(len(self.pts)) if i not in self.hidden]
        stamps = [self.pts[i] for i in places]
        known = [s for s in stamps if s is not None]
        complete = len(known) == len(places)
        if complete:
            places.sort(key=lambda i: (self.pts[i], i))
        self.shown = places
        self.times_known = complete and len(places) > 0
        self.frame_of_pts = None
        self.place_of_pts = None
        if complete and len(set(known)) == len(known) and not self._in_decoding_order(known):
            self.frame_of_pts = {stamp: frame for frame, stamp in enumerate(sorted(known))}
            every = [s for s in self.pts if s is not None]
            if len(set(every)) == len(self.pts):
                self.place_of_pts = {s: i for i, s in enumerate(every)}

    def _in_decoding_order(self, stamps: list[int]) -> bool:
        """True if the pictures are reordered and their stamps are not.

        AVI and ASF have no display times, and a copy of a raw stream into MP4 has none to write:
        the stamps of a stream with B frames then ascend in decoding order.
        """
        return self.reorders and all(a < b for a, b in pairwise(stamps))

    def _unstamped_leading(self) -> range:
        """Packets right behind the first one that alone have no stamp.

        A stream cut at an open group of pictures keeps the frames that lean on what was cut away;
        Matroska then holds them without a time, since theirs lies before the start.
        """
        end = 1
        while end < len(self.pts) and self.pts[end] is None:
            end += 1
        rest = self.pts[end:]
        if self.keys[:1] != [0] or self.pts[0] is None or not rest or None in rest:
            return range(0)
        return range(1, end)

    def drop_leading(self, count: int) -> None:
        """Take the first ``count`` shown frames out of the display order."""
        self.hidden.update(self.shown[:count])
        self.leading += count
        self.arrange()

    def are_leading(self, count: int) -> bool:
        """True if the first ``count`` shown frames lean on pictures before the first key frame."""
        if not self.keys or not count:
            return False
        first = self.keys[0]
        start = self.pts[first]
        return start is not None and all(
            place > first and (stamp := self.pts[place]) is not None and stamp < start
            for place in self.shown[:count]
        )

    def key_before(self, frame: int) -> int | None:
        """Number (in ``keys``) of the key packet to start from so that frame decodes exactly."""
        place = self.shown[frame]
        number = bisect_right(self.keys, place) - 1
        stamp = self.pts[place]
        # Frames shown before the key frame but stored after it lean on the group before (open GOP).
        while number >= 0:
            key = self.pts[self.keys[number]]
            if key is None or stamp is None or key <= stamp:
                return number
            number -= 1
        return None

    def damage(self, expected_packets: int | None, missing_end: str | None) -> list[Damage]:
        """What the packets alone show to be wrong."""
        found: list[Damage] = []
        lost = None
        if expected_packets is not None and expected_packets > len(self.pts):
            lost = expected_packets - len(self.pts)
        if lost or missing_end or self.partial_tail:
            parts = [missing_end] if missing_end else []
            if lost:
                parts.append(
                    f"the index lists {expected_packets} packets, {len(self.pts)} are there whole"
                )
            if self.partial_tail and not parts:
                parts.append("the last packet is cut short")
            found.append(
                Damage(
                    kind="truncated",
                    detail="; ".join(parts),
                    frame=len(self.shown),
                    frames_lost=lost,
                )
            )
        if self.read_error:
            found.append(
                Damage(
                    kind="truncated",
                    detail=f"reading stopped before the end: {self.read_error}",
                    frame=len(self.shown),
                )
            )
        place_to_frame = {place: k for k, place in enumerate(self.shown)}
        frames = [place_to_frame[p] for p in self.marked_corrupt if p in place_to_frame]
        for first, last in runs(sorted(frames)):
            found.append(
                Damage(
                    kind="corrupt_frame",
                    detail=f"the container marks {count_of(last - first + 1, 'packet')} as corrupt",
                    frame=first,
                )
            )
        return found


def read_table(container: InputContainer, stream: VideoStream) -> PacketTable:
    """Read every packet of the stream once; a read error ends the table and is kept in it."""
    import av

    for other in container.streams:
        if other.index != stream.index:
            other.discard = av.stream.Discard.all
    codec = stream.codec_context
    table = PacketTable(reorders=codec.name in _REORDERING and codec.has_b_frames)
    is_hidden = _hidden_test(codec.name)
    pts, dts, durations = table.pts, table.dts, table.durations
    place = 0
    last_corrupt = -1
    try:
        for packet in container.demux(stream):
            stamp = packet.pts
            if not packet.size and stamp is None and packet.dts is None:
                continue
            pts.append(stamp)
            dts.append(packet.dts)
            durations.append(packet.duration or 0)
            if packet.is_keyframe:
                table.keys.append(place)
            if packet.is_discard:
                table.hidden.add(place)
                table.discarded += 1
            elif not packet.size or (is_hidden is not None and is_hidden(packet)):
                table.hidden.add(place)
            if packet.is_corrupt:
                last_corrupt = place
                table.marked_corrupt.append(place)
            place += 1
    except (av.error.FFmpegError, OSError) as error:
        table.read_error = getattr(error, "strerror", None) or str(error)
    if last_corrupt >= 0 and last_corrupt == place - 1:
        # A packet cut by the end of the file holds no whole picture: it is not decoded, since what
        # a decoder makes of it differs from one to the next.
        for column in (pts, dts, durations):
            column.pop()
        table.hidden.discard(last_corrupt)
        table.marked_corrupt.pop()
        if table.keys and table.keys[-1] == last_corrupt:
            table.keys.pop()
        table.partial_tail = True
    table.arrange()
    if container.format.name == "avi" and any(
        p != d for p, d in zip(table.pts, table.dts, strict=True)
    ):
        table.times_known = False
    return table


def _hidden_test(codec: str) -> Callable[[Packet[VideoStream]], bool] | None:
    return {"vp8": _vp8_hidden, "vp9": _vp9_hidden, "libvpx-vp9": _vp9_hidden}.get(codec)


def _vp8_hidden(packet: Packet[VideoStream]) -> bool:
    # RFC 6386 section 9.1: bit 4 of the first byte is show_frame.
    return not memoryview(packet)[0] & 0x10


def _vp9_hidden(packet: Packet[VideoStream]) -> bool:
    data = memoryview(packet)
    if data[-1] & 0xE0 == 0xC0:
        # A superframe ends in a shown frame.
        return False
    bits = data[0]
    # VP9 bitstream section 6.2: marker (2 bits), profile low, profile high, [reserved if 3],
    # show_existing_frame, frame_type, show_frame.
    shift = 2 if bits & 0x30 == 0x30 else 3
    show_existing = bits >> shift & 1
    show_frame = bits >> (shift - 2) & 1
    return not show_existing and not show_frame


def runs(values: list[int]) -> list[tuple[int, int]]:
    """Inclusive (first, last) of each run of consecutive numbers in an ascending list."""
    found: list[tuple[int, int]] = []
    for value in values:
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found


def count_of(number: int, noun: str) -> str:
    """``"1 frame"``, ``"2 frames"``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")

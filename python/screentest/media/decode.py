"""Frames of one video stream: all of them in order, or exactly those asked for.

Where a file is damaged, what a decoder conceals and how depends on its threads. So at the first
sign of damage decoding starts again on one thread, skipping the frames already given (which are
from before the damage): the frames are the same whatever the thread count.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from screentest.media.info import Damage
from screentest.media.packets import PacketTable, count_of, runs
from screentest.media.source import MediaSource

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream

__all__ = ["DecodeLog", "Decoder"]

Numbered = tuple[int, "VideoFrame"]

# Frames that no other frame refers to may be skipped on the way to a target without changing it.
# Left out: HEVC, whose sub-layer non-reference pictures may serve a higher sub-layer.
_SKIPS_NON_REFERENCE = frozenset({"h264", "mpeg1video", "mpeg2video", "mpeg4"})

# Codecs whose key frames start afresh. For others (GIF and APNG paint over what was there) the
# frames are decoded from the start.
_SEEKABLE = frozenset(
    [
        "h264",
        "hevc",
        "vvc",
        "vp8",
        "vp9",
        "libvpx",
        "libvpx-vp9",
        "av1",
        "libdav1d",
        "libaom-av1",
        "mpeg1video",
        "mpeg2video",
        "mpeg4",
        "mjpeg",
        "mjpegb",
        "ffv1",
        "prores",
        "prores_aw",
        "prores_ks",
        "dnxhd",
        "rawvideo",
        "huffyuv",
        "ffvhuff",
        "utvideo",
        "png",
        "v210",
        "theora",
        "cfhd",
        "jpeg2000",
        "qtrle",
        "magicyuv",
        "msmpeg4v3",
        "wmv3",
        "h263",
        "flv",
    ]
)

# Reading on over a gap of this many packets costs less than draining the decoder and seeking.
_GAP = 8


class _DamageSeenError(Exception):
    """A threaded decode met damage; its result is not used any further."""


class _SeekFailedError(Exception):
    """Seeking did not lead to the frames asked for; they are decoded from the start instead."""


@dataclass(slots=True)
class DecodeLog:
    """What went wrong in one pass over a file. Frames are display indices, ascending."""

    errors: list[str] = field(default_factory=list)
    corrupt: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    late: set[int] = field(default_factory=set)
    finished: bool = False

    def clear(self) -> None:
        """Forget the pass."""
        self.errors.clear()
        self.corrupt.clear()
        self.missing.clear()
        self.late.clear()
        self.finished = False

    def damage(self, table: PacketTable) -> list[Damage]:
        """The damage of the pass as far as it got, by place."""
        found: list[Damage] = []
        # Without time stamps it is known how many frames are missing, not which.
        placed = table.frame_of_pts is not None
        for first, last in runs(self.missing):
            count = last - first + 1
            detail = f"{count_of(count, 'packet')} gave no picture"
            late = len(self.late.intersection(range(first, last + 1)))
            if late:
                detail += f" in time ({count_of(late, 'picture')} came out of order)"
            if self.errors:
                detail += f" (the decoder: {self.errors[0]})"
            found.append(
                Damage(
                    kind="decode_error" if self.errors else "missing_frames",
                    detail=detail,
                    frame=first if placed else None,
                    frames_lost=count,
                )
            )
        if self.errors and not self.missing:
            refused = count_of(len(self.errors), "packet")
            found.append(Damage(kind="decode_error", detail=f"{refused} refused: {self.errors[0]}"))
        for first, last in runs(self.corrupt):
            concealed = count_of(last - first + 1, "frame")
            found.append(
                Damage(
                    kind="corrupt_frame",
                    detail=f"{concealed} decoded with errors concealed",
                    frame=first,
                )
            )
        found.sort(key=lambda d: (d.frame is None, d.frame or 0))
        return found


@dataclass(slots=True)
class Decoder:
    """Decodes one stream of one source; every pass opens its own container.

    ``spare`` is one that was opened already and has been read to its end; the first pass rewinds
    and uses it, since opening costs as much as decoding several frames.
    """

    source: MediaSource
    format_name: str | None
    stream_index: int
    codec: str
    table: PacketTable
    threads: int
    progressive: bool = True
    spare: InputContainer | None = None

    def in_order(self, log: DecodeLog) -> Generator[Numbered, None, None]:
        """Every frame with its display index, in display order. Damage goes to ``log``."""
        given = -1
        log.clear()
        if self.threads > 1:
            passed = self._pass(self.threads, log, strict=True)
            try:
                for item in passed:
                    given = item[0]
                    yield item
                return
            except _DamageSeenError:
                log.clear()
            finally:
                passed.close()
        passed = self._pass(1, log, strict=False)
        try:
            for item in passed:
                if item[0] > given:
                    yield item
        finally:
            passed.close()

    def at(self, wanted: list[int], log: DecodeLog) -> Generator[Numbered, None, None]:
        """Exactly these frames, ascending. Decodes from key frames where the file allows."""
        given = 0
        if self._worth_seeking(wanted):
            sought = self._sought(wanted)
            try:
                for item in sought:
                    given += 1
                    yield item
                return
            except _SeekFailedError:
                pass
            finally:
                sought.close()
        left = iter(wanted[given:])
        target = next(left, None)
        everything = self.in_order(log)
        try:
            while target is not None:
                found = next(everything, None)
                if found is None:
                    return
                # A target lost to damage is passed over; the log says so.
                while target is not None and target < found[0]:
                    target = next(left, None)
                if found[0] == target:
                    target = next(left, None)
                    yield found
        finally:
            everything.close()

    def _open(self, threads: int) -> tuple[InputContainer, VideoStream]:
        container = self.source.open(self.format_name)
        return container, self._prepared(container, threads)

    def _prepared(self, container: InputContainer, threads: int) -> VideoStream:
        """The stream, its decoder's threads set and the other streams left out."""
        import av

        stream = container.streams[self.stream_index]
        assert isinstance(stream, av.VideoStream)
        for other in container.streams:
            if other.index != self.stream_index:
                other.discard = av.stream.Discard.all
        # Frame threads where the codec has them, slices where not.
        stream.codec_context.thread_count = threads
        stream.codec_context.thread_type = "AUTO"
        return stream

    def _from_start(
        self, threads: int
    ) -> tuple[InputContainer, VideoStream, Iterator[Packet[VideoStream]]]:
        """A container and its packets from the first one on."""
        import av

        container, self.spare = self.spare, None
        if container is not None:
            table = self.table
            start = table.dts[0] if table.dts[0] is not None else table.pts[0]
            try:
                if self.codec in _SEEKABLE and table.place_of_pts is not None and start is not None:
                    stream = self._prepared(container, threads)
                    container.seek(start, stream=stream)
                    packets = container.demux(stream)
                    first = next(packets, None)
                    # Not every demuxer finds the very first packet again.
                    if first is not None and first.size and first.pts == table.pts[0]:
                        return container, stream, chain((first,), packets)
            except (av.error.FFmpegError, OSError):
                pass
            container.close()
        container, stream = self._open(threads)
        return container, stream, container.demux(stream)

    def _pass(
        self, threads: int, log: DecodeLog, *, strict: bool
    ) -> Generator[Numbered, None, None]:
        """One pass over the file; ``strict`` gives up at the first sign of damage."""
        frame_of = self.table.frame_of_pts
        not_shown = self.table.place_of_pts or {}
        container, stream, packets = self._from_start(threads)
        following = 0
        try:
            for frames in self._decoded(packets, stream, log, strict):
                for frame in frames:
                    index = following
                    if frame_of is not None and frame.pts is not None:
                        index = frame_of.get(frame.pts, -1 if frame.pts in not_shown else following)
                    if index < following:
                        # A picture of a packet that is not shown, or one that comes too late.
                        if index >= 0:
                            log.late.add(index)
                        continue
                    corrupt = frame.is_corrupt
                    if strict and (corrupt or (index > following and following)):
                        raise _DamageSeenError
                    if corrupt:
                        log.corrupt.append(index)
                    log.missing.extend(range(following, index))
                    following = index + 1
                    yield index, frame
            log.missing.extend(range(following, len(self.table.shown)))
            log.finished = True
        finally:
            container.close()

    def _decoded(
        self,
        packets: Iterator[Packet[VideoStream]],
        stream: VideoStream,
        log: DecodeLog,
        strict: bool,
    ) -> Iterator[list[VideoFrame]]:
        """What each packet gives; the decoder is emptied at the end, also after a read error."""
        import av

        total = len(self.table.pts)
        place = 0
        while True:
            packet: Packet[VideoStream] | None = None
            try:
                # The table holds the read error, if there is one.
                packet = next(packets, None)
            except (av.error.FFmpegError, OSError):
                packets = iter(())
            if packet is not None and _is_data(packet):
                place += 1
                # Past the table lies the packet that the end of the file cuts; an empty packet
                # would tell the decoder that the stream has ended.
                if place > total or not packet.size:
                    continue
            try:
                yield stream.codec_context.decode(packet if packet and packet.size else None)
            except av.error.EOFError:
                return
            except av.error.FFmpegError as error:
                if strict:
                    raise _DamageSeenError from None
                log.errors.append(error.strerror or str(error))
            if packet is None or not _is_data(packet):
                return

    def _worth_seeking(self, wanted: list[int]) -> bool:
        table = self.table
        return (
            self.codec in _SEEKABLE
            and table.place_of_pts is not None
            and table.read_error is None
            # Reading most of a file in order is faster than jumping through it.
            and 2 * len(wanted) < len(table.shown)
        )

    def _groups(self, wanted: list[int]) -> list[tuple[int, list[int]]]:
        """(number of the key to start from, frames) for each stretch that is decoded in one go."""
        keys, shown = self.table.keys, self.table.shown
        groups: list[tuple[int, list[int]]] = []
        reached = -1
        for frame in wanted:
            number = self.table.key_before(frame)
            if number is None:
                raise _SeekFailedError
            if groups and keys[number] <= reached + _GAP:
                groups[-1][1].append(frame)
            else:
                groups.append((number, [frame]))
            reached = max(reached, shown[frame])
        return groups

    def _sought(self, wanted: list[int]) -> Generator[Numbered, None, None]:
        groups = self._groups(wanted)
        container, stream = self._open(self.threads)
        try:
            for number, frames in groups:
                yield from self._group(container, stream, number, frames)
        finally:
            container.close()

    def _group(
        self, container: InputContainer, stream: VideoStream, number: int, frames: list[int]
    ) -> Generator[Numbered, None, None]:
        import av

        table, codec = self.table, stream.codec_context
        frame_of = table.frame_of_pts or {}
        targets = {table.shown[frame] for frame in frames}
        last = max(targets)
        start = table.pts[table.keys[number]] or 0
        skips = self.progressive and self.codec in _SKIPS_NON_REFERENCE
        left = iter(frames)
        target = next(left, None)
        try:
            for place, packet in self._packets_from(container, stream, number):
                if not packet.size:
                    continue
                if skips:
                    codec.skip_frame = "DEFAULT" if place in targets else "NONREF"
                decoded = codec.decode(packet)
                if place >= last:
                    decoded += codec.decode(None)
                for frame in decoded:
                    stamp = frame.pts
                    index = frame_of.get(stamp, -1) if stamp is not None else -1
                    # What leans on a concealed frame is not marked itself. Frames shown before the
                    # key frame lack their references after a seek, and nothing leans on them.
                    if frame.is_corrupt and (stamp is None or stamp >= start):
                        raise _SeekFailedError
                    if target is None or index < target:
                        continue
                    # Frames come in display order: one behind the target means that it is lost.
                    if index > target:
                        raise _SeekFailedError
                    target = next(left, None)
                    yield index, frame
                if place >= last:
                    break
        except (av.error.FFmpegError, OSError):
            raise _SeekFailedError from None
        if target is not None:
            raise _SeekFailedError

    def _packets_from(
        self, container: InputContainer, stream: VideoStream, number: int
    ) -> Iterator[tuple[int, Packet[VideoStream]]]:
        """Packets with their places, the first being the key packet of that number."""
        table = self.table
        place_of = table.place_of_pts
        assert place_of is not None
        key = table.keys[number]
        # Some demuxers land behind the stamp they were given; then an earlier key is aimed at.
        for aim in (number, number - 1, 0):
            if aim < 0:
                continue
            start = table.keys[aim]
            stamp = table.dts[start] if table.dts[start] is not None else table.pts[start]
            assert stamp is not None
            container.seek(stamp, stream=stream)
            stream.codec_context.flush_buffers()
            packets = container.demux(stream)
            first = next(packets, None)
            if first is None or first.pts is None:
                continue
            place = place_of.get(first.pts)
            if place is None or place > key:
                continue
            if place == key:
                yield place, first
            for packet in packets:
                place += 1
                if place < key:
                    continue
                if not _is_data(packet):
                    return
                if packet.pts is None or place_of.get(packet.pts) != place:
                    raise _SeekFailedError
                yield place, packet
            return
        raise _SeekFailedError


def _is_data(packet: Packet[VideoStream]) -> bool:
    """False for the empty packet that ends a demuxed stream."""
    return bool(packet.size) or packet.pts is not None or packet.dts is not None

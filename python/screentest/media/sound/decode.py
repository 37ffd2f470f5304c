"""The frames of one audio stream in the order of the file, and what went wrong on the way."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from screentest.media.info import Damage
from screentest.media.packets import count_of
from screentest.media.streams import fraction

if TYPE_CHECKING:
    from av import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.packet import Packet

__all__ = ["SoundLog", "decoded", "time_of"]

# A file whose every packet is damaged would fill a report with them.
_MOST_PLACES = 200

_Counted = Literal["decode_error", "corrupt_frame"]


@dataclass(slots=True)
class SoundLog:
    """What one pass over a file met. Neighbouring places of one kind are one entry."""

    found: list[Damage] = field(default_factory=list)
    finished: bool = False
    packets: int = 0
    samples: int = 0
    # Places beyond the most that are listed.
    _more: int = 0
    # (kind, first time, what is counted, what became of it, how many)
    _run: tuple[_Counted, float | None, str, str, int] | None = None

    def count(self, kind: _Counted, noun: str, fate: str, time_s: float | None) -> None:
        """One packet or frame at fault; neighbours with the same fault are counted together."""
        run = self._run
        if run is not None and (run[0], run[2]) == (kind, noun):
            self._run = (*run[:4], run[4] + 1)
            return
        self.close_run()
        self._run = (kind, time_s, noun, fate, 1)

    def close_run(self) -> None:
        """What is at fault from here on is another place."""
        run, self._run = self._run, None
        if run is not None:
            kind, time_s, noun, fate, count = run
            detail = f"{count_of(count, noun)} {fate}"
            self._list(Damage(kind=kind, detail=detail, time_s=time_s))

    @property
    def in_run(self) -> bool:
        """The last packet or frame was at fault."""
        return self._run is not None

    def add(self, damage: Damage) -> None:
        """Anything else."""
        self.close_run()
        self._list(damage)

    def damage(self) -> list[Damage]:
        """All of it so far, by time."""
        self.close_run()
        found = sorted(self.found, key=lambda d: (d.time_s is None, d.time_s or 0.0))
        if self._more:
            detail = f"and {count_of(self._more, 'place')} more"
            found.append(Damage(kind=found[-1].kind, detail=detail))
        return found

    def _list(self, damage: Damage) -> None:
        if len(self.found) < _MOST_PLACES:
            self.found.append(damage)
        else:
            self._more += 1


def decoded(
    container: InputContainer, stream: AudioStream, log: SoundLog
) -> Generator[AudioFrame, None, None]:
    """Every frame that holds samples; closes the container at its end and when it is dropped."""
    import av

    for other in container.streams:
        if other.index != stream.index:
            other.discard = av.stream.Discard.all
    context = stream.codec_context
    # Sound decodes far faster than it is measured; threads would cost more than they bring.
    context.thread_count = 1
    try:
        packets: Iterator[Packet[AudioStream]] = container.demux(stream)
        while True:
            packet: Packet[AudioStream] | None = None
            try:
                packet = next(packets, None)
            except (av.error.FFmpegError, OSError) as error:
                packets = iter(())
                detail = f"reading stopped before the end: {_reason(error)}"
                log.add(Damage(kind="truncated", detail=detail))
            if packet is not None and not packet.size:
                # An empty packet in the middle would tell the decoder that the stream has ended.
                if packet.pts is not None or packet.dts is not None:
                    continue
                packet = None
            if packet is not None:
                log.packets += 1
            frames: list[AudioFrame] = []
            try:
                frames = context.decode(packet)
            except av.error.EOFError:
                return
            except (av.error.FFmpegError, ValueError) as error:
                fate = f"refused: {_reason(error)}"
                log.count("decode_error", "packet", fate, time_of(packet))
            for frame in frames:
                if frame.samples <= 0:
                    continue
                if frame.is_corrupt:
                    fate = "decoded with errors concealed"
                    log.count("corrupt_frame", "frame", fate, time_of(frame))
                elif log.in_run:
                    log.close_run()
                yield frame
            if packet is None:
                return
    finally:
        container.close()


def time_of(part: Any) -> float | None:
    """Seconds on the container's clock of a packet or frame, ``None`` if it does not say."""
    base = None if part is None else fraction(part.time_base)
    return None if base is None or part.pts is None else float(part.pts * base)


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error)

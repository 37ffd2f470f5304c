"""The frames of one audio stream in the order of the file, and what went wrong on the way."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.errors import MediaError
from screentest.media.clip import Array
from screentest.media.info import Damage
from screentest.media.packets import count_of

if TYPE_CHECKING:
    from av import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.packet import Packet

__all__ = ["SoundLog", "decoded", "stored_samples"]

_DTYPES = {"u8": "u1", "s16": "i2", "s32": "i4", "s64": "i8", "flt": "f4", "dbl": "f8"}


@dataclass(slots=True)
class SoundLog:
    """What one pass over a file met. Neighbouring places of one kind are one entry."""

    found: list[Damage] = field(default_factory=list)
    finished: bool = False
    packets: int = 0
    samples: int = 0
    _run: tuple[str, float | None, str, int] | None = None

    def refused(self, time_s: float | None, error: str) -> None:
        """A packet that the decoder did not take."""
        self._count("decode_error", time_s, error)

    def concealed(self, time_s: float | None) -> None:
        """A frame that the decoder marks as damaged."""
        self._count("corrupt_frame", time_s, "")

    def sound(self) -> None:
        """A frame without fault: what goes wrong after it is another place."""
        self._close_run()

    def add(self, damage: Damage) -> None:
        """Anything else."""
        self._close_run()
        self.found.append(damage)

    @property
    def is_clean(self) -> bool:
        """Nothing went wrong so far."""
        return not self.found and self._run is None

    def damage(self) -> list[Damage]:
        """All of it so far, in the order of the file."""
        self._close_run()
        return self.found

    def _count(self, kind: str, time_s: float | None, text: str) -> None:
        if self._run is not None and self._run[0] == kind:
            _, first_s, text, count = self._run
            self._run = (kind, first_s, text, count + 1)
            return
        self._close_run()
        self._run = (kind, time_s, text, 1)

    def _close_run(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        kind, time_s, text, count = run
        if kind == "decode_error":
            detail = f"{count_of(count, 'packet')} refused: {text}"
            self.found.append(Damage(kind="decode_error", detail=detail, time_s=time_s))
        else:
            detail = f"{count_of(count, 'frame')} decoded with errors concealed"
            self.found.append(Damage(kind="corrupt_frame", detail=detail, time_s=time_s))


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
                log.refused(_time_s(packet), _reason(error))
            for frame in frames:
                if frame.samples <= 0:
                    continue
                if frame.is_corrupt:
                    log.concealed(_time_s(frame))
                else:
                    log.sound()
                yield frame
            if packet is None:
                return
    finally:
        container.close()


def stored_samples(frame: AudioFrame, channels: int) -> list[Array]:
    """The samples where the decoder left them: one ``(n, channels)`` array for packed frames, else
    one ``(n,)`` array for each channel."""
    name = frame.format.name
    planar = name.endswith("p")
    dtype = _DTYPES.get(name.removesuffix("p"))
    if dtype is None:
        raise MediaError(
            f"samples stored as {name} cannot be read; convert the file to wav or flac",
            code="cannot_decode",
        )
    count = frame.samples
    if planar:
        return [np.frombuffer(memoryview(plane), dtype, count) for plane in frame.planes[:channels]]
    packed = np.frombuffer(memoryview(frame.planes[0]), dtype, count * channels)
    return [packed.reshape(count, channels)]


def _time_s(part: Any) -> float | None:
    if part is None or part.pts is None or not part.time_base:
        return None
    return float(part.pts * part.time_base)


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error)

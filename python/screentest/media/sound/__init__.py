"""Sound as it was made: its own rate, its own channels, on the clock that the picture uses."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from types import TracebackType
from typing import Any, Self

import numpy as np

from screentest.errors import InputError
from screentest.media.clip import Array
from screentest.media.info import Damage, SoundInfo
from screentest.media.open import is_in_memory, media_source

__all__ = ["RATES_HZ", "Sound", "read_audio"]

# Below lies no sound, above no converter: a rate outside is a header that was misread.
RATES_HZ = (1_000, 768_000)


class Sound(ABC):
    """An opened sound: ``info`` is complete, no sample has been kept. Use it as a context manager.

    Sample k of every channel sounds at ``info.start_s + k / info.sample_rate_hz``.
    """

    info: SoundInfo

    @abstractmethod
    def blocks(self) -> Iterator[Array]:
        """The samples in time order as C-contiguous float32 arrays ``(n, channels)``.

        Each holds one second (``n`` is ``info.sample_rate_hz``), but the last may be shorter. Each
        call starts again from the first sample. A file is decoded as the blocks are asked for.

        Raises:
            MediaError: a float sample is of a magnitude above 16 (``samples_out_of_range``), or the
                rate or the channels change on the way (``sound_changes``).
        """

    @property
    def damage(self) -> tuple[Damage, ...]:
        """Damage known so far; complete once ``blocks()`` has been read to its end."""
        return ()

    @cached_property
    def samples(self) -> Array:
        """The whole sound as one float32 array ``(samples, channels)``, read once and kept."""
        return np.concatenate(list(self.blocks()))

    def close(self) -> None:  # noqa: B027 - a sound in memory holds nothing to give up
        """Give up the source. Blocks already handed out stay valid."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_audio(
    source: Any,
    *,
    stream: int | str | None = None,
    sample_rate: int | None = None,
    channel_layout: str | None = None,
    layout: str | None = None,
) -> Sound:
    """Open a sound: a path, bytes, a binary file object, or samples in memory.

    Nothing is resampled, mixed or rescaled. Integers are divided by their full scale (unsigned ones
    after they were centred on zero), floats are taken as they are, and NaN and infinity stay.

    Args:
        source: path of a sound or a video file; the bytes of such a file, or a seekable binary file
            object; ``(N,)`` or ``(N, C)`` samples (numpy, DLPack, array interface, buffer protocol;
            torch tensors among them); a :class:`Sound`, which is given back as it is.
        stream: which audio stream of a file, by its index among them (0 is the first) or by its
            language tag; without it the default stream, else the first.
        sample_rate: samples per second of an array, which needs it.
        channel_layout: FFmpeg's name of the layout (``"5.1"``, ``"7.1"``, ``"FL+FR+LFE"``, ...) of
            an array of more than two channels, or of a file that does not say.
        layout: ``"CN"`` for an array with its channels first, ``"NC"`` for one with them last.

    Raises:
        FileNotFoundError: there is no such file.
        MediaError: the source cannot be read as it is described. ``no_audio_stream``: the file
            holds other things. ``no_samples``: its stream, or the array, is empty.
        InputError: an argument is wrong, or contradicts the source.

    Example:
        >>> import numpy as np
        >>> from screentest.media import read_audio
        >>> with read_audio(np.zeros((72000, 2), dtype=np.int16), sample_rate=48000) as sound:
        ...     sound.info.layout, [block.shape for block in sound.blocks()]
        ('stereo', [(48000, 2), (24000, 2)])
    """
    said = {
        "stream": stream,
        "sample_rate": sample_rate,
        "channel_layout": channel_layout,
        "layout": layout,
    }
    if isinstance(source, Sound):
        _refuse(said, tuple(said), "describes a source; an opened sound says this itself")
        return source
    if is_in_memory(source):
        from screentest.media.sound.arrays import open_array_sound

        _refuse(said, ("stream",), "chooses among a file's streams; an array has none")
        rate = None if sample_rate is None else _check_rate(sample_rate)
        return open_array_sound(source, rate=rate, channel_layout=channel_layout, layout=layout)
    _refuse(said, ("sample_rate", "layout"), "describes an array; a file says this itself")
    from screentest.media.sound.files import open_file_sound

    return open_file_sound(media_source(source), stream=stream, channel_layout=channel_layout)


def _refuse(said: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if said[name] is not None:
            raise InputError(f"{name}= {why}", code="bad_input")


def _check_rate(sample_rate: Any) -> int:
    try:
        rate = operator.index(sample_rate)
    except TypeError:
        is_whole = isinstance(sample_rate, float) and sample_rate.is_integer()
        rate = int(sample_rate) if is_whole else 0
    low, high = RATES_HZ
    if isinstance(sample_rate, bool) or not low <= rate <= high:
        raise InputError(
            f"sample_rate={sample_rate!r}: expected whole samples per second, {low} to {high}",
            code="bad_sample_rate",
        )
    return rate

"""TorchCodec as a second decoder: RGB frames, on a CUDA device where there is one.

Packets, time stamps and colour tags are still read by PyAV, so that both decoders agree on what a
frame's index is; TorchCodec gives the pixels. It converts to 8-bit RGB on its own, therefore the
luma domain is ``"rgb"`` and the decoder is part of a measurement's identity.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from importlib import import_module
from typing import Any

import msgspec
import numpy as np

from screentest.errors import InputError, MediaError, MissingBackendError
from screentest.media.alpha import AlphaRule
from screentest.media.background import in_background
from screentest.media.clip import Clip, Frame, check_indices
from screentest.media.info import Damage
from screentest.media.source import MediaSource
from screentest.media.video import VideoClip, queue_depth

__all__ = ["TorchCodecClip", "torchcodec_name"]

# Frames fetched with one call: a call costs some tens of microseconds beside the decoding.
_BATCH = 8


class TorchCodecClip(Clip):
    """A video file decoded by TorchCodec."""

    def __init__(
        self,
        source: MediaSource,
        format_name: str | None,
        *,
        alpha: AlphaRule,
        device: str,
        threads: int,
    ) -> None:
        self._torch, self._module = _backend(source.name)
        _check_device(self._torch, device)
        if format_name is not None:
            raise InputError(
                f'{source.name}: decoder="torchcodec" is for video files; leave decoder= out for '
                "images",
                code="bad_decoder",
            )
        self._source = source
        self._device = device
        self._threads = threads
        self._damage: dict[int, Damage] = {}
        with VideoClip(source, format_name=None, alpha=alpha, threads=threads) as plain:
            self._static_damage = plain.packet_damage
            self.timing = plain.timing
            info = plain.info
        if info.alpha in ("transparent", "composited"):
            raise InputError(
                f"{source.name}: TorchCodec gives out no alpha channel; leave decoder= out, or say "
                'alpha="drop"',
                code="bad_decoder",
            )
        from screentest._native import FrameFormat

        self.format = FrameFormat.rgb(
            width=info.width, height=info.height, dtype="uint8", bit_depth=8, value_range=None
        )
        flags = set(info.flags) | {"converted"}
        if device != "cpu":
            flags.add("cuda_copied")
        name = torchcodec_name(source.name, device)
        self.info = msgspec.structs.replace(
            info, decoder=name, luma_domain="rgb", conversion="rgb24", flags=tuple(sorted(flags))
        )
        self._depth = queue_depth(info.width * info.height * 3)

    def frames(self, *, ahead: bool = True) -> Iterator[Frame]:
        """Every frame once, in display order. One that fails is listed as damage, not replaced."""
        return in_background(lambda: self._some(None), self._depth) if ahead else self._some(None)

    def frames_at(self, indices: Sequence[int]) -> Iterator[Frame]:
        """Exactly these frames."""
        wanted = check_indices(indices, self.info.frames or 0)
        return in_background(lambda: self._some(wanted), self._depth)

    @property
    def damage(self) -> list[Damage]:
        """Damage that the packets show, and the frames that TorchCodec refused so far."""
        return self._static_damage + [self._damage[index] for index in sorted(self._damage)]

    def _open(self) -> Any:
        source: Any = self._source.path if self._source.path else self._source.reader()
        try:
            return self._module.decoders.VideoDecoder(
                source,
                dimension_order="NHWC",
                num_ffmpeg_threads=self._threads,
                device=self._device,
                # The fast mode estimates frame numbers, and is off by one on some files.
                seek_mode="exact",
            )
        except (RuntimeError, ValueError) as error:
            raise MediaError(
                f"{self._source.name}: TorchCodec cannot open it ({_first_line(error)}); leave "
                "decoder= out to use the default decoder",
                code="cannot_open",
                source=self._source.name,
            ) from error

    def _some(self, wanted: list[int] | None) -> Generator[Frame, None, None]:
        decoder = self._open()
        count = min(len(decoder), self.info.frames or 0)
        indices = range(count) if wanted is None else [i for i in wanted if i < count]
        for at in range(0, len(indices), _BATCH):
            yield from self._batch(decoder, list(indices[at : at + _BATCH]))
        asked = range(self.info.frames or 0) if wanted is None else wanted
        for index in asked:
            if index >= count:
                self._lost(index, "TorchCodec does not count it")

    def _batch(self, decoder: Any, indices: list[int]) -> Iterator[Frame]:
        try:
            data = decoder.get_frames_at(indices=indices).data
        except (RuntimeError, IndexError) as error:
            if len(indices) == 1:
                self._lost(indices[0], _first_line(error))
                return
            # One bad frame fails its whole batch.
            for index in indices:
                yield from self._batch(decoder, [index])
            return
        pixels = np.asarray(data.cpu().numpy())
        if pixels.shape[1:] != (self.info.height, self.info.width, 3):
            raise MediaError(
                f"{self._source.name}: TorchCodec gives frames of shape {pixels.shape[1:]}, the "
                f"file shows {self.info.width}x{self.info.height}; leave decoder= out",
                code="frame_changes",
                source=self._source.name,
            )
        pixels.flags.writeable = False
        times = self.timing.times_s
        for place, index in enumerate(indices):
            time_s = None if times is None else float(times[index])
            yield Frame(index, time_s, (pixels[place],))

    def _lost(self, index: int, why: str) -> None:
        self._damage[index] = Damage(
            kind="decode_error", detail=f"no picture: {why}", frame=index, frames_lost=1
        )


def _check_device(torch: Any, name: str) -> None:
    try:
        device = torch.device(name)
        known = device.type in ("cpu", "cuda")
    except RuntimeError:
        known = False
    if not known:
        raise InputError(f'device={name!r}: expected "cpu", "cuda" or "cuda:N"', code="bad_device")
    if device.type == "cpu":
        return
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if (device.index or 0) >= count:
        there = f"{count} CUDA devices are there" if count else "no CUDA device is there"
        raise MissingBackendError(f'device={name!r}: {there}; use device="cpu"', code="no_cuda")


def torchcodec_name(source: str, device: str) -> str:
    """Name and version of this decoder.

    Raises:
        MissingBackendError: it is not installed; the message names the ``source`` it is for.
    """
    torch, module = _backend(source)
    return f"torchcodec {module.__version__} (torch {torch.__version__}, {device})"


def _backend(name: str) -> tuple[Any, Any]:
    try:
        # TorchCodec raises RuntimeError where it finds no FFmpeg libraries it was built for.
        torch = import_module("torch")
        module = import_module("torchcodec")
        import_module("torchcodec.decoders")
    except (ImportError, RuntimeError, OSError) as error:
        raise MissingBackendError(
            f'{name}: decoder="torchcodec" needs the extra: pip install "screentest[torch]" '
            f"({_first_line(error)})",
            extra="torch",
        ) from error
    return torch, module


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0][:200]

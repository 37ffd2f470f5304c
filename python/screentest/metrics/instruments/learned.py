"""LPIPS and DISTS over the frames of a pair, in batches; and which instruments of torch can run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.errors import MissingBackendError
from screentest.media.info import ClipInfo
from screentest.metrics.facts import Score
from screentest.metrics.instruments import cvvdp, dists, lpips, weights
from screentest.metrics.instruments.instrument import (
    CLOSED,
    NO_PAIR,
    Instrument,
    measured,
    unmeasured,
)
from screentest.metrics.instruments.rgb import to_rgb
from screentest.metrics.instruments.samples import Sameness, codes, same_coding
from screentest.metrics.instruments.torch_scope import pick_device, plain_float32

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Array, Frame

__all__ = ["NETWORKS", "LearnedInstrument", "Network", "create_learned"]

# A GPU has the memory, and needs the work, of more pictures at once.
_GPU_BATCHES = 8


@dataclass(frozen=True, slots=True)
class Network:
    """What is known of a network before it is loaded."""

    load: Callable[[Any], Any]
    weights: tuple[str, ...]
    least_side: int
    pixels_per_batch: int
    input_range: str


NETWORKS = {
    "lpips": Network(
        lpips.Lpips,
        lpips.WEIGHTS,
        lpips.LEAST_SIDE,
        lpips.PIXELS_PER_BATCH,
        "RGB in [0, 1], scaled to [-1, 1] inside",
    ),
    "dists": Network(
        dists.Dists,
        dists.WEIGHTS,
        dists.LEAST_SIDE,
        dists.PIXELS_PER_BATCH,
        "RGB in [0, 1]",
    ),
}


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair that waits for its batch: its place in the series, and the planes of both sides."""

    position: int
    planes: tuple[tuple[Array, ...], tuple[Array, ...]]


def _copied(planes: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(np.array(plane, order="C") for plane in planes)


class LearnedInstrument:
    """One network's distance between the frames of each pair; ``value`` is their mean.

    Pairs whose samples are equal in the same colour are 0 by definition and cost nothing. Frames
    are copied when pushed, and measured once there are enough of them for a batch. A caller's
    autocast, default dtype and TF32 settings change nothing.

    Raises:
        MissingBackendError: weights are missing, or not what the manifest says.
    """

    def __init__(
        self,
        name: str,
        reference: FrameFormat,
        candidate: FrameFormat,
        *,
        threads: int,
        device: Any,
    ) -> None:
        network = NETWORKS[name]
        self.names = (name,)
        self._formats = (reference, candidate)
        self._threads = threads
        self._device = device
        self._input_range = network.input_range
        self._hashes = {part: weights.file_sha256(part) for part in network.weights}
        with plain_float32(device, threads):
            self._network: Any = network.load(device)
        pixels = network.pixels_per_batch * (1 if device.type == "cpu" else _GPU_BATCHES)
        self._batch = max(1, pixels // (reference.width * reference.height))
        self._same = Sameness(same_coding(reference, candidate, colour=True))
        self._indices: list[int] = []
        self._values: list[float] = []
        self._pending: list[_Pair] = []
        self._failure: str | None = None

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Takes one pair; after a failure it does nothing."""
        if self._failure is not None or self._network is None:
            return
        a, b = (
            codes(frame, format)
            for frame, format in zip((reference, candidate), self._formats, strict=True)
        )
        position = len(self._values)
        self._indices.append(candidate.index)
        self._values.append(0.0)
        if self._same.push(a, b):
            return
        self._pending.append(_Pair(position, (_copied(a), _copied(b))))
        if len(self._pending) >= self._batch:
            self._flush()

    def finish(self) -> tuple[list[Score], dict[str, np.ndarray[Any, Any]]]:
        """The score, and the value of each frame."""
        (name,) = self.names
        if self._network is None and self._failure is None:
            self._failure = CLOSED
        if self._pending and self._failure is None:
            self._flush()
        if not self._indices and self._failure is None:
            self._failure = NO_PAIR
        self.close()
        values = np.array(self._values, np.float64)
        if self._failure is None and not np.isfinite(values).all():
            at = self._indices[int(np.flatnonzero(~np.isfinite(values))[0])]
            self._failure = f"the network gives no number for frame {at}"
        if self._failure is not None:
            return [unmeasured(name, self._failure)], {}
        worst = int(np.argmax(values))
        score = measured(
            name,
            float(values.mean()),
            state="identical" if self._same.identical else "measured",
            frames=len(values),
            worst=float(values[worst]),
            worst_frame=self._indices[worst],
            identical_frames=self._same.identical_frames,
            details={
                "input": self._input_range,
                "size": "as it is",
                "weights": self._hashes,
                "device": str(self._device),
                "pooling": "arithmetic mean",
            },
        )
        return [score], {name: values}

    def close(self) -> None:
        """Frees the network and the frames that wait."""
        self._network = None
        self._pending = []

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        try:
            with plain_float32(self._device, self._threads):
                self._measure(pending)
        except RuntimeError as error:
            lines = str(error).strip().splitlines()
            self._failure = f"torch failed: {lines[0] if lines else type(error).__name__}"
            self.close()

    def _measure(self, pairs: list[_Pair]) -> None:
        import torch

        try:
            batches = [
                to_rgb([pair.planes[side] for pair in pairs], self._formats[side], self._device)
                for side in range(2)
            ]
            values = self._network.distance(*batches).double().cpu().tolist()
        except torch.OutOfMemoryError:
            if len(pairs) == 1:
                raise
            values = None
        if values is None:
            # Another program may hold most of the device.
            half = len(pairs) // 2
            self._batch = half
            self._measure(pairs[:half])
            self._measure(pairs[half:])
            return
        for pair, value in zip(pairs, values, strict=True):
            self._values[pair.position] = value


def create_learned(
    names: Sequence[str],
    clips: tuple[ClipInfo, ClipInfo],
    formats: tuple[FrameFormat, FrameFormat],
    *,
    threads: int,
    device: str,
) -> tuple[list[Instrument], dict[str, str]]:
    """The instruments for ``lpips``, ``dists`` and ``cvvdp`` among ``names``, and why the others of
    these three cannot run.

    Raises:
        InputError: ``device`` is no device's name.
    """
    ours = [name for name in names if name in NETWORKS or name == "cvvdp"]
    if not ours:
        return [], {}
    if importlib.util.find_spec("torch") is None:
        return [], dict.fromkeys(
            ours, "torch is not installed; pip install 'screentest[reference]'"
        )
    chosen = pick_device(device)
    if isinstance(chosen, str):
        return [], dict.fromkeys(ours, chosen)
    made: list[Instrument] = []
    refused: dict[str, str] = {}
    try:
        for name in ours:
            if (reason := _outside(name, clips, formats)) is not None:
                refused[name] = reason
                continue
            try:
                if name == "cvvdp":
                    rate = clips[1].frame_rate or clips[0].frame_rate
                    made.append(
                        cvvdp.CvvdpInstrument(
                            *formats, frame_rate=rate, threads=threads, device=chosen
                        )
                    )
                else:
                    made.append(LearnedInstrument(name, *formats, threads=threads, device=chosen))
            except MissingBackendError as error:
                refused[name] = error.message
    except BaseException:
        for instrument in made:
            instrument.close()
        raise
    return made, refused


def _outside(
    name: str, clips: tuple[ClipInfo, ClipInfo], formats: tuple[FrameFormat, FrameFormat]
) -> str | None:
    if name == "cvvdp":
        return cvvdp.outside(clips)
    side = min(formats[0].width, formats[0].height)
    least = NETWORKS[name].least_side
    return f"pictures of {side} pixels: {name} needs {least}" if side < least else None

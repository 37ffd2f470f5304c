"""A sound that is read twice: once for the lag, once at that lag."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from screentest._native import LoudnessMeter
from screentest.media.background import in_background
from screentest.metrics.audio.weights import weights_of

if TYPE_CHECKING:
    from screentest.media.sound import Sound

__all__ = ["Replay"]

_KEPT = 1 << 23
"""Samples of all channels that are kept (32 MiB): a minute of stereo is not decoded twice."""


class Replay:
    """The blocks of a sound, decoded on a thread of their own and kept while they are few.

    Attributes:
        samples: per channel, known once the blocks have been read to their end.
        first_non_finite_s: when the first NaN or infinity sounds, ``None`` if there is none.
        lufs: integrated loudness, if it was asked for and there is one.
    """

    def __init__(self, sound: Sound, *, loudness: bool) -> None:
        self._sound = sound
        info = sound.info
        weights = weights_of(info.positions, info.sample_rate_hz)
        self._meter: LoudnessMeter | None = None
        if loudness and not isinstance(weights, str):
            self._meter = LoudnessMeter(info.sample_rate_hz, weights)
        self.lufs: float | None = None
        self._kept: list[npt.NDArray[np.float32]] | None = []
        self._complete = False
        self.samples = 0
        self.first_non_finite_s: float | None = None

    def blocks(self) -> Iterator[npt.NDArray[np.float32]]:
        """From the first sample on; the second reading is from memory where it fits there."""
        if self._complete and self._kept is not None:
            yield from self._kept
            return
        at = 0
        for block in in_background(self._decoded, 2, "screentest-sound"):
            if not self._complete:
                self._note(block, at)
            at += len(block)
            yield block
        if self._meter is not None and not self._complete:
            self.lufs = self._meter.finish()
        self.samples, self._complete = at, True

    def _decoded(self) -> Generator[npt.NDArray[np.float32], None, None]:
        """On the thread that decodes, beside the search for the lag."""
        for block in self._sound.blocks():
            if self._meter is not None and not self._complete:
                self._meter.push(block)
            yield block

    def _note(self, block: npt.NDArray[np.float32], at: int) -> None:
        # The sum of finite samples is finite: they are at most 16.
        if self.first_non_finite_s is None and not np.isfinite(block.sum(dtype=np.float64)):
            first = int(np.argmin(np.isfinite(block).all(axis=1)))
            self.first_non_finite_s = (at + first) / self._sound.info.sample_rate_hz
        if self._kept is not None:
            self._kept.append(block)
            if (at + len(block)) * block.shape[1] > _KEPT:
                self._kept = None

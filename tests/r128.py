"""Loudness and true peak by ffmpeg's ``ebur128`` filter, run on samples or on a file."""

import math
import re
import subprocess
from typing import NamedTuple

import numpy as np


class R128(NamedTuple):
    """What the filter found at the end: LUFS, LU, dBTP of each channel."""

    integrated: float
    range: float
    true_peaks: tuple[float, ...]


def of_samples(ffmpeg, samples, rate, layout):
    """Of an ``(N, C)`` array, read as it is: no container, no rescaling."""
    source = ("-f", "f32le", "-ar", rate, "-ac", samples.shape[1], "-channel_layout", layout)
    raw = np.ascontiguousarray(samples, "<f4").tobytes()
    return _run(ffmpeg, (*source, "-i", "pipe:0"), raw)


def of_file(ffmpeg, path):
    """Of the first sound of a file."""
    return _run(ffmpeg, ("-i", path, "-map", "0:a:0"), b"")


def _run(ffmpeg, source, given):
    filters = "ebur128=peak=true:metadata=1,ametadata=mode=print:file=-"
    command = [ffmpeg, "-v", "error", *map(str, source), "-af", filters, "-f", "null", "-"]
    done = subprocess.run(command, input=given, capture_output=True, check=True)
    last = dict(re.findall(r"^lavfi\.r128\.(\S+)=(\S+)$", done.stdout.decode(), re.MULTILINE))
    # Magnitudes, written to three places.
    peaks = [float(last[f"true_peaks_ch{c}"]) for c in range(64) if f"true_peaks_ch{c}" in last]
    decibels = tuple(20 * math.log10(peak) if peak > 0 else -math.inf for peak in peaks)
    return R128(float(last["I"]), float(last["LRA"]), decibels)

"""Reading what libvmaf and xpsnr write: a value per frame, and the filter's own pooled figures."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["LogError", "VmafLog", "read_vmaf", "read_xpsnr"]


class LogError(Exception):
    """The log is not what it should be; the message follows "ffmpeg's log"."""


@dataclass(frozen=True, slots=True)
class VmafLog:
    """One model's scores: per frame, and pooled by libvmaf."""

    version: str
    values: np.ndarray[Any, Any]
    mean: float
    harmonic_mean: float
    minimum: float


def read_vmaf(path: Path, name: str, frames: int) -> VmafLog:
    """The scores of the model that the log calls ``name``.

    Raises:
        LogError: it cannot be read, or holds another number of frames, or a score that is none.
    """
    try:
        log = json.loads(path.read_text())
        rows = sorted(log["frames"], key=lambda row: int(row["frameNum"]))
        values = np.array([row["metrics"][name] for row in rows], np.float64)
        pooled = log["pooled_metrics"][name]
        found = VmafLog(
            str(log["version"]),
            values,
            float(pooled["mean"]),
            float(pooled["harmonic_mean"]),
            float(pooled["min"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LogError(f"of VMAF cannot be read ({type(error).__name__})") from error
    _check_count(len(values), frames)
    if not np.isfinite([*values, found.mean, found.harmonic_mean]).all():
        raise LogError("holds a VMAF that is no number")
    return found


# Begins the line of the whole clip; the lines of the frames begin with "n:".
_CLIP = "XPSNR average, "


def read_xpsnr(path: Path, channel: str, frames: int) -> tuple[np.ndarray[Any, Any], float]:
    """Per frame and for the clip, in dB, of ``channel`` y, u or v; equal planes are infinite.

    Raises:
        LogError: it cannot be read, or holds another number of frames.
    """
    pattern = re.compile(rf"\b{channel}: *(-?[\d.]+|-?inf|nan)")
    try:
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        per_frame = [_number(pattern, line) for line in lines if line.startswith("n:")]
        (clip,) = [_number(pattern, line) for line in lines if line.startswith(_CLIP)]
    except (OSError, ValueError) as error:
        raise LogError(f"of XPSNR cannot be read ({type(error).__name__})") from error
    _check_count(len(per_frame), frames)
    values = np.array(per_frame, np.float64)
    if np.isnan([*values, clip]).any() or -np.inf in (*per_frame, clip):
        raise LogError("holds an XPSNR that is no number")
    return values, clip


def _number(pattern: re.Pattern[str], line: str) -> float:
    found = pattern.search(line)
    if found is None:
        raise ValueError(line)
    return float(found[1])


def _check_count(found: int, expected: int) -> None:
    if found != expected:
        raise LogError(f"holds {found} frames of {expected}")

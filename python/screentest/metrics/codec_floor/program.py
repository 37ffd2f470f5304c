"""Encoding by an ffmpeg program, where PyAV was built without the encoder."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from av import VideoFrame

__all__ = ["run_program"]


def run_program(
    program: str,
    library: str,
    encoder: str,
    parameters: str,
    base: dict[str, str],
    frames: Iterator[VideoFrame],
    rate: Fraction,
    tags: dict[str, int],
    path: str,
) -> None:
    """Feed raw pictures to ``ffmpeg -c:v library`` and have it write ``path``.

    Raises:
        RuntimeError: the program failed; the message is its last line.
    """
    first = next(frames)
    command = [program, "-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo"]
    command += ["-pix_fmt", first.format.name, "-s", f"{first.width}x{first.height}"]
    command += ["-r", f"{rate.numerator}/{rate.denominator}", "-i", "pipe:0", "-c:v", library]
    command += [f"-{encoder}-params", parameters]
    for name, value in {**base, **tags}.items():
        command += [f"-{name}", str(value)]
    command += ["-f", "mp4", f"file:{path}"]
    # A file takes whatever is said on stderr; a pipe would have to be read meanwhile.
    with tempfile.TemporaryFile() as stderr:
        running = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr
        )
        assert running.stdin is not None
        try:
            # A program that ends early has said why on stderr.
            with contextlib.suppress(BrokenPipeError):
                running.stdin.write(_raw(first))
                for frame in frames:
                    running.stdin.write(_raw(frame))
        except BaseException:
            running.kill()
            raise
        finally:
            with contextlib.suppress(BrokenPipeError):
                running.stdin.close()
            running.wait()
        stderr.seek(0)
        told = stderr.read().decode("utf-8", "replace").strip().splitlines()
    if running.returncode:
        raise RuntimeError(told[-1] if told else f"ffmpeg ended with {running.returncode}")


def _raw(frame: VideoFrame) -> bytes:
    """The picture's samples without the padding of its lines."""
    pieces = []
    components = frame.format.components
    for index, plane in enumerate(frame.planes):
        # Packed formats have several components in plane 0; planar ones have one each.
        share = sum(1 for c in components if c.plane == index)
        sample = 2 if max(c.bits for c in components) > 8 else 1
        rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)  # type: ignore[call-overload]
        pieces.append(rows[:, : plane.width * share * sample].tobytes())
    return b"".join(pieces)

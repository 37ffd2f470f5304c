"""Media made at test time by the installed ffmpeg, each file once per session."""

import hashlib
import subprocess
from pathlib import Path

import numpy as np


def src(seconds=1, *, size="320x240", rate=30, pattern="testsrc2"):
    """ffmpeg arguments for a moving test picture."""
    return ("-f", "lavfi", "-i", f"{pattern}=s={size}:r={rate}:d={seconds}")


class Studio:
    """``studio(name, *args)`` runs ffmpeg into a file of that name and gives its path."""

    def __init__(self, ffmpeg: str, folder: Path) -> None:
        self.ffmpeg = ffmpeg
        self.folder = folder

    def __call__(self, name: str, *args: object) -> Path:
        # Two tests may give one name to different media.
        recipe = hashlib.sha256(repr((name, *map(str, args))).encode()).hexdigest()[:12]
        path = self.folder / recipe / name
        if not path.exists():
            path.parent.mkdir()
            self.run(*args, path)
        return path

    def run(self, *args: object) -> None:
        command = [self.ffmpeg, "-hide_banner", "-loglevel", "error", "-nostdin", "-y"]
        command += [str(a) for a in args]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"

    def a_mp4(self) -> Path:
        """60 frames of h264 with B frames, 320x240, without colour tags."""
        return self("a.mp4", *src(2), "-c:v", "libx264", "-pix_fmt", "yuv420p")

    def part(self, name: str, of: Path, share: float) -> Path:
        """The first ``share`` of a file's bytes."""
        path = self.folder / name
        data = of.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])
        return path

    def samples(self, path: Path, channels: int, *args: object) -> np.ndarray:
        """ffmpeg's own decode of the first audio stream (or what ``args`` map) to float32
        ``(N, C)``, at its own rate and in its own order."""
        raw = path.with_name(f"{path.name}.f32")
        self.run("-i", path, *(args or ("-map", "0:a:0")), "-f", "f32le", "-c:a", "pcm_f32le", raw)
        return np.frombuffer(raw.read_bytes(), "<f4").reshape(-1, channels)

    def pixels(
        self, path: Path, pix_fmt: str, width: int, height: int, *args: object
    ) -> np.ndarray:
        """ffmpeg's own decode of a file to packed frames, ``(T, H, W, C)`` or ``(T, H, W)``."""
        raw = self.folder / f"{path.name}.{pix_fmt}.raw"
        self.run("-i", path, *args, "-fps_mode", "passthrough", "-pix_fmt", pix_fmt, "-f",
                 "rawvideo", raw)  # fmt: skip
        dtype = "<u2" if "16le" in pix_fmt or "48le" in pix_fmt else "u1"
        channels = 1 if pix_fmt.startswith("gray") else 3
        shape = (-1, height, width, channels) if channels > 1 else (-1, height, width)
        return np.frombuffer(raw.read_bytes(), dtype).reshape(shape)

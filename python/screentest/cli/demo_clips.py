"""The clips of ``screentest demo``: one that is fine, one for each fault of the screen, one whose
fault shows in motion alone, and one to be listened to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

import av
import numpy as np
import numpy.typing as npt
from av.audio.stream import AudioStream
from av.video.stream import VideoStream

__all__ = ["CLIPS", "DemoClip", "Picture", "encode", "texture"]

Picture: TypeAlias = npt.NDArray[np.uint8]
Samples: TypeAlias = npt.NDArray[np.float32]

WIDTH, HEIGHT, FRAMES, RATE = 640, 360, 48, 24
SAMPLE_RATE = 48_000

CODECS = ("libx264", "libopenh264", "mpeg4")
"""In order of preference: an FFmpeg may be built without any one of them."""


class DemoClip(NamedTuple):
    """A clip to make: its name, what it shows, the verdict and the defects that it deserves."""

    name: str
    story: str
    verdict: str
    codes: frozenset[str]
    frames: Callable[[], Iterator[Picture]]
    keep_share: float = 1.0
    sound: Callable[[], Samples] | None = None

    def make(self, path: Path) -> Path:
        """Write the clip; a ``keep_share`` below 1 cuts the end of the file off."""
        encode(path, self.frames(), None if self.sound is None else self.sound())
        if self.keep_share < 1.0:
            data = path.read_bytes()
            path.write_bytes(data[: int(len(data) * self.keep_share)])
        return path


def encode(path: Path, frames: Iterator[Picture], sound: Samples | None = None) -> None:
    """Write RGB frames as H.264 (or the nearest codec at hand) with the index first, and stereo
    samples ``(N, 2)`` as AAC."""
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        codec = _codec()
        fast = {"preset": "veryfast"} if codec == "libx264" else {}
        stream = container.add_stream(codec, rate=Fraction(RATE), options=fast)
        assert isinstance(stream, VideoStream)
        first = next(frames)
        stream.height, stream.width, stream.pix_fmt = first.shape[0], first.shape[1], "yuv420p"
        stream.bit_rate = 8_000_000
        # One thread: the same file on every machine.
        stream.codec_context.thread_count = 1
        heard = None if sound is None else container.add_stream("aac", rate=SAMPLE_RATE)
        for picture in chain([first], frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if heard is not None and sound is not None:
            assert isinstance(heard, AudioStream)
            planes = np.ascontiguousarray(sound.T)
            block = av.AudioFrame.from_ndarray(planes, format="fltp", layout="stereo")
            block.sample_rate = SAMPLE_RATE
            # With a time, what the coder puts before the sound is written as not to be played.
            block.pts, block.time_base = 0, Fraction(1, SAMPLE_RATE)
            container.mux(heard.encode(block))
            container.mux(heard.encode(None))


def _codec() -> str:
    return next(name for name in CODECS if name in av.codecs_available)


def texture(seed: int, height: int, width: int) -> npt.NDArray[np.float32]:
    """A soft picture of three sizes of detail, in [0, 1]."""
    rng = np.random.default_rng(seed)
    picture = np.zeros((height, width, 3), np.float32)
    for cell, weight in ((64, 0.5), (16, 0.3), (4, 0.2)):
        shape = (height // cell + 2, width // cell + 2, 3)
        coarse = rng.random(shape, np.float32)
        rows = np.linspace(0, shape[0] - 1.001, height, dtype=np.float32)
        columns = np.linspace(0, shape[1] - 1.001, width, dtype=np.float32)
        y, x = rows.astype(int), columns.astype(int)
        v, u = (rows - y)[:, None, None], (columns - x)[None, :, None]
        top = coarse[y][:, x] * (1 - u) + coarse[y][:, x + 1] * u
        below = coarse[y + 1][:, x] * (1 - u) + coarse[y + 1][:, x + 1] * u
        picture += weight * (top * (1 - v) + below * v)
    return picture


@cache
def _texture() -> npt.NDArray[np.float32]:
    """A large picture to move a window over."""
    return texture(7, HEIGHT + 64, WIDTH + 128)


def _moving() -> Iterator[Picture]:
    picture = (255 * _texture()).astype(np.uint8)
    for t in range(FRAMES):
        yield np.ascontiguousarray(picture[t : t + HEIGHT, 2 * t : 2 * t + WIDTH])


def _still() -> Iterator[Picture]:
    first = next(_moving())
    for _ in range(FRAMES):
        yield first


def _stopping() -> Iterator[Picture]:
    frames = list(_moving())
    yield from frames[: FRAMES // 2]
    for _ in range(FRAMES // 2):
        yield frames[FRAMES // 2 - 1]


def _noise() -> Iterator[Picture]:
    rng = np.random.default_rng(7)
    for _ in range(FRAMES // 2):
        # Blocks of 4 px, so that the coder cannot blur the noise away.
        cells = rng.integers(0, 256, (HEIGHT // 4, WIDTH // 4, 3), np.uint8)
        yield cells.repeat(4, axis=0).repeat(4, axis=1)


def _black() -> Iterator[Picture]:
    for _ in range(FRAMES):
        yield np.zeros((HEIGHT, WIDTH, 3), np.uint8)


def _warping() -> Iterator[Picture]:
    """Places that drift by up to a pixel, and elsewhere in every frame: no frame looks wrong."""
    rng = np.random.default_rng(7)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    picture = (255 * _texture()).astype(np.float32)
    for t in range(FRAMES):
        drift = rng.uniform(-1, 1, (2, HEIGHT // 24 + 2, WIDTH // 24 + 2)).astype(np.float32)
        y, x = rows + t, columns + 2 * t
        dy, dx = (_enlarged(part, 24) for part in drift)
        yield _sampled(picture, y + 1 + dy, x + 1 + dx)


def _enlarged(cells: npt.NDArray[np.float32], size: int) -> npt.NDArray[np.float32]:
    """Values between those of a coarse grid, linear in both directions."""
    y, x = (np.arange(n, dtype=np.float32) / size for n in (HEIGHT, WIDTH))
    i, j = (
        np.minimum(y.astype(int), cells.shape[0] - 2),
        np.minimum(x.astype(int), cells.shape[1] - 2),
    )
    v, u = (y - i)[:, None], (x - j)[None, :]
    top = cells[i][:, j] * (1 - u) + cells[i][:, j + 1] * u
    below = cells[i + 1][:, j] * (1 - u) + cells[i + 1][:, j + 1] * u
    between: npt.NDArray[np.float32] = top * (1 - v) + below * v
    return between


def _sampled(
    picture: npt.NDArray[np.float32], y: npt.NDArray[np.float32], x: npt.NDArray[np.float32]
) -> Picture:
    """The picture at these places, linear in both directions."""
    i, j = y.astype(int), x.astype(int)
    v, u = (y - i)[..., None], (x - j)[..., None]
    top = picture[i, j] * (1 - u) + picture[i, j + 1] * u
    below = picture[i + 1, j] * (1 - u) + picture[i + 1, j + 1] * u
    sampled: Picture = (top * (1 - v) + below * v + 0.5).astype(np.uint8)
    return sampled


def _lattice() -> Iterator[Picture]:
    for picture in _moving():
        picture[:, ::16] = np.minimum(picture[:, ::16].astype(np.int16) + 12, 255).astype(np.uint8)
        yield picture


FLASHES = (8, 19, 34)
"""Frames at which a light goes on."""

LATE_S = 0.2


def _flashing() -> Iterator[Picture]:
    for t, picture in enumerate(_moving()):
        if any(at <= t < at + 3 for at in FLASHES):
            picture[120:240, 260:380] = 240
        yield picture


def _late_clicks() -> Samples:
    """A click for each flash, too late, over quiet noise; of the right channel nothing is left."""
    rng = np.random.default_rng(7)
    # In whole blocks of the coder, of which every FFmpeg reads the same length.
    blocks = -(-FRAMES * SAMPLE_RATE // RATE // 1024)
    sound = rng.normal(0, 0.003, 1024 * blocks).astype(np.float32)
    decay = np.exp(-np.arange(4_800) / 600).astype(np.float32)
    for frame in FLASHES:
        at = round((frame / RATE + LATE_S) * SAMPLE_RATE)
        click = decay[: len(sound) - at]
        sound[at : at + len(click)] += click * rng.uniform(-0.7, 0.7, len(click))
    return np.stack([sound, np.zeros_like(sound)], axis=1)


CLIPS: tuple[DemoClip, ...] = (
    DemoClip(
        "moving.mp4",
        "a textured picture that moves; nothing is wrong",
        "pass",
        frozenset(),
        _moving,
    ),
    DemoClip(
        "noise.mp4",
        "fresh noise in every frame, as a sampler gives that never converged",
        "reject",
        frozenset({"noise"}),
        _noise,
    ),
    DemoClip(
        "black.mp4",
        "black throughout, as NaN gives once it is cast to 8 bits",
        "reject",
        frozenset({"blank"}),
        _black,
    ),
    DemoClip(
        "still.mp4",
        "one frame shown 48 times, as a model gives that does not move",
        "reject",
        frozenset({"frozen"}),
        _still,
    ),
    DemoClip(
        "stops.mp4",
        "the picture stops half way: a warning, unless a delivery spec forbids it",
        "pass",
        frozenset({"frozen"}),
        _stopping,
    ),
    DemoClip(
        "warps.mp4",
        "the moving picture, bending; no frame shows it: screentest tracks warps.mp4 moving.mp4",
        "pass",
        frozenset(),
        _warping,
    ),
    DemoClip(
        "lattice.mp4",
        "a faint line every 16 px, as a decoder gives that was tiled wrongly",
        "reject",
        frozenset({"grid"}),
        _lattice,
    ),
    DemoClip(
        "truncated.mp4",
        "the moving picture with the last 40 % of its file missing",
        "reject",
        frozenset({"damaged"}),
        _moving,
        0.6,
    ),
    DemoClip(
        "late.mp4",
        "a light that flashes, its click 0.2 s late and in one channel: screentest audio late.mp4",
        "reject",
        frozenset({"audio_dead_channel"}),
        _flashing,
        sound=_late_clicks,
    ),
)

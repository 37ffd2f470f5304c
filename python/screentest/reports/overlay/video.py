"""A video of a clip's windows with their tracks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest import compute
from screentest._native import rgb8
from screentest.errors import InputError, MediaError
from screentest.files import replacing
from screentest.reports.overlay.canvas import (
    GROUND,
    as_array,
    as_image,
    display_size,
    require_pillow,
)
from screentest.reports.overlay.legend import STRIP, strip
from screentest.reports.overlay.trails import draw_tracks

if TYPE_CHECKING:
    from typing import BinaryIO

    from PIL.Image import Image

    from screentest.media.clip import Clip
    from screentest.media.info import ClipInfo
    from screentest.metrics.tracks.facts import TrackFacts, Trajectories

__all__ = ["trajectories_of", "write_tracks_video"]

# What the legend takes; a portrait picture stands between two margins.
_LEAST_WIDE = 640

# H.264 plays everywhere; MPEG-4 Part 2 is in every FFmpeg.
_CODECS = {
    "libx264": {"preset": "veryfast", "crf": "18"},
    "mpeg4": {"qmin": "2", "qmax": "4"},
}

# BT.709, limited range: what players take for granted, said all the same.
_TAGS = {"colorspace": 1, "color_primaries": 1, "color_trc": 1, "color_range": 1}


def write_tracks_video(
    clip: Clip,
    facts: TrackFacts,
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
) -> None:
    """Write an mp4 of the clip's windows, one after the other, with their tracks.

    Below the picture stand the window, its numbers, the scale of the colours, and where the clip
    is. Windows that overlap each show their own tracks, so such frames come more than once. The
    rate is the clip's (25 frames per second where it has none); sizes are even. An existing file is
    replaced whole or not at all.

    Args:
        clip: the clip that was measured.
        facts: its facts, with ``trajectories``.
        path: where to write.
        threads: compute budget of decoder and encoder together; default ``min(4, CPUs)``.

    Raises:
        MissingBackendError: Pillow is not installed (``pip install 'screentest[report]'``).
        InputError: the facts have no trajectories.
        MediaError: the clip cannot be read, or the encoder fails.
        OSError: the file cannot be written.
    """
    require_pillow()
    paths = trajectories_of(facts)
    budget = compute.threads(threads)
    with replacing(Path(path)) as file:
        _encode(file, _pictures(clip, facts, paths, budget), clip.info, budget)


def trajectories_of(facts: TrackFacts) -> list[Trajectories]:
    """The trajectories of each window, in the windows' order.

    Raises:
        InputError: there are none.
    """
    if facts.trajectories is None:
        raise InputError(
            "these facts have no trajectories to draw: measure_tracks(..., trajectories=True) "
            "keeps them",
            code="no_trajectories",
        )
    if not facts.windows:
        raise InputError(
            f"{facts.clip.source}: none of its windows could be read, so there is nothing to draw",
            code="no_windows",
        )
    known = {each.start: each for each in facts.trajectories}
    return [known[window.start] for window in facts.windows]


def _pictures(
    clip: Clip, facts: TrackFacts, paths: list[Trajectories], threads: int
) -> Iterator[Image]:
    from PIL import Image

    size = display_size(clip.info)
    width = max(size[0], _LEAST_WIDE)
    working = (facts.working_width, facts.working_height)
    for at, (window, tracks) in enumerate(zip(facts.windows, paths, strict=True)):
        for frame in clip.frames_at(range(window.start, window.start + window.frames)):
            rgb = as_array(as_image(rgb8(clip.format, frame.planes, threads=threads), size))
            drawn = draw_tracks(rgb, tracks, frame.index - window.start, working_size=working)
            whole = Image.new("RGB", (width, size[1] + STRIP), GROUND)
            whole.paste(as_image(drawn), ((width - size[0]) // 2, 0))
            whole.paste(strip(facts, at, frame, width), (0, size[1]))
            yield whole


def _encode(file: BinaryIO, pictures: Iterator[Image], clip: ClipInfo, threads: int) -> None:
    import av
    from av.video.reformatter import ColorRange, Colorspace, Interpolation

    rate = Fraction(clip.frame_rate or 25).limit_denominator(1001)
    try:
        with av.open(file, "w", format="mp4") as out:
            stream: Any = None
            for index, picture in enumerate(pictures):
                if stream is None:
                    stream = _stream(out, picture.size, rate, threads)
                frame = av.VideoFrame.from_ndarray(as_array(picture), format="rgb24").reformat(
                    format="yuv420p",
                    dst_colorspace=Colorspace.ITU709,
                    dst_color_range=ColorRange.MPEG,
                    interpolation=int(Interpolation.BILINEAR | Interpolation.ACCURATE_RND),
                )
                frame.pts, frame.time_base = index, 1 / rate
                out.mux(stream.encode(frame))
            if stream is None:
                raise MediaError(
                    f"{clip.source}: no frame of its windows could be decoded", code="no_frames"
                )
            out.mux(stream.encode(None))
    except av.error.FFmpegError as error:
        if isinstance(error, OSError) and error.errno and not error.filename:
            raise OSError(error.errno, os.strerror(error.errno)) from error
        raise MediaError(f"the overlay could not be encoded: {error}", code="encode") from error


def _stream(out: Any, size: tuple[int, int], rate: Fraction, threads: int) -> Any:
    import av

    name = next((codec for codec in _CODECS if codec in av.codecs_available), None)
    if name is None:
        raise MediaError(
            "the FFmpeg inside PyAV has neither libx264 nor mpeg4 to write a video with",
            code="no_encoder",
        )
    stream = out.add_stream(name, rate=rate, options=_CODECS[name])
    stream.width, stream.height = size
    stream.pix_fmt = "yuv420p"
    stream.codec_context.time_base = 1 / rate
    stream.codec_context.thread_count = threads
    for tag, value in _TAGS.items():
        setattr(stream.codec_context, tag, value)
    return stream

"""Still images: one file, or a folder of them read as a clip."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.errors import MediaError
from screentest.media.alpha import AlphaRule, AlphaState, alpha_state
from screentest.media.background import in_background
from screentest.media.clip import Clip, Frame, check_indices
from screentest.media.colour import resolve, transfer_kind
from screentest.media.extent import missing_end
from screentest.media.info import ClipInfo, Damage
from screentest.media.orientation import orientation_of
from screentest.media.planes import plan_planes, source_kind
from screentest.media.source import MediaSource, sniff
from screentest.media.streams import codec_tags, colour_tags_of, picture_flags
from screentest.media.timing import Timing, steady_timing
from screentest.media.video import decoder_name, queue_depth

if TYPE_CHECKING:
    from av import VideoFrame

__all__ = ["check_animated_webp", "open_folder", "open_image"]

_NUMBERS = re.compile(r"(\d+)")
# A folder lists its skipped files up to this many, then says how many more there are.
_SKIPPED_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Still:
    """One image file: where it is, and which demuxer reads it."""

    media: MediaSource
    format_name: str


@dataclass(frozen=True, slots=True)
class _Decoded:
    frame: VideoFrame
    codec: str
    context_tags: tuple[int, int, int, int]


class _UndecodableError(Exception):
    """An image that gave no picture; the message says why."""


class ImagesClip(Clip):
    """One image, or a folder of images of one size."""

    def __init__(
        self,
        stills: list[_Still],
        *,
        name: str,
        alpha: AlphaRule,
        frame_rate: float | None = None,
        skipped: Sequence[str] = (),
    ) -> None:
        self._stills = stills
        self._rule = alpha
        self._decoding_damage: dict[int, Damage] = {}
        first_at, first = self._first(name)
        frame = first.frame
        tags = colour_tags_of(frame, first.context_tags)
        kind, full = source_kind(frame)
        colour = resolve(tags, kind=kind, full_by_name=full)
        orientation = orientation_of(frame)
        self._plan = plan_planes(frame, colour, orientation, alpha)
        self._shape = orientation.shown_size(frame.width, frame.height)
        self._tags = tags
        self._uniform = True
        self._check_sizes(first_at)
        if not self._uniform:
            # Kinds of files are mixed (grey among colour, say), so each goes to one common format.
            self._plan = plan_planes(self._common(frame), colour, orientation, alpha)
        self._colour = colour
        self._orientation = orientation
        width, height = self._shape
        self.format = self._plan.frame_format(width, height, colour)
        self._depth = queue_depth(sum(abs(p.line_size) * p.height for p in frame.planes))
        self._truncation = self._missing_ends()
        state = self._alpha_state()
        timing = steady_timing(len(stills), frame_rate) if frame_rate else Timing()
        self.timing = timing
        flags = picture_flags(
            frame,
            colour_tags=tags,
            colour=colour,
            orientation=orientation,
            field_order=None,
            sample_aspect_ratio=None,
            has_alpha=state not in (None, "opaque"),
            converted=self._plan.conversion is not None or not self._uniform,
        )
        if skipped:
            flags.append("skipped_files")
        if len(stills) > 1 and not frame_rate:
            flags.append("no_timestamps")
        shown = tuple(skipped[:_SKIPPED_SHOWN])
        if len(skipped) > _SKIPPED_SHOWN:
            shown += (f"... and {len(skipped) - _SKIPPED_SHOWN} more",)
        conversion = self._plan.conversion
        if not self._uniform:
            conversion = conversion or self._plan.source_format
        self.info = ClipInfo(
            source=name,
            kind="image" if len(stills) == 1 and not skipped else "images",
            decoder=decoder_name(),
            luma_domain="planes" if conversion is None else "rgb",
            width=width,
            height=height,
            coded_width=frame.width,
            coded_height=frame.height,
            pixel_format=frame.format.name,
            bit_depth=max(c.bits for c in frame.format.components),
            container=stills[0].format_name.removesuffix("_pipe"),
            codec=first.codec,
            frames=len(stills),
            frame_rate=timing.frame_rate,
            constant_frame_rate=timing.constant,
            start_s=timing.start_s,
            duration_s=timing.duration_s,
            colour_tags=tags,
            colour=colour,
            rotation_degrees=orientation.clockwise_degrees,
            hdr=transfer_kind(tags),
            alpha=state,
            alpha_colour=alpha if isinstance(alpha, tuple) and state == "composited" else None,
            conversion=conversion,
            video_streams=1,
            flags=tuple(sorted(flags)),
            skipped_files=shown,
        )

    def frames(self, *, ahead: bool = True) -> Iterator[Frame]:
        """Every image, in order. One that cannot be decoded is listed as damage, not replaced."""
        every = range(len(self._stills))
        if not ahead:
            return self._some(every)
        return in_background(lambda: self._some(every), self._depth)

    def frames_at(self, indices: Sequence[int]) -> Iterator[Frame]:
        """Exactly these images; the others are not opened."""
        wanted = check_indices(indices, len(self._stills))
        return in_background(lambda: self._some(wanted), self._depth)

    @property
    def damage(self) -> list[Damage]:
        """Files that end early, and those met so far that could not be decoded."""
        found = {**self._truncation, **self._decoding_damage}
        return [found[index] for index in sorted(found)]

    def _first(self, name: str) -> tuple[int, _Decoded]:
        reason = ""
        for index, still in enumerate(self._stills):
            try:
                return index, _decode(still)
            except _UndecodableError as error:
                reason = reason or str(error)
        raise MediaError(
            f"{name}: cannot decode {'it' if len(self._stills) == 1 else 'any image in it'} "
            f"({reason}); expected a complete image file",
            code="undecodable",
            source=name,
        )

    def _check_sizes(self, first_at: int) -> None:
        """Compare the headers of all files with the first; notes whether all are of one format."""
        if len(self._stills) == 1:
            return
        first = self._stills[first_at]
        expected: tuple[int, int, str | None] | None = None
        for still in self._stills[first_at:]:
            header = _header(still)
            if header is None:
                continue
            if expected is None:
                expected = header
            elif header[:2] != expected[:2]:
                raise MediaError(
                    f"{still.media.name} is {header[0]}x{header[1]}, {first.media.name} is "
                    f"{expected[0]}x{expected[1]}; expected images of one size: put each clip in a "
                    "folder of its own",
                    code="mixed_sizes",
                    source=still.media.name,
                )
            elif header[2] != expected[2]:
                self._uniform = False

    def _common(self, frame: VideoFrame) -> VideoFrame:
        """The frame in the format that a mixed folder is read in."""
        deep = max(c.bits for c in frame.format.components) > 8
        return frame.reformat(format="rgba64le" if deep else "rgba")

    def _missing_ends(self) -> dict[int, Damage]:
        found = {}
        for index, still in enumerate(self._stills):
            with still.media.reader() as reader:
                lacking = missing_end(reader)
            if lacking:
                detail = f"{os.path.basename(still.media.name)}: {lacking}"
                found[index] = Damage(kind="truncated", detail=detail, frame=index)
        return found

    def _alpha_state(self) -> AlphaState | None:
        view = self._plan.alpha
        if view is None:
            return None
        return alpha_state(self._rule, (view(f) for _, f in self._decoded()))

    def _decoded(self) -> Iterator[tuple[int, VideoFrame]]:
        return self._each(range(len(self._stills)))

    def _each(self, indices: Sequence[int]) -> Iterator[tuple[int, VideoFrame]]:
        for index in indices:
            still = self._stills[index]
            try:
                frame = _decode(still).frame
            except _UndecodableError as error:
                self._decoding_damage[index] = Damage(
                    kind="decode_error",
                    detail=f"{os.path.basename(still.media.name)}: {error}",
                    frame=index,
                    frames_lost=1,
                )
                continue
            yield index, frame if self._uniform else self._common(frame)

    def _some(self, indices: Sequence[int]) -> Generator[Frame, None, None]:
        times = self.timing.times_s
        for index, frame in self._each(indices):
            orientation = orientation_of(frame)
            plan = self._plan
            if orientation != self._orientation:
                plan = plan_planes(frame, self._colour, orientation, self._rule)
            if orientation.shown_size(frame.width, frame.height) != self._shape or (
                plan.layout != self._plan.layout
            ):
                raise MediaError(
                    f"{self._stills[index].media.name}: {frame.width}x{frame.height} "
                    f"{frame.format.name} differs from the first; expected one size and format",
                    code="mixed_sizes",
                    source=self._stills[index].media.name,
                )
            time_s = None if times is None else float(times[index])
            damaged = frame.is_corrupt or index in self._truncation
            yield Frame(index, time_s, plan.take(frame), damaged)


def open_image(media: MediaSource, format_name: str, *, alpha: AlphaRule) -> Clip:
    """A single still image.

    Raises:
        MediaError: it cannot be decoded.
    """
    return ImagesClip([_Still(media, format_name)], name=media.name, alpha=alpha)


def open_folder(path: str, *, frame_rate: float | None, alpha: AlphaRule) -> Clip:
    """The images of a folder, sorted by name, numbers in names by value (9 before 10).

    Files that are no still images are skipped and listed in ``info.skipped_files``.

    Raises:
        MediaError: the folder holds no image, or images of different sizes.
    """
    stills: list[_Still] = []
    skipped: list[str] = []
    for entry in sorted(os.listdir(path), key=natural_order):
        full = os.path.join(path, entry)
        if not os.path.isfile(full):
            skipped.append(_printable(entry))
            continue
        media = MediaSource.from_path(full)
        format_name = sniff(media.head())
        if format_name is None or not format_name.endswith("_pipe"):
            skipped.append(_printable(entry))
        else:
            stills.append(_Still(media, format_name))
    if not stills:
        held = f"{len(skipped)} other entries" if skipped else "nothing"
        raise MediaError(
            f"{path}: no image in this folder (it holds {held}); expected PNG, JPEG or other still "
            "images, one per frame",
            code="no_frames",
            source=path,
        )
    return ImagesClip(
        stills, name=_printable(path), alpha=alpha, frame_rate=frame_rate, skipped=skipped
    )


def natural_order(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort key by which ``frame9`` comes before ``frame10``; the name itself breaks ties."""
    parts = _NUMBERS.split(name)
    key = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in parts]
    return key, name


def check_animated_webp(media: MediaSource) -> None:
    """Refuse an animated WebP where the installed FFmpeg cannot decode one whole.

    Raises:
        MediaError: it cannot; a decoder that gives the first picture alone is not used.
    """
    from av.format import ContainerFormat

    try:
        ContainerFormat("webp_anim", "r")
    except ValueError:
        raise MediaError(
            f"{media.name}: cannot decode animated WebP with the installed FFmpeg; expected a "
            "format that it reads whole: convert it to GIF, APNG or a video",
            code="cannot_decode",
            source=media.name,
        ) from None


def _printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _decode(still: _Still) -> _Decoded:
    import av

    try:
        with still.media.open(still.format_name) as container:
            stream = container.streams.video[0]
            if stream.codec_context is None:
                raise _UndecodableError("there is no decoder for what it holds")
            stream.codec_context.thread_count = 1
            frames = container.decode(stream)
            found = next(frames, None)
            if found is None:
                raise _UndecodableError("no picture came out")
            # A preview or a gain map behind the picture is of another size, or of no use.
            with contextlib.suppress(av.error.FFmpegError):
                second = next(frames, None)
                if second is not None and _kind_of(second) == _kind_of(found):
                    raise _UndecodableError(
                        "it holds several pictures in a row: save each in a file of its own, or "
                        "all of them as a video"
                    )
            return _Decoded(found, stream.codec_context.name, codec_tags(stream.codec_context))
    except MediaError as error:
        raise _UndecodableError(str(error.context.get("reason", error))) from error
    except (av.error.FFmpegError, OSError, IndexError, ValueError) as error:
        raise _UndecodableError(getattr(error, "strerror", None) or str(error)) from error


def _kind_of(frame: VideoFrame) -> tuple[int, int, str]:
    return frame.width, frame.height, frame.format.name


def _header(still: _Still) -> tuple[int, int, str | None] | None:
    """(width, height, pixel format) from the header alone, ``None`` if there is no telling."""
    try:
        with still.media.open(still.format_name) as container:
            stream = container.streams.video[0]
            size = stream.width, stream.height, stream.pix_fmt
            return size if all(size[:2]) else None
    except (MediaError, IndexError):
        return None

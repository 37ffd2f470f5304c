"""A clip in a container: opened once, read packet by packet, decoded on a thread of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from screentest.errors import InputError, MediaError
from screentest.media.alpha import AlphaRule, AlphaState, alpha_state
from screentest.media.background import in_background
from screentest.media.clip import Clip, Frame, check_indices
from screentest.media.colour import resolve, transfer_kind
from screentest.media.decode import DecodeLog, Decoder, Numbered
from screentest.media.extent import missing_end
from screentest.media.info import ClipInfo, Damage
from screentest.media.orientation import orientation_of
from screentest.media.packets import read_table
from screentest.media.planes import FrameChangedError, plan_planes, source_kind
from screentest.media.source import MediaSource, choose_video
from screentest.media.streams import (
    codec_tags,
    colour_tags_of,
    index_length,
    picture_flags,
    stream_facts,
    timing_flags,
)
from screentest.media.timing import measure_timing, steady_timing

if TYPE_CHECKING:
    from av import VideoFrame

__all__ = ["VideoClip", "decoder_name", "queue_depth"]

# Frames that may wait for the consumer: enough to even out the uneven times of I and B frames, few
# enough that 8K stays in memory.
_QUEUE_BYTES = 48 << 20
_QUEUE_FRAMES = (2, 8)

_IMAGE_LIKE = frozenset({"gif", "apng", "webp_anim"})


def decoder_name() -> str:
    """Name and version of the default decoder, e.g. ``"pyav 18.1.0 (libavcodec 62.28.102)"``."""
    import av

    codec = ".".join(str(part) for part in av.library_versions["libavcodec"])
    return f"pyav {av.__version__} (libavcodec {codec})"


def queue_depth(frame_bytes: int) -> int:
    """How many decoded frames of that size may wait."""
    low, high = _QUEUE_FRAMES
    return max(low, min(high, _QUEUE_BYTES // max(1, frame_bytes)))


class VideoClip(Clip):
    """A video file, or an animated image. Opening it reads its packets and decodes one frame."""

    def __init__(
        self,
        source: MediaSource,
        *,
        format_name: str | None,
        alpha: AlphaRule,
        threads: int,
        frame_rate: float | None = None,
    ) -> None:
        container = source.open(format_name)
        stream = choose_video(container, source.name)
        facts = stream_facts(container, stream)
        expected = index_length(stream, facts.container)
        table = read_table(container, stream)
        context_tags = codec_tags(stream.codec_context)
        self._decoder = Decoder(
            source=source,
            format_name=format_name,
            stream_index=stream.index,
            codec=stream.codec_context.name,
            table=table,
            threads=threads,
            progressive=facts.field_order in (None, "progressive"),
            spare=container,
        )
        with source.reader() as reader:
            lacking = missing_end(reader)
        self._source_name = source.name
        self._log = DecodeLog()
        if not table.shown:
            raise MediaError(
                f"{source.name}: no frames (the video stream is empty); expected at least one",
                code="no_frames",
                source=source.name,
            )
        self._primed: tuple[Numbered, Generator[Numbered, None, None]] | None = None
        first = self._prime()
        self._static_damage = table.damage(expected, lacking)
        colour_tags = colour_tags_of(first, context_tags)
        kind, full = source_kind(first)
        colour = resolve(colour_tags, kind=kind, full_by_name=full)
        orientation = orientation_of(first)
        plan = self._plan = plan_planes(first, colour, orientation, alpha)
        width, height = orientation.shown_size(first.width, first.height)
        self.format = plan.frame_format(width, height, colour)
        self._depth = queue_depth(sum(abs(p.line_size) * p.height for p in first.planes))
        state = self._alpha_state(alpha, facts.hidden_alpha)
        timing = measure_timing(table, facts.time_base, facts.rate)
        if frame_rate is not None:
            if timing.times_s is not None:
                raise InputError(
                    f"{source.name}: frame_rate={frame_rate} contradicts a file with time stamps "
                    "of its own; leave it out",
                    code="bad_frame_rate",
                )
            timing = steady_timing(len(table.shown), frame_rate)
        self.timing = timing
        rate = facts.guessed_rate if timing.times_s is None else facts.rate
        field_order = facts.field_order
        if first.interlaced_frame and field_order in (None, "progressive"):
            field_order = "unknown"
        flags = timing_flags(
            facts,
            timing,
            counted=len(table.shown),
            discarded=table.discarded,
            leading=table.leading,
        ) + picture_flags(
            first,
            colour_tags=colour_tags,
            colour=colour,
            orientation=orientation,
            field_order=field_order,
            sample_aspect_ratio=facts.sample_aspect_ratio,
            has_alpha=state not in (None, "opaque"),
            converted=plan.conversion is not None,
        )
        still = facts.container in _IMAGE_LIKE and len(table.shown) == 1
        self.info = ClipInfo(
            source=source.name,
            kind="image" if still else "video",
            decoder=decoder_name(),
            luma_domain="planes" if plan.conversion is None else "rgb",
            width=width,
            height=height,
            coded_width=first.width,
            coded_height=first.height,
            pixel_format=plan.source_format,
            bit_depth=plan.source_bit_depth,
            container=facts.container,
            codec=facts.codec,
            profile=facts.profile,
            frames=len(table.shown),
            frames_declared=facts.frames_declared,
            frame_rate=timing.frame_rate,
            frame_rate_declared=None if rate is None else f"{rate.numerator}/{rate.denominator}",
            constant_frame_rate=timing.constant,
            start_s=timing.start_s,
            duration_s=timing.duration_s,
            colour_tags=colour_tags,
            colour=colour,
            rotation_degrees=orientation.clockwise_degrees,
            sample_aspect_ratio=facts.sample_aspect_ratio,
            field_order=field_order,
            hdr=transfer_kind(colour_tags),
            alpha=state,
            alpha_colour=alpha if isinstance(alpha, tuple) and state == "composited" else None,
            conversion=plan.conversion,
            video_streams=facts.video_streams,
            audio=facts.audio,
            flags=tuple(sorted(flags)),
        )

    def frames(self, *, ahead: bool = True) -> Iterator[Frame]:
        """Every frame once, in display order."""
        return in_background(self._all, self._depth) if ahead else self._all()

    def frames_at(self, indices: Sequence[int]) -> Iterator[Frame]:
        """Exactly these frames; decodes from the key frame before each stretch of them."""
        wanted = check_indices(indices, len(self._decoder.table.shown))
        if not wanted:
            return iter(())
        return in_background(lambda: self._some(wanted), self._depth)

    @property
    def damage(self) -> list[Damage]:
        """Damage that the packets show, and what decoding met so far."""
        return self._static_damage + self._log.damage(self._decoder.table)

    @property
    def packet_damage(self) -> list[Damage]:
        """The part of the damage that shows without decoding."""
        return list(self._static_damage)

    def close(self) -> None:
        """Give up the source; iterators that are running keep theirs."""
        if self._primed is not None:
            self._primed[1].close()
            self._primed = None
        if self._decoder.spare is not None:
            self._decoder.spare.close()
            self._decoder.spare = None

    def _prime(self) -> VideoFrame:
        """Start decoding, which ``frames()`` then goes on with; returns the first frame.

        Frames before it that cannot be decoded because what they lean on was cut away leave the
        display order, since no player shows them.
        """
        table = self._decoder.table
        running = self._decoder.in_order(self._log)
        first = next(running, None)
        if first is None:
            raise MediaError(
                f"{self._source_name}: none of its {len(table.shown)} packets could be decoded "
                f"({self._log.errors[0] if self._log.errors else 'no picture came out'}); "
                "expected a video that plays",
                code="undecodable",
                source=self._source_name,
                packets=len(table.shown),
            )
        if table.are_leading(first[0]):
            running.close()
            table.drop_leading(first[0])
            running = self._decoder.in_order(self._log)
            first = next(running, None)
            assert first is not None
        self._primed = (first, running)
        return first[1]

    def _all(self) -> Generator[Frame, None, None]:
        primed, self._primed = self._primed, None
        if primed is not None:
            first, rest = primed
            try:
                yield self._frame(first)
                for item in rest:
                    yield self._frame(item)
            finally:
                rest.close()
            return
        log = DecodeLog()
        for item in self._decoder.in_order(log):
            yield self._frame(item)
        self._log = log

    def _some(self, wanted: list[int]) -> Generator[Frame, None, None]:
        # Only a pass that met more than the one before replaces what is known of the damage.
        log = DecodeLog()
        for item in self._decoder.at(wanted, log):
            yield self._frame(item)
        if (log.errors or log.corrupt or log.missing) and not self._log.finished:
            self._log = log

    def _frame(self, item: Numbered) -> Frame:
        index, frame = item
        times = self.timing.times_s
        try:
            planes = self._plan.take(frame)
        except FrameChangedError as change:
            raise MediaError(
                f"{self._source_name}: frame {index} is {change}, the clip began as "
                f"{self.info.coded_width}x{self.info.coded_height} {self.info.pixel_format}; "
                "expected one size and format: split the file where it changes",
                code="frame_changes",
                source=self._source_name,
                frame=index,
            ) from None
        time_s = None if times is None or index >= len(times) else float(times[index])
        return Frame(index, time_s, planes, frame.is_corrupt)

    def _alpha_state(self, rule: AlphaRule, hidden: bool) -> AlphaState | None:
        if hidden:
            # The stream has an alpha layer that this decoder does not give out.
            return "dropped" if rule == "drop" else "transparent"
        if not self._plan.has_alpha:
            return None
        view = self._plan.alpha
        assert view is not None
        running = self._decoder.in_order(DecodeLog())
        try:
            return alpha_state(rule, (view(frame) for _, frame in running))
        finally:
            running.close()

"""Pictures in memory, read where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from screentest.errors import InputError, MediaError
from screentest.media.adopt import Adopted, adopt, is_pil_image
from screentest.media.alpha import AlphaRule, AlphaState, is_opaque
from screentest.media.clip import Array, Clip, Frame, check_indices
from screentest.media.info import ClipInfo, ColourResolved
from screentest.media.layouts import arrange, choose_layout
from screentest.media.planes import composite
from screentest.media.samples import Samples, check_range, plan_samples
from screentest.media.timing import Timing, steady_timing

__all__ = ["ArrayClip", "open_array"]

_FULL_RGB = ColourResolved(matrix="rgb", range="full", matrix_from="tag", range_from="tag")


class ArrayClip(Clip):
    """A clip in memory: one block, or a list of frames of one shape."""

    def __init__(
        self,
        frames: Array | list[Array],
        *,
        samples: Samples,
        notes: Adopted,
        alpha: AlphaRule,
        frame_rate: float | None,
        name: str,
    ) -> None:
        from screentest._native import FrameFormat

        self._frames = frames
        self._convert = samples.convert
        self._alpha = alpha
        first = frames[0]
        height, width = first.shape[:2]
        self._has_alpha = first.ndim == 3 and first.shape[2] == 4
        state = self._alpha_state()
        self._composited = state == "composited"
        describe = FrameFormat.grey if first.ndim == 2 else FrameFormat.rgb
        self.format = describe(
            width=width,
            height=height,
            dtype=samples.dtype,
            bit_depth=samples.bit_depth,
            value_range=samples.value_range,
        )
        as_it_lies = self._convert is None and not self._composited
        if isinstance(frames, np.ndarray) and as_it_lies and frames.flags.aligned:
            self.array = frames[..., :3] if self._has_alpha else frames.view()
            self.array.flags.writeable = False
        self.timing = steady_timing(len(frames), frame_rate) if frame_rate else Timing()
        conversions = sorted(
            notes.conversions | ({samples.conversion} if samples.conversion else set())
        )
        flags = set(notes.flags)
        if state not in (None, "opaque"):
            flags.add("alpha")
        if conversions:
            flags.add("converted")
        if not frame_rate and len(frames) > 1:
            flags.add("no_timestamps")
        self.info = ClipInfo(
            source=name,
            kind="array",
            decoder="none",
            luma_domain="rgb",
            width=width,
            height=height,
            coded_width=width,
            coded_height=height,
            pixel_format=f"{'grey' if first.ndim == 2 else 'rgb'} {first.dtype.name}",
            bit_depth=samples.bit_depth,
            frames=len(frames),
            frame_rate=self.timing.frame_rate,
            constant_frame_rate=self.timing.constant,
            start_s=self.timing.start_s,
            duration_s=self.timing.duration_s,
            colour=_FULL_RGB,
            alpha=state,
            alpha_colour=alpha if isinstance(alpha, tuple) and self._composited else None,
            conversion="; ".join(conversions) or None,
            flags=tuple(sorted(flags)),
        )

    def frames(self, *, ahead: bool = True) -> Iterator[Frame]:
        """Every frame once. Nothing is decoded, so nothing runs in the background."""
        del ahead
        return self._each(range(len(self._frames)))

    def frames_at(self, indices: Sequence[int]) -> Iterator[Frame]:
        """Exactly these frames."""
        return self._each(check_indices(indices, len(self._frames)))

    def _each(self, indices: Sequence[int]) -> Iterator[Frame]:
        times = self.timing.times_s
        for index in indices:
            frame = self._frames[index]
            if self._composited:
                assert isinstance(self._alpha, tuple)
                frame = composite(frame[..., :3], frame[..., 3], self._alpha)
            elif self._has_alpha:
                frame = frame[..., :3]
            if self._convert is not None:
                frame = self._convert(frame)
            elif not frame.flags.aligned:
                # Rust may not read a float at an odd address.
                frame = frame.copy()
            else:
                frame = frame.view()
            frame.flags.writeable = False
            yield Frame(index, None if times is None else float(times[index]), (frame,))

    def _alpha_state(self) -> AlphaState | None:
        if not self._has_alpha:
            return None
        if self._alpha is not None:
            return "dropped" if self._alpha == "drop" else "composited"
        opaque = all(is_opaque(frame[..., 3]) for frame in self._frames)
        return "opaque" if opaque else "transparent"


def open_array(
    source: Any,
    *,
    layout: str | None,
    value_range: Any,
    bit_depth: int | None,
    frame_rate: float | None,
    alpha: AlphaRule,
) -> ArrayClip:
    """Open an array, a tensor, a PIL image, or a list of any of these as a clip.

    Raises:
        MediaError: dtype or shape need an argument that was not given, or hold no pictures.
        InputError: the arguments contradict each other.
    """
    notes = Adopted()
    limits = check_range(value_range)
    frames: Array | list[Array]
    if isinstance(source, (list, tuple)):
        frames = _from_list(source, layout, notes)
        name = f"<list of {len(source)} frames>"
    else:
        if isinstance(source, (dict, set, str)) or _is_iterator(source):
            raise InputError(
                f"a {type(source).__name__} is not a clip; pass a path, an array or a list",
                code="bad_source",
            )
        array = adopt(source, notes)
        if array.ndim == 5 and array.shape[0] == 1:
            # A batch of one, as pipelines return it, is that one clip.
            array = array[0]
        _refuse_empty(array.shape)
        shape_layout = layout
        if is_pil_image(source) and layout is None:
            shape_layout = "HW" if array.ndim == 2 else "HWC"
        frames = arrange(array, choose_layout(array.shape, shape_layout))
        name = f"<{type(source).__name__} {array.shape}>"
    first = frames[0]
    if bit_depth is None and limits is None:
        bit_depth = notes.bit_depth
    samples = plan_samples(first.dtype, limits, bit_depth)
    _check_alpha(first, samples, notes, alpha)
    if limits is not None:
        _refuse_unscaled(frames, limits)
    return ArrayClip(
        frames, samples=samples, notes=notes, alpha=alpha, frame_rate=frame_rate, name=name
    )


def _from_list(sources: Sequence[Any], layout: str | None, notes: Adopted) -> list[Array]:
    if not sources:
        raise MediaError("the list holds no frames; expected at least one", code="no_frames")
    if layout is not None and "T" in layout.upper():
        raise InputError(
            f"layout={layout!r} has a time axis, a list holds single frames; say HW, HWC or CHW",
            code="bad_layout",
        )
    frames: list[Array] = []
    for index, source in enumerate(sources):
        if isinstance(source, (list, tuple, int, float)):
            raise MediaError(
                f"frame {index} of the list is a {type(source).__name__}; expected an array",
                code="bad_source",
            )
        array = adopt(source, notes)
        _refuse_empty(array.shape)
        said = layout
        if said is None and is_pil_image(source):
            said = "HW" if array.ndim == 2 else "HWC"
        chosen = choose_layout(array.shape, said)
        if chosen == "THW" and array.shape[0] == 1:
            chosen = "CHW"
        if "T" in chosen:
            raise MediaError(
                f"frame {index} of the list has shape {array.shape}, not one picture; expected "
                '(H, W, 3) or (H, W), or say layout="CHW"',
                code="bad_shape",
                shape=array.shape,
            )
        frames.append(arrange(array, chosen)[0])
    first = frames[0]
    for index, frame in enumerate(frames):
        if frame.shape != first.shape or frame.dtype != first.dtype:
            raise MediaError(
                f"frame {index} of the list is {frame.shape} {frame.dtype}, frame 0 is "
                f"{first.shape} {first.dtype}; expected frames of one size and dtype",
                code="mixed_sizes",
                frame=index,
            )
    return frames


def _refuse_empty(shape: tuple[int, ...]) -> None:
    if not shape or 0 in shape:
        raise MediaError(
            f"an array of shape {shape} holds no samples; expected at least one frame of one pixel",
            code="no_frames",
            shape=shape,
        )


def _check_alpha(first: Array, samples: Samples, notes: Adopted, alpha: AlphaRule) -> None:
    if first.ndim != 3 or first.shape[2] != 4:
        return
    if alpha is None and not notes.pil_alpha:
        raise MediaError(
            'the frames have 4 channels; if the last is alpha, say alpha="drop" or alpha=(r, g, '
            "b), the colour in [0, 1] to lay them over",
            code="alpha_needed",
        )
    whole = samples.value_range is None and samples.bit_depth in (None, 8, 16)
    if isinstance(alpha, tuple) and (samples.convert is not None or not whole):
        raise MediaError(
            f"frames of dtype {first.dtype.name} cannot be composited; expected uint8, 16-bit "
            'uint16 or floats in [0, 1]: composite them before, or say alpha="drop"',
            code="bad_dtype",
        )


def _refuse_unscaled(frames: Array | list[Array], limits: tuple[float, float]) -> None:
    """Refuse [0, 1] floats said to be 0..255: everything would look black, and any two alike."""
    if frames[0].dtype.kind != "f" or limits[1] - limits[0] < 100:
        return
    for index in (0, len(frames) // 2, len(frames) - 1):
        frame = frames[index]
        fraction = np.modf(frame)[0]
        if not np.isfinite(frame).all() or frame.min() < 0 or frame.max() > 1 or not fraction.any():
            return
    raise MediaError(
        f"the samples lie in [0, 1], but value_range={limits} was said; leave value_range= out",
        code="bad_value_range",
    )


def _is_iterator(source: Any) -> bool:
    return hasattr(source, "__next__")

"""Opening anything that holds pictures."""

from __future__ import annotations

import io
import os
import stat
from numbers import Real
from typing import Any

from screentest.compute import threads as thread_budget
from screentest.errors import InputError, MediaError
from screentest.media.alpha import AlphaRule, check_alpha
from screentest.media.clip import Clip
from screentest.media.source import MediaSource, sniff

__all__ = ["is_in_memory", "media_source", "open_clip"]

_DECODERS = ("pyav", "torchcodec")


def open_clip(
    source: Any,
    *,
    layout: str | None = None,
    value_range: tuple[float, float] | None = None,
    bit_depth: int | None = None,
    frame_rate: float | None = None,
    alpha: Any = None,
    decoder: str = "pyav",
    device: str = "cpu",
    threads: int | None = None,
) -> Clip:
    """Open a clip: a path, a folder of images, bytes, a binary file object, or pictures in memory.

    Args:
        source: path of a video, still or animated image, or of a folder of images (sorted by name,
            numbers by value); the bytes of such a file, or a seekable binary file object;
            ``(T, H, W, 3)``, ``(T, H, W)``, ``(H, W, 3)`` or ``(H, W)`` arrays (numpy, DLPack,
            array interface, buffer protocol; torch tensors among them); a list of arrays or PIL
            images.
        layout: axes of an array, one of HW, HWC, CHW, THW, THWC, TCHW, CTHW. Needed wherever the
            shape fits more than one.
        value_range: (lowest, highest) value of an array, for black and full white. Needed for
            floats outside [0, 1] and integers other than uint8 and uint16.
        bit_depth: bits in use of a uint16 array. Needed for each of them.
        frame_rate: frames per second of a source without time stamps (array, folder, raw stream).
        alpha: for pictures with an alpha channel ``"drop"`` or an (r, g, b) colour in [0, 1] to lay
            them over. Arrays with four channels need it.
        decoder: ``"pyav"``, or ``"torchcodec"`` for video files (the ``torch`` extra).
        device: ``"cpu"``, or ``"cuda"`` with torchcodec.
        threads: decoder threads; see :func:`screentest.compute.threads`.

    Raises:
        FileNotFoundError: there is no such file or folder.
        MediaError: the source cannot be read as it is described; the message says what to add.
        InputError: the arguments contradict each other.
        MissingBackendError: torchcodec was asked for and is not installed.

    Example:
        >>> import numpy as np
        >>> from screentest.media import open_clip
        >>> with open_clip(np.zeros((3, 48, 64, 3), dtype=np.uint8)) as clip:
        ...     clip.info.frames, clip.info.width, clip.info.height
        (3, 64, 48)
    """
    if decoder not in _DECODERS:
        raise InputError(
            f"decoder={decoder!r}: expected one of {', '.join(_DECODERS)}", code="bad_decoder"
        )
    if device != "cpu" and decoder == "pyav":
        raise InputError(
            f'device={device!r} needs decoder="torchcodec"; the default decoder runs on the CPU',
            code="bad_device",
        )
    if frame_rate is not None and not is_rate(frame_rate):
        raise InputError(
            f"frame_rate={frame_rate!r}: expected frames per second above 0", code="bad_frame_rate"
        )
    rule = check_alpha(alpha)
    if is_in_memory(source):
        if decoder != "pyav":
            raise InputError("decoder= is for files; arrays are not decoded", code="bad_decoder")
        from screentest.media.arrays import open_array

        return open_array(
            source,
            layout=layout,
            value_range=value_range,
            bit_depth=bit_depth,
            frame_rate=frame_rate,
            alpha=rule,
        )
    said = {"layout": layout, "value_range": value_range, "bit_depth": bit_depth}
    for name, value in said.items():
        if value is not None:
            raise InputError(
                f"{name}= describes an array; a file says this itself", code="bad_input"
            )
    budget = thread_budget(threads)
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(os.fspath(source))
        if os.path.isdir(path):
            from screentest.media.images import open_folder

            return open_folder(path, frame_rate=frame_rate, alpha=rule)
    return _open_media(media_source(source), rule, frame_rate, decoder, device, budget)


def is_in_memory(source: Any) -> bool:
    """Whether a source is pictures as they are, neither a path nor the bytes of a file."""
    if isinstance(source, (str, os.PathLike, bytes, bytearray)):
        return False
    return not _is_file_object(source)


def media_source(source: Any) -> MediaSource:
    """The file behind a path, bytes or a binary file object; not for a folder.

    Raises:
        FileNotFoundError: there is no such file.
        MediaError: it is no regular file, or no file object that can be read and sought.
    """
    if isinstance(source, (str, os.PathLike)):
        return _from_path(os.fsdecode(os.fspath(source)))
    if isinstance(source, (bytes, bytearray)):
        return MediaSource.from_file(io.BytesIO(source), "<bytes>")
    return _from_file_object(source)


def is_rate(value: Any) -> bool:
    """Whether a value is a number of frames per second."""
    return isinstance(value, Real) and 0 < float(value) < float("inf")


def _open_media(
    media: MediaSource,
    alpha: AlphaRule,
    frame_rate: float | None,
    decoder: str,
    device: str,
    threads: int,
) -> Clip:
    head = media.head()
    if not head:
        raise MediaError(
            f"{media.name}: no frames (the file is empty); expected a media file",
            code="no_frames",
            source=media.name,
        )
    format_name = sniff(head)
    if decoder == "torchcodec":
        from screentest.media.torchcodec import TorchCodecClip

        return TorchCodecClip(media, format_name, alpha=alpha, device=device, threads=threads)
    if format_name == "webp_anim":
        from screentest.media.images import check_animated_webp

        check_animated_webp(media)
    if format_name is not None and format_name.endswith("_pipe"):
        from screentest.media.images import open_image

        return open_image(media, format_name, alpha=alpha)
    from screentest.media.video import VideoClip

    return VideoClip(
        media, format_name=format_name, alpha=alpha, threads=threads, frame_rate=frame_rate
    )


def _from_path(path: str) -> MediaSource:
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise MediaError(
            f"{path}: not a regular file; a clip is read more than once, so save it first",
            code="not_a_file",
            source=path,
        )
    return MediaSource.from_path(path)


def _is_file_object(source: Any) -> bool:
    return callable(getattr(source, "read", None)) and callable(getattr(source, "seek", None))


def _from_file_object(source: Any) -> MediaSource:
    name = getattr(source, "name", None)
    name = name if isinstance(name, str) else "<file object>"
    try:
        seekable = source.seekable() if hasattr(source, "seekable") else True
        if seekable:
            source.seek(0)
            probe = source.read(0)
        else:
            probe = b""
    except (OSError, ValueError) as error:
        raise MediaError(
            f"{name}: the file object cannot be read ({error}); pass an open one, bytes or a path",
            code="unreadable_file_object",
            source=name,
        ) from error
    if not seekable:
        raise MediaError(
            f"{name}: the file object cannot seek, and a clip is read more than once; pass its "
            "bytes or a path",
            code="not_seekable",
            source=name,
        )
    if not isinstance(probe, bytes):
        raise MediaError(
            f"{name}: opened as text; open it in binary mode ('rb')",
            code="text_file_object",
            source=name,
        )
    return MediaSource.from_file(source, name)

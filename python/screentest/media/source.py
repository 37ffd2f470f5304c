"""Opening a container so that it can read one thing: the file it was given."""

from __future__ import annotations

import io
import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from screentest.errors import MediaError

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.stream import Stream
    from av.video.stream import VideoStream

__all__ = ["MediaSource", "SharedFile", "choose_video", "real_video", "sniff"]

# Demuxers that read the one file they are given. Playlists and manifests (hls, dash, concat, imf),
# numbered image patterns (image2), devices, and text shown as a terminal (tty) are left out: they
# open other files, or make a video of something that is none.
_FORMATS = ",".join(
    (
        "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,nut,mxf,gxf,ivf,mpegvideo",
        "yuv4mpegpipe,h264,hevc,vvc,av1,obu,m4v,dv,rm,wtv,gif,apng,cavsvideo,vc1,vc1test,dirac",
        "png_pipe,jpeg_pipe,bmp_pipe,tiff_pipe,webp_pipe,exr_pipe,dpx_pipe,ppm_pipe,pgm_pipe",
        "pam_pipe,pbm_pipe,pfm_pipe,hdr_pipe,qoi_pipe,sgi_pipe,jpegxl_pipe,j2k_pipe",
        "jpegls_pipe,pcx_pipe,sunrast_pipe,photocd_pipe,webp_anim,jpegxl_anim,mjpeg",
        # Audio alone, so that the answer is "no video stream" rather than "cannot be read".
        "wav,mp3,aac,loas,flac,aiff,ac3,eac3,w64,caf,au,wv,tta,ape,amr,mlp,truehd,dts,dtshd,dsf,mpc,mpc8",
    )
)
_BUFFER = 1 << 20

# First bytes of the still and animated images; a named demuxer keeps FFmpeg from reading '%' in a
# path as a numbered pattern.
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png_pipe"),
    (b"\xff\xd8\xff", "jpeg_pipe"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"BM", "bmp_pipe"),
    (b"II*\0", "tiff_pipe"),
    (b"MM\0*", "tiff_pipe"),
    (b"v/1\x01", "exr_pipe"),
    (b"SDPX", "dpx_pipe"),
    (b"XPDS", "dpx_pipe"),
    (b"P5", "pgm_pipe"),
    (b"P6", "ppm_pipe"),
    (b"P7", "pam_pipe"),
    (b"qoif", "qoi_pipe"),
    (b"#?RADIANCE", "hdr_pipe"),
    (b"\xff\x0a", "jpegxl_pipe"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "jpegxl_pipe"),
)


def sniff(head: bytes) -> str | None:
    """The demuxer for an image that starts like this (4096 bytes are enough), else ``None``."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp_anim" if b"ANIM" in head[:64] else "webp_pipe"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            if name in ("pgm_pipe", "ppm_pipe") and not head[2:3].isspace():
                continue
            if name == "png_pipe" and b"acTL" in head[: (head.find(b"IDAT") + 1) or None]:
                return "apng"
            return name
    return None


class SharedFile(io.RawIOBase):
    """One reader's view of a file object that several readers share; each has its own position."""

    def __init__(self, file: BinaryIO, lock: threading.Lock) -> None:
        super().__init__()
        self._file = file
        self._lock = lock
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._at
        elif whence == os.SEEK_END:
            with self._lock:
                offset += self._file.seek(0, os.SEEK_END)
        self._at = max(0, offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        with self._lock:
            self._file.seek(self._at)
            data = self._file.read(size)
        self._at += len(data)
        return data


class _OwnFile(SharedFile):
    """A file opened for one reader, and closed with it."""

    def __init__(self, path: str) -> None:
        super().__init__(open(path, "rb"), threading.Lock())  # noqa: SIM115

    def close(self) -> None:
        self._file.close()
        super().close()


@dataclass(frozen=True, slots=True)
class MediaSource:
    """Something that a container can be opened from, any number of times."""

    name: str
    path: str | None = None
    file: BinaryIO | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def from_path(cls, path: str) -> MediaSource:
        """A regular file; ``name`` is printable also where the file's name is not."""
        return cls(name=path.encode("utf-8", "backslashreplace").decode(), path=path)

    @classmethod
    def from_file(cls, file: BinaryIO, name: str) -> MediaSource:
        """A seekable binary file object; it stays the caller's to close."""
        return cls(name=name, file=file)

    def reader(self) -> BinaryIO:
        """A fresh reader at byte 0."""
        if self.file is not None:
            return SharedFile(self.file, self.lock)  # type: ignore[return-value]
        assert self.path is not None
        return open(self.path, "rb")

    def head(self, count: int = 4096) -> bytes:
        """The first bytes."""
        with self.reader() as reader:
            return reader.read(count)

    def target(self) -> Any:
        """What FFmpeg opens: a path with its protocol named, or a Python file object.

        Without the protocol, a colon in a name would be taken for one. A name that is not valid
        UTF-8 has no string that FFmpeg takes, so Python reads that file.
        """
        if self.file is not None:
            return SharedFile(self.file, self.lock)
        assert self.path is not None
        return f"file:{self.path}" if self.name == self.path else _OwnFile(self.path)

    def open(self, format_name: str | None = None) -> InputContainer:
        """Open the container.

        Raises:
            MediaError: FFmpeg cannot read it as any of the allowed formats.
        """
        import av

        try:
            container: InputContainer = av.open(
                self.target(),
                format=format_name,
                container_options={"format_whitelist": _FORMATS, "protocol_whitelist": "file"},
                buffer_size=_BUFFER,
                **_forgiving(av.__version__),
            )
            return container
        except FileNotFoundError:
            raise
        except (av.error.FFmpegError, ValueError, OSError, IndexError) as error:
            raise unreadable(self.name, error) from error


def _forgiving(pyav_version: str) -> dict[str, Any]:
    """What keeps a title that is not UTF-8 from making a file unreadable."""
    # PyAV 19 forgives it by itself, and has no such option any more.
    return {"metadata_errors": "replace"} if int(pyav_version.split(".")[0]) < 19 else {}


def unreadable(name: str, error: BaseException) -> MediaError:
    """The one error for a file that FFmpeg cannot make sense of."""
    why = getattr(error, "strerror", None) or str(error)
    return MediaError(
        f"{name}: cannot open it as video, image or sound ({why}); expected a complete media "
        "file: check that the file was written to its end and is what its name says",
        code="cannot_open",
        source=name,
        reason=str(why),
    )


def choose_video(container: InputContainer, name: str) -> VideoStream:
    """The default video stream, else the first; a cover picture is none.

    Raises:
        MediaError: there is no video stream.
    """
    from av.stream import Disposition

    streams = real_video(container)
    if not streams and not len(container.streams):
        raise MediaError(
            f"{name}: no frames (the file holds no streams); expected a file with pictures",
            code="no_frames",
            source=name,
        )
    if not streams:
        held = ", ".join(sorted({_stream_kind(stream) for stream in container.streams}))
        raise MediaError(
            f"{name}: no video stream (it holds {held}); expected a file with pictures",
            code="no_video_stream",
            source=name,
        )
    default = [s for s in streams if s.disposition & Disposition.default]
    chosen = (default or streams)[0]
    # The stubs promise a context, but PyAV has none for a codec that FFmpeg does not know.
    if getattr(chosen, "codec_context", None) is None:
        raise MediaError(
            f"{name}: its video is of a codec that the installed FFmpeg cannot decode; convert it "
            "to h264, hevc, vp9, av1 or ffv1",
            code="cannot_decode",
            source=name,
        )
    return chosen


def real_video(container: InputContainer) -> list[VideoStream]:
    """The video streams that are no cover pictures."""
    from av.stream import Disposition

    hidden = Disposition.attached_pic | Disposition.timed_thumbnails
    return [s for s in container.streams.video if not s.disposition & hidden]


def _stream_kind(stream: Stream) -> str:
    return "a cover picture" if stream.type == "video" else stream.type

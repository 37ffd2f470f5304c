"""ColorVideoVDP, by its authors' package.

Mantiuk, Hanji, Ashraf, Asano and Chapiro, "ColorVideoVDP: A visual difference predictor for image,
video and display distortions", ACM TOG (SIGGRAPH) 2024. In JOD (just-objectionable differences):
10 for no visible difference, lower for more, no fixed lower end. It reads the whole clip at its
frame rate on a described display: here ``standard_4k`` (a 30-inch 4K monitor of 200 cd/m2 seen
from 0.75 m) and sRGB. Its parameters come with the package; nothing is fetched.

The package asks for frames by their index and needs to know their number first, so the frames lie
in a temporary file until :meth:`CvvdpInstrument.finish`: memory does not grow with the clip, the
file holds both clips' raw samples.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.errors import MissingBackendError
from screentest.media.info import ClipInfo
from screentest.metrics.facts import Score
from screentest.metrics.instruments.instrument import CLOSED, NO_PAIR, measured, unmeasured
from screentest.metrics.instruments.rgb import to_rgb
from screentest.metrics.instruments.samples import Sameness, codes, same_coding
from screentest.metrics.instruments.torch_scope import plain_float32

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Array, Frame

__all__ = ["DISPLAY", "CvvdpInstrument", "load_package", "outside"]

DISPLAY = "standard_4k"
# The coarsest band of its pyramid needs some pixels.
_LEAST_SIDE = 16
_WIDE = {"bt2020", "smpte431", "smpte432"}


def outside(clips: tuple[ClipInfo, ClipInfo]) -> str | None:
    """Why ColorVideoVDP has no meaning for this pair, if it has none."""
    if min(clips[0].width, clips[0].height) < _LEAST_SIDE:
        return f"pictures below {_LEAST_SIDE} pixels have no bands to compare"
    still = all(clip.frames == 1 for clip in clips)
    if not still and not any(clip.frame_rate for clip in clips):
        return "it needs the frame rate, and none is known; say frame_rate="
    if not still and any(clip.constant_frame_rate is False for clip in clips):
        return "the time stamps are uneven, and it reads frames at one rate"
    for clip in clips:
        if clip.colour_tags.primaries in _WIDE:
            return f"the primaries are {clip.colour_tags.primaries}, and its display is sRGB"
    return None


class CvvdpInstrument:
    """One JOD for the whole clip.

    Raises:
        MissingBackendError: the package is not installed, or does not import.
    """

    names = ("cvvdp",)

    def __init__(
        self,
        reference: FrameFormat,
        candidate: FrameFormat,
        *,
        frame_rate: float | None,
        threads: int,
        device: Any,
    ) -> None:
        if importlib.util.find_spec("pycvvdp") is None:
            raise MissingBackendError("cvvdp is not installed; pip install 'screentest[reference]'")
        self._package = load_package()
        self._formats = (reference, candidate)
        self._rate = frame_rate or 0.0
        self._threads = threads
        self._device = device
        self._same = Sameness(same_coding(reference, candidate, colour=True))
        self._spool: Any = tempfile.TemporaryFile(prefix="screentest-")  # noqa: SIM115
        # Per pair, (offset in the file, shape, dtype) of each plane of each side.
        self._planes: list[list[list[tuple[int, tuple[int, ...], Any]]]] = []
        self._failure: str | None = None

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Takes one pair; after a failure it does nothing."""
        if self._failure is not None or self._spool is None:
            return
        sides = [
            codes(frame, format)
            for frame, format in zip((reference, candidate), self._formats, strict=True)
        ]
        self._same.push(sides[0], sides[1])
        try:
            self._planes.append([[self._keep(plane) for plane in side] for side in sides])
        except OSError as error:
            self._failure = f"the frames cannot be kept in a temporary file: {error.strerror}"
            self.close()

    def finish(self) -> tuple[list[Score], dict[str, np.ndarray[Any, Any]]]:
        """The score; there are no values of single frames."""
        value = math.nan
        if self._failure is None and self._spool is None:
            self._failure = CLOSED
        if self._failure is None and not self._planes:
            self._failure = NO_PAIR
        version = ""
        if self._failure is None:
            try:
                with plain_float32(self._device, self._threads):
                    value, version = self._predict()
            except (RuntimeError, OSError) as error:
                lines = str(error).strip().splitlines()
                self._failure = f"cvvdp failed: {lines[0] if lines else type(error).__name__}"
        if self._failure is None and not math.isfinite(value):
            self._failure = "cvvdp gives no number"
        self.close()
        if self._failure is not None:
            return [unmeasured("cvvdp", self._failure)], {}
        score = measured(
            "cvvdp",
            value,
            state="identical" if self._same.identical else "measured",
            impl_suffix=f"+cvvdp-{version}",
            frames=len(self._planes),
            identical_frames=self._same.identical_frames,
            details={
                "cvvdp": version,
                "display": DISPLAY,
                "frame_rate": self._rate if len(self._planes) > 1 else None,
                "device": str(self._device),
            },
        )
        return [score], {}

    def close(self) -> None:
        """Removes the temporary file."""
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    def _keep(self, plane: Array) -> tuple[int, tuple[int, ...], Any]:
        at = self._spool.tell()
        self._spool.write(np.ascontiguousarray(plane).data)
        return at, plane.shape, plane.dtype

    def _predict(self) -> tuple[float, str]:
        metric = self._package.cvvdp(display_name=DISPLAY, device=self._device, quiet=True)
        # One frame at a time: how many the package would take together depends on how much
        # memory is free, and with it the last digits.
        metric.estimate_block_N = lambda *_: 1
        source = _source_class(self._package)(self, metric.display_photometry)
        jod, _ = metric.predict_video_source(source)
        return float(jod), str(metric.version)

    def rgb(self, index: int, side: int) -> Any:
        """One frame as ``(1, 3, H, W)``, from the temporary file."""
        planes = []
        for at, shape, dtype in self._planes[index][side]:
            self._spool.seek(at)
            data = self._spool.read(math.prod(shape) * dtype.itemsize)
            planes.append(np.frombuffer(data, dtype).reshape(shape))
        return to_rgb([planes], self._formats[side], self._device)

    @property
    def size(self) -> tuple[int, int, int]:
        """(height, width, frames)."""
        return self._formats[0].height, self._formats[0].width, len(self._planes)

    @property
    def frame_rate(self) -> float:
        """Frames per second, 0 for a still."""
        return self._rate


def _source_class(package: Any) -> Any:
    """The package's own reader of frames, fed from an instrument."""
    from pycvvdp.video_source import video_source_dm

    del package

    class Source(video_source_dm):  # type: ignore[misc]
        def __init__(self, instrument: CvvdpInstrument, photometry: Any) -> None:
            super().__init__(display_photometry=photometry)
            self._instrument = instrument

        def get_video_size(self) -> tuple[int, int, int]:
            return self._instrument.size

        def get_frames_per_second(self) -> float:
            return self._instrument.frame_rate

        def get_test_frame(self, frame: int, device: Any, colorspace: str) -> Any:
            del device
            return self._frame(frame, 1, colorspace)

        def get_reference_frame(self, frame: int, device: Any, colorspace: str) -> Any:
            del device
            return self._frame(frame, 0, colorspace)

        def _frame(self, frame: int, side: int, colorspace: str) -> Any:
            rgb = self._instrument.rgb(frame, side)[:, :, None]
            return self.apply_dm_and_color_transform(rgb, colorspace)

    return Source


def load_package() -> Any:
    """The package ``pycvvdp``, without what importing it does to others.

    Raises:
        MissingBackendError: it does not import.
    """
    # It puts a folder of its own in front of everybody's imports, and its sources warn.
    path = list(sys.path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pycvvdp

            return pycvvdp
    except Exception as error:
        raise MissingBackendError(
            f"cvvdp does not import ({type(error).__name__}: {error})"
        ) from error
    finally:
        sys.path[:] = path

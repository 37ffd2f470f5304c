"""The compiled core. Private: the public functions of :mod:`screentest.metrics` wrap it."""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray

_Plane: TypeAlias = NDArray[Any]
_F64: TypeAlias = NDArray[np.float64]
_Line: TypeAlias = tuple[float, float, float, float, str]
"""Ratio, period in px, phase in px, amplitude in 8-bit levels, axis."""

__all__ = [
    "BUILD_PROFILE",
    "FIDELITY_TAPS",
    "INTEGRITY_ALIGN_BELOW",
    "INTEGRITY_CONFIRM_BELOW",
    "INTEGRITY_GRID_MIN_EXTENT",
    "INTEGRITY_PAIRS",
    "PAIRING_REACH",
    "TRACK_LEAST_TRACKS",
    "TRACK_WINDOWS",
    "TRACK_WINDOW_LENGTH",
    "VERSION",
    "AudioMeter",
    "AudioPair",
    "DetailKernel",
    "FidelityKernel",
    "FrameFormat",
    "IntegrityAccumulator",
    "LagSearch",
    "LoudnessMeter",
    "OnsetEnvelope",
    "PairingAccumulator",
    "SignalAccumulator",
    "Spectrogram",
    "TrackAccumulator",
    "grey8",
    "pair_starts",
    "pairing_signature",
    "rgb8",
    "scan_samples",
    "simd_levels",
    "track_corners",
    "track_points",
    "window_starts",
    "working_size",
]

VERSION: Final[str]
"""Version of the workspace, e.g. "0.1.0"."""
BUILD_PROFILE: Final[str]
"""Cargo profile of this build: "release" or "debug"."""
FIDELITY_TAPS: Final[int]
"""Rows and columns of the SSIM window: 11. A side below it has no SSIM."""
INTEGRITY_PAIRS: Final[int]
"""Adjacent pairs that the calibrated axes read: 5."""
INTEGRITY_ALIGN_BELOW: Final[float]
"""A pair correlating at least this well is not searched for a shift."""
INTEGRITY_CONFIRM_BELOW: Final[float]
"""``change`` is exact below this many 8-bit levels and a lower bound from it on."""
INTEGRITY_GRID_MIN_EXTENT: Final[int]
"""An axis shorter than this many pixels is not scored for a lattice."""

PAIRING_REACH: Final[int]
"""The largest shift between two clips that is searched, in frames: 32."""

def pair_starts(frames: int, pairs: int) -> list[int]:
    """Starts of up to ``pairs`` adjacent pairs spread over ``frames``; empty below two frames."""

def rgb8(format: FrameFormat, planes: Sequence[_Plane], *, threads: int = 1) -> NDArray[np.uint8]:
    """A frame as ``(H, W, 3)`` of R, G and B: rounded to 8 bits, clipped, chroma repeated."""

def scan_samples(format: FrameFormat, planes: Sequence[_Plane]) -> _Scan:
    """What the samples of one frame are checked for; of 8-bit samples nothing need be read."""

def simd_levels() -> list[str]:
    """The dispatch levels that this CPU runs, slowest first: "baseline", "avx2", "avx512"."""

@final
class FrameFormat:
    """How the planes of every frame of one clip are read. Immutable.

    Raises :class:`screentest.errors.InputError` for a description that contradicts itself.
    """

    @staticmethod
    def rgb(
        *,
        width: int,
        height: int,
        dtype: str,
        bit_depth: int | None = None,
        value_range: tuple[float, float] | None = None,
    ) -> FrameFormat:
        """RGB: one ``(H, W, 3)`` array or three ``(H, W)`` arrays per frame."""

    @staticmethod
    def grey(
        *,
        width: int,
        height: int,
        dtype: str,
        bit_depth: int | None = None,
        value_range: tuple[float, float] | None = None,
        limited: bool = False,
    ) -> FrameFormat:
        """Grey: one ``(H, W)`` array per frame."""

    @staticmethod
    def yuv(
        *,
        width: int,
        height: int,
        bit_depth: int,
        shift: int = 0,
        kr: float,
        kb: float,
        limited: bool,
        chroma_shift: tuple[int, int],
    ) -> FrameFormat:
        """Y, Cb and Cr: three arrays per frame, uint8 at 8 bits and uint16 above.

        ``shift`` brings a stored value down to ``bit_depth`` bits (6 for P010). ``kr`` and ``kb``
        are the matrix's weights of red and blue. ``chroma_shift`` is the base-two logarithm of the
        horizontal and vertical step: (1, 1) for 4:2:0.
        """

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def model(self) -> Literal["rgb", "grey", "yuv"]: ...
    @property
    def value_range(self) -> tuple[float, float] | None:
        """(black, white) of float samples; ``None`` for integers."""

    @property
    def bit_depth(self) -> int | None:
        """Significant bits of integer samples; ``None`` for floats."""

    @property
    def shift(self) -> int:
        """How far above its significant bits an integer sample is stored (6 for P010)."""

    @property
    def limited(self) -> bool:
        """Whether black is 16 and white 235 (of 8 bits) rather than the ends of the range."""

    @property
    def chroma_shift(self) -> tuple[int, int]:
        """Base-two logarithm of the (horizontal, vertical) chroma step; zeros without chroma."""

    @property
    def weights(self) -> tuple[float, float] | None:
        """(kr, kb), the weights of red and blue in a YUV stream's luma; ``None`` for others."""

_Scan: TypeAlias = tuple[int, int, tuple[float, float] | None]
"""Non-finite samples, samples out of range, smallest and largest finite sample."""

class _Detail(TypedDict):
    edge_overshoot: float
    edge_strength: float
    edge_density: float
    texture_residual: float
    band_pixels: int
    luma_std: float

@final
class DetailKernel:
    """Edges, what lies beside them, and texture of single frames. Immutable, and safe to share.

    ``simd`` forces a dispatch level, which changes no bit of any result.
    """

    def __new__(
        cls, format: FrameFormat, *, threads: int = 1, simd: str | None = None
    ) -> DetailKernel: ...
    def measure(self, planes: Sequence[_Plane]) -> tuple[_Detail, _Scan]:
        """The numbers of one frame, and what its samples were checked for.

        ``texture_residual`` is NaN where no pixel is texture, ``edge_overshoot`` 0 where
        ``band_pixels`` is. The planes are read without the GIL: nobody may write to them before
        this returns.
        """

@final
class FidelityKernel:
    """Compares frames of one format with frames of another. Immutable, and safe to share.

    :class:`screentest.errors.InputError` for sizes that differ, for native planes asked for of
    formats that have none in common, and for a window over a side below ``FIDELITY_TAPS``.
    """

    def __new__(
        cls,
        reference: FrameFormat,
        candidate: FrameFormat,
        *,
        rgb: bool = False,
        planes: bool = False,
        ssim: bool = False,
        ms_ssim: bool = False,
        ssim_y: bool = False,
        ms_ssim_y: bool = False,
        border: str = "valid",
        threads: int = 1,
        simd: str | None = None,
    ) -> FidelityKernel: ...
    def measure(
        self, reference: Sequence[_Plane], candidate: Sequence[_Plane]
    ) -> tuple[dict[str, float], _Scan, _Scan]:
        """The numbers asked for of one pair of frames, and what its samples were checked for.

        ``mse`` and ``mae`` over RGB in [0, 1]; ``mse_y``, ``mse_cb``, ``mse_cr`` relative to the
        largest code squared; ``ssim``, ``ms_ssim`` over luma, ``ssim_y``, ``ms_ssim_y`` over the
        codes of the first plane; ``..._scales`` and ``..._clipped`` of the multi-scale ones.
        The planes are read without the GIL: nobody may write to them before this returns.
        """

    def ssim_map(
        self, reference: Sequence[_Plane], candidate: Sequence[_Plane]
    ) -> NDArray[np.float32]:
        """SSIM of luma at each position of the window: (H-10, W-10), or (H, W) with "reflect"."""

    def error_map(
        self, reference: Sequence[_Plane], candidate: Sequence[_Plane]
    ) -> NDArray[np.float32]:
        """Mean absolute difference of red, green and blue, (H, W), white being 1."""

class _Series(TypedDict):
    index: NDArray[np.int64]
    luma_mean: _F64
    luma_std: _F64
    luma_min: _F64
    luma_max: _F64
    red: _F64
    green: _F64
    blue: _F64
    corr: _F64
    corr_aligned: _F64
    change: _F64

@final
class IntegrityAccumulator:
    """Facts of frames pushed one by one; keeps one small luma plane and a few numbers per frame.

    Safe to share between threads; pushes are serialised. ``simd`` forces a dispatch level, which
    changes no bit of any result. :class:`screentest.errors.InputError` for planes that do not fit
    the format, and if the system starts no ``threads``.
    """

    def __new__(
        cls, format: FrameFormat, *, threads: int = 1, simd: str | None = None
    ) -> IntegrityAccumulator: ...
    def push(
        self,
        index: int,
        planes: Sequence[_Plane],
        previous: Sequence[_Plane] | None = None,
        *,
        grid: bool = False,
        align: bool = False,
        change: bool = False,
    ) -> tuple[int, int]:
        """Measures frame ``index``; returns its counts of non-finite and out-of-range samples.

        ``previous`` holds the planes of frame ``index - 1``, which must be the last one pushed.
        ``grid`` keeps the frame's gradient profiles, ``align`` searches the best small shift if the
        pair correlates below 0.9, ``change`` measures the most changed place. Nothing is kept of a
        frame that is refused.

        The planes are read without the GIL: nobody may write to them before this returns. What is
        measured during a write is of no frame, but never leaves the planes.
        """

    def push_many(
        self,
        batch: Sequence[tuple[int, Sequence[_Plane], bool, bool, bool]],
        previous: Sequence[_Plane] | None = None,
    ) -> list[tuple[int, int]]:
        """Measures frames side by side: (index, planes, grid, align, change) of each, ascending.

        A frame is compared with the one before it in the batch where their indices follow each
        other, the first with ``previous``. The facts are those of pushing one by one.
        """

    def forget_grid(self, index: int) -> None:
        """Drops the gradient profiles of a frame, if it has any."""

    def grid(self, frames: Sequence[int]) -> tuple[_Line, _Line] | None:
        """The strongest line of all periods, and of those that fit their axis eight times."""

    def series(self) -> _Series:
        """One entry per frame pushed; NaN in the last three where nothing was measured."""

    @property
    def frames(self) -> int: ...
    @property
    def non_finite_samples(self) -> int: ...
    @property
    def out_of_range_samples(self) -> int: ...
    @property
    def value_extremes(self) -> tuple[float, float] | None: ...
    @property
    def first_non_finite(self) -> tuple[int, int, int] | None: ...
    @property
    def non_finite_runs(self) -> list[tuple[int, int]]: ...

class _Pairing(TypedDict):
    frames_reference: int
    frames_candidate: int
    lag: int
    lag_evidence: bool
    dropped: list[int]
    repeated: list[int]
    missing_at_end: int
    extra_at_end: int
    stretches: list[tuple[int, int]]

@final
class PairingAccumulator:
    """How the frames of two clips go together; keeps signatures of the last frames.

    Safe to share between threads; pushes are serialised. ``simd`` forces a dispatch level, which
    changes no bit of any result. :class:`screentest.errors.InputError` for clips of two sizes, for
    planes that do not fit their format, for a clip that falls more than ``PAIRING_REACH`` frames
    behind, and after :meth:`finish`.
    """

    def __new__(
        cls, reference: FrameFormat, candidate: FrameFormat, *, simd: str | None = None
    ) -> PairingAccumulator: ...
    def push(
        self, reference: Sequence[_Plane] | None = None, candidate: Sequence[_Plane] | None = None
    ) -> None:
        """Takes the next frame of each clip, or of one. The planes are read without the GIL."""

    def finish(self) -> _Pairing:
        """The facts of the frames pushed, once. ``stretches`` are (first candidate frame, offset)
        of each run of frames that go with the reference frames at one offset."""

def pairing_signature(
    format: FrameFormat, planes: Sequence[_Plane], *, simd: str | None = None
) -> NDArray[np.uint16]:
    """Mean luma of each block of a frame, (rows, columns), in steps of 1/16 of an 8-bit level.

    A block is ``max(4, ceil(longer side / 64))`` pixels square, smaller at the right and bottom
    edges. Of Y, Cb and Cr the first plane stands for luma; black is 0 and white 4080.
    """

class _SignalSeries(TypedDict):
    luma_mean: _F64
    luma_std: _F64
    motion: _F64
    acceleration: _F64
    laplacian_variance: _F64
    hf_ratio: _F64
    entropy: _F64
    saturation: _F64
    highpass: _F64
    shimmer: _F64
    cells: _F64

@final
class SignalAccumulator:
    """Statistics of every frame of a clip and of its change; 200 bytes per frame are kept.

    Safe to share between threads; pushes are serialised. ``features=False`` takes luma and its
    changes alone. ``simd`` forces a dispatch level, which changes no bit of any result.
    """

    def __new__(
        cls,
        format: FrameFormat,
        *,
        features: bool = True,
        threads: int = 1,
        simd: str | None = None,
    ) -> SignalAccumulator: ...
    def push_many(self, frames: Sequence[Sequence[_Plane]]) -> None:
        """Takes the next frames, each as its planes, in display order, without the GIL.

        :class:`screentest.errors.InputError` for planes that do not fit the format and, with
        ``code="non_finite"`` or ``"out_of_range"``, for a NaN, an infinity or a value outside its
        range; nothing is kept of any of the frames.
        """

    def series(self) -> _SignalSeries:
        """One number per frame by name, NaN where there is none; ``cells`` is ``(T, 4, 4)``."""

    @property
    def frames(self) -> int:
        """Frames taken."""

    @property
    def value_extremes(self) -> tuple[float, float] | None:
        """Smallest and largest finite sample; ``None`` where the samples were not read."""

TRACK_WINDOWS: Final[int]
"""Windows of a clip that tracks are followed in: 4."""
TRACK_WINDOW_LENGTH: Final[int]
"""Frames of a window: 24."""
TRACK_LEAST_TRACKS: Final[int]
"""Corners that a window needs to be tracked, and survivors that it needs to have a shape: 8."""

@final
class TrackAccumulator:
    """Follows the corners of a clip's windows through the frames pushed.

    :class:`screentest.errors.InputError` for fewer than 3 ``frames``. Frames outside all windows
    are passed over.
    """

    def __new__(
        cls,
        format: FrameFormat,
        *,
        frames: int,
        windows: int = ...,
        threads: int = 1,
        simd: str | None = None,
    ) -> TrackAccumulator: ...
    def push_many(self, batch: Sequence[tuple[int, Sequence[_Plane]]]) -> None:
        """Takes the next frames (display index, planes), in ascending order.

        Nothing is kept of any of the frames if one is refused; ``code="non_finite"`` and
        ``"out_of_range"`` are those of samples that mean nothing. The planes are read without the
        GIL: nobody may write to them before this returns.
        """

    @property
    def value_extremes(self) -> tuple[float, float] | None:
        """Smallest and largest sample; ``None`` where the samples were not read."""

    def finish(self, *, trajectories: bool = False) -> list[dict[str, Any]]:
        """Each window's facts by name; call it once, after the last frame."""

def grey8(
    format: FrameFormat, planes: Sequence[_Plane], *, simd: str | None = None
) -> NDArray[np.uint8]:
    """A frame in grey at the working size: area mean, rounded, weighted in integers."""

def track_corners(grey: NDArray[np.uint8], *, simd: str | None = None) -> NDArray[np.float32]:
    """Up to 400 corners (x, y) of a grey picture, strongest first, at least 8 px apart."""

def track_points(
    before: NDArray[np.uint8],
    after: NDArray[np.uint8],
    points: NDArray[np.float32],
    *,
    simd: str | None = None,
) -> NDArray[np.float32]:
    """Where points of one grey picture lie in another of its size; NaN where a point is lost."""

def window_starts(frames: int, windows: int, length: int) -> list[int]:
    """Starts of up to ``windows`` windows of ``length`` frames spread over ``frames``."""

def working_size(width: int, height: int) -> tuple[int, int]:
    """(width, height) of the picture that tracks and flow are measured in: 384 rows at most."""

class _Channel(TypedDict):
    rms_dbfs: float
    peak_dbfs: float
    true_peak_dbtp: float
    true_peak_at: int
    dc_offset: float
    clipped: int

class _Loudness(TypedDict):
    integrated: float | None
    ungated: float | None
    blocks: int
    momentary_max: float | None
    short_term_max: float | None
    range: float | None
    momentary: _F64
    short_term: _F64

class _Audio(TypedDict):
    samples: int
    non_finite: int
    first_non_finite: int | None
    rms_dbfs: float
    channels: list[_Channel]
    first_clip: int | None
    stereo: tuple[float, float, float] | None
    silence_blocks: int
    silent_blocks: int
    longest_silence: int
    longest_silence_from: int
    silence_edge_dbfs: tuple[float, float] | None
    block_samples: int
    spectral_flatness: float | None
    oversampling: int
    loudness: _Loudness | None
    tenth_samples: int
    tenth_rms_dbfs: _F64
    tenth_peak_dbfs: _F64

@final
class AudioMeter:
    """Levels, clipping, offset, stereo, silence, flatness, true peak and loudness of one sound. The
    sizes of the blocks, the threads and the instruction set change no bit."""

    def __new__(
        cls,
        channels: int,
        sample_rate: int,
        *,
        weights: Sequence[Literal["one", "surround", "zero"]] | None = None,
        front: tuple[int, int] | None = None,
        threads: int = 1,
        simd: str | None = None,
    ) -> AudioMeter:
        """``weights``: what each channel counts for in loudness, which is not measured without
        them. ``front``: the indices of left and right."""

    def push(self, block: NDArray[np.float32]) -> None:
        """Take the next samples ``(n, C)``, C-contiguous; any ``n``."""

    def finish(self) -> _Audio:
        """What was found; places are sample indices. ``stereo`` is the level of left and right, of
        half of their difference, and their correlation. ``channels`` is empty and what is optional
        ``None`` where a sample is NaN or infinite."""

@final
class LoudnessMeter:
    """Integrated loudness of a sound, and nothing else; ``weights`` as in :class:`AudioMeter`."""

    def __new__(
        cls, sample_rate: int, weights: Sequence[Literal["one", "surround", "zero"]]
    ) -> LoudnessMeter: ...
    def push(self, block: NDArray[np.float32]) -> None:
        """Take the next samples ``(n, C)``, C-contiguous; any ``n``."""

    def finish(self) -> float | None:
        """In LUFS; ``None`` where no block of 400 ms passes the gates."""

@final
class OnsetEnvelope:
    """Spectral flux of a sound's channel mean: Hann window of 1024 samples, frames
    ``max(1, round(0.005 * sample_rate))`` samples apart."""

    def __new__(cls, sample_rate: int, *, simd: str | None = None) -> OnsetEnvelope: ...
    def push(self, block: NDArray[np.float32]) -> None:
        """Take the next samples ``(n, C)``, C-contiguous; any ``n``."""

    def finish(self) -> tuple[_F64, _F64]:
        """For each frame but the first the time of its middle in seconds from the first sample, and
        the sum over the frequencies of what their magnitudes gained since the frame before."""

@final
class Spectrogram:
    """Mean power spectra of a sound's channel mean, of stretches of so many frames of 1024 samples
    that begin 512 apart."""

    def __new__(cls, frames_per_column: int, *, simd: str | None = None) -> Spectrogram: ...
    def push(self, block: NDArray[np.float32]) -> None:
        """Take the next samples ``(n, C)``, C-contiguous; any ``n``."""

    def finish(self) -> _F64:
        """``(columns, 513)``: mean power from 0 to half the sample rate; a sine of amplitude 1 has
        a power of 1 where it is strongest. A sound shorter than a frame is one column, an empty one
        none."""

@final
class LagSearch:
    """Search for the lag, up to 50 ms to either side, at which two sounds correlate most strongly,
    upright or inverted. Its memory grows with the rate, not with the length."""

    def __new__(
        cls, sample_rate: int, *, threads: int = 1, simd: str | None = None
    ) -> LagSearch: ...
    def push(self, reference: NDArray[np.float32], candidate: NDArray[np.float32]) -> None:
        """Take the next samples of both, ``(n, C)`` each and C-contiguous; what one has more than
        the other is left out."""

    def finish(self) -> tuple[int, float, int] | None:
        """(samples by which the candidate is late, correlation, the largest lag that was looked
        at); ``None`` where one of the sounds does not change. At least 10 ms overlap, so sounds of
        less than 60 ms are looked at to a smaller lag, and those of 10 ms at none."""

@final
class AudioPair:
    """Sums of what is compared of two sounds, second by second."""

    def __new__(
        cls,
        channels: tuple[int, int],
        sample_rate: int,
        *,
        lag: int = 0,
        by_channel: bool = False,
        threads: int = 1,
        simd: str | None = None,
    ) -> AudioPair: ...
    def push(
        self, reference: NDArray[np.float32] | None, candidate: NDArray[np.float32] | None
    ) -> None:
        """Take the next samples ``(n, C)`` of either or of both. What one is ahead of the other is
        kept until the other has come as far."""

    def finish(self) -> _F64:
        """``(tracks, seconds, 10)``. The first track is the mean of the channels, the others
        are the channels. The columns: samples; sums of the reference, the candidate, their squares,
        their products, the squares of their differences; frames; over frames and 513 frequencies
        the sum of squared level differences (dB^2); over frames and 64 mel bands that of the
        differences of the logarithms."""

"""The fidelity metrics as functions of two images or clips in memory or on disk."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import zip_longest
from typing import Any

from screentest import compute
from screentest.errors import MediaError, ProtocolError
from screentest.media import open_clip
from screentest.media.clip import Clip
from screentest.metrics.facts import Score
from screentest.metrics.fidelity.accumulator import Border, FidelityAccumulator, FidelityFacts

__all__ = ["fidelity", "mae", "ms_ssim", "mse", "psnr", "ssim"]


def psnr(reference: Any, candidate: Any, **options: Any) -> Score:
    """Peak signal-to-noise ratio over R, G and B, in dB; higher is closer.

    ``value`` is the mean of the frames' PSNR over the frames that differ, ``worst`` the lowest of
    them; :func:`fidelity` gives the PSNR of the pooled error besides. The peak is white: 255 of
    uint8, 2^bits - 1 of uint16, the upper end of ``value_range`` of floats. There is no cap.

    Args:
        reference: an image ``(H, W, 3)`` or ``(H, W)``, a clip ``(T, H, W, 3)`` or ``(T, H, W)``,
            or anything that :func:`screentest.media.open_clip` opens.
        candidate: the same of equal size and length.
        **options: of :func:`~screentest.media.open_clip` (``layout``, ``value_range``,
            ``bit_depth``, ``alpha``...), and ``threads``. One range is stated for both.

    Returns:
        The score. Identical input has state ``"identical"`` and no value: its PSNR is infinite.
        Flat and silent frames are frames like others.

    Raises:
        ProtocolError: sizes or lengths differ.
        MediaError: unreadable, in part or whole, or a sample that is NaN, infinite or out of range.

    Source: ITU-T J.340 / ISO/IEC 29170-1 (definition); equals ``10 log10(1 / mean((a - b)^2))``.

    >>> import numpy as np
    >>> image = np.full((16, 16, 3), 100, np.uint8)
    >>> round(psnr(image, image + 5).value, 4)   # 20 log10(255 / 5)
    34.1514
    >>> psnr(image, image).state
    'identical'
    """
    return _one("psnr", reference, candidate, options)


def mse(reference: Any, candidate: Any, **options: Any) -> Score:
    """Mean squared error over R, G and B, white being 1; lower is closer, 0 is identical.

    Arguments, errors and special input as :func:`psnr`.

    >>> import numpy as np
    >>> mse(np.zeros((8, 8, 3), np.uint8), np.full((8, 8, 3), 51, np.uint8)).value   # (51 / 255)^2
    0.04
    """
    return _one("mse", reference, candidate, options)


def mae(reference: Any, candidate: Any, **options: Any) -> Score:
    """Mean absolute error over R, G and B, white being 1; lower is closer, 0 is identical.

    Arguments, errors and special input as :func:`psnr`.

    >>> import numpy as np
    >>> mae(np.zeros((8, 8, 3), np.uint8), np.full((8, 8, 3), 51, np.uint8)).value
    0.2
    """
    return _one("mae", reference, candidate, options)


def ssim(reference: Any, candidate: Any, *, border: Border = "valid", **options: Any) -> Score:
    """Structural similarity of luma, in [-1, 1]; higher is closer, 1 is identical.

    Gaussian window of 11x11 and sigma 1.5, K1 = 0.01, K2 = 0.03, population covariance, in double
    precision, on 0.299 R + 0.587 G + 0.114 B of the picture in [0, 1]. Mean over positions, then
    over frames.

    Args:
        reference: as in :func:`psnr`.
        candidate: as in :func:`psnr`.
        border: ``"valid"`` averages the positions whose window lies in the picture; equal to
            scikit-image's ``gaussian_weights=True, sigma=1.5, use_sample_covariance=False``.
            ``"reflect"`` averages all positions of a picture mirrored about its edge samples; equal
            to torchmetrics. Its ``impl`` says so.
        **options: as in :func:`psnr`.

    Returns:
        The score. Identical frames, flat ones among them, read exactly 1; two flat frames of
        different brightness read the luminance term alone; anti-correlated frames are negative.
        Unmeasured, with the reason, where a side has fewer than 11 pixels.

    Raises:
        ProtocolError, MediaError: as :func:`psnr`.

    Source: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility to
    structural similarity", IEEE TIP 13(4), 2004.

    >>> import numpy as np
    >>> black, white = np.zeros((16, 16), np.uint8), np.full((16, 16), 255, np.uint8)
    >>> round(ssim(black, white, layout="HW").value, 9)   # C1 / (1 + C1) with C1 = 1e-4
    9.999e-05
    """
    return _one("ssim", reference, candidate, options, border)


def ms_ssim(reference: Any, candidate: Any, **options: Any) -> Score:
    """Multi-scale structural similarity of luma, in [0, 1]; higher is closer, 1 is identical.

    Five scales, each half the size of the one before by the mean of 2x2 (an odd last row or column
    is dropped), weights 0.0448, 0.2856, 0.3001, 0.2363, 0.1333: contrast and structure at all but
    the last, SSIM at the last. ``details["scales"]`` says how many were done: a side below 176
    pixels leaves fewer; their weights are renormalised and the last one done carries the luminance.
    A scale whose structure is opposite counts as 1e-12 in the product, and is counted in
    ``details["clipped_scales"]``.

    Arguments, errors and special input as :func:`ssim`, without ``border``.

    Source: Wang, Simoncelli, Bovik, "Multiscale structural similarity for image quality
    assessment", Asilomar 2003.

    >>> import numpy as np
    >>> ramp = np.tile(np.arange(192, dtype=np.uint8), (192, 1))
    >>> ms_ssim(ramp, ramp, layout="HW").value
    1.0
    """
    return _one("ms_ssim", reference, candidate, options)


def fidelity(
    reference: Any,
    candidate: Any,
    metrics: tuple[str, ...] = ("psnr", "ssim", "ms_ssim"),
    *,
    border: Border = "valid",
    threads: int | None = None,
    **options: Any,
) -> FidelityFacts:
    """Several fidelity metrics of two clips in one pass, frame by frame.

    Clips are paired frame by frame and must be equally long: this is the arithmetic alone. Whether
    the pair is aligned at all, :func:`screentest.compare` finds out.
    """
    budget = compute.threads(threads)
    with ExitStack() as stack:
        clips = [_opened(source, budget, options, stack) for source in (reference, candidate)]
        a, b = (clip.info for clip in clips)
        if (a.width, a.height) != (b.width, b.height):
            raise ProtocolError(
                f"the reference is {a.width}x{a.height}, the candidate {b.width}x{b.height}: "
                "expected one size; nothing is resized",
                code="size_mismatch",
            )
        if a.frames != b.frames:
            raise ProtocolError(
                f"the reference has {a.frames} frames, the candidate {b.frames}: expected the same "
                "number; screentest.compare says how they align",
                code="length_mismatch",
                reference=a.frames,
                candidate=b.frames,
            )
        pairs = FidelityAccumulator(
            clips[0].format, clips[1].format, metrics, border=border, threads=budget
        )
        for left, right in zip_longest(clips[0].frames(), clips[1].frames()):
            if left is None or right is None or left.index != right.index:
                lost = min(frame.index for frame in (left, right) if frame is not None)
                raise MediaError(
                    f"frame {lost} of one clip could not be decoded", code="missing_frames"
                )
            pairs.push(left, right)
        return pairs.finish()


def _opened(source: Any, threads: int, options: dict[str, Any], stack: ExitStack) -> Clip:
    if isinstance(source, Clip):
        return source
    return stack.enter_context(open_clip(source, threads=threads, **options))


def _one(
    name: str,
    reference: Any,
    candidate: Any,
    options: dict[str, Any],
    border: Border = "valid",
) -> Score:
    facts = fidelity(reference, candidate, (name,), border=border, **options)
    return facts.scores[0]

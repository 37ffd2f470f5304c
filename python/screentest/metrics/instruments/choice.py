"""Which of the instruments that were asked for can run on this pair, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from screentest import compute
from screentest.errors import InputError
from screentest.media.info import ClipInfo
from screentest.metrics.facts import Score
from screentest.metrics.ffmpeg import Ffmpeg, find
from screentest.metrics.instruments.feeds import plan_feed
from screentest.metrics.instruments.instrument import Instrument, unmeasured
from screentest.metrics.instruments.learned import create_learned
from screentest.metrics.instruments.names import REQUESTS
from screentest.metrics.instruments.vmaf import VMAF_MODELS, FfmpegInstrument

if TYPE_CHECKING:
    from screentest._native import FrameFormat

__all__ = ["create"]

_INTERLACED = {"tt", "bb", "tb", "bt"}
_XPSNR = REQUESTS["xpsnr"]
# With less, libvmaf (of 2026) reads outside its filters and crashes.
_VMAF_LEAST_SIDE = 17


def create(
    names: Sequence[str],
    reference: ClipInfo,
    reference_format: FrameFormat,
    candidate: ClipInfo,
    candidate_format: FrameFormat,
    *,
    threads: int | None = None,
    device: str = "cpu",
) -> tuple[list[Instrument], list[Score]]:
    """The instruments for these request names, and an unmeasured score for each score name that
    none of them gives.

    Args:
        names: keys of :data:`~screentest.metrics.instruments.names.INSTRUMENT_NAMES`.
        reference, candidate: facts of the two clips; their sizes must be equal.
        reference_format, candidate_format: how the planes of their frames are read.
        threads: threads of the instruments, ``None`` for the compute budget's default.
        device: torch's name of the device for the learned metrics and ColorVideoVDP.

    Each instrument must be closed, also after an error.

    Raises:
        InputError: a name is not known, the sizes differ, or ``device`` is no device's name.
    """
    unknown = [name for name in names if name not in REQUESTS]
    if unknown:
        raise InputError(
            f"no instrument is called {unknown[0]!r}; expected {', '.join(REQUESTS)}",
            code="unknown_metric",
            metric=unknown[0],
        )
    sizes = [(format.width, format.height) for format in (reference_format, candidate_format)]
    if sizes[0] != sizes[1]:
        raise InputError(
            f"the clips' sizes differ: {sizes[0]} and {sizes[1]}", code="size_mismatch"
        )
    wanted = [score for name in dict.fromkeys(names) for score in REQUESTS[name]]
    threads = compute.threads(threads)
    refused = _outside(wanted, reference, candidate)
    instruments: list[Instrument] = []
    try:
        for made, reasons in (
            _by_ffmpeg(
                [name for name in wanted if name not in refused],
                (reference, candidate),
                (reference_format, candidate_format),
                threads,
            ),
            create_learned(
                [name for name in wanted if name not in refused],
                (reference, candidate),
                (reference_format, candidate_format),
                threads=threads,
                device=device,
            ),
        ):
            instruments += made
            refused |= reasons
    except BaseException:
        for instrument in instruments:
            instrument.close()
        raise
    return instruments, [unmeasured(name, refused[name]) for name in wanted if name in refused]


def _outside(names: Sequence[str], *clips: ClipInfo) -> dict[str, str]:
    """Score names that have no meaning for this material, and why."""
    refused: dict[str, str] = {}
    hdr = next((clip.hdr for clip in clips if clip.hdr), None)
    interlaced = any(clip.field_order in _INTERLACED for clip in clips)
    for name in names:
        by_eye = name in VMAF_MODELS or name in _XPSNR or name == "cvvdp"
        if hdr is not None:
            refused[name] = f"the clip is HDR ({hdr}), and {name} is defined for SDR material"
        elif interlaced and by_eye:
            refused[name] = f"the clip is interlaced, and {name} reads progressive frames"
    return refused


def _by_ffmpeg(
    names: Sequence[str],
    clips: tuple[ClipInfo, ClipInfo],
    formats: tuple[FrameFormat, FrameFormat],
    threads: int,
) -> tuple[list[Instrument], dict[str, str]]:
    """VMAF and XPSNR: one run of each program that has a filter for them."""
    refused: dict[str, str] = {}
    ours = [name for name in names if name in VMAF_MODELS or name in _XPSNR]
    if not ours:
        return [], {}
    feed = plan_feed(*formats)
    if isinstance(feed, str):
        return [], dict.fromkeys(ours, feed)
    rate = clips[0].frame_rate or clips[1].frame_rate
    by_program: dict[Ffmpeg, list[str]] = {}
    side = min(feed.width, feed.height)
    for name in ours:
        if name in VMAF_MODELS and side < _VMAF_LEAST_SIDE:
            refused[name] = f"pictures of {side} pixels: VMAF needs {_VMAF_LEAST_SIDE}"
        elif name in _XPSNR and rate is None and any(clip.frames != 1 for clip in clips):
            refused[name] = (
                "XPSNR weighs motion by the frame rate, and none is known: say frame_rate="
            )
        elif name in _XPSNR and feed.no_xpsnr is not None:
            refused[name] = feed.no_xpsnr
        elif name in _XPSNR[1:] and feed.no_chroma is not None:
            refused[name] = feed.no_chroma
        else:
            found = find("libvmaf" if name in VMAF_MODELS else "xpsnr")
            if isinstance(found, str):
                refused[name] = found
            else:
                by_program.setdefault(found, []).append(name)
    made: list[Instrument] = []
    try:
        for program, scores in by_program.items():
            made.append(
                FfmpegInstrument(scores, program, feed, *formats, frame_rate=rate, threads=threads)
            )
    except BaseException:
        for instrument in made:
            instrument.close()
        raise
    return made, refused

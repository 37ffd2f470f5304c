"""VMAF and XPSNR, by the filters of an ffmpeg that has them.

VMAF (Li, Aaron, Katsavounidis, Moorthy and Manohara, "Toward A Practical Perceptual Video Quality
Metric", 2016) is 0 to 100, higher is better; an identical pair need not reach 100. ``vmaf`` is
model v0.6.1 (1080p seen from three picture heights), ``vmaf_neg`` v0.6.1neg (no gain from
sharpening), ``vmaf_phone`` v0.6.1 with its phone transform. ``value`` is the arithmetic mean over
the frames; ``details`` holds the harmonic mean, of (score + 1), and the minimum.

XPSNR (Helmrich, Bosse, Siekmann, Schwarz, Marpe and Wiegand, "XPSNR: A Low-Complexity Extension of
the Perceptually Weighted Peak Signal-to-Noise Ratio", ICASSP 2020) is in dB, higher is better,
infinite for equal planes. ``value`` is the filter's own figure for the clip.

Frames are paired by index: both clips go to one ffmpeg as raw video of one rate, so times and
containers have no part in it. No path enters a filter's description. Full-range samples are
measured as stored, as limited-range ones are; ``details`` says which they were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.metrics.facts import Score
from screentest.metrics.ffmpeg import Ffmpeg
from screentest.metrics.instruments.feeds import Feed
from screentest.metrics.instruments.instrument import CLOSED, NO_PAIR, measured, unmeasured
from screentest.metrics.instruments.logs import LogError, read_vmaf, read_xpsnr
from screentest.metrics.instruments.piped import Piped, PipedError
from screentest.metrics.instruments.samples import Sameness, codes, same_coding

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame

__all__ = ["VMAF_MODELS", "FfmpegInstrument"]

# Score name -> (model, the option that follows it in the filter's list of models).
VMAF_MODELS = {
    "vmaf": ("vmaf_v0.6.1", ""),
    "vmaf_neg": ("vmaf_v0.6.1neg", ""),
    "vmaf_phone": ("vmaf_v0.6.1", "\\:enable_transform=true"),
}
_XPSNR = {"xpsnr_y": "y", "xpsnr_cb": "u", "xpsnr_cr": "v"}
_VMAF_LOG = "vmaf.json"
_XPSNR_LOG = "xpsnr.log"


class FfmpegInstrument:
    """Every VMAF model and XPSNR that were asked for, in one run of ffmpeg.

    Args:
        names: score names, keys of ``VMAF_MODELS`` or ``xpsnr_y``, ``xpsnr_cb``, ``xpsnr_cr``.
        frame_rate: of both clips, frames per second; XPSNR weighs motion by it, VMAF does not.
        threads: threads of libvmaf and of ffmpeg's filters.
    """

    def __init__(
        self,
        names: Sequence[str],
        ffmpeg: Ffmpeg,
        feed: Feed,
        reference: FrameFormat,
        candidate: FrameFormat,
        *,
        frame_rate: float | None,
        threads: int,
    ) -> None:
        self.names = tuple(names)
        self._ffmpeg = ffmpeg
        self._feed = feed
        self._formats = (reference, candidate)
        self._rate = Fraction(frame_rate or 25.0).limit_denominator(1001)
        self._same = Sameness(same_coding(reference, candidate, colour=False))
        self._indices: list[int] = []
        self._failure: str | None = None
        self._piped: Piped | None = None
        try:
            self._piped = Piped(lambda first, second: self._command(first, second, threads))
        except OSError as error:
            self._failure = f"ffmpeg did not start: {error.strerror}"

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Takes one pair; after a failure it does nothing."""
        if self._failure is not None or self._piped is None:
            return
        first, second = (
            codes(frame, format)
            for frame, format in zip((reference, candidate), self._formats, strict=True)
        )
        self._same.push(first, second)
        self._indices.append(candidate.index)
        ranges = [format.value_range for format in self._formats]
        try:
            # The filters' first input is the distorted clip.
            self._piped.feed(
                self._feed.source(second, ranges[1]), self._feed.source(first, ranges[0])
            )
        except PipedError as error:
            self._fail(error)

    def finish(self) -> tuple[list[Score], dict[str, np.ndarray[Any, Any]]]:
        """The scores in the order of ``names``, and the value of each frame."""
        series: dict[str, np.ndarray[Any, Any]] = {}
        if self._failure is None:
            if self._piped is None:
                self._failure = CLOSED
            elif not self._indices:
                self._failure = NO_PAIR
            else:
                try:
                    self._piped.finish()
                except PipedError as error:
                    self._fail(error)
        if self._failure is not None:
            self.close()
            return [unmeasured(name, self._failure) for name in self.names], series
        scores = []
        for name in self.names:
            try:
                score, series[name] = self._vmaf(name) if name in VMAF_MODELS else self._xpsnr(name)
            except LogError as error:
                score = unmeasured(name, f"ffmpeg's log {error}")
            scores.append(score)
        self.close()
        return scores, series

    def close(self) -> None:
        """Kills ffmpeg if it still runs and removes its folder."""
        if self._piped is not None:
            self._piped.close()
            self._piped = None

    def _fail(self, error: PipedError) -> None:
        self._failure = f"ffmpeg failed: {error}"
        self.close()

    def _command(self, first: int, second: int, threads: int) -> list[str]:
        feed = self._feed
        raw = ["-f", "rawvideo", "-pixel_format", feed.pixel_format, "-video_size",
               f"{feed.width}x{feed.height}", "-framerate", str(self._rate)]  # fmt: skip
        command = [self._ffmpeg.path, "-hide_banner", "-nostdin", "-loglevel", "error", "-y"]
        # Nothing is converted that the graph does not say.
        command += ["-noauto_conversion_filters"]
        command += ["-filter_threads", str(threads), "-filter_complex_threads", str(threads)]
        command += [*raw, "-i", f"pipe:{first}", *raw, "-i", f"pipe:{second}"]
        return [
            *command,
            "-filter_complex",
            self._graph(threads),
            "-map",
            "[out]",
            "-f",
            "null",
            "-",
        ]

    def _graph(self, threads: int) -> str:
        models = [
            f"version={VMAF_MODELS[name][0]}\\:name={name}{VMAF_MODELS[name][1]}"
            for name in self.names
            if name in VMAF_MODELS
        ]
        filters = []
        if models:
            listed = "|".join(models)
            filters.append(
                f"libvmaf=model='{listed}':log_fmt=json:log_path={_VMAF_LOG}:n_threads={threads}"
            )
        if any(name in _XPSNR for name in self.names):
            filters.append(f"xpsnr=stats_file={_XPSNR_LOG}")
        prepare = self._feed.prepare or "null"
        count = len(filters)
        outputs = [f"[{side}{i}]" for side in "dr" for i in range(count)]
        chains = [
            f"[{number}:v]{prepare},split={count}{''.join(outputs[number * count :][:count])}"
            for number in range(2)
        ]
        for i, text in enumerate(filters):
            # One output is enough to pull every frame; the other branch ends in a sink of its own.
            end = "[out]" if i == 0 else ",nullsink"
            chains.append(f"[d{i}][r{i}]{text}{end}")
        return ";".join(chains)

    def _details(self) -> dict[str, Any]:
        sides = zip(("reference", "candidate"), self._formats, strict=True)
        ranges = {side: "limited" if format.limited else "full" for side, format in sides}
        return {
            "ffmpeg": self._ffmpeg.version,
            "input": self._feed.note,
            "bits": self._feed.bits,
            "range": ranges,
        }

    def _vmaf(self, name: str) -> tuple[Score, np.ndarray[Any, Any]]:
        assert self._piped is not None
        log = read_vmaf(self._piped.folder / _VMAF_LOG, name, len(self._indices))
        model, transform = VMAF_MODELS[name]
        worst = int(np.argmin(log.values))
        score = measured(
            name,
            log.mean,
            state="identical" if self._same.identical else "measured",
            impl_suffix=f"+libvmaf-{log.version}",
            frames=len(self._indices),
            worst=float(log.values[worst]),
            worst_frame=self._indices[worst],
            identical_frames=self._same.identical_frames,
            details={
                "model": model,
                "phone_transform": bool(transform),
                "libvmaf": log.version,
                **self._details(),
                "pooling": "arithmetic mean",
                "harmonic_mean": log.harmonic_mean,
                "min": log.minimum,
            },
        )
        return score, log.values

    def _xpsnr(self, name: str) -> tuple[Score, np.ndarray[Any, Any]]:
        assert self._piped is not None
        channel = list(_XPSNR).index(name)
        values, clip = read_xpsnr(self._piped.folder / _XPSNR_LOG, _XPSNR[name], len(self._indices))
        # A conversion by ffmpeg mixes the channels: only whole frames are known to be equal then.
        rgb = self._feed.kind == "rgb"
        equal = self._same.identical_frames if rgb else self._same.channel(channel)
        finite = np.flatnonzero(np.isfinite(values))
        worst = int(finite[np.argmin(values[finite])]) if len(finite) else None
        identical = equal == len(values)
        if math.isinf(clip) and not identical:
            raise LogError("gives an infinite XPSNR to frames that differ")
        score = measured(
            name,
            None if math.isinf(clip) else clip,
            state="identical" if identical else "measured",
            impl_suffix=f"+ffmpeg-{self._ffmpeg.version}",
            frames=len(values),
            worst=None if worst is None else float(values[worst]),
            worst_frame=None if worst is None else self._indices[worst],
            identical_frames=equal,
            details={
                **self._details(),
                "frame_rate": str(self._rate),
                "pooling": "the filter's figure for the clip",
            },
        )
        return score, values

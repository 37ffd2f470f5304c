"""The metrics of one comparison: each pair of frames goes to all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import msgspec

from screentest.errors import MediaError
from screentest.media.clip import Clip, Frame
from screentest.media.info import ClipInfo
from screentest.metrics.facts import Score
from screentest.metrics.fidelity import (
    FIDELITY,
    Border,
    FidelityAccumulator,
    FidelityFacts,
    MeasuredPair,
)
from screentest.metrics.paired.requests import KINDS, Setting, asks, kind_of

if TYPE_CHECKING:
    from screentest.metrics.instruments import Instrument

__all__ = ["Run"]


class Run:
    """The metrics of one comparison. ``pairs`` is how many pairs of frames will be pushed, ``None``
    where that is not known."""

    def __init__(
        self,
        reference: Clip,
        candidate: Clip,
        metrics: Sequence[str],
        *,
        pairs: int | None,
        border: Border,
        threads: int,
        device: str,
    ) -> None:
        infos = (reference.info, candidate.info)
        self._metrics = metrics
        self._domain = "+".join(sorted({info.luma_domain for info in infos}))
        self._refused = {
            name: reason
            for name in metrics
            if (reason := _not_comparable(name, *infos)) is not None
        }
        allowed = [name for name in metrics if name not in self._refused]
        asked = [name for name in allowed if name in FIDELITY]
        # Frames side by side rather than the parts of a frame: nobody waits for a part while the
        # decoders have the CPUs. A single image has its parts alone.
        frames = min(reference.info.frames or 1, candidate.info.frames or 1)
        # What needs no window is done sooner than it is handed over.
        windowed = any("ssim" in name for name in asked)
        self._workers = min(threads, frames) if windowed else 1
        self._pairs = FidelityAccumulator(
            reference.format,
            candidate.format,
            asked,
            border=border,
            threads=threads if frames == 1 else 1,
        )
        self._pool = ThreadPoolExecutor(self._workers, "screentest-compare")
        self._ahead: deque[Future[MeasuredPair]] = deque()
        self._instruments: list[Instrument] = []
        self._missing: list[Score] = []
        formats = (reference.format, candidate.format)
        setting = Setting(infos, formats, pairs, threads, device)
        try:
            for kind in KINDS:
                others = [name for name in allowed if name in kind.says]
                if kind.create is not None and others:
                    made, missing = kind.create(others, setting)
                    self._instruments += made
                    self._missing += missing
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for instrument in self._instruments:
            instrument.close()

    def push(self, reference: Frame, candidate: Frame) -> None:
        if self._workers > 1:
            self._ahead.append(self._pool.submit(self._pairs.measure, reference, candidate))
            if len(self._ahead) > self._workers:
                self._pairs.add(self._ahead.popleft().result())
        else:
            self._pairs.push(reference, candidate)
        for instrument in self._instruments:
            instrument.push(reference, candidate)

    def finish(self) -> FidelityFacts:
        while self._ahead:
            self._pairs.add(self._ahead.popleft().result())
        if not self._pairs.pairs:
            raise MediaError("no frame of one clip goes with one of the other", code="no_pairs")
        facts = self._pairs.finish()
        scores = list(facts.scores) + self._missing
        scores += [kind_of(name).unmeasured(name, why) for name, why in self._refused.items()]
        series = dict(facts.series)
        for instrument in self._instruments:
            found, values = instrument.finish()
            scores += found
            series.update(values)
        scores.sort(key=lambda score: self._metrics.index(self._request(score)))
        return FidelityFacts(
            tuple(self._with_domain(score) for score in scores), facts.frames, series
        )

    def _request(self, score: Score) -> str:
        """The first of the names asked for that gives this score."""
        return next(name for name in self._metrics if asks(name, score.name))

    def _with_domain(self, score: Score) -> Score:
        """What is read of decoder planes and of RGB arrays agrees only within a tolerance."""
        name = self._request(score)
        if score.state == "unmeasured" or not kind_of(name).sees(name):
            return score
        return msgspec.structs.replace(score, details={"from": self._domain, **score.details})


def _not_comparable(name: str, reference: ClipInfo, candidate: ClipInfo) -> str | None:
    """Why the pictures of two clips have no common scale for an RGB or luma metric."""
    if not kind_of(name).sees(name):
        return None
    hdr = {clip.hdr for clip in (reference, candidate)}
    if hdr - {None}:
        kinds = " and ".join(sorted(str(kind).upper() for kind in hdr if kind))
        return f"{kinds} picture: {name} is defined on SDR; the native plane metrics compare codes"
    alpha = {clip.alpha for clip in (reference, candidate)}
    if "transparent" in alpha:
        return "partly transparent: what is seen depends on what lies behind; say alpha= to choose"
    return None

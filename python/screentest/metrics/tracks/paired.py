"""``track_stability_ratio``: the stability of a candidate over that of its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from screentest.errors import MediaError
from screentest.metrics.facts import Score
from screentest.metrics.identity import score
from screentest.metrics.tracks.accumulator import TrackAccumulator
from screentest.metrics.tracks.facts import TrackFacts, track_ratio
from screentest.metrics.tracks.names import RATIO

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.clip import Frame
    from screentest.media.info import ClipInfo

__all__ = ["PairedTracks"]


class PairedTracks:
    """The ratio of two clips that are pushed pair by pair; an instrument of the comparison.

    Each clip has its own windows, over its own length: the two need not show the same take. A
    window is left out where one of its frames has no partner; a frame with several counts once.

    Args:
        infos: of the reference and the candidate.
        formats: how their planes are read.
        threads: threads of the kernels; they change no bit of the score.
    """

    names = (RATIO,)

    def __init__(
        self,
        infos: tuple[ClipInfo, ClipInfo],
        formats: tuple[FrameFormat, FrameFormat],
        *,
        threads: int = 1,
    ) -> None:
        self._infos = infos
        self._reason: str | None = None
        self._sides: list[TrackAccumulator] = []
        self._taken = [-1, -1]
        try:
            self._sides = [
                TrackAccumulator(format, frames=info.frames, threads=threads)
                for format, info in zip(formats, infos, strict=True)
            ]
        except MediaError as error:
            self._reason = error.message

    def push(self, reference: Frame, candidate: Frame) -> None:
        """Takes one pair of frames."""
        if self._reason is not None:
            return
        try:
            for at, frame in enumerate((reference, candidate)):
                # Of clips of two rates one frame goes with several; it is there once.
                if frame.index > self._taken[at]:
                    self._sides[at].push(frame)
                    self._taken[at] = frame.index
        except MediaError as error:
            self._reason = error.message

    def finish(self) -> tuple[list[Score], dict[str, NDArray[Any]]]:
        """The score; it has no value of a single pair of frames."""
        return [self._score()], {}

    def close(self) -> None:
        """Nothing is held."""

    def _score(self) -> Score:
        if self._reason is None:
            try:
                reference, candidate = (
                    side.finish(info) for side, info in zip(self._sides, self._infos, strict=True)
                )
            except MediaError as error:
                self._reason = error.message
            else:
                return _ratio(candidate, reference)
        return score(RATIO, None, reason=self._reason)


def _ratio(candidate: TrackFacts, reference: TrackFacts) -> Score:
    details = {
        "track_stability_reference": reference.track_stability,
        "track_stability_candidate": candidate.track_stability,
        "track_survival_reference": reference.track_survival,
        "track_survival_candidate": candidate.track_survival,
        # A clip that stands still holds its shape perfectly: its ratio says nothing.
        "motion_magnitude_reference": reference.motion_magnitude,
        "motion_magnitude_candidate": candidate.motion_magnitude,
    }
    ratio = track_ratio(candidate, reference)
    if ratio is not None:
        return score(RATIO, ratio, frames=candidate.frames_read, details=details)
    for whose, facts in (("reference", reference), ("candidate", candidate)):
        gap = next((g for g in facts.unmeasured if g.axis == "track_stability"), None)
        if gap is not None:
            return score(RATIO, None, reason=f"the {whose}: {gap.reason}", details=details)
    reason = "no track of the reference holds its shape, so there is no ratio to it"
    return score(RATIO, None, reason=reason, details=details)

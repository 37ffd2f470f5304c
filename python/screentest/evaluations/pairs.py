"""The comparison of one prediction with its ground truth; what stands in its way is a skip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from screentest.errors import MediaError, ScreentestError
from screentest.evaluations.action_error import action_mse
from screentest.evaluations.action_files import Actions, as_actions, read_actions
from screentest.evaluations.records import Skip
from screentest.evaluations.sample_file import Statement, cut
from screentest.evaluations.scorer import Scorer
from screentest.media import open_clip
from screentest.media.window import WindowClip
from screentest.metrics.facts import Score
from screentest.reports.canonical import printable
from screentest.reports.screening import describe_error
from screentest.verdicts.pairing import RATE_TOLERANCE

if TYPE_CHECKING:
    from screentest.media.clip import Clip
    from screentest.metrics.paired import PairFacts

__all__ = ["PairResult", "compare_actions", "compare_videos"]

# A record names this many frames; the rest are counted.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class PairResult:
    """Scores, or a skip. ``retry``: the same files may well be read another time."""

    scores: tuple[Score, ...] = ()
    skips: tuple[Skip, ...] = ()
    frames: dict[str, int] | None = None
    trim: dict[str, int] | None = None
    window: tuple[int, int, int, int] | None = None
    pairing: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    retry: bool = False


def compare_videos(
    ground_truth: Path,
    prediction: Any,
    statement: Statement,
    metrics: Sequence[str],
    scorer: Scorer,
    *,
    threads: int,
    options: Mapping[str, Any],
) -> PairResult:
    """Frame i of the prediction against frame i of the ground truth, up to the shorter's end.

    The ground truth is cut as the sample states. Nothing is ever resized.
    """
    try:
        if isinstance(prediction, Path) and prediction.is_dir():
            raise MediaError(
                f"{prediction}: a folder, and a video file was expected",
                code="prediction_is_a_folder",
            )
        if prediction is None:
            raise MediaError("there is no predicted video", code="no_prediction")
        if not ground_truth.exists():
            raise MediaError(
                f"no ground truth for this key: looked for {ground_truth}", code="no_ground_truth"
            )
        with ExitStack() as opened:
            # Two decoders run at once.
            each = max(1, threads // 2)
            reference: Clip = opened.enter_context(open_clip(ground_truth, threads=each))
            candidate = opened.enter_context(open_clip(prediction, threads=each, **options))
            window = cut(statement, reference.info.width, reference.info.height)
            if window is not None:
                reference = WindowClip(reference, window)
            facts = scorer.measure(reference, candidate, metrics, threads)
            return _described(facts, window)
    except (ScreentestError, OSError) as error:
        return _skipped(error, metrics)


def compare_actions(
    ground_truth: Path, prediction: Any, statement: Statement, name: str
) -> PairResult:
    """Predicted against raw ground-truth actions."""
    try:
        if prediction is None or (isinstance(prediction, Path) and not prediction.exists()):
            where = "" if prediction is None else f": looked for {prediction}"
            raise MediaError(f"there are no predicted actions{where}", code="no_prediction")
        if not ground_truth.exists():
            raise MediaError(
                f"no ground truth for this key: looked for {ground_truth}", code="no_ground_truth"
            )
        predicted = _actions(prediction)
        true = read_actions(ground_truth)
        mask = true.mask
        if mask is None and statement.mask is not None:
            mask = as_actions([[0]], statement.mask, where="the sample's statement").mask
        return PairResult(scores=(action_mse(predicted, true, mask),))
    except (ScreentestError, OSError) as error:
        return _skipped(error, (name,))


def _actions(prediction: Any) -> Actions:
    if isinstance(prediction, Actions):
        return prediction
    if isinstance(prediction, (str, Path)):
        return read_actions(Path(prediction))
    return as_actions(prediction, None, where="the renderer's actions")


def _skipped(error: ScreentestError | OSError, metrics: Sequence[str]) -> PairResult:
    code, message = describe_error(error)
    skip = Skip(tuple(metrics), code, printable(message))
    return PairResult(skips=(skip,), retry=isinstance(error, OSError))


def _described(facts: PairFacts, window: tuple[int, int, int, int] | None) -> PairResult:
    of_reference, of_candidate = facts.reference.frames or 0, facts.candidate.frames or 0
    shorter = min(of_reference, of_candidate)
    pairing = facts.pairing
    return PairResult(
        scores=tuple(_finite(score) for score in facts.scores),
        frames={
            "prediction": of_candidate,
            "ground_truth": of_reference,
            "compared": len(facts.pairs),
        },
        trim={"prediction": of_candidate - shorter, "ground_truth": of_reference - shorter},
        window=window,
        pairing={
            "impl": pairing.impl,
            "lag": pairing.lag,
            "lag_evidence": pairing.lag_evidence,
            "dropped": {"count": len(pairing.dropped), "first": list(pairing.dropped[:_NAMED])},
            "repeated": {"count": len(pairing.repeated), "first": list(pairing.repeated[:_NAMED])},
            "differences": msgspec.to_builtins(pairing.differences),
        },
        warnings=tuple(_warnings(facts)),
    )


def _finite(score: Score) -> Score:
    if score.value is None or math.isfinite(score.value):
        return score
    return msgspec.structs.replace(
        score, value=None, state="unmeasured", reason=f"the value is {score.value}"
    )


def _warnings(facts: PairFacts) -> list[str]:
    pairing, said = facts.pairing, []
    rates = facts.candidate.frame_rate, facts.reference.frame_rate
    if rates[0] and rates[1] and abs(rates[0] / rates[1] - 1) > RATE_TOLERANCE:
        said.append(
            f"the prediction has {rates[0]:g} frames per second, its ground truth {rates[1]:g}: "
            "frames of one number are of different moments"
        )
    if pairing.lag_evidence and pairing.lag:
        # Frame j shows ground-truth frame j + lag.
        late = "ahead of" if pairing.lag > 0 else "behind"
        said.append(f"the prediction runs {abs(pairing.lag)} frames {late} its ground truth")
    for name, indices in (("skips", pairing.dropped), ("repeats", pairing.repeated)):
        if indices:
            many = f"{len(indices)} frame{'s' * (len(indices) != 1)}"
            said.append(f"the prediction {name} {many}, the first at {indices[0]}")
    for who, damage in (
        ("ground truth", facts.damage["reference"]),
        ("prediction", facts.damage["candidate"]),
    ):
        if damage:
            said.append(printable(f"the {who} is damaged: {damage[0].kind}, {damage[0].detail}"))
    return said

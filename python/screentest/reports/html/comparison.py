"""What the page of a comparison says, ready for its template."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from screentest.metrics import registry
from screentest.reports.html.charts import HIGH, WIDE, SeriesChart, series_chart
from screentest.reports.html.filmstrip import frame_panels
from screentest.reports.html.model import CodecFloor, Comparison, PairFacts, WorstFrame
from screentest.reports.html.text import (
    base_name,
    counted,
    number,
    ranges,
    sentence,
    show,
    unit_word,
)

__all__ = ["comparison_context"]

_WORDS = {
    "frame_rate_declared": "declared frame rate",
    "sample_aspect_ratio": "sample aspect",
    "luma_domain": "luma from",
}
# What a reader of a number asks first; the rest of the card is folded away where both agree.
_MAIN = frozenset(
    {"source", "decoder", "luma from", "width", "height", "frames", "frame rate", "codec",
     "pixel format", "bit depth", "tag: matrix", "tag: range", "read as: matrix", "read as: range",
     "hdr", "alpha", "conversion"}
)  # fmt: skip
_SAME = {"measured": "", "identical": "identical", "unmeasured": "not measured"}


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One line of the score table; texts only."""

    name: str
    value: str
    exact: str
    unit: str
    state: str
    worst: str
    worst_frame: int | None
    frames: str
    impl: str
    better: str


@dataclass(frozen=True, slots=True)
class CardRow:
    """One line of the protocol card."""

    name: str
    reference: str
    candidate: str
    differs: bool


def comparison_context(comparison: Comparison, worst: Sequence[WorstFrame]) -> dict[str, Any]:
    """Everything that ``comparison.html`` shows."""
    facts = comparison.facts
    card = _card(facts)
    # What was measured on the way to finding that a pair is not aligned would be read as a score.
    scores = comparison.scores if comparison.scored else ()
    measured = [score for score in scores if score.state != "unmeasured"]
    return {
        "title": f"{base_name(show(comparison.candidate))} against "
        f"{base_name(show(comparison.reference))}",
        "reference": show(comparison.reference),
        "candidate": show(comparison.candidate),
        "reference_name": base_name(show(comparison.reference)),
        "candidate_name": base_name(show(comparison.candidate)),
        "aligned": comparison.aligned,
        "scored": comparison.scored,
        "said": [sentence(show(finding)) for finding in comparison.findings],
        "glance": _glance(facts),
        "findings": _findings(facts.pairing),
        # The worst frame has a column of its own.
        "scores": [_row(score) for score in measured if not score.name.endswith("_worst")],
        "unmeasured": _unmeasured(comparison) if comparison.scored else [],
        "charts": _charts(comparison) if comparison.scored else [],
        "box": (WIDE, HIGH),
        "panels": frame_panels(worst),
        "floor": comparison.codec_floor,
        "floor_rows": _floor_rows(comparison, comparison.codec_floor),
        "card": [row for row in card if row.differs or row.name in _MAIN],
        "card_rest": [row for row in card if not (row.differs or row.name in _MAIN)],
        "record": _record(comparison),
    }


def _glance(facts: PairFacts) -> list[tuple[str, str]]:
    one, two = facts.reference, facts.candidate
    pairing = facts.pairing

    def both(a: str, b: str) -> str:
        return a if a == b else f"{a} → {b}"

    def size(info: Any) -> str:
        return f"{info.width}×{info.height}"

    return [
        ("Frames", both(f"{pairing.frames_reference:,}", f"{pairing.frames_candidate:,}")),
        ("Compared", counted(len(facts.pairs), "pair")),
        ("Size", both(size(one), size(two))),
        ("Rate", both(_rate(one.frame_rate), _rate(two.frame_rate))),
        ("Format", both(one.pixel_format, two.pixel_format)),
        ("Codec", both(show(one.codec), show(two.codec))),
    ]


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.6g} fps"


def _findings(pairing: Any) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if not pairing.lag_evidence:
        found.append(("Lag", "no evidence: the picture moves too little, or is too noisy, to tell"))
    elif pairing.lag:
        found.append(
            ("Lag", f"candidate frame j shows reference frame j {'+' if pairing.lag > 0 else '−'} "
             f"{abs(pairing.lag)}")
        )  # fmt: skip
    else:
        found.append(("Lag", "none: both start with the same frame"))
    if pairing.dropped:
        found.append(("Dropped", f"{counted(len(pairing.dropped), 'reference frame')} missing from "
                      f"the candidate: {ranges(pairing.dropped)}"))  # fmt: skip
    if pairing.repeated:
        found.append(("Repeated", f"{counted(len(pairing.repeated), 'candidate frame')} showing "
                      f"the one before again: {ranges(pairing.repeated)}"))  # fmt: skip
    if pairing.missing_at_end:
        found.append(("Missing at the end", counted(pairing.missing_at_end, "frame")))
    if pairing.extra_at_end:
        found.append(("Extra at the end", counted(pairing.extra_at_end, "frame")))
    for item in pairing.differences:
        name = item.field.replace("_", " ")
        found.append(
            (name[:1].upper() + name[1:], f"{show(item.reference)} → {show(item.candidate)}")
        )
    return found


def _row(score: Any) -> ScoreRow:
    frames = f"{score.frames:,}" if score.frames else "–"
    if score.identical_frames and score.state != "identical":
        frames += f" ({score.identical_frames:,} identical)"
    return ScoreRow(
        name=score.name,
        value=_told(score),
        exact="" if score.value is None else repr(float(score.value)),
        unit=unit_word(score.unit),
        state=_SAME[score.state],
        worst=number(score.worst, score.unit) if score.worst is not None else "–",
        worst_frame=score.worst_frame,
        frames=frames,
        impl=score.impl,
        better={"up": "higher is better", "down": "lower is better"}.get(score.direction, ""),
    )


def _unmeasured(comparison: Comparison) -> list[tuple[str, str]]:
    """(names, reason), metrics of one reason together."""
    together: dict[str, list[str]] = {}
    for score in comparison.unmeasured:
        together.setdefault(show(score.reason), []).append(score.name)
    return [(", ".join(names), reason) for reason, names in together.items()]


def _charts(comparison: Comparison) -> list[SeriesChart]:
    facts = comparison.facts
    known = {score.name: score for score in comparison.scores}
    charts = []
    for name, values in facts.series.items():
        score = known.get(name)
        frames = facts.pairs[:, 1] if len(facts.pairs) == len(values) else np.arange(len(values))
        chart = series_chart(
            name,
            unit_word(score.unit) if score is not None else "",
            frames,
            np.asarray(values, dtype=np.float64),
            direction=score.direction if score is not None else "target",
        )
        if chart is not None:
            charts.append(chart)
    return charts


def _floor_rows(
    comparison: Comparison, floor: CodecFloor | None
) -> list[tuple[str, str, str, str]]:
    """(metric, unit, the candidate's value, the floor's)."""
    found = floor.scores if floor is not None and comparison.scored else ()
    known = {score.name: score for score in found if score.state != "unmeasured"}
    return [
        (score.name, unit_word(score.unit), _told(score), _told(known[score.name]))
        for score in comparison.scores
        if score.name in known and not registry.stands_beside(score.name)
    ]


def _told(score: Any) -> str:
    if score.value is None:
        return _SAME[score.state]
    return number(score.value, score.unit)


def _card(facts: PairFacts) -> list[CardRow]:
    one, two = (_facts_of(info) for info in (facts.reference, facts.candidate))
    rows = []
    for name in [*one, *(name for name in two if name not in one)]:
        a, b = one.get(name, "–"), two.get(name, "–")
        if a == b == "–":
            continue
        rows.append(CardRow(name, a, b, a != b and name != "source"))
    return rows


def _facts_of(info: Any) -> dict[str, str]:
    """A clip's facts by name, nested ones as ``tag matrix``, ``matrix``."""
    told: dict[str, Any] = msgspec.to_builtins(info)
    tags, resolved = told.pop("colour_tags") or {}, told.pop("colour") or {}
    told.pop("audio")
    for name, value in tags.items():
        told[f"tag: {name}"] = value
    if resolved:
        for name in ("matrix", "range"):
            by_rule = " (by rule: the file does not say)"
            told[f"read as: {name}"] = f"{resolved[name]}" + (
                by_rule if resolved[f"{name}_from"] == "rule" else ""
            )
    return {_WORDS.get(name, name.replace("_", " ")): show(value) for name, value in told.items()}


def _record(comparison: Comparison) -> str:
    return json.dumps(comparison.to_dict(), indent=1, ensure_ascii=False, default=str)

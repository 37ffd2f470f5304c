"""Whatever the facts hold, the judge answers, and its answer can be written down."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from screentest.media.info import Damage
from screentest.metrics.integrity import IntegrityFacts
from screentest.reports.canonical import dumps
from screentest.screening import Screening
from screentest.verdicts.delivery import Delivery
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.policy import AXES, default_policy
from tests.verdicts.made import facts

SPEC = Delivery(
    duration_s=2.0,
    frame_rate=24.0,
    frames=48,
    width=1280,
    audio=True,
    longest_freeze_s=0.1,
    black_frames=1,
    duplicate_frames=1,
)


@st.composite
def any_facts(draw: st.DrawFn) -> IntegrityFacts:
    frames = draw(st.integers(1, 40))
    depth = draw(st.sampled_from(["full", "full", "sampled"]))
    read = sorted(draw(st.sets(st.integers(0, frames - 1), min_size=1)))
    count = len(read)

    def column(*special: float, low: float, high: float) -> list[float]:
        value = st.one_of(st.sampled_from([*special, math.nan]), st.floats(low, high))
        return draw(st.lists(value, min_size=count, max_size=count))

    clip: dict[str, Any] = {
        "hdr": draw(st.sampled_from([None, None, "pq"])),
        "alpha": draw(st.sampled_from([None, None, "transparent"])),
        "field_order": draw(st.sampled_from([None, "progressive", "tt"])),
        "constant_frame_rate": draw(st.sampled_from([None, True, False])),
        "width": draw(st.sampled_from([64, 1280])),
    }
    return facts(
        frames,
        read=read,
        depth=depth,
        std=column(0.0, 0.2, low=0.0, high=0.5),
        mean=column(0.0, 0.5, low=0.0, high=1.0),
        corr=column(0.0, 1.0, low=-1.0, high=1.0),
        aligned=column(0.0, 1.0, low=-1.0, high=1.0),
        change=column(0.0, 0.0, 40.0, low=0.0, high=255.0),
        grid=draw(st.sampled_from([None, 2.0, 90.0])),
        timed=draw(st.booleans()),
        damage=[Damage(kind="truncated", detail="cut", frame=draw(st.none() | st.integers(0, 99)))]
        * draw(st.integers(0, 2)),
        clip=clip,
    )


@settings(max_examples=300)
@given(made=any_facts(), spec=st.sampled_from([None, SPEC]), axis=st.sampled_from(AXES))
def test_every_judgement_is_consistent_and_can_be_written(
    made: IntegrityFacts, spec: Delivery | None, axis: str
) -> None:
    judgement = judge_integrity(made, spec=spec)
    rejected = any(defect.severity == "reject" for defect in judgement.defects)
    assert (judgement.verdict == "reject") == rejected
    assert [d.severity for d in judgement.defects] == sorted(d.severity for d in judgement.defects)
    gaps = {gap.axis for gap in judgement.unmeasured}
    assert len(gaps) == len(judgement.unmeasured)
    for defect in judgement.defects:
        assert defect.message
        assert "nan" not in defect.message
        assert defect.value is not None
        assert math.isfinite(defect.value)
        if defect.frames is not None:
            assert 0 <= defect.frames[0] <= defect.frames[1]
        if defect.seconds is not None:
            assert 0.0 <= defect.seconds[0] <= defect.seconds[1]
    screening = Screening(
        source="made.mp4",
        verdict=judgement.verdict,
        defects=judgement.defects,
        unmeasured=judgement.unmeasured,
        facts=made,
        policy="made",
        policy_sha256=default_policy().sha256,
    )
    assert dumps(screening.to_dict()) == screening.to_json()
    insisted = judge_integrity(made, spec=spec, require=[axis])
    if axis in gaps and not rejected:
        assert insisted.verdict == "unmeasured"
    else:
        assert insisted.verdict == judgement.verdict


@settings(max_examples=100)
@given(made=any_facts())
def test_a_pass_never_comes_from_an_axis_that_was_required_and_not_measured(
    made: IntegrityFacts,
) -> None:
    judgement = judge_integrity(made)
    if judgement.verdict != "pass":
        return
    required = set(default_policy().required)
    if made.depth == "sampled":
        required &= {"noise", "blank", "grid"}
    for gap in judgement.unmeasured:
        assert gap.axis not in required or not gap.applies

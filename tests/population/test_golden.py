"""Against published values of clips by a formula, and against the reference system's values of five
made arms."""

import json
from pathlib import Path

import numpy as np
import pytest

from screentest.gates.budget import BudgetTable, shipped
from screentest.gates.population import run_population_gate
from screentest.metrics.population import measure_population
from screentest.metrics.signal.clip_score import score_clip
from screentest.protocol import Protocol
from tests.oracles import clips
from tests.population import golden
from tests.population.made import values

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")

BANKED = json.loads(
    (Path(__file__).resolve().parents[1] / "oracles" / "population.json").read_text()
)
PROMPTS = tuple(f"clip {k}" for k in range(8))

PROTOCOL = Protocol(
    family="ltx-2.3", reference_arm="eager", candidate_arm="compiled", changes=("compile",),
    width=64, height=48, frames=6, steps=8, seeds=(0,), prompts=PROMPTS,
    execution_lane="compiled", hardware="H100",
)  # fmt: skip

# The published verdicts are of detail, tone, change and distribution alone.
TABLE = BudgetTable(
    name="published",
    kind="video",
    budgets=shipped("video").of(
        ("imaging_index", "imaging_worst_prompt", "jerk_excess", "flicker_ratio",
         "significant_features", "population_frechet")
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def references():
    return [score_clip(golden.clip(k)) for k in range(8)]


def gate(references, change):
    candidates = [score_clip(change(golden.clip(k))) for k in range(8)]
    return run_population_gate(list(zip(references, candidates, strict=True)), PROTOCOL, TABLE)


def test_one_clip_reads_as_published(references):
    score = references[0]
    published = {
        "brightness": 0.505122, "sharpness": 578.3494, "sharpness_p10": 567.9751,
        "hf_ratio": 0.01747179, "local_contrast": 0.02304712, "contrast": 0.1676969,
        "saturation": 0.2299587, "detail_entropy": 5.41594, "jerk_ratio": 0.7258655,
        "shimmer": 0.2647132, "motion_energy": 22.49525,
    }  # fmt: skip
    for name, value in published.items():
        assert getattr(score, name) == pytest.approx(value, rel=2e-5), name
    assert score.flicker == pytest.approx(0.05901997, abs=1e-5)
    row = [6.371437, -4.049479, 5.424389, 0.1697722, 0.2299587, -3.765451]
    assert score.features[0] == pytest.approx(row, rel=2e-5)
    assert score.motion[0] == 0.0
    assert score.motion[1:].mean() == pytest.approx(22.49525, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "imaging", "worst", "jerk", "flicker", "moved", "verdict"),
    [
        (golden.same, 1, 1, 0, 1, 0, "pass"),
        (golden.less_colour, 0.988362, 0.988362, 0, 1, 1, "fail"),
        (golden.jittered, 1.000111, 1.000066, 0.017799, 2.826692, 0, "fail"),
        (golden.softened, 0.770765, 0.687287, 0.006326, 1.000, 6, "fail"),
    ],
    ids=lambda change: getattr(change, "__name__", ""),
)
def test_a_gate_over_eight_clips_reads_as_published(
    references, change, imaging, worst, jerk, flicker, moved, verdict
):
    report = gate(references, change)
    found = values(report.population)
    assert report.verdict == verdict
    assert found["imaging_index"] == pytest.approx(imaging, abs=1e-6)
    assert found["imaging_worst_prompt"] == pytest.approx(worst, abs=1e-6)
    assert found["jerk_excess"] == pytest.approx(jerk, abs=1e-6)
    assert found["flicker_ratio"] == pytest.approx(flicker, abs=1e-5)
    assert found["significant_features"] == moved


def test_on_scenes_that_look_alike_a_tenth_of_the_colour_is_no_distance_of_thousands(references):
    """They spread 0.0002 in saturation, and divided by that the same change reads 8907."""
    found = gate(references, golden.less_colour).population
    assert found.scales["saturation"] == 0.01
    lost = [0.1 * (score.saturation / 0.01) for score in references]
    assert values(found)["population_frechet"] == pytest.approx(
        np.median(np.square(lost)), rel=1e-3
    )
    assert values(found)["population_frechet"] == pytest.approx(5.25, abs=0.05)


class TestAgainstTheReferenceSystem:
    @pytest.mark.parametrize("arm", sorted(BANKED))
    def test_an_arm_reads_as_banked(self, arm):
        pairs = [tuple(map(score_clip, pair)) for pair in clips.population(arm)]
        measured = measure_population(pairs, PROMPTS)
        found, banked = values(measured), BANKED[arm]
        for name, value in banked["imaging"].items():
            assert found[name] == pytest.approx(value, rel=1e-5), name
        for name in ("flicker_ratio", "shimmer_ratio", "motion_ratio"):
            # Theirs is of float32 luma: the flicker of a clip is 1e-5 off, a few hundredths of it.
            assert found[name] == pytest.approx(banked["temporal"][name], rel=3e-5), name
        assert found["jerk_excess"] == pytest.approx(banked["temporal"]["jerk_excess"], abs=4e-5)
        for name, value in banked["distributional"].items():
            if name == "n":
                assert measured.n == value
            elif name.startswith(("dz_", "rms", "max", "holm")):
                assert found[name] == pytest.approx(value, rel=5e-3, abs=1e-12), name
            elif "frechet" in name:
                assert found[name] == pytest.approx(value, rel=1e-4), name
            else:
                assert found[name] == value, name
        pairwise = [prompt.values["population_frechet"] for prompt in measured.prompts]
        assert pairwise == pytest.approx(banked["paired_frechet"], rel=1e-4)

    def test_the_arms_reach_from_nothing_to_everything(self):
        reached = {arm: row["distributional"]["population_frechet"] for arm, row in BANKED.items()}
        assert reached["same"] == 0
        assert 0.5 < reached["desat8"] < 1 < reached["reroll"] < reached["noise002"]

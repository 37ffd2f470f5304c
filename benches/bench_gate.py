"""A gate over two arms of files: from their bytes to the sealed report. The statistics of both
programs are compared before either is timed; the rival runs once, in minutes."""

import cozy_eval
import pytest

import screentest
from benches import material

GATE = "gate: 8 pairs of 121x704x1280 h264 files, facts, verdict and report"
STAMP = {"family": "bench", "hardware": "cpu", "steps": 8, "seeds": (0,)}

SAME = ("imaging_index", "imaging_worst_prompt", "jerk_excess", "flicker_ratio", "motion_ratio")
"""Statistics of one definition in both. Theirs are of 8-bit RGB, ours of the decoder's planes."""


@pytest.fixture(scope="module")
def arms():
    return material.two_arms()


def theirs(arms):
    files = [sorted(arm.glob("*.mp4")) for arm in arms]
    pairs = cozy_eval.score_pairs(*files)
    protocol = cozy_eval.Protocol(
        **STAMP, reference_arm="reference", candidate_arm="candidate",
        changes=(cozy_eval.ChangeKind.COMPILE,), width=1280, height=704, frames=121,
        prompts=tuple(path.stem for path in files[0]), execution_lane="compiled",
    )  # fmt: skip
    return cozy_eval.run_population_gate(pairs, protocol)


def ours(arms, threads):
    gated = screentest.gate(
        *arms, **STAMP, changes=["compile"], execution_lane="compiled", threads=threads
    )
    assert gated.to_json()
    return gated.report


@pytest.fixture(scope="module")
def known():
    """The statistics that the reference system answered with when it was timed."""
    return {}


def values(report):
    found = {}
    for benchmark in report.benchmarks.values():
        found.update(benchmark.values)
    return found


@pytest.mark.benchmark(group=GATE)
def bench_gate_cozy_eval(benchmark, arms, known):
    known.update(values(benchmark.pedantic(theirs, (arms,), rounds=1)))
    assert SAME[0] in known


@pytest.mark.benchmark(group=GATE)
def bench_gate_screentest(benchmark, arms, known, threads):
    if not known:
        known.update(values(theirs(arms)))
    found = values(ours(arms, threads))
    for name in SAME:
        assert found[name] == pytest.approx(known[name], rel=0.01, abs=0.005), name
    benchmark.pedantic(ours, (arms, threads), rounds=5, warmup_rounds=1)
    benchmark.extra_info["ours_over_rival"] = None

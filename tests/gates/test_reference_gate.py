"""The reference gate on real encodes and on arrays: what is measured, refused and decided."""

import itertools
import math
import re

import msgspec
import numpy as np
import pytest

from screentest.errors import (
    InputError,
    MediaError,
    PolicyError,
    ProtocolError,
    TrajectoryPerturbingError,
)
from screentest.gates.budget import Budget, BudgetTable, shipped
from screentest.gates.judge import judge_reference, rejudge
from screentest.gates.reference import measure_reference, run_reference_gate
from screentest.gates.reference_facts import METRICS, inconsistencies
from screentest.gates.report import GateReport
from screentest.gates.statistics import REFERENCE
from screentest.protocol import ArmLanes
from tests.gates.stamps import stamp

SIZE = (48, 64)
FRAMES = 6


def moving(seed=0, frames=FRAMES, size=SIZE):
    """A textured picture that pans, uint8 ``(T, H, W, 3)`` within 30 to 225."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(30, 226, (size[0] // 4 + 1, size[1] // 4 + frames + 1, 3), np.uint8)
    whole = coarse.repeat(4, 0).repeat(4, 1)
    return np.stack([whole[: size[0], 3 * t : 3 * t + size[1]] for t in range(frames)])


def noisy(clip, sigma, seed=1):
    noise = np.random.default_rng(seed).normal(0, sigma, clip.shape)
    return np.clip(np.rint(clip + noise), 0, 255).astype(np.uint8)


def decibels(reference, candidate):
    """PSNR of each frame by its definition, 99 dB at most."""
    error = (reference.astype(np.float64) - candidate.astype(np.float64)) / 255
    return [
        min(99.0, 10 * math.log10(1 / mse)) if mse else 99.0
        for mse in (error**2).mean((1, 2, 3)).tolist()
    ]


REFERENCES = [moving(0), moving(1)]


def gate(candidates, references=REFERENCES, protocol=None, **options):
    return run_reference_gate(references, candidates, protocol or stamp(), **options)


# Numbers


def test_psnr_is_that_of_numpy_over_all_frames_and_pairs():
    candidates = [noisy(REFERENCES[0], 3), noisy(REFERENCES[1], 6)]
    candidates[1][2] = noisy(REFERENCES[1], 30)[2]
    facts = measure_reference(REFERENCES, candidates, stamp())
    of_pairs = [decibels(a, b) for a, b in zip(REFERENCES, candidates, strict=True)]
    for row, frames in zip(facts.rows, of_pairs, strict=True):
        assert row.frames == FRAMES
        assert row.values["psnr_mean"] == pytest.approx(np.mean(frames), abs=1e-9)
        assert row.values["psnr_worst"] == pytest.approx(min(frames), abs=1e-9)
    assert facts.rows[1].worst_frame == {"psnr": 2}
    assert facts.values["psnr_mean"] == pytest.approx(np.mean([np.mean(p) for p in of_pairs]))
    assert facts.values["psnr_worst"] == pytest.approx(min(map(min, of_pairs)))


def test_frames_that_are_equal_read_99_and_count_in_the_mean():
    candidate = REFERENCES[0].copy()
    candidate[4] = noisy(candidate, 20)[4]
    one = stamp(prompts=("a cat",))
    (row,) = measure_reference(REFERENCES[:1], [candidate], one).rows
    broken = decibels(REFERENCES[0], candidate)[4]
    assert row.values["psnr_mean"] == pytest.approx((5 * 99 + broken) / 6, abs=1e-9)
    (same,) = measure_reference(REFERENCES[:1], [REFERENCES[0].copy()], one).rows
    assert same.values == {"psnr_mean": 99.0, "psnr_worst": 99.0}
    assert same.worst_frame == {}


def test_a_frame_that_is_nearly_equal_reads_no_more_than_an_equal_one():
    big = moving(0, frames=1, size=(480, 640))
    candidate = big.copy()
    candidate[0, 0, 0, 0] += 1
    said = stamp(prompts=("a",), frames=1, width=640, height=480)
    (row,) = measure_reference([big], [candidate], said).rows
    # One code off in one of 921,600 samples is 107.8 dB by the formula.
    assert row.values == {"psnr_mean": 99.0, "psnr_worst": 99.0}
    assert row.worst_frame == {"psnr": 0}


def test_ssim_of_the_gate_is_the_mean_and_the_worst_of_its_frames():
    from screentest.metrics.fidelity import ssim

    candidates = [noisy(clip, 8) for clip in REFERENCES]
    facts = measure_reference(REFERENCES, candidates, stamp(), metrics=["ssim"])
    frames = [
        [ssim(a[t], b[t]).value for t in range(FRAMES)]
        for a, b in zip(REFERENCES, candidates, strict=True)
    ]
    assert facts.metrics == ("ssim",)
    assert facts.values["ssim_mean"] == pytest.approx(np.mean(frames), abs=1e-12)
    assert facts.values["ssim_worst"] == min(map(min, frames))
    assert set(facts.impls) == {"ssim"}


def test_of_a_distance_the_worst_pair_is_the_farthest():
    from screentest.gates.reference_facts import aggregate
    from screentest.gates.report import ReferenceRow

    rows = [
        ReferenceRow(prompt=str(i), frames=1, values={"lpips_mean": v, "lpips_worst": v + 0.1})
        for i, v in enumerate((0.1, 0.4, 0.2))
    ]
    values, unmeasured = aggregate(rows, ["lpips"])
    assert values == pytest.approx({"lpips_mean": 0.7 / 3, "lpips_worst": 0.5})
    assert unmeasured == {}


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["psnr_mean", "psnr_worst", "lpips_worst"])
def test_an_aggregate_that_is_not_finite_is_refused(name, broken):
    from screentest.gates.reference_facts import aggregate, metric_of
    from screentest.gates.report import ReferenceRow

    metric = metric_of(name)
    rows = [
        ReferenceRow(prompt=str(i), frames=1, values=dict.fromkeys(METRICS[metric], value))
        for i, value in enumerate((1.0, broken, 2.0))
    ]
    if math.isinf(broken) and name.endswith("worst"):
        # Only the worse end decides of a worst.
        broken = -math.inf if metric == "psnr" else math.inf
        rows[1] = msgspec.structs.replace(rows[1], values=dict.fromkeys(METRICS[metric], broken))
    with pytest.raises(ProtocolError, match="not finite") as refused:
        aggregate(rows, [metric])
    assert refused.value.code == "not_finite"


def test_threads_change_no_bit():
    candidates = [noisy(clip, 8) for clip in REFERENCES]
    found = [
        msgspec.json.encode(
            gate(candidates, metrics=["psnr", "ssim"], threads=threads), order="deterministic"
        )
        for threads in (1, 2, 3)
    ]
    assert found[0] == found[1] == found[2]


# Verdicts


def test_identical_arms_pass():
    report = gate([clip.copy() for clip in REFERENCES])
    assert (report.verdict, report.reasons, report.would_fail) == ("pass", (), ())
    assert report.benchmarks["reference"].passed is True
    assert report.table is shipped("reference")


def test_one_pair_is_enough():
    assert gate([REFERENCES[0]], REFERENCES[:1], stamp(prompts=("a cat",))).verdict == "pass"


def test_a_blackout_is_measured_and_fails():
    report = gate([np.zeros_like(clip) for clip in REFERENCES])
    assert report.verdict == "fail"
    assert report.reasons[0] == "failed: psnr_mean, psnr_worst"
    of_pairs = [decibels(clip, np.zeros_like(clip)) for clip in REFERENCES]
    assert report.reference.values["psnr_worst"] == pytest.approx(min(map(min, of_pairs)))


def test_one_black_frame_of_one_pair_fails_by_its_worst_frame():
    candidates = [clip.copy() for clip in REFERENCES]
    candidates[1][3] = 0
    report = gate(candidates)
    assert report.verdict == "fail"
    assert report.reasons[0] == "failed: psnr_worst"
    assert report.reference.rows[1].worst_frame == {"psnr": 3}


def test_a_frozen_candidate_fails():
    candidates = [np.repeat(clip[:1], FRAMES, 0) for clip in REFERENCES]
    assert gate(candidates).verdict == "fail"


def test_a_pair_that_lags_has_no_number_and_nothing_that_would_fail():
    long = moving(3, frames=40)
    said = stamp(prompts=("a cat", "a dog"), frames=30)
    references = [long[:30], moving(4, frames=30)]
    report = run_reference_gate(references, [long[5:35], references[1]], said)
    lagged, aligned = report.reference.rows
    assert lagged.values == {}
    assert any("starts 5 frames in" in reason for reason in lagged.misaligned)
    assert aligned.values == {"psnr_mean": 99.0, "psnr_worst": 99.0}
    assert report.verdict == "indeterminate"
    assert report.would_fail == ()
    assert report.reasons[0].startswith("the pair of 'a cat' is not aligned")
    # The mean of the other pair would be a number of other arms.
    assert report.reference.values == {}
    assert "its frames do not go together" in report.reference.unmeasured["psnr_mean"]


FAULTS = [
    ({"same_pod": False}, "different pods"),
    ({"execution_lane": ""}, "not observed"),
    ({"execution_lane": ArmLanes(reference="compiled", candidate="eager")}, "different modes"),
    ({"prompts": ("a", "b", "c")}, "2 pairs were measured; the protocol names 3 prompts"),
]


@pytest.mark.parametrize(("changed", "said"), FAULTS)
def test_a_fault_of_the_protocol_hides_no_failure(changed, said):
    good = gate([clip.copy() for clip in REFERENCES], protocol=stamp(**changed))
    assert (good.verdict, good.would_fail) == ("indeterminate", ())
    assert said in good.reasons[0]
    bad = gate([np.zeros_like(clip) for clip in REFERENCES], protocol=stamp(**changed))
    assert (bad.verdict, bad.would_fail) == ("indeterminate", ("psnr_mean", "psnr_worst"))
    assert said in bad.reasons[0]


def test_a_budget_without_a_number_is_no_pass():
    budgets = [
        Budget(name="psnr_mean", low=30, provenance="p"),
        Budget(name="vmaf", low=90, provenance="p"),
    ]
    facts = measure_reference(REFERENCES, REFERENCES, stamp())
    report = judge_reference(facts, stamp(), BudgetTable(
        name="ours", kind="reference", budgets=tuple(budgets)))  # fmt: skip
    assert report.verdict == "indeterminate"
    assert report.reasons == ("vmaf was not measured: not measured",)
    rows = {row.budget.name: row.passed for row in report.rows()}
    assert rows == {"psnr_mean": True, "vmaf": None}


def test_a_failure_stands_beside_a_budget_without_a_number():
    budgets = (
        Budget(name="psnr_mean", low=30, provenance="p"),
        Budget(name="vmaf", low=90, provenance="p"),
    )
    facts = measure_reference(REFERENCES, [noisy(clip, 40) for clip in REFERENCES], stamp())
    table = BudgetTable(name="ours", kind="reference", budgets=budgets)
    report = judge_reference(facts, stamp(), table)
    assert report.verdict == "fail"
    assert report.reasons == ("failed: psnr_mean", "vmaf was not measured: not measured")


def test_a_budget_whose_extra_is_missing_is_unmeasured_with_the_extra(monkeypatch):
    from screentest.metrics import availability

    monkeypatch.setattr(availability, "_is_installed", lambda module: module != "torch")
    budgets = [
        Budget(name="lpips_worst", high=0.2, provenance="p"),
        Budget(name="psnr_mean", low=30, provenance="p"),
    ]
    report = gate(REFERENCES, budgets=budgets)
    assert report.verdict == "indeterminate"
    assert report.reference.metrics == ("psnr", "lpips")
    assert report.reasons == (
        "lpips_worst was not measured: torch is not installed; pip install 'screentest[reference]'",
    )
    assert set(report.reference.unmeasured) == {"lpips_mean", "lpips_worst"}
    assert report.reference.values["psnr_mean"] == 99.0


def test_budgets_say_what_is_measured():
    report = gate(REFERENCES, budgets=[Budget(name="ssim_worst", low=0.9, provenance="p")])
    assert report.verdict == "pass"
    assert set(report.reference.values) == {*METRICS["psnr"], *METRICS["ssim"]}
    alone = gate(REFERENCES, metrics=["ms_ssim"])
    assert set(alone.reference.values) | set(alone.reference.unmeasured) == {
        *METRICS["psnr"],
        *METRICS["ms_ssim"],
    }


# Refusals, each before anything is decoded


def never_decoded(monkeypatch):
    from screentest.gates import reference

    def decoded(*_, **__):
        raise AssertionError("something was decoded")

    monkeypatch.setattr(reference, "measure_pair", decoded)


@pytest.mark.parametrize("kind", ["compile", "seed", "repeat", "weight-quantization"])
def test_a_moved_trajectory_has_no_quality_verdict_from_references(monkeypatch, kind):
    never_decoded(monkeypatch)
    with pytest.raises(TrajectoryPerturbingError, match=kind):
        gate(["no such file"], ["nor this"], stamp(changes=("video-encoder", kind)))
    with pytest.raises(TrajectoryPerturbingError, match=kind):
        measure_reference([], [], stamp(changes=(kind,)))


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"metrics": ["sharpness"]}, InputError, "a reference gate measures psnr"),
        ({"metrics": ["psnr_y"]}, InputError, "a reference gate measures psnr"),
        ({"budgets": []}, PolicyError, "no budget"),
        ({"budgets": shipped("video")}, PolicyError, "for the video gate"),
        ({"threads": 0}, InputError, "threads"),
    ],
)
def test_a_wrong_request_is_refused_before_decoding(monkeypatch, options, error, said):
    never_decoded(monkeypatch)
    with pytest.raises(error, match=said):
        gate(REFERENCES, **options)


def test_arms_of_other_lengths_and_empty_arms_are_refused(monkeypatch):
    never_decoded(monkeypatch)
    with pytest.raises(ProtocolError, match="2 references and 1 candidates") as unequal:
        gate(REFERENCES[:1])
    with pytest.raises(ProtocolError, match="no pair") as empty:
        gate([], [])
    with pytest.raises(InputError, match="a list of sources was expected, not one"):
        gate("clips", "clips")
    assert (unequal.value.code, empty.value.code) == ("unequal_arms", "no_pairs")


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_another_size_is_refused_and_never_resized(monkeypatch, side):
    never_decoded(monkeypatch)
    arms = {"reference": list(REFERENCES), "candidate": list(REFERENCES)}
    arms[side][1] = moving(1, size=(24, 32))
    with pytest.raises(ProtocolError, match="output-resize") as refused:
        gate(arms["candidate"], arms["reference"], stamp(changes=("output-resize",)))
    assert refused.value.code == "size_mismatch"
    assert f"the {side} of 'a dog'" in str(refused.value)
    assert "32x24; the protocol says 64x48" in str(refused.value)


@pytest.mark.parametrize("side", ["reference", "candidate"])
def test_another_count_of_frames_is_refused_with_its_pair(monkeypatch, side):
    never_decoded(monkeypatch)
    arms = {"reference": list(REFERENCES), "candidate": list(REFERENCES)}
    arms[side][1] = arms[side][1][:5]
    with pytest.raises(ProtocolError, match="has 5 frames; the protocol says 6") as refused:
        gate(arms["candidate"], arms["reference"])
    assert refused.value.code == "frame_count"
    assert refused.value.context["pair"] == "a dog"


def test_a_sample_that_is_not_finite_is_refused_with_pair_and_frame():
    clip = REFERENCES[0].astype(np.float32) / 255
    broken = clip.copy()
    broken[3, 0, 0, 0] = np.nan
    with pytest.raises(MediaError, match="'a cat': candidate frame 3 holds 1 NaN"):
        gate([broken], [clip], stamp(prompts=("a cat",)))


# Real encodes


@pytest.fixture(scope="module")
def encodes(studio):
    """A lossless clip of 24 frames at 320x240, and its x264 encodes by CRF."""
    source = studio("source.mkv", *src_args(), "-c:v", "ffv1", "-pix_fmt", "yuv420p")
    made = {
        crf: studio(f"crf{crf}.mp4", "-i", source, "-c:v", "libx264", "-crf", crf)
        for crf in (18, 28, 40)
    }
    return source, made


def src_args():
    from tests.making import src

    # Noise and detail that an encoder has to give up as the rate falls.
    return (*src(0.8, pattern="testsrc2"), "-vf", "noise=alls=3:allf=t:all_seed=3")


def of_file(**changed):
    return stamp(width=320, height=240, frames=24, prompts=("a cat",), **changed)


def test_psnr_of_real_encodes_is_that_of_ffmpegs_pixels(studio, encodes):
    source, made = encodes
    for path in made.values():
        (row,) = measure_reference([source], [path], of_file()).rows
        assert row.misaligned == ()
        expected = decibels(as_rgb(studio, source), as_rgb(studio, path))
        assert row.values["psnr_mean"] == pytest.approx(np.mean(expected), abs=1e-3)
        assert row.values["psnr_worst"] == pytest.approx(min(expected), abs=1e-3)
        assert row.domain == "planes"
        assert row.sources == ("source.mkv", path.name)
        assert all(key.startswith("blake2b-256:") for key in row.contents)


def as_rgb(studio, path):
    """R, G and B in 8 bits of BT.601 of limited range, each chroma sample shown four times."""
    raw = path.with_suffix(".yuv")
    studio.run("-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", raw)
    frames = np.frombuffer(raw.read_bytes(), np.uint8).reshape(24, -1).astype(np.float64)
    y, cb, cr = np.split(frames, [320 * 240, 320 * 240 + 160 * 120], axis=1)
    luma = (y.reshape(24, 240, 320) - 16) / 219
    blue, red = (
        (plane.reshape(24, 120, 160).repeat(2, 1).repeat(2, 2) - 128) / 224 for plane in (cb, cr)
    )
    rgb = np.stack(
        [luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue], -1
    )
    return np.rint(np.clip(rgb, 0, 1) * 255)


def test_real_encodes_fall_with_their_rate_and_the_bounds_stand_between(encodes):
    source, made = encodes
    reports = {crf: run_reference_gate([source], [path], of_file()) for crf, path in made.items()}
    means = [report.reference.values["psnr_mean"] for report in reports.values()]
    assert means == sorted(means, reverse=True)
    assert {crf: report.verdict for crf, report in reports.items()} == {
        18: "pass",
        28: "fail",
        40: "fail",
    }


def test_a_truncated_file_is_refused(studio, encodes):
    source, made = encodes
    part = studio.part("part.ts", studio(
        "whole.ts", "-i", made[18], "-c", "copy", "-f", "mpegts"), 0.5)  # fmt: skip
    with pytest.raises((ProtocolError, MediaError)):
        run_reference_gate([source], [part], of_file())


# What a stored report is held against


def facts_of_two():
    return measure_reference(
        REFERENCES, [noisy(clip, 4) for clip in REFERENCES], stamp(), metrics=["psnr", "ssim"]
    )


def test_facts_as_measured_do_not_contradict_themselves():
    assert [*inconsistencies(facts_of_two())] == []
    long = moving(3, frames=40)
    lagged = measure_reference(
        [long[:30]], [long[5:35]], stamp(prompts=("a",), frames=30), metrics=["psnr", "vmaf"]
    )
    assert lagged.values == {}
    assert [*inconsistencies(lagged)] == []


def edited(facts, **changes):
    return msgspec.structs.replace(facts, **changes)


def edited_row(facts, **changes):
    return edited(facts, rows=(msgspec.structs.replace(facts.rows[0], **changes), facts.rows[1]))


def test_every_edit_of_facts_is_told():
    facts = facts_of_two()
    row = facts.rows[0]
    better = {**row.values, "psnr_mean": 60.0}
    edits = {
        "psnr_mean is 60.0; its pairs give": edited(
            facts, values={**facts.values, "psnr_mean": 60.0}
        ),
        "psnr_mean is .*; its pairs give": edited_row(facts, values=better),
        "psnr_worst is None; its pairs give": edited(
            facts, values={k: v for k, v in facts.values.items() if k != "psnr_worst"}
        ),
        "vmaf is 99.0; its pairs give none": edited(facts, values={**facts.values, "vmaf": 99.0}),
        "why vmaf was not measured": edited(facts, unmeasured={"vmaf": "x"}),
        "there is no pair": edited(facts, rows=()),
        "impl is ''": edited(facts, impl=""),
        "sharpness is no metric": edited(facts, metrics=("sharpness",)),
        "psnr has numbers and no impl": edited(facts, impls={"ssim": facts.impls["ssim"]}),
        "not aligned, and yet it has numbers": edited_row(facts, misaligned=("late",)),
        "0 frames": edited_row(facts, frames=0),
        "vmaf_min was not asked for": edited_row(facts, values={**row.values, "vmaf_min": 3.0}),
        "psnr_mean is measured and unmeasured": edited_row(facts, unmeasured={"psnr_mean": "x"}),
        "psnr_mean is 120, above 99": edited_row(facts, values={**row.values, "psnr_mean": 120.0}),
        "ssim_worst is -2, below -1": edited_row(facts, values={**row.values, "ssim_worst": -2.0}),
        "psnr_mean is nan, not finite": edited_row(
            facts, values={**row.values, "psnr_mean": math.nan}
        ),
        "mean psnr 20 is worse than its worst frame's 30": edited_row(
            facts, values={**row.values, "psnr_mean": 20.0, "psnr_worst": 30.0}
        ),
    }
    for said, changed in edits.items():
        found = " | ".join(inconsistencies(changed))
        assert re.search(said, found), (said, found)


def test_a_stored_report_judged_again_comes_out_equal():
    for candidates, changed in itertools.product(
        (REFERENCES, [noisy(clip, 40) for clip in REFERENCES]), ({}, {"same_pod": False})
    ):
        report = gate(candidates, protocol=stamp(**changed), metrics=["psnr", "ssim"])
        stored = msgspec.json.decode(msgspec.json.encode(report), type=GateReport)
        assert stored == report
        assert rejudge(stored) == report


def test_an_edited_verdict_or_stamp_is_not_what_judging_gives():
    report = gate([noisy(clip, 40) for clip in REFERENCES])
    assert report.verdict == "fail"
    assert rejudge(edited(report, verdict="pass")) != edited(report, verdict="pass")
    with pytest.raises(PolicyError, match="for the video gate"):
        rejudge(edited(report, table=shipped("video")))
    with pytest.raises(TrajectoryPerturbingError):
        rejudge(edited(report, protocol=stamp(changes=("compile",))))
    renamed = edited(report, protocol=stamp(prompts=("a dog", "a cat")))
    assert "other prompts" in rejudge(renamed).reasons[0]
    with pytest.raises(ProtocolError, match="neither or both"):
        rejudge(edited(report, reference=None))


def test_what_the_gate_cannot_see_is_said():
    report = gate(REFERENCES)
    assert report.blind == ("whether the reference is any good", "sound")


def test_every_statistic_of_the_gate_has_a_metric():
    assert {name for names in METRICS.values() for name in names} == set(REFERENCE)


def test_vmaf_of_the_gate_is_libvmafs_harmonic_mean_mean_and_least():
    from screentest.metrics import availability, registry
    from screentest.metrics.paired import measure_pair

    if why := availability.missing(registry.spec("vmaf")):
        pytest.skip(why)
    reference, candidate = (moving(0, size=(96, 128)), noisy(moving(0, size=(96, 128)), 12))
    said = stamp(width=128, height=96, prompts=("a cat",))
    facts = measure_reference([reference], [candidate], said, metrics=["vmaf"])
    frames = measure_pair(reference, candidate, metrics=["vmaf"]).series["vmaf"]
    # libvmaf adds 1 to each, so that a frame of 0 has a reciprocal, and rounds to 6 places.
    harmonic = len(frames) / sum(1 / (value + 1) for value in frames) - 1
    assert facts.values["vmaf"] == pytest.approx(harmonic, abs=1e-5)
    assert facts.values["vmaf_mean"] == pytest.approx(np.mean(frames), abs=1e-9)
    assert facts.values["vmaf_min"] == min(frames)
    assert facts.values["vmaf"] < facts.values["vmaf_mean"]
    assert "libvmaf" in facts.impls["vmaf"]

"""``screentest.gate``: what is checked before anything is decoded, and what comes out of it."""

import hashlib
import json
import os
import subprocess
import sys

import msgspec
import numpy as np
import pytest
from PIL import Image

import screentest
from screentest.errors import (
    InputError,
    MediaError,
    MissingBackendError,
    PolicyError,
    ProtocolError,
    SchemaError,
    TrajectoryPerturbingError,
)
from screentest.gates.budget import Budget, shipped
from screentest.gates.null_control import measure_null_control
from screentest.gates.scoring import score_pairs
from screentest.gating import gate
from screentest.media.video import VideoClip
from screentest.protocol import ArmLanes
from screentest.reports import sealed
from tests import arms
from tests.arms import files
from tests.making import src

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")

SAID = {
    "changes": ["compile"],
    "family": "made",
    "execution_lane": "compiled",
    "hardware": "cpu",
    "steps": 8,
    "seeds": [0],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return arms.write_arms(tmp_path_factory.mktemp("arms"))


@pytest.fixture
def undecoded(monkeypatch):
    """A decoder that must not be asked for the frames of a clip."""

    def refuse(*_, **__):
        raise AssertionError("a clip was decoded")

    monkeypatch.setattr(VideoClip, "frames", refuse)
    monkeypatch.setattr(VideoClip, "frames_at", refuse)


class TestVerdicts:
    def test_another_take_passes(self, made):
        result = gate(made["reference"], made["retake"], **SAID)
        assert (result.verdict, result.passed) == ("pass", True)
        assert result.report.protocol.frames == arms.FRAMES
        assert result.report.protocol.resolution == f"{arms.WIDTH}x{arms.HEIGHT}"
        assert result.report.protocol.fps == 24
        assert result.report.protocol.prompts == tuple(f"scene_{at}" for at in range(8))

    def test_a_blurred_arm_fails_on_what_it_lost(self, made):
        result = gate(made["reference"], made["blurred"], **SAID)
        assert (result.verdict, result.passed) == ("fail", False)
        assert "imaging_index" in result.report.reasons[0]

    def test_a_black_arm_is_degenerate(self, made):
        assert gate(made["reference"], made["black"], **SAID).verdict == "degenerate"

    @pytest.mark.parametrize(
        ("said", "reason"),
        [
            ({"same_pod": False}, "different pods"),
            ({"execution_lane": ArmLanes(reference="compiled", candidate="eager")}, "modes"),
            ({"execution_lane": ""}, "not observed"),
            ({"frames": 25}, "the protocol says"),
        ],
    )
    def test_a_fault_hides_a_failure_and_lists_it(self, made, said, reason):
        result = gate(made["reference"], made["blurred"], **{**SAID, **said})
        assert result.verdict == "indeterminate"
        assert any(reason in each for each in result.report.reasons)
        assert "imaging_index" in result.report.would_fail
        assert any(reason in each for each in result.plan.faults)

    def test_seven_prompts_are_indeterminate_however_bad(self, made):
        result = gate(files(made["reference"], 7), files(made["blurred"], 7), **SAID)
        assert result.verdict == "indeterminate"
        assert "imaging_index" in result.report.would_fail
        assert result.plan.faults == ("7 prompts; a verdict needs 8",)

    def test_stills_are_judged_by_the_table_of_stills(self, tmp_path):
        for arm, take in (("a", 0), ("b", 1)):
            (tmp_path / arm).mkdir()
            for prompt in range(8):
                picture = arms.pan(prompt, 1, take)[0]
                Image.fromarray(picture).save(tmp_path / arm / f"{prompt}.png")
        result = gate(tmp_path / "a", tmp_path / "b", **SAID)
        assert result.plan.kind == "image"
        assert result.report.table == shipped("image")
        assert result.verdict == "pass"

    def test_arrays_make_arms_as_well(self):
        one, other = ([arms.pan(at, take=take) for at in range(8)] for take in (0, 1))
        result = gate(one, other, **SAID)
        assert result.verdict == "pass"
        assert result.report.protocol.prompts[0] == "clip 0"
        assert result.report.protocol.fps == 0

    def test_a_change_after_the_latent_is_compared_frame_by_frame(self, made):
        said = {**SAID, "changes": ["container-mux"]}
        two = files(made["reference"], 2)
        copies = [path.read_bytes() for path in two]
        result = gate(two, copies, **said)
        assert (result.plan.kind, result.verdict) == ("reference", "pass")
        assert result.report.reference.values["psnr_worst"] == 99

    def test_paired_fidelity_without_budgets_measures_and_does_not_judge(self, made):
        said = {**SAID, "purpose": "paired-fidelity"}
        result = gate(files(made["reference"], 2), files(made["blurred"], 2), **said)
        assert result.report.table is None
        assert result.verdict == "indeterminate"

    @pytest.mark.parametrize("changes", ["compile", "container-mux"])
    def test_progress_is_told_to_the_last_step(self, made, changes):
        said = {**SAID, "changes": [changes]}
        arms_of_two = (files(made[arm], 2) for arm in ("reference", "blurred"))
        planned = gate(*arms_of_two, dry_run=True, **said)
        steps = []
        planned.run(on_step=lambda: steps.append(1))
        assert len(steps) == planned.plan.steps == {"compile": 4, "container-mux": 2}[changes]

    def test_the_pairs_of_a_repeat_are_steps_too(self, made):
        pairs = [files(made[arm], 2) for arm in ("reference", "retake", "reference")]
        copies = [path.read_bytes() for path in pairs[2]]
        said = {**SAID, "purpose": "paired-fidelity", "repeat_control": copies}
        planned = gate(pairs[0], pairs[1], dry_run=True, **said)
        steps = []
        planned.run(on_step=lambda: steps.append(1))
        assert len(steps) == planned.plan.steps == 4

    def test_a_dry_run_that_is_run_is_the_run(self, made):
        planned = gate(made["reference"], made["retake"], dry_run=True, **SAID)
        assert planned.run().to_json() == gate(made["reference"], made["retake"], **SAID).to_json()


class TestControls:
    def test_a_folder_of_another_seed_is_the_control(self, made):
        result = gate(made["reference"], made["retake"], null_control=made["other_seed"], **SAID)
        control = result.report.null_control
        pairs = score_pairs(files(made["reference"]), files(made["other_seed"]))
        assert control == measure_null_control(pairs, control.protocol, shipped("video"))
        assert [change.value for change in control.protocol.changes] == ["seed"]
        assert result.verdict == "pass"

    def test_a_control_that_exceeds_a_budget_leaves_nothing_to_pass_by(self, made):
        """The bound rejects a change that did nothing, so it says nothing about this one."""
        result = gate(made["reference"], made["retake"], null_control=made["blurred"], **SAID)
        assert result.verdict == "indeterminate"
        assert "imaging_index" in result.report.null_control.untrusted

    def test_a_sealed_report_of_a_seed_run_is_the_control_that_its_clips_are(self, made, tmp_path):
        seed_run = gate(made["reference"], made["other_seed"], **{**SAID, "changes": ["seed"]})
        place = tmp_path / "seed.json"
        place.write_bytes(seed_run.to_json())
        by_report = gate(made["reference"], made["retake"], null_control=place, **SAID)
        by_clips = gate(made["reference"], made["retake"], null_control=made["other_seed"], **SAID)
        assert by_report.to_json() == by_clips.to_json()

    @pytest.mark.parametrize("end", [b"", b"\n"], ids=["saved", "printed"])
    def test_a_sealed_control_is_the_control(self, made, tmp_path, end):
        measured = gate(
            made["reference"], made["retake"], null_control=made["other_seed"], **SAID
        ).report.null_control
        place = tmp_path / "control.json"
        place.write_bytes(sealed.dump(measured) + end)
        result = gate(made["reference"], made["retake"], null_control=place, **SAID)
        assert result.report.null_control == measured

    def test_a_control_of_other_conditions_is_a_fault_that_is_known_beforehand(self, made):
        measured = gate(
            made["reference"], made["retake"], null_control=made["other_seed"], **SAID
        ).report.null_control
        other = msgspec.structs.replace(measured.protocol, steps=4)
        control = msgspec.structs.replace(measured, protocol=other)
        result = gate(made["reference"], made["retake"], null_control=control, dry_run=True, **SAID)
        assert result.plan.faults == ("the null control was taken with steps 4, the run with 8",)

    def test_a_report_of_another_change_is_no_control(self, made, tmp_path):
        place = tmp_path / "compile.json"
        place.write_bytes(gate(made["reference"], made["retake"], **SAID).to_json())
        with pytest.raises(ProtocolError, match="whose only change is seed"):
            gate(made["reference"], made["retake"], null_control=place, **SAID)

    def test_what_is_neither_clips_nor_a_document_is_told_to_be_of_the_control(
        self, made, tmp_path
    ):
        place = tmp_path / "seed.toml"
        place.write_text("family = 'made'")
        with pytest.raises(InputError, match=r"the seed control: .*, or a sealed document"):
            gate(made["reference"], made["retake"], null_control=place, **SAID)

    def test_a_fault_of_run_and_control_is_said_once(self, made):
        result = gate(
            made["reference"], made["retake"], null_control=made["other_seed"], same_pod=False,
            dry_run=True, **SAID,
        )  # fmt: skip
        assert len(result.plan.faults) == 1

    def test_a_repeat_on_two_pods_is_refused_by_a_dry_run_too(self, made):
        with pytest.raises(ProtocolError, match="says nothing: the arms ran on different pods"):
            gate(
                made["reference"], made["retake"], repeat_control=made["other_seed"],
                same_pod=False, purpose="paired-fidelity", dry_run=True, **SAID,
            )  # fmt: skip

    def test_a_file_that_is_no_document_is_refused(self, made, tmp_path):
        place = tmp_path / "seed.json"
        place.write_text("{}")
        with pytest.raises(SchemaError):
            gate(made["reference"], made["retake"], null_control=place, **SAID)

    def test_a_control_of_clips_that_are_the_reference_is_refused(self, made):
        with pytest.raises(InputError, match="is the reference and the candidate"):
            gate(made["reference"], made["retake"], null_control=made["reference"], **SAID)

    def test_a_repeat_is_measured_for_paired_fidelity(self, made, tmp_path):
        said = {**SAID, "purpose": "paired-fidelity", "changes": ["weight-quantization"]}
        two = files(made["reference"], 2)
        budgets = {"psnr_mean": {"low": 20.0, "provenance": "made"}}
        again = tmp_path / "again"
        again.mkdir()
        for path in two:
            (again / path.name).write_bytes(path.read_bytes())
        blurred = arms.write_arm(tmp_path / "blurred", arms.blurred, prompts=2)
        result = gate(
            two, files(blurred, 2), budgets=budgets, repeat_control=files(again, 2), **said
        )
        assert result.report.repeat_control.values == {"psnr_mean": 99, "psnr_worst": 99}
        assert result.verdict == "pass"

    @pytest.mark.parametrize(
        ("said", "control", "message"),
        [
            ({}, "repeat_control", "quality gate has no use"),
            ({"changes": ["container-mux"]}, "null_control", "compares frame by frame"),
        ],
    )
    def test_a_control_that_the_gate_has_no_question_for_is_refused(
        self, made, said, control, message
    ):
        with pytest.raises(ProtocolError, match=message):
            gate(
                made["reference"], made["retake"],
                **{**SAID, **said, control: made["other_seed"]},
            )  # fmt: skip


@pytest.mark.usefixtures("undecoded")
class TestBeforeAnythingIsDecoded:
    @pytest.mark.parametrize(
        ("said", "error", "message"),
        [
            ({"changes": ["compil"]}, ProtocolError, "did you mean 'compile'"),
            ({"changes": []}, ProtocolError, "no change was named"),
            ({"family": " "}, ProtocolError, "family"),
            ({"hardware": ""}, ProtocolError, "hardware"),
            ({"steps": 0}, ProtocolError, "steps"),
            ({"seeds": [1, 2]}, ProtocolError, "2 seeds for 8 prompts"),
            ({"seeds": [0.5]}, ProtocolError, "seeds"),
            ({"guidance": float("nan")}, ProtocolError, "guidance"),
            ({"fps": 30.0}, ProtocolError, "has 24 frames a second, and 30 was said"),
            ({"frames": 1}, ProtocolError, "no stills"),
            ({"execution_lane": "jit"}, ProtocolError, "execution_lane"),
            ({"purpose": "speed"}, ProtocolError, "purpose"),
            ({"metrics": ["lpips"]}, TrajectoryPerturbingError, "lpips"),
            ({"metrics": ["fvd"]}, InputError, "metric 'fvd'"),
            ({"threads": 0}, InputError, "threads=0"),
            ({"waive": ["imaging"]}, PolicyError, "cannot be waived"),
            ({"budgets": ()}, PolicyError, "no budget"),
            ({"budgets": {}}, PolicyError, "no budget"),
            ({"budgets": {"imaging_idx": {"low": 0.9, "provenance": "p"}}}, PolicyError,
             "did you mean 'imaging_index'"),
            ({"budgets": {"imaging_index": {"low": float("nan"), "provenance": "p"}}}, PolicyError,
             "a finite number"),
            ({"budgets": {"imaging_index": {"low": 0.9}}}, PolicyError, "provenance"),
            ({"budgets": [Budget(name="imaging_index", low=0.9, provenance="p")] * 2}, PolicyError,
             "two budgets"),
            ({"budgets": shipped("image")}, PolicyError, "image gate"),
            ({"prompts": ["one"]}, InputError, "1 prompts for 8 pairs"),
            ({"prompts": {"scene_0": "a", "scene_9": "b"}}, InputError, "none for 'scene_1'"),
            ({"prompts": ["same"] * 8}, ProtocolError, "stands twice"),
        ],
    )  # fmt: skip
    def test_a_wrong_request_is_refused(self, made, said, error, message):
        with pytest.raises(error, match=message):
            gate(made["reference"], made["retake"], **{**SAID, **said})

    def test_a_dry_run_decodes_nothing_and_says_what_would_be_measured(self, made):
        result = gate(
            made["reference"], made["retake"], null_control=made["other_seed"], dry_run=True, **SAID
        )
        assert (result.verdict, result.passed, result.judged) == (None, False, None)
        plan = json.loads(result.to_json())
        assert plan["schema"] == "screentest/gate-plan@1"
        assert plan["clips"] == 24
        assert plan["protocol"]["width"] == arms.WIDTH
        assert [budget["name"] for budget in plan["budgets"]["budgets"]] == [
            budget.name for budget in shipped("video").budgets
        ]
        assert plan["pairs"][0]["reference"] == str(made["reference"] / "scene_0.mp4")
        with pytest.raises(InputError, match="nothing was measured"):
            _ = result.report

    def test_names_without_a_partner_are_all_told(self, made, tmp_path):
        candidate = tmp_path / "candidate"
        candidate.mkdir()
        for path in files(made["retake"], 6):
            (candidate / path.name).write_bytes(path.read_bytes())
        (candidate / "extra.mp4").write_bytes(path.read_bytes())
        with pytest.raises(InputError) as refused:
            gate(made["reference"], candidate, **SAID)
        assert "reference: 'scene_6', 'scene_7'" in refused.value.message
        assert "candidate: 'extra'" in refused.value.message

    def test_lists_of_different_length_are_refused(self, made):
        with pytest.raises(InputError, match="8 references and 7 candidates"):
            gate(files(made["reference"]), files(made["retake"], 7), **SAID)

    def test_a_folder_against_a_list_is_refused(self, made):
        with pytest.raises(InputError, match="the other arm is 8 clips"):
            gate(made["reference"], files(made["retake"]), **SAID)

    def test_one_folder_for_both_arms_is_refused(self, made):
        with pytest.raises(InputError, match="is the reference and the candidate"):
            gate(made["reference"], made["reference"], **SAID)

    @pytest.mark.parametrize("name", ["nowhere", "nowhere.mp4"])
    def test_what_is_not_there_stays_file_not_found(self, made, tmp_path, name):
        with pytest.raises(FileNotFoundError):
            gate(made["reference"], tmp_path / name, **SAID)

    def test_a_folder_without_a_clip_is_refused(self, made, tmp_path):
        with pytest.raises(InputError, match="no video or image"):
            gate(made["reference"], tmp_path, **SAID)

    def test_two_files_of_one_name_are_refused(self, made, tmp_path):
        for name in ("a.mp4", "a.mkv"):
            (tmp_path / name).write_bytes(b"")
        with pytest.raises(InputError, match="have one name"):
            gate(made["reference"], tmp_path, **SAID)

    def test_what_lies_beside_the_clips_is_told(self, made, tmp_path):
        candidate = tmp_path / "candidate"
        candidate.mkdir()
        for path in files(made["retake"]):
            (candidate / path.name).write_bytes(path.read_bytes())
        (candidate / "notes.txt").write_text("")
        result = gate(made["reference"], candidate, dry_run=True, **SAID)
        assert result.plan.notes == (f"{candidate}: no clip, and not looked at: 'notes.txt'",)

    def test_a_truncated_file_is_refused_by_its_packets_alone(self, made, tmp_path):
        cut = tmp_path / "cut.mp4"
        data = files(made["retake"])[7].read_bytes()
        cut.write_bytes(data[: len(data) * 9 // 10])
        with pytest.raises(MediaError, match=r"cut\.mp4: damaged"):
            gate(files(made["reference"]), [*files(made["retake"], 7), cut], **SAID)

    def test_a_still_among_clips_is_refused(self, made, tmp_path):
        still = tmp_path / "still.png"
        Image.fromarray(arms.pan(0, 1)[0]).save(still)
        with pytest.raises(ProtocolError, match="candidate of 'scene_7' is a still"):
            gate(files(made["reference"]), [*files(made["retake"], 7), still], **SAID)

    def test_frames_that_cannot_be_paired_by_pixel_are_refused_by_size(self):
        one = np.zeros((4, 48, 64, 3), np.uint8)
        with pytest.raises(ProtocolError, match="is 62x48 with 4 frames"):
            gate([one], [one[:, :, :62]], **{**SAID, "changes": ["container-mux"]})

    def test_a_missing_scipy_is_said_first(self, made, monkeypatch):
        find = __import__("importlib.util").util.find_spec
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda name: None if name == "scipy" else find(name)
        )
        with pytest.raises(MissingBackendError, match=r"screentest\[gate\]"):
            gate(made["reference"], made["retake"], **SAID)

    def test_a_metric_that_cannot_be_measured_here_is_known_as_a_fault(self, made, monkeypatch):
        monkeypatch.setattr(
            "screentest.metrics.availability.missing", lambda spec: f"{spec.name} is not here"
        )
        said = {**SAID, "changes": ["video-encoder"], "metrics": ["lpips"]}
        result = gate(made["reference"], made["retake"], dry_run=True, **said)
        assert "lpips will not be measured: lpips is not here" in result.plan.faults


class TestPrompts:
    def test_a_json_file_names_them(self, made, tmp_path):
        texts = {f"scene_{at}": f"a scene, {at}" for at in range(8)}
        (tmp_path / "prompts.json").write_text(json.dumps(texts))
        result = gate(
            made["reference"], made["retake"], prompts=tmp_path / "prompts.json", dry_run=True,
            **SAID,
        )  # fmt: skip
        assert result.plan.protocol.prompts == tuple(texts.values())

    def test_a_file_that_is_no_json_is_refused(self, made, tmp_path):
        (tmp_path / "prompts.json").write_text("a scene")
        with pytest.raises(InputError, match="not JSON"):
            gate(made["reference"], made["retake"], prompts=tmp_path / "prompts.json", **SAID)

    def test_files_are_ordered_by_the_value_of_their_numbers(self, tmp_path):
        for arm in ("a", "b"):
            (tmp_path / arm).mkdir()
            for at in (2, 10):
                picture = arms.pan(at % 8, 1)[0] + (arm == "b")
                Image.fromarray(picture).save(tmp_path / arm / f"p{at}.png")
        result = gate(tmp_path / "a", tmp_path / "b", dry_run=True, **SAID)
        assert result.plan.protocol.prompts == ("p2", "p10")


class TestSurprises:
    """What decides nothing and may not be what was meant is a note."""

    def test_numbered_stills_may_be_the_frames_of_a_clip(self, tmp_path):
        for arm in ("a", "b"):
            (tmp_path / arm).mkdir()
            for at in range(3):
                picture = arms.pan(at, 1)[0] + (arm == "b")
                Image.fromarray(picture).save(tmp_path / arm / f"{at:04}.png")
        (note,) = gate(tmp_path / "a", tmp_path / "b", dry_run=True, **SAID).plan.notes
        assert note.startswith("3 numbered pictures an arm are taken as stills")

    def test_uneven_times_are_told_with_the_clips_that_have_them(self, studio):
        # The last of 61 lies where it lay, so the mean rate is the same.
        late = ("-vf", "settb=1/1000,setpts=PTS+10*mod(N\\,2)", "-fps_mode", "passthrough")
        even = studio("a.mkv", *src(3), "-frames:v", 61)
        uneven = studio("a.mkv", *src(3), "-frames:v", 61, *late, "-enc_time_base", "1/1000")
        (note,) = gate([even], [uneven], dry_run=True, **SAID).plan.notes
        assert note.startswith("the candidate of 'a' has uneven times between its frames")

    def test_one_candidate_for_all_prompts_is_told(self, made, tmp_path):
        again = tmp_path / "again"
        again.mkdir()
        for path in files(made["retake"]):
            (again / path.name).write_bytes(files(made["retake"])[0].read_bytes())
        result = gate(made["reference"], again, **SAID)
        assert "8 candidates are 1 different files" in result.notes[-1]


def test_one_reference_for_two_prompts_counts_once(made):
    """The other seven are given twice: eight draws would be claimed where there are fewer."""
    paths, takes = files(made["reference"]), files(made["retake"])
    result = gate([*paths[:7], paths[0]], takes, **SAID)
    assert result.verdict == "indeterminate"
    assert result.report.reasons == (
        "the references of '0: scene_0', '7: scene_0' are one clip, which counts as 2 prompts: "
        "give each prompt its own render",
    )


class TestBytes:
    def test_any_number_of_threads_and_a_cache_give_the_same_bytes(self, made, tmp_path):
        runs = [
            gate(made["reference"], made["retake"], threads=threads, cache=cache, **SAID).to_json()
            for threads, cache in (
                (1, None), (2, None), (4, None), (2, tmp_path / "facts"), (2, tmp_path / "facts"),
            )
        ]  # fmt: skip
        assert len({hashlib.sha256(run).hexdigest() for run in runs}) == 1

    def test_a_folder_elsewhere_gives_the_same_bytes(self, made, tmp_path):
        for arm in ("reference", "retake"):
            (tmp_path / arm).mkdir()
            for path in files(made[arm]):
                (tmp_path / arm / path.name).write_bytes(path.read_bytes())
        here = gate(made["reference"], made["retake"], **SAID).to_json()
        assert gate(tmp_path / "reference", tmp_path / "retake", **SAID).to_json() == here

    def test_a_dispatch_level_changes_no_byte(self, made):
        code = (
            "import sys, json, screentest\n"
            "said = json.loads(sys.argv[3])\n"
            "sys.stdout.buffer.write(screentest.gate(*sys.argv[1:3], **said).to_json())"
        )
        found = [
            subprocess.run(
                [sys.executable, "-c", code, made["reference"], made["blurred"], json.dumps(SAID)],
                env={**os.environ, **({"SCREENTEST_SIMD": level} if level else {})},
                capture_output=True,
                check=True,
            ).stdout
            for level in ("", "baseline")
        ]
        assert found[0] == found[1]
        assert sealed.load(found[0]).body.verdict == "fail"

    def test_the_document_is_sealed_and_its_verdict_stands_in_the_body(self, made):
        result = gate(made["reference"], made["blurred"], **SAID)
        assert sealed.load(result.to_json()).body == result.report
        assert result.to_dict()["body"]["verdict"] == "fail"


def test_candidates_that_are_the_same_bytes_are_told(made, tmp_path):
    candidate = tmp_path / "candidate"
    candidate.mkdir()
    for path in files(made["reference"]):
        (candidate / path.name).write_bytes(path.read_bytes())
    result = gate(made["reference"], candidate, **SAID)
    assert result.notes == (
        "8 of 8 candidates are the same bytes as their references: was the change on?",
    )


def test_the_package_has_the_gate():
    assert screentest.gate is gate
    assert screentest.Protocol.__module__ == "screentest.protocol.stamp"

"""Series and pictures of the worst prompts, decoded again for the page of a gate."""

import numpy as np
import pytest

from screentest.errors import InputError
from screentest.gates.budget import shipped
from screentest.gates.judge import judge_reference
from screentest.gates.report import ReferenceFacts, ReferenceRow
from screentest.gating.evidence import gather_evidence
from tests.gates.made_reports import made_protocol, prompts

FRAMES = 6


def clips(count, *, offset=0, frames=FRAMES, size=(32, 48)):
    rng = np.random.default_rng(3)
    base = rng.integers(20, 200, (count, frames, *size, 3), dtype=np.uint8)
    return [clip + np.uint8(offset * (i + 1)) for i, clip in enumerate(base)]


def report(psnr, *, worst_frame=None):
    rows = tuple(
        ReferenceRow(prompt=name, frames=FRAMES, values={"psnr_worst": value},
                     worst_frame={} if worst_frame is None else {"psnr": worst_frame})
        for name, value in zip(prompts(len(psnr)), psnr, strict=True)
    )  # fmt: skip
    facts = ReferenceFacts(rows=rows, values={"psnr_worst": min(psnr), "psnr_mean": 40.0})
    stamp = made_protocol(len(psnr), changes=("container-mux",))
    return judge_reference(facts, stamp, shipped("reference"))


def test_the_worst_prompts_are_shown_the_worst_first():
    found = gather_evidence(report([40.0, 20.0, 30.0]), clips(3), clips(3), worst=2, frames=1)
    assert [each.prompt for each in found.prompts] == [1, 2]
    assert found.notes == ()
    assert gather_evidence(report([40.0]), clips(1), clips(1), worst=0).prompts == ()


def test_frames_are_spread_and_the_difference_is_the_mean_of_the_channels():
    references, candidates = clips(1), clips(1, offset=9)
    (shown,) = gather_evidence(report([30.0]), references, candidates, frames=3).prompts
    # 0, 2.5 rounded to even, 5.
    assert [frame.index for frame in shown.frames] == [0, 2, 5]
    for frame in shown.frames:
        one, two = references[0][frame.index], candidates[0][frame.index]
        assert np.array_equal(frame.reference, one)
        assert np.array_equal(frame.candidate, two)
        apart = np.abs(one.astype(float) - two).mean(axis=-1) / 255
        assert np.allclose(frame.difference, apart, atol=1e-6)


def test_a_frame_that_the_report_calls_the_worst_is_among_them():
    (shown,) = gather_evidence(report([30.0], worst_frame=4), clips(1), clips(1), frames=2).prompts
    assert [frame.index for frame in shown.frames] == [0, 4, 5]


def test_series_are_those_of_both_arms():
    references, candidates = clips(1), clips(1, offset=9)
    (shown,) = gather_evidence(report([30.0]), references, candidates, frames=1).prompts
    weights = np.array([0.299, 0.587, 0.114])
    for arm, clip in (("reference", references[0]), ("candidate", candidates[0])):
        luma = (clip.astype(float) / 255) @ weights
        told = getattr(shown.series["brightness"], arm)
        assert np.allclose(told, luma.mean(axis=(1, 2)), atol=1e-4)
        motion = getattr(shown.series["motion"], arm)
        assert np.isnan(motion[0])
        moved = 255 * np.abs(np.diff(luma, axis=0)).mean(axis=(1, 2))
        assert np.allclose(motion[1:], moved, atol=0.05)
    assert set(shown.series) == {"sharpness", "local contrast", "motion", "brightness", "contrast",
                                 "saturation"}  # fmt: skip


def test_pictures_are_made_small_and_a_small_fault_stays():
    references, candidates = clips(1, size=(400, 640)), clips(1, size=(400, 640))
    candidates[0][0, 201, 333] = 255 - references[0][0, 201, 333]
    (shown,) = gather_evidence(report([30.0]), references, candidates, frames=1).prompts
    assert shown.frames[0].reference.shape[1] < 400
    clear = np.abs(candidates[0][0].astype(float) - references[0][0]).mean(axis=-1).max() / 255
    assert shown.frames[0].difference.max() == pytest.approx(clear, abs=1e-6)


def test_a_shorter_candidate_leaves_holes_and_a_note():
    found = gather_evidence(report([30.0]), clips(1), clips(1, frames=3), frames=2)
    first, last = found.prompts[0].frames
    assert first.candidate is not None
    assert first.difference is not None
    assert (last.index, last.candidate, last.difference) == (5, None, None)
    assert "6 and 3 frames" in found.notes[0]
    assert len(found.prompts[0].series["brightness"].candidate) == 3


def test_pictures_of_different_size_have_no_difference():
    found = gather_evidence(report([30.0]), clips(1), clips(1, size=(16, 24)), frames=1)
    frame = found.prompts[0].frames[0]
    assert frame.reference.shape == (32, 48, 3)
    assert frame.candidate.shape == (16, 24, 3)
    assert frame.difference is None


def test_a_clip_that_cannot_be_read_any_more_is_a_note(tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no film")
    gone = tmp_path / "gone.mp4"
    found = gather_evidence(report([20.0, 30.0, 40.0]), clips(3), [broken, gone, clips(1)[0]])
    assert [each.prompt for each in found.prompts] == [2]
    assert [note[:8] for note in found.notes] == ["prompt 0", "prompt 1"]
    assert "broken.mp4" in found.notes[0]


def test_another_number_of_clips_than_of_pairs_is_refused():
    with pytest.raises(InputError, match="of 2 pairs; given were 2 references and 1") as caught:
        gather_evidence(report([30.0, 31.0]), clips(2), clips(1))
    assert caught.value.code == "evidence_count"


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_change_no_bit(threads):
    made = [gather_evidence(report([30.0]), clips(1), clips(1, offset=5), threads=n)
            for n in (2, threads)]  # fmt: skip
    one, two = (evidence.prompts[0] for evidence in made)
    for a, b in zip(one.frames, two.frames, strict=True):
        assert np.array_equal(a.difference, b.difference)
    for name in one.series:
        assert np.array_equal(
            one.series[name].candidate, two.series[name].candidate, equal_nan=True
        )

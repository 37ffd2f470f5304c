"""Which pairings are aligned, and the sentences that say why not."""

import pytest

from screentest.metrics.pairing import Difference, PairingFacts
from screentest.verdicts.pairing import judge_pairing


def facts(reference=60, candidate=60, **found):
    return PairingFacts(
        frames_reference=reference, frames_candidate=candidate, **{"lag_evidence": True, **found}
    )


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"lag_evidence": False},
        {"repeated": (21,)},
        {"repeated": tuple(range(1, 60))},
        {"differences": (Difference("range", "limited", "full"),)},
        {"differences": (Difference("matrix", "bt601", "bt709"), Difference("codec", "a", "b"))},
        {"differences": (Difference("frame_rate", 30.0, 30.2),)},
        {"differences": (Difference("frame_times", "constant", "variable"),)},
    ],
)
def test_as_many_frames_in_step_are_aligned(found):
    alignment = judge_pairing(facts(**found))
    assert alignment.aligned
    assert alignment.reasons == ()


@pytest.mark.parametrize(
    ("counts", "found", "reasons"),
    [
        (
            (60, 45),
            {"missing_at_end": 15},
            ["the candidate has 45 frames, the reference 60: the last 15 are missing"],
        ),
        (
            (60, 59),
            {"missing_at_end": 1, "lag_evidence": False},
            [
                "the candidate has 59 frames, the reference 60: the last one is missing, if both "
                "start together"
            ],
        ),
        (
            (45, 60),
            {"extra_at_end": 15},
            [
                "the candidate has 60 frames, the reference 45: the last 15 are more than the "
                "reference has"
            ],
        ),
        (
            (60, 59),
            {"lag": 1},
            [
                "the candidate has 59 frames, the reference 60",
                "the candidate starts 1 frame in: its frame 0 shows frame 1 of the reference",
            ],
        ),
        (
            (57, 60),
            {"lag": -3},
            [
                "the candidate has 60 frames, the reference 57",
                "the candidate starts 3 frames early: its frame 3 shows frame 0 of the reference",
            ],
        ),
        (
            (60, 59),
            {"dropped": (20,)},
            [
                "the candidate has 59 frames, the reference 60",
                "the candidate leaves out frame 20 of the reference; what follows is early",
            ],
        ),
        (
            (60, 61),
            {"repeated": (21,)},
            [
                "the candidate has 61 frames, the reference 60",
                "the candidate repeats 1 frame more than it replaces (it repeats at frame 21); "
                "what follows is late",
            ],
        ),
        (
            (60, 60),
            {"dropped": (10,), "repeated": (40,)},
            [
                "the candidate leaves out frame 10 of the reference; what follows is early",
                "the candidate repeats 1 frame more than it replaces (it repeats at frame 40); "
                "what follows is late",
            ],
        ),
        (
            (60, 60),
            {"dropped": (10,), "extra_at_end": 1},
            [
                "the candidate goes on 1 frame after the reference's last, though both have "
                "60 frames",
                "the candidate leaves out frame 10 of the reference; what follows is early",
            ],
        ),
        (
            (60, 60),
            {"lag": -1, "missing_at_end": 1},
            [
                "the candidate ends 1 frame before the reference's last, though both have "
                "60 frames",
                "the candidate starts 1 frame early: its frame 1 shows frame 0 of the reference",
            ],
        ),
        (
            (60, 60),
            {"differences": (Difference("frame_rate", 30.0, 25.0),)},
            [
                "the candidate has 25 frames per second, the reference 30: frames of one index "
                "are of different moments"
            ],
        ),
    ],
)
def test_each_reason_is_one_sentence_with_its_numbers(counts, found, reasons):
    alignment = judge_pairing(facts(*counts, **found))
    assert not alignment.aligned
    assert list(alignment.reasons) == reasons


def test_counts_alone_make_no_repeats():
    for counts in ((120, 72), (72, 120)):
        alignment = judge_pairing(facts(*counts, lag_evidence=False))
        assert list(alignment.reasons) == [
            f"the candidate has {counts[1]} frames, the reference {counts[0]}"
        ]


def test_every_difference_in_count_is_a_reason():
    for candidate in (1, 59, 61, 600):
        assert not judge_pairing(facts(60, candidate)).aligned


def test_a_long_list_of_drops_is_cut_short():
    (reason,) = judge_pairing(facts(dropped=tuple(range(10, 30)), extra_at_end=20)).reasons[1:]
    assert "frames 10, 11, 12, 13, 14, 15, 16, 17 and 12 more of the reference" in reason

"""Samples on their clock: what counts as a hole, and what is rounding."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.media.sound.timeline import Timeline

RATE = 48000


def placed(stamps, length=1024, base=Fraction(1, RATE), rate=RATE, channels=2):
    """(what each frame is moved by, kinds of damage, timeline)."""
    timeline = Timeline(rate, channels, base)
    moves, kinds = [], []
    for stamp in stamps:
        move, damage = timeline.place(stamp, length)
        moves.append(move)
        if damage is not None:
            kinds.append(damage)
    return moves, kinds, timeline


def test_frames_that_follow_each_other_are_left_alone():
    moves, damage, timeline = placed(range(5000, 5000 + 50 * 1024, 1024))
    assert moves == [0] * 50
    assert damage == []
    assert timeline.given == 50 * 1024
    assert timeline.time_s(1024) == (5000 + 1024) / RATE


@given(
    st.sampled_from([8000, 11025, 22050, 32000, 44100, 48000, 96000]),
    st.sampled_from([576, 960, 1024, 1152, 1536, 4096]),
    st.integers(-3000, 10**9),
)
def test_stamps_rounded_to_a_millisecond_are_no_holes(rate, length, start):
    stamps = [round(start + 1000 * k * length / rate) for k in range(400)]
    moves, damage, _ = placed(stamps, length, Fraction(1, 1000), rate)
    assert not any(moves)
    assert damage == []


def test_one_lost_packet_is_filled_to_its_last_sample():
    stamps = [k * 1024 for k in range(20) if k != 7]
    moves, (damage,), timeline = placed(stamps)
    assert moves == [0] * 7 + [1024] + [0] * 11
    assert (damage.kind, damage.time_s) == ("missing_samples", 7 * 1024 / RATE)
    assert timeline.given == 20 * 1024


@pytest.mark.parametrize(
    ("length", "rate", "off", "moved"),
    [
        # Half of a packet of 1024 at 48 kHz is 10.7 ms.
        (1024, 48000, 511, 0),
        (1024, 48000, 513, 513),
        # Never less than 5 ms, never more than 20 ms.
        (64, 48000, 240, 0),
        (64, 48000, 241, 241),
        (4096, 8000, 160, 0),
        (4096, 8000, 161, 161),
    ],
)
def test_a_hole_is_half_a_packet_between_5_and_20_ms(length, rate, off, moved):
    stamps = [0, length, 2 * length + off]
    moves, _, _ = placed(stamps, length, Fraction(1, rate), rate)
    assert moves == [0, 0, moved]


def test_a_clock_that_drifts_is_put_right_once_it_is_half_a_packet_off():
    # One tick in 200 too many.
    stamps = [k * 1024 + k * 1024 // 200 for k in range(1000)]
    moves, damage, timeline = placed(stamps)
    assert 0 < len(damage) <= 10
    assert abs(timeline.given - 1024 - stamps[-1]) <= 512
    assert set(moves) - {0} <= set(range(512, 520))


def test_a_stretch_given_twice_is_kept_once():
    stamps = [0, 1024, 1024 + 300, 2048 + 300]
    moves, (damage,), timeline = placed(stamps)
    # The third frame begins 724 samples before the end of the second.
    assert moves == [0, 0, -724, 0]
    assert damage.kind == "repeated_samples"
    assert timeline.given == 4 * 1024 - 724


def test_a_packet_given_twice_is_left_out_whole():
    moves, (damage,), timeline = placed([0, 1024, 0 + 512, 2048])
    assert moves == [0, 0, -1024, 0]
    assert damage.kind == "repeated_samples"
    assert timeline.given == 3 * 1024


def test_a_clock_that_starts_again_loses_no_sample():
    stamps = [*range(0, 100 * 1024, 1024), *range(0, 100 * 1024, 1024)]
    moves, (damage,), timeline = placed(stamps)
    assert not any(moves)
    assert "go back by 2.133 s" in damage.detail
    assert timeline.given == 200 * 1024


def test_a_stamp_of_days_later_asks_for_no_days_of_silence():
    day = 86_400 * RATE
    moves, (damage,), _ = placed([0, 1024, day, day + 1024])
    assert not any(moves)
    assert damage.kind == "missing_samples"
    assert "86399.957 s" in damage.detail


def test_many_long_holes_together_are_bounded():
    minute = 60 * RATE
    moves, damage, _ = placed(range(0, 200 * minute, minute))
    assert sum(moves) * 2 <= 1 << 27
    assert len(damage) == 199


def test_without_stamps_samples_follow_each_other():
    moves, damage, timeline = placed([None, None, 5000, None], base=None)
    assert (moves, damage, timeline.given) == ([0, 0, 0, 0], [], 4096)
    assert timeline.time_s(0) is None


def test_a_first_frame_without_a_stamp_is_placed_by_the_next():
    moves, damage, timeline = placed([None, 9024, 9024 + 1024])
    assert (moves, damage) == ([0, 0, 0], [])
    assert timeline.time_s(0) == 8000 / RATE

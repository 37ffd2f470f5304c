"""Pairing against edit lists that the tests make, and signatures against sums in numpy."""

import sys
from fractions import Fraction
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from screentest import _native
from screentest.errors import InputError
from screentest.media import open_clip
from screentest.media.info import ColourResolved, ColourTags
from screentest.metrics.pairing import (
    INFORMATIONAL,
    REACH,
    Difference,
    PairingAccumulator,
    differences_of,
)
from tests.oracles import clips
from tests.verdicts.made import clip_info


def pair(reference, candidate, **options):
    """Facts of two arrays or paths, pushed side by side."""
    with open_clip(reference, **options) as one, open_clip(candidate, **options) as two:
        pairing = PairingAccumulator(one, two)
        for frames in zip_longest(one.frames(), two.frames()):
            pairing.push(*frames)
        return pairing.finish()


def events(facts):
    return facts.lag, facts.dropped, facts.repeated, facts.missing_at_end, facts.extra_at_end


def pan(frames=60, *, speed=2.0, seed=1, size=(120, 160)):
    vx, vy = round(256 * speed * 0.8), round(256 * speed * 0.6)
    return clips.pan(frames, *size, seed, vx=vx, vy=vy)


def noisy(clip, sigma=5.0, seed=0):
    noise = np.random.default_rng(seed).normal(0, sigma, clip.shape)
    return np.clip(clip + noise + 0.5, 0, 255).astype(np.uint8)


# --------------------------------------------------------------------------------- signatures


def twin(luma, black, span):
    """Block means in exact arithmetic: ``luma`` is integer codes, black at ``black``."""
    height, width = luma.shape
    side = max(4, -(-max(width, height) // 64))
    means = []
    for top in range(0, height, side):
        row = []
        for left in range(0, width, side):
            block = luma[top : top + side, left : left + side]
            mean = Fraction(int(block.sum()), block.size)
            scaled = (mean - black) * 4080 / span + Fraction(1, 2)
            row.append(min(4080, max(0, scaled.numerator // scaled.denominator)))
        means.append(row)
    return np.array(means, np.uint16)


@pytest.mark.parametrize("size", [(5, 7), (144, 176), (243, 321), (720, 1280)])
def test_signature_of_bytes_equals_numpy(size):
    plane = clips.rng(3).integers(0, 256, size, dtype=np.uint8)
    format = _native.FrameFormat.grey(width=size[1], height=size[0], dtype="uint8")
    got = _native.pairing_signature(format, [plane])
    assert np.array_equal(got, twin(plane.astype(np.int64), 0, 255))


def test_signature_of_limited_planes_reads_the_first_alone():
    size, chroma = (90, 120), (45, 60)
    luma = clips.rng(4).integers(0, 1024, size, dtype=np.uint16)
    wanted = twin(luma.astype(np.int64), 64, 876)
    for kr, kb in ((0.299, 0.114), (0.2126, 0.0722)):
        format = _native.FrameFormat.yuv(width=120, height=90, bit_depth=10, kr=kr, kb=kb,
                                         limited=True, chroma_shift=(1, 1))  # fmt: skip
        for level in (0, 900):
            planes = [luma, *np.full((2, *chroma), level, np.uint16)]
            assert np.array_equal(_native.pairing_signature(format, planes), wanted)


def test_signature_of_rgb_is_of_its_luma():
    frame = clips.rng(5).integers(0, 256, (50, 70, 3), dtype=np.uint8)
    luma = frame.astype(np.int64) @ np.array([299, 587, 114])
    format = _native.FrameFormat.rgb(width=70, height=50, dtype="uint8")
    assert np.array_equal(_native.pairing_signature(format, [frame]), twin(luma, 0, 255_000))


def test_signature_reads_strides():
    frame = clips.rng(6).integers(0, 256, (60, 80), dtype=np.uint8)
    format = _native.FrameFormat.grey(width=40, height=30, dtype="uint8")
    view = frame[::-2, ::2]
    wanted = _native.pairing_signature(format, [np.ascontiguousarray(view)])
    assert np.array_equal(_native.pairing_signature(format, [view]), wanted)


# --------------------------------------------------------------------------------- edits


@pytest.mark.parametrize("speed", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("spoil", [lambda clip: clip, noisy], ids=["clean", "noise5"])
class TestEditsAreLocated:
    def test_none(self, speed, spoil):
        clip = pan(speed=speed)
        facts = pair(clip, spoil(clip))
        assert events(facts) == (0, (), (), 0, 0)
        assert facts.lag_evidence
        assert np.array_equal(facts.path, np.arange(60))

    def test_drop_at_20(self, speed, spoil):
        clip = pan(speed=speed)
        facts = pair(clip, spoil(np.delete(clip, 20, 0)))
        assert events(facts) == (0, (20,), (), 0, 0)
        assert np.array_equal(facts.path, np.delete(np.arange(60), 20))

    def test_frame_20_inserted_again(self, speed, spoil):
        clip = pan(speed=speed)
        facts = pair(clip, spoil(np.insert(clip, 21, clip[20], 0)))
        assert events(facts) == (0, (), (21,), 0, 0)
        assert np.array_equal(facts.path, np.insert(np.arange(60), 21, 20))

    def test_frame_20_in_place_of_21(self, speed, spoil):
        clip = pan(speed=speed)
        order = np.arange(60)
        order[21] = 20
        facts = pair(clip, spoil(clip[order]))
        assert events(facts) == (0, (), (21,), 0, 0)
        assert np.array_equal(facts.path, order)

    @pytest.mark.parametrize("lag", [1, 30])
    def test_lag_of_both_signs(self, speed, spoil, lag):
        clip = pan(speed=speed)
        assert events(pair(clip, spoil(clip[lag:]))) == (lag, (), (), 0, 0)
        assert events(pair(clip[lag:], spoil(clip))) == (-lag, (), (), 0, 0)

    def test_45_of_60(self, speed, spoil):
        clip = pan(speed=speed)
        assert events(pair(clip, spoil(clip[:45]))) == (0, (), (), 15, 0)
        assert events(pair(clip[:45], spoil(clip))) == (0, (), (), 0, 15)

    def test_drop_and_later_repeat(self, speed, spoil):
        clip = pan(speed=speed)
        order = [*range(10), *range(11, 41), *range(40, 60)]
        facts = pair(clip, spoil(clip[order]))
        assert len(order) == 60
        assert events(facts) == (0, (10,), (40,), 0, 0)
        assert facts.path.tolist() == order

    def test_frozen_throughout(self, speed, spoil):
        clip = pan(speed=speed)
        facts = pair(clip, spoil(clip[[0] * 60]))
        assert events(facts) == (0, (), tuple(range(1, 60)), 0, 0)
        assert not facts.path.any()


@st.composite
def edit_lists(draw):
    """(frames, order): the reference frames that a candidate shows, some left out, some twice.

    Events keep four frames from each other and from the ends: closer ones may be told as one.
    """
    frames = draw(st.integers(30, 70))
    order, dropped, repeated = [], [], []
    at = draw(st.integers(4, 12))
    events = {}
    while at < frames - 5:
        events[at] = draw(st.sampled_from(["drop", "repeat"]))
        at += draw(st.integers(5, 20))
    for frame in range(frames):
        if events.get(frame) == "drop":
            dropped.append(frame)
            continue
        order.append(frame)
        if events.get(frame) == "repeat":
            repeated.append(len(order))
            order.append(frame)
    return frames, order, tuple(dropped), tuple(repeated)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    edit=edit_lists(),
    speed=st.floats(0.5, 8.0),
    gain=st.floats(0.8, 1.2),
    seed=st.integers(1, 6),
)
def test_random_drops_and_repeats_are_located(edit, speed, gain, seed):
    frames, order, dropped, repeated = edit
    clip = pan(frames, speed=speed, seed=seed, size=(72, 96))
    candidate = np.clip(clip[order] * gain, 0, 255).astype(np.uint8)
    facts = pair(clip, candidate)
    assert events(facts) == (0, dropped, repeated, 0, 0)
    assert facts.path.tolist() == order


# --------------------------------------------------------------------------------- no shift


@pytest.mark.parametrize(
    "spoil",
    [
        noisy,
        lambda clip: np.clip(clip * 1.2 - 10.0, 0, 255).astype(np.uint8),
        lambda clip: (clip // 2 + clip.mean(axis=-1, keepdims=True) // 2).astype(np.uint8),
        lambda clip: (clip // 32) * 32,
    ],
    ids=["noise", "gain", "desaturated", "posterised"],
)
@pytest.mark.parametrize("name", ["pan24", "zoom"])
def test_a_distorted_take_is_not_shifted(spoil, name):
    clip = pan(speed=1.5) if name == "pan24" else clips.zoom(40, 120, 160, 4)
    facts = pair(clip, spoil(clip))
    assert events(facts) == (0, (), (), 0, 0)


def test_a_moved_picture_is_no_lag():
    clip = clips.zoom(40, 120, 160, 4)
    assert events(pair(clip, np.roll(clip, 3, axis=2))) == (0, (), (), 0, 0)


def test_another_take_gives_no_evidence():
    facts = pair(pan(seed=1), pan(seed=2, speed=3.0))
    assert events(facts) == (0, (), (), 0, 0)
    assert not facts.lag_evidence


def test_a_slower_take_of_one_scene_is_not_shifted():
    # Frame j shows the scene as it was at 0.9 j: no frame is missing, all are a little early.
    facts = pair(pan(speed=3.0), pan(speed=2.7))
    assert events(facts) == (0, (), (), 0, 0)


@pytest.mark.parametrize("kind", ["static", "static with noise", "flat", "periodic", "one frame"])
def test_what_cannot_be_told_is_lag_0_without_evidence(kind):
    clip = pan()
    reference, candidate = {
        "static": (clip[[0] * 40],) * 2,
        "static with noise": (clip[[0] * 40], noisy(clip[[0] * 40])),
        "flat": (np.full_like(clip, 90), np.full_like(clip, 120)),
        "periodic": (clip[[*range(8)] * 6],) * 2,
        "one frame": (clip[:1],) * 2,
    }[kind]
    facts = pair(reference, candidate)
    assert events(facts) == (0, (), (), 0, 0)
    assert not facts.lag_evidence


def test_a_pause_in_both_is_no_repeat():
    order = [*range(20), *[20] * 10, *range(21, 50)]
    clip = pan()[order]
    assert events(pair(clip, clip)) == (0, (), (), 0, 0)


# --------------------------------------------------------------------------------- driving it


def test_depth_and_format_may_differ():
    clip = pan(40)
    deep = np.delete(clip, 9, 0).astype(np.uint16) * 257
    with open_clip(clip) as one, open_clip(deep, bit_depth=16) as two:
        pairing = PairingAccumulator(one, two)
        for frames in zip_longest(one.frames(), two.frames()):
            pairing.push(*frames)
        facts = pairing.finish()
    assert facts.dropped == (9,)
    assert Difference("bit_depth", 8, 16) in facts.differences


def test_one_by_one_is_the_same_as_in_pairs():
    clip = pan()
    candidate = np.delete(clip, 30, 0)
    with open_clip(clip) as one, open_clip(candidate) as two:
        pairing = PairingAccumulator(one, two)
        ahead = iter(two.frames())
        for _, frame in zip(range(REACH), ahead, strict=False):
            pairing.push_candidate(frame)
        for frame in one.frames():
            pairing.push_reference(frame)
            for later in ahead:
                pairing.push_candidate(later)
                break
        facts = pairing.finish()
    assert events(facts) == events(pair(clip, candidate)) == (0, (30,), (), 0, 0)


def test_a_frame_is_not_kept():
    frame = np.zeros((48, 64), np.uint8)
    format = _native.FrameFormat.grey(width=64, height=48, dtype="uint8")
    pairing = _native.PairingAccumulator(format, format)
    before = sys.getrefcount(frame)
    pairing.push([frame], [frame])
    assert sys.getrefcount(frame) == before


def test_sizes_that_differ_are_refused():
    with open_clip(pan(2)) as one, open_clip(pan(2, size=(120, 158))) as two:
        with pytest.raises(InputError) as caught:
            PairingAccumulator(one, two)
        assert caught.value.code == "size_mismatch"


def test_a_clip_that_falls_behind_has_ended():
    with open_clip(pan(REACH + 2)) as clip:
        pairing = PairingAccumulator(clip, clip)
        for frame in clip.frames():
            pairing.push_reference(frame)
        with pytest.raises(InputError) as caught:
            pairing.push_candidate(frame)
        assert caught.value.code == "out_of_step"
        assert pairing.finish().missing_at_end == REACH + 2
        with pytest.raises(InputError) as caught:
            pairing.finish()
        assert caught.value.code == "finished"


# --------------------------------------------------------------------------------- differences


def difference(reference, candidate, **times):
    return differences_of(clip_info(**reference), clip_info(**candidate), **times)


def test_equal_clips_do_not_differ():
    assert difference({}, {}) == ()


@pytest.mark.parametrize(
    ("field", "one", "two", "values"),
    [
        ("size", {}, {"width": 640}, ("1280x720", "640x720")),
        ("frame_rate", {"frame_rate": 30.0}, {"frame_rate": 25.0}, (30.0, 25.0)),
        ("pixel_format", {}, {"pixel_format": "yuv444p"}, ("yuv420p", "yuv444p")),
        ("bit_depth", {}, {"bit_depth": 10}, (8, 10)),
        ("rotation", {}, {"rotation_degrees": 90}, (0, 90)),
        ("sar", {}, {"sample_aspect_ratio": "4:3"}, ("1:1", "4:3")),
        ("field_order", {}, {"field_order": "tt"}, ("progressive", "tt")),
        ("hdr", {}, {"hdr": "pq"}, ("none", "pq")),
        ("alpha", {}, {"alpha": "composited"}, ("opaque", "composited")),
        ("codec", {"codec": "h264"}, {"codec": "av1"}, ("h264", "av1")),
        ("container", {"container": "mov"}, {"container": "nut"}, ("mov", "nut")),
        (
            "transfer",
            {"colour_tags": ColourTags(transfer="bt709")},
            {"colour_tags": ColourTags(transfer="smpte2084")},
            ("bt709", "smpte2084"),
        ),
    ],
)
def test_each_field_is_listed_alone(field, one, two, values):
    assert difference(one, two) == (Difference(field, *values),)


def test_an_unknown_value_is_no_difference():
    tags = {"colour_tags": ColourTags(primaries="bt709"), "codec": "h264", "frame_rate": None}
    assert difference(tags, {"frame_rate": 30.0}) == ()


def test_the_old_full_range_format_is_a_matter_of_range():
    def colour(range):
        return ColourResolved(matrix="bt601", range=range, matrix_from="rule", range_from="tag")

    got = difference(
        {"colour": colour("limited")}, {"colour": colour("full"), "pixel_format": "yuvj420p"}
    )
    assert got == (Difference("range", "limited", "full"),)


def test_a_rate_that_a_millisecond_clock_rounds_is_the_same():
    # Ten frames at 30 a second end at 0.3 s; stamps of 1 ms may say 0.299.
    rounded = {"frame_rate": 9 / 0.299, "frames": 10}
    assert difference({"frame_rate": 30.0, "frames": 10}, rounded) == ()
    rounded["frames"] = 1000
    assert difference({"frame_rate": 30.0, "frames": 1000}, rounded) != ()


def test_patterns_of_time_are_compared_from_their_own_start():
    variable = {"constant_frame_rate": False}
    times = np.array([0.0, 0.1, 0.2, 0.5])
    assert difference(variable, variable, times=(times, times + 3)) == ()
    other = np.array([0.0, 0.3, 0.4, 0.5])
    (found,) = difference(variable, variable, times=(times, other))
    assert found.field == "frame_times"
    (found,) = difference({}, variable)
    assert found == Difference("frame_times", "constant", "variable")


def test_informational_fields_are_fields():
    stored = ({"codec": "a", "container": "b"}, {"codec": "c", "container": "d"})
    assert tuple(d.field for d in difference(*stored)) == INFORMATIONAL

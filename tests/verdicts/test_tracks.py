"""The track verdict: two-sided, with floors; frozen and bare candidates; exposure before warble."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from screentest.errors import PolicyError
from screentest.metrics.facts import Unmeasured
from screentest.metrics.temporal import TemporalFacts, temporal_facts
from screentest.verdicts.tracks import TrackVerdict
from screentest.verdicts.tracks import track_verdict as judge
from screentest.verdicts.tracks_policy import (
    TrackPolicy,
    as_track_policy,
    default_track_policy,
    load_track_policy,
    parse_track_policy,
)
from tests.oracles import clips
from tests.oracles.luma_series import luma_series
from tests.verdicts import made
from tests.verdicts.made_tracks import tracks, window

PAIRS = json.loads((Path(clips.__file__).parent / "temporal.json").read_text())["pairs"]

track_verdict: Any = judge
"""Takes the stand-ins of made_tracks for track facts."""


def codes(verdict: TrackVerdict) -> list[str]:
    return [defect.code for defect in verdict.defects]


def at_ratio(ratio: float, **control: Any) -> TrackVerdict:
    reference = tracks(track_stability=0.5, **{"track_survival": 0.9, **control})
    verdict: TrackVerdict = track_verdict(tracks(track_stability=0.5 * ratio), reference)
    return verdict


def temporal(frames: Any) -> TemporalFacts:
    return temporal_facts(luma_series(frames), made.clip_info(frames=len(frames)))


# ---------------------------------------------------------------------------- the ratio


@pytest.mark.parametrize(
    ("ratio", "verdict", "says"),
    [
        (0.0, "reject", ["warble"]),
        (0.366, "reject", ["warble"]),
        (0.8999, "reject", ["warble"]),
        (0.9, "pass", []),
        (1.0, "pass", []),
        (1.25, "pass", []),
        (1.4, "pass", []),
        (1.4001, "reject", ["over_smoothing"]),
        (2.169, "reject", ["over_smoothing"]),
    ],
)
def test_the_ratio_is_judged_from_both_sides(ratio: float, verdict: str, says: list[str]) -> None:
    judged = at_ratio(ratio)
    assert (judged.verdict, codes(judged)) == (verdict, says)
    assert judged.ratio == pytest.approx(ratio)
    assert judged.passed == (verdict == "pass")


def test_a_clip_against_itself_has_a_ratio_of_exactly_one_and_passes() -> None:
    facts = tracks()
    judged = track_verdict(facts, facts)
    assert (judged.verdict, judged.ratio, judged.defects) == ("pass", 1.0, ())
    assert [note.code for note in judged.notes] == ["scope"]


@pytest.mark.parametrize(
    ("survival", "verdict"), [(0.249, "unmeasured"), (0.25, "reject"), (0.9, "reject")]
)
def test_a_control_whose_tracks_die_is_not_compared_with(survival: float, verdict: str) -> None:
    judged = at_ratio(0.5, track_survival=survival)
    assert judged.verdict == verdict
    assert judged.measured["control_track_survival"] == survival


@pytest.mark.parametrize(("survival", "verdict"), [(0.399, "pass"), (0.4, "reject")])
def test_the_ceiling_needs_a_control_that_survives(survival: float, verdict: str) -> None:
    judged = at_ratio(2.0, track_survival=survival)
    assert judged.verdict == verdict
    if verdict == "pass":
        assert [note.code for note in judged.notes] == ["ceiling_unmeasured"]


def test_a_control_without_stable_tracks_leaves_it_unmeasured() -> None:
    judged = track_verdict(tracks(), tracks(track_stability=1e-9))
    assert (judged.verdict, judged.ratio) == ("unmeasured", None)


def test_a_warble_says_what_moved() -> None:
    reference = tracks(track_stability=0.8)
    judged = track_verdict(tracks(track_stability=0.3, track_jitter=0.23), reference)
    assert "0.300 against 0.800" in judged.defects[0].message
    assert "jitter 0.230 against 0.020" in judged.defects[0].message


@pytest.mark.parametrize(
    ("ratio", "inside", "verdict"),
    [
        (0.7, 0.95, "pass"),
        (0.7, 0.89, "reject"),
        (1.6, 1.1, "pass"),
        (1.6, 1.45, "reject"),
        (0.7, 1.5, "reject"),
        (1.0, 0.5, "pass"),
    ],
)
def test_tracks_that_left_the_picture_do_not_count_against_it(
    ratio: float, inside: float, verdict: str
) -> None:
    reference = tracks(track_stability=0.5)
    candidate = tracks(track_stability=0.5 * ratio, stability_inside=0.5 * inside)
    judged = track_verdict(candidate, reference)
    assert judged.verdict == verdict
    notes = [note.code for note in judged.notes]
    assert ("left_the_picture" in notes) == (verdict == "pass" and not 0.9 <= ratio <= 1.4)


# ---------------------------------------------------------------------------- unmeasured


def test_a_control_that_stands_still_says_nothing_of_a_candidate_that_moves() -> None:
    still = tracks([window(8 * k, stability=1.0, motion=0.0) for k in range(4)])
    judged = track_verdict(tracks(), still)
    assert (judged.verdict, judged.defects) == ("unmeasured", ())
    assert "the control stands still and the candidate moves" in judged.unmeasured[0].reason
    assert track_verdict(still, still).passed, "a still scene against itself"


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        ({"hdr": "pq"}, "the candidate: the limits were calibrated on standard dynamic range"),
        ({"frame_rate": 10.0}, "10 frames per second, the reference 24"),
    ],
)
def test_pictures_or_rates_of_another_kind_are_not_compared(
    candidate: dict[str, Any], says: str
) -> None:
    judged = track_verdict(tracks(clip=candidate), tracks())
    assert judged.verdict == "unmeasured"
    assert says in judged.unmeasured[0].reason


@pytest.mark.parametrize(("frames", "verdict"), [(12, "unmeasured"), (13, "pass")])
def test_much_shorter_windows_are_not_compared(frames: int, verdict: str) -> None:
    short = tracks([window(0, frames=frames)])
    assert track_verdict(short, tracks()).verdict == verdict


def test_without_a_reference_there_are_numbers_and_no_verdict() -> None:
    judged = track_verdict(tracks())
    assert (judged.verdict, judged.ratio, judged.passed) == ("unmeasured", None, False)
    assert judged.measured["track_stability"] == pytest.approx(0.8)
    assert "no reference" in judged.unmeasured[0].reason


def test_a_reference_without_corners_leaves_it_unmeasured() -> None:
    judged = track_verdict(tracks(), tracks([window(0, seeded=3)]))
    assert judged.verdict == "unmeasured"
    assert "the control could not be tracked" in judged.unmeasured[0].reason


def test_both_without_corners_are_unmeasured_and_no_collapse() -> None:
    judged = track_verdict(tracks([window(0, seeded=2)]), tracks([window(0, seeded=3)]))
    assert (judged.verdict, judged.defects) == ("unmeasured", ())


def test_a_candidate_without_windows_is_unmeasured_with_its_own_reason() -> None:
    short = tracks([], unmeasured=[Unmeasured("track_stability", "needs 3 frames; this has 2")])
    judged = track_verdict(short, tracks())
    assert judged.verdict == "unmeasured"
    assert judged.unmeasured[0].reason == "needs 3 frames; this has 2"


def test_facts_of_different_versions_are_not_compared() -> None:
    judged = track_verdict(tracks(impl="tracks/2"), tracks())
    assert (judged.verdict, judged.ratio) == ("unmeasured", None)
    assert "tracks/2" in judged.unmeasured[0].reason


@pytest.mark.parametrize("which", ["candidate", "reference"])
def test_interlaced_clips_are_not_compared(which: str) -> None:
    woven = tracks(clip={"field_order": "tt"}, track_stability=0.1)
    pair = (woven, tracks()) if which == "candidate" else (tracks(), woven)
    judged = track_verdict(*pair)
    assert judged.verdict == "unmeasured"
    assert judged.unmeasured[0].reason.startswith(f"the {which} is interlaced")


# ---------------------------------------------------------------------------- texture


def test_a_candidate_without_texture_against_a_trackable_control_is_a_reject() -> None:
    flat = tracks([window(8 * k, seeded=0) for k in range(4)])
    judged = track_verdict(flat, tracks())
    assert (judged.verdict, codes(judged)) == ("reject", ["texture_collapse"])
    assert judged.ratio is None


def test_a_flat_candidate_has_lost_its_texture_before_it_stands_still() -> None:
    flat = tracks([window(8 * k, seeded=0) for k in range(4)])
    still = temporal(clips.flat(30, 48, 64, (9, 9, 9)))
    judged = track_verdict(
        flat,
        tracks(),
        candidate_temporal=still,
        reference_temporal=temporal(clips.pan(30, 48, 64, 3)),
    )
    assert (judged.verdict, codes(judged)) == ("reject", ["texture_collapse", "frozen"])


@pytest.mark.parametrize(("bare", "verdict"), [(1, "pass"), (2, "reject")])
def test_texture_that_is_lost_in_part_of_the_clip(bare: int, verdict: str) -> None:
    windows = [window(24 * k, seeded=0 if k >= 4 - bare else 400) for k in range(4)]
    judged = track_verdict(tracks(windows), tracks())
    assert (judged.verdict, codes(judged)) == (verdict, ["texture_collapse"])
    assert judged.defects[0].frames == (24 * (4 - bare), 95)
    assert judged.defects[0].seconds == (24 * (4 - bare) / 24, 4.0)


def test_a_fade_that_both_have_is_no_collapse() -> None:
    windows = [window(24 * k, seeded=0 if k == 3 else 400) for k in range(4)]
    assert track_verdict(tracks(windows), tracks(windows)).verdict == "pass"


# ---------------------------------------------------------------------------- frozen


def frozen(count: int = 4, of: int = 4) -> Any:
    still = [window(24 * k, motion=0.0, stability=1.0, survival=1.0) for k in range(count)]
    moving = [window(24 * k, brightness=[118 + 0.1 * i for i in range(24)])
              for k in range(count, of)]  # fmt: skip
    return tracks(still + moving)


def test_a_frozen_candidate_does_not_pass_against_a_moving_control() -> None:
    judged = track_verdict(frozen(), tracks())
    assert judged.ratio == pytest.approx(1.25)
    assert (judged.verdict, codes(judged)) == ("reject", ["frozen"])
    assert judged.defects[0].frames == (0, 95)


def test_a_still_scene_against_a_still_control_passes() -> None:
    judged = track_verdict(frozen(), frozen())
    assert (judged.verdict, judged.ratio, judged.defects) == ("pass", 1.0, ())


@pytest.mark.parametrize(("still", "verdict"), [(1, "pass"), (2, "reject"), (3, "reject")])
def test_a_candidate_that_freezes_on_the_way(still: int, verdict: str) -> None:
    judged = track_verdict(frozen(still), tracks())
    assert (judged.verdict, codes(judged)) == (verdict, ["frozen"])


def test_grain_on_a_frozen_candidate_does_not_make_it_move() -> None:
    """A tracker finds steps of less than 0.01 px, where it ends."""
    grainy = tracks([window(24 * k, motion=0.006, stability=0.85) for k in range(4)])
    judged = track_verdict(grainy, tracks([window(24 * k) for k in range(4)]))
    assert judged.ratio is not None
    assert 0.9 < judged.ratio < 1.4
    assert (judged.verdict, codes(judged)) == ("reject", ["frozen"])
    assert track_verdict(grainy, grainy).verdict == "pass"


def test_a_camera_that_stands_over_a_scene_that_lives_is_not_frozen() -> None:
    """Most tracks stand, and brightness says that something changes."""
    light = [118.0 + 0.2 * np.sin(i) for i in range(24)]
    lives = tracks([window(24 * k, motion=0.0, brightness=light) for k in range(4)])
    assert track_verdict(lives, tracks()).verdict == "pass"


def test_motion_energy_tells_a_freeze_that_tracks_do_not() -> None:
    noisy = tracks([window(24 * k, motion=0.02) for k in range(4)])
    moving, still = temporal(clips.pan(30, 48, 64, 3)), temporal(clips.flat(30, 48, 64, (9, 9, 9)))
    judged = track_verdict(noisy, tracks(), candidate_temporal=still, reference_temporal=moving)
    assert (judged.verdict, codes(judged)) == ("reject", ["frozen"])
    same = track_verdict(noisy, tracks(), candidate_temporal=still, reference_temporal=still)
    assert same.verdict == "pass"


def test_the_screens_own_freeze_counts_by_its_share_of_the_clip() -> None:
    held = made.facts(96, change=made.per_frame(96, 40.0, held=(30, 95, 0.3)), corr=1.0, std=0.2)
    moving = made.facts(96)
    short = made.facts(96, change=made.per_frame(96, 40.0, held=(70, 95, 0.3)), corr=1.0)
    judged = track_verdict(tracks(), tracks(), candidate_integrity=held, reference_integrity=moving)
    assert (judged.verdict, codes(judged)) == ("reject", ["frozen"])
    assert judged.defects[0].frames == (29, 95)
    for ours, theirs, verdict in (
        (held, held, "pass"),
        (short, moving, "pass"),
        (moving, held, "unmeasured"),
    ):
        judged = track_verdict(
            tracks(), tracks(), candidate_integrity=ours, reference_integrity=theirs
        )
        assert (judged.verdict, codes(judged)) == (verdict, [])


def test_a_frozen_candidate_is_named_even_where_the_control_cannot_be_tracked() -> None:
    judged = track_verdict(frozen(), tracks(track_survival=0.1))
    assert (judged.verdict, codes(judged)) == ("reject", ["frozen"])


# ---------------------------------------------------------------------------- exposure


def stepped(at: int, levels: float) -> Any:
    """The clip's fourth window has one brighter frame."""
    light = [118.0] * 24
    light[at] += levels
    windows = [window(24 * k) for k in range(3)] + [window(72, brightness=light)]
    return tracks(windows, track_stability=0.5)


def test_a_gain_step_is_named_before_the_warble_that_it_causes() -> None:
    judged = track_verdict(stepped(10, 2.4), tracks())
    assert judged.verdict == "reject"
    assert codes(judged) == ["exposure_step", "warble"]
    step, warble = judged.defects
    assert step.frames == (82, 83)
    assert step.value == pytest.approx(2.4)
    assert step.seconds == (round(82 / 24, 6), round(84 / 24, 6))
    assert "perhaps because of what is named first" in warble.message


def test_a_step_that_the_control_has_too_explains_nothing() -> None:
    control = with_numbers(stepped(10, 2.4), track_stability=0.8, stability_inside=0.8)
    assert codes(track_verdict(stepped(10, 2.4), control)) == ["warble"]


def test_a_small_change_of_brightness_is_no_step() -> None:
    assert codes(track_verdict(stepped(10, 0.5), tracks())) == ["warble"]


def test_a_steady_fade_has_no_step() -> None:
    light = [200.0 - 4.0 * i for i in range(24)]
    fading = tracks([window(24 * k, brightness=light) for k in range(4)], track_stability=0.5)
    assert codes(track_verdict(fading, tracks())) == ["warble"]


def test_a_brightness_that_jitters_has_many_steps() -> None:
    light = (118 + 2.0 * (-1.0) ** np.arange(24)).tolist()
    jitters = tracks([window(24 * k, brightness=light) for k in range(4)], track_stability=0.1)
    judged = track_verdict(jitters, tracks())
    assert codes(judged) == ["exposure_step", "warble"]
    assert judged.defects[0].frames == (1, 95)


def test_a_step_beside_a_ratio_that_holds_is_not_named() -> None:
    steady = with_numbers(stepped(10, 2.4), track_stability=0.8)
    assert track_verdict(steady, tracks()).defects == ()


def test_flicker_of_the_temporal_facts_is_named_first_unless_the_control_has_it() -> None:
    pan = clips.pan(40, 48, 64, 3)
    flickers, steady = temporal(clips.gain_jitter(pan, 5, 30)), temporal(pan)
    warbles = tracks(track_stability=0.1)
    judged = track_verdict(
        warbles, tracks(), candidate_temporal=flickers, reference_temporal=steady
    )
    assert codes(judged) == ["flicker", "warble"]
    assert [defect.severity for defect in judged.defects] == ["warn", "reject"]
    both = track_verdict(
        warbles, tracks(), candidate_temporal=flickers, reference_temporal=flickers
    )
    assert codes(both) == ["warble"]


def judged_beside(candidate: Any, control: Any) -> TrackVerdict:
    """A pair that warbles, and what its brightness and motion do over time."""
    verdict: TrackVerdict = track_verdict(
        tracks(track_stability=0.1),
        tracks(),
        candidate_temporal=temporal(candidate),
        reference_temporal=temporal(control),
    )
    return verdict


def test_a_cut_in_the_candidate_alone_is_named_first_and_is_no_exposure_step() -> None:
    pan, cut = clips.pan(40, 48, 64, 3), clips.cut(40, 48, 64, 3, 20)
    judged = judged_beside(cut, pan)
    assert (judged.verdict, codes(judged)) == ("reject", ["cut", "warble"])
    assert (judged.defects[0].severity, judged.defects[0].frames) == ("warn", (20, 20))
    assert "a cut at frame 20 (0.83 s) where its control has none" in judged.defects[0].message
    assert codes(judged_beside(cut, cut)) == ["warble"]
    light = [118.0] * 12 + [90.0] * 12
    windows = [window(8, brightness=light)]
    jumps = track_verdict(
        tracks(windows, track_stability=0.1),
        tracks(),
        candidate_temporal=temporal(cut),
        reference_temporal=temporal(pan),
    )
    assert codes(jumps) == ["cut", "warble"]


def test_a_fade_in_the_candidate_alone_is_named_first() -> None:
    pan, fade = clips.pan(40, 48, 64, 3), clips.fade(40, 48, 64, 3)
    judged = judged_beside(fade, pan)
    assert codes(judged) == ["fade", "warble"]
    assert "a fade to dark over frames 0 to 39" in judged.defects[0].message
    assert codes(judged_beside(fade, fade)) == ["warble"]


def test_a_cut_between_the_windows_ends_no_track() -> None:
    cut = temporal(clips.cut(40, 48, 64, 3, 20))
    apart = tracks([window(0, frames=20), window(20, frames=20)], track_stability=0.1)
    judged = track_verdict(
        apart,
        tracks(),
        candidate_temporal=cut,
        reference_temporal=temporal(clips.pan(40, 48, 64, 3)),
    )
    assert codes(judged) == ["warble"]


def with_numbers(facts: Any, **numbers: Any) -> Any:
    return msgspec.structs.replace(facts, **numbers)


# ---------------------------------------------------------------------------- reported pairs


@pytest.mark.parametrize("name", PAIRS)
def test_reported_numbers_get_the_reported_verdict_but_for_the_frozen_one(name: str) -> None:
    """The reference system's own numbers of a pan and its degraded copies."""
    pair = PAIRS[name]
    reference = tracks(
        track_stability=pair["track_stability_ref"], track_survival=pair["track_survival_ref"]
    )
    windows = [window(24 * k, motion=0.0 if name == "frozen" else 1.3) for k in range(4)]
    numbers = ("track_stability", "track_survival", "track_jitter", "track_rigidity_error")
    candidate = tracks(windows, **{key: pair[key] for key in numbers})
    judged = track_verdict(candidate, reference)
    assert judged.ratio == pytest.approx(pair["track_stability_ratio"])
    if name == "frozen":
        assert (pair["verdict"], judged.verdict, codes(judged)) == ("pass", "reject", ["frozen"])
    else:
        assert judged.verdict == pair["verdict"]
        assert codes(judged) == ["warble"] * (pair["defects"] == ["OBJECT WARBLE"])


# ---------------------------------------------------------------------------- policy


def test_the_reported_limits_are_those_of_the_reference_system() -> None:
    limits = default_track_policy().limits
    reported = {
        key: getattr(limits, key).value
        for key in limits.__struct_fields__
        if not getattr(limits, key).provisional
    }
    assert reported == {
        "warble_ratio": 0.9,
        "over_smoothing_ratio": 1.4,
        "control_survival": 0.25,
        "control_stability": 1e-9,
        "ceiling_survival": 0.4,
    }
    for key in limits.__struct_fields__:
        limit = getattr(limits, key)
        whose = "Ours" if limit.provisional else "Reference system"
        assert limit.provenance.startswith(whose)
        assert limit.unit


def test_a_policy_may_move_the_floor_and_only_warn() -> None:
    loose = parse_track_policy(
        'name = "loose"\nseverities.warble = "warn"\n'
        '[limits.warble_ratio]\nvalue = 0.7\nprovenance = "12 takes of one seed"'
    )
    reference = tracks(track_stability=0.5)
    assert track_verdict(tracks(track_stability=0.4), reference, policy=loose).defects == ()
    judged = track_verdict(tracks(track_stability=0.3), reference, policy=loose)
    assert (judged.verdict, codes(judged), judged.policy) == ("pass", ["warble"], "loose")
    assert judged.policy_sha256 == loose.sha256


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("warble_ratio", "1.1", "a clip against itself has a ratio of 1"),
        ("over_smoothing_ratio", "0.9", "a clip against itself has a ratio of 1"),
        ("ceiling_survival", "0.2", "is below limits.control_survival"),
        ("frozen_share", "0", "above 0"),
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(key: str, value: str, says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        parse_track_policy(f'name = "x"\n[limits.{key}]\nvalue = {value}\nprovenance = "because"')


def test_a_policy_has_no_list_of_axes() -> None:
    with pytest.raises(PolicyError, match="unknown key 'required'"):
        parse_track_policy('name = "x"\nrequired = ["warble"]')


def test_a_policy_is_read_from_a_file_and_checked_when_built_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nseverities.warble = "warn"')
    policy = load_track_policy(path)
    assert as_track_policy(path) == policy
    assert as_track_policy(None) is default_track_policy()
    broken = msgspec.structs.replace(policy, name=" ")
    assert isinstance(broken, TrackPolicy)
    with pytest.raises(PolicyError, match="name is empty"):
        as_track_policy(broken)


def test_a_verdict_can_be_written_and_read_back() -> None:
    judged = track_verdict(stepped(10, 2.4), tracks())
    assert msgspec.json.decode(msgspec.json.encode(judged), type=TrackVerdict) == judged

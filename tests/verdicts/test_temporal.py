"""Flicker, flash, judder, fade and cut: each is named as itself and located; clean clips pass."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from screentest.errors import PolicyError
from screentest.metrics.temporal import TemporalFacts, temporal_facts
from screentest.verdicts.judgement import Judgement
from screentest.verdicts.temporal import judge_temporal
from screentest.verdicts.temporal_policy import (
    TemporalPolicy,
    as_temporal_policy,
    default_temporal_policy,
    load_temporal_policy,
    parse_temporal_policy,
)
from screentest.verdicts.tracks_policy import default_track_policy
from tests.oracles import clips
from tests.oracles.luma_series import luma_series
from tests.verdicts import made

Frames = Any


def facts_of(frames: Frames, rate: float | None = 24.0, **info: Any) -> TemporalFacts:
    known = {"frames": len(frames), "frame_rate": rate, **info}
    return temporal_facts(luma_series(frames, rate), made.clip_info(**known))


def judged(frames: Frames, rate: float | None = 24.0, **info: Any) -> Judgement:
    return judge_temporal(facts_of(frames, rate, **info))


def codes(judgement: Judgement) -> list[str]:
    return [defect.code for defect in judgement.defects]


def noted(judgement: Judgement) -> list[str]:
    return [note.code for note in judgement.notes]


def base(count: int = 48, **move: int) -> Frames:
    return clips.pan(count, 72, 128, 3, **move)


def lit(frames: Frames, levels: Frames) -> Frames:
    """Every frame brighter by so many levels."""
    added = frames.astype(int) + np.asarray(levels)[:, None, None, None]
    return clips.u8(added)


# ---------------------------------------------------------------------------- flicker


@pytest.mark.parametrize("rate", [8.0, 24.0, 30.0, 60.0, 120.0])
def test_an_alternating_brightness_is_flicker_at_half_the_frame_rate(rate: float) -> None:
    judgement = judged(lit(base(), 4 * (-1) ** np.arange(48)), rate)
    assert codes(judgement) == ["flicker"]
    (defect,) = judgement.defects
    assert defect.value == pytest.approx(8.0, abs=1.0)
    assert defect.frames == (1, 46)
    assert defect.seconds == pytest.approx((1 / rate, 47 / rate), abs=1e-6)
    assert f"every 2 frames, {rate / 2:.3g} Hz" in defect.message
    assert noted(judgement) == []


@pytest.mark.parametrize("period", [2, 3, 4, 5, 8])
def test_one_frame_in_n_that_is_brighter_is_flicker_with_that_period(period: int) -> None:
    judgement = judged(lit(base(), 6 * (np.arange(48) % period == 1)))
    assert codes(judgement) == ["flicker"]
    assert f"every {period} frames" in judgement.defects[0].message


def test_a_gain_that_jitters_by_2_percent_is_flicker_without_a_rhythm() -> None:
    judgement = judged(clips.gain_jitter(base(), 5, 20))
    assert codes(judgement) == ["flicker"]
    assert "without a rhythm" in judgement.defects[0].message


def test_a_clip_that_flickers_in_its_second_half_says_where() -> None:
    levels = np.where(np.arange(60) >= 36, 4 * (-1) ** np.arange(60), 0)
    first, last = judged(lit(base(60), levels)).defects[0].frames or (0, 0)
    assert (first, last) == (36, 58)


def test_flicker_is_found_while_the_camera_moves_fast() -> None:
    moving = base(40, vx=1600, vy=0)
    assert codes(judged(moving)) == []
    assert "flicker" in codes(judged(clips.gain_jitter(moving, 5, 40)))


def test_a_lamp_that_flickers_in_one_part_is_located() -> None:
    frames = np.repeat(base(1), 36, axis=0).astype(int)
    frames[:, 0:16, 100:124] += (60 * (np.arange(36) % 3 == 0))[:, None, None, None]
    judgement = judged(clips.u8(frames))
    assert codes(judgement) == ["flicker"]
    assert "the top, right part" in judgement.defects[0].message
    assert "every 3 frames, 8 Hz" in judgement.defects[0].message


@pytest.mark.parametrize("seconds", [0.67, 1.0, 2.0])
def test_a_slowly_pulsing_light_is_none(seconds: float) -> None:
    pulse = 30 * np.sin(2 * np.pi * np.arange(72) / (24 * seconds))
    assert codes(judged(lit(base(72), pulse.astype(int)))) == []


def test_a_light_that_pulses_once_a_second_is_none_at_eight_frames_per_second() -> None:
    """Every eighth frame at 24 per second would be 3 Hz, and is flicker."""
    pulse = (30 * np.sin(2 * np.pi * np.arange(48) / 8)).astype(int)
    assert codes(judged(lit(base(), pulse), 8.0)) == []
    assert codes(judged(lit(base(), pulse), 24.0)) == ["flicker"]


# ---------------------------------------------------------------------------- one event


@pytest.mark.parametrize(("lasts", "height"), [(1, 60), (3, 60), (2, -60), (1, 3)])
def test_a_flash_is_named_as_itself_and_located(lasts: int, height: int) -> None:
    levels = np.zeros(48, int)
    levels[20 : 20 + lasts] = height
    judgement = judged(lit(base(), levels))
    assert codes(judgement) == ["flash"]
    assert judgement.defects[0].frames == (20, 20 + lasts - 1)
    assert ("brighter" if height > 0 else "darker") in judgement.defects[0].message
    assert noted(judgement) == []


def test_a_gain_step_of_2_percent_on_one_frame_is_a_flash_and_no_flicker() -> None:
    judgement = judged(clips.gain_one(base(), 15))
    assert codes(judgement) == ["flash"]
    assert judgement.defects[0].frames == (15, 15)


def test_several_flashes_are_one_finding_that_counts_them() -> None:
    levels = np.zeros(60, int)
    levels[[10, 30, 50]] = [20, 50, 20]
    (defect,) = judged(lit(base(60), levels)).defects
    assert (defect.code, defect.frames) == ("flash", (30, 30))
    assert "the strongest of 3, others at 10, 50" in defect.message


def beside_a_cut(levels: Frames, after: bool) -> Frames:
    """A still that has these levels next to frames of another still, the first of them nearest,
    and keeps the last."""
    still, other = np.repeat(base(1), 24, axis=0), clips.flat(24, 72, 128, (40, 40, 40))
    other[:, 10:30, 20:60] = 60
    path = np.pad(levels, (0, 24 - len(levels)), mode="edge")
    return np.concatenate((other, lit(still, path)) if after else (lit(still, path[::-1]), other))


@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
def test_what_drifts_up_to_a_cut_is_no_flash(after: bool) -> None:
    """Three levels in three frames: the cut hides where they come from or would have gone."""
    judgement = judged(beside_a_cut([3, 2, 1, 0], after))
    assert (codes(judgement), noted(judgement)) == ([], ["cut"])
    assert judgement.notes[0].frames == (24, 24)


@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
def test_a_flash_beside_a_cut_is_one(after: bool) -> None:
    judgement = judged(beside_a_cut([20, 0], after))
    assert codes(judgement) == ["flash"]
    assert judgement.defects[0].frames == ((24, 24) if after else (23, 23))


def test_a_linear_fade_is_noted_and_no_defect() -> None:
    judgement = judged(clips.fade(48, 72, 128, 3))
    assert (judgement.verdict, codes(judgement), noted(judgement)) == ("pass", [], ["fade"])
    assert judgement.notes[0].frames == (0, 47)
    assert "to dark" in judgement.notes[0].message


def test_a_fade_in_from_white_is_noted() -> None:
    frames = base(30).astype(int)
    share = np.linspace(0, 1, 30)[:, None, None, None]
    judgement = judged(clips.u8(np.rint(255 + (frames - 255) * share).astype(int)))
    assert (codes(judgement), noted(judgement)) == ([], ["fade"])
    assert "from bright" in judgement.notes[0].message


def test_a_fade_after_a_slow_drift_begins_where_it_begins() -> None:
    share = np.append(np.ones(24), np.linspace(1, 0, 9))[:, None, None, None]
    drifting = lit(np.repeat(base(1), 33, axis=0), -np.minimum(np.arange(33), 24))
    judgement = judged(clips.u8(np.rint(drifting * share).astype(int)))
    assert noted(judgement) == ["fade"]
    assert judgement.notes[0].frames == (24, 32)
    assert "frames 24 to 32 (1.00 to 1.38 s)" in judgement.notes[0].message


def test_a_dissolve_between_two_pictures_is_no_fade() -> None:
    """The new picture is darker and has three times the contrast."""
    pale = np.rint(125 + 0.3 * base(1)).astype(int)
    other = clips.pan(1, 72, 128, 4).astype(int)
    share = np.concatenate((np.zeros(8), np.linspace(0, 1, 13), np.ones(8)))[:, None, None, None]
    judgement = judged(clips.u8(np.rint(pale + (other - pale) * share).astype(int)))
    assert (codes(judgement), noted(judgement)) == ([], [])


def test_a_hard_cut_is_noted_at_the_first_frame_after_it() -> None:
    judgement = judged(clips.cut(48, 72, 128, 3, 20))
    assert (judgement.verdict, codes(judgement), noted(judgement)) == ("pass", [], ["cut"])
    assert judgement.notes[0].frames == (20, 20)
    assert judgement.notes[0].seconds == pytest.approx((20 / 24, 21 / 24))


def test_a_pan_towards_something_bright_is_no_fade() -> None:
    texture = clips.texture(76, 400, 3)
    ramp = np.linspace(0.2, 1.0, 400)[None, :, None]
    frames = clips.pan(40, 72, 128, 3, vx=1536, vy=0, tex=(texture * ramp).astype(np.int64))
    judgement = judged(frames)
    assert (codes(judgement), noted(judgement)) == ([], [])


# ---------------------------------------------------------------------------- judder


@pytest.mark.parametrize(
    ("shown", "rate", "says"),
    [
        (np.arange(48) // 2, 24.0, "every other frame repeats"),
        (np.arange(48) // 3, 24.0, "in every 3 frames 2 repeat"),
        (np.repeat(np.arange(24), np.tile([3, 2], 12)), 60.0, "24 of 60 frames a second are new"),
        (np.arange(60) * 4 // 5, 30.0, "24 of 30 frames a second are new"),
        (np.arange(125) * 24 // 25, 25.0, "24 of 25 frames a second are new"),
        (np.arange(120) // 5, 120.0, "24 of 120 frames a second are new"),
    ],
    ids=["on twos", "on threes", "3:2", "24 in 30", "24 in 25", "24 in 120"],
)
def test_frames_held_in_a_rhythm_are_judder(shown: Any, rate: float, says: str) -> None:
    judgement = judged(base(int(shown[-1]) + 1)[shown], rate)
    assert codes(judgement) == ["judder"]
    assert says in judgement.defects[0].message
    assert noted(judgement) == []


def test_pictures_that_are_held_for_longer_are_a_slide_show_with_cuts() -> None:
    shown = np.arange(72) // 6
    judgement = judged(base(12, vx=4096, vy=0)[shown])
    assert codes(judgement) == []
    assert [note.frames for note in judgement.notes] == [(k, k) for k in range(6, 72, 6)]


def test_held_frames_that_a_coder_refines_are_held() -> None:
    """A tenth of a level on average, all of it brightness."""
    frames = base(24)[np.arange(120) // 5]
    refined = (np.arange(120) % 5 < 3)[:, None, None, None]
    frames[:, :8] += (refined & (frames[:, :8] < 255)).astype(np.uint8)
    judgement = judged(frames, 60.0)
    assert codes(judgement) == ["judder"]
    assert "12 of 60 frames a second are new" in judgement.defects[0].message


def test_a_strobe_over_a_picture_that_moves_is_flicker_and_no_judder() -> None:
    judgement = judged(lit(base(60, vx=64, vy=0), 80 * (np.arange(60) % 6 < 2)))
    assert codes(judgement) == ["flicker"]
    gaps = {gap.axis: (gap.applies, gap.reason) for gap in judgement.unmeasured}
    assert gaps["judder"] == (
        False,
        "frames differ by their brightness more than by motion, so motion shows no rhythm",
    )


def test_a_picture_that_hardly_moves_has_no_rhythm_and_does_not_wait_for_one() -> None:
    frames = np.repeat(base(1), 48, axis=0)
    frames[1::2, 0, :8] ^= 8
    judgement = judged(frames)
    (gap,) = judgement.unmeasured
    assert (gap.axis, gap.applies, judgement.verdict) == ("judder", False, "pass")
    assert gap.reason == "no frame moves by 0.5 levels, so there is no rhythm"


def test_one_frame_shown_twice_is_no_judder() -> None:
    shown = np.sort(np.append(np.arange(48), 20))
    assert codes(judged(base()[shown])) == []


def test_a_freeze_at_the_end_is_no_judder() -> None:
    shown = np.minimum(np.arange(60), 30)
    assert codes(judged(base()[shown])) == []


def test_a_fade_over_a_still_shows_no_rhythm_and_does_not_wait_for_one() -> None:
    judgement = judged(clips.fade(48, 72, 128, 3))
    (gap,) = judgement.unmeasured
    assert (gap.axis, gap.applies, judgement.verdict) == ("judder", False, "pass")


# ---------------------------------------------------------------------------- clean clips


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param(lambda: base(), id="pan"),
        pytest.param(lambda: base(40, vx=4096, vy=0), id="fast pan"),
        pytest.param(lambda: clips.zoom(40, 72, 128, 3), id="zoom"),
        pytest.param(lambda: clips.checker(40, 96, 128, 3), id="parallax"),
        pytest.param(lambda: clips.with_squares(base(), 4, 6, 20), id="things that move"),
        pytest.param(lambda: clips.add_noise(base(), 4, 40), id="grain"),
        pytest.param(lambda: clips.add_noise(np.repeat(base(1), 48, 0), 4, 4), id="grainy still"),
        pytest.param(lambda: clips.noise(40, 72, 128, 4), id="noise"),
        pytest.param(lambda: clips.warble(40, 72, 128, 3), id="warble"),
        pytest.param(lambda: clips.flat(40, 72, 128, (0, 0, 0)), id="black"),
        pytest.param(lambda: np.repeat(base(1), 48, axis=0), id="a still"),
    ],
)
@pytest.mark.parametrize("rate", [8.0, 24.0, 120.0])
def test_a_clip_without_these_faults_passes(frames: Any, rate: float) -> None:
    judgement = judged(frames(), rate)
    assert (judgement.verdict, codes(judgement), noted(judgement)) == ("pass", [], [])


def test_a_clip_of_variable_rate_passes_and_its_flicker_is_in_hertz_as_seen() -> None:
    times = np.concatenate([np.arange(24) / 30.0, 24 / 30.0 + np.arange(24) / 10.0])

    def at(frames: Frames) -> Judgement:
        series = luma_series(frames, times_s=times)
        info = made.clip_info(frames=48, frame_rate=None, constant_frame_rate=False)
        return judge_temporal(temporal_facts(series, info))

    assert codes(at(base())) == []
    levels = np.where(np.arange(48) >= 26, 4 * (-1) ** np.arange(48), 0)
    (defect,) = at(lit(base(), levels)).defects
    assert "5 Hz" in defect.message
    assert defect.seconds is not None
    assert defect.seconds[0] == pytest.approx(times[26], abs=1e-6)


def test_without_time_the_rhythm_is_told_in_frames() -> None:
    judgement = judged(lit(base(), 4 * (-1) ** np.arange(48)), None, duration_s=None)
    (defect,) = judgement.defects
    assert "every 2 frames: " in defect.message
    assert defect.seconds is None


# ---------------------------------------------------------------------------- not judged


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_short_clip_is_unmeasured_with_reasons(count: int) -> None:
    judgement = judged(base(count))
    assert judgement.verdict == "unmeasured"
    assert {gap.axis for gap in judgement.unmeasured} == {"flicker", "flash", "judder"}
    assert all("frames in a row" in gap.reason for gap in judgement.unmeasured)


def test_an_interlaced_clip_is_unmeasured() -> None:
    flickers = lit(base(), 4 * (-1) ** np.arange(48))
    judgement = judged(flickers, field_order="tt", flags=("interlaced",))
    assert (judgement.verdict, judgement.defects) == ("unmeasured", ())
    assert all("interlaced (field order tt)" in gap.reason for gap in judgement.unmeasured)


@pytest.mark.parametrize("info", [{"hdr": "pq"}, {"alpha": "transparent"}])
def test_levels_say_nothing_about_hdr_or_transparency(info: dict[str, str]) -> None:
    judgement = judged(lit(base(), 4 * (-1) ** np.arange(48)), **info)
    assert (judgement.verdict, judgement.defects) == ("unmeasured", ())
    assert {gap.axis for gap in judgement.unmeasured} >= {"flicker", "flash"}


def test_a_clip_that_lost_frames_does_not_pass() -> None:
    judgement = judge_temporal(temporal_facts(luma_series(base()), made.clip_info(frames=60)))
    assert judgement.verdict == "unmeasured"
    assert "only 48 of 60 frames" in judgement.unmeasured[0].reason


# ---------------------------------------------------------------------------- with the screen


def test_frozen_and_duplicate_come_from_the_screen_alone() -> None:
    frames = np.minimum(np.arange(60), 30)
    temporal = facts_of(base()[frames])
    screened = made.facts(60, change=made.per_frame(60, 40.0, held=(31, 59, 0.0)))
    assert codes(judge_temporal(temporal)) == []
    (defect,) = judge_temporal(temporal, screened).defects
    assert (defect.code, defect.frames, defect.severity) == ("frozen", (30, 59), "warn")


# ---------------------------------------------------------------------------- policy


def test_by_default_nothing_here_rejects() -> None:
    severities = default_temporal_policy().severities
    assert set(msgspec.to_builtins(severities).values()) == {"warn"}


def test_a_policy_may_reject_flicker() -> None:
    strict = parse_temporal_policy('name = "strict"\nseverities.flicker = "reject"')
    flickers = facts_of(lit(base(), 4 * (-1) ** np.arange(48)))
    assert judge_temporal(flickers).verdict == "pass"
    assert judge_temporal(flickers, policy=strict).verdict == "reject"


def test_every_shipped_limit_has_a_unit_and_a_provenance() -> None:
    limits = default_temporal_policy().limits
    for key in type(limits).__struct_fields__:
        limit = getattr(limits, key)
        assert limit.unit, key
        assert len(limit.provenance) > 40, key
        assert limit.provisional, key
        assert limit.provenance.startswith("Ours"), key


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("treshold = 1", "unknown key 'treshold'"),
        ('name = "x"\n[limits.flash_level]\nvalue = 1', "did you mean 'flash_levels'"),
        ('name = "x"\n[limits.flash_levels]\nvalue = 1', "needs a provenance"),
        ('name = "x"\nrequired = ["frozen"]', "'frozen', which is no axis"),
        ('[severities]\nflash = "reject"', "needs a name"),
        (
            'name = "x"\n[limits.flicker_gap]\nvalue = 2.5\nprovenance = "because"',
            "counts frames",
        ),
        (
            'name = "x"\n[limits.flicker_swings]\nvalue = 1\nprovenance = "because"',
            "one excursion is a flash",
        ),
        ('schema = "screentest/integrity-policy@1"', "schema is"),
    ],
)
def test_a_bad_policy_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        parse_temporal_policy(text, source="mine.toml")
    assert str(refusal.value).startswith("mine.toml: ")
    assert says in str(refusal.value)


def test_a_policy_is_read_from_a_file_and_checked_when_built_by_hand(tmp_path: Any) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[limits.flash_levels]\nvalue = 9\nprovenance = "40 clips"')
    policy = load_temporal_policy(path)
    assert policy.limits.flash_levels.value == 9.0
    assert as_temporal_policy(str(path)) == policy
    assert policy.sha256 != default_temporal_policy().sha256
    broken = msgspec.structs.replace(policy, required=())
    assert isinstance(broken, TemporalPolicy)
    with pytest.raises(PolicyError, match="required is empty"):
        as_temporal_policy(broken)


def by_hand(**changes: Any) -> TemporalPolicy:
    """The shipped policy with other parts, as a program builds one."""
    shipped = default_temporal_policy()
    for key in changes.keys() & {"severities", "limits"}:
        changes[key] = msgspec.structs.replace(getattr(shipped, key), **changes[key])
    return msgspec.structs.replace(shipped, **changes)


def flash_levels(**changes: Any) -> dict[str, Any]:
    limit = default_temporal_policy().limits.flash_levels
    return {"flash_levels": msgspec.structs.replace(limit, **changes)}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"severities": {"flash": "reject"}}, "temporal/1: this policy differs from the one that"),
        ({"limits": flash_levels(value=9.0, provenance="40 clips")}, "needs a name of its own"),
        ({"name": "mine", "limits": flash_levels(value=9.0)}, "mine: limits.flash_levels needs"),
        (
            {"name": "mine", "limits": flash_levels(value=9.0, provenance="40", unit="%")},
            "mine: limits.flash_levels is in '%'; this limit is in '8-bit levels'",
        ),
        ({"name": "mine", "severities": {"flash": "fail"}}, "mine: severities.flash: 'fail'"),
        ({"name": "mine", "limits": flash_levels(value="9")}, "expected a number, got text"),
    ],
)
def test_a_policy_built_by_hand_is_held_to_the_rules_of_a_document(
    changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(PolicyError) as refusal:
        judge_temporal(facts_of(base(9)), policy=by_hand(**changes))
    assert says in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_a_policy_built_by_hand_with_its_own_name_and_evidence_judges() -> None:
    mine = by_hand(name="mine", limits=flash_levels(value=9.0, provenance="40 clips"))
    levels = np.zeros(48, int)
    levels[20] = 6
    assert codes(judged(lit(base(), levels))) == ["flash"]
    assert codes(judge_temporal(facts_of(lit(base(), levels)), policy=mine)) == []


@pytest.mark.parametrize("policy", [3, {"name": "x"}, default_track_policy()])
def test_what_is_no_temporal_policy_is_refused_by_name(policy: Any) -> None:
    with pytest.raises(PolicyError, match="where a TemporalPolicy or the path of its TOML file"):
        as_temporal_policy(policy)

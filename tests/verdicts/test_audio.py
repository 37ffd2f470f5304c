"""The audio verdict: what a sound is rejected for or warned of, and what decides nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from screentest.errors import PolicyError
from screentest.media.info import Damage
from screentest.metrics.audio_content.facts import ContentAnswer
from screentest.metrics.facts import Unmeasured
from screentest.verdicts.audio import judge_audio
from screentest.verdicts.audio_policy import (
    AXES,
    AudioPolicy,
    as_audio_policy,
    default_audio_policy,
    load_audio_policy,
    parse_audio_policy,
)
from screentest.verdicts.judgement import Defect, Judgement
from tests.verdicts.made_audio import (
    LAYOUTS,
    audio,
    channel,
    content,
    pair,
    series,
    silent_from,
    sound_info,
    sync,
)


def codes(judged: Judgement, severity: str | None = None) -> list[str]:
    return [d.code for d in judged.defects if severity in (None, d.severity)]


def noted(judged: Judgement) -> list[str]:
    return [note.code for note in judged.notes]


def why(judged: Judgement, axis: str) -> str:
    (gap,) = (gap for gap in judged.unmeasured if gap.axis == axis)
    return gap.reason


def only(judged: Judgement) -> Defect:
    (defect,) = judged.defects
    return defect


def budget(table: str, **bounds: Any) -> AudioPolicy:
    (name,) = bounds
    made = {**bounds[name], "provenance": "made for this test"}
    return parse_audio_policy({"name": "test", table: {name: made}})


# ---------------------------------------------------------------------------- by itself


def test_a_good_sound_passes_on_its_defects_alone_and_lists_what_was_not_looked_at() -> None:
    judged = judge_audio(audio())
    assert (judged.verdict, judged.defects, judged.notes) == ("pass", (), ())
    assert {gap.axis: gap.reason for gap in judged.unmeasured} == {
        "audio_pair": "there is no reference to compare with",
        "sync": "there is no picture to compare with",
        "audio_content": "there is no checklist",
    }
    assert not any(gap.applies for gap in judged.unmeasured)


@pytest.mark.parametrize(
    ("level", "code"),
    [(-49.9, None), (-50.0, None), (-50.1, "silent"), (-60.5, "silent"), (-120.0, "silent")],
)
def test_a_level_under_the_floor_is_silent(level: float, code: str | None) -> None:
    judged = judge_audio(audio(audio_rms_dbfs=level, series=series([level] * 50)))
    assert codes(judged, "reject") == ([code] if code else [])


def test_zeros_are_called_digital_silence_and_nothing_else_is_said() -> None:
    """All levels read -120, separation 0 and correlation 1, silence the whole."""
    facts = audio(
        audio_rms_dbfs=-120.0,
        audio_peak_dbfs=-120.0,
        audio_true_peak_dbtp=-120.0,
        audio_silence_fraction=1.0,
        audio_max_silence_run=1.0,
        longest_silence_s=(0.0, 5.0),
        audio_stereo_separation_db=0.0,
        audio_channel_correlation=1.0,
        channels=tuple(channel(p, rms_dbfs=-120.0) for p in LAYOUTS["stereo"]),
        series=series([-120.0] * 50),
    )
    judged = judge_audio(facts)
    assert (judged.verdict, codes(judged)) == ("reject", ["silent"])
    assert "digital silence" in only(judged).message
    assert only(judged).seconds == (0.0, 5.0)


def test_one_sound_in_a_long_hush_is_quiet_and_not_silent() -> None:
    levels = [-90.0] * 600
    levels[300] = -33.0
    judged = judge_audio(audio(seconds=60.0, audio_rms_dbfs=-60.8, series=series(levels)))
    assert (judged.verdict, codes(judged)) == ("pass", ["quiet"])
    assert "-33.0 dBFS" in only(judged).message


@pytest.mark.parametrize(
    ("peak", "says"), [(1.0, []), (1.01, ["true_peak"]), (4.05, ["true_peak"])]
)
def test_a_true_peak_above_full_scale_warns_with_its_place(peak: float, says: list[str]) -> None:
    judged = judge_audio(audio(audio_true_peak_dbtp=peak))
    assert (judged.verdict, codes(judged)) == ("pass", says)
    if says:
        assert only(judged).seconds == (1.2, 1.3)
        assert "at 1.23 s" in only(judged).message


@pytest.mark.parametrize(("share", "verdict"), [(5e-4, "pass"), (8e-4, "reject")])
def test_a_share_of_clipped_samples_above_the_limit_is_clipped(share: float, verdict: str) -> None:
    judged = judge_audio(audio(audio_clip_fraction=share, first_clip_s=0.72))
    assert judged.verdict == verdict


@pytest.mark.parametrize(
    ("share", "peak", "severity"),
    [(0.019, 1.2, "warn"), (0.021, 1.2, "reject"), (0.019, 0.0, "reject"), (4e-4, 1.2, None)],
)
def test_samples_beyond_full_scale_are_a_coders_and_warn_up_to_a_share(
    share: float, peak: float, severity: str | None
) -> None:
    judged = judge_audio(audio(audio_clip_fraction=share, audio_peak_dbfs=peak))
    assert [d.severity for d in judged.defects] == ([severity] if severity else [])
    if severity == "warn":
        assert "+1.2 dBFS" in only(judged).message


@pytest.mark.parametrize(
    ("theirs", "verdict"),
    [
        ({"audio_rms_dbfs": -23.0}, "reject"),
        ({"audio_rms_dbfs": -20.5}, "pass"),
        ({"audio_rms_dbfs": -23.0, "audio_clip_fraction": 1e-3}, "pass"),
    ],
)
def test_samples_beyond_full_scale_reject_where_the_reference_is_less_loud_and_has_none(
    theirs: dict[str, Any], verdict: str
) -> None:
    facts = audio(audio_clip_fraction=0.01, audio_peak_dbfs=1.2)
    assert judge_audio(facts, reference=audio(**theirs)).verdict == verdict


def test_clipping_is_placed_from_its_first_tenth_to_its_last() -> None:
    peaks = [-6.0] * 50
    peaks[7] = peaks[8] = peaks[30] = 0.0
    facts = audio(audio_clip_fraction=0.01, first_clip_s=0.72, series=series([-20.0] * 50, peaks))
    defect = only(judge_audio(facts))
    assert defect.seconds == (0.7, 3.1)
    assert "1 % of its samples" in defect.message
    assert "3 of 24 tenths" in defect.message


@pytest.mark.parametrize(
    ("start_s", "edge", "code"),
    [
        (4.0, -12.1, None),
        (3.5, 2.0, "dropout"),
        (3.5, -12.0, "dropout"),
        (3.5, -12.1, "silence_run"),
        (3.5, -45.0, "silence_run"),
        (0.0, None, "silence_run"),
    ],
)
def test_a_sound_that_is_cut_off_is_rejected_and_one_that_dies_away_warns(
    start_s: float, edge: float | None, code: str | None
) -> None:
    judged = judge_audio(audio(**silent_from(start_s, edge=edge)))
    assert codes(judged) == ([code] if code else [])
    assert judged.verdict == ("reject" if code == "dropout" else "pass")
    if code:
        assert only(judged).seconds == (start_s, 5.0)


@pytest.mark.parametrize(("before", "code"), [(-49.0, "dropout"), (-49.1, "silence_run")])
def test_a_sound_that_sinks_slowly_below_hearing_is_not_cut_off(before: float, code: str) -> None:
    """In half a second it falls by little, and it ends just above silence."""
    assert codes(judge_audio(audio(**silent_from(3.5, before=before)))) == [code]


@pytest.mark.parametrize(("start", "says"), [(3.7, "reject"), (4.0, "warn"), (4.6, None)])
def test_a_hole_that_is_cut_out_warns_from_half_a_second_and_rejects_from_a_quarter(
    start: float, says: str | None
) -> None:
    judged = judge_audio(audio(**silent_from(start)))
    assert codes(judged) == ([] if says is None else ["dropout"])
    assert [defect.severity for defect in judged.defects] == ([] if says is None else [says])


def test_a_short_silence_in_a_short_sound_is_no_dropout() -> None:
    facts = audio(seconds=0.4, **silent_from(0.2, seconds=0.4))
    assert judge_audio(facts).defects == ()


def test_silence_where_the_reference_goes_on_is_rejected() -> None:
    facts = audio(**silent_from(3.0, edge=-25.0))
    assert codes(judge_audio(facts), "warn") == ["silence_run"]
    judged = judge_audio(facts, reference=audio())
    assert codes(judged, "reject") == ["silence_run"]
    assert "the reference goes on" in only(judged).message
    assert codes(judge_audio(facts, reference=facts), "warn") == ["silence_run"]


@pytest.mark.parametrize(
    ("offset", "seconds", "severity"),
    [
        (0.01, 5.0, None),
        (0.0101, 5.0, "warn"),
        (0.05, 5.0, "warn"),
        (-0.2, 5.0, "reject"),
        (0.2, 0.5, "warn"),
    ],
)
def test_an_offset_names_its_channel_and_rejects_only_a_sound_of_a_second(
    offset: float, seconds: float, severity: str | None
) -> None:
    facts = audio(
        seconds=seconds,
        audio_dc_offset=abs(offset),
        channels=(channel("FL"), channel("FR", dc_offset=offset)),
    )
    judged = judge_audio(facts)
    assert [d.severity for d in judged.defects] == ([severity] if severity else [])
    if severity:
        assert f"FR {offset:+.3f}" in only(judged).message
        assert "FL" not in only(judged).message
        lost = judge_audio(facts, reference=audio())
        assert lost.verdict == ("reject" if seconds > 1 else "pass")
        assert judge_audio(facts, reference=facts).verdict == judged.verdict


def test_two_equal_channels_warn_and_against_a_stereo_reference_they_are_a_loss() -> None:
    facts = audio(audio_stereo_separation_db=99.3, audio_channel_correlation=1.0)
    assert judge_audio(facts).verdict == "pass"
    assert codes(judge_audio(facts), "warn") == ["dual_mono"]
    assert codes(judge_audio(facts, reference=audio()), "reject") == ["dual_mono"]
    assert codes(judge_audio(facts, reference=facts), "warn") == ["dual_mono"]
    older = audio(impl="audio/0")
    assert codes(judge_audio(facts, reference=older), "warn") == ["dual_mono"]


def test_mono_has_no_stereo_findings_and_its_gaps_decide_nothing() -> None:
    gaps = tuple(
        Unmeasured(axis, "one channel", applies=False)
        for axis in ("audio_stereo_separation_db", "audio_channel_correlation")
    )
    judged = judge_audio(audio("mono", unmeasured=gaps))
    assert judged.verdict == "pass"
    assert why(judged, "audio_stereo_separation_db") == "one channel"


def test_a_dead_channel_is_named_and_no_other_stereo_finding_is_drawn_from_it() -> None:
    facts = audio(
        channels=(channel("FL"), channel("FR", rms_dbfs=-120.0)),
        audio_stereo_separation_db=3.0,
        audio_channel_correlation=1.0,
    )
    judged = judge_audio(facts)
    assert (judged.verdict, codes(judged)) == ("reject", ["dead_channel"])
    assert "channel FR is digitally silent" in only(judged).message


@pytest.mark.parametrize(
    ("left", "right", "dead"),
    [(-20.0, -59.9, False), (-20.0, -60.1, True), (-45.0, -70.0, False), (-45.0, -86.0, True)],
)
def test_a_channel_is_dead_below_the_floor_and_far_below_the_other(
    left: float, right: float, dead: bool
) -> None:
    facts = audio(channels=(channel("FL", rms_dbfs=left), channel("FR", rms_dbfs=right)))
    assert codes(judge_audio(facts)) == (["dead_channel"] if dead else [])


def surround(*silent: str) -> tuple[Any, ...]:
    return tuple(channel(p, rms_dbfs=-120.0 if p in silent else -20.0) for p in LAYOUTS["5.1"])


def test_silent_surrounds_warn_and_a_silent_lfe_is_not_even_named() -> None:
    assert judge_audio(audio("5.1", channels=surround("LFE"))).defects == ()
    judged = judge_audio(audio("5.1", channels=surround("LFE", "SL", "SR")))
    assert (judged.verdict, codes(judged)) == ("pass", ["silent_channel"])
    assert "channels SL, SR" in only(judged).message


def test_a_surround_that_sounds_in_the_reference_is_lost() -> None:
    facts = audio("5.1", channels=surround("SL", "SR"))
    whole, half = audio("5.1"), audio("5.1", channels=surround("SL"))
    assert codes(judge_audio(facts, reference=whole), "reject") == ["silent_channel"]
    assert codes(judge_audio(facts, reference=half), "reject") == ["silent_channel"]
    assert codes(judge_audio(facts, reference=facts), "warn") == ["silent_channel"]
    assert codes(judge_audio(facts, reference=audio()), "warn") == ["silent_channel"]


def test_inverted_phase_is_named_and_against_a_reference_in_phase_it_is_a_loss() -> None:
    facts = audio(audio_channel_correlation=-0.99, audio_stereo_separation_db=0.0)
    assert codes(judge_audio(facts), "warn") == ["inverted_phase"]
    judged = judge_audio(facts, reference=audio())
    assert codes(judged, "reject") == ["inverted_phase"]
    assert "the reference has 0.70" in only(judged).message


def test_non_finite_samples_are_rejected_with_their_place_and_everything_else_is_unmeasured() -> (
    None
):
    empty = dict.fromkeys(axis for axis in AXES if axis.startswith("audio_") and "audio_" in axis)
    numbers = {name: None for name in empty if name not in ("audio_pair", "audio_content")}
    facts = audio(
        non_finite=3, first_non_finite_s=0.52, channels=(), series=None, audio_peak_dbfs=None,
        **numbers,
    )  # fmt: skip
    judged = judge_audio(facts)
    assert (judged.verdict, codes(judged)) == ("reject", ["non_finite"])
    assert "3 samples" in only(judged).message
    assert "0.52 s" in only(judged).message
    assert only(judged).seconds == (0.5, 0.6)
    assert "NaN" in why(judged, "audio_rms_dbfs")


def test_damage_is_rejected_with_its_places() -> None:
    places = (
        Damage(kind="decode_error", detail="a packet was refused", time_s=1.5),
        Damage(kind="truncated", detail="the file ends early"),
    )
    judged = judge_audio(audio(damage=places))
    assert (judged.verdict, codes(judged)) == ("reject", ["damaged"])
    assert "2 places" in only(judged).message
    assert "a packet was refused (1.50 s)" in only(judged).message
    assert only(judged).seconds == (1.5, 1.5)


# ---------------------------------------------------------------------------- no sound, too little


def test_missing_silent_too_short_and_short_of_loudness_are_four_answers() -> None:
    missing = judge_audio(None, missing="the file has no audio stream")
    empty = judge_audio(None, missing="the audio stream has no samples")
    silent = judge_audio(audio(audio_rms_dbfs=-120.0, series=series([-120.0] * 50)))
    tiny = judge_audio(audio(seconds=0.02))
    gap = Unmeasured("audio_lufs", "0.3 s, and loudness needs 0.4 s")
    short = judge_audio(audio(seconds=0.3, audio_lufs=None, unmeasured=(gap,)))
    assert [j.verdict for j in (missing, empty, silent, tiny, short)] == [
        "reject", "reject", "reject", "unmeasured", "pass",
    ]  # fmt: skip
    assert (codes(missing), codes(empty), codes(silent)) == (["missing"], ["missing"], ["silent"])
    assert only(missing).message != only(empty).message
    assert "too short" in why(tiny, "audio_rms_dbfs")
    assert why(short, "audio_lufs") == gap.reason


def test_no_facts_and_no_reason_is_unmeasured_and_never_a_pass() -> None:
    assert judge_audio(None).verdict == "unmeasured"
    everything = parse_audio_policy('name = "test"\nrequired = ["sync"]')
    assert judge_audio(None, everything, sync=sync()).verdict == "unmeasured"


@pytest.mark.parametrize("axis", ["audio_clip_fraction", "audio_max_silence_run"])
def test_a_required_axis_without_a_number_is_unmeasured(axis: str) -> None:
    judged = judge_audio(audio(**{axis: None}))
    assert judged.verdict == "unmeasured"
    assert why(judged, axis)


@pytest.mark.parametrize("axis", ["sync", "audio_pair", "audio_content"])
def test_a_tier_that_is_insisted_on_decides_when_it_was_skipped(axis: str) -> None:
    judged = judge_audio(audio(), require=[axis], skipped=[Unmeasured(axis, "it was raining")])
    assert (judged.verdict, why(judged, axis)) == ("unmeasured", "it was raining")


def test_an_axis_that_is_none_is_refused() -> None:
    with pytest.raises(PolicyError, match="'loudness', which is no axis"):
        judge_audio(audio(), require=["loudness"])


# ---------------------------------------------------------------------------- against a reference


def test_a_pair_without_budgets_is_noted_and_not_gated() -> None:
    judged = judge_audio(audio(), pair=pair(audio_snr_db=-3.0))
    assert (judged.verdict, judged.defects, noted(judged)) == ("pass", (), ["not_gated"])
    assert "SNR -3.0 dB" in judged.notes[0].message


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ({"low": 20.0}, []),
        ({"low": 20.1}, ["fidelity_snr_db"]),
        ({"high": 19.0}, ["fidelity_snr_db"]),
        ({"low": 10.0, "worst_low": 11.0}, []),
        ({"worst_low": 11.5}, ["fidelity_snr_db"]),
        ({"low": 25.0, "worst_low": 11.5}, ["fidelity_snr_db", "fidelity_snr_db"]),
    ],
)
def test_a_budget_is_kept_on_the_whole_and_in_the_worst_second(
    bounds: dict[str, float], says: list[str]
) -> None:
    judged = judge_audio(audio(), budget("fidelity", audio_snr_db=bounds), pair=pair())
    assert codes(judged, "reject") == says
    assert judged.verdict == ("reject" if says else "pass")
    assert noted(judged) == []
    places = [d.seconds for d in judged.defects]
    assert (
        places
        == [None if "low" in bounds or "high" in bounds else (3.0, 4.0), (3.0, 4.0)][: len(says)]
    )


def test_a_loudness_change_has_a_budget_on_both_sides() -> None:
    policy = budget("fidelity", audio_lufs_delta={"low": -1.0, "high": 1.0})
    for delta, verdict in ((-1.1, "reject"), (-1.0, "pass"), (1.0, "pass"), (20.0, "reject")):
        assert judge_audio(audio(), policy, pair=pair(audio_lufs_delta=delta)).verdict == verdict


@pytest.mark.parametrize("has_pair", [True, False])
def test_a_budget_without_its_number_is_unmeasured(has_pair: bool) -> None:
    policy = budget("fidelity", audio_lufs_delta={"low": -1.0})
    gap = Unmeasured("audio_lufs_delta", "the reference is silent")
    made = pair(audio_lufs_delta=None, unmeasured=(gap,)) if has_pair else None
    judged = judge_audio(audio(), policy, pair=made)
    assert judged.verdict == "unmeasured"
    assert why(judged, "audio_lufs_delta") == (
        gap.reason if has_pair else "there is no reference to compare with"
    )


def test_a_pair_without_a_number_leaves_the_tier_unmeasured() -> None:
    names = ("audio_si_sdr", "audio_snr_db", "audio_lsd_db", "audio_mel_l1", "audio_lufs_delta")
    gap = Unmeasured("audio_si_sdr", "the reference is silent")
    made = pair(**dict.fromkeys(names), worst=(), unmeasured=(gap,))
    judged = judge_audio(audio(), pair=made, require=["audio_pair"])
    assert judged.verdict == "unmeasured"
    assert why(judged, "audio_pair") == gap.reason


@pytest.mark.parametrize(
    ("numbers", "note", "says"),
    [
        ({"audio_align_lag_ms": 0.5}, None, ""),
        ({"audio_align_lag_ms": 12.5}, "lag", "12.5 ms late"),
        ({"audio_align_lag_ms": -7.0}, "lag", "7.0 ms early"),
        ({"audio_align_lag_ms": 50.0, "lag_at_bound": True}, "lag_at_bound", "may lie beyond"),
        ({"audio_align_lag_ms": -7.0, "lag_correlation": -0.51}, "lag", "7.0 ms early"),
        ({"audio_align_lag_ms": -7.0, "lag_correlation": -0.49}, None, ""),
    ],
)
def test_a_lag_is_noted(numbers: dict[str, Any], note: str | None, says: str) -> None:
    judged = judge_audio(audio(), pair=pair(**numbers))
    assert judged.verdict == "pass"
    assert noted(judged) == ["not_gated", *([note] if note else [])]
    assert says in judged.notes[-1].message


@pytest.mark.parametrize(
    ("samples", "says"), [(192000, "1.00 s shorter"), (264000, "0.50 s longer"), (242400, None)]
)
def test_another_length_than_the_references_warns(samples: int, says: str | None) -> None:
    judged = judge_audio(audio(), pair=pair(candidate_samples=samples))
    assert (judged.verdict, codes(judged)) == ("pass", ["length_differs"] if says else [])
    assert all(says in defect.message for defect in judged.defects if says)


def test_unrelated_sounds_have_neither_a_sign_nor_a_lag_that_a_budget_could_go_by() -> None:
    """Noise has a largest correlation with other noise too, as often below 0 as above."""
    made = pair(polarity="inverted", lag_correlation=-0.04, audio_align_lag_ms=3.0)
    assert codes(judge_audio(audio(), pair=made)) == []
    policy = budget("fidelity", audio_align_lag_ms={"low": -20.0, "high": 20.0})
    judged = judge_audio(audio(), policy, pair=made)
    assert judged.verdict == "unmeasured"
    assert "(correlation -0.04): it is another sound" in why(judged, "audio_align_lag_ms")
    alike = pair(audio_align_lag_ms=3.0)
    assert judge_audio(audio(), policy, pair=alike).verdict == "pass"


def test_a_budget_of_the_worst_second_is_unmeasured_where_no_second_is_heard() -> None:
    for bounds in ({"worst_low": 9.0}, {"low": 10.0, "worst_low": 9.0}):
        policy = budget("fidelity", audio_snr_db=bounds)
        judged = judge_audio(audio(), policy, pair=pair(worst=()))
        assert judged.verdict == "unmeasured"
        assert "worst" in why(judged, "audio_snr_db")
    policy = budget("fidelity", audio_snr_db={"low": 10.0})
    assert judge_audio(audio(), policy, pair=pair(worst=())).verdict == "pass"


@pytest.mark.parametrize("tier", ["audio_pair", "sync", "audio_content"])
def test_a_tier_that_a_policy_requires_decides_though_nobody_gave_anything_for_it(
    tier: str,
) -> None:
    judged = judge_audio(audio(), parse_audio_policy({"name": "test", "required": [tier]}))
    assert judged.verdict == "unmeasured"
    assert [gap.axis for gap in judged.unmeasured if gap.applies] == [tier]


def test_stereo_that_is_required_of_mono_is_told_as_what_decides() -> None:
    gap = Unmeasured("audio_stereo_separation_db", "no left and right", applies=False)
    mono = audio("mono", unmeasured=(gap,))
    judged = judge_audio(mono, require=["audio_stereo_separation_db"])
    assert judged.verdict == "unmeasured"
    assert next(g for g in judged.unmeasured if g.axis == gap.axis).applies
    assert judge_audio(mono).verdict == "pass"


@pytest.mark.parametrize(
    ("slope", "interval", "says"),
    [
        (130.0, (100.0, 160.0), "130 ms later each minute"),
        (-50.0, (-60.0, -40.0), "50 ms earlier each minute"),
        (-40.0, (-50.0, -30.0), None),
        (120.0, (110.0, 130.0), None),
        (300.0, (-20.0, 620.0), None),
    ],
)
def test_a_clock_that_is_surely_wrong_is_noted(
    slope: float, interval: tuple[float, float], says: str | None
) -> None:
    made = sync(slope_ms_per_minute=slope, slope_interval_ms_per_minute=interval)
    told = [n.message for n in judge_audio(audio(), sync=made).notes if n.code == "sync_slope"]
    assert len(told) == (says is not None)
    assert all(says in message for message in told if says)


def test_turned_polarity_and_lost_channels_warn() -> None:
    made = pair(
        polarity="inverted", lag_correlation=-0.97, candidate=sound_info("mono", channels=1)
    )
    judged = judge_audio(audio(), pair=made)
    assert judged.verdict == "pass"
    assert codes(judged, "warn") == ["inverted_polarity", "channels_differ"]


# ---------------------------------------------------------------------------- against the picture


def test_events_that_may_be_together_by_chance_are_noted_and_not_warned_of():
    likely = judge_audio(audio(), sync=sync(200.0, 5.0, by_chance=0.02))
    unsure = judge_audio(audio(), sync=sync(200.0, 5.0, by_chance=0.17))
    assert codes(likely, "warn") == ["out_of_sync"]
    assert codes(unsure, "warn") == []
    (note,) = [note for note in unsure.notes if note.code == "sync"]
    assert "200 ms late" in note.message
    assert "if that is no chance (of 1 event)" in note.message


def test_a_pair_without_a_number_is_unmeasured_and_no_pass():
    nothing = pair(
        audio_align_lag_ms=None,
        audio_si_sdr=None,
        audio_snr_db=None,
        audio_lsd_db=None,
        audio_mel_l1=None,
        audio_lufs_delta=None,
        unmeasured=(Unmeasured("audio_si_sdr", "both are digital silence"),),
    )
    assert judge_audio(audio(), pair=nothing).verdict == "unmeasured"
    assert judge_audio(audio(), pair=pair()).verdict == "pass"


@pytest.mark.parametrize(
    ("offset", "half", "says"),
    [
        (0.0, 25.0, []),
        (-65.0, 25.0, []),
        (-75.0, 25.0, ["out_of_sync"]),
        (140.0, 25.0, []),
        (155.0, 25.0, ["out_of_sync"]),
        (300.0, 200.0, []),
    ],
)
def test_an_offset_warns_where_its_whole_interval_is_noticed(
    offset: float, half: float, says: list[str]
) -> None:
    """Sound that is early is noticed from 45 ms, late from 125 ms."""
    judged = judge_audio(audio(), sync=sync(offset, half))
    assert (judged.verdict, codes(judged, "warn")) == ("pass", says)
    assert noted(judged) == ([] if says else ["sync"])
    (told,) = [*judged.defects, *judged.notes]
    assert "lip sync is not measured" in told.message
    assert ("late" in told.message.split(",")[0]) == (offset > 0)


def test_no_shared_event_is_unmeasured_with_its_reason_and_decides_only_by_request() -> None:
    made = sync(None, unmeasured=(Unmeasured("av_sync_offset_ms", "nothing moves"),))
    assert judge_audio(audio(), sync=made).verdict == "pass"
    judged = judge_audio(audio(), sync=made, require=["sync"])
    assert (judged.verdict, why(judged, "sync")) == ("unmeasured", "nothing moves")


def test_offset_and_drift_reject_by_budget_alone() -> None:
    policy = budget("sync", av_sync_offset_ms={"low": -45.0, "high": 80.0})
    judged = judge_audio(audio(), policy, sync=sync(100.0))
    assert codes(judged, "reject") == ["sync_offset_ms"]
    assert "lip sync is not measured" in judged.defects[0].message
    policy = budget("sync", av_sync_drift_ms={"high": 40.0})
    for theirs, verdict in ((60.0, "pass"), (10.0, "reject"), (None, "unmeasured")):
        judged = judge_audio(audio(), policy, sync=sync(100.0), reference_sync=sync(theirs))
        assert judged.verdict == verdict
    assert judge_audio(audio(), policy, sync=sync(100.0)).verdict == "unmeasured"


# ---------------------------------------------------------------------------- against a checklist


def test_items_that_are_not_there_are_listed_and_reject_by_budget_alone() -> None:
    made = content(
        ContentAnswer(
            id="greet", kind="speech", weight=1.0, asked="good morning", answer="good warning",
            exact=False, likeness=0.8,
        ),
        ContentAnswer(id="door", kind="audio-event", weight=1.0, asked="a door?", heard=False),
        ContentAnswer(id="rain", kind="audio-event", weight=1.0, asked="rain?", heard=True),
        ContentAnswer(id="bell", kind="audio-event", weight=1.0, asked="a bell?", reason="vague"),
        audio_event_recall=0.5,
        audio_speech_exact=0.0,
        audio_speech_fuzzy=0.8,
    )  # fmt: skip
    judged = judge_audio(audio(), content=made)
    assert judged.verdict == "pass"
    assert noted(judged) == ["content", "not_said", "not_heard", "no_answer"]
    assert "door" in judged.notes[2].message
    policy = budget("content", audio_event_recall={"low": 0.9})
    assert codes(judge_audio(audio(), policy, content=made)) == ["content_event_recall"]


# ---------------------------------------------------------------------------- policies


def test_every_shipped_limit_has_a_unit_and_a_provenance() -> None:
    limits = default_audio_policy().limits
    for key in limits.__struct_fields__:
        assert getattr(limits, key).unit, key
        assert len(getattr(limits, key).provenance) > 40, key


def test_a_severity_can_be_turned() -> None:
    policy = parse_audio_policy('name = "strict"\nseverities.true_peak = "reject"')
    assert judge_audio(audio(audio_true_peak_dbtp=1.5), policy).verdict == "reject"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[limits.audio_lufs]\nvalue = 1\nprovenance = 'x'", "unknown key 'limits.audio_lufs'"),
        ("[fidelity.audio_snr]\nlow = 1\nprovenance = 'x'", "did you mean 'audio_snr_db'"),
        ("[fidelity.audio_snr_db]\nprovenance = 'x'", "no bound"),
        ("[fidelity.audio_snr_db]\nlow = inf\nprovenance = 'x'", "finite"),
        ("[fidelity.audio_snr_db]\nlow = 1", "provenance"),
        ("[fidelity.audio_snr_db]\nlow = 1\nprovenance = ' '", "provenance"),
        ("[fidelity.audio_snr_db]\nlow = 3\nhigh = 1\nprovenance = 'x'", "above high"),
        ("[fidelity.audio_snr_db]\nleast = 3\nprovenance = 'x'", "least"),
        ("[fidelity.audio_lufs_delta]\nworst_low = 3\nprovenance = 'x'", "no worst second"),
        ("[sync.offset]\nlow = 1\nprovenance = 'x'", "unknown key 'sync.offset'"),
        ("fidelity = 3", "a table was expected"),
        ("required = []", "required is empty"),
        ("required = ['loudness']", "which is no axis"),
        ("severities.silent = 'maybe'", "severities.silent"),
        (
            "[limits.loudest_tenth_dbfs]\nvalue = -60\nprovenance = 'x'",
            "nothing would be silent",
        ),
        ("[limits.overshoot_fraction]\nvalue = 0\nprovenance = 'x'", "the finding begins"),
        ("[limits.audio_dc_offset]\nvalue = nan\nprovenance = 'x'", "finite"),
        ("[limits.audio_dc_offset]\nvalue = 2\nprovenance = 'x'", "it is a share"),
    ],
)
def test_a_policy_that_no_sound_could_be_judged_by_is_refused_in_one_line(
    text: str, says: str
) -> None:
    with pytest.raises(PolicyError, match=says) as refused:
        parse_audio_policy(f"name = 'test'\n{text}")
    assert "\n" not in refused.value.message


def test_a_policy_may_be_a_file_and_a_foreign_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sound.toml"
    path.write_text('name = "mine"\nseverities.silent = "warn"')
    assert load_audio_policy(path).severities.silent == "warn"
    assert as_audio_policy(str(path)).sha256 != default_audio_policy().sha256
    wrong: Any = 3
    with pytest.raises(PolicyError, match="AudioPolicy"):
        as_audio_policy(wrong)
    renamed = msgspec.structs.replace(default_audio_policy(), required=("sync",))
    with pytest.raises(PolicyError, match="a name of its own"):
        as_audio_policy(renamed)

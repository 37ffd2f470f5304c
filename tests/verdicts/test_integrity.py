"""Facts in, verdict out: one test for each thing that the judge can say."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from screentest.errors import PolicyError
from screentest.media.info import Damage
from screentest.metrics.facts import Unmeasured
from screentest.metrics.integrity import GridLine, IntegrityFacts
from screentest.verdicts.delivery import Delivery
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.judgement import Defect, Judgement
from screentest.verdicts.policy import Policy, parse_policy
from tests.verdicts.made import facts, per_frame


def codes(judgement: Judgement, severity: str | None = None) -> list[str]:
    return [d.code for d in judgement.defects if severity in (None, d.severity)]


def only(judgement: Judgement, code: str) -> Defect:
    found = [defect for defect in judgement.defects if defect.code == code]
    assert len(found) == 1, judgement.defects
    return found[0]


def gap(judgement: Judgement, axis: str) -> Unmeasured:
    found = [item for item in judgement.unmeasured if item.axis == axis]
    assert len(found) == 1, judgement.unmeasured
    return found[0]


def test_a_moving_picture_passes_without_a_word() -> None:
    judgement = judge_integrity(facts())
    assert judgement == Judgement(verdict="pass")
    assert judgement.passed


def test_the_same_facts_give_the_same_judgement() -> None:
    made = facts(corr=0.1)
    assert judge_integrity(made) == judge_integrity(made)


class TestNoise:
    def test_uncorrelated_frames_are_rejected_with_value_limit_and_place(self) -> None:
        judgement = judge_integrity(facts(corr=0.1, aligned=0.3))
        defect = only(judgement, "noise")
        assert judgement.verdict == "reject"
        assert (defect.value, defect.limit, defect.unit) == (0.3, 0.6, "correlation")
        assert defect.frames == (0, 47)
        assert "0.10" in defect.message and "0.30" in defect.message

    def test_a_textured_pan_passes_because_its_frames_agree_once_shifted(self) -> None:
        assert judge_integrity(facts(corr=0.5, aligned=0.97)).verdict == "pass"

    def test_a_plain_correlation_over_the_floor_passes_whatever_the_shifted_one_is(self) -> None:
        assert judge_integrity(facts(corr=0.65, aligned=0.2)).verdict == "pass"

    def test_noise_on_twos_is_caught_though_half_its_pairs_correlate_perfectly(self) -> None:
        change = [0.0 if t % 2 else 100.0 for t in range(48)]
        judgement = judge_integrity(facts(corr=0.02, change=change))
        assert codes(judgement, "reject") == ["noise"]

    def test_noise_on_twos_is_caught_when_every_sampled_pair_is_a_repeat(self) -> None:
        # The starts of 49 frames; a repeat at each k + 1 leaves none of them with a thing to say.
        change = per_frame(49, 100.0)
        for start in (0, 12, 24, 35, 47):
            change[start + 1] = 0.0
        assert codes(judge_integrity(facts(49, corr=0.02, change=change)), "reject") == ["noise"]

    def test_a_fade_passes_because_pairs_with_a_flat_frame_say_nothing(self) -> None:
        std = [min(0.2, 0.004 * t) for t in range(48)]
        corr = [0.0 if t < 4 else 0.97 for t in range(48)]
        assert judge_integrity(facts(std=std, mean=std, corr=corr)).verdict == "pass"

    def test_a_clip_with_half_its_frames_black_passes_with_a_warning(self) -> None:
        std = per_frame(48, 0.2, black=(0, 23, 0.0))
        corr = per_frame(48, 0.95, black=(0, 24, 0.0))
        change = per_frame(48, 40.0, black=(0, 23, 0.0))
        judgement = judge_integrity(
            facts(std=std, mean=[5 * s for s in std], corr=corr, change=change)
        )
        assert judgement.verdict == "pass"
        assert codes(judgement) == ["black"]

    def test_a_blank_clip_leaves_noise_unmeasured_and_undecided(self) -> None:
        judgement = judge_integrity(facts(std=0.0, mean=0.0, corr=0.0, change=0.0))
        assert codes(judgement) == ["blank"]
        assert not gap(judgement, "noise").applies

    def test_a_slideshow_of_unlike_stills_is_unmeasured_not_noise(self) -> None:
        change = [100.0 if t % 12 == 0 else 0.0 for t in range(48)]
        judgement = judge_integrity(facts(corr=0.05, change=change))
        assert judgement.verdict == "unmeasured"
        assert "3 of 47 pairs" in gap(judgement, "noise").reason
        assert "noise" not in codes(judgement)

    def test_one_cut_among_repeats_is_outvoted_by_the_pairs_that_move(self) -> None:
        change = per_frame(48, 0.0, moving=(1, 20, 30.0))
        corr = per_frame(48, 0.95, cut=(1, 1, 0.0))
        assert judge_integrity(facts(corr=corr, change=change)).verdict == "pass"

    def test_frozen_between_black_stretches_is_unmeasured_since_nothing_tells(self) -> None:
        std = per_frame(48, 0.2, black=(0, 23, 0.0))
        change = per_frame(48, 0.0, cut=(24, 24, 90.0))
        judgement = judge_integrity(facts(std=std, corr=0.0, change=change))
        assert judgement.verdict == "unmeasured"
        assert gap(judgement, "noise").applies

    def test_a_correlation_whose_shift_was_never_searched_is_unmeasured(self) -> None:
        judgement = judge_integrity(facts(corr=0.2, aligned=math.nan))
        assert judgement.verdict == "unmeasured"
        assert "no shift was searched" in gap(judgement, "noise").reason

    def test_two_frames_of_unlike_noise_are_rejected(self) -> None:
        assert codes(judge_integrity(facts(2, corr=0.0)), "reject") == ["noise"]

    def test_a_value_at_the_floor_passes(self) -> None:
        assert judge_integrity(facts(corr=0.6, aligned=0.1)).verdict == "pass"
        assert judge_integrity(facts(corr=0.1, aligned=0.6)).verdict == "pass"
        assert judge_integrity(facts(corr=0.59, aligned=0.59)).verdict == "reject"

    def test_a_strobe_between_picture_and_black_is_unmeasured_not_noise(self) -> None:
        std = [0.0 if t % 2 else 0.2 for t in range(48)]
        judgement = judge_integrity(facts(std=std, mean=[2 * s for s in std], corr=0.0))
        assert judgement.verdict == "unmeasured"
        assert "noise" not in codes(judgement)

    def test_a_nan_frame_does_not_hide_noise(self) -> None:
        std = per_frame(48, 0.2, bad=(10, 10, math.nan))
        judgement = judge_integrity(facts(corr=0.1, std=std))
        assert codes(judgement) == ["noise"]


class TestBlank:
    @pytest.mark.parametrize(
        ("rgb", "word"),
        [
            ((0.0, 0.0, 0.0), "black"),
            ((1.0, 1.0, 1.0), "white"),
            ((0.5, 0.5, 0.5), "grey"),
            ((1.0, 0.0, 0.0), "#FF0000"),
            ((0.0, 0.5, 0.25), "#008040"),
        ],
    )
    def test_a_flat_clip_is_rejected_and_its_colour_named(
        self, rgb: tuple[float, float, float], word: str
    ) -> None:
        luma = float(np.dot((0.299, 0.587, 0.114), rgb))
        judgement = judge_integrity(facts(std=0.0, mean=luma, rgb=rgb, corr=0.0, change=0.0))
        defect = only(judgement, "blank")
        assert judgement.verdict == "reject"
        assert defect.value == 1.0
        assert defect.limit == 0.9
        assert defect.message.endswith(word)

    def test_flat_frames_of_changing_colour_are_named_so(self) -> None:
        luma = np.linspace(0.2, 0.8, 48).tolist()
        judgement = judge_integrity(facts(std=0.0, mean=luma, corr=0.0, change=5.0))
        assert "changing colour" in only(judgement, "blank").message

    def test_one_flat_frame_warns_with_its_place_and_does_not_reject(self) -> None:
        std = per_frame(48, 0.2, white=(0, 0, 0.001))
        mean = per_frame(48, 0.5, white=(0, 0, 1.0))
        judgement = judge_integrity(facts(std=std, mean=mean))
        defect = only(judgement, "blank")
        assert judgement.verdict == "pass"
        assert defect.severity == "warn"
        assert defect.frames == (0, 0)
        assert "white" in defect.message

    def test_each_black_stretch_is_named_with_its_span_in_seconds(self) -> None:
        dark = per_frame(48, 0.2, start=(0, 5, 0.0), end=(42, 47, 0.0))
        judgement = judge_integrity(facts(std=dark, mean=[2 * d for d in dark]))
        assert [d.frames for d in judgement.defects] == [(0, 5), (42, 47)]
        assert [d.seconds for d in judgement.defects] == [(0.0, 0.25), (1.75, 2.0)]
        assert {d.value for d in judgement.defects} == {0.125}

    def test_a_held_black_stretch_is_not_called_frozen_besides(self) -> None:
        std = per_frame(48, 0.2, black=(0, 23, 0.0))
        change = per_frame(48, 40.0, black=(0, 23, 0.0))
        judgement = judge_integrity(facts(std=std, mean=[2 * s for s in std], change=change))
        assert codes(judgement) == ["black"]

    def test_a_share_of_flat_frames_just_under_the_limit_is_no_blank(self) -> None:
        std = per_frame(100, 0.0, picture=(0, 10, 0.2))
        judgement = judge_integrity(facts(100, std=std, mean=0.0))
        assert codes(judgement) == ["black"]
        std[10] = 0.0
        assert "blank" in codes(judge_integrity(facts(100, std=std, mean=0.0)))

    def test_a_single_flat_picture_is_blank(self) -> None:
        judgement = judge_integrity(facts(1, std=0.0, mean=0.0))
        assert codes(judgement) == ["blank"]


class TestGrid:
    def test_a_peak_above_the_limit_is_rejected_with_period_axis_and_phase(self) -> None:
        defect = only(judge_integrity(facts(grid=14.2)), "grid")
        assert (defect.severity, defect.value, defect.limit) == ("reject", 14.2, 6.0)
        assert "every 16.0 px along x" in defect.message
        assert "0.5 px" in defect.message

    def test_a_peak_at_the_limit_passes(self) -> None:
        assert judge_integrity(facts(grid=6.0)).verdict == "pass"

    def test_a_line_too_faint_to_see_passes_however_far_it_stands_out(self) -> None:
        assert judge_integrity(facts(grid=21.2, levels=0.013)).verdict == "pass"
        assert judge_integrity(facts(grid=21.2, levels=0.1)).verdict == "reject"

    def test_a_peak_that_repeats_too_seldom_passes(self) -> None:
        repeated = GridLine(ratio=3.2, period_px=60.0, phase_px=1.0, amplitude_levels=1.0, axis="x")
        made = msgspec.structs.replace(facts(grid=8.0), grid_line=repeated)
        assert judge_integrity(made).verdict == "pass"

    def test_a_period_of_a_coders_block_is_named_as_one_in_a_video(self) -> None:
        assert "coder" in only(judge_integrity(facts(grid=9.0)), "grid").message
        in_memory = facts(grid=9.0, clip={"kind": "array"})
        assert "coder" not in only(judge_integrity(in_memory), "grid").message

    def test_a_small_picture_is_listed_and_does_not_decide(self) -> None:
        judgement = judge_integrity(facts(grid=None, clip={"width": 480, "height": 270}))
        assert judgement.verdict == "pass"
        assert "480x270" in gap(judgement, "grid").reason

    def test_a_small_picture_decides_when_the_grid_is_insisted_on(self) -> None:
        made = facts(grid=None, clip={"width": 480, "height": 270})
        assert judge_integrity(made, require=["grid"]).verdict == "unmeasured"

    def test_a_missing_spectrum_on_a_large_picture_is_unmeasured(self) -> None:
        assert judge_integrity(facts(grid=None)).verdict == "unmeasured"


class TestFrozen:
    def test_a_frozen_tail_warns_with_duration_share_and_span(self) -> None:
        change = per_frame(48, 40.0, tail=(24, 47, 0.0))
        judgement = judge_integrity(facts(change=change))
        defect = only(judgement, "frozen")
        assert judgement.verdict == "pass"
        assert (defect.severity, defect.unit) == ("warn", "s")
        assert defect.frames == (23, 47)
        assert defect.value == pytest.approx(25 / 24)
        assert defect.seconds == pytest.approx((23 / 24, 2.0))
        assert "52 %" in defect.message

    def test_a_whole_clip_of_one_frame_is_rejected(self) -> None:
        judgement = judge_integrity(facts(change=0.0))
        assert codes(judgement) == ["frozen"]
        assert judgement.verdict == "reject"
        assert only(judgement, "frozen").frames == (0, 47)

    def test_a_clip_whose_ends_differ_is_no_single_frame(self) -> None:
        judgement = judge_integrity(facts(change=0.4, corr=1.0, first_frame_change=8.5))
        assert judgement.verdict == "pass"
        assert codes(judgement) == []
        assert not gap(judgement, "noise").applies
        same = judge_integrity(facts(change=0.4, corr=1.0, first_frame_change=8.0))
        assert codes(same) == ["frozen"]

    def test_two_equal_frames_are_one_frame(self) -> None:
        assert judge_integrity(facts(2, change=0.0)).verdict == "reject"

    def test_a_still_with_moving_grain_is_not_frozen(self) -> None:
        # Grain of one level: the worst spot may stay under the limit, the whole frame does not.
        rms = 1.27 / 255
        corr = 1.0 - rms**2 / (2 * 0.2**2)
        assert judge_integrity(facts(change=0.9, corr=corr)) == Judgement(verdict="pass")

    def test_a_held_picture_that_the_coder_refines_is_frozen(self) -> None:
        rms = 0.04 / 255
        corr = 1.0 - rms**2 / (2 * 0.2**2)
        assert codes(judge_integrity(facts(change=0.8, corr=corr))) == ["frozen"]

    def test_a_hold_of_a_third_of_a_second_is_no_freeze(self) -> None:
        change = per_frame(48, 40.0, held=(10, 16, 0.0))
        assert codes(judge_integrity(facts(change=change))) == ["duplicate"]

    def test_the_longest_of_several_freezes_is_named(self) -> None:
        change = per_frame(96, 40.0, a=(10, 30, 0.0), b=(50, 90, 0.0))
        defect = only(judge_integrity(facts(96, change=change)), "frozen")
        assert defect.frames == (49, 90)
        assert "longest of 2 stretches" in defect.message

    def test_a_freeze_is_rejoined_across_a_key_frame_but_not_across_a_cut(self) -> None:
        refreshed = per_frame(96, 0.0, moving=(0, 20, 40.0), key=(48, 48, 4.0))
        quiet = per_frame(96, 0.95, key=(48, 48, 1.0 - (0.6 / 255) ** 2 / (2 * 0.2**2)))
        defect = only(judge_integrity(facts(96, change=refreshed, corr=quiet)), "frozen")
        assert defect.frames == (20, 95)
        cut = per_frame(96, 0.95, key=(48, 48, 0.1))
        defect = only(judge_integrity(facts(96, change=refreshed, corr=cut)), "frozen")
        assert defect.frames == (48, 95)

    def test_a_blinking_cursor_that_the_decimated_frame_misses_ends_a_freeze(self) -> None:
        change = per_frame(96, 0.0, cursor=(48, 48, 90.0))
        judgement = judge_integrity(facts(96, change=change, corr=1.0))
        assert judgement.verdict != "reject"
        assert only(judgement, "frozen").frames == (0, 47)

    def test_a_fade_too_slow_for_eight_bits_is_not_one_frame(self) -> None:
        mean = [0.2 + 0.05 * t / 255 for t in range(96)]
        judgement = judge_integrity(facts(96, mean=mean, corr=1.0, change=0.05))
        frames = only(judgement, "frozen").frames
        assert frames is not None
        assert frames[1] - frames[0] <= 20

    def test_half_a_second_counts_whatever_its_stamps_were_rounded_to(self) -> None:
        first = next(f for f in range(1, 40) if (f + 12) / 24 - f / 24 < 0.5)
        change = per_frame(96, 40.0, held=(first + 1, first + 11, 0.0))
        defect = only(judge_integrity(facts(96, change=change)), "frozen")
        assert defect.frames == (first, first + 11)

    def test_a_slow_fade_in_float_frames_is_not_frozen(self) -> None:
        mean = [0.2 + 0.1 * t / 255 for t in range(96)]
        corr = 1.0
        judgement = judge_integrity(facts(96, mean=mean, corr=corr, change=0.1))
        assert "frozen" not in codes(judgement)

    def test_without_time_a_freeze_is_counted_in_frames(self) -> None:
        change = per_frame(48, 40.0, tail=(30, 47, 0.0))
        defect = only(judge_integrity(facts(change=change, timed=False)), "frozen")
        assert (defect.value, defect.limit, defect.unit) == (19.0, 12.0, "frames")
        assert defect.seconds is None

    def test_a_pair_with_a_frame_lost_between_is_not_compared(self) -> None:
        read = [*range(20), *range(30, 48)]
        made = facts(read=read, change=0.0, damage=[Damage(kind="missing_frames", detail="lost")])
        judgement = judge_integrity(made)
        assert only(judgement, "frozen").severity == "warn"


class TestDuplicate:
    def test_one_repeat_is_named_by_its_index(self) -> None:
        change = per_frame(61, 40.0, twice=(21, 21, 0.0))
        judgement = judge_integrity(facts(61, change=change))
        defect = only(judgement, "duplicate")
        assert judgement.verdict == "pass"
        assert (defect.severity, defect.frames, defect.value) == ("warn", (21, 21), 1.0)
        assert defect.message.startswith("frame 21 ")

    def test_doubled_frames_are_counted_with_their_share_and_first_places(self) -> None:
        change = [0.0 if t % 2 else 40.0 for t in range(48)]
        defect = only(judge_integrity(facts(change=change)), "duplicate")
        assert defect.value == 24.0
        assert "50 %" in defect.message
        assert "1, 3, 5" in defect.message and "16 more" in defect.message

    def test_motion_too_slow_for_the_coder_is_no_duplicate(self) -> None:
        slow = 1.0 - (0.08 / 255) ** 2 / (2 * 0.2**2)
        faster = 1.0 - (0.3 / 255) ** 2 / (2 * 0.2**2)
        corr = [slow if t % 2 else faster for t in range(48)]
        change = [0.9 if t % 2 else 1.6 for t in range(48)]
        assert judge_integrity(facts(corr=corr, change=change)) == Judgement(verdict="pass")

    def test_a_picture_that_comes_to_rest_is_no_duplicate(self) -> None:
        rest = 1.0 - (0.2 / 255) ** 2 / (2 * 0.2**2)
        corr = per_frame(48, 0.95, slow=(20, 20, rest), rest=(21, 24, 1.0))
        change = per_frame(48, 40.0, slow=(20, 20, 2.0), rest=(21, 24, 0.0))
        assert judge_integrity(facts(corr=corr, change=change)) == Judgement(verdict="pass")

    def test_an_exact_copy_counts_where_nothing_else_moves_much(self) -> None:
        slow = 1.0 - (0.3 / 255) ** 2 / (2 * 0.2**2)
        change = per_frame(48, 1.6, twice=(21, 21, 0.0))
        defect = only(judge_integrity(facts(corr=slow, change=change)), "duplicate")
        assert defect.frames == (21, 21)


class TestSamplesAndDamage:
    def test_non_finite_samples_are_rejected_with_their_first_place(self) -> None:
        judgement = judge_integrity(
            facts(
                non_finite_samples=7,
                non_finite_frames=((3, 3), (9, 12)),
                non_finite_first=(3, 100, 20),
            )
        )
        defect = only(judgement, "non_finite")
        assert judgement.verdict == "reject"
        assert defect.frames == (3, 12)
        assert "7 samples" in defect.message and "3, 9-12" in defect.message
        assert "row 100, column 20" in defect.message

    def test_damage_is_rejected_and_every_place_listed(self) -> None:
        judgement = judge_integrity(
            facts(
                damage=[
                    Damage(kind="decode_error", detail="a packet was refused", frame=5),
                    Damage(kind="truncated", detail="the file ends early", frame=40),
                ]
            )
        )
        defect = only(judgement, "damaged")
        assert judgement.verdict == "reject"
        assert (defect.value, defect.frames) == (2.0, (5, 40))
        assert "refused (frame 5)" in defect.message and "early (frame 40)" in defect.message

    def test_frames_that_were_not_read_are_damage_even_if_nobody_said_why(self) -> None:
        judgement = judge_integrity(facts(read=list(range(40))))
        assert judgement.verdict == "reject"
        assert "8 frames of 48" in only(judgement, "damaged").message


class TestMaterial:
    def test_one_frame_has_no_temporal_axes_and_passes(self) -> None:
        judgement = judge_integrity(facts(1))
        assert judgement.verdict == "pass"
        assert [item.axis for item in judgement.unmeasured] == ["noise", "frozen", "duplicate"]
        assert all(not item.applies for item in judgement.unmeasured)
        assert "needs 2 frames" in gap(judgement, "frozen").reason

    @pytest.mark.parametrize("hdr", ["pq", "hlg"])
    def test_hdr_is_unmeasured_and_names_the_transfer(self, hdr: str) -> None:
        judgement = judge_integrity(facts(std=0.0, grid=99.0, clip={"hdr": hdr}))
        assert judgement.verdict == "unmeasured"
        assert codes(judgement) == []
        assert hdr.upper() in gap(judgement, "blank").reason

    def test_a_frozen_hdr_clip_is_still_rejected(self) -> None:
        assert judge_integrity(facts(change=0.0, clip={"hdr": "pq"})).verdict == "reject"

    @pytest.mark.parametrize("clip", [{"field_order": "tt"}, {"flags": ("interlaced",)}])
    def test_interlaced_material_has_no_temporal_verdict(self, clip: dict[str, object]) -> None:
        judgement = judge_integrity(facts(corr=0.1, change=0.0, clip=clip))
        assert judgement.verdict == "unmeasured"
        assert codes(judgement) == []
        assert {item.axis for item in judgement.unmeasured} == {"noise", "frozen", "duplicate"}

    def test_a_transparent_picture_names_the_option_that_settles_it(self) -> None:
        judgement = judge_integrity(facts(std=0.0, clip={"alpha": "transparent"}))
        assert judgement.verdict == "unmeasured"
        assert "alpha=" in gap(judgement, "blank").reason

    @pytest.mark.parametrize("alpha", ["opaque", "composited", "dropped"])
    def test_a_settled_alpha_is_judged(self, alpha: str) -> None:
        assert judge_integrity(facts(clip={"alpha": alpha})).verdict == "pass"

    def test_what_was_found_while_measuring_is_kept_as_the_reason(self) -> None:
        found = Unmeasured("noise", "the sampled frames are lost")
        judgement = judge_integrity(facts(unmeasured=[found], clip={"hdr": "pq"}))
        assert gap(judgement, "noise") == found


class TestSampled:
    def read(self, **changes: object) -> IntegrityFacts:
        frames = [0, 1, 12, 13, 23, 24, 34, 35, 46, 47]
        return facts(read=frames, depth="sampled", **changes)  # type: ignore[arg-type]

    def test_the_calibrated_axes_alone_decide(self) -> None:
        judgement = judge_integrity(self.read())
        assert judgement.verdict == "pass"
        assert [item.axis for item in judgement.unmeasured] == [
            "frozen",
            "duplicate",
            "black",
            "non_finite",
            "damaged",
        ]
        assert "10 of 48" in gap(judgement, "frozen").reason

    def test_an_axis_insisted_on_decides(self) -> None:
        assert judge_integrity(self.read(), require=["frozen"]).verdict == "unmeasured"

    def test_noise_is_rejected(self) -> None:
        assert codes(judge_integrity(self.read(corr=0.05)), "reject") == ["noise"]

    def test_pairs_that_are_all_alike_are_unmeasured_not_passed(self) -> None:
        judgement = judge_integrity(self.read(corr=1.0))
        assert judgement.verdict == "unmeasured"
        assert gap(judgement, "noise").applies

    def test_a_blank_clip_is_rejected(self) -> None:
        assert judge_integrity(self.read(std=0.0, mean=0.0, corr=0.0)).verdict == "reject"

    def test_a_short_clip_read_whole_is_still_sampled(self) -> None:
        judgement = judge_integrity(facts(4, depth="sampled"))
        assert judgement.verdict == "pass"
        assert gap(judgement, "frozen")


class TestPolicy:
    def policy(self, text: str) -> Policy:
        return parse_policy(f'name = "mine"\n{text}')

    def test_a_lower_floor_lets_a_time_lapse_pass(self) -> None:
        mine = self.policy('limits.noise_floor = {value = 0.4, provenance = "ours"}')
        made = facts(corr=0.5)
        assert judge_integrity(made).verdict == "reject"
        assert judge_integrity(made, mine).verdict == "pass"

    def test_severities_turn_a_warning_into_a_reject_and_back(self) -> None:
        frozen = facts(change=per_frame(48, 40.0, tail=(24, 47, 0.0)))
        assert judge_integrity(frozen, self.policy('severities.frozen = "reject"')).verdict == (
            "reject"
        )
        wall = facts(grid=33.0)
        judgement = judge_integrity(wall, self.policy('severities.grid = "warn"'))
        assert (judgement.verdict, codes(judgement, "warn")) == ("pass", ["grid"])

    def test_an_axis_that_is_not_required_does_not_decide(self) -> None:
        mine = self.policy('required = ["frozen"]')
        judgement = judge_integrity(facts(clip={"hdr": "pq"}), mine)
        assert judgement.verdict == "pass"
        assert gap(judgement, "noise")

    def test_an_unknown_axis_is_refused_by_name(self) -> None:
        with pytest.raises(PolicyError, match="'gird'") as refusal:
            judge_integrity(facts(), require=["gird"])
        assert refusal.value.code == "unknown_axis"

    def test_a_reject_outweighs_an_unmeasured_axis(self) -> None:
        assert judge_integrity(facts(corr=0.1, grid=None)).verdict == "reject"


class TestDelivery:
    def test_a_clip_as_ordered_passes(self) -> None:
        spec = Delivery(
            duration_s=2.0,
            frame_rate=24.0,
            frames=48,
            width=1280,
            height=720,
            audio=False,
            longest_freeze_s=0.2,
            black_frames=0,
            duplicate_frames=0,
        )
        assert judge_integrity(facts(), spec=spec) == Judgement(verdict="pass")

    @pytest.mark.parametrize(
        ("spec", "code", "value", "limit"),
        [
            (Delivery(duration_s=5.0), "spec_duration", 2.0, 5.0),
            (Delivery(frame_rate=30.0), "spec_frame_rate", 24.0, 30.0),
            (Delivery(frames=121), "spec_frames", 48.0, 121.0),
            (Delivery(width=1920), "spec_size", 1280.0, 1920.0),
            (Delivery(height=1080), "spec_size", 720.0, 1080.0),
            (Delivery(audio=True), "spec_audio", 0.0, 1.0),
        ],
    )
    def test_a_breach_is_rejected_with_both_numbers(
        self, spec: Delivery, code: str, value: float, limit: float
    ) -> None:
        judgement = judge_integrity(facts(), spec=spec)
        defect = only(judgement, code)
        assert judgement.verdict == "reject"
        assert (defect.value, defect.limit) == (value, limit)

    def test_a_duration_within_its_tolerance_passes(self) -> None:
        assert judge_integrity(facts(), spec=Delivery(duration_s=2.04)).verdict == "pass"
        strict = Delivery(duration_s=2.04, duration_tolerance_s=0.01)
        assert judge_integrity(facts(), spec=strict).verdict == "reject"

    def test_29_97_is_not_30(self) -> None:
        made = facts(clip={"frame_rate": 30000 / 1001})
        assert judge_integrity(made, spec=Delivery(frame_rate=30.0)).verdict == "reject"
        assert judge_integrity(made, spec=Delivery(frame_rate=29.97)).verdict == "pass"

    def test_a_variable_rate_is_not_the_constant_one_ordered(self) -> None:
        made = facts(clip={"constant_frame_rate": False})
        judgement = judge_integrity(made, spec=Delivery(frame_rate=24.0))
        assert "varies" in only(judgement, "spec_frame_rate").message

    @pytest.mark.parametrize(
        ("spec", "axis"),
        [
            (Delivery(duration_s=2.0), "spec_duration"),
            (Delivery(frame_rate=24.0), "spec_frame_rate"),
            (Delivery(longest_freeze_s=0.5), "spec_longest_freeze"),
        ],
    )
    def test_without_time_an_item_about_time_is_unmeasured(self, spec: Delivery, axis: str) -> None:
        judgement = judge_integrity(facts(timed=False), spec=spec)
        assert judgement.verdict == "unmeasured"
        assert gap(judgement, axis)

    @pytest.mark.parametrize(
        ("spec", "axis"),
        [
            (Delivery(longest_freeze_s=0.5), "spec_longest_freeze"),
            (Delivery(black_frames=0), "spec_black_frames"),
            (Delivery(duplicate_frames=0), "spec_duplicate_frames"),
        ],
    )
    def test_an_item_that_needs_every_frame_is_unmeasured_on_a_sample(
        self, spec: Delivery, axis: str
    ) -> None:
        made = facts(read=[0, 1, 46, 47], depth="sampled")
        judgement = judge_integrity(made, spec=spec)
        assert judgement.verdict == "unmeasured"
        assert "sampled" in gap(judgement, axis).reason

    def test_an_array_cannot_be_asked_for_sound(self) -> None:
        made = facts(clip={"kind": "array"})
        assert judge_integrity(made, spec=Delivery(audio=True)).verdict == "unmeasured"
        assert judge_integrity(made, spec=Delivery(audio=False)).verdict == "pass"

    def test_a_freeze_longer_than_ordered_is_rejected_once(self) -> None:
        made = facts(change=per_frame(48, 40.0, tail=(24, 47, 0.0)))
        judgement = judge_integrity(made, spec=Delivery(longest_freeze_s=1.0))
        defect = only(judgement, "frozen")
        assert (defect.severity, defect.limit) == ("reject", 1.0)
        lenient = judge_integrity(made, spec=Delivery(longest_freeze_s=1.1))
        assert only(lenient, "frozen").severity == "warn"

    def test_a_hold_too_short_to_be_called_frozen_can_still_breach_the_spec(self) -> None:
        made = facts(change=per_frame(48, 40.0, held=(10, 16, 0.0)))
        judgement = judge_integrity(made, spec=Delivery(longest_freeze_s=0.2))
        assert only(judgement, "frozen").severity == "reject"

    def test_more_black_frames_than_ordered_are_rejected_with_every_stretch(self) -> None:
        dark = per_frame(48, 0.2, start=(0, 5, 0.0), end=(42, 47, 0.0))
        made = facts(std=dark, mean=[2 * d for d in dark])
        judgement = judge_integrity(made, spec=Delivery(black_frames=11))
        defect = only(judgement, "black")
        assert (defect.severity, defect.value, defect.limit) == ("reject", 12.0, 11.0)
        assert "0 to 5" in defect.message and "42 to 47" in defect.message
        allowed = judge_integrity(made, spec=Delivery(black_frames=12))
        assert allowed.verdict == "pass"

    def test_more_duplicates_than_ordered_are_rejected(self) -> None:
        made = facts(change=per_frame(48, 40.0, a=(9, 9, 0.0), b=(30, 30, 0.0)))
        assert judge_integrity(made, spec=Delivery(duplicate_frames=1)).verdict == "reject"
        assert judge_integrity(made, spec=Delivery(duplicate_frames=2)).verdict == "pass"

    def test_a_single_picture_has_no_freeze_to_forbid(self) -> None:
        spec = Delivery(longest_freeze_s=0.1, duplicate_frames=0)
        assert judge_integrity(facts(1), spec=spec).verdict == "pass"

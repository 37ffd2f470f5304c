"""The page of a gate as text: what it says, what it escapes, and how large it is."""

import json
import math
import os
import re

import numpy as np
import pytest

from screentest.errors import InputError
from screentest.gates.budget import Budget
from screentest.gates.judge import judge_reference
from screentest.gates.report import GateReport
from screentest.protocol import ArmLanes
from screentest.reports.html import (
    ArmSeries,
    GateEvidence,
    GateFrame,
    PromptEvidence,
    gate_page,
)
from screentest.reports.html.gate_axis import budget_axis
from screentest.reports.html.gate_series import arms_chart
from screentest.reports.html.text import beside
from tests.reports import gates
from tests.reports.pages import HOSTILE, picture
from tests.reports.reader import Reader, assert_nothing_is_fetched

DIGEST = "sha256:c8b4b7dbe5b4263bc256854f15958e98a0f53d08438089e69d14253f35dddc5a"
SECTIONS = ["budgets", "prompts", "series", "strips", "not-measured", "blind", "card", "control",
            "tables", "power", "versions"]  # fmt: skip


@pytest.fixture(autouse=True)
def extra():
    pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")


def written(tmp_path, report: GateReport, **options):
    path = tmp_path / "gate.html"
    gate_page(report, path, **options)
    return path.read_text(encoding="utf-8")


def header(text):
    return Reader(text[text.index("<header") : text.index("</header>") + 9]).text


def value(report, name):
    return next(row.value for row in report.rows() if row.budget.name == name)


def test_a_failed_gate_says_what_failed_and_by_how_much(tmp_path):
    report = gates.failing()
    told = header(written(tmp_path, report, digest=DIGEST))
    index, frechet = value(report, "imaging_index"), value(report, "population_frechet")
    assert "fail 4 budgets are not met, of 11." in told
    assert f"imaging_index {index:.3f} {0.92 - index:.3f} below 0.92" in told
    assert f"population_frechet {frechet:.3f} {frechet - 0.2:.3f} above 0.2" in told
    assert "significant_features 3 3 above 0" in told
    assert report.protocol.line() in told
    # The list of what is not met says it.
    assert report.reasons[0].startswith("failed: ")
    assert "failed: " not in told.lower()
    assert "8 pairs measured, 8 prompts in the protocol" in told
    assert DIGEST in told


def test_a_passed_gate_says_what_it_cannot_see(tmp_path):
    report = gates.passing()
    told = header(written(tmp_path, report))
    assert "pass 11 budgets counted, and every one is met." in told
    assert "Not seen by this gate Duplicated subjects" in told
    assert "not sealed: this report has no digest" in told
    assert "Not met" not in told


def test_an_indeterminate_gate_says_why_and_what_would_fail(tmp_path):
    report = gates.indeterminate()
    text = written(tmp_path, report)
    told = header(text)
    assert "indeterminate No verdict follows from this comparison." in told
    assert "The arms ran on different pods" in told
    would = told[told.index("Would fail, were the comparison valid") :]
    assert [name for name in report.would_fail if name not in would] == []
    assert len(report.reasons) > 4
    # What does not fit one screen stands in full below it.
    assert f"{len(report.reasons) - 4} more, and all in full" in told
    for reason in report.reasons:
        assert reason[1:] in Reader(text).text


def test_a_degenerate_gate_has_no_budgets_and_marks_the_clips(tmp_path):
    text = written(tmp_path, gates.degenerate())
    told = Reader(text)
    assert "degenerate There is nothing to compare." in header(text)
    assert 'id="budgets"' not in text
    assert "nothing to compare in the candidate" in told.text
    assert text.count(">degenerate</span>") == 2
    assert "NaN" not in told.text
    assert "None" not in told.text


def test_sections_come_in_their_order(tmp_path):
    text = written(tmp_path, gates.failing(), evidence=gates.evidence())
    assert re.findall(r'<section aria-labelledby="([a-z-]+)"', text) == SECTIONS
    for target in re.findall(r'href="#([^"]+)"', text):
        assert f'id="{target}"' in text


def test_every_budget_shows_bounds_interval_and_provenance(tmp_path):
    report = gates.failing()
    text = Reader(written(tmp_path, report)).text
    for row in report.rows():
        assert f"Provenance: {row.budget.provenance}" in text
    index = next(r for r in report.benchmarks.values()).intervals["imaging_index"]
    assert f"95 % {index.low:.3f} to {index.high:.3f} allowed 0.92 to 1.25" in text
    motion = next(row.budget for row in report.rows() if row.budget.name == "motion_ratio")
    assert f"allowed at least {motion.low:.3g}" in text
    assert "allowed at most 0.25" in text


def test_rows_that_do_not_count_say_so_with_their_reason(tmp_path):
    report = gates.indeterminate()
    text = Reader(written(tmp_path, report)).text
    assert "Flicker ratio disregarded" in text
    assert "the null control reads 1.4 itself, outside flicker_ratio" in text
    assert "Track stability worst not measured" in text
    assert "track_stability_worst 3 of 8 references have no corner to follow" in text


# --- the axis, by hand ---


def budget(name, low=None, high=None):
    return Budget(name=name, low=low, high=high, provenance="by hand")


def test_a_linear_axis_is_in_proportion():
    """From -0.1 to 0.04 with 7 % of room at either end, in 96 % of the width."""
    axis = budget_axis(budget("jerk_excess", -0.1, 0.04), 0.0, (-0.05, 0.02), [], None)
    start, whole = -0.1 - 0.07 * 0.14, 0.14 * 1.14

    def at(number):
        return pytest.approx(2 + 96 * (number - start) / whole, abs=0.01)

    assert axis.value.x == at(0.0) == axis.alike
    assert axis.interval == (at(-0.05), at(0.02))
    assert axis.band == (at(-0.1), pytest.approx(96 * 0.14 / whole, abs=0.02))
    assert (axis.low.label, axis.high.label) == ("-0.1", "0.04")


def test_half_and_double_lie_equally_far_from_no_change():
    axis = budget_axis(budget("imaging_index", 0.5, 2.0), 1.0, None, [], None)
    assert axis.value.x == axis.alike == pytest.approx(50.0, abs=0.01)
    assert axis.value.x - axis.low.x == pytest.approx(axis.high.x - axis.value.x, abs=0.01)


def test_a_one_sided_budget_allows_up_to_the_edge():
    low = budget_axis(budget("motion_ratio", low=0.65), 0.9, None, [], None)
    assert low.band[0] == low.low.x
    assert sum(low.band) == pytest.approx(100)
    assert low.high is None
    high = budget_axis(budget("flicker_ratio", high=1.25), 0.9, None, [], None)
    assert high.band[0] == 0.0
    assert high.band[1] == high.high.x


def test_what_lies_far_beyond_is_drawn_at_the_edge_and_said():
    prompts = [(0, "one", 1.0), (1, "two", 5e8)]
    axis = budget_axis(budget("flicker_ratio", high=1.25), 5e8, None, prompts, None)
    assert (axis.value.x, axis.value.off) == (98.0, "right")
    assert axis.off == 1
    assert axis.high.x < 60  # the room stays visible
    frozen = budget_axis(budget("motion_ratio", low=0.65), 0.0, None, [], None)
    assert (frozen.value.x, frozen.value.off) == (2.0, "left")


def test_dots_are_the_prompts_and_those_outside_are_marked():
    prompts = [(i, f"p{i}", x) for i, x in enumerate([0.8, 0.95, 0.95, 0.95, 1.0])]
    axis = budget_axis(budget("imaging_index", 0.92, 1.25), 0.95, None, prompts, 1.01)
    assert sorted((dot.prompt, dot.outside) for dot in axis.dots) == [
        (0, True), (1, False), (2, False), (3, False), (4, False)
    ]  # fmt: skip
    alike = [(dot.x, dot.y) for dot in axis.dots if dot.prompt in (1, 2, 3)]
    assert len({x for x, _ in alike}) == 1
    assert len({y for _, y in alike}) == 3
    assert axis.control.x > axis.value.x
    assert next(dot for dot in axis.dots if dot.prompt == 0).says == "p0: 0.800"


def test_labels_of_an_axis_do_not_touch():
    for low, high in ((0.92, 1.25), (0.99, 1.01), (0.5, 30.0)):
        axis = budget_axis(budget("imaging_index", low, high), 1.0, None, [(0, "p", 9.0)], None)
        ticks = [tick.x for tick in axis.ticks]
        bounds = [axis.low.x, axis.high.x]
        assert all(abs(tick - bound) >= 12 for tick in ticks for bound in bounds)
        if bounds[1] - bounds[0] < 12:
            assert (axis.low.anchor, axis.high.anchor) == ("end", "start")


def test_a_value_is_never_rounded_onto_the_bound_that_it_misses():
    assert beside(0.9199999, 0.92) == "0.9199999"
    assert beside(1.2500001, 1.25) == "1.2500001"
    assert beside(math.nextafter(0.92, 0), 0.92) != "0.920"


# --- prompts ---


def table_of(text):
    """Rows of the prompts' table: (number, exact values)."""
    rows = re.findall(r'<tbody id="pair-(\d+)"[^>]*>\n<tr>(.*?)</tr>', text, re.S)
    return [(int(index), re.findall(r'data-v="([^"]*)"', row)) for index, row in rows]


def test_the_table_holds_every_value_of_every_prompt_the_worst_first(tmp_path):
    report = gates.failing()
    text = written(tmp_path, report)
    rows = table_of(text)
    assert sorted(index for index, _ in rows) == list(range(8))
    assert rows[0][0] == 4  # the one that is blurred most
    heads = re.findall(r'<th scope="col" class="n" data-head="[^"]*" title="(\w+)"', text)
    for index, values in rows:
        facts = report.population.prompts[index].values
        assert dict(zip(heads, map(float, values[2:]), strict=True)) == facts
    wanted = "imaging_index population_frechet motion_ratio frozen_share_excess ratio_sharpness"
    assert set(heads) >= {*wanted.split(), "track_stability_ratio"}


def test_cells_outside_their_bound_say_so_without_colour(tmp_path):
    report = gates.population(bad=4)
    text = written(tmp_path, report)
    row = re.search(r'<tbody id="pair-4".*?</tbody>', text, re.S)[0]
    assert "<i> out</i>" in row
    # Its Fréchet distance lies above the median's bound, and below that of the worst pair.
    assert "outside: imaging index" in Reader(row).text
    others = re.sub(r'<tbody id="pair-4".*?</tbody>', "", text, flags=re.S)
    assert 'class="n out"' not in others


def test_details_show_both_arms_and_the_files(tmp_path):
    report = gates.passing()
    text = Reader(written(tmp_path, report)).text
    pair = report.population.prompts[0]
    one, two = pair.reference["sharpness"], pair.candidate["sharpness"]
    told = f"sharpness {one:.2f} → {two:.2f} ×{pair.values['ratio_sharpness']:.3f}"
    assert told in text
    assert "bf16/000.mp4" in text
    assert "fp8/000.mp4" in text
    assert pair.contents[0] in text


# --- evidence ---


def test_series_of_both_arms_are_drawn_over_one_another():
    one = np.array([0.0, 1.0, 2.0, 3.0])
    chart = arms_chart("motion", ArmSeries(one, np.array([4.0, np.nan, 4.0]), "levels"))
    # 0 to 4 over a height of 160, four columns over a width of 720.
    assert chart.reference == "M90.0,160.0L270.0,120.0L450.0,80.0L630.0,40.0"
    assert chart.candidate == "M90.0,0.0h0M450.0,0.0h0"
    assert chart.summary == "motion per frame: reference 0 to 3, candidate 4 to 4 levels"
    assert json.loads(chart.data)["v"] == ["0 → 4", "1 → none", "2 → 4", "3 → none"]


def test_a_series_without_numbers_or_of_a_still_is_no_chart():
    nothing = np.array([np.nan, np.nan])
    assert arms_chart("motion", ArmSeries(nothing, nothing)) is None
    assert arms_chart("motion", ArmSeries(np.array([1.0]), np.array([2.0]))) is None


def test_long_series_are_drawn_in_columns():
    long = np.linspace(0, 1, 50_000)
    chart = arms_chart("brightness", ArmSeries(long, long))
    assert len(chart.reference) + len(chart.data) < 20_000
    assert chart.binned == 278


def test_pictures_stand_in_three_rows_with_one_scale(tmp_path):
    text = written(tmp_path, gates.failing(), evidence=gates.evidence(prompts=(4,), frames=3))
    labels = [image["alt"] for image in Reader(text).all("img") if image.get("src")]
    assert labels == [f"{row}, frame {at}" for at in (0, 60, 120)
                      for row in ("Reference", "Candidate", "Difference")]  # fmt: skip
    assert Reader(text).text.count("of full scale") == 1


def test_the_difference_of_two_takes_is_called_no_damage(tmp_path):
    words = "The difference is no measure of damage."
    assert words in Reader(written(tmp_path, gates.failing(), evidence=gates.evidence())).text
    assert words not in Reader(written(tmp_path, gates.reference(), evidence=gates.evidence())).text


def test_frames_that_one_arm_lacks_leave_a_hole(tmp_path):
    frame = GateFrame(7, picture(72, 128), None)
    shown = GateEvidence([PromptEvidence(0, {}, [frame])], notes=["the candidate ends at 5"])
    text = Reader(written(tmp_path, gates.failing(), evidence=shown)).text
    assert "no frame" in text
    assert "pictures and series the candidate ends at 5" in text


def test_without_evidence_there_is_nothing_to_see_and_no_empty_section(tmp_path):
    text = written(tmp_path, gates.failing())
    assert 'id="series"' not in text
    assert 'id="strips"' not in text


@pytest.mark.parametrize("prompt", [-1, 8])
def test_evidence_of_a_prompt_that_is_not_there_is_refused(tmp_path, prompt):
    frame = GateFrame(0, picture(36, 64), picture(36, 64))
    shown = GateEvidence([PromptEvidence(prompt, {}, [frame])])
    with pytest.raises(InputError, match=rf"prompt {prompt}; the report has 8") as caught:
        written(tmp_path, gates.failing(), evidence=shown)
    assert caught.value.code == "evidence_prompt"
    assert not list(tmp_path.iterdir())


# --- what stands behind ---


def test_the_protocol_card_has_every_field(tmp_path):
    lanes = ArmLanes(reference="compiled", candidate="eager")
    stamp = gates.protocol(
        notes="second try", seeds=tuple(range(90, 98)), same_pod=False, execution_lane=lanes
    )
    text = Reader(written(tmp_path, gates.population(stamp=stamp))).text
    card = text[text.index("Protocol Family") :]
    for words in ("Family ltx-2.3-distilled", "Reference arm bf16", "Candidate arm w8a8-fp8",
                  "Changes weight-quantization, activation-quantization", "Lane population",
                  "Purpose quality", "Size 1280 × 704", "Frames 121", "Frame rate 24 fps",
                  "Steps 8", "Guidance 3.5", "Seeds 90, 91, 92, 93, 94, 95, 96, 97",
                  "Prompts 8 prompts", "Execution of the reference compiled",
                  "Execution of the candidate eager", "Hardware H100 80 GB",
                  "Both arms on one pod no", "Notes second try", "scheduler euler",
                  "vae tiled 512"):  # fmt: skip
        assert words in card, words
    assert all(prompt in card for prompt in gates.PROMPTS)


def test_controls_power_and_versions_are_told(tmp_path):
    report = gates.indeterminate()
    text = Reader(written(tmp_path, report, digest=DIGEST, impls={"lpips": "lpips@1"})).text
    assert "flicker_ratio <= 1.25" in text
    assert "1.400 not met: the bound is disregarded" in text
    assert report.null_control.protocol.line() in text
    assert "flicker_ratio 0.1800 24 % 31 (too few now)" in text
    assert "motion_ratio 0.1000 – –" in text
    assert "Population statistics population@1" in text
    assert f"Digest of the budgets {report.table.sha256}" in text
    assert "LPIPS lpips@1" in text
    assert "Scale of log sharpness 0.3100" in text


def test_a_reference_gate_is_told_pair_by_pair(tmp_path):
    report = gates.reference()
    text = written(tmp_path, report)
    told = Reader(text).text
    assert "Reference gate · quality" in told
    assert "vmaf_mean no ffmpeg with libvmaf" in told
    assert "Worst frame of PSNR mean 64" in told
    assert "PSNR psnr@2" in told
    assert {len(values) for _, values in table_of(text)} == {5}  # number, outside, three metrics


def test_paired_fidelity_without_budgets_is_a_page(tmp_path):
    made = gates.reference(purpose="paired-fidelity")
    report = judge_reference(made.reference, made.protocol, None)
    text = written(tmp_path, report)
    assert "no budgets were given" in Reader(text).text.lower()
    assert 'id="budgets"' not in text
    repeat = Reader(written(tmp_path, gates.reference(purpose="paired-fidelity", repeat=True))).text
    assert "Repeat control" in repeat


def test_one_prompt_is_a_page(tmp_path):
    report = gates.population(gates.PROMPTS[:1])
    told = Reader(written(tmp_path, report)).text
    assert "1 pair measured, 1 prompt in the protocol" in told
    assert "1 prompt describes that draw" in told


# --- the file ---


@pytest.mark.parametrize("name", [HOSTILE, '"><img src=x onerror=alert(1)>', "\u202egnp.exe" * 9,
                                  "{{ 7 * 7 }}", "x" * 5000, "\u0000\u2028</script>"])  # fmt: skip
def test_hostile_text_stays_text(tmp_path, name):
    report, evidence = gates.hostile(name)
    text = written(tmp_path, report, evidence=evidence, digest=name)
    found = Reader(text)
    for image in found.all("img"):
        assert image.get("src", "data:image/").startswith("data:image/")
        assert "onerror" not in image
    assert not any(key.startswith("on") for _, each in found.elements for key in each)
    assert len(re.findall(r"<script\b", text)) == text.count("</script>") == 1
    assert " 49 " not in found.text
    # Whatever direction it runs in, it stays in its own box.
    assert text.count("<bdi") >= 20


def test_nothing_is_fetched_and_nothing_is_styled_inline(tmp_path):
    assert_nothing_is_fetched(written(tmp_path, gates.failing(), evidence=gates.evidence()))


def test_the_same_report_is_the_same_page(tmp_path):
    pages = {
        written(tmp_path, gates.failing(), evidence=gates.evidence(), digest=DIGEST)
        for _ in range(2)
    }
    assert len(pages) == 1


def test_two_hundred_prompts_stay_under_three_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 16, (176, 320, 3), dtype=np.uint8)
    one, two = picture(176, 320) // 2 + noise, picture(176, 320, 0.2) // 2 + noise[::-1]
    apart = np.abs(one.astype(np.float32) - two).mean(axis=-1) / 255
    frames = [GateFrame(i, one, two, apart) for i in range(8)]
    series = gates.evidence(prompts=(0,), frames=1).prompts[0].series
    shown = [PromptEvidence(p, series, frames if p < 3 else ()) for p in range(40)]
    path = tmp_path / "gate.html"
    prompts = tuple(f"{i}: {gates.PROMPTS[i % 8]} " + "and more of it " * 30 for i in range(200))
    report = gates.population(prompts, blur=0.97, bad=17)
    gate_page(report, path, evidence=GateEvidence(shown))
    text = path.read_text("utf-8")
    assert len(table_of(text)) == 200
    assert "28 more prompts have series that are left out here" in Reader(text).text
    assert os.path.getsize(path) < 3_000_000

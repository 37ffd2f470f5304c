"""The pages as text: what they say, what they escape, and how they are written."""

import json
import os
import re
import sys

import numpy as np
import pytest

from screentest.errors import MissingBackendError
from screentest.reports import html as pages
from screentest.reports.canonical import printable
from screentest.reports.html import Filmstrip, FilmstripFrame, SampleRow
from tests.reports.pages import (
    HOSTILE,
    comparison,
    evaluation,
    floor,
    info,
    picture,
    score,
    worst_frame,
)
from tests.reports.reader import Reader, assert_nothing_is_fetched


@pytest.fixture(autouse=True)
def extra():
    pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")


def compare(tmp_path, made=None, worst=()):
    path = tmp_path / "page.html"
    pages.comparison_page(made or comparison(), path, worst)
    return path.read_text(encoding="utf-8")


def evaluate(tmp_path, view=None):
    path = tmp_path / "page.html"
    pages.evaluation_page(view or evaluation(), path)
    return path.read_text(encoding="utf-8")


def test_a_comparison_says_scores_pairing_and_what_was_not_measured(tmp_path):
    text = Reader(compare(tmp_path, None, [worst_frame()])).text
    assert "Frame-aligned" in text
    assert "psnr_y" in text
    assert "2 reference frames missing from the candidate: 31–32" in text
    assert "1 candidate frame showing the one before again: 120" in text
    assert "vmaf no ffmpeg with libvmaf: pip install 'screentest[vmaf]'" in text
    assert "psnr_cb identical" in text
    assert "smpte170m (by rule: the file does not say)" in text
    assert "Frame 124 psnr 31.25 dB" in text


def test_numbers_keep_their_full_value_beside_the_rounded_one(tmp_path):
    made = comparison(scores=(score("psnr", 41.0872411), score("ssim", 0.987654321, "")))
    told = [(e["value"], e["title"]) for e in Reader(compare(tmp_path, made)).all("data")]
    assert told == [("41.0872411", "41.0872411"), ("0.987654321", "0.987654321")]


def test_a_pair_that_is_not_aligned_has_no_score_and_a_reason(tmp_path):
    made = comparison(aligned=False, scored=False, findings=("it lags by 2 frames",), record={})
    text = Reader(compare(tmp_path, made)).text
    assert "Not frame-aligned It lags by 2 frames" in text
    assert "None: the frames of the two clips do not correspond" in text
    # What was measured on the way would be read as a score.
    assert "Frame by frame" not in text
    assert "psnr" not in text


@pytest.mark.parametrize("name", [HOSTILE, "a\udcff.mp4", '"><img src=x onerror=alert(1)>'])
def test_a_hostile_file_name_stays_text(tmp_path, name):
    made = comparison(candidate=name, reference=name, findings=(name,), record={"name": name})
    made.facts.series[name] = np.linspace(30, 40, 248)
    made.codec_floor = floor(how=name, encoder=name, parameters={name: name})
    page = compare(tmp_path, made, [worst_frame(name)])
    view = evaluation(
        title=name,
        predictions=name,
        samples=[
            SampleRow(name, name, "scored", {name: 30.0}, warnings=[name]),
            SampleRow(name, name, "skipped", reason=name, detail=name),
        ],
        aggregate={name: {name: {"mean": 30.0, "count": 1, "reason": name}}},
        filmstrips=[Filmstrip(name, name, name, 1.0, [FilmstripFrame(0, None, picture())])],
        facts=[(name, name)],
        notes=[name],
    )
    for text in (page, evaluate(tmp_path, view)):
        found = Reader(text)
        for image in found.all("img"):  # the one without a source is the viewer's
            assert image.get("src", "data:image/").startswith("data:image/")
            assert "onerror" not in image
        assert not any(k.startswith("on") for _, e in found.elements for k in e)
        assert len(re.findall(r"<script\b", text)) == text.count("</script>")
        assert not re.search(r"<script>\s*alert", text)
        assert printable(name) in found.text


def test_nothing_is_fetched(tmp_path):
    for text in (compare(tmp_path, None, [worst_frame()]), evaluate(tmp_path)):
        assert_nothing_is_fetched(text)


def test_a_page_of_a_comparison_is_small(tmp_path):
    """Fifty of them go with a CI run."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 40, (720, 1280, 3), dtype=np.uint8)
    frame = worst_frame(height=720, width=1280)
    busy = type(frame)(
        "psnr", 3, 3, 30.0, frame.reference_rgb // 2 + noise, frame.candidate_rgb // 2 + noise,
        frame.error_map, frame.ssim_map,
    )  # fmt: skip
    compare(tmp_path, comparison(frames=20_000), [busy])
    assert os.path.getsize(tmp_path / "page.html") < 800_000


def test_an_evaluation_says_groups_skips_and_reasons(tmp_path):
    view = evaluation()
    text = Reader(evaluate(tmp_path, view)).text
    assert "robots 120 samples" in text
    mean = view.aggregate["robots"]["psnr"]["mean"]
    assert f"psnr {mean:.2f} dB" in text
    assert "5 size_mismatch" in text
    assert "prediction 640x360, ground truth 640x352" in text
    assert "looked for gt/sample_0005.mp4" in text
    assert "sample_0001 robots psnr 26.00 dB" in text


def test_an_aggregate_over_nothing_has_its_reason_and_no_number(tmp_path):
    row = {"mean": None, "count": 0, "n_skipped": {"unreadable": 2}, "n_missing": 1,
           "reason": "no sample has a number: 2 skipped (unreadable), 1 missing"}  # fmt: skip
    view = evaluation(aggregate={"all": {"psnr": row}}, samples=[], filmstrips=[])
    text = Reader(evaluate(tmp_path, view)).text
    assert "psnr – – – 0 0 1 2 unreadable – no sample has a number" in text
    assert "NaN" not in text
    assert "None" not in text


def test_an_empty_evaluation_is_a_page(tmp_path):
    view = evaluation(aggregate={}, samples=[], filmstrips=[], facts=[])
    assert "No sample was chosen." in Reader(evaluate(tmp_path, view)).text


def test_the_data_for_the_script_hold_every_sample(tmp_path):
    view = evaluation(count=300)
    text = evaluate(tmp_path, view)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1]
    rows = json.loads(data)
    assert len(rows) == len(view.samples)
    told = {(row[0], row[1]): row[5][0] for row in rows}
    assert told == {(s.group, s.key): s.metrics.get("psnr") for s in view.samples}
    assert text.count('<th scope="row">sample_') == 100


def test_a_crowd_of_samples_is_cut_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("screentest.reports.html.evaluation.MOST_ROWS", 150)
    text = evaluate(tmp_path, evaluation(count=300))
    assert "150 more scored samples are in their own metrics.json files" in Reader(text).text
    skipped = sum(s.state != "scored" for s in evaluation(count=300).samples)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert sum(row[2] != "scored" for row in data) == skipped


def test_without_jinja2_the_error_names_the_extra(tmp_path, monkeypatch):
    from screentest.reports.html import page

    page._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingBackendError, match=r"screentest\[report\]") as caught:
        pages.comparison_page(comparison(), tmp_path / "page.html")
    page._environment.cache_clear()
    assert caught.value.code == "missing_backend"
    assert not list(tmp_path.iterdir())


def test_a_page_replaces_the_old_one_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk is full"):
        pages.comparison_page(comparison(), path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_the_same_comparison_is_the_same_page(tmp_path):
    assert compare(tmp_path, None, [worst_frame()]) == compare(tmp_path, None, [worst_frame()])


def test_worst_frames_of_two_metrics_share_a_panel(tmp_path):
    frames = [
        worst_frame("psnr"),
        worst_frame("ssim", unit="", value=0.97),
        worst_frame("psnr_y", 7),
    ]
    found = Reader(compare(tmp_path, None, frames))
    assert found.text.count("Reference, detail") == 2
    assert "Frame 124 psnr 31.25 dB, ssim 0.97000" in found.text


def test_facts_that_differ_are_marked(tmp_path):
    made = comparison()
    made.facts.candidate = info("out/b.mp4", pixel_format="yuv420p10le", bit_depth=10)
    rows = re.findall(r'<tr class="differs"><th scope="row">([^<]*)<', compare(tmp_path, made))
    assert {"pixel format", "bit depth"} <= set(rows)
    assert "width" not in rows


def test_a_codec_floor_stands_beside_the_candidate(tmp_path):
    known = floor(
        how="Encoded again.",
        encoder="x264 core 164",
        parameters={"crf": "23.0"},
        scores=(
            score("psnr", 41.5),
            score("psnr_worst", 40.0),
            score("psnr_cb", None, state="identical"),
        ),
    )
    text = Reader(compare(tmp_path, comparison(codec_floor=known))).text
    assert "Encoded again. Metric Candidate Floor Unit psnr 41.09 41.50 dB" in text
    assert "psnr_cb identical identical dB" in text
    assert "40.00" not in text  # the worst frame's has its own column above
    unknown = floor("a file of codec mpeg4 does not say")
    text = Reader(compare(tmp_path, comparison(codec_floor=unknown))).text
    assert "Unknown: a file of codec mpeg4 does not say." in text

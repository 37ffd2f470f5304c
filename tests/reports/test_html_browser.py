"""The pages in a real browser: their script runs under their own policy, and no error is logged."""

import json
import re

import pytest

from screentest.reports import html as pages
from tests.reports.browser import PHONE, answer_of
from tests.reports.pages import HOSTILE, comparison, evaluation, worst_frame


@pytest.fixture
def compared(tmp_path):
    path = tmp_path / "page.html"
    pages.comparison_page(comparison(candidate=HOSTILE), path, [worst_frame()])
    return path


@pytest.fixture
def evaluated(tmp_path):
    path = tmp_path / "page.html"
    pages.evaluation_page(evaluation(count=300), path)
    return path


def test_a_browser_runs_both_pages_without_a_word(browse, compared, tmp_path):
    pages.evaluation_page(evaluation(), tmp_path / "second.html")
    for path in (compared, tmp_path / "second.html"):
        dom, said = browse(path)
        assert '<html lang="en" class="live">' in dom
        assert not said


def test_a_foreign_script_would_be_refused(browse, compared):
    """The policy is live: the test above could not see it fail."""
    text = compared.read_text("utf-8").replace(
        "</body>", "<script>document.title=1</script></body>"
    )
    compared.write_text(text, "utf-8")
    dom, said = browse(compared)
    assert any("Content Security Policy" in line for line in said)
    assert "<title>1</title>" not in dom


def test_the_table_is_sorted_filtered_and_leafed(browse, evaluated):
    view = evaluation(count=300)
    answer = answer_of(browse, evaluated, """
        const rows = () => [...document.querySelectorAll("#table tbody tr")].map(
            (row) => [...row.cells].map((cell) => cell.textContent));
        const heads = [...document.querySelectorAll("#table thead th")];
        const psnr = heads[3].querySelector("button");
        answer.first = rows().length;
        document.getElementById("on").click();
        answer.second = [rows().length, document.getElementById("leaf").textContent];
        psnr.click();
        answer.up = rows().map((row) => row[3]);
        answer.sorted = heads[3].getAttribute("aria-sort");
        psnr.click();
        answer.down = rows().map((row) => row[3]);
        const form = document.getElementById("filters");
        const pick = (name, value) => {
            form.elements[name].value = value;
            form.dispatchEvent(new Event("input", { bubbles: true }));
        };
        pick("state", "skipped");
        answer.skipped = rows().map((row) => row[2]);
        answer.shown = document.getElementById("shown").textContent;
        pick("state", ""); pick("group", "kitchen"); pick("text", "SAMPLE_0007");
        answer.found = rows().map((row) => row.slice(0, 2));
        pick("text", "no such sample");
        answer.none = rows().length;
    """)  # fmt: skip
    values = sorted(s.metrics["psnr"] for s in view.samples if s.state == "scored")
    assert answer["first"] == 100
    assert answer["second"] == [100, "2 of 3"]
    assert answer["up"] == [f"{v:.2f}" for v in values[:100]]
    assert answer["sorted"] == "ascending"
    assert answer["down"] == [f"{v:.2f}" for v in values[::-1][:100]]
    skipped = sum(s.state == "skipped" for s in view.samples)
    assert answer["skipped"] == ["skipped"] * skipped
    assert answer["shown"] == f"{skipped} of 300 samples"
    assert answer["found"] == [["kitchen", "sample_0007"]]
    assert answer["none"] == 0


def test_charts_are_read_by_the_keyboard(browse, compared):
    answer = answer_of(browse, compared, """
        const chart = document.querySelector(".chart");
        const press = (key) => chart.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true }));
        const said = () => chart.querySelector("output").textContent;
        chart.focus();
        press("ArrowRight"); answer.first = said();
        press("ArrowRight"); answer.second = said();
        press("End"); answer.last = said();
        answer.cursor = chart.querySelector(".cursor").getAttribute("d");
        // A window that has not got the focus says nothing of losing it.
        chart.dispatchEvent(new FocusEvent("blur")); answer.left = said();
    """)  # fmt: skip
    values = comparison().facts.series["psnr"]
    assert answer["first"] == f"frame 0: {values[0]:.2f} dB"
    assert answer["second"] == f"frame 1: {values[1]:.2f} dB"
    assert answer["last"] == f"frame 247: {values[-1]:.2f} dB"
    assert answer["cursor"].startswith("M718.5,0V")
    assert answer["left"] == ""


def test_pictures_are_enlarged_and_flipped_by_the_keyboard(browse, compared):
    answer = answer_of(browse, compared, """
        const picture = document.querySelector(".frames img");
        const viewer = document.getElementById("viewer");
        const press = (at, key) => at.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true }));
        picture.focus();
        answer.focused = document.activeElement === picture;
        press(picture, "Enter");
        answer.open = viewer.open;
        answer.same = viewer.querySelector("img").src === picture.src;
        press(viewer, "ArrowRight");
        answer.next = viewer.querySelector("img").alt;
        press(viewer, "ArrowLeft"); press(viewer, "ArrowLeft");
        answer.round = viewer.querySelector("img").alt;
        viewer.close();
    """)  # fmt: skip
    assert answer == {"focused": True, "open": True, "same": True, "next": "Candidate",
                      "round": "1 − SSIM"}  # fmt: skip


@pytest.mark.parametrize("kind", ["compared", "evaluated"])
def test_no_sideways_scrolling_on_a_phone(browse, request, kind, tmp_path):
    path = request.getfixturevalue(kind)
    frame = tmp_path / "phone.html"
    frame.write_text(f"""<!doctype html><title>wait</title>
        <iframe src="{path.name}" width="{PHONE}" height="800"></iframe>
        <pre id="answer"></pre><script>
        onload = () => {{
          const page = document.querySelector("iframe").contentDocument.documentElement;
          document.getElementById("answer").textContent = JSON.stringify({{
            wide: page.scrollWidth, room: page.clientWidth,
            small: [...page.querySelectorAll("td, dd, p, figcaption")].filter(
              (e) => parseFloat(getComputedStyle(e).fontSize) < 12).length,
          }});
        }};</script>""")
    dom, said = browse(frame)
    assert not said
    answer = json.loads(re.search(r'<pre id="answer">(.*?)</pre>', dom)[1])
    assert 0 < answer["room"] <= PHONE
    assert answer["wide"] <= answer["room"]
    assert answer["small"] == 0

"""The page of a gate in a real browser: it sorts, filters, opens, is read by keyboard, fits a phone
and one screen, and prints what is folded away."""

import base64
import hashlib
import json
import re

import pytest

from screentest.reports.html import gate_page
from tests.reports import gates
from tests.reports.browser import PHONE, answer_of
from tests.reports.pages import HOSTILE

DIGEST = "sha256:c8b4b7dbe5b4263bc256854f15958e98a0f53d08438089e69d14253f35dddc5a"
# Names of what is asked again and again.
HELPERS = """
    const shown = () => [...document.querySelectorAll("#pairs tbody:not([hidden])")];
    const numbers = () => shown().map((body) => Number(body.dataset.prompt));
    const heads = [...document.querySelectorAll("#pairs thead th")];
    const press = (at, key) => at.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
"""


@pytest.fixture
def page(tmp_path):
    """``page(report, evidence)``: the file of its page."""

    def make(report, evidence=None):
        path = tmp_path / "gate.html"
        gate_page(report, path, digest=DIGEST, evidence=evidence)
        return path

    return make


def hostile():
    return gates.hostile(f"{HOSTILE}\u202e{{{{7*7}}}}" + "x" * 400)


KINDS = {
    "pass": lambda: (gates.passing(), None),
    "fail": lambda: (gates.failing(), gates.evidence()),
    "indeterminate": lambda: (gates.indeterminate(), None),
    "degenerate": lambda: (gates.degenerate(), None),
    "one": lambda: (gates.population(gates.PROMPTS[:1]), None),
    "reference": lambda: (gates.reference(), gates.evidence()),
    "hostile": hostile,
    "many": lambda: (gates.many(), gates.evidence()),
}


WINDOWS = {"desktop": (1280, 900), "phone": (PHONE, 844)}
VISIT = """
    const root = page.documentElement;
    const low = (at) => page.querySelector(at)?.getBoundingClientRect().bottom ?? 0;
    const told = { live: root.classList.contains("live"),
      picked: page.getElementById("picked").textContent,
      first: [".ruling", ".missed", ".first .reasons", ".line", ".digest"].map(low) };
    for (const each of page.querySelectorAll("details")) each.open = true;
    for (const each of page.querySelectorAll("#pairs tbody")) each.classList.add("open");
    told.wide = root.scrollWidth;
    told.room = root.clientWidth;
    told.small = [...page.querySelectorAll("td, dd, p, li, figcaption")].filter(
      (e) => parseFloat(view.getComputedStyle(e).fontSize) < 12).length;
    return told;
"""


@pytest.fixture(scope="module")
def visits(browse, tmp_path_factory):
    """What every kind of page looks like in every window, by (kind, window); all in one start."""
    folder = tmp_path_factory.mktemp("visits")
    frames = []
    for kind, make in KINDS.items():
        report, evidence = make()
        gate_page(report, folder / f"{kind}.html", digest=DIGEST, evidence=evidence)
        for name, (width, height) in WINDOWS.items():
            frames.append(f'<iframe id="{kind} {name}" src="{kind}.html" width="{width}" '
                          f'height="{height}"></iframe>')  # fmt: skip
    path = folder / "all.html"
    path.write_text(f"""<!doctype html><title>wait</title>{"".join(frames)}
        <pre id="answer"></pre><script>
        onload = () => {{
          const found = {{}};
          for (const frame of document.querySelectorAll("iframe")) {{
            const view = frame.contentWindow;
            const page = view.document;
            found[frame.id] = (() => {{ {VISIT} }})();
          }}
          document.getElementById("answer").textContent = JSON.stringify(found);
        }};</script>""")
    dom, said = browse(path)
    assert not said
    return json.loads(re.search(r'<pre id="answer">(.*?)</pre>', dom)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_the_script_runs_to_its_end_without_a_word(visits, kind):
    assert visits[f"{kind} desktop"]["live"]
    assert re.fullmatch(r"\d+ prompts?", visits[f"{kind} desktop"]["picked"])


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_sideways_scrolling_whatever_is_opened(visits, kind, window):
    told = visits[f"{kind} {window}"]
    assert 0 < told["room"] <= WINDOWS[window][0]
    assert told["wide"] <= told["room"]
    assert told["small"] == 0


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "hostile"])
def test_the_verdict_and_why_fit_one_screen(visits, kind, window):
    first = visits[f"{kind} {window}"]["first"]
    assert min(first[0], first[-1]) > 0
    assert max(first) <= WINDOWS[window][1]


def test_every_column_sorts_both_ways_and_worst_first_comes_back(browse, page):
    report = gates.failing()
    answer = answer_of(browse, page(report), HELPERS + """
        const button = (head) => head.querySelector("button");
        const named = (name) => heads.find((head) => head.dataset.head.startsWith(name));
        answer.first = numbers();
        answer.buttons = heads.every((head) => button(head)?.type === "button");
        button(heads[0]).click(); answer.up = numbers();
        answer.sorted = heads.map((head) => head.getAttribute("aria-sort")).filter(Boolean);
        button(heads[0]).click(); answer.down = numbers();
        answer.turned = heads[0].getAttribute("aria-sort");
        button(named("motion ratio")).click(); answer.motion = numbers();
        answer.moved = [heads[0], named("motion ratio")].map((h) => h.getAttribute("aria-sort"));
        button(heads[1]).click(); answer.words = numbers();
        document.getElementById("worst-first").click(); answer.again = numbers();
        answer.none = heads.every((head) => !head.hasAttribute("aria-sort"));
    """)  # fmt: skip
    motion = [pair.values["motion_ratio"] for pair in report.population.prompts]
    assert answer["first"][0] == 4
    assert answer["buttons"]
    assert answer["up"] == list(range(8))
    assert answer["sorted"] == ["ascending"]
    assert answer["down"] == list(range(8))[::-1]
    assert answer["turned"] == "descending"
    assert answer["motion"] == sorted(range(8), key=motion.__getitem__)
    assert answer["moved"] == [None, "ascending"]
    assert answer["words"] == sorted(range(8), key=lambda i: gates.PROMPTS[i].lower())
    assert answer["again"] == answer["first"]
    assert answer["none"]


def test_prompts_are_found_by_text_and_by_bound(browse, page):
    answer = answer_of(browse, page(gates.population(bad=4)), HELPERS + """
        const form = document.getElementById("pick");
        const change = () => form.dispatchEvent(new Event("input", { bubbles: true }));
        const say = () => document.getElementById("picked").textContent;
        form.elements.text.value = "VIOLIN"; change();
        answer.found = [numbers(), say()];
        form.elements.text.value = "fp8/002"; change();
        answer.file = numbers();
        form.elements.text.value = "no such prompt"; change();
        answer.nothing = [numbers(), say()];
        form.elements.text.value = ""; form.elements.outside.checked = true; change();
        answer.outside = numbers();
        form.elements.outside.checked = false; change();
        answer.all = say();
    """)  # fmt: skip
    assert answer["found"] == [[5], "1 of 8 prompts"]
    assert answer["file"] == [2]
    assert answer["nothing"] == [[], "0 of 8 prompts"]
    assert 4 in answer["outside"]
    assert len(answer["outside"]) < 8
    assert answer["all"] == "8 prompts"


def test_details_open_by_the_keyboard_and_arrows_lead_from_row_to_row(browse, page):
    answer = answer_of(browse, page(gates.failing()), HELPERS + """
        const button = (at) => shown()[at].querySelector("th button");
        const open = (at) => shown()[at].querySelector(".detail").checkVisibility();
        answer.tabbable = button(0).tabIndex;
        button(0).focus();
        answer.before = [open(0), button(0).getAttribute("aria-expanded")];
        press(button(0), "Enter");
        answer.after = [open(0), button(0).getAttribute("aria-expanded")];
        answer.names = document.getElementById(button(0).getAttribute("aria-controls")).textContent
            .includes("sharpness");
        press(button(0), "ArrowDown");
        answer.next = document.activeElement === button(1);
        press(button(1), "ArrowUp");
        answer.back = document.activeElement === button(0);
        press(button(0), "Enter");
        answer.closed = [open(0), button(0).getAttribute("aria-expanded")];
        button(1).click();
        answer.clicked = open(1);
    """)  # fmt: skip
    assert answer == {
        "tabbable": 0, "before": [False, "false"], "after": [True, "true"], "names": True,
        "next": True, "back": True, "closed": [False, "false"], "clicked": True,
    }  # fmt: skip


def test_a_prompt_is_lit_on_every_axis_and_its_dot_opens_its_row(browse, page):
    report = gates.failing()
    answer = answer_of(browse, page(report), HELPERS + """
        const lit = () => document.querySelectorAll(".axis .lit").length;
        const row = document.querySelector('#pairs tbody[data-prompt="2"]');
        row.dispatchEvent(new PointerEvent("pointerenter"));
        answer.lit = lit();
        row.dispatchEvent(new PointerEvent("pointerleave"));
        answer.dark = lit();
        const dot = document.querySelector('.axis [data-prompt="6"]');
        dot.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        answer.focused = document.activeElement.closest("tbody").dataset.prompt;
        answer.open = document.activeElement.closest("tbody").classList.contains("open");
    """)  # fmt: skip
    axes = sum(row.budget.name != "significant_features" for row in report.rows())
    assert answer == {"lit": axes, "dark": 0, "focused": "6", "open": True}


def test_both_arms_are_read_off_the_charts_by_the_keyboard(browse, page):
    evidence = gates.evidence(prompts=(4,))
    answer = answer_of(browse, page(gates.failing(), evidence), HELPERS + """
        const chart = document.querySelector(".chart");
        chart.focus();
        press(chart, "End");
        answer.said = chart.querySelector("output").textContent;
    """)  # fmt: skip
    series = evidence.prompts[0].series["sharpness"]
    assert answer["said"] == f"frame 120: {series.reference[-1]:.1f} → {series.candidate[-1]:.1f}"


def test_pictures_of_one_moment_are_flipped_in_place(browse, page):
    answer = answer_of(browse, page(gates.failing(), gates.evidence()), HELPERS + """
        const viewer = document.getElementById("viewer");
        const label = () => viewer.querySelector("img").alt;
        const second = [...document.querySelectorAll(".frames")][1];
        press(second.querySelector("img"), "Enter");
        answer.seen = [label()];
        for (const _ of [1, 2, 3]) { press(viewer, "ArrowRight"); answer.seen.push(label()); }
        viewer.close();
    """)  # fmt: skip
    assert answer["seen"] == ["Reference, frame 120", "Candidate, frame 120",
                              "Difference, frame 120", "Reference, frame 120"]  # fmt: skip


def restyled(path, condition, other):
    """The page whose rules for one condition hold under another one, and a policy that allows
    them."""
    text = path.read_text("utf-8")
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    assert condition in style
    changed = style.replace(condition, other)
    old, new = (
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()
        for each in (style, changed)
    )
    path.write_text(text.replace(style, changed).replace(old, new), "utf-8")
    return path


def test_print_shows_what_is_folded_away_and_no_control(browse, page):
    path = page(gates.failing(), gates.evidence(prompts=(4, 2, 6, 1)))
    restyled(path, "@media print", "@media screen")
    answer = answer_of(
        browse,
        path,
        """
        const seen = (e) => e.checkVisibility({ contentVisibilityAuto: true });
        const all = (at) => [...document.querySelectorAll(at)];
        answer.closed = all("details:not([open])").length;
        dispatchEvent(new Event("beforeprint"));
        answer.folded = all("details:not([open])").length;
        answer.details = all("#pairs .detail").filter(seen).length;
        answer.prompts = all("ol.prompts li").filter(seen).length;
        answer.charts = all(".by-prompt .chart").filter(seen).length;
        answer.controls = all("form, nav, .skip, #pairs thead button").filter(seen).length;
        answer.heads = all("#pairs thead th").map(
            (head) => getComputedStyle(head, "::before").content);
        answer.boxes = all(".scroll").filter(
            (e) => !["visible", "clip"].includes(getComputedStyle(e).overflowX)).length;
        dispatchEvent(new Event("afterprint"));
        answer.again = all("details:not([open])").length;
    """,
    )
    assert answer["closed"] == answer["again"] >= 4
    assert answer["folded"] == 0
    assert answer["details"] == 8
    assert answer["prompts"] == 8
    assert answer["charts"] == 16
    assert answer["controls"] == 0
    assert answer["heads"][:2] == ['"No."', '"Prompt"']
    assert '"imaging index, at least 0.85"' in answer["heads"]
    assert answer["boxes"] == 0


CONTRAST = """
    const rgb = (text) => {
      const found = text.match(/[\\d.]+/g).map(Number);
      return { c: found.slice(0, 3), a: found.length > 3 ? found[3] : 1 };
    };
    const light = ({ c }) => {
      const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92
        : ((v / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (e) => {
      for (let at = e; at; at = at.parentElement) {
        const found = rgb(getComputedStyle(at).backgroundColor);
        if (found.a === 1) return found;
      }
      return { c: [255, 255, 255] };
    };
    for (const each of document.querySelectorAll("details")) each.open = true;
    for (const each of document.querySelectorAll("#pairs tbody")) each.classList.add("open");
    answer.poor = [];
    answer.read = 0;
    for (const e of document.querySelectorAll("body *")) {
      const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
      if (!own || e.closest("script, dialog, title") || !e.checkVisibility()) continue;
      const style = getComputedStyle(e);
      const [one, two] = [rgb(e.closest("svg") ? style.fill : style.color), behind(e)].map(light);
      const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
      answer.read += 1;
      if (ratio < 4.5) answer.poor.push(`${e.tagName}.${e.className}: ${ratio.toFixed(2)}`);
    }
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browse, page, scheme):
    """WCAG 2.2, 1.4.3: 4.5 to 1, in both colour schemes."""
    path = page(gates.indeterminate(), gates.evidence())
    if scheme == "dark":
        restyled(path, "prefers-color-scheme: dark", "min-width: 1px")
    answer = answer_of(browse, path, CONTRAST)
    assert answer["read"] > 200
    assert answer["poor"] == []


def test_focus_is_seen_and_motion_is_not_forced(browse, page):
    path = page(gates.failing())
    assert "prefers-reduced-motion" in path.read_text("utf-8")
    answer = answer_of(browse, path, HELPERS + """
        const button = heads[0].querySelector("button");
        button.focus({ focusVisible: true });
        answer.outline = getComputedStyle(button).outlineStyle;
        answer.animated = [...document.querySelectorAll("*")].filter((e) => {
          const style = getComputedStyle(e);
          return style.animationName !== "none" || style.transitionDuration !== "0s";
        }).length;
    """)  # fmt: skip
    assert answer == {"outline": "solid", "animated": 0}

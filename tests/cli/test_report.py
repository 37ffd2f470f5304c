"""`screentest report`: show, inspect, diff and html."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from screentest.cli import exit_codes
from screentest.cli.main import app
from screentest.cli.report import _clips
from screentest.media.content import digest_path
from screentest.reports import canonical
from screentest.reports.gate import gate_lines
from screentest.reports.html import page as pages
from screentest.reports.inspection import MOST_BYTES, inspect
from screentest.reports.sealed import dump, save
from tests.gates import made_reports as made


def run(*arguments, input=None):
    return CliRunner().invoke(app, ["report", *map(str, arguments)], input=input)


@pytest.fixture
def stored(tmp_path):
    def store(body, name="report.json"):
        path = tmp_path / name
        save(path, body)
        return path

    return store


class TestShow:
    def test_a_report_is_shown_in_lines_with_its_digest(self, stored):
        report = made.population_report(motion_energy=0.5)
        path = stored(report)
        result = run("show", path)
        assert result.exit_code == exit_codes.DONE
        *lines, last = result.stdout.splitlines()
        assert lines == gate_lines(report)
        digest = canonical.digest(path.read_bytes())
        assert last.split() == ["screentest/gate-report@1", digest]
        assert result.stderr == ""

    def test_json_is_the_document_as_it_lies(self, stored):
        path = stored(made.population_report())
        result = run("show", path, "--json")
        assert result.stdout.encode() == path.read_bytes() + b"\n"
        assert json.loads(result.stdout)["body"]["verdict"] == "pass"

    def test_what_standard_output_wrote_to_a_file_is_read(self, stored, tmp_path):
        path = stored(made.population_report())
        written = tmp_path / "written.json"
        written.write_text(run("show", path, "--json").stdout)
        assert run("show", written).stdout == run("show", path).stdout

    def test_a_null_control_shows_what_does_not_transfer(self, stored):
        result = run("show", stored(made.made_null_control(jerk_excess=0.2)))
        assert result.stdout.startswith("CONTROL  ltx-2.3: ")
        assert "does not transfer: reads 0.2" in result.stdout

    def test_an_edited_report_is_one_line_that_names_file_and_field(self, stored):
        path = stored(made.population_report(motion_energy=0.5))
        path.write_bytes(path.read_bytes().replace(b'"verdict":"fail"', b'"verdict":"pass"'))
        result = run("show", path)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert result.stdout == ""
        assert result.stderr.splitlines() == [
            f"screentest: error: {path}: body: verdict is 'pass'; from the facts follows 'fail'"
        ]

    def test_a_missing_file_is_named(self, tmp_path):
        result = run("show", tmp_path / "none.json")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "none.json" in result.stderr


class TestInspect:
    @pytest.mark.parametrize("ending", [b"", b"\n"])
    def test_a_report_on_standard_input_is_told_as_canonical_json(self, ending):
        data = dump(made.population_report())
        result = run("inspect", input=data + ending)
        assert result.exit_code == exit_codes.DONE
        assert result.stdout.encode() == canonical.dumps(inspect(data)) + b"\n"

    @pytest.mark.parametrize("data", [b"", b"\n", b" " * (MOST_BYTES + 1)])
    def test_a_size_that_no_report_has_is_its_own_code(self, data):
        result = run("inspect", input=data)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert result.stdout == '{"error":{"code":"report.size_invalid"}}\n'
        assert result.stderr == ""

    @pytest.mark.parametrize("ending", [b"\n\n", b"\r\n", b" ", b"\0", b"x"])
    def test_more_than_one_newline_behind_a_report_is_refused(self, ending):
        result = run("inspect", input=dump(made.population_report()) + ending)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert result.stdout == '{"error":{"code":"report.invalid"}}\n'

    def test_nothing_of_what_is_refused_is_echoed(self):
        data = dump(made.population_report()).replace(b'"reasons":[]', b'"reasons":["SPOKEN"]')
        result = run("inspect", input=data)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert result.output == '{"error":{"code":"report.invalid"}}\n'

    def test_a_fault_of_ours_echoes_nothing_either(self, monkeypatch):
        def fails(data):
            raise RuntimeError(data.decode())

        monkeypatch.setattr("screentest.reports.inspection.inspect", fails)
        result = run("inspect", input=b"SPOKEN")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert result.output == '{"error":{"code":"report.invalid"}}\n'

    def test_it_loads_no_decoder_and_no_extra(self):
        code = (
            "import sys\n"
            "from screentest.cli.main import app\n"
            "app(['report', 'inspect'], standalone_mode=False)\n"
            "print([m for m in ('av', 'torch', 'scipy', 'jinja2') if m in sys.modules],"
            " file=sys.stderr)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", code],
            input=dump(made.population_report()),
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert ran.stderr.decode().strip() == "[]"
        assert json.loads(ran.stdout)["verdict"] == "pass"


class TestDiff:
    def test_equal_reports_end_with_0(self, stored):
        path = stored(made.population_report())
        result = run("diff", path, path)
        assert result.exit_code == exit_codes.DONE
        assert result.stdout.startswith("equal  sha256:")

    def test_reports_that_differ_end_with_1_and_say_where(self, stored):
        first = stored(made.population_report(), "a.json")
        second = stored(made.population_report(motion_energy=0.5), "b.json")
        result = run("diff", first, second)
        assert result.exit_code == exit_codes.NOT_PASSED
        lines = result.stdout.splitlines()
        assert "    verdict: pass -> fail" in lines
        assert "      motion_ratio: 1 -> 0.5  (-0.5)  [1, 1] -> [0.5, 0.5]" in lines
        document = json.loads(run("diff", first, second, "--json").stdout)
        assert document["equal"] is False

    def test_a_file_that_is_no_report_ends_with_2_and_is_named(self, stored, tmp_path):
        other = tmp_path / "other.json"
        other.write_text("{}")
        result = run("diff", stored(made.population_report()), other)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert f"{other}: " in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_page_without_jinja2_names_the_extra_and_writes_nothing(stored, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    pages._environment.cache_clear()
    page = tmp_path / "page.html"
    result = run("html", stored(made.population_report()), "-o", page)
    assert result.exit_code == exit_codes.BAD_INPUT
    assert "screentest[report]" in result.stderr
    assert not page.exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "/etc/passwd", ""])
def test_names_in_a_report_never_lead_out_of_the_folder(name, tmp_path):
    (path,) = _clips(made.reference_report(1, sources=(name, name)), 0, str(tmp_path))
    assert path.startswith(f"{tmp_path}/")
    assert ".." not in path


@pytest.fixture
def report_extra():
    if importlib.util.find_spec("jinja2") is None:
        pytest.skip("pages need jinja2: pip install 'screentest[report]'")


@pytest.mark.usefixtures("report_extra")
class TestHtml:
    def test_a_page_names_the_verdict_and_the_digest(self, stored, tmp_path):
        path, page = stored(made.population_report(motion_energy=0.5)), tmp_path / "page.html"
        result = run("html", path, "-o", page)
        assert result.exit_code == exit_codes.DONE
        assert result.stderr == f"screentest: wrote {page}\n"
        text = page.read_text()
        assert canonical.digest(path.read_bytes()) in text
        assert "motion_ratio" in text

    def test_a_control_has_no_page(self, stored, tmp_path):
        result = run("html", stored(made.made_null_control()), "-o", tmp_path / "page.html")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "expected GateReport" in result.stderr

    def test_pictures_need_the_clips_of_both_arms(self, stored, tmp_path):
        result = run(
            "html", stored(made.reference_report()), "-o", tmp_path / "p", "--reference", tmp_path
        )
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "go together" in result.stderr

    def test_pictures_of_the_worst_pair_are_embedded(self, stored, studio, tmp_path):
        clip = studio.a_mp4()
        report = made.reference_report(
            1, sources=("reference.mp4", "candidate.mp4"), contents=(digest_path(clip),) * 2
        )
        for name in ("reference.mp4", "candidate.mp4"):
            (tmp_path / name).write_bytes(clip.read_bytes())
        page = tmp_path / "page.html"
        result = run(
            "html", stored(report), "-o", page, "--reference", tmp_path, "--candidate", tmp_path
        )
        assert result.exit_code == exit_codes.DONE, result.stderr
        assert page.read_text().count("data:image/") >= 3

    def test_another_clip_under_the_name_of_one_is_refused(self, stored, studio, tmp_path):
        clip = studio.a_mp4()
        report = made.reference_report(
            1, sources=("a.mp4", "a.mp4"), contents=(digest_path(clip), "blake2b-256:other")
        )
        (tmp_path / "a.mp4").write_bytes(clip.read_bytes())
        page = tmp_path / "page.html"
        result = run(
            "html", stored(report), "-o", page, "--reference", tmp_path, "--candidate", tmp_path
        )
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "is not the clip that was measured" in result.stderr
        assert not page.exists()

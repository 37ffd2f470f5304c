"""``screentest measure``: what it prints, what it writes, and with which status."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import screentest
from screentest.cli.demo_clips import CLIPS
from screentest.cli.main import app
from screentest.metrics import families as table
from screentest.metrics.facts import Unmeasured
from screentest.metrics.integrity import measure_integrity
from tests.made_families import stand_in_for_unknown_metrics

ASKED = ("--families", "integrity")


@pytest.fixture(autouse=True)
def _scores(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_unknown_metrics(monkeypatch)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clips")
    for clip in CLIPS:
        if clip.name in ("moving.mp4", "noise.mp4"):
            clip.make(place / clip.name)
    return place


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["measure", *map(str, arguments)])


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class TestPrinted:
    def test_a_file_is_a_block_of_aligned_values_with_their_direction(self, clips: Path) -> None:
        path = clips / "moving.mp4"
        result = run(path, *ASKED)
        assert result.exit_code == 0
        assert result.stderr == ""
        facts = measure_integrity(path)
        head, *lines = result.stdout.splitlines()
        assert head == f"{path}  (640x360, 48 frames, 2.00 s)"
        values = {line.split()[0]: line for line in lines}
        line = values["adjacent_frame_corr"]
        assert f"{facts.adjacent_frame_corr:.6g}" in line
        assert line.endswith("  higher is better")
        # Values and words each begin in one column.
        starts = [line.index(line.split()[1]) for line in lines]
        assert len(set(starts)) == 1

    def test_what_is_not_measured_has_its_reason(self, studio: Any) -> None:
        result = run(studio.a_mp4(), *ASKED)
        assert result.exit_code == 0
        assert result.stdout.splitlines()[-1] == (
            "  not measured  grid_peak_ratio: needs 512 px on one side; this is 320x240"
        )

    def test_json_is_one_record_a_file_and_line_with_errors_among_them(self, clips: Path) -> None:
        result = run(clips / "moving.mp4", "/nowhere.mp4", *ASKED, "--json")
        assert result.exit_code == 2
        first, error = map(json.loads, result.stdout.splitlines())
        expected = screentest.measure(str(clips / "moving.mp4"), families=["integrity"])
        assert result.stdout.encode().splitlines()[0] == expected.to_json()
        assert first["status"] == "measured"
        assert (error["status"], error["error"]["code"]) == ("error", "not_found")

    def test_a_folder_is_walked_and_one_bad_file_costs_no_other(
        self, clips: Path, tmp_path: Path
    ) -> None:
        for name in ("a.mp4", "c.mp4"):
            shutil.copy(clips / "moving.mp4", tmp_path / name)
        (tmp_path / "b.mp4").write_text("no clip")
        (tmp_path / "notes.txt").write_text("")
        result = run(tmp_path, *ASKED, "--json")
        assert result.exit_code == 2
        assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == [
            "measured",
            "error",
            "measured",
        ]
        assert "notes.txt" in result.stderr
        assert str(tmp_path / "b.mp4") in result.stderr

    def test_help_loads_neither_numpy_nor_a_decoder(self) -> None:
        code = (
            "import contextlib, io, sys\n"
            "from screentest.cli.main import main\n"
            "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
            "    main(['measure', '--help'])\n"
            "print([name for name in ('numpy', 'av', 'pyarrow') if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stdout == b"[]\n"


class TestStatus:
    def test_a_family_that_was_named_and_has_no_number_is_3(
        self, studio: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from screentest.metrics.integrity import family as home

        gap = Unmeasured("noise", "not today")
        blind = replace(
            home.FAMILY,
            values=lambda _: {"adjacent_frame_corr": None},
            reasons=lambda _: {"adjacent_frame_corr": gap.reason},
        )
        monkeypatch.setattr(home, "FAMILY", blind)
        result = run(studio.a_mp4(), *ASKED)
        assert result.exit_code == 3
        assert "  not measured  adjacent_frame_corr: not today" in result.stdout
        monkeypatch.setattr(table, "DEFAULT", ("integrity",))
        assert run(studio.a_mp4()).exit_code == 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--families", "integrty"), "'integrty' is unknown"),
            (("--families", ""), "no family was asked for"),
            (("--windows", "0"), "windows=0"),
            (("--series",), "give --csv or --parquet"),
            (("--json", "--csv", "-"), "both write to stdout"),
            (("--csv", "/nowhere/table.csv"), "/nowhere: no such file"),
            (("--csv", "/"), "/: a folder; give the table a file"),
            (("--csv", ""), "a table has no name"),
            (("--cache", "/dev/null"), "not a folder"),
            (("--cache", ""), "expected the name of a folder"),
            (("--windows", "9" * 30), "windows=999"),
            (("--threads", "0"), "threads=0"),
        ],
    )
    def test_a_wrong_request_is_one_line_and_2_before_anything_is_decoded(
        self,
        arguments: tuple[str, ...],
        message: str,
        clips: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("av.open", lambda *_, **__: pytest.fail("a decoder was called"))
        monkeypatch.setattr(table, "DEFAULT", ("integrity",))
        result = run(clips / "moving.mp4", *arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_a_missing_extra_is_named_before_anything_is_decoded(
        self, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setattr("av.open", lambda *_, **__: pytest.fail("a decoder was called"))
        result = run(clips / "moving.mp4", *ASKED, "--parquet", tmp_path / "t.parquet")
        assert result.exit_code == 2
        assert 'pip install "screentest[parquet]"' in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert list(tmp_path.iterdir()) == []

    def test_two_tables_need_two_files(
        self, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("screentest.reports.tables.require_parquet_extra", lambda: None)
        monkeypatch.chdir(tmp_path)
        result = run(clips / "moving.mp4", *ASKED, "--csv", "t", "--parquet", "./t")
        assert result.exit_code == 2
        assert "both write t" in result.stderr
        assert list(tmp_path.iterdir()) == []

    def test_a_table_does_not_take_the_place_of_what_is_measured(
        self, clips: Path, tmp_path: Path
    ) -> None:
        film = Path(shutil.copy(clips / "moving.mp4", tmp_path))
        held = film.read_bytes()
        result = run(tmp_path, *ASKED, "--csv", tmp_path / ".." / tmp_path.name / "moving.mp4")
        assert result.exit_code == 2
        assert "a file to measure" in result.stderr
        assert film.read_bytes() == held

    def test_a_decoder_of_any_name_is_an_error_of_one_line(
        self, clips: Path, tmp_path: Path
    ) -> None:
        # What the shell passes for a byte that is no UTF-8.
        asked = (*ASKED, "--cache", tmp_path / "facts", "--decoder", "\udcff")
        result = run(clips / "moving.mp4", *asked)
        assert result.exit_code == 2
        assert "expected one of pyav, torchcodec" in result.stderr


class TestCsv:
    @pytest.mark.parametrize(
        "name", ["a,b.mp4", "a\nb.mp4", "a\rb.mp4", 'a"b.mp4', "=a.mp4", " a.mp4", "'a.mp4"]
    )
    def test_a_name_of_any_kind_is_one_field_of_one_row(
        self, name: str, clips: Path, tmp_path: Path
    ) -> None:
        film = Path(shutil.copy(clips / "moving.mp4", tmp_path / name))
        run(film, "/nowhere.mp4", *ASKED, "--csv", tmp_path / "t.csv")
        with open(tmp_path / "t.csv", newline="") as file:
            first, second = csv.DictReader(file)
        assert first["source"] == str(film)
        assert float(first["adjacent_frame_corr"]) <= 1
        assert second["source"] == "/nowhere.mp4"

    def test_no_row_of_a_frame_waits_for_a_family_that_cannot_run_here(
        self, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from screentest.metrics.flow import family as home
        from screentest.reports.tables import FrameRows

        monkeypatch.setattr(home, "FAMILY", replace(home.FAMILY, missing=lambda: "not here"))
        written: list[int] = []
        rows_of = FrameRows.rows
        monkeypatch.setattr(
            FrameRows, "rows", lambda *given: written.append(len(found := rows_of(*given))) or found
        )
        asked = ("--families", "integrity,flow", "--csv", tmp_path / "t.csv", "--series")
        assert run(clips, *asked).exit_code == 3
        assert written == [48, 24]

    def test_a_row_a_file_with_a_column_a_metric(self, clips: Path, tmp_path: Path) -> None:
        result = run(clips, "/nowhere.mp4", *ASKED, "--csv", tmp_path / "t.csv")
        assert result.exit_code == 2
        assert "moving.mp4" in result.stdout
        moving, noise, bad = rows((tmp_path / "t.csv").read_text())
        facts = measure_integrity(clips / "moving.mp4")
        assert float(moving["adjacent_frame_corr"]) == facts.adjacent_frame_corr
        assert float(moving["grid_peak_ratio"]) == facts.grid_peak_ratio
        assert (moving["status"], moving["integrity_impl"]) == ("measured", facts.impl)
        assert (moving["frames"], moving["width"], moving["frame_rate"]) == ("48", "640", "24.0")
        assert noise["source"] == str(clips / "noise.mp4")
        assert (bad["status"], bad["error"]) == ("error", "/nowhere.mp4: no such file or folder")
        assert bad["adjacent_frame_corr"] == ""

    def test_on_stdout_it_stands_alone_and_a_gap_is_empty_with_a_reason(self, studio: Any) -> None:
        result = run(studio.a_mp4(), *ASKED, "--csv", "-")
        assert result.exit_code == 0
        (row,) = rows(result.stdout)
        assert row["grid_peak_ratio"] == ""
        assert row["status"] == "incomplete"
        assert row["unmeasured"] == ("grid_peak_ratio: needs 512 px on one side; this is 320x240")

    @pytest.mark.parametrize("kind", [("--csv", "-"), ("--json",), ()])
    def test_a_reader_that_goes_away_is_no_reject(self, kind: tuple[str, ...], clips: Path) -> None:
        read, write = os.pipe()
        os.close(read)
        try:
            command = [sys.executable, "-m", "screentest.cli.main", "measure", *ASKED, *kind]
            done = subprocess.run(
                [*command, str(clips / "moving.mp4")],
                stdout=write,
                stderr=subprocess.PIPE,
                check=False,
            )
        finally:
            os.close(write)
        assert (done.returncode, done.stderr) == (141, b"")

    def test_series_is_a_row_a_frame(self, clips: Path, tmp_path: Path) -> None:
        run(clips, *ASKED, "--csv", tmp_path / "t.csv", "--series")
        table = rows((tmp_path / "t.csv").read_text())
        assert len(table) == 48 + 24
        facts = measure_integrity(clips / "moving.mp4")
        mine = table[:48]
        assert [int(row["frame"]) for row in mine] == list(range(48))
        assert [float(row["integrity.luma_mean"]) for row in mine] == (
            facts.series.luma_mean.tolist()
        )
        assert [float(row["time_s"]) for row in mine] == facts.series.time_s.tolist()
        # Nothing comes before the first frame.
        assert mine[0]["integrity.corr"] == ""
        assert table[48]["source"] == str(clips / "noise.mp4")

    def test_an_interrupted_run_leaves_no_table(self, clips: Path, tmp_path: Path) -> None:
        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("screentest.reports.tables.FileRows.rows", stop)
            result = run(clips, *ASKED, "--csv", tmp_path / "t.csv")
        assert result.exit_code == 130
        assert list(tmp_path.iterdir()) == []


class TestParquet:
    @pytest.fixture(autouse=True)
    def _pyarrow(self) -> Any:
        return pytest.importorskip("pyarrow.parquet", reason='pip install "screentest[parquet]"')

    def test_a_gap_is_null_and_a_column_says_whose_numbers_it_holds(
        self, clips: Path, studio: Any, tmp_path: Path
    ) -> None:
        import pyarrow.parquet as parquet

        path = tmp_path / "t.parquet"
        result = run(clips / "moving.mp4", studio.a_mp4(), *ASKED, "--parquet", path)
        assert result.exit_code == 0
        found = parquet.read_table(path)
        facts = measure_integrity(clips / "moving.mp4")
        assert found["grid_peak_ratio"].to_pylist() == [facts.grid_peak_ratio, None]
        assert found["adjacent_frame_corr"][0].as_py() == facts.adjacent_frame_corr
        assert found["frames"].to_pylist() == [48, 60]
        assert found["error"].to_pylist() == [None, None]
        metadata = found.schema.field("grid_peak_ratio").metadata
        assert metadata == {b"impl": b"integrity/1", b"unit": b"1", b"direction": b"down"}
        assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]

    def test_series_keeps_integers_and_nulls(self, clips: Path, tmp_path: Path) -> None:
        import pyarrow.parquet as parquet

        path = tmp_path / "t.parquet"
        run(clips / "moving.mp4", "/nowhere.mp4", *ASKED, "--parquet", path, "--series")
        found = parquet.read_table(path)
        assert found.num_rows == 48
        assert found["frame"].to_pylist() == list(range(48))
        assert found["integrity.corr"][0].as_py() is None
        assert found["integrity.corr"].null_count == 1

    def test_nothing_measured_is_an_empty_table(self, tmp_path: Path) -> None:
        import pyarrow.parquet as parquet

        for name, more in (("files", ()), ("frames", ("--series",))):
            path = tmp_path / f"{name}.parquet"
            assert run("/nowhere.mp4", *ASKED, "--parquet", path, *more).exit_code == 2
            assert parquet.read_table(path).num_rows == (1 if name == "files" else 0)


class TestCache:
    def test_a_second_run_prints_the_same_bytes_and_decodes_nothing(
        self, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        arguments = (clips, *ASKED, "--json", "--cache", tmp_path / "facts")
        first = run(*arguments)
        monkeypatch.setattr("av.open", lambda *_, **__: pytest.fail("a decoder was called"))
        second = run(*arguments)
        assert second.stdout == first.stdout
        assert json.loads(first.stdout.splitlines()[0])["input"]["content"].startswith(
            "blake2b-256:"
        )
        assert (second.exit_code, second.stderr) == (0, "")

    def test_a_damaged_entry_is_a_note_on_stderr(self, clips: Path, tmp_path: Path) -> None:
        arguments = (clips / "moving.mp4", *ASKED, "--json", "--cache", tmp_path / "facts")
        first = run(*arguments)
        (entry,) = (tmp_path / "facts").rglob("*.facts")
        entry.write_bytes(b"")
        second = run(*arguments)
        assert second.stdout == first.stdout
        assert "measured anew" in second.stderr
        assert os.path.getsize(entry) > 0

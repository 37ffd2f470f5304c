"""The commands: what they print, where, and with which status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import screentest
from screentest.cli import exit_codes
from screentest.cli.demo_clips import CLIPS, encode
from screentest.cli.main import app
from screentest.cli.walk import walk
from screentest.errors import InputError
from tests.oracles import clips as oracle_clips

PASSES, REJECTED, WARNED = "moving.mp4", "noise.mp4", "stops.mp4"


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clips")
    for clip in CLIPS:
        if clip.name in (PASSES, REJECTED, WARNED):
            clip.make(place / clip.name)
    return place


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The moving clip at a size that carries no grid verdict."""
    place = tmp_path_factory.mktemp("small") / "small.mp4"
    encode(place, (np.ascontiguousarray(picture[::2, ::2]) for picture in CLIPS[0].frames()))
    return place


@pytest.fixture(scope="module")
def flickers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pan whose frames are brighter and darker by turns, 8 levels apart."""
    place = tmp_path_factory.mktemp("flickers") / "flickers.mp4"
    pan = oracle_clips.pan(48, 128, 192, 3).astype(int)
    encode(place, iter(oracle_clips.u8(pan + 4 * (-1) ** np.arange(48)[:, None, None, None])))
    return place


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def subprocess_run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "screentest.cli.main", *map(str, arguments)],
        capture_output=True,
        check=False,
        **options,
    )


class TestScreen:
    def test_a_clip_that_passes_is_one_line_and_a_summary(self, clips: Path) -> None:
        result = run("screen", clips / PASSES)
        assert result.exit_code == 0
        first, last = result.stdout.splitlines()
        assert first.startswith("pass ")
        facts = screentest.screen(clips / PASSES).facts
        numbers = f"corr {facts.adjacent_frame_corr:.3f}, contrast {facts.frame_std_min:.3f}"
        assert facts.grid_line is not None
        grid = f"grid {facts.grid_line.ratio:.2f}"
        assert first.endswith(f"{clips / PASSES}  (640x360, 48 frames, 2.00 s; {numbers}, {grid})")
        assert last == "1 file: 1 passed"
        assert result.stderr == ""

    def test_a_reject_exits_with_1_and_names_the_defect_below_the_file(self, clips: Path) -> None:
        result = run("screen", clips / REJECTED)
        assert result.exit_code == 1
        assert result.stdout.splitlines()[1].startswith("  reject  noise: ")
        assert "1 rejected" in result.stdout

    def test_an_axis_that_cannot_be_measured_exits_with_3_and_says_why(self, small: Path) -> None:
        assert run("screen", small).exit_code == 0
        result = run("screen", small, "--require", "grid")
        assert result.exit_code == 3
        assert "not measured  grid: " in result.stdout

    def test_a_missing_file_exits_with_2_in_one_line(self) -> None:
        result = run("screen", "/nowhere/a.mp4")
        assert result.exit_code == 2
        assert result.stderr == "screentest: error: /nowhere/a.mp4: no such file or folder\n"

    def test_an_unreadable_file_outweighs_a_reject_and_does_not_stop_the_rest(
        self, clips: Path, tmp_path: Path
    ) -> None:
        text = tmp_path / "text.mp4"
        text.write_text("no clip")
        result = run("screen", text, clips / REJECTED, clips / PASSES)
        assert result.exit_code == 2
        assert result.stdout.splitlines()[-1] == (
            "3 files: 1 passed, 1 rejected, 1 could not be read"
        )
        assert len(result.stderr.splitlines()) == 1
        assert str(text) in result.stderr

    def test_a_folder_is_walked_in_order_and_other_files_are_named_on_stderr(
        self, clips: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "sub").mkdir()
        for name in (PASSES, REJECTED):
            (tmp_path / "sub" / name).write_bytes((clips / name).read_bytes())
        (tmp_path / "notes.txt").write_text("")
        (tmp_path / ".hidden.mp4").write_text("")
        result = run("screen", tmp_path, "--json")
        sources = [json.loads(line)["source"] for line in result.stdout.splitlines()]
        assert sources == [str(tmp_path / "sub" / name) for name in (PASSES, REJECTED)]
        assert "notes.txt" in result.stderr
        assert "hidden" not in result.stderr
        assert result.exit_code == 1

    def test_a_folder_without_media_exits_with_2(self, tmp_path: Path) -> None:
        result = run("screen", tmp_path)
        assert result.exit_code == 2
        assert "no video or image" in result.stderr

    def test_json_is_one_canonical_object_a_line_with_errors_among_them(self, clips: Path) -> None:
        result = run("screen", clips / WARNED, "/nowhere.mp4", "--json")
        screening, error = map(json.loads, result.stdout.splitlines())
        assert (screening["verdict"], screening["defects"][0]["code"]) == ("pass", "frozen")
        assert error["schema"] == screening["schema"] == "screentest/screening@1"
        assert (error["verdict"], error["error"]["code"]) == ("unmeasured", "not_found")
        assert (error["defects"], error["frames_read"], error["facts"]) == ([], 0, {})
        assert result.stdout.encode().splitlines()[0] == screentest.screen(clips / WARNED).to_json()

    def test_policy_and_spec_are_read_from_files(self, clips: Path, tmp_path: Path) -> None:
        policy, spec = tmp_path / "policy.toml", tmp_path / "spec.toml"
        policy.write_text('name = "strict"\nseverities.frozen = "reject"')
        spec.write_text("longest_freeze_s = 0.5\naudio = true")
        assert run("screen", clips / WARNED, "--policy", policy).exit_code == 1
        result = run("screen", clips / WARNED, "--spec", spec)
        assert result.exit_code == 1
        assert "reject  spec_audio" in result.stdout
        assert "at most 0.5 s were ordered" in result.stdout

    @pytest.mark.parametrize(
        "options", [("--policy",), ("--spec",), ("--temporal", "--temporal-policy")]
    )
    def test_a_bad_toml_file_exits_with_2_before_anything_is_read(
        self, options: tuple[str, ...], clips: Path, tmp_path: Path
    ) -> None:
        bad = tmp_path / "bad.toml"
        bad.write_text("treshold = 3")
        result = run("screen", clips / PASSES, *options, bad)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"screentest: error: {bad}: unknown key 'treshold'")
        assert len(result.stderr.splitlines()) == 1

    def test_fail_fast_stops_at_the_first_file_that_does_not_pass(self, clips: Path) -> None:
        files = (clips / PASSES, clips / REJECTED, clips / WARNED)
        result = run("screen", *files, "--fail-fast", "--threads", 1)
        assert result.exit_code == 1
        assert result.stdout.splitlines()[-1] == "3 files: 1 passed, 1 rejected, 1 not looked at"

    def test_a_sampled_screen_says_what_it_did_not_look_at(self, clips: Path) -> None:
        result = run("screen", clips / WARNED, "--depth", "sampled")
        assert result.exit_code == 0
        assert "48 frames, 2.00 s, 10 read; " in result.stdout
        assert "; not measured: frozen, duplicate, black, non_finite, damaged)" in result.stdout

    def test_flicker_is_warned_of_where_the_temporal_screens_are_asked_for(
        self, flickers: Path
    ) -> None:
        assert len(run("screen", flickers).stdout.splitlines()) == 2
        result = run("screen", flickers, "--temporal")
        assert result.exit_code == 0
        first, second, last = result.stdout.splitlines()
        facts = screentest.screen(flickers, temporal=True).temporal
        assert facts is not None
        assert f", flicker {facts.flicker_strength:.2f}; not measured: grid" in first
        assert second.startswith("  warn    flicker: the picture's brightness flickers by ")
        assert second.endswith(" every 2 frames, 12 Hz: frames 1 to 46 (0.04 to 1.96 s)")
        assert last == "1 file: 1 passed"

    def test_a_temporal_policy_may_reject_what_is_found(
        self, flickers: Path, tmp_path: Path
    ) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text('name = "strict"\nseverities.flicker = "reject"')
        result = run("screen", flickers, "--temporal", "--temporal-policy", policy)
        assert result.exit_code == 1
        assert result.stdout.splitlines()[1].startswith("  reject  flicker: ")

    def test_cuts_are_noted_below_the_defects_and_many_are_counted(self, tmp_path: Path) -> None:
        few, many = tmp_path / "few.mp4", tmp_path / "many.mp4"
        for path, scenes in ((few, 3), (many, 12)):
            shots = (oracle_clips.pan(12, 128, 192, seed) for seed in range(scenes))
            encode(path, (picture for shot in shots for picture in shot))
        result = run("screen", few, "--temporal")
        assert result.exit_code == 0
        assert result.stdout.splitlines()[1:-1] == [
            "  note    cut at frame 12 (0.50 s)",
            "  note    cut at frame 24 (1.00 s)",
        ]
        notes = run("screen", many, "--temporal").stdout.splitlines()[1:-1]
        assert notes[7] == "  note    cut at frame 96 (4.00 s)"
        assert notes[8:] == ["  note    and 3 more cuts and fades; --json lists them all"]
        record = json.loads(run("screen", many, "--temporal", "--json").stdout)
        assert [note["frames"][0] for note in record["notes"]] == [12 * k for k in range(1, 12)]

    def test_a_temporal_axis_that_is_required_and_unmeasured_exits_with_3(
        self, tmp_path: Path
    ) -> None:
        short = tmp_path / "short.mp4"
        encode(short, iter(oracle_clips.pan(5, 128, 192, 1)))
        assert run("screen", short, "--temporal").exit_code == 0
        result = run("screen", short, "--temporal", "--require", "flicker")
        assert result.exit_code == 3
        assert "  not measured  flicker: needs 8 frames in a row; this has 5" in result.stdout

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("--temporal", "--depth", "sampled"), "every frame"),
            (("--temporal-policy", "p.toml"), "(--temporal) as well"),
            (("--require", "judder"), "(--temporal) as well"),
            (("--temporal", "--temporal-policy", "/nowhere.toml"), "no such file"),
            (("--depth", "half"), "'half'"),
            (("--require", "gird"), "'gird'"),
            (("--threads", "0"), "threads=0"),
            (("--threads", "many"), "integer"),
            (("--decoder", "vlc"), "vlc"),
            (("--bogus",), "--bogus"),
        ],
    )
    def test_a_bad_flag_exits_with_2_in_one_line(
        self, arguments: tuple[str, ...], says: str, clips: Path
    ) -> None:
        result = run("screen", clips / PASSES, *arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("screentest: error: ")
        assert says in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_no_path_exits_with_2(self) -> None:
        result = run("screen")
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1

    def test_more_threads_than_cpus_are_mentioned(self, clips: Path) -> None:
        result = run("screen", clips / PASSES, "--threads", 4096)
        assert result.exit_code == 0
        assert "usable CPUs" in result.stderr

    def test_a_name_with_control_characters_cannot_move_the_cursor(
        self, clips: Path, tmp_path: Path
    ) -> None:
        odd = tmp_path / "a\x1b[2Jb\n.mp4"
        odd.write_bytes((clips / PASSES).read_bytes())
        result = run("screen", odd)
        assert result.exit_code == 0
        assert "\x1b" not in result.stdout
        assert len(result.stdout.splitlines()) == 2


class TestProbe:
    def test_the_facts_of_a_file_are_printed(self, clips: Path) -> None:
        result = run("probe", clips / PASSES)
        assert result.exit_code == 0
        assert "640x360" in result.stdout
        assert "24.000 frames per second, constant" in result.stdout
        assert "untagged_colour: " in result.stdout

    def test_json_is_one_object_a_line_and_an_error_does_not_stop_the_rest(
        self, clips: Path
    ) -> None:
        result = run("probe", "/nowhere.mp4", clips / PASSES, "--json")
        error, info = map(json.loads, result.stdout.splitlines())
        assert error["error"]["code"] == "not_found"
        assert error["schema"] == info["schema"]
        assert (info["schema"], info["width"], info["frames"]) == ("screentest/probe@1", 640, 48)
        assert result.exit_code == 2


class TestDemo:
    def test_every_clip_is_explained_and_judged_as_it_deserves(
        self, clips: Path, tmp_path: Path
    ) -> None:
        result = run("demo", "--keep", tmp_path / "kept", clips / PASSES)
        assert result.exit_code == 0, result.output
        for clip in CLIPS:
            assert f"{clip.name}: {clip.story}" in result.stdout
            assert (tmp_path / "kept" / clip.name).is_file()
        assert "your file:" in result.stdout

    def test_a_file_of_ones_own_that_is_rejected_is_the_status(self, clips: Path) -> None:
        assert run("demo", clips / REJECTED).exit_code == 1


class TestProgram:
    def test_the_version_is_that_of_the_package(self) -> None:
        assert run("--version").stdout == f"screentest {screentest.__version__}\n"

    def test_help_gives_the_scope_note_and_the_statuses(self) -> None:
        for arguments in (("--help",), ("screen", "--help")):
            text = " ".join(run(*arguments).stdout.replace("│", " ").split())
            assert "melted render" in text
            assert "2 outweighs 1" in text

    def test_an_unknown_command_exits_with_2(self) -> None:
        result = run("scren")
        assert result.exit_code == 2
        assert "scren" in result.stderr

    def test_a_program_of_its_own_prints_no_colour_into_a_pipe(self, clips: Path) -> None:
        done = subprocess_run("screen", clips / REJECTED)
        assert done.returncode == 1
        assert b"\x1b" not in done.stdout + done.stderr
        assert done.stderr == b""

    def test_an_error_has_no_traceback(self, tmp_path: Path) -> None:
        done = subprocess_run("screen", tmp_path / "none.mp4")
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_a_reader_that_goes_away_is_no_error_message(self, clips: Path) -> None:
        read, write = os.pipe()
        os.close(read)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "screentest.cli.main", "screen", str(clips / PASSES)],
                stdout=write,
                stderr=subprocess.PIPE,
                check=False,
            )
        finally:
            os.close(write)
        assert done.returncode == exit_codes.BROKEN_PIPE
        assert done.stderr == b""

    def test_an_interrupt_exits_with_130_and_no_traceback(
        self, clips: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from screentest import screening

        def interrupted(*_: object, **__: object) -> Iterator[object]:
            raise KeyboardInterrupt
            yield  # a generator, as the real one is

        monkeypatch.setattr(screening, "screen_many", interrupted)
        result = run("screen", clips / PASSES)
        assert result.exit_code == 130
        assert "Traceback" not in result.output

    def test_a_fault_of_the_program_has_not_the_status_of_a_reject(
        self, clips: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from screentest import screening

        monkeypatch.setattr(screening, "screen_many", lambda *_, **__: 1 / 0)
        result = run("screen", clips / PASSES)
        assert result.exit_code == exit_codes.NOT_JUDGED
        assert "ZeroDivisionError" in result.stderr

    def test_help_imports_nothing_heavy(self) -> None:
        code = (
            "import sys\nfrom screentest.cli.main import app\n"
            "try:\n    app(['screen', '--help'], prog_name='screentest')\n"
            "except SystemExit:\n    pass\n"
            "heavy = {'numpy', 'av', 'msgspec', 'rfc8785', 'torch', 'screentest._native'}\n"
            "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr

    def test_importing_the_package_imports_nothing_heavy(self) -> None:
        code = (
            "import sys, screentest\n"
            "heavy = {'numpy', 'av', 'msgspec', 'typer', 'rich', 'screentest._native'}\n"
            "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


class TestWalk:
    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        for name in ("b.mp4", "a.MKV", "sub/f1.png", "sub/f2.png", "sub/x.txt", ".git/c.mp4"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).touch()
        return tmp_path

    def test_media_are_found_by_name_in_order_and_hidden_folders_left_alone(
        self, tree: Path
    ) -> None:
        found = walk([str(tree)])
        names = [os.path.relpath(file, tree) for file in found.files]
        assert names == ["a.MKV", "b.mp4", "sub/f1.png", "sub/f2.png"]
        assert [os.path.basename(file) for file in found.skipped] == ["x.txt"]

    def test_a_folder_of_stills_is_one_clip_when_asked_for(self, tree: Path) -> None:
        found = walk([str(tree)], sequences=True)
        assert [os.path.relpath(file, tree) for file in found.files] == ["a.MKV", "b.mp4", "sub"]

    def test_a_named_file_is_taken_whatever_its_name(self, tree: Path) -> None:
        assert walk([str(tree / "sub" / "x.txt")]).files == [str(tree / "sub" / "x.txt")]

    def test_a_folder_without_media_is_refused(self, tree: Path) -> None:
        (tree / "empty").mkdir()
        with pytest.raises(InputError, match="no video or image"):
            walk([str(tree / "empty")])


@pytest.mark.parametrize(
    ("codes", "status"),
    [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 3, 2], 2)],
)
def test_the_worst_status_wins(codes: list[int], status: int) -> None:
    assert exit_codes.worst(codes) == status

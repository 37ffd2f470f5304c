"""The ``tracks`` command: what it prints, what it writes, and its status."""

import json
import sys
from fractions import Fraction

import av
import numpy as np
import pytest
from typer.testing import CliRunner

from screentest import tracking
from screentest.cli import exit_codes
from screentest.cli.main import app
from screentest.metrics.tracks import measure_tracks
from screentest.reports import canonical


def run(*arguments):
    return CliRunner().invoke(app, ["tracks", *map(str, arguments)])


@pytest.fixture(scope="module")
def files(oracle_clip, tmp_path_factory):
    """``files(name)``: a clip of the oracles as a file without loss, at 25 frames per second."""
    folder = tmp_path_factory.mktemp("tracks")

    def written(name):
        path = folder / f"{name}.mkv"
        if not path.exists():
            frames = oracle_clip(name)
            with av.open(str(path), "w") as out:
                stream = out.add_stream("ffv1", rate=Fraction(25))
                stream.height, stream.width = frames.shape[1:3]
                stream.pix_fmt = "bgr0"
                for picture in frames:
                    out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
                out.mux(stream.encode(None))
        return path

    return written


class TestFacts:
    def test_a_clip_alone_is_measured_and_not_judged(self, files):
        result = run(files("pan"))
        assert result.exit_code == exit_codes.DONE
        first, *lines = result.stdout.splitlines()
        assert first.startswith(f"measured    {files('pan')}  (512x288, 32 frames, 1.28 s; ")
        facts = measure_tracks(files("pan"))
        told = dict(line.split()[:2] for line in lines[:5])
        assert told == {
            name: f"{getattr(facts, name):.4f}"
            for name in ("track_stability", "track_survival", "track_jitter",
                         "track_rigidity_error", "motion_magnitude")
        }  # fmt: skip
        assert lines[4].endswith("px/frame")
        rows = [line.split() for line in lines[6:]]
        assert [row[:4] for row in rows] == [
            [str(i + 1), f"{w.start}-{w.start + w.frames - 1}", str(w.seeded), str(w.alive)]
            for i, w in enumerate(facts.windows)
        ]
        assert result.stderr == ""

    def test_windows_are_as_many_as_asked_for(self, files):
        record = json.loads(run(files("pan"), "--windows", 2, "--json").stdout)
        assert [w["start"] for w in record["values"]["windows"]] == [0, 8]
        assert record["options"] == {"windows": 2}

    def test_a_clip_without_a_corner_says_so_and_is_no_reject(self, files):
        result = run(files("grey"))
        assert result.exit_code == exit_codes.DONE
        lines = result.stdout.splitlines()
        assert lines[1].split() == ["track_stability", "-"]
        assert "  not measured  track_stability: " in result.stdout

    def test_json_is_canonical_with_the_facts_and_no_positions(self, files):
        result = run(files("warble"), "--json")
        record = json.loads(result.stdout)
        assert result.stdout.encode() == canonical.dumps(record) + b"\n"
        facts = measure_tracks(files("warble"))
        assert record["schema"] == "screentest/tracks@1"
        assert (record["status"], record["error"], record["reference"]) == ("measured", None, None)
        stability = record["values"]["metrics"]["track_stability"]
        assert stability["value"] == facts.track_stability
        assert (stability["unit"], stability["direction"]) == ("1", "up")
        assert record["values"]["working_size"] == [facts.working_width, facts.working_height]
        assert "positions" not in result.stdout

    def test_a_still_is_an_error_in_one_line_and_in_the_record(self, files, tmp_path):
        result = run(files("two_frames"), "--json")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert len(result.stderr.splitlines()) == 1
        record = json.loads(result.stdout)
        assert record["status"] == "error"
        assert "3" in record["error"]["message"]
        assert set(record) == set(json.loads(run(files("pan"), "--json").stdout))
        assert not list(tmp_path.iterdir())


class TestAgainstAReference:
    def test_a_clip_against_itself_passes_with_a_ratio_of_one(self, files):
        result = run(files("pan"), files("pan"))
        assert result.exit_code == exit_codes.DONE
        assert result.stdout.startswith(f"pass        {files('pan')} against {files('pan')}  (")
        (ratio,) = (line for line in result.stdout.splitlines() if "stability_ratio" in line)
        assert ratio.split() == ["track_stability_ratio", "1.0000"]

    def test_a_warble_is_rejected_and_says_so(self, files):
        result = run(files("warble"), files("pan"))
        assert result.exit_code == exit_codes.NOT_PASSED
        lines = result.stdout.splitlines()
        assert lines[0].startswith("reject ")
        assert any(line.startswith("  reject  warble: ") for line in lines)
        record = json.loads(run(files("warble"), files("pan"), "--json").stdout)
        assert record["status"] == "reject"
        assert "warble" in [defect["code"] for defect in record["defects"]]
        values, others = (
            record[key]["metrics"]["track_stability"]["value"]
            for key in ("values", "reference_values")
        )
        assert record["track_stability_ratio"] == values / others
        assert record["policy"]["sha256"]

    def test_a_reference_without_texture_leaves_it_unmeasured(self, files):
        result = run(files("pan"), files("grey"))
        assert result.exit_code == exit_codes.NOT_JUDGED
        assert result.stdout.startswith("unmeasured")
        assert "not measured  track_stability_ratio: " in result.stdout

    def test_a_candidate_that_stands_still_does_not_pass(self, files):
        result = run(files("frozen"), files("pan"))
        assert result.exit_code == exit_codes.NOT_PASSED
        assert "  reject  frozen: " in result.stdout


class TestDrawings:
    def test_all_three_are_written_beside_the_same_words(self, files, tmp_path):
        video, png, series = (tmp_path / name for name in ("a.mp4", "a.png", "a.svg"))
        result = run(files("pan"), "--video", video, "--png", png, "--series", series)
        assert result.exit_code == exit_codes.DONE
        assert result.stdout == run(files("pan")).stdout
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mp4", "a.png", "a.svg"]
        assert result.stderr.splitlines() == [
            f"screentest: wrote {path}" for path in (video, png, series)
        ]
        with av.open(str(video)) as written:
            assert sum(1 for _ in written.decode(video=0)) == 4 * 24

    def test_a_rejected_clip_is_drawn_as_well(self, files, tmp_path):
        result = run(files("warble"), files("pan"), "--png", tmp_path / "a.png")
        assert result.exit_code == exit_codes.NOT_PASSED
        assert (tmp_path / "a.png").exists()

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--video", "a.avi"), "--video a.avi: give a name that ends in .mp4"),
            (("--png", "a.jpg"), "--png a.jpg: give a name that ends in .png"),
            (("--series", "a.html"), "a.html: series are drawn as .svg or .png"),
            (("--png", "nowhere/a.png"), "nowhere: no such file"),
            (("--png", "a.png", "--series", "a.png"), "--png and --series name one file"),
            (
                ("--video", "a.mp4", "--png", "a.png", "--series", "./a.png"),
                "error: --png and --series name one file",
            ),
            (("--windows", "0"), "windows=0: "),
            (("--threads", "0"), "threads=0: give a whole number of at least 1"),
        ],
    )
    def test_a_wrong_request_is_one_line_and_writes_nothing(
        self, files, tmp_path, monkeypatch, arguments, said
    ):
        monkeypatch.chdir(tmp_path)
        result = run(files("pan"), *arguments)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert said in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert result.stdout == ""
        assert not list(tmp_path.iterdir())

    def test_the_clip_that_is_too_short_is_named(self, files, studio):
        short = studio("two_frames.mp4", "-i", studio.a_mp4(), "-frames:v", 2)
        result = run(files("pan"), short)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert result.stderr.splitlines() == [
            f"screentest: error: {short}: a clip of 2 frames: tracks need at least 3"
        ]

    def test_a_drawing_never_replaces_the_clip_that_it_shows(self, tmp_path, studio):
        clip = tmp_path / "a.mp4"
        clip.write_bytes(studio.a_mp4().read_bytes())
        result = run(clip, "--video", clip)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "would replace the clip that is measured" in result.stderr
        assert clip.read_bytes() == studio.a_mp4().read_bytes()

    def test_an_interrupt_while_drawing_leaves_no_file(self, files, tmp_path, monkeypatch):
        from screentest.reports.overlay import video

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(video, "strip", interrupted)
        result = run(files("pan"), "--video", tmp_path / "a.mp4")
        assert result.exit_code == exit_codes.INTERRUPTED
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "arguments", [("--video", "a.mp4"), ("--png", "a.png"), ("--series", "a.png")]
    )
    def test_without_its_extra_it_says_what_to_install_before_it_reads_the_clip(
        self, tmp_path, monkeypatch, arguments
    ):
        for name in [name for name in sys.modules if name == "PIL" or name.startswith("PIL.")]:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setattr(tracking, "tracks", lambda *_, **__: pytest.fail("it was read"))
        monkeypatch.chdir(tmp_path)
        result = run("clip.mp4", *arguments)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "pip install 'screentest[report]'" in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_the_reference_is_measured_as_given_and_arrays_are_welcome(self, oracle_clip):
        pan, warble = (np.asarray(oracle_clip(name)) for name in ("pan", "warble"))
        result = tracking.tracks(warble, pan, trajectories=True)
        assert result.verdict.verdict == "reject"
        assert not result.passed
        assert result.facts.trajectories is not None
        assert result.reference.trajectories is None

"""The ``audio`` command: what it prints, what it draws, and its status."""

import json
import re

import av
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from screentest.cli import exit_codes
from screentest.cli.audio import _clock
from screentest.cli.main import app
from screentest.listening import audio_verdict
from screentest.metrics.audio import measure_audio
from screentest.reports import canonical
from tests.oracles import sounds

RATE = 48000


def run(*arguments):
    return CliRunner().invoke(app, ["audio", *map(str, arguments)])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """``files(name, plant)``: three seconds of music with a fault, as 16-bit stereo in a file."""
    folder = tmp_path_factory.mktemp("audio")

    def written(name, plant=None):
        path = folder / f"{name}.wav"
        if not path.exists():
            samples, _ = sounds.audio("music_48k")
            samples = samples if plant is None else plant(samples)
            packed = np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.int16)
            with av.open(str(path), "w") as out:
                stream = out.add_stream("pcm_s16le", rate=RATE)
                stream.layout = "stereo"
                frame = av.AudioFrame.from_ndarray(
                    packed.reshape(1, -1), format="s16", layout="stereo"
                )
                frame.sample_rate = RATE
                out.mux(stream.encode(frame))
                out.mux(stream.encode(None))
        return path

    return written


def cut_off(samples):
    out = samples.copy()
    out[2 * RATE :] = 0
    return out


class TestAlone:
    def test_a_good_sound_passes_with_its_numbers(self, files):
        path = files("music")
        result = run(path)
        assert result.exit_code == exit_codes.DONE
        first, *lines = result.stdout.splitlines()
        assert first == f"pass        {path}  (pcm_s16le, 48000 Hz, stereo, 3.00 s)"
        facts = measure_audio(path)
        told = {line[2:20].strip(): line.split()[-2:] for line in lines if "LUFS" in line}
        assert told["loudness"] == [f"{facts.audio_lufs:.1f}", "LUFS"]
        assert "not measured" not in result.stdout
        assert result.stderr == ""

    @pytest.mark.parametrize(
        ("axis", "why"),
        [
            ("sync", "the file has no picture"),
            ("audio_pair", "there is no reference to compare with"),
            ("audio_content", "there is no checklist"),
        ],
    )
    def test_what_was_asked_for_and_not_measured_is_listed(self, files, axis, why):
        result = run(files("music"), "--require", axis)
        assert result.exit_code == exit_codes.NOT_JUDGED
        told = [line for line in result.stdout.splitlines() if "not measured" in line]
        assert told == [f"  not measured  {axis}: {why}"]

    def test_a_sound_that_is_cut_off_is_rejected_with_the_place_to_listen(self, files):
        result = run(files("cut", cut_off))
        assert result.exit_code == exit_codes.NOT_PASSED
        (line,) = (line for line in result.stdout.splitlines() if "reject  dropout" in line)
        assert "2.00 to 3.00 s" in line
        assert line.endswith("[listen at 0:02-0:03]")

    def test_channels_are_listed_where_one_of_them_is_wrong(self, files):
        assert "  channel  " not in run(files("music")).stdout
        result = run(files("dead", lambda x: x * [1, 0]))
        assert result.exit_code == exit_codes.NOT_PASSED
        rows = [line.split() for line in result.stdout.splitlines()]
        (right,) = (row for row in rows if row[0] == "FR")
        assert right[1:4] == ["-120.0", "-120.0", "-120.0"]

    def test_too_short_a_sound_is_not_judged(self, files):
        result = run(files("tiny", lambda x: x[:480]))
        assert result.exit_code == exit_codes.NOT_JUDGED
        assert result.stdout.startswith("unmeasured  ")
        told = [line for line in result.stdout.splitlines() if "too short" in line]
        assert len(told) == 1
        assert told[0].startswith("  not measured  the sound by itself: ")

    def test_json_is_the_canonical_record(self, files):
        path = files("music")
        result = run(path, "--json")
        record = json.loads(result.stdout)
        assert result.stdout.encode() == canonical.dumps(record) + b"\n"
        assert record == audio_verdict(path).to_dict()


class TestAgainstAReference:
    def test_both_stand_side_by_side_with_their_change(self, files):
        quieter = files("quieter", lambda x: x * 10 ** (-6 / 20))
        result = run(quieter, files("music"))
        assert result.exit_code == exit_codes.DONE
        (row,) = (r for r in result.stdout.splitlines() if r.startswith("  loudness  "))
        _, ours, theirs, change, unit = row.split()
        assert (float(change), unit) == (pytest.approx(-6.0, abs=0.1), "LUFS")
        assert float(ours) - float(theirs) == pytest.approx(float(change), abs=0.11)
        assert re.search(r"^  lag +\+0\.0  ms, positive is late$", result.stdout, re.M)

    def test_the_second_to_listen_to_is_named(self, files):
        def noisy(samples):
            out = samples.copy()
            out[RATE : 2 * RATE] += 0.05 * np.random.default_rng(1).standard_normal((RATE, 2))
            return out

        result = run(files("noisy", noisy), files("music"))
        (line,) = (r for r in result.stdout.splitlines() if r.startswith("  listen at "))
        assert line.startswith("  listen at 0:01-0:02, the worst second: SI-SDR ")
        late = files("late", lambda x: np.concatenate([np.zeros((960, 2)), noisy(x)]))
        result = run(late, files("music"))
        assert "\n  listen at 0:01-0:02, the worst second: SI-SDR " in result.stdout

    def test_another_sound_has_no_lag_and_no_sign(self, files):
        noise = np.random.default_rng(8).uniform(-0.4, 0.4, (2, 3 * RATE, 2))
        pair = [files(f"noise{at}", lambda _, x=x: x) for at, x in enumerate(noise)]
        lines = run(*pair).stdout.splitlines()
        (told,) = (line for line in lines if "not measured" in line)
        assert told.startswith("  not measured  audio_align_lag_ms: at no delay up to 50 ms ")
        assert not any("polarity" in line for line in lines)
        (lag,) = (line for line in lines if line.startswith("  lag "))
        assert lag.split()[1] == "-"

    def test_a_copy_has_no_worst_second(self, files):
        result = run(files("music"), files("music"))
        assert "listen at" not in result.stdout
        assert result.stdout.count("SI-SDR") == 1

    def test_a_file_without_sound_is_rejected_against_one_that_has_it(self, files, studio):
        mute = studio.a_mp4()
        result = run(mute, files("music"))
        assert result.exit_code == exit_codes.NOT_PASSED
        lines = result.stdout.splitlines()
        assert lines[0] == f"reject      {mute} against {files('music')}  (no sound)"
        assert lines[1].startswith("  reject  missing: ")
        assert len(lines) == 2

    def test_a_file_without_sound_alone_is_an_error_unless_sound_is_expected(self, studio):
        mute = studio.a_mp4()
        result = run(mute, "--json")
        assert result.exit_code == exit_codes.BAD_INPUT
        assert len(result.stderr.splitlines()) == 1
        record = json.loads(result.stdout)
        assert (record["status"], record["error"]["code"]) == ("error", "no_audio_stream")
        expected = run(mute, "--expect-sound", "--json")
        assert expected.exit_code == exit_codes.NOT_PASSED
        assert set(record) == set(json.loads(expected.stdout))

    def test_two_rates_are_refused_in_one_line(self, files, studio):
        other = studio("other.wav", "-i", files("music"), "-ar", "44100")
        result = run(other, files("music"))
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "44100" in result.stderr
        assert len(result.stderr.splitlines()) == 1


class TestRequests:
    def test_a_policy_file_overrides_a_severity(self, files, tmp_path):
        policy = tmp_path / "policy.toml"
        policy.write_text('name = "strict"\nseverities.dual_mono = "reject"')
        folded = files("folded", lambda x: np.repeat(x[:, :1], 2, axis=1))
        assert run(folded).exit_code == exit_codes.DONE
        result = run(folded, "--policy", policy, "--json")
        assert result.exit_code == exit_codes.NOT_PASSED
        assert json.loads(result.stdout)["policy"]["name"] == "strict"

    def test_an_axis_that_is_required_decides(self, files):
        assert run(files("music"), "--require", "sync").exit_code == exit_codes.NOT_JUDGED
        assert run(files("music"), "--require", "loudness").exit_code == exit_codes.BAD_INPUT

    def test_a_stream_is_chosen_by_number_or_language(self, studio, files):
        two = studio(
            "two.mkv", "-i", files("music"), "-i", files("hush", lambda x: 0 * x),
            "-map", "0:a", "-map", "1:a", "-metadata:s:a:0", "language=eng",
            "-metadata:s:a:1", "language=nor", "-c:a", "flac",
        )  # fmt: skip
        assert run(two).exit_code == exit_codes.DONE
        for stream in ("1", "nor"):
            result = run(two, "--stream", stream)
            assert result.exit_code == exit_codes.NOT_PASSED
            assert "digital silence" in result.stdout
            assert "stream 1 of 2, nor" in result.stdout

    def test_a_checklist_without_a_transcriber_lists_what_nobody_heard(self, files, tmp_path):
        checklist = tmp_path / "list.toml"
        checklist.write_text(
            'name = "hello"\n[[items]]\nid = "a"\nkind = "speech"\ntext = "good morning"'
        )
        result = run(files("music"), "--checklist", checklist)
        assert result.exit_code == exit_codes.DONE
        assert "transcriber" in result.stdout
        alone = run(files("music"), "--transcriber", "pocketsphinx")
        assert alone.exit_code == exit_codes.BAD_INPUT
        assert "--checklist" in alone.stderr

    def test_a_drawing_is_written_and_named(self, files, tmp_path):
        out = tmp_path / "cut.png"
        result = run(files("cut", cut_off), files("music"), "--png", out)
        assert result.exit_code == exit_codes.NOT_PASSED
        assert f"wrote {out}" in result.stderr
        with Image.open(out) as picture:
            assert picture.width == 1296

    @pytest.mark.parametrize(("png", "says"), [("out.jpg", ".png"), ("nowhere/out.png", "nowhere")])
    def test_a_drawing_that_cannot_be_written_is_refused_before_anything_is_read(
        self, tmp_path, png, says
    ):
        result = run("/nowhere/at/all.wav", "--png", tmp_path / png)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert says in result.stderr

    def test_a_drawing_may_not_replace_the_sound(self, files, tmp_path):
        path = tmp_path / "sound.png"
        path.write_bytes(files("music").read_bytes())
        result = run(path, "--png", path)
        assert result.exit_code == exit_codes.BAD_INPUT
        assert "would replace" in result.stderr


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [(0.0, 0.4, "0:00-0:01"), (12.0, 13.0, "0:12-0:13"), (59.5, 61.2, "0:59-1:02"),
     (3.0, 3.0, "0:03-0:04"), (3599.0, 3600.0, "59:59-60:00")],
)  # fmt: skip
def test_a_place_is_in_whole_seconds_as_players_show_them(start, end, told):
    assert _clock(start, end) == told

"""The sound within the screen: heard where there is one; where there is none nothing changes."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import screentest
from screentest.cli.main import app
from screentest.errors import InputError, MediaError, PolicyError
from screentest.metrics.audio import measure_audio
from screentest.pytest_plugin import assert_screens
from screentest.screening import Screener, Screening, screen, screen_many
from screentest.screening import hearing as hearing_module

TONE = (
    "aevalsrc='0.2*sin(2*PI*440*t)+0.1*(random(0)-0.5)|0.2*sin(2*PI*441*t)+0.1*(random(1)-0.5)'"
    ":s=48000:d=2"
)


@pytest.fixture(scope="module")
def film(studio: Any) -> Callable[..., Path]:
    """``film(name, sound)``: a moving test picture of two seconds with the sound of a filter."""

    def made(name: str, sound: str, *filters: str) -> Path:
        picture = studio.a_mp4()
        arguments = ("-i", picture, "-f", "lavfi", "-i", sound, "-map", "0:v", "-map", "1:a")
        path: Path = studio(
            f"{name}.mkv", *arguments, "-c:v", "copy", *filters, "-c:a", "pcm_s16le"
        )
        return path

    return made


@pytest.fixture(scope="module")
def good(film: Callable[..., Path]) -> Path:
    return film("good", TONE)


@pytest.fixture(scope="module")
def hush(film: Callable[..., Path]) -> Path:
    return film("hush", "anullsrc=r=48000:cl=stereo:d=2")


def codes(result: Screening, severity: str | None = None) -> list[str]:
    return [d.code for d in result.defects if severity in (None, d.severity)]


def gaps(result: Screening) -> dict[str, str]:
    return {gap.axis: gap.reason for gap in result.unmeasured}


class TestFindings:
    def test_a_good_sound_changes_nothing_but_the_record(self, good: Path) -> None:
        heard, seen = screen(good), screen(good, audio=False)
        assert (heard.verdict, heard.defects) == ("pass", seen.defects)
        assert heard.unmeasured == seen.unmeasured
        assert heard.audio == measure_audio(good)
        assert seen.audio is None
        record = json.loads(heard.to_json())
        part = record.pop("audio")
        assert record == json.loads(seen.to_json())
        assert part["policy"]["name"] == "audio/1"
        assert part["facts"]["audio_lufs"] == pytest.approx(measure_audio(good).audio_lufs)
        assert part["facts"]["sound"]["layout"] == "stereo"

    def test_digital_silence_rejects_a_good_picture(self, hush: Path) -> None:
        assert screen(hush, audio=False).verdict == "pass"
        result = screen(hush)
        assert (result.verdict, codes(result)) == ("reject", ["audio_silent"])
        assert result.defects[0].seconds == (0.0, 2.0)

    def test_a_sound_that_is_cut_off_is_placed_in_seconds(self, film: Callable[..., Path]) -> None:
        cut = film("cut", TONE, "-af", "volume=0:enable='gte(t,1.2)'")
        (defect,) = (d for d in screen(cut).defects if d.code == "audio_dropout")
        assert defect.seconds == pytest.approx((1.2, 2.0), abs=0.051)

    def test_mono_in_two_channels_warns_and_passes(self, film: Callable[..., Path]) -> None:
        folded = film("folded", "sine=440:r=48000:d=2", "-ac", "2")
        result = screen(folded)
        assert (result.verdict, codes(result, "warn")) == ("pass", ["audio_dual_mono"])

    def test_faults_of_picture_and_sound_stand_together_rejects_first(self, studio: Any) -> None:
        black = studio(
            "black.mkv", "-f", "lavfi", "-i", "color=black:s=320x240:r=30:d=2", "-f", "lavfi",
            "-i", "sine=440:r=48000:d=2", "-ac", "2", "-c:v", "libx264", "-c:a", "pcm_s16le",
        )  # fmt: skip
        result = screen(black)
        assert codes(result, "reject") == ["blank"]
        assert codes(result)[-1] == "audio_dual_mono"

    def test_the_temporal_screens_hear_it_too(self, hush: Path) -> None:
        result = screen(hush, temporal=True)
        assert "audio_silent" in codes(result, "reject")
        assert result.temporal is not None

    def test_a_policy_says_what_rejects(self, hush: Path, tmp_path: Path) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text('name = "muted"\nseverities.silent = "warn"')
        result = screen(hush, audio_policy=policy)
        assert (result.verdict, codes(result, "warn")) == ("pass", ["audio_silent"])
        assert result.audio_policy == "muted"

    def test_budgets_of_a_pair_decide_nothing_where_there_is_no_pair(
        self, good: Path, tmp_path: Path
    ) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text(
            'name = "ours"\n[fidelity.audio_snr_db]\nlow = 20\nprovenance = "made for this test"'
        )
        assert screen(good, audio_policy=policy).verdict == "pass"


class TestWithoutSound:
    def test_a_record_has_no_word_of_it(self, studio: Any) -> None:
        path = studio.a_mp4()
        assert screen(path).to_json() == screen(path, audio=False).to_json()
        assert "audio" not in json.loads(screen(path).to_json())

    def test_frames_have_none_and_are_not_asked(self) -> None:
        noise = np.random.default_rng(3).integers(0, 256, (6, 96, 128, 3), np.uint8)
        assert screen(noise).to_json() == screen(noise, audio=False).to_json()

    def test_sound_that_is_required_and_not_there_is_unmeasured(self, studio: Any) -> None:
        result = screen(studio.a_mp4(), require=["audio"])
        assert result.verdict == "unmeasured"
        assert gaps(result)["audio"] == "the clip has no audio stream"
        assert json.loads(result.to_json())["audio"]["facts"] is None

    def test_a_sound_too_short_to_be_judged_decides_only_by_request(
        self, film: Callable[..., Path]
    ) -> None:
        tiny = film("tiny", "sine=440:r=48000:d=0.02")
        result = screen(tiny)
        assert result.verdict == "pass"
        assert "too short" in gaps(result)["audio"]
        assert screen(tiny, require=["audio"]).verdict == "unmeasured"

    def test_a_sound_that_cannot_be_read_is_unmeasured_and_no_pass(
        self, good: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*_: Any, **__: Any) -> None:
            raise MediaError("good.mkv: the decoder\nrefused it", code="cannot_decode")

        monkeypatch.setattr("screentest.media.sound.files.FileSound.blocks", refused)
        result = screen(good)
        assert (result.verdict, codes(result)) == ("unmeasured", [])
        assert gaps(result)["audio"] == "good.mkv: the decoder refused it"


class TestSources:
    def test_bytes_and_file_objects_and_opened_clips_are_heard_alike(self, hush: Path) -> None:
        with screentest.open_clip(hush) as clip:
            results = [screen(hush.read_bytes()), screen(io.BytesIO(hush.read_bytes())),
                       screen(clip)]  # fmt: skip
        assert [codes(result) for result in results] == [["audio_silent"]] * 3

    def test_an_opened_clip_of_bytes_says_why_it_is_not_heard(self, hush: Path) -> None:
        with screentest.open_clip(hush.read_bytes()) as clip:
            result = screen(clip)
        assert result.verdict == "unmeasured"
        assert "cannot be opened again" in gaps(result)["audio"]

    def test_the_record_is_the_same_for_every_thread_count(self, good: Path) -> None:
        assert len({screen(good, threads=n).to_json() for n in (1, 2, 8)}) == 1

    def test_a_batch_agrees_with_one_file_at_a_time(self, good: Path, hush: Path) -> None:
        files = [good, hush]
        assert [r.to_json() for r in screen_many(files)] == [screen(f).to_json() for f in files]

    def test_a_picture_that_cannot_be_read_does_not_wait_for_the_sound(
        self, good: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go_on = threading.Event()
        stops = []

        def measured(file: Any, stopping: threading.Event) -> str:
            del file
            go_on.wait(30)
            stops.append(stopping.is_set())
            return "never"

        monkeypatch.setattr(hearing_module, "_measured", measured)

        def broken(*_: Any, **__: Any) -> None:
            raise MediaError("no picture", code="cannot_decode")

        monkeypatch.setattr("screentest.metrics.integrity.measure_integrity", broken)
        try:
            with pytest.raises(MediaError, match="no picture"):
                screen(good, threads=2)
            assert not go_on.is_set()
        finally:
            go_on.set()
        for thread in threading.enumerate():
            if thread.name.startswith("screentest-sound"):
                thread.join(30)
        assert stops == [True]

    def test_a_sound_that_nobody_waits_for_is_not_heard_to_its_end(self, good: Path) -> None:
        stopping = threading.Event()
        assert hearing_module._measured(good, stopping) == measure_audio(good)
        stopping.set()
        assert hearing_module._measured(good, stopping) == "it was not heard to its end"


class TestSampled:
    def test_a_sampled_screen_reads_no_sound_and_says_so(self, hush: Path) -> None:
        result = screen(hush, depth="sampled")
        assert (result.verdict, result.audio) == ("pass", None)
        assert "no sound" in gaps(result)["audio"]
        assert screen(hush, depth="sampled", require=["audio"]).verdict == "unmeasured"
        assert "audio" not in gaps(screen(hush, depth="sampled", audio=False))


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"audio": "quiet.toml"}, InputError, "goes to audio_policy"),
        ({"audio": False, "audio_policy": "quiet.toml"}, InputError, "leaves the sound out"),
        ({"audio": False, "require": ["audio"]}, PolicyError, "--no-audio"),
        ({"require": ["audo"]}, PolicyError, "'audo'.*audio"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_read(
    options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        screen("/nowhere/at/all.mp4", **options)
    with pytest.raises(error, match=says):
        screen_many(["/nowhere/at/all.mp4"], **options)


def test_a_screener_of_frames_has_no_sound_to_require() -> None:
    with pytest.raises(PolicyError, match="'audio'"):
        Screener(require=["audio"])


def test_the_plugin_fails_for_the_sound_and_can_leave_it_out(hush: Path) -> None:
    with pytest.raises(AssertionError, match="audio_silent: digital silence"):
        assert_screens(hush)
    assert assert_screens(hush, audio=False).passed


class TestCommand:
    def run(self, *arguments: Any) -> Any:
        return CliRunner().invoke(app, ["screen", *map(str, arguments)])

    def test_loudness_stands_in_the_line(self, good: Path) -> None:
        assert ", LUFS -" in self.run(good).stdout
        assert "LUFS" not in self.run(good, "--no-audio").stdout

    def test_a_silent_soundtrack_is_the_status(self, hush: Path) -> None:
        result = self.run(hush)
        assert result.exit_code == 1
        assert "  reject  audio_silent: digital silence: every sample is 0" in result.stdout
        assert self.run(hush, "--no-audio").exit_code == 0

    def test_an_audio_policy_is_a_file(self, hush: Path, tmp_path: Path) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text('name = "muted"\nseverities.silent = "warn"')
        assert self.run(hush, "--audio-policy", policy).exit_code == 0
        assert self.run(hush, "--audio-policy", policy, "--no-audio").exit_code == 2


def test_a_sound_of_another_length_than_its_picture_is_noted(film: Callable[..., Path]) -> None:
    long = film("long", TONE.replace("d=2", "d=5"))
    (note,) = [n for n in screen(long).notes if n.code == "audio_length_differs"]
    assert note.value == pytest.approx(3.0, abs=0.05)
    assert note.message == "the sound lasts 5.00 s, the picture 2.00 s"

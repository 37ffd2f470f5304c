"""Sounds judged from end to end: by themselves, against a reference, the picture, a checklist."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import screentest
from screentest.errors import InputError, MediaError, PolicyError, ProtocolError
from screentest.listening import Listening, audio_verdict, draw_sound
from screentest.media import read_audio
from screentest.metrics.audio import measure_audio
from screentest.reports import canonical
from tests.oracles import sounds

RATE = 48_000

Samples = npt.NDArray[np.float64]


def heard(samples: Samples, **options: Any) -> Listening:
    return audio_verdict(samples.astype(np.float32), sample_rate=RATE, **options)


def codes(result: Listening, severity: str | None = None) -> list[str]:
    return [d.code for d in result.defects if severity in (None, d.severity)]


def noted(result: Listening) -> list[str]:
    return [note.code for note in result.notes]


def why(result: Listening, axis: str) -> str:
    (gap,) = (gap for gap in result.unmeasured if gap.axis == axis)
    return gap.reason


@pytest.fixture(scope="module")
def music() -> Samples:
    """Three seconds of stereo."""
    samples, _ = sounds.audio("music_48k")
    return np.asarray(samples, np.float64)


@pytest.fixture(scope="module")
def wav(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """``wav(name, samples)``: 16-bit stereo in a file."""
    import av

    folder = tmp_path_factory.mktemp("sounds")

    def written(name: str, samples: Samples) -> Path:
        path = folder / f"{name}.wav"
        if not path.exists():
            with av.open(str(path), "w") as out:
                stream = out.add_stream("pcm_s16le", rate=RATE)
                stream.layout = "stereo"
                packed = np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.int16)
                frame = av.AudioFrame.from_ndarray(
                    packed.reshape(1, -1), format="s16", layout="stereo"
                )
                frame.sample_rate = RATE
                out.mux(stream.encode(frame))
                out.mux(stream.encode(None))
        return path

    return written


def test_the_package_exports_the_verdict() -> None:
    assert screentest.audio_verdict is audio_verdict
    assert screentest.Listening is Listening


class TestAlone:
    def test_music_passes(self, music: Samples) -> None:
        result = heard(music)
        assert (result.verdict, result.defects, result.passed) == ("pass", (), True)
        assert result.facts == measure_audio(music.astype(np.float32), sample_rate=RATE)
        assert result.policy == "audio/1"

    @pytest.mark.parametrize(
        ("plant", "code", "severity"),
        [
            (lambda x: np.clip(30 * x, -1, 1), "clipped", "reject"),
            (lambda x: x + np.array([0.2, 0.0]), "dc_offset", "reject"),
            (lambda x: x * np.array([1.0, 0.0]), "dead_channel", "reject"),
            (lambda x: x[:, :1] * np.array([1.0, -1.0]), "inverted_phase", "warn"),
            (lambda x: np.repeat(x[:, :1], 2, axis=1), "dual_mono", "warn"),
            (lambda x: x * 1e-3, "silent", "reject"),
            (lambda x: x * 0.0, "silent", "reject"),
            (lambda x: x * (np.arange(len(x)) < 0.7 * len(x))[:, None], "dropout", "reject"),
        ],
        ids=["clipped", "offset", "dead", "inverted", "dual mono", "quiet", "zeros", "cut off"],
    )
    def test_a_planted_fault_is_a_finding_of_its_own(
        self, music: Samples, plant: Any, code: str, severity: str
    ) -> None:
        result = heard(plant(music))
        assert codes(result, severity) == [code]
        assert codes(result, "reject") == ([code] if severity == "reject" else [])
        assert result.verdict == ("reject" if severity == "reject" else "pass")

    def test_a_sound_that_is_cut_off_says_where(self, music: Samples) -> None:
        cut = music.copy()
        cut[96_000:] = 0.0
        (defect,) = heard(cut).defects
        assert defect.seconds == (2.0, 3.0)
        assert defect.value == pytest.approx(1 / 3)

    def test_one_nan_is_rejected_with_its_place(self, music: Samples) -> None:
        broken = music.copy()
        broken[24_000, 1] = np.nan
        result = heard(broken, reference=music.astype(np.float32))
        assert (result.verdict, codes(result), result.pair) == ("reject", ["non_finite"], None)
        assert result.defects[0].seconds == (0.5, 0.6)
        assert "NaN" in why(result, "audio_pair")
        assert json.loads(result.to_json())["status"] == "reject"

    def test_integers_read_as_floats_are_refused_in_one_line(self, music: Samples) -> None:
        with pytest.raises(MediaError) as refused:
            heard(32768 * music)
        assert refused.value.code == "samples_out_of_range"

    def test_short_silent_and_too_short_are_different_answers(self, music: Samples) -> None:
        short, silent, tiny = heard(music[:14_400]), heard(0 * music), heard(music[:480])
        assert (short.verdict, silent.verdict, tiny.verdict) == ("pass", "reject", "unmeasured")
        assert "0.4" in why(short, "audio_lufs")
        assert "too short" in why(tiny, "audio_rms_dbfs")
        with pytest.raises(MediaError) as refused:
            heard(music[:0])
        assert refused.value.code == "no_samples"

    def test_a_short_sound_between_two_limits_is_short_of_loudness_alone(
        self, music: Samples
    ) -> None:
        reasons = {heard(x).facts.unmeasured for x in (music[:14_400], 0 * music)}  # type: ignore[union-attr]
        assert len(reasons) == 2

    def test_the_real_recording_passes(self, real_clip: Any) -> None:
        result = audio_verdict(real_clip("bigbuckbunny"), sync=False)
        assert (result.verdict, result.defects) == ("pass", ())
        assert why(result, "sync") == "nobody asked for it"


class TestAgainstAReference:
    def test_a_sound_against_itself_passes(self, music: Samples) -> None:
        result = heard(music, reference=music.astype(np.float32))
        assert (result.verdict, noted(result)) == ("pass", ["not_gated"])
        assert result.pair is not None
        assert result.pair.audio_align_lag_ms == 0.0
        assert result.reference == result.facts

    def test_what_the_reference_does_not_have_is_a_loss(self, music: Samples) -> None:
        folded = np.repeat(music[:, :1], 2, axis=1)
        assert heard(folded).verdict == "pass"
        result = heard(folded, reference=music.astype(np.float32))
        assert (result.verdict, codes(result, "reject")) == ("reject", ["dual_mono"])

    def test_a_turned_sign_and_a_delay_are_told(self, music: Samples) -> None:
        late = np.concatenate([np.zeros((480, 2)), -music])
        result = heard(late, reference=music.astype(np.float32))
        assert codes(result) == ["inverted_polarity"]
        assert noted(result) == ["not_gated", "lag"]
        assert "10.0 ms late" in result.notes[1].message

    def test_a_budget_rejects_with_the_second_to_listen_to(
        self, music: Samples, tmp_path: Path
    ) -> None:
        noisy = music.copy()
        noisy[48_000:96_000] += 0.02 * np.random.default_rng(1).standard_normal((48_000, 2))
        policy = tmp_path / "policy.toml"
        policy.write_text(
            'name = "ours"\n[fidelity.audio_snr_db]\nlow = 5.0\nworst_low = 30.0\n'
            'provenance = "made for this test"'
        )
        result = heard(noisy, reference=music.astype(np.float32), policy=policy)
        assert codes(result, "reject") == ["fidelity_snr_db"]
        assert result.defects[0].seconds == (1.0, 2.0)
        assert result.policy == "ours"

    def test_different_rates_are_refused(self, wav: Any, music: Samples) -> None:
        reference = read_audio(music.astype(np.float32), sample_rate=44_100)
        with pytest.raises(ProtocolError):
            audio_verdict(wav("music", music), reference)

    def test_a_sound_without_a_soundtrack_is_a_reject_where_one_is_expected(
        self, studio: Any, wav: Any, music: Samples
    ) -> None:
        mute = studio.a_mp4()
        result = audio_verdict(mute, wav("music", music))
        assert (result.verdict, codes(result), result.facts) == ("reject", ["missing"], None)
        assert "no audio stream" in result.defects[0].message
        assert (result.source, result.reference_source) == (str(mute), str(wav("music", music)))
        assert why(result, "audio_pair") == "there is no sound"
        record = json.loads(result.to_json())
        assert record["values"]["audio"] is None
        assert record["values"]["reference"]["audio_rms_dbfs"] is not None
        assert audio_verdict(mute, expect_sound=True).verdict == "reject"
        for reference in (None, mute):
            with pytest.raises(MediaError) as refused:
                audio_verdict(mute, reference)
            assert refused.value.code == "no_audio_stream"

    def test_a_reference_without_sound_leaves_the_comparison_unmeasured(
        self, studio: Any, wav: Any, music: Samples
    ) -> None:
        result = audio_verdict(wav("music", music), studio.a_mp4())
        assert (result.verdict, noted(result)) == ("unmeasured", ["reference_without_sound"])
        assert "no audio stream" in why(result, "audio_pair")

    def test_a_reference_that_is_no_number_leaves_the_comparison_unmeasured(
        self, music: Samples
    ) -> None:
        broken = music.copy()
        broken[100] = np.nan
        result = audio_verdict(music, broken, sample_rate=48_000)
        assert (result.verdict, result.defects) == ("unmeasured", ())
        assert why(result, "audio_pair") == "samples of the reference are NaN or infinite"

    def test_a_soundtrack_that_begins_later_in_its_file_is_told(
        self, studio: Any, wav: Any, music: Samples
    ) -> None:
        picture, sound = studio.a_mp4(), wav("music", music)
        mux = ("-i", picture, "-i", sound, "-map", "0:v", "-map", "1:a", "-c:v", "copy")
        first = studio("first.mkv", *mux, "-c:a", "flac")
        late = ("-i", picture, "-itsoffset", "0.12", "-i", sound, *mux[4:])
        result = audio_verdict(studio("late.mkv", *late, "-c:a", "flac"), first)
        (told,) = [note for note in result.notes if note.code == "start_differs"]
        assert told.value == pytest.approx(120, abs=1)
        assert "begins 120 ms later in its file" in told.message


@pytest.fixture(scope="module")
def clap(studio: Any) -> Any:
    """``clap(shift_s)``: a box that lights up at uneven moments, each with a click, in one file;
    the sound so much later."""
    at = (0.5, 1.3, 2.7, 3.4)
    lit = "+".join(f"between(t,{t},{t + 0.2})" for t in at)
    heard_at = "+".join(f"between(t,{t},{t + 0.01})" for t in at)
    picture = f"color=gray:s=160x120:r=25:d=5,drawbox=40:30:60:50:white:t=fill:enable='{lit}'"
    click = f"aevalsrc='0.8*sin(2*PI*1800*t)*({heard_at})+0.01*random(0)':s=48000:d=5"
    coder = ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac")
    whole = studio("clap.mp4", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", click, *coder)

    def made(shift_s: float) -> Path:
        late = ("-itsoffset", shift_s, "-i", whole, "-map", "0:v", "-map", "1:a", "-c", "copy")
        path: Path = studio(f"late{shift_s}.mp4", "-i", whole, *late)
        return path

    return made


class TestAgainstThePicture:
    def test_a_videos_own_picture_is_looked_at_and_sound_on_time_is_noted(self, clap: Any) -> None:
        result = audio_verdict(clap(0))
        assert (codes(result), noted(result)) == ([], ["sync"])
        assert result.sync is not None
        assert "lip sync is not measured" in result.notes[0].message

    def test_sound_that_is_late_is_out_of_sync_and_drifts_against_its_reference(
        self, clap: Any
    ) -> None:
        result = audio_verdict(clap(0.3), clap(0))
        (defect,) = result.defects
        assert (result.verdict, defect.severity, defect.code) == ("pass", "warn", "out_of_sync")
        assert defect.value == pytest.approx(300.0, abs=41.0)
        assert "late" in defect.message
        drift = next(note for note in result.notes if note.code == "sync_drift")
        assert drift.value == pytest.approx(300.0, abs=5.0)
        assert result.reference_sync is not None

    @pytest.mark.parametrize("opened", [Path.read_bytes, lambda p: io.BytesIO(p.read_bytes())])
    def test_bytes_and_file_objects_have_a_picture_too(self, clap: Any, opened: Any) -> None:
        whole, given = audio_verdict(clap(0)), audio_verdict(opened(clap(0)))
        assert whole.sync is not None
        assert given.sync is not None
        assert given.sync.av_sync_offset_ms == whole.sync.av_sync_offset_ms
        assert given.facts is not None
        assert given.facts.audio_lufs == whole.facts.audio_lufs  # type: ignore[union-attr]

    def test_an_opened_sound_of_a_file_has_its_picture_and_stays_open(self, clap: Any) -> None:
        with read_audio(clap(0)) as sound:
            assert noted(audio_verdict(sound)) == ["sync"]
            assert noted(audio_verdict(sound)) == ["sync"]

    def test_the_picture_is_left_alone_on_request(self, clap: Any) -> None:
        result = audio_verdict(clap(0), sync=False)
        assert (result.sync, why(result, "sync")) == (None, "nobody asked for it")

    def test_frames_in_memory_need_their_rate(self) -> None:
        frames, fps, samples, rate = sounds.av("late_80ms")
        result = audio_verdict(samples, None, frames, fps, sample_rate=rate)
        assert result.sync is not None
        assert result.sync.av_sync_offset_ms == pytest.approx(80.0, abs=1000 / fps)
        assert noted(result) == ["sync"]

    def test_a_sound_without_a_picture_says_so(self, wav: Any, music: Samples) -> None:
        path = wav("music", music)
        assert why(audio_verdict(path), "sync") == "the file has no picture"
        assert audio_verdict(path, require=["sync"]).verdict == "unmeasured"
        assert why(heard(music), "sync") == "there is no picture to compare with"

    def test_silence_is_judged_before_the_picture_has_nothing_to_say(self, studio: Any) -> None:
        hush = ("-f", "lavfi", "-i", "anullsrc=r=48000:cl=stereo", "-shortest", "-c:v", "copy")
        result = audio_verdict(studio("hush.mp4", "-i", studio.a_mp4(), *hush, "-c:a", "aac"))
        assert (result.verdict, codes(result)) == ("reject", ["silent"])
        assert why(result, "sync") != ""

    def test_a_picture_that_was_named_and_cannot_be_read_is_an_error(
        self, wav: Any, music: Samples
    ) -> None:
        path = wav("music", music)
        with pytest.raises(MediaError) as refused:
            audio_verdict(path, frames=path)
        assert refused.value.code == "no_video_stream"


class Says:
    """A transcriber that hears the same in everything."""

    def __init__(self, words: str) -> None:
        self.words = words

    def transcribe(self, samples: Any, rate: int) -> str:
        del samples, rate
        return self.words


CHECKLIST = {
    "name": "greeting",
    "items": [{"id": "hello", "kind": "speech", "text": "good morning"}],
}


class TestAgainstAChecklist:
    def test_words_that_are_said_are_counted(self, music: Samples) -> None:
        result = heard(music, checklist=CHECKLIST, transcriber=Says("Good morning, Ann"))
        assert result.content is not None
        assert result.content.audio_speech_exact == 1.0
        assert noted(result) == ["content"]

    def test_words_that_are_not_said_are_listed(self, music: Samples) -> None:
        result = heard(music, checklist=CHECKLIST, transcriber=Says("good evening"))
        assert (result.verdict, noted(result)) == ("pass", ["content", "not_said"])

    def test_nobody_who_listens_leaves_it_unmeasured(self, music: Samples) -> None:
        result = heard(music, checklist=CHECKLIST, require=["audio_content"])
        assert result.verdict == "unmeasured"
        assert "transcriber" in why(result, "audio_content")


class TestRecord:
    def test_it_holds_every_number_and_no_nan(self, music: Samples, wav: Any) -> None:
        path = wav("music", music)
        record = json.loads(audio_verdict(path, path).to_json())
        assert record["schema"] == "screentest/audio@1"
        assert (record["status"], record["error"]) == ("pass", None)
        assert record["input"]["source"] == str(path)
        assert record["input"]["layout"] == "stereo"
        assert record["input"]["damage"] == []
        values = record["values"]
        assert values["audio"]["audio_lufs"] == pytest.approx(measure_audio(path).audio_lufs or 0.0)
        assert [c["position"] for c in values["audio"]["channels"]] == ["FL", "FR"]
        assert values["audio_pair"]["audio_align_lag_ms"] == 0
        assert values["sync"] is None
        assert "series" not in values["audio"]
        assert "event sync is not lip sync" in record["scope"].lower()

    def test_it_is_canonical_and_the_same_for_every_thread_count(self, music: Samples) -> None:
        reference = music[::-1].astype(np.float32)
        documents = {heard(music, reference=reference, threads=n).to_json() for n in (1, 2, 8)}
        (document,) = documents
        assert document == canonical.dumps(json.loads(document))

    def test_a_person_reads_the_verdict_and_every_reason(self, music: Samples) -> None:
        lines = str(heard(0 * music)).splitlines()
        assert lines[0].startswith("reject: ")
        assert lines[1] == "  reject silent: digital silence: every sample is 0"
        assert not any("audio_pair" in line for line in lines)
        insisted = str(heard(0 * music, require=["audio_pair"])).splitlines()
        assert "  not measured, audio_pair: there is no reference to compare with" in insisted


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"fps": 24.0}, InputError, "fps="),
        ({"require": ["loudness"]}, PolicyError, "'loudness'"),
        ({"policy": {"name": "x"}}, PolicyError, "AudioPolicy"),
        ({"threads": 0}, InputError, "threads=0"),
        ({"stream": 1}, InputError, "stream="),
    ],
)
def test_a_wrong_argument_is_refused(
    music: Samples, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        heard(music, **options)


def test_a_missing_file_stays_file_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        audio_verdict("/nowhere/at/all.wav")


def test_a_missing_soundtrack_cannot_be_drawn(studio: Any, tmp_path: Path) -> None:
    mute = studio.a_mp4()
    result = audio_verdict(mute, expect_sound=True)
    with pytest.raises(InputError, match="nothing to draw"):
        draw_sound(result, mute, tmp_path / "out.png")

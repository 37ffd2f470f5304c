"""The temporal screens within the screen: one decode, one verdict, and nothing unless asked for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import screentest
from screentest.errors import MediaError
from screentest.media.clip import Clip
from screentest.metrics.temporal import AXES, measure_temporal
from screentest.screening import Screener, Screening, ScreeningError, screen, screen_many
from screentest.verdicts.temporal_policy import default_temporal_policy
from tests.oracles import clips

Frames = npt.NDArray[np.uint8]

ALTERNATION = 4 * (-1) ** np.arange(48)[:, None, None, None]


@pytest.fixture(scope="module")
def pan() -> Frames:
    frames: Frames = clips.pan(48, 72, 128, 3)
    return frames


@pytest.fixture(scope="module")
def flickers(pan: Frames) -> Frames:
    """Brighter and darker by turns, 8 levels apart."""
    frames: Frames = clips.u8(pan.astype(int) + ALTERNATION)
    return frames


def codes(result: Screening, severity: str | None = None) -> list[str]:
    return [d.code for d in result.defects if severity in (None, d.severity)]


def temporal_gaps(result: Screening) -> dict[str, str]:
    return {gap.axis: gap.reason for gap in result.unmeasured if gap.axis in AXES}


class TestFindings:
    def test_a_gain_that_alternates_is_flicker_with_its_frames_and_seconds(
        self, flickers: Frames
    ) -> None:
        assert codes(screen(flickers, frame_rate=24)) == []
        result = screen(flickers, frame_rate=24, temporal=True)
        (defect,) = result.defects
        assert (result.verdict, defect.severity, defect.code) == ("pass", "warn", "flicker")
        assert defect.value == pytest.approx(8.0, abs=1.0)
        # The first and the last frame have no other side to come back to.
        assert defect.frames == (1, 46)
        assert defect.seconds == pytest.approx((1 / 24, 47 / 24), abs=1e-6)
        assert "every 2 frames, 12 Hz" in defect.message

    def test_a_clean_pan_has_neither_defects_nor_notes(self, pan: Frames) -> None:
        result = screen(pan, frame_rate=24, temporal=True)
        assert (result.verdict, result.defects, result.notes) == ("pass", (), ())
        assert temporal_gaps(result) == {}

    def test_a_cut_is_a_note_at_the_first_frame_after_it(self, pan: Frames) -> None:
        cut = np.concatenate([pan[:30], clips.pan(30, 72, 128, 9)])
        result = screen(cut, frame_rate=30, temporal=True)
        (note,) = result.notes
        assert (result.defects, note.code, note.frames) == ((), "cut", (30, 30))
        assert note.message == "cut at frame 30 (1.00 s)"
        assert "  note cut: cut at frame 30 (1.00 s)" in str(result)

    def test_the_facts_are_judged_again_without_decoding(self, flickers: Frames) -> None:
        result = screen(flickers, frame_rate=24, temporal=True)
        assert result.temporal == measure_temporal(flickers, frame_rate=24)
        assert screentest.judge_temporal(result.temporal).defects == result.defects

    def test_frames_held_by_twos_are_judder_and_still_the_screens_duplicates(
        self, pan: Frames
    ) -> None:
        result = screen(pan.repeat(2, axis=0), frame_rate=48, temporal=True)
        assert sorted(codes(result, "warn")) == ["duplicate", "judder"]
        judder = next(d for d in result.defects if d.code == "judder")
        assert "every other frame repeats the one before" in judder.message
        assert "so 24 of 48 frames a second are new" in judder.message
        assert "x-, where x moves and - is held" in judder.message


class TestFiles:
    """Clips that ffmpeg makes: 320x240 at 30 per second."""

    @pytest.fixture
    def make(self, ffmpeg: str, tmp_path: Path) -> Callable[[str], Path]:
        def made(filters: str) -> Path:
            target = tmp_path / "made.mp4"
            source = ("-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=2", "-vf", filters)
            encoder = ("-c:v", "libx264", "-pix_fmt", "yuv420p")
            subprocess.run(
                [ffmpeg, "-v", "error", "-y", *source, *encoder, str(target)], check=True
            )
            return target

        return made

    def test_a_clean_recording_has_no_finding(self, make: Callable[[str], Path]) -> None:
        result = screen(make("null"), temporal=True)
        assert (result.verdict, result.defects, result.notes) == ("pass", (), ())

    def test_brightness_that_alternates_from_one_second_on_is_located(
        self, make: Callable[[str], Path]
    ) -> None:
        path = make("eq=brightness='0.03*gte(n,30)*(1-2*mod(n,2))':eval=frame")
        defect = next(d for d in screen(path, temporal=True).defects if d.code == "flicker")
        assert defect.frames == (30, 58)
        assert defect.seconds == pytest.approx((1.0, 59 / 30), abs=1e-3)
        assert "every 2 frames, 15 Hz" in defect.message

    def test_a_fade_out_is_a_note_and_no_flicker(self, make: Callable[[str], Path]) -> None:
        result = screen(make("fade=out:st=1:d=0.5"), temporal=True)
        assert set(codes(result)) <= {"black"}
        (note,) = result.notes
        assert note.code == "fade"
        assert note.frames is not None
        # 15 frames from the 30th.
        assert abs(note.frames[0] - 30) <= 1
        assert abs(note.frames[1] - 45) <= 1
        assert note.message.startswith("fade to dark over frames ")

    def test_a_negative_from_one_second_on_is_a_cut(self, make: Callable[[str], Path]) -> None:
        result = screen(make("negate=enable='gte(t,1)'"), temporal=True)
        assert [(note.code, note.frames) for note in result.notes] == [("cut", (30, 30))]
        assert codes(result) == []

    def test_hdr_is_unmeasured_by_both(self, ffmpeg: str, tmp_path: Path) -> None:
        path = tmp_path / "pq.mp4"
        tags = "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:log-level=error"
        source = ("-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=0.5", "-c:v", "libx265")
        coded = ("-pix_fmt", "yuv420p10le", "-x265-params", tags, str(path))
        subprocess.run([ffmpeg, "-v", "error", "-y", *source, *coded], check=True)
        gaps = temporal_gaps(screen(path, temporal=True))
        assert set(gaps) == {"flicker", "flash"}
        assert all("PQ" in reason for reason in gaps.values())


@pytest.mark.parametrize(
    ("name", "cuts"),
    [
        ("bigbuckbunny", []),
        ("bikes", [30, 76, 137, 187, 242]),
        ("carphone_pristine", []),
        ("carphone_distorted", []),
    ],
)
def test_a_real_recording_has_no_temporal_defect_and_its_cuts_are_noted(
    name: str, cuts: list[int], real_clip: Callable[[str], Path]
) -> None:
    path = real_clip(name)
    result = screen(path, temporal=True)
    assert result.defects == screen(path).defects
    assert [(note.code, note.frames) for note in result.notes] == [("cut", (k, k)) for k in cuts]


class TestRecord:
    def test_without_the_screens_the_record_has_not_a_key_more(self, pan: Frames) -> None:
        plain, timed = screen(pan), screen(pan, temporal=True)
        assert (plain.temporal, plain.temporal_policy, plain.notes) == (None, None, ())
        record = timed.to_dict()
        assert record.keys() - plain.to_dict().keys() == {"notes", "temporal"}
        del record["notes"], record["temporal"]
        assert record == plain.to_dict()

    def test_facts_notes_and_policy_stand_in_it(self, flickers: Frames) -> None:
        cut = np.concatenate([flickers, clips.pan(24, 72, 128, 9)])
        result = screen(cut, frame_rate=24, temporal=True)
        record = json.loads(result.to_json())
        assert record == result.to_dict()
        assert [defect["code"] for defect in record["defects"]] == ["flicker"]
        assert [note["code"] for note in record["notes"]] == ["cut"]
        policy = default_temporal_policy()
        assert record["temporal"]["policy"] == {"name": policy.name, "sha256": policy.sha256}
        assert "a render that flickers" in record["temporal"]["scope"]
        facts = record["temporal"]["facts"]
        assert facts["impl"] == "temporal@1"
        assert facts["frames_read"] == 72
        assert len(facts["regions"]) == 16
        assert not {"series", "clip", "damage", "unmeasured"} & facts.keys()

    def test_the_bytes_are_the_same_for_every_thread_count_and_in_a_batch(
        self, make_file: Callable[[Frames], Path], flickers: Frames, pan: Frames
    ) -> None:
        files = [make_file(flickers), make_file(pan)]
        alone = [screen(file, temporal=True).to_json() for file in files]
        for threads in (1, 2, 8):
            each = [screen(file, temporal=True, threads=threads).to_json() for file in files]
            many = screen_many(files, temporal=True, threads=threads)
            assert each == alone
            assert [result.to_json() for result in many] == alone

    def test_an_input_that_cannot_be_read_has_the_keys_of_the_others(
        self, make_file: Callable[[Frames], Path], pan: Frames
    ) -> None:
        gone, good = screen_many(["/nowhere.mp4", make_file(pan)], temporal=True)
        assert isinstance(gone, ScreeningError)
        record = gone.to_dict()
        assert record.keys() == good.to_dict().keys()
        assert record["temporal"].keys() == good.to_dict()["temporal"].keys()
        assert set(AXES) <= {gap["axis"] for gap in record["unmeasured"]}
        (plain,) = screen_many(["/nowhere.mp4"])
        assert not {"notes", "temporal"} & plain.to_dict().keys()


@pytest.fixture
def make_file(tmp_path: Path) -> Callable[[Frames], Path]:
    from screentest.cli.demo_clips import encode

    def made(frames: Frames) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.mp4"
        encode(path, iter(frames))
        return path

    return made


class TestVerdict:
    def test_a_policy_that_rejects_flicker_rejects_the_clip_and_is_named(
        self, flickers: Frames, tmp_path: Path
    ) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text('name = "strict"\nseverities.flicker = "reject"')
        doubled = flickers.copy()
        doubled[20] = doubled[19]
        result = screen(doubled, frame_rate=24, temporal=True, temporal_policy=policy)
        assert (result.verdict, result.temporal_policy) == ("reject", "strict")
        assert result.temporal_policy_sha256 != default_temporal_policy().sha256
        # What rejects comes first, whichever screen found it.
        assert [(d.severity, d.code) for d in result.defects] == [
            ("reject", "flicker"),
            ("warn", "duplicate"),
        ]

    def test_a_reject_of_the_screen_stays_one(self) -> None:
        noise = np.random.default_rng(3).integers(0, 256, (24, 96, 128, 3), np.uint8)
        result = screen(noise, temporal=True)
        assert (result.verdict, codes(result, "reject")) == ("reject", ["noise"])
        assert codes(screen(noise)) == codes(result)

    def test_a_clip_too_short_for_them_passes_and_lists_them_unless_they_are_required(
        self, pan: Frames
    ) -> None:
        result = screen(pan[:5], temporal=True)
        assert result.verdict == "pass"
        gaps = temporal_gaps(result)
        assert set(gaps) == set(AXES)
        assert all("frames in a row; this has 5" in reason for reason in gaps.values())
        for axis in AXES:
            assert screen(pan[:5], temporal=True, require=axis).verdict == "unmeasured"
        assert screen(pan, temporal=True, require=AXES).verdict == "pass"

    def test_require_names_axes_of_both(self, pan: Frames) -> None:
        result = screen(pan, temporal=True, require=["grid", "flicker"])
        assert result.verdict == "unmeasured"
        assert [gap.axis for gap in result.unmeasured] == ["grid"]

    def test_an_axis_without_meaning_decides_only_where_it_is_required(self, pan: Frames) -> None:
        pulsing = clips.u8(pan[:1].repeat(48, axis=0).astype(int) + ALTERNATION)
        assert "brightness" in temporal_gaps(screen(pulsing, temporal=True))["judder"]
        assert screen(pulsing, temporal=True).verdict == "pass"
        assert screen(pulsing, temporal=True, require="judder").verdict == "unmeasured"


class TestNotFinite:
    @pytest.fixture
    def broken(self, pan: Frames) -> npt.NDArray[np.float32]:
        clip = (pan / 255).astype(np.float32)
        clip[20, 5, 7, 1] = np.nan
        return clip

    def test_the_screens_finding_stands_and_the_rest_is_unmeasured(
        self, broken: npt.NDArray[np.float32]
    ) -> None:
        plain, timed = screen(broken), screen(broken, temporal=True, require="flicker")
        assert (timed.verdict, timed.defects) == ("reject", plain.defects)
        assert codes(timed) == ["non_finite"]
        assert timed.facts.series == plain.facts.series
        assert timed.temporal is None
        gaps = temporal_gaps(timed)
        assert set(gaps) == set(AXES)
        assert all(reason.startswith("frame 20 holds NaN") for reason in gaps.values())
        record = timed.to_dict()["temporal"]
        assert (record["facts"], record["policy"]["name"]) == (None, "temporal/1")

    def test_frames_pushed_one_by_one_say_the_same(self, broken: npt.NDArray[np.float32]) -> None:
        screener = Screener(frames=48, temporal=True)
        for frame in broken:
            screener.push(frame)
        streamed, whole = screener.finish(), screen(broken, temporal=True)
        assert (streamed.verdict, streamed.defects) == (whole.verdict, whole.defects)
        assert streamed.unmeasured == whole.unmeasured


class TestScreener:
    @pytest.mark.parametrize("known", [True, False])
    def test_frames_pushed_in_one_buffer_are_judged_as_the_array_is(
        self, flickers: Frames, known: bool
    ) -> None:
        clip = np.concatenate([flickers, clips.pan(24, 72, 128, 9)])
        screener = Screener(frames=len(clip) if known else None, frame_rate=24, temporal=True)
        buffer = np.empty_like(clip[0])
        for frame in clip:
            buffer[:] = frame
            screener.push(buffer)
        streamed, whole = screener.finish(), screen(clip, frame_rate=24, temporal=True)
        assert streamed.defects == whole.defects
        assert streamed.notes == whole.notes
        assert streamed.temporal is not None
        assert whole.temporal is not None
        assert streamed.temporal.series == whole.temporal.series
        assert streamed.to_dict()["temporal"] == whole.to_dict()["temporal"]

    def test_a_generator_that_stops_early_gives_no_temporal_verdict(self, flickers: Frames) -> None:
        screener = Screener(frames=60, frame_rate=24, temporal=True)
        for frame in flickers:
            screener.push(frame)
        result = screener.finish()
        assert codes(result, "reject") == ["damaged"]
        assert "flicker" not in codes(result)
        assert "only 48 of 60 frames" in temporal_gaps(result)["flicker"]

    def test_its_policy_and_axes_are_checked_when_it_is_made(self) -> None:
        with pytest.raises(screentest.InputError, match="temporal=True"):
            Screener(temporal_policy="strict.toml")
        with pytest.raises(screentest.PolicyError, match="temporal=True"):
            Screener(require=["judder"])

    def test_values_out_of_range_are_refused_as_ever(self, pan: Frames) -> None:
        screener = Screener(temporal=True)
        with pytest.raises(MediaError, match="range"):
            screener.push(pan[0].astype(np.float32))


def test_the_source_is_read_once(pan: Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = 0

    def counted(read: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def frames(*args: Any, **options: Any) -> Iterator[Any]:
            nonlocal passes
            passes += 1
            return read(*args, **options)

        return frames

    with screentest.open_clip(pan) as clip:
        assert isinstance(clip, Clip)
        monkeypatch.setattr(type(clip), "frames", counted(type(clip).frames))
        result = screen(clip, temporal=True)
    assert result.temporal is not None
    assert passes == 1

"""Screening from end to end: sources in, records out."""

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
from screentest.cli.demo_clips import CLIPS, encode
from screentest.errors import InputError, MediaError, PolicyError
from screentest.screening import Screener, Screening, ScreeningError, screen, screen_many

Frames = npt.NDArray[np.uint8]


@pytest.fixture(scope="module")
def moving() -> Frames:
    """A textured picture that moves: 48 x 360 x 640."""
    return np.stack(list(CLIPS[0].frames()))


@pytest.fixture(scope="module")
def noise() -> Frames:
    return np.random.default_rng(3).integers(0, 256, (24, 96, 128, 3), np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's clips as files."""
    place = tmp_path_factory.mktemp("clips")
    for clip in CLIPS:
        clip.make(place / clip.name)
    return place


def codes(result: Screening, severity: str | None = None) -> list[str]:
    return [d.code for d in result.defects if severity in (None, d.severity)]


def test_the_package_exports_what_it_lists() -> None:
    for name in screentest.__all__:
        assert getattr(screentest, name) is not None
    assert set(screentest.__all__) <= set(dir(screentest))
    with pytest.raises(AttributeError, match="no attribute 'scren'"):
        screentest.scren  # noqa: B018


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_each_demo_clip_gets_the_verdict_its_fault_deserves(clip: Any, folder: Path) -> None:
    result = screen(folder / clip.name)
    assert result.verdict == clip.verdict
    assert set(codes(result)) == clip.codes


def test_an_array_is_screened(moving: Frames, noise: Frames) -> None:
    assert screen(moving).verdict == "pass"
    assert codes(screen(noise)) == ["noise"]


def test_a_record_holds_every_key_and_no_nan(folder: Path) -> None:
    result = screen(folder / "black.mp4", spec={"frames": 48})
    record = json.loads(result.to_json())
    assert record == result.to_dict()
    assert record["schema"] == "screentest/screening@1"
    assert record["verdict"] == "reject"
    assert record["source"].endswith("black.mp4")
    assert record["frames"] == record["frames_read"] == 48
    assert record["depth"] == "full"
    assert record["policy"]["name"] == "integrity/1"
    assert record["spec"] == {"frames": 48}
    assert "not a quality gate" in record["scope"]
    assert record["media"]["width"] == 640
    assert {"severity", "code", "value", "limit", "frames", "seconds", "message"} <= set(
        record["defects"][0]
    )
    assert set(record["unmeasured"][0]) == {"axis", "reason", "applies"}
    assert {
        "adjacent_frame_corr",
        "adjacent_frame_corr_aligned",
        "corr_series",
        "frame_std_min",
        "grid_peak_ratio",
        "grid_period_px",
        "grid_axis",
        "grid_phase_px",
    } <= set(record["facts"])


def test_the_record_is_the_same_bytes_for_every_thread_count(folder: Path) -> None:
    source = folder / "stops.mp4"
    assert len({screen(source, threads=n).to_json() for n in (1, 2, 8)}) == 1


def test_a_clip_that_is_already_open_is_screened_and_left_open(moving: Frames) -> None:
    with screentest.open_clip(moving, frame_rate=24) as clip:
        assert screen(clip).verdict == "pass"
        assert screen(clip).verdict == "pass"
        with pytest.raises(InputError, match="frame_rate"):
            screen(clip, frame_rate=24)


def test_facts_are_judged_again_without_decoding(folder: Path) -> None:
    result = screen(folder / "stops.mp4")
    assert result.verdict == "pass"
    spec = screentest.parse_delivery("longest_freeze_s = 0.5")
    assert screentest.judge_integrity(result.facts, spec=spec).verdict == "reject"


def test_policy_and_spec_may_be_files(folder: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "strict"\nseverities.frozen = "reject"')
    result = screen(folder / "stops.mp4", policy=policy)
    assert (result.verdict, result.policy) == ("reject", "strict")
    spec = tmp_path / "spec.toml"
    spec.write_text("frames = 49")
    assert codes(screen(folder / "moving.mp4", spec=spec)) == ["spec_frames"]


def test_a_sampled_screen_reads_ten_frames_and_lists_what_it_did_not_see(folder: Path) -> None:
    result = screen(folder / "stops.mp4", depth="sampled")
    assert (result.verdict, result.depth, result.frames, result.frames_read) == (
        "pass",
        "sampled",
        48,
        10,
    )
    assert {gap.axis for gap in result.unmeasured} >= {"frozen", "duplicate", "damaged"}
    assert screen(folder / "stops.mp4", depth="sampled", require=["frozen"]).verdict == (
        "unmeasured"
    )


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"depth": "half"}, InputError, "'half'"),
        ({"require": ["gird"]}, PolicyError, "'gird'"),
        ({"threads": 0}, InputError, "threads=0"),
        ({"spec": {"fps": 3}}, PolicyError, "'fps'"),
        ({"temporal": True, "depth": "sampled"}, InputError, "every frame"),
        ({"temporal": "strict.toml"}, InputError, "goes to temporal_policy"),
        ({"temporal_policy": "strict.toml"}, InputError, "temporal=True"),
        ({"require": ["flicker"]}, PolicyError, "temporal=True"),
        ({"require": ["flash", "gird"], "temporal": True}, PolicyError, "'gird'.*judder"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_read(
    options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        screen("/nowhere/at/all.mp4", **options)
    with pytest.raises(error, match=says):
        screen_many(["/nowhere/at/all.mp4"], **options)


def test_a_missing_file_stays_file_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        screen("/nowhere/at/all.mp4")


class TestMany:
    @pytest.mark.parametrize("threads", [1, 2, 8])
    def test_results_come_in_the_order_of_the_sources(self, folder: Path, threads: int) -> None:
        files = sorted(str(path) for path in folder.iterdir())
        results = list(screen_many(files, threads=threads))
        assert [result.source for result in results] == files

    def test_a_batch_agrees_with_one_file_at_a_time(self, folder: Path) -> None:
        files = sorted(folder.iterdir())
        assert [r.to_json() for r in screen_many(files)] == [screen(f).to_json() for f in files]

    def test_an_unreadable_file_is_an_error_record_and_the_batch_goes_on(
        self, folder: Path, tmp_path: Path
    ) -> None:
        text = tmp_path / "text.mp4"
        text.write_text("not a clip")
        missing = str(tmp_path / "missing.mp4")
        bad, gone, good = screen_many([text, missing, folder / "moving.mp4"])
        assert isinstance(bad, ScreeningError)
        assert isinstance(gone, ScreeningError)
        assert (gone.code, gone.source) == ("not_found", missing)
        assert isinstance(good, Screening)
        record = json.loads(bad.to_json())
        assert record.keys() == json.loads(good.to_json()).keys()
        assert record["verdict"] == "unmeasured"
        assert record["error"]["code"] == bad.code
        assert "\n" not in record["error"]["message"]

    def test_sources_are_read_only_a_little_ahead_of_the_results(self, noise: Frames) -> None:
        taken = 0

        def endless() -> Iterator[Frames]:
            nonlocal taken
            while True:
                taken += 1
                yield noise

        results = screen_many(endless(), threads=2)
        for _ in range(3):
            assert next(results).to_dict()["verdict"] == "reject"
        results.close()
        assert taken < 20

    def test_no_sources_give_no_results(self) -> None:
        assert list(screen_many([])) == []


class TestScreener:
    def test_frames_pushed_one_by_one_are_judged_as_the_array_is(self, moving: Frames) -> None:
        screener = Screener(frames=len(moving), frame_rate=24)
        for frame in moving:
            screener.push(frame)
        streamed = screener.finish()
        whole = screen(moving, frame_rate=24)
        assert streamed.facts.corr_series == whole.facts.corr_series
        assert streamed.facts.grid_peak_ratio == whole.facts.grid_peak_ratio
        assert streamed.facts.series == whole.facts.series
        assert (streamed.verdict, streamed.defects) == (whole.verdict, whole.defects)

    @pytest.mark.parametrize("known", [True, False])
    def test_noise_is_rejected_whether_or_not_the_length_is_known(
        self, noise: Frames, known: bool
    ) -> None:
        screener = Screener(frames=len(noise) if known else None)
        for frame in noise:
            screener.push(frame)
        assert codes(screener.finish()) == ["noise"]

    def test_a_reused_buffer_is_judged_as_fresh_arrays_are(self, noise: Frames) -> None:
        buffer = np.empty_like(noise[0])
        screener = Screener()
        for frame in noise:
            buffer[:] = frame
            screener.push(buffer)
        assert codes(screener.finish()) == ["noise"]

    @pytest.mark.parametrize("fresh", [True, False])
    def test_one_frame_pushed_again_and_again_is_frozen(self, moving: Frames, fresh: bool) -> None:
        screener = Screener()
        for _ in range(10):
            screener.push(moving[0].copy() if fresh else moving[0])
        assert codes(screener.finish(), "reject") == ["frozen"]

    def test_a_transparent_frame_after_opaque_ones_is_not_passed_as_opaque(
        self, moving: Frames
    ) -> None:
        image = pytest.importorskip("PIL.Image", reason="pip install pillow")
        screener = Screener()
        for index, frame in enumerate(moving[:8]):
            picture = image.fromarray(frame).convert("RGBA")
            picture.putalpha(255 if index < 4 else 0)
            screener.push(picture)
        result = screener.finish()
        assert result.verdict == "unmeasured"
        assert "alpha" in result.facts.clip.flags

    def test_a_whole_clip_is_refused_and_leaves_no_trace(self, noise: Frames) -> None:
        screener = Screener()
        with pytest.raises(MediaError, match="one frame at a time"):
            screener.push(noise[:, ::2])
        screener.push(noise[0])
        assert screener.pushed == 1

    def test_a_generator_that_stops_early_is_damaged(self, moving: Frames) -> None:
        screener = Screener(frames=48)
        for frame in moving[:40]:
            screener.push(frame)
        assert codes(screener.finish(), "reject") == ["damaged"]

    def test_a_frame_too_many_is_refused(self, noise: Frames) -> None:
        screener = Screener(frames=1)
        screener.push(noise[0])
        with pytest.raises(InputError, match="frames=1"):
            screener.push(noise[1])

    def test_a_frame_of_another_size_or_type_is_refused(self, noise: Frames) -> None:
        screener = Screener()
        screener.push(noise[0])
        with pytest.raises(MediaError, match="the first was 128x96"):
            screener.push(noise[0][:48])
        with pytest.raises(MediaError, match="the first was 128x96"):
            screener.push((noise[0] / 255).astype(np.float32))

    def test_the_size_said_is_checked(self, noise: Frames) -> None:
        with pytest.raises(MediaError, match="width=64"):
            Screener(width=64).push(noise[0])

    def test_nothing_pushed_is_no_frames(self) -> None:
        with pytest.raises(MediaError, match="no frames"):
            Screener().finish()

    def test_a_finished_screener_takes_no_more(self, noise: Frames) -> None:
        screener = Screener()
        screener.push(noise[0])
        screener.finish()
        with pytest.raises(InputError, match="finished"):
            screener.push(noise[1])

    def test_a_nan_is_rejected_with_its_place(self) -> None:
        screener = Screener(frame_rate=24)
        for t in range(4):
            frame = np.random.default_rng(1).random((96, 128, 3), np.float32)
            if t == 2:
                frame[5, 7, 1] = np.nan
            screener.push(frame)
        result = screener.finish()
        defect = next(d for d in result.defects if d.code == "non_finite")
        assert (defect.severity, defect.frames) == ("reject", (2, 2))
        assert "row 5, column 7" in defect.message

    @pytest.mark.parametrize("options", [{"frames": 0}, {"frame_rate": -1.0}, {"width": 0}])
    def test_a_wrong_option_is_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(InputError):
            Screener(**options)


class TestArrays:
    def test_one_nan_among_floats_is_rejected_before_any_cast(self) -> None:
        clip = np.random.default_rng(1).random((6, 96, 128, 3)).astype(np.float32)
        clip[:] = clip[:1] * 0.5 + 0.5 * clip
        clip[3, 4, 5, 0] = np.inf
        assert "non_finite" in codes(screen(clip), "reject")

    @pytest.mark.parametrize("height", [1, 2, 5, 7, 33])
    @pytest.mark.parametrize("width", [1, 3, 31])
    def test_tiny_frames_get_a_verdict(self, height: int, width: int) -> None:
        clip = np.random.default_rng(2).integers(0, 256, (5, height, width, 3), np.uint8)
        assert screen(clip, layout="THWC").verdict in ("pass", "reject", "unmeasured")

    def test_one_picture_passes_with_its_temporal_axes_listed(self, moving: Frames) -> None:
        result = screen(moving[0])
        assert result.verdict == "pass"
        assert {gap.axis for gap in result.unmeasured} == {"noise", "frozen", "duplicate"}

    def test_a_still_with_grain_is_not_frozen(self, moving: Frames) -> None:
        rng = np.random.default_rng(5)
        still = moving[0].astype(np.float64)
        clip = np.stack(
            [np.clip(still + rng.normal(0, 1, still.shape), 0, 255) for _ in range(24)]
        ).astype(np.uint8)
        assert codes(screen(clip, frame_rate=24)) == []

    def test_a_slow_loop_is_not_one_frame_though_its_ends_are_alike(self) -> None:
        x = np.arange(-240, 240, dtype=np.float32)
        sway = 2.2 * np.sin(np.linspace(0.0, np.pi, 121))
        frames = [0.5 + 0.3 * np.tanh((x + shift) / 10) for shift in sway]
        loop = np.stack([np.tile(row, (180, 1)) for row in frames]).astype(np.float32)
        result = screen(loop, layout="THW", frame_rate=24)
        assert np.nanmax(result.facts.series.change) < 1.0
        assert codes(result, "reject") == []

    def test_heavy_grain_on_a_still_passes(self, moving: Frames) -> None:
        rng = np.random.default_rng(5)
        still = moving[0].astype(np.float64)
        clip = np.stack(
            [np.clip(still + rng.normal(0, 25, still.shape), 0, 255) for _ in range(8)]
        ).astype(np.uint8)
        assert screen(clip).verdict == "pass"

    def test_fine_texture_that_pans_passes_though_its_plain_correlation_is_low(self) -> None:
        rng = np.random.default_rng(4)
        wide = rng.integers(0, 256, (96, 128, 3), np.uint8).repeat(3, axis=0).repeat(3, axis=1)
        clip = np.stack([wide[:, 4 * t : 4 * t + 240] for t in range(12)])
        result = screen(clip)
        assert result.facts.adjacent_frame_corr is not None
        assert result.facts.adjacent_frame_corr < 0.6
        assert result.verdict == "pass"

    def test_fades_and_black_starts_warn_and_pass(self, moving: Frames) -> None:
        gain = np.clip((np.arange(48) - 8) / 12, 0, 1)[:, None, None, None]
        result = screen((moving * gain).astype(np.uint8), frame_rate=24)
        assert result.verdict == "pass"
        assert codes(result) == ["black"]
        assert result.defects[0].frames is not None
        assert result.defects[0].frames[0] == 0

    def test_a_clip_that_ends_black_for_its_second_half_passes(self, moving: Frames) -> None:
        clip = moving.copy()
        clip[24:] = 0
        assert codes(screen(clip, frame_rate=24)) == ["black"]

    def test_every_frame_shown_twice_is_a_warning(self, moving: Frames) -> None:
        result = screen(moving.repeat(2, axis=0), frame_rate=48)
        assert result.verdict == "pass"
        assert codes(result) == ["duplicate"]
        assert result.defects[0].value == 48

    def test_noise_shown_twice_is_rejected(self, noise: Frames) -> None:
        assert "noise" in codes(screen(noise.repeat(2, axis=0)), "reject")


def make(ffmpeg: str, target: Path, *arguments: str) -> Path:
    subprocess.run([ffmpeg, "-v", "error", "-y", *arguments, str(target)], check=True)
    return target


@pytest.fixture(scope="module")
def source(ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of moving test picture, 320x240 at 30 per second."""
    place = tmp_path_factory.mktemp("ffmpeg")
    lavfi = "testsrc2=s=320x240:r=30:d=2"
    encoder = ("-c:v", "libx264", "-pix_fmt", "yuv420p")
    return make(ffmpeg, place / "a.mp4", "-f", "lavfi", "-i", lavfi, *encoder)


class TestFiles:
    """Material that ffmpeg makes, as the traps describe it."""

    @pytest.mark.parametrize("crf", [18, 23])
    def test_a_frozen_tail_is_named_from_its_first_frame(
        self, ffmpeg: str, source: Path, tmp_path: Path, crf: int
    ) -> None:
        tail = ("-vf", "tpad=stop_mode=clone:stop_duration=2", "-c:v", "libx264", "-crf", str(crf))
        made = make(ffmpeg, tmp_path / "tail.mp4", "-i", str(source), *tail)
        result = screen(made)
        (defect,) = (d for d in result.defects if d.code == "frozen")
        assert result.verdict == "pass"
        assert defect.seconds is not None
        assert defect.seconds[0] == pytest.approx(1.97, abs=0.15)
        assert defect.seconds[1] == pytest.approx(4.0, abs=0.01)
        assert screen(made, spec={"longest_freeze_s": 1.0}).verdict == "reject"

    def test_a_repeated_frame_is_located_and_not_called_frozen(
        self, ffmpeg: str, source: Path, tmp_path: Path
    ) -> None:
        loop = ("-vf", "loop=loop=1:size=1:start=20,setpts=N/30/TB", "-c:v", "ffv1")
        made = make(ffmpeg, tmp_path / "dup.nut", "-i", str(source), *loop)
        sums = subprocess.run(
            [ffmpeg, "-v", "error", "-i", str(made), "-f", "framemd5", "-"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        pictures = [line.split(",")[-1] for line in sums if not line.startswith("#")]
        (repeat,) = (t for t in range(1, 61) if pictures[t] == pictures[t - 1])
        result = screen(made)
        assert result.frames == 61
        assert codes(result) == ["duplicate"]
        assert result.defects[0].frames == (repeat, repeat)

    def test_a_fade_to_black_is_no_blank(self, ffmpeg: str, source: Path, tmp_path: Path) -> None:
        fade = ("-vf", "fade=out:st=1.2:d=0.5", "-c:v", "libx264")
        result = screen(make(ffmpeg, tmp_path / "fade.mp4", "-i", str(source), *fade))
        assert result.verdict == "pass"
        assert codes(result) == ["black"]

    def test_a_remux_gives_the_same_facts(self, ffmpeg: str, source: Path, tmp_path: Path) -> None:
        made = make(ffmpeg, tmp_path / "a.mkv", "-i", str(source), "-c", "copy")
        before, after = screen(source), screen(made)
        assert before.facts.corr_series == after.facts.corr_series
        assert before.verdict == after.verdict

    def test_hdr_is_unmeasured(self, ffmpeg: str, tmp_path: Path) -> None:
        tags = "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:log-level=error"
        made = make(
            ffmpeg,
            tmp_path / "pq.mp4",
            *("-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=0.5", "-c:v", "libx265"),
            *("-pix_fmt", "yuv420p10le", "-x265-params", tags),
        )
        result = screen(made)
        assert result.verdict == "unmeasured"
        assert any("PQ" in gap.reason for gap in result.unmeasured)

    def test_interlaced_material_is_unmeasured(self, ffmpeg: str, tmp_path: Path) -> None:
        fields = ("-vf", "tinterlace=interleave_top,setfield=tff", "-flags", "+ilme+ildct")
        made = make(
            ffmpeg,
            tmp_path / "fields.mp4",
            *("-f", "lavfi", "-i", "testsrc2=s=320x240:r=50:d=1", *fields, "-c:v", "libx264"),
        )
        result = screen(made)
        assert result.verdict == "unmeasured"
        assert any("interlaced" in gap.reason for gap in result.unmeasured)

    def test_a_truncated_file_without_an_index_cannot_be_read(
        self, source: Path, tmp_path: Path
    ) -> None:
        cut = tmp_path / "cut.mp4"
        data = source.read_bytes()
        cut.write_bytes(data[: len(data) * 6 // 10])
        with pytest.raises(MediaError):
            screen(cut)


@pytest.mark.parametrize("name", ["bigbuckbunny", "bikes", "carphone_pristine"])
def test_a_real_recording_passes(name: str, real_clip: Callable[[str], Path]) -> None:
    result = screen(real_clip(name))
    assert result.verdict == "pass", result
    assert not codes(result, "reject")


def test_a_name_that_is_not_utf8_is_screened_and_recorded(tmp_path: Path, moving: Frames) -> None:
    import os

    path = os.fsencode(tmp_path) + b"/caf\xe9.mp4"
    try:
        encode(Path(os.fsdecode(path)), iter(moving[:4]))
    except (OSError, UnicodeError):
        encode(tmp_path / "plain.mp4", iter(moving[:4]))
        os.rename(tmp_path / "plain.mp4", path)
    record = json.loads(screen(os.fsdecode(path)).to_json())
    assert record["source"].isascii()
    assert "caf" in record["source"]


def test_one_path_in_place_of_many_is_refused() -> None:
    with pytest.raises(InputError, match="a list of sources"):
        screen_many("clip.mp4")


@pytest.mark.parametrize("rate", ["24", 0, -1.0, float("nan")])
def test_a_frame_rate_that_is_no_rate_is_refused(rate: object) -> None:
    with pytest.raises(InputError, match="frame_rate="):
        Screener(frame_rate=rate)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="frame_rate="):
        screen(np.zeros((2, 8, 8, 3), np.uint8), frame_rate=rate)

"""Measuring from end to end: sources in, facts and records out, and the cache between."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import screentest
from screentest.errors import InputError, MediaError
from screentest.measuring import Measurement, MeasurementError, measure, measure_many
from screentest.media import images, open_clip, video
from screentest.metrics import one_pass
from screentest.metrics.fact_cache import FactCache
from screentest.metrics.integrity import measure_integrity
from screentest.metrics.integrity.family import FAMILY as INTEGRITY
from screentest.reports import canonical
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.policy import default_policy, parse_policy
from tests.made_families import (
    BATCHES,
    forget,
    sampling,
    stand_in_for_unknown_metrics,
    sums,
)

BOTH = ("integrity", sums())


@pytest.fixture(autouse=True)
def _scores(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_unknown_metrics(monkeypatch)
    forget()


@pytest.fixture
def undecoded(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Once called, nothing can be opened or decoded any more."""

    def forbid() -> None:
        def refuse(*_: Any, **__: Any) -> Any:
            raise AssertionError("a decoder was called")

        monkeypatch.setattr(video.VideoClip, "__init__", refuse)
        monkeypatch.setattr(images.ImagesClip, "__init__", refuse)
        monkeypatch.setattr(one_pass, "run", refuse)
        monkeypatch.setattr("av.open", refuse)

    return forbid


def moving(frames: int = 12, seed: int = 0) -> np.ndarray[Any, Any]:
    wide = np.random.default_rng(seed).integers(0, 256, (64, 200, 3), np.uint8)
    return np.stack([wide[:, k : k + 96] for k in range(frames)])


class TestMeasure:
    def test_facts_of_every_family_are_there_with_scores_in_order(self) -> None:
        clip = moving()
        result = measure(clip, families=[sums(), "integrity"], frame_rate=24)
        assert list(result.facts) == ["integrity", "sums"]
        assert result.facts["integrity"] == measure_integrity(clip, frame_rate=24)
        assert [score.name for score in result.scores] == [
            "adjacent_frame_corr",
            "frame_std_min",
            "grid_peak_ratio",
            "sums_mean",
        ]
        assert result["sums_mean"].value == clip.sum(axis=(1, 2, 3), dtype=int).mean()
        assert result["sums_mean"].frames == 12
        assert result.clip.frame_rate == 24
        assert result.content is None
        with pytest.raises(KeyError, match="sharpnes: this measurement has adjacent_frame_corr,"):
            result["sharpnes"]

    def test_what_has_no_number_has_a_reason(self) -> None:
        result = measure(moving(1), families=BOTH)
        assert result.values["adjacent_frame_corr"] is None
        assert result.unmeasured == {
            "adjacent_frame_corr": "needs 2 frames; this is one",
            "grid_peak_ratio": "needs 512 px on one side; this is 96x64",
            "sums_mean": "needs 2 frames; this is one",
        }
        score = result["sums_mean"]
        assert (score.state, score.value, score.reason) == (
            "unmeasured",
            None,
            "needs 2 frames; this is one",
        )
        assert result.measured("integrity")
        assert not result.measured("sums")

    def test_a_family_that_refuses_the_clip_is_named_and_the_others_stand(self) -> None:
        result = measure(moving(), families=["integrity", sums(refuse_at=3)])
        assert result.unmeasured["sums"] == "frame 3 holds NaN"
        assert "sums" not in result.facts
        assert not result.measured("sums")
        assert result["frame_std_min"].state == "measured"

    def test_every_metric_of_a_family_of_the_table_is_unmeasured_with_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from screentest.metrics import families

        absent = replace(INTEGRITY, missing=lambda: 'pip install "screentest[flow]"')
        monkeypatch.setattr(families, "family", lambda _: absent)
        result = measure(moving(), families=["integrity", sums()])
        assert list(result.facts) == ["sums"]
        unmeasured = [s for s in result.scores if s.state == "unmeasured"]
        assert [score.name for score in unmeasured] == [
            "adjacent_frame_corr",
            "frame_std_min",
            "grid_peak_ratio",
        ]
        assert {score.reason for score in unmeasured} == {'pip install "screentest[flow]"'}

    def test_a_library_behind_the_numbers_is_part_of_their_version(self) -> None:
        result = measure(moving(), families=["integrity", sums(impl="sums/1+lib-2")])
        assert result["sums_mean"].impl.endswith("/1+lib-2")
        assert "+" not in result["frame_std_min"].impl

    def test_a_family_that_samples_says_which_frames(self) -> None:
        options = {"integrity": {"depth": "sampled"}, "sampled": {"every": 5}}
        result = measure(moving(30), families=["integrity", sampling()], options=options)
        assert result.sampled["sampled"] == ((0, 0), (5, 5), (10, 10), (15, 15), (20, 20), (25, 25))
        assert result["sampled_mean"].frames == 6
        runs = result.sampled["integrity"]
        read = [index for first, last in runs for index in range(first, last + 1)]
        assert read == result.facts["integrity"].series.index.tolist()
        assert result["frame_std_min"].frames == len(read)

    def test_any_source_will_do_and_an_opened_clip_stays_open(self, studio: Any) -> None:
        path = studio.a_mp4()
        expected = measure(path, families=BOTH).facts["sums"].series
        with open_clip(path) as clip:
            assert measure(clip, families=BOTH).facts["sums"].series == expected
            assert next(iter(clip.frames())).index == 0
            with pytest.raises(InputError, match="an opened clip takes no alpha"):
                measure(clip, families=BOTH, alpha="drop")
        assert measure(path.read_bytes(), families=BOTH).facts["sums"].series == expected

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"families": "integrty"}, "unknown"),
            ({"families": "integrity", "windows": 0}, "windows=0"),
            ({"families": "integrity", "options": {"integrity": {"deep": 1}}}, "no option"),
            ({"families": "integrity", "threads": 0}, "threads=0"),
            ({"families": "integrity", "cache": "/dev/null"}, "not a folder"),
        ],
    )
    def test_a_wrong_argument_is_told_before_anything_is_opened(
        self, asked: dict[str, Any], message: str
    ) -> None:
        for call in (lambda: measure("/nowhere.mp4", **asked), lambda: measure_many([], **asked)):
            with pytest.raises(InputError, match=message):
                call()

    def test_a_source_that_cannot_be_read_raises(self, tmp_path: Path) -> None:
        (tmp_path / "text.mp4").write_text("no clip")
        with pytest.raises(MediaError):
            measure(tmp_path / "text.mp4", families=BOTH)
        with pytest.raises(FileNotFoundError):
            measure(tmp_path / "none.mp4", families=BOTH, cache=tmp_path / "facts")
        with pytest.raises(MediaError, match="value_range"):
            measure(moving().astype(np.float32), families=BOTH)

    def test_damage_of_a_file_is_told(self, studio: Any) -> None:
        whole = studio("whole.mp4", "-i", studio.a_mp4(), "-c", "copy", "-movflags", "+faststart")
        path = studio.part("part.mp4", whole, 0.6)
        result = measure(path, families=BOTH)
        assert result.damage == result.facts["integrity"].damage
        assert {one.kind for one in result.damage} & {"truncated", "missing_frames"}


class TestRecord:
    def test_it_has_the_same_keys_in_the_same_order_always(self) -> None:
        record = measure(moving(), families=BOTH).to_dict()
        assert list(record) == [
            "schema",
            "status",
            "tool",
            "source",
            "input",
            "options",
            "metrics",
            "facts",
            "unmeasured",
            "error",
        ]
        error = MeasurementError(source="a", code="not_found", message="a: no such file")
        assert list(error.to_dict()) == list(record)
        assert error.to_dict()["error"] == {"code": "not_found", "message": "a: no such file"}

    def test_it_is_canonical_and_holds_no_nan_no_array_and_no_time(self, studio: Any) -> None:
        result = measure(studio.a_mp4(), families=BOTH, options={"integrity": {"depth": "full"}})
        record = json.loads(result.to_json())
        assert canonical.dumps(record) == result.to_json()
        assert (
            measure(
                studio.a_mp4(), families=BOTH, options={"integrity": {"depth": "full"}}
            ).to_json()
            == result.to_json()
        )
        assert record["schema"] == "screentest/measurement@1"
        assert record["status"] == "incomplete"
        assert record["input"]["frames"] == 60
        assert record["input"]["damage"] == []
        assert record["options"]["passed"]["options"] == {"integrity": {"depth": "full"}}
        assert record["options"]["resolved"]["integrity"] == {
            "impl": "integrity/1",
            "options": {"depth": "full"},
        }
        assert record["metrics"]["frame_std_min"]["state"] == "measured"
        assert record["unmeasured"] == [
            {"name": "grid_peak_ratio", "reason": "needs 512 px on one side; this is 320x240"}
        ]
        assert "series" not in record["facts"]["integrity"]
        assert record["facts"]["integrity"]["corr_starts"]
        assert record["facts"]["sums"] == {
            "impl": "sums/1",
            "mean_total": result.values["sums_mean"],
        }

    def test_facts_without_a_gap_are_measured(self) -> None:
        assert measure(moving(), families=[sums()]).to_dict()["status"] == "measured"

    def test_options_that_no_document_can_hold_are_written_as_they_read(self) -> None:
        result = measure(moving(), families=[sums()], value_range=(np.float64(0), 255))
        assert result.to_dict()["options"]["passed"]["open"] == {"value_range": [0, 255]}
        result = measure(moving(), families=[sums()], value_range=np.array([0, 255]))
        assert json.loads(result.to_json())["options"]["passed"]["open"] == {
            "value_range": [0, 255]
        }


class TestMany:
    def test_one_bad_source_among_many_costs_no_other(self, studio: Any, tmp_path: Path) -> None:
        (tmp_path / "text.mp4").write_text("no clip")
        sources = [studio.a_mp4(), tmp_path / "text.mp4", "/nowhere.mp4", moving()]
        results = list(measure_many(sources, families=BOTH))
        assert [type(one).__name__ for one in results] == [
            "Measurement",
            "MeasurementError",
            "MeasurementError",
            "Measurement",
        ]
        assert isinstance(results[2], MeasurementError)
        assert results[2].code == "not_found"
        assert results[0] == measure(studio.a_mp4(), families=BOTH)

    def test_sources_are_read_a_little_ahead_and_not_all_at_once(self) -> None:
        taken = 0

        def sources() -> Iterator[Any]:
            nonlocal taken
            for _ in range(50):
                taken += 1
                yield moving(2)

        results = measure_many(sources(), families=[sums()], threads=2)
        next(results)
        assert taken <= 4
        results.close()

    def test_what_cannot_be_opened_is_named_and_not_quoted(self) -> None:
        film = io.BytesIO(b"no clip" * 9)
        film.name = "/somewhere/a.mp4"  # type: ignore[attr-defined]
        sources = [b"no clip" * 9, bytearray(b"no clip"), io.BytesIO(b"no clip"), film]
        names = [one.source for one in measure_many(sources, families="integrity")]
        assert names == ["<bytes>", "<bytes>", "<file object>", "/somewhere/a.mp4"]

    def test_one_path_is_no_list_of_sources(self) -> None:
        with pytest.raises(InputError, match="a list of sources was expected"):
            measure_many("a.mp4", families="integrity")
        for one in (b"film" * 999, bytearray(b"film"), io.BytesIO(b"film\nfilm"), 3, None):
            with pytest.raises(InputError, match="a list of sources was expected") as caught:
                measure_many(one, families="integrity")  # type: ignore[arg-type]
            assert len(str(caught.value)) < 90


class TestCache:
    def test_a_second_run_decodes_nothing_and_gives_the_same_bytes(
        self, studio: Any, tmp_path: Path, undecoded: Callable[[], None]
    ) -> None:
        path = studio.a_mp4()
        first = measure(path, families=BOTH, cache=tmp_path)
        assert first.content is not None
        plain = measure(path, families=BOTH)
        assert first.facts == plain.facts
        undecoded()
        second = measure(path, families=BOTH, cache=tmp_path)
        assert second == first
        assert second.to_json() == first.to_json()

    def test_bytes_folders_and_stills_are_kept_as_well(
        self, studio: Any, tmp_path: Path, undecoded: Callable[[], None]
    ) -> None:
        folder = tmp_path / "frames"
        folder.mkdir()
        studio.run("-i", studio.a_mp4(), "-frames:v", 3, folder / "%d.png")
        data = studio.a_mp4().read_bytes()
        sources = [data, io.BytesIO(data), folder, folder / "1.png"]
        cache = FactCache(tmp_path / "facts")
        first = [measure(source, families=BOTH, cache=cache) for source in sources]
        undecoded()
        again = [measure(source, families=BOTH, cache=cache) for source in sources]
        assert again == first
        assert [one.source for one in again] == [
            "<bytes>",
            "<file object>",
            str(folder),
            str(folder / "1.png"),
        ]

    def test_an_array_is_measured_once(self, tmp_path: Path, undecoded: Callable[[], None]) -> None:
        first = measure(moving(), families=BOTH, cache=tmp_path, frame_rate=24)
        undecoded()
        assert measure(moving(), families=BOTH, cache=tmp_path, frame_rate=24) == first
        with open_clip(moving(), frame_rate=24) as clip:
            assert measure(clip, families=BOTH, cache=tmp_path).facts == first.facts

    def test_another_name_is_the_same_content_and_bears_its_own_name(
        self, studio: Any, tmp_path: Path, undecoded: Callable[[], None]
    ) -> None:
        first = measure(studio.a_mp4(), families=BOTH, cache=tmp_path / "facts")
        copy = tmp_path / "copy.mp4"
        shutil.copy(studio.a_mp4(), copy)
        undecoded()
        again = measure(copy, families=BOTH, cache=tmp_path / "facts")
        assert again.source == again.clip.source == str(copy)
        assert again.facts["integrity"].clip.source == str(copy)
        assert str(studio.a_mp4()) not in again.to_json().decode()
        assert again.values == first.values

    def test_damage_of_a_still_names_the_file_as_it_is_called_now(
        self, studio: Any, tmp_path: Path, undecoded: Callable[[], None]
    ) -> None:
        still = studio("s.jpg", "-i", studio.a_mp4(), "-frames:v", 1)
        short = studio.part("short.jpg", still, 0.99)
        first = measure(short, families=["integrity"], cache=tmp_path / "facts")
        assert first.damage[0].detail.startswith("short.jpg: ")
        moved = tmp_path / "moved.jpg"
        shutil.copy(short, moved)
        undecoded()
        again = measure(moved, families=["integrity"], cache=tmp_path / "facts")
        assert again.damage[0].detail.startswith("moved.jpg: ")

    def test_what_is_missing_is_measured_in_one_decode_of_its_own(
        self, studio: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        measure(studio.a_mp4(), families=["integrity"], cache=tmp_path)
        asked: list[list[str]] = []
        run = one_pass.run

        def counted(clip: Any, families: Any, *more: Any) -> Any:
            asked.append([one.name for one in families])
            return run(clip, families, *more)

        monkeypatch.setattr(one_pass, "run", counted)
        families = ["integrity", sums("a"), sums("b")]
        result = measure(studio.a_mp4(), families=families, cache=tmp_path)
        assert asked == [["a", "b"]]
        assert result.facts == measure(studio.a_mp4(), families=families).facts

    def test_other_bytes_options_and_readings_are_measured_anew(
        self, studio: Any, tmp_path: Path
    ) -> None:
        def count(source: Any, **options: Any) -> int:
            forget()
            measure(source, families=[sampling()], cache=tmp_path / "facts", **options)
            return sum(len(batch) for batches in BATCHES.values() for batch in batches)

        path = tmp_path / "a.h264"
        shutil.copy(studio("raw.h264", "-i", studio.a_mp4(), "-c:v", "copy"), path)
        assert count(path) > 0
        assert count(path) == 0
        assert count(path, threads=1) == 0
        assert count(path, frame_rate=24) > 0
        assert count(path, options={"sampled": {"every": 3}}) > 0
        path.write_bytes(path.read_bytes() + b"\0\0\0\1")
        assert count(path) > 0

    def test_another_version_of_a_family_is_measured_anew(
        self, studio: Any, tmp_path: Path
    ) -> None:
        measure(studio.a_mp4(), families=[sums()], cache=tmp_path)
        forget()
        measure(studio.a_mp4(), families=[replace(sums(), impl="sums/2")], cache=tmp_path)
        assert BATCHES["sums"]

    def test_a_damaged_entry_is_measured_anew_with_a_note(
        self, studio: Any, tmp_path: Path
    ) -> None:
        first = measure(studio.a_mp4(), families=BOTH, cache=tmp_path)
        for path in tmp_path.rglob("*.facts"):
            path.write_bytes(path.read_bytes()[:-1])
        again = measure(studio.a_mp4(), families=BOTH, cache=tmp_path)
        assert len(again.notes) == 2
        assert all("measured anew" in note for note in again.notes)
        assert again.facts == first.facts
        assert again.to_json() == first.to_json()
        assert measure(studio.a_mp4(), families=BOTH, cache=tmp_path).notes == ()

    def test_a_refusal_is_not_kept(self, tmp_path: Path) -> None:
        clip = moving()
        assert measure(clip, families=[sums(refuse_at=1)], cache=tmp_path).unmeasured == {
            "sums": "frame 1 holds NaN"
        }
        assert measure(clip, families=[sums()], cache=tmp_path).unmeasured == {}

    def test_a_file_that_changes_while_it_is_read_leaves_nothing(
        self, studio: Any, tmp_path: Path
    ) -> None:
        path = tmp_path / "a.mp4"
        shutil.copy(studio.a_mp4(), path)
        family = sums()
        begin = family.begin

        def meddling(said: Any) -> Any:
            path.write_bytes(path.read_bytes())
            return begin(said)

        changed = replace(family, begin=meddling)
        result = measure(path, families=[changed], cache=tmp_path / "facts")
        assert "changed while it was read" in result.notes[0]
        assert result.content is None
        assert not list((tmp_path / "facts").rglob("*.facts"))

    def test_an_opened_file_is_measured_and_told_to_have_no_cache(
        self, studio: Any, tmp_path: Path
    ) -> None:
        with open_clip(studio.a_mp4()) as clip:
            result = measure(clip, families=BOTH, cache=tmp_path)
        assert "give its path instead" in result.notes[0]
        assert result.facts["sums"].series.index.size == 60
        assert not list(tmp_path.rglob("*.facts"))

    def test_a_family_made_from_another_needs_no_decode_where_that_one_is_kept(
        self, studio: Any, tmp_path: Path, undecoded: Callable[[], None]
    ) -> None:
        derived = sums("derived", derive=lambda facts: facts, derived_from="sums")
        measure(studio.a_mp4(), families=[sums()], cache=tmp_path)
        undecoded()
        result = measure(studio.a_mp4(), families=[sums(), derived], cache=tmp_path)
        assert result.facts["derived"] == result.facts["sums"]
        assert (
            measure(studio.a_mp4(), families=[derived], cache=tmp_path).facts["derived"]
            == (result.facts["sums"])
        )

    def test_judging_again_under_another_policy_decodes_nothing(
        self, tmp_path: Path, undecoded: Callable[[], None], studio: Any
    ) -> None:
        frozen = studio(
            "frozen.mp4", "-i", studio.a_mp4(), "-vf", "tpad=stop_mode=clone:stop_duration=2",
            "-c:v", "libx264", "-qp", 0,
        )  # fmt: skip
        measure(frozen, families="integrity", cache=tmp_path)
        undecoded()
        facts = measure(frozen, families="integrity", cache=tmp_path).facts["integrity"]
        strict = parse_policy('name = "strict"\nseverities.frozen = "reject"')
        assert judge_integrity(facts, default_policy()).verdict == "pass"
        assert judge_integrity(facts, strict).verdict == "reject"


def test_names_are_exported_lazily() -> None:
    assert screentest.measure is measure
    assert screentest.measure_many is measure_many
    assert screentest.Measurement is Measurement
    assert "screentest.measuring" in sys.modules

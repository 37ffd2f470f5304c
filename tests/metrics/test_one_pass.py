"""One decode for every family: the frames, the batches, and what one family's refusal costs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from screentest import compute
from screentest.errors import InputError, MediaError, MissingBackendError
from screentest.media import open_clip
from screentest.media.clip import Clip, Frame
from screentest.media.info import Damage
from screentest.metrics import one_pass
from screentest.metrics.family import Family
from screentest.metrics.integrity import IntegrityAccumulator, IntegrityFacts, measure_integrity
from screentest.metrics.integrity.family import FAMILY as INTEGRITY
from screentest.metrics.integrity.second_look import search_more_pairs
from screentest.metrics.stored import facts_to_bytes
from tests.made_families import BATCHES, SumFacts, forget, sampling, sums

FULL = {"depth": "full"}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget()


class Watched(Clip):
    """A clip that says how it was read; it may fail at a frame."""

    def __init__(self, clip: Clip, fail_at: int | None = None) -> None:
        self._clip = clip
        self._fail_at = fail_at
        self.info, self.format, self.timing = clip.info, clip.format, clip.timing
        self.passes: list[str | list[int]] = []
        self.given = 0

    def frames(self, *, ahead: bool = True) -> Iterator[Frame]:
        self.passes.append("all")
        return self._counted(self._clip.frames(ahead=ahead))

    def frames_at(self, indices: Sequence[int]) -> Iterator[Frame]:
        self.passes.append(list(indices))
        return self._counted(self._clip.frames_at(indices))

    def _counted(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        for frame in frames:
            if frame.index == self._fail_at:
                raise MediaError("the disk is gone", code="cannot_read")
            self.given += 1
            yield frame

    @property
    def damage(self) -> list[Damage]:
        return self._clip.damage


def measured(clip: Any, *families: Family[Any], threads: int = 2, **options: Any) -> one_pass.Pass:
    held = {one.name: {**one.options, **options.get(one.name, {})} for one in families}
    if isinstance(clip, Clip):
        return one_pass.run(clip, families, held, threads)
    with open_clip(clip) as opened:
        return one_pass.run(opened, families, held, threads)


def pushed_by_hand(source: Any) -> IntegrityFacts:
    """Integrity without the engine: every frame on its own, in order."""
    with open_clip(source) as clip:
        accumulator = IntegrityAccumulator(clip.format, frames=clip.info.frames)
        for frame in clip.frames(ahead=False):
            accumulator.push(frame)
        return search_more_pairs(clip, accumulator.finish(clip.info, clip.damage), 1)


def held_noise() -> np.ndarray[Any, Any]:
    """Six pictures of noise, held for 12 frames each: the sampled pairs lie within holds."""
    pictures = np.random.default_rng(5).integers(0, 256, (6, 96, 128, 3), np.uint8)
    return pictures.repeat(12, axis=0)


class TestIntegrityInCompany:
    @pytest.mark.parametrize("name", ["bikes", "carphone_distorted"])
    def test_a_file_has_the_bytes_of_frames_pushed_one_by_one(
        self, name: str, real_clip: Any
    ) -> None:
        path = real_clip(name)
        found = measured(path, INTEGRITY, sums(), sampling())
        expected = facts_to_bytes(pushed_by_hand(path))
        assert facts_to_bytes(found.facts["integrity"]) == expected
        assert facts_to_bytes(measure_integrity(path)) == expected

    def test_the_second_look_is_taken_too(self) -> None:
        clip = held_noise()
        found = measured(clip, sums(), INTEGRITY).facts["integrity"]
        searched = int(np.isfinite(found.series.corr_aligned).sum())
        assert searched > len(found.corr_starts)
        assert facts_to_bytes(found) == facts_to_bytes(pushed_by_hand(clip))

    def test_a_sample_in_company_has_the_bytes_of_a_sample_alone(self, studio: Any) -> None:
        path = studio.a_mp4()
        alone = measure_integrity(path, depth="sampled")
        options = {"integrity": {"depth": "sampled"}}
        for others in ((), (sampling(),), (sums(),)):
            found = measured(path, INTEGRITY, *others, **options)
            assert facts_to_bytes(found.facts["integrity"]) == facts_to_bytes(alone)


class TestFrames:
    def test_one_decode_serves_every_family(self, studio: Any) -> None:
        with open_clip(studio.a_mp4()) as clip:
            watched = Watched(clip)
            measured(watched, INTEGRITY, sums("a"), sums("b"), sampling())
        assert watched.passes == ["all"]
        assert watched.given == 60

    def test_every_family_is_given_its_own_frames_in_order(self, studio: Any) -> None:
        found = measured(studio.a_mp4(), sums(), sampling(every=7))
        everything = [index for batch in BATCHES["sums"] for index in batch]
        assert everything == list(range(60))
        assert [i for batch in BATCHES["sampled"] for i in batch] == list(range(0, 60, 7))
        whole, part = found.facts["sums"].series, found.facts["sampled"].series
        assert part.total.tolist() == whole.total[::7].tolist()
        assert part.time_s.tolist() == pytest.approx([k / 30 for k in range(0, 60, 7)])

    def test_if_all_sample_only_the_union_is_read(self, studio: Any) -> None:
        with open_clip(studio.a_mp4()) as clip:
            watched = Watched(clip)
            found = measured(watched, sampling("tens", 10), sampling("fifteens", 15))
        assert watched.passes == [sorted({*range(0, 60, 10), *range(0, 60, 15)})]
        assert found.facts["fifteens"].series.index.tolist() == [0, 15, 30, 45]
        with open_clip(studio.a_mp4()) as clip:
            whole = measured(clip, sums()).facts["sums"].series.total
        assert found.facts["tens"].series.total.tolist() == whole[::10].tolist()

    def test_sums_are_those_of_the_array(self) -> None:
        clip = np.random.default_rng(1).integers(0, 256, (21, 8, 12, 3), np.uint8)
        found = measured(clip, sums()).facts["sums"]
        assert found.series.total.tolist() == clip.sum(axis=(1, 2, 3), dtype=int).tolist()


class TestBatches:
    def test_no_facts_depend_on_how_frames_are_batched(
        self, studio: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        results = []
        for most in (1, 3, 8):
            monkeypatch.setattr(one_pass, "_BATCH_DECODED", most)
            found = measured(studio.a_mp4(), INTEGRITY, sums(), sampling())
            results.append({name: facts_to_bytes(facts) for name, facts in found.facts.items()})
            assert max(map(len, BATCHES["sums"])) == most
            forget()
        assert results[0] == results[1] == results[2]

    def test_no_facts_depend_on_the_threads(
        self, studio: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(compute, "usable_cpus", lambda: 8)
        results = [
            {
                name: facts_to_bytes(facts)
                for name, facts in measured(
                    studio.a_mp4(), INTEGRITY, sums(), threads=threads
                ).facts.items()
            }
            for threads in (1, 2, 8)
        ]
        assert results[0] == results[1] == results[2]

    @pytest.mark.parametrize(("budget", "most"), [(1, 1), (3 * 320 * 240 * 3 // 2, 3)])
    def test_decoded_frames_of_a_batch_stay_within_its_bytes(
        self, budget: int, most: int, studio: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(one_pass, "_BATCH_BYTES", budget)
        measured(studio.a_mp4(), sums())
        assert max(map(len, BATCHES["sums"])) == most

    def test_frames_of_an_array_come_sixteen_at_a_time(self) -> None:
        measured(np.zeros((40, 8, 8, 3), np.uint8), sums())
        assert [len(batch) for batch in BATCHES["sums"]] == [16, 16, 8]

    def test_memory_does_not_grow_with_the_length(self) -> None:
        """Frames that are made for the pass, here by narrowing float64, are let go again."""
        most = 0
        alive: list[weakref.ref[Any]] = []
        family = sums()

        def begin(said: Any) -> Any:
            accumulator = family.begin(said)
            push = accumulator.push_many

            def counting(frames: Sequence[Frame]) -> None:
                nonlocal most
                alive.extend(weakref.ref(frame.planes[0]) for frame in frames)
                most = max(most, sum(one() is not None for one in alive))
                push(frames)

            accumulator.push_many = counting  # type: ignore[method-assign]
            return accumulator

        measured(np.zeros((200, 8, 8, 3)), replace(family, begin=begin))
        assert len(alive) == 200
        assert most <= 16 + 1


class TestRefusals:
    def test_a_family_that_refuses_a_frame_is_named_and_fed_no_more(self, studio: Any) -> None:
        found = measured(studio.a_mp4(), sums("bad", refuse_at=20), sums("good"))
        assert set(found.facts) == {"good"}
        assert found.refused["bad"].message == "frame 20 holds NaN"
        assert 20 in BATCHES["bad"][-1]
        assert BATCHES["good"][-1][-1] == 59
        alone = measured(studio.a_mp4(), sums("good")).facts["good"]
        assert facts_to_bytes(found.facts["good"]) == facts_to_bytes(alone)

    def test_decoding_ends_where_nobody_listens_any_more(self, studio: Any) -> None:
        with open_clip(studio.a_mp4()) as clip:
            watched = Watched(clip)
            found = measured(watched, sums("a", refuse_at=5), sums("b", refuse_at=9))
        assert set(found.refused) == {"a", "b"}
        assert watched.given < 30
        assert not [t for t in threading.enumerate() if t.name == "screentest-decode"]

    def test_an_error_of_the_source_is_raised(self, studio: Any) -> None:
        with open_clip(studio.a_mp4()) as clip, pytest.raises(MediaError, match="the disk is gone"):
            measured(Watched(clip, fail_at=33), INTEGRITY, sums())
        assert not [t for t in threading.enumerate() if t.name == "screentest-decode"]

    def test_values_outside_the_range_said_are_the_sources_fault(self) -> None:
        clip = np.full((4, 16, 16, 3), 200.0, np.float32)
        with pytest.raises(MediaError, match="value_range") as caught:
            measured(clip, sums(), INTEGRITY)
        assert caught.value.code == "value_out_of_range"

    def test_a_nan_costs_the_family_that_refuses_it_and_no_other(self) -> None:
        clip = np.full((4, 16, 16, 3), 0.25, np.float32)
        clip[2, 3, 4] = np.nan
        found = measured(clip, INTEGRITY, sums("bad", refuse_at=2))
        assert found.facts["integrity"].non_finite_first == (2, 3, 4)
        assert "frame 2" in found.refused["bad"].message

    def test_a_family_without_its_extra_is_named_and_not_begun(self) -> None:
        clip = np.zeros((4, 16, 16, 3), np.uint8)
        absent = sums("absent", missing=lambda: 'install "screentest[flow]"')
        found = measured(clip, absent, sums())
        assert isinstance(found.refused["absent"], MissingBackendError)
        assert "absent" not in BATCHES
        assert set(found.facts) == {"sums"}

    def test_a_wrong_option_is_the_callers_fault(self) -> None:
        with pytest.raises(InputError, match="depth='some'"):
            measured(np.zeros((4, 16, 16, 3), np.uint8), INTEGRITY, integrity={"depth": "some"})

    def test_a_fault_of_the_program_is_no_refusal(self) -> None:
        def broken(_begin: Any) -> Any:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            measured(np.zeros((4, 8, 8, 3), np.uint8), replace(sums(), begin=broken))


def halved(facts: SumFacts) -> SumFacts:
    if facts.series.total[0] == 0:
        raise MediaError("nothing to halve")
    return facts


class TestDerivedFamilies:
    FAMILY = sums("halves", derive=halved, derived_from="sums")

    def test_where_its_source_is_measured_it_is_given_no_frames(self) -> None:
        clip = np.ones((4, 8, 8, 3), np.uint8)
        found = measured(clip, self.FAMILY, sums())
        assert list(found.facts) == ["halves", "sums"]
        assert "halves" not in BATCHES
        assert found.facts["halves"] == found.facts["sums"]

    def test_alone_it_reads_the_frames_itself(self) -> None:
        measured(np.ones((4, 8, 8, 3), np.uint8), self.FAMILY)
        assert BATCHES["halves"] == [[0, 1, 2, 3]]

    def test_it_is_refused_with_its_source_and_for_what_it_refuses_itself(self) -> None:
        refusing = sums("sums", refuse_at=1)
        found = measured(np.ones((4, 8, 8, 3), np.uint8), self.FAMILY, refusing)
        assert found.refused["halves"] is found.refused["sums"]
        found = measured(np.zeros((4, 8, 8, 3), np.uint8), self.FAMILY, sums())
        assert found.refused["halves"].message == "nothing to halve"

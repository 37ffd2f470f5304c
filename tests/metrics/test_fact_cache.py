"""The folder of facts: never wrong, whoever writes and whoever is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from screentest import files
from screentest.errors import InputError
from screentest.media.content import content_of_file
from screentest.metrics.fact_cache import FactCache
from screentest.metrics.integrity import IntegrityFacts, measure_integrity
from screentest.metrics.integrity.family import FAMILY
from tests.made_families import sums

OPTIONS = {"depth": "full"}


@pytest.fixture(scope="module")
def facts() -> IntegrityFacts:
    return measure_integrity(np.random.default_rng(1).integers(0, 256, (6, 32, 48, 3), np.uint8))


@pytest.fixture
def cache(tmp_path: Path) -> FactCache:
    return FactCache(tmp_path / "facts")


def key_of(cache: FactCache, data: bytes = b"film", **options: object) -> str:
    return cache.key(content_of_file(data, {}), FAMILY, {**OPTIONS, **options})


def get(
    cache: FactCache, key: str, facts: IntegrityFacts
) -> tuple[IntegrityFacts | None, list[str]]:
    notes: list[str] = []
    return cache.get(key, FAMILY, facts.clip.source, notes), notes


def put(cache: FactCache, key: str, facts: IntegrityFacts) -> Path:
    notes: list[str] = []
    cache.put(key, facts, notes)
    assert notes == []
    return cache.path(key)


class TestEntries:
    def test_what_was_put_is_got_and_nothing_else(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        key = key_of(cache)
        assert get(cache, key, facts) == (None, [])
        path = put(cache, key, facts)
        assert get(cache, key, facts) == (facts, [])
        assert get(cache, key_of(cache, b"other"), facts) == (None, [])
        assert path.relative_to(cache.folder).parts == (key[:2], key[2:4], f"{key}.facts")
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_a_key_names_everything_that_a_number_depends_on(self, cache: FactCache) -> None:
        content = content_of_file(b"film", {})
        keys = {
            cache.key(content, FAMILY, OPTIONS),
            cache.key(content, FAMILY, {"depth": "sampled"}),
            cache.key(content, sums(), {}),
            cache.key(content, sums("others"), {}),
            cache.key(content_of_file(b"filn", {}), FAMILY, OPTIONS),
            cache.key(content_of_file(b"film", {"frame_rate": 24}), FAMILY, OPTIONS),
        }
        assert len(keys) == 6
        assert cache.key(content, replace(FAMILY, impl="integrity/2"), OPTIONS) not in keys
        assert cache.key(content, FAMILY, dict(OPTIONS)) in keys

    def test_facts_bear_the_name_that_they_are_asked_for_under(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        key = key_of(cache)
        put(cache, key, facts)
        again = cache.get(key, FAMILY, "new/name.mp4", [])
        assert again is not None
        assert again.clip.source == "new/name.mp4"
        assert again.series == facts.series


class TestDamage:
    @pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.999])
    def test_a_truncated_entry_is_none_is_told_and_is_replaced(
        self, share: float, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        key = key_of(cache)
        path = put(cache, key, facts)
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])
        found, notes = get(cache, key, facts)
        assert found is None
        assert len(notes) == 1
        assert str(path) in notes[0]
        assert "measured anew" in notes[0]
        put(cache, key, facts)
        assert get(cache, key, facts) == (facts, [])

    def test_a_flipped_bit_anywhere_is_a_miss(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        key = key_of(cache)
        path = put(cache, key, facts)
        data = path.read_bytes()
        for at in range(0, len(data), 11):
            altered = bytearray(data)
            altered[at] ^= 4
            path.write_bytes(altered)
            assert get(cache, key, facts)[0] is None, at

    def test_an_entry_under_another_ones_name_is_a_miss(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        first, second = key_of(cache), key_of(cache, b"other")
        data = put(cache, first, facts).read_bytes()
        cache.path(second).parent.mkdir(parents=True)
        cache.path(second).write_bytes(data)
        found, notes = get(cache, second, facts)
        assert found is None
        assert "not the entry that its name says" in notes[0]

    def test_facts_of_another_family_are_a_miss(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        key = key_of(cache)
        put(cache, key, facts)
        notes: list[str] = []
        assert cache.get(key, sums(), "a", notes) is None
        assert "they hold IntegrityFacts, not SumFacts" in notes[0]

    def test_a_folder_in_the_place_of_an_entry_costs_no_measurement(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        key = key_of(cache)
        cache.path(key).mkdir(parents=True)
        found, notes = get(cache, key, facts)
        cache.put(key, facts, notes)
        assert found is None
        assert len(notes) == 2
        assert "not kept" in notes[1]

    def test_what_a_dead_writer_left_goes_with_the_next_write(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        key = key_of(cache)
        path = put(cache, key, facts)
        left = path.parent / f".screentest-{files._machine()}-999999999-00000000.tmp"
        left.write_bytes(b"torn")
        put(cache, key, facts)
        assert not left.exists()

    def test_a_folder_that_cannot_be_is_refused_in_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        for place in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(InputError, match="not a folder that facts can be kept in"):
                FactCache(place)

    def test_a_folder_that_was_deleted_meanwhile_is_made_again(
        self, cache: FactCache, facts: IntegrityFacts
    ) -> None:
        cache.folder.rmdir()
        key = key_of(cache)
        assert get(cache, key, facts) == (None, [])
        put(cache, key, facts)
        assert get(cache, key, facts) == (facts, [])


WRITER = """
import sys
import numpy as np
from screentest.media.content import content_of_file
from screentest.metrics.fact_cache import FactCache
from screentest.metrics.integrity import measure_integrity
from screentest.metrics.integrity.family import FAMILY
cache, seed = FactCache(sys.argv[1]), int(sys.argv[2])
clips = [np.full((4, 16, 16, 3), 10 * n, np.uint8) for n in range(8)]
facts = [measure_integrity(clip) for clip in clips]
keys = [cache.key(content_of_file(bytes([n]), {}), FAMILY, {"depth": "full"}) for n in range(8)]
order = np.random.default_rng(seed)
print("ready", flush=True)
while True:
    for n in order.permutation(8).tolist():
        notes = []
        found = cache.get(keys[n], FAMILY, facts[n].clip.source, notes)
        assert found is None or found == facts[n], n
        assert not notes, notes
        cache.put(keys[n], facts[n], notes)
        assert not notes, notes
"""


def test_writers_and_readers_side_by_side_and_killed_leave_nothing_wrong(tmp_path: Path) -> None:
    """Three processes write and read the same eight entries and are killed at any moment, three
    times over; a reader among them would have ended with an error."""
    pick = random.Random(0)
    for turn in range(3):
        running = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path), str(3 * turn + n)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for n in range(3)
        ]
        try:
            for process in running:
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
            time.sleep(0.3 + pick.random() * 0.3)
        finally:
            for process in running:
                os.kill(process.pid, signal.SIGKILL)
        for process in running:
            errors = process.communicate()[1]
            assert process.returncode == -signal.SIGKILL, errors.decode()
    cache = FactCache(tmp_path)
    for n in range(8):
        clip = np.full((4, 16, 16, 3), 10 * n, np.uint8)
        facts = measure_integrity(clip)
        key = cache.key(content_of_file(bytes([n]), {}), FAMILY, OPTIONS)
        assert get(cache, key, facts) == (facts, [])

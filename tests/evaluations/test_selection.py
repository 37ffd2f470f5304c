"""The choice of samples: stable, and nobody's business but the samples' own."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.errors import InputError
from screentest.evaluations import selection
from screentest.evaluations.layout import Place
from screentest.evaluations.selection import choose, environment_shard, parse_shard, share


@dataclass(frozen=True)
class Sample:
    place: Place


def samples(keys: list[str]) -> list[Sample]:
    return [Sample(Place(f"{key}/0", "default", key)) for key in keys]


def keys(chosen: list[Sample]) -> list[str]:
    return [one.place.key for one in chosen]


NAMES = st.lists(st.text("abcdef/ ü", min_size=1, max_size=6), unique=True, max_size=30)


def test_all_samples_in_order_by_default() -> None:
    assert keys(choose(samples(["b", "a", "c"]), label="x")) == ["a", "b", "c"]


@given(NAMES, st.integers(1, 12), st.randoms())
def test_the_choice_is_the_n_smallest_ranks_whatever_the_order(
    names: list[str], count: int, random: object
) -> None:
    shuffled = list(names)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one = keys(choose(samples(names), label="x", num_samples=count))
    assert one == keys(choose(samples(shuffled), label="x", num_samples=count))
    smallest = sorted(names, key=lambda key: selection.rank("x", 42, key))[:count]
    assert sorted(one) == sorted(smallest)


@given(NAMES.filter(lambda names: len(names) > 1), st.integers(1, 12))
def test_a_sample_that_is_added_changes_the_choice_by_its_own_rank_alone(
    names: list[str], count: int
) -> None:
    *before, added = names
    old = set(keys(choose(samples(before), label="x", num_samples=count)))
    new = set(keys(choose(samples(names), label="x", num_samples=count)))
    assert new - old <= {added}
    assert len(old - new) <= 1


def test_label_and_seed_change_the_choice() -> None:
    names = [f"k{i}" for i in range(200)]
    picks = {
        (label, seed): tuple(keys(choose(samples(names), label=label, seed=seed, num_samples=20)))
        for label in ("a", "b")
        for seed in (42, 43)
    }
    assert len(set(picks.values())) == 4


def test_every_key_is_as_likely_as_the_next() -> None:
    """200 keys, 100 seeds, 20 of 200 each: 10 expected, standard deviation 3."""
    names = [f"k{i}" for i in range(200)]
    counts = dict.fromkeys(names, 0)
    for seed in range(100):
        for key in keys(choose(samples(names), label="x", seed=seed, num_samples=20)):
            counts[key] += 1
    assert sum(counts.values()) == 2000
    assert max(counts.values()) < 10 + 5 * 3


def test_the_rank_is_a_hash_keyed_by_label_and_seed() -> None:
    secret = hashlib.blake2b(b"42\0robots").digest()
    expected = hashlib.blake2b(b"lift", digest_size=16, key=secret).digest()
    assert selection.rank("robots", 42, "lift") == expected


def test_first_takes_the_leading_by_name() -> None:
    chosen = choose(samples(["d", "b", "a", "c"]), label="x", num_samples=2, strategy="first")
    assert keys(chosen) == ["a", "b"]


def test_stride_comes_before_the_number() -> None:
    names = [f"k{i}" for i in range(10)]
    assert keys(choose(samples(names), label="x", stride=3)) == ["k0", "k3", "k6", "k9"]
    first = choose(samples(names), label="x", stride=3, num_samples=2, strategy="first")
    assert keys(first) == ["k0", "k3"]
    chosen = choose(samples(names), label="x", stride=3, num_samples=2)
    assert len(chosen) == 2
    assert set(keys(chosen)) <= {"k0", "k3", "k6", "k9"}


@pytest.mark.parametrize(
    ("number", "strategy", "stride"), [(0, "first", 1), (None, "random", 1), (None, "first", 0)]
)
def test_a_choice_that_makes_no_sense_is_refused(
    number: int | None, strategy: str, stride: int
) -> None:
    with pytest.raises(InputError, match="expected"):
        selection.check_choice(number, strategy, stride)


@given(st.integers(0, 40), st.integers(1, 9))
def test_shards_split_the_list_without_overlap(length: int, count: int) -> None:
    parts = [share(list(range(length)), (index, count)) for index in range(count)]
    assert sorted(itertools.chain(*parts)) == list(range(length))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["", "1", "2/2", "-1/2", "a/b", "1/0", "1/2/3", "١/2"])
def test_a_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="I from 0 to N-1"):
        parse_shard(text)


@pytest.mark.parametrize("shard", [(2, 2), (-1, 2), (0, 0)])
def test_a_shard_out_of_its_range_is_refused_from_python_too(shard: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="expected I/N"):
        share("abc", shard)


def test_the_environment_of_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert environment_shard() is None
    monkeypatch.setenv("RANK", "3")
    assert environment_shard() == (3, 4)
    monkeypatch.setenv("RANK", "4")
    with pytest.raises(InputError, match="RANK=4 WORLD_SIZE=4"):
        environment_shard()

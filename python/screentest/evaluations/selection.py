"""Which samples of a group are scored, and which of those by this shard.

The choice never looks at how a folder happens to be listed. ``deterministic_random`` ranks each
sample by a hash of its key, keyed by (label, seed), and takes the smallest: a sample that is added
changes the choice through its own rank alone. ``first`` takes the leading samples by name.

``sample_stride`` comes before either: every K-th of the group's samples sorted by place, from
the first. It counts places, so a sample that is added moves those behind it; for a subset that
stays, give a number of samples and no stride.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, TypeVar

from screentest.errors import InputError
from screentest.evaluations.layout import Place

__all__ = ["Shard", "Strategy", "check_choice", "choose", "environment_shard", "parse_shard",
           "rank", "share"]  # fmt: skip

Strategy: TypeAlias = Literal["deterministic_random", "first"]
Shard: TypeAlias = tuple[int, int]
"""(index from 0, number of shards)."""


class _Placed(Protocol):
    @property
    def place(self) -> Place: ...


_T = TypeVar("_T")
_P = TypeVar("_P", bound=_Placed)


def rank(label: str, seed: int, key: str) -> bytes:
    """The rank of a sample: 16 bytes that depend on the label, the seed and its key alone.

    >>> rank("robots", 42, "lift_03").hex() == rank("robots", 42, "lift_03").hex()
    True
    """
    secret = hashlib.blake2b(f"{seed}\0{label}".encode(errors="surrogateescape")).digest()
    return hashlib.blake2b(os.fsencode(key), digest_size=16, key=secret).digest()


def choose(
    samples: Sequence[_P],
    *,
    label: str,
    num_samples: int | None = None,
    strategy: Strategy = "deterministic_random",
    seed: int = 42,
    stride: int = 1,
) -> list[_P]:
    """The samples of one group that are scored, sorted by place."""
    ordered = sorted(samples, key=_by_place)[::stride]
    if num_samples is None or num_samples >= len(ordered):
        return ordered
    if strategy == "deterministic_random":
        # Outputs of one key share a rank; their places settle which comes first.
        ordered.sort(key=lambda one: (rank(label, seed, one.place.key), _by_place(one)))
    return sorted(ordered[:num_samples], key=_by_place)


def check_choice(num_samples: int | None, strategy: str, stride: int) -> None:
    """Refuses numbers below 1 and an unknown strategy."""
    for name, value in (("num_samples", num_samples), ("sample_stride", stride)):
        if value is not None and (type(value) is not int or value < 1):
            raise InputError(f"{name}={value!r}: a whole number of at least 1 was expected")
    if strategy not in ("deterministic_random", "first"):
        raise InputError(
            f"sample_selection_strategy={strategy!r}: 'deterministic_random' or 'first' was "
            "expected",
            code="bad_strategy",
        )


def share(samples: Sequence[_T], shard: Shard | None) -> list[_T]:
    """This shard's part of a sorted list: every N-th, from its own index on.

    >>> share("abcdefg", (1, 3))
    ['b', 'e']
    """
    if shard is None:
        return list(samples)
    index, count = shard
    if not 0 <= index < count:
        raise _bad_shard(f"{index}/{count}")
    return list(samples[index::count])


def parse_shard(text: str) -> Shard:
    """``"I/N"`` as (I, N); I counts from 0, as torchrun's RANK does.

    >>> parse_shard("0/4")
    (0, 4)
    """
    index, slash, count = text.partition("/")
    if not slash:
        raise _bad_shard(text)
    return _checked(index.strip(), count.strip(), text)


def environment_shard() -> Shard | None:
    """(RANK, WORLD_SIZE) as torchrun sets them; ``None`` unless both are set."""
    index, count = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
    if not index or not count:
        return None
    return _checked(index.strip(), count.strip(), f"RANK={index} WORLD_SIZE={count}")


def _checked(index: str, count: str, said: str) -> Shard:
    for part in (index, count):
        if not (part.isascii() and part.isdigit()):
            raise _bad_shard(said)
    if int(index) >= int(count):
        raise _bad_shard(said)
    return int(index), int(count)


def _bad_shard(said: str) -> InputError:
    return InputError(
        f"shard {said!r}: expected I/N with I from 0 to N-1, such as 0/4", code="bad_shard"
    )


def _by_place(sample: _Placed) -> bytes:
    return os.fsencode(sample.place.folder)

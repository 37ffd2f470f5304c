"""Facts as bytes and back: nothing is lost, and nothing that was altered is taken."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from screentest.errors import SchemaError
from screentest.metrics.integrity import IntegrityFacts, measure_integrity
from screentest.metrics.stored import SCHEMA, facts_from_bytes, facts_to_bytes


@dataclass(frozen=True, eq=False)
class Paths:
    """As trajectories are kept."""

    start: int
    positions: NDArray[np.float32]
    alive: NDArray[np.int32]
    jitter: NDArray[np.float64] | None


class Window(msgspec.Struct, frozen=True, kw_only=True):
    start: int
    coherent: float | None
    brightness: tuple[float, ...]


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    impl: str = "made/1"
    windows: tuple[Window, ...] = ()
    paths: tuple[Paths, ...] | None = None
    levels: dict[str, int] = {}


class Other(msgspec.Struct, frozen=True, kw_only=True):
    impl: str = "made/1"


@pytest.fixture(scope="module")
def facts() -> IntegrityFacts:
    clip = np.random.default_rng(3).random((8, 96, 128, 3)).astype(np.float32)
    clip[3, 5, 7] = np.nan
    return measure_integrity(clip, frame_rate=24)


def back(value: Facts) -> Facts:
    return facts_from_bytes(facts_to_bytes(value), Facts)


def test_facts_of_integrity_come_back_equal_to_the_last_bit(facts: IntegrityFacts) -> None:
    again = facts_from_bytes(facts_to_bytes(facts), IntegrityFacts)
    assert again == facts
    assert again.series.corr.tobytes() == facts.series.corr.tobytes()
    assert np.isnan(again.series.corr[0])
    assert again.series.index.dtype == np.int64
    assert facts_to_bytes(again) == facts_to_bytes(facts)


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=3, max_dims=3, min_side=0, max_side=4),
        elements=st.floats(width=32, allow_nan=True),
    ),
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5),
)
def test_arrays_come_back_with_shape_dtype_and_every_bit(
    positions: NDArray[np.float32], alive: list[int]
) -> None:
    paths = Paths(7, positions, np.array(alive, np.int32), None)
    (again,) = back(Facts(paths=(paths,))).paths or ()
    assert again.positions.shape == positions.shape
    assert again.positions.dtype == np.float32
    assert again.positions.tobytes() == positions.tobytes()
    assert again.alive.tolist() == alive
    assert (again.start, again.jitter) == (7, None)


def test_a_nan_with_a_payload_and_a_signed_zero_keep_their_bits() -> None:
    odd = np.array([struct.unpack("<d", bytes.fromhex("0100000000fcff7f"))[0], -0.0, np.inf])
    paths = Paths(0, np.zeros((1, 1, 2), np.float32), np.zeros(1, np.int32), odd)
    window = Window(start=0, coherent=-0.0, brightness=(0.1, 1 / 3))
    again = back(Facts(paths=(paths,), windows=(window,), levels={"é": 2**53}))
    assert again.paths is not None
    assert again.paths[0].jitter is not None
    assert again.paths[0].jitter.tobytes() == odd.tobytes()
    assert np.signbit(again.windows[0].coherent)
    assert again.windows[0].brightness == (0.1, 1 / 3)
    assert again.levels == {"é": 2**53}


def test_an_array_that_lies_strided_is_stored_as_it_reads() -> None:
    grid = np.arange(24, dtype=np.float32).reshape(2, 6, 2)[:, ::2]
    paths = Paths(0, grid, np.arange(4, dtype=np.int32)[::-1], None)
    (again,) = back(Facts(paths=(paths,))).paths or ()
    assert again.positions.tolist() == grid.tolist()
    assert again.alive.tolist() == [3, 2, 1, 0]


def test_what_is_read_back_can_be_written_to_as_what_was_measured() -> None:
    paths = Paths(0, np.zeros((1, 1, 2), np.float32), np.zeros(1, np.int32), None)
    (again,) = back(Facts(paths=(paths,))).paths or ()
    again.alive[0] = 3
    assert again.alive.tolist() == [3]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.99])
def test_bytes_that_were_cut_short_are_refused(share: float, facts: IntegrityFacts) -> None:
    data = facts_to_bytes(facts)
    with pytest.raises(SchemaError, match="no stored facts"):
        facts_from_bytes(data[: int(len(data) * share)], IntegrityFacts)


def test_any_bit_that_was_flipped_and_any_byte_more_is_refused(facts: IntegrityFacts) -> None:
    data = facts_to_bytes(facts)
    for at in range(0, len(data), 7):
        altered = bytearray(data)
        altered[at] ^= 1 << (at % 8)
        with pytest.raises(SchemaError):
            facts_from_bytes(bytes(altered), IntegrityFacts)
    with pytest.raises(SchemaError):
        facts_from_bytes(data + b"\0", IntegrityFacts)


def test_another_version_and_another_kind_are_refused_by_name(facts: IntegrityFacts) -> None:
    data = facts_to_bytes(facts)
    later = data.replace(SCHEMA.encode(), b"screentest/facts@9", 1)
    with pytest.raises(SchemaError, match="do not begin with 'screentest/facts@1'"):
        facts_from_bytes(later, IntegrityFacts)
    with pytest.raises(SchemaError, match="they hold Other, not Facts"):
        facts_from_bytes(facts_to_bytes(Other()), Facts)


def test_an_array_of_another_dtype_than_the_facts_name_is_refused() -> None:
    paths = Paths(0, np.zeros((1, 1, 2), np.float64), np.zeros(1, np.int32), None)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="an array of float64, where float32 was expected"):
        back(Facts(paths=(paths,)))


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([object()]), object()])
def test_what_cannot_be_stored_is_a_fault_of_the_family(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be stored"):
        facts_to_bytes(Facts(paths=(Paths(0, value, value, None),)))

"""Mutated reports, from the seeds of the fuzz target: each holds true or is refused by type."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screentest.reports import canonical
from tests.fuzz.report_input import check, resealed, seeds

SEEDS = seeds()
DOCUMENTS = [canonical.loads(seed) for seed in SEEDS]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_holds_true(seed):
    assert check(seed)


def places(value, path=()):
    """The path of every value in plain data."""
    yield path
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    for key in keys:
        yield from places(value[key], (*path, key))


PLACES = [(at, path) for at, document in enumerate(DOCUMENTS) for path in places(document) if path]

ANYTHING = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-9e15, 9e15)
    | st.sampled_from((0, -1, 1, 1e-300, 9e15, "", "pass", "psnr", "psnr_mean", "imaging", [], {}))
    | st.text(max_size=8)
    | st.lists(st.integers(-2, 9), max_size=3)
    | st.dictionaries(st.text(max_size=4), st.floats(-10, 10), max_size=3)
)


@settings(max_examples=400)
@given(place=st.sampled_from(PLACES), value=ANYTHING, drop=st.booleans())
def test_anything_in_any_place_holds_true_or_is_refused(place, value, drop):
    at, (*path, last) = place
    document = copy.deepcopy(DOCUMENTS[at])
    holder = document
    for part in path:
        holder = holder[part]
    if drop:
        del holder[last]
    else:
        holder[last] = value
    check(canonical.dumps(document))


@settings(max_examples=100)
@given(places=st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)))
def test_a_part_in_the_place_of_another_holds_true_or_is_refused(places):
    (at, (*path, last)), (other, source) = places
    document = copy.deepcopy(DOCUMENTS[at])
    holder, part = document, DOCUMENTS[other]
    for key in path:
        holder = holder[key]
    for key in source:
        part = part[key]
    holder[last] = copy.deepcopy(part)
    check(canonical.dumps(document))


@settings(max_examples=150)
@given(st.data())
def test_bytes_cut_out_or_put_in_are_refused_or_hold_true(data):
    seed = data.draw(st.sampled_from(SEEDS))
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, min(len(seed), start + 60)))
    changed = seed[:start] + data.draw(st.binary(max_size=20)) + seed[end:]
    check(changed)
    check(resealed(changed))

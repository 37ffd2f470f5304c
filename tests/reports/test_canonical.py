"""Canonical bytes and atomic writes."""

from __future__ import annotations

import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.errors import SchemaError
from screentest.reports.canonical import dumps, printable


def test_the_vector_of_the_specification_has_its_digest() -> None:
    import hashlib

    document = {"b": [1, 2.50, 1e-7, True, None], "a": "é\n", "😀": 1, "～": 2}
    expected = '{"a":"é\\n","b":[1,2.5,1e-7,true,null],"😀":1,"～":2}'
    assert dumps(document) == expected.encode()
    two = {key: document[key] for key in ("b", "a")}
    assert hashlib.sha256(dumps(two)).hexdigest() == (
        "c8b4b7dbe5b4263bc256854f15958e98a0f53d08438089e69d14253f35dddc5a"
    )


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_non_finite_number_is_refused_by_type(number: float) -> None:
    with pytest.raises(SchemaError) as refusal:
        dumps({"value": [number]})
    assert refusal.value.code == "non_finite_number"


@pytest.mark.parametrize("document", [{"a": "\ud800"}, {"a": 2**60}, {"a": {1, 2}}, {1: 2}])
def test_what_json_cannot_carry_is_refused_by_type(document: object) -> None:
    with pytest.raises(SchemaError):
        dumps(document)


@given(st.binary(max_size=40))
def test_any_file_name_becomes_text_that_can_be_encoded(name: bytes) -> None:
    text = printable(os.fsdecode(name))
    assert dumps({"source": text})


def test_a_valid_name_is_left_alone() -> None:
    assert printable("Söder 100 %.mp4") == "Söder 100 %.mp4"

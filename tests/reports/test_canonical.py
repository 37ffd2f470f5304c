"""Canonical bytes and atomic writes."""

from __future__ import annotations

import json
import math
import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.errors import SchemaError
from screentest.reports.canonical import digest, dumps, loads, one_line, printable


def test_the_golden_vector_is_written_and_read() -> None:
    document = {"b": [1, 2.50, 1e-7, True, None], "a": "é\n", "😀": 1, "～": 2}
    expected = '{"a":"é\\n","b":[1,2.5,1e-7,true,null],"😀":1,"～":2}'
    assert dumps(document) == expected.encode()
    assert loads(expected.encode()) == document


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


@pytest.mark.parametrize("document", ['{"a": "b', '{"a": ', "{", '{"a": 1', "[1,\n"])
def test_a_document_that_was_cut_short_is_told_as_one(document: str) -> None:
    with pytest.raises(SchemaError, match="was cut short") as told:
        loads(document.encode())
    assert told.value.code == "bad_json"


@pytest.mark.parametrize(
    ("document", "said"),
    [("<html>", "no JSON at character 0 of 6: expecting value"), (" \n", "empty, where a JSON")],
)
def test_what_never_was_json_is_not_called_cut_short(document: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        loads(document.encode())


def test_a_valid_name_is_left_alone() -> None:
    assert printable("Söder 100 %.mp4") == "Söder 100 %.mp4"


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"body": [{"psnr": math.nan}]}, "body[0].psnr: nan"),
        ({"a": {"b": [0, math.inf]}}, "a.b[1]: inf"),
        ({"a": {"b": 1e300}}, "a.b: a number beyond 2**53 - 1"),
        ({"a": [2**53]}, "a[0]: a number beyond 2**53 - 1"),
        ({"a": {"b\n": "\udc00"}}, "a.b\\n: '\\udc00' has a lone surrogate"),
        ({"a": {"b": b"c"}}, "a.b: a bytes is nothing that JSON has"),
        ({"a": {1: 2}}, "a: key int is no text"),
    ],
)
def test_a_refusal_names_the_place_in_one_line(document: object, place: str) -> None:
    with pytest.raises(SchemaError) as refusal:
        dumps(document)
    assert place in refusal.value.message
    assert "\n" not in refusal.value.message


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1.0, b"1"),
        (-0.0, b"0"),
        (1e-7, b"1e-7"),
        (1e-6, b"0.000001"),
        (0.1 + 0.2, b"0.30000000000000004"),
        (5e-324, b"5e-324"),
        (float(2**53 - 1), b"9007199254740991"),
        (-(2**53 - 1), b"-9007199254740991"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(number: float, written: bytes) -> None:
    assert dumps(number) == written
    assert loads(written) == number


@pytest.mark.parametrize(
    ("bits", "written"),
    [
        ("8000000000000001", b"-5e-324"),
        ("3eb0c6f7a0b5ed8c", b"9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", b"0.000001"),
        ("41b3de4355555553", b"333333333.3333332"),
        ("41b3de4355555554", b"333333333.33333325"),
        ("41b3de4355555555", b"333333333.3333333"),
        ("41b3de4355555556", b"333333333.3333334"),
        ("41b3de4355555557", b"333333333.33333343"),
        ("becbf647612f3696", b"-0.0000033333333333333333"),
        ("43143ff3c1cb0959", b"1424953923781206.2"),
    ],
)
def test_the_samples_of_rfc_8785_appendix_b_are_written_so(bits: str, written: bytes) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert dumps(number) == written


@pytest.mark.parametrize("bits", ["4340000000000000", "444b1ae4d6e2ef50", "44b52d02c7e14af6"])
def test_those_beyond_what_every_reader_has_are_refused(bits: str) -> None:
    with pytest.raises(SchemaError, match=r"2\*\*53 - 1"):
        dumps(struct.unpack(">d", bytes.fromhex(bits))[0])


def test_keys_are_sorted_by_their_utf_16_as_in_rfc_8785() -> None:
    keys = ["\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(loads(dumps(dict.fromkeys(reversed(keys), 0)))) == keys


def test_nesting_that_no_document_has_is_refused_in_both_directions() -> None:
    deep: list[object] = []
    for _ in range(64):
        deep = [deep]
    for attempt in (
        lambda: dumps(deep),
        lambda: loads(b"[" * 65 + b"]" * 65),
        lambda: loads(b"[" * 1_000_000),
        lambda: loads(b'{"a":' * 1_000_000),
    ):
        with pytest.raises(SchemaError) as refusal:
            attempt()
        assert refusal.value.code == "too_deep"
    assert loads(dumps(deep[0])) == deep[0]


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(SchemaError):
        dumps(endless)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "bad_json"),
        (b"{", "bad_json"),
        (b"1 2", "bad_json"),
        (b"[1,]", "bad_json"),
        (b"{'a':1}", "bad_json"),
        (b"01", "bad_json"),
        (b"+1", "bad_json"),
        (b".5", "bad_json"),
        (b'"a\nb"', "bad_json"),
        (b"\xef\xbb\xbf{}", "bad_json"),
        (b"nan", "bad_json"),
        (b"\x00", "bad_json"),
        (b"NaN", "bad_number"),
        (b"[-Infinity]", "bad_number"),
        (b"1e400", "bad_number"),
        (b"-1e16", "bad_number"),
        (b"9007199254740992", "bad_number"),
        (b"1" * 5000, "bad_number"),
        (b'{"a":1,"b":2,"a":1}', "duplicate_key"),
        (b'[{"a":{"b":1,"b":1}}]', "duplicate_key"),
        (b'{"a":1,"\\u0061":1}', "duplicate_key"),
        (b"\xff", "not_utf8"),
        (b'"\xed\xa0\x80"', "not_utf8"),
        (b'"\xc0\xaf"', "not_utf8"),
        (b'"\\ud800"', "not_canonical"),
        (b'{"\\udfff":1}', "not_canonical"),
        (b'"\\udc00\\ud800"', "not_canonical"),
    ],
)
def test_what_readers_would_read_differently_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(SchemaError) as refusal:
        loads(data)
    assert refusal.value.code == code
    assert "\n" not in refusal.value.message
    assert len(refusal.value.message) < 300


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert loads(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-9e15, 9e15)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(DOCUMENTS)
def test_any_document_comes_back_and_its_bytes_are_the_only_ones(document: object) -> None:
    data = dumps(document)
    assert loads(data) == document
    assert dumps(loads(data)) == data
    # The standard library reads the same.
    assert json.loads(data) == document


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_a_document_or_are_refused_by_type(data: bytes) -> None:
    try:
        document = loads(data)
    except SchemaError:
        return
    assert loads(dumps(document)) == document
    assert json.loads(data) == document


def test_the_golden_digest() -> None:
    two = {"b": [1, 2.50, 1e-7, True, None], "a": "é\n"}
    assert digest(dumps(two)) == (
        "sha256:c8b4b7dbe5b4263bc256854f15958e98a0f53d08438089e69d14253f35dddc5a"
    )


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "\u2028", "\udcff", "\u202e"])
def test_one_line_is_printable_whatever_the_text(text: str) -> None:
    assert one_line(f"x{text}y").isprintable()

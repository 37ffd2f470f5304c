"""Checklists as documents."""

import hashlib
import json
import math
import pickle

import pytest

from screentest.errors import InputError
from screentest.metrics.audio_content import (
    Checklist,
    ChecklistItem,
    load_checklist,
    parse_checklist,
)

TOML = """\
name = "kitchen"

[[items]]
id = "greeting"
kind = "speech"
text = "Good morning, everyone"

[[items]]
id = "kettle"
kind = "audio-event"
question = "Is a kettle whistling?"
weight = 2
group = "background"
"""

GREETING = {"id": "greeting", "kind": "speech", "text": "Good morning, everyone"}
KETTLE = {
    "id": "kettle",
    "kind": "audio-event",
    "question": "Is a kettle whistling?",
    "weight": 2,
    "group": "background",
}
KITCHEN = {"name": "kitchen", "items": [GREETING, KETTLE]}


def with_item(**changes):
    item = {**GREETING, **changes}
    return {"name": "kitchen", "items": [KETTLE, {k: v for k, v in item.items() if v is not None}]}


def test_toml_json_and_mapping_are_the_same_checklist(tmp_path):
    (tmp_path / "a.toml").write_text(TOML)
    (tmp_path / "a.json").write_text(json.dumps(KITCHEN))
    (tmp_path / "b.JSON").write_text("\ufeff" + json.dumps(KITCHEN), "utf-8")
    read = parse_checklist(KITCHEN)
    assert load_checklist(tmp_path / "a.toml") == read
    assert load_checklist(str(tmp_path / "a.json")) == read
    assert load_checklist(tmp_path / "b.JSON") == read
    assert read.items[1] == ChecklistItem(**{**KETTLE, "weight": 2.0})
    assert read.items[0].weight == 1.0
    assert [item.asked for item in read.items] == [GREETING["text"], KETTLE["question"]]
    assert [item.id for item in read.of_kind("speech")] == ["greeting"]
    assert pickle.loads(pickle.dumps(read)) == read


def test_digest_is_that_of_the_items_in_canonical_json():
    items = [
        {"text": "", "question": "", "weight": 1.0, "group": "", **GREETING},
        {"text": "", **KETTLE, "weight": 2.0},
    ]
    canonical = json.dumps(items, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert parse_checklist(KITCHEN).sha256 == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    "changes", [{"text": "Good evening"}, {"weight": 3}, {"group": "x"}, {"id": "hello"}]
)
def test_digest_changes_with_every_field_of_an_item(changes):
    assert parse_checklist(with_item(**changes)).sha256 != parse_checklist(with_item()).sha256


def test_digest_changes_with_the_order_and_not_with_the_name():
    same = parse_checklist({**KITCHEN, "name": "other"})
    turned = parse_checklist({**KITCHEN, "items": KITCHEN["items"][::-1]})
    assert same.sha256 == parse_checklist(KITCHEN).sha256 != turned.sha256


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({**KITCHEN, "item": []}, "unknown key 'item'; did you mean 'items'?"),
        (with_item(txt="a"), "item 'greeting': unknown key 'txt'; did you mean 'text'?"),
        (with_item(colour="a"), "item 'greeting': unknown key 'colour'; known: id, kind,"),
        (with_item(id=None, txt="a"), "item 2: unknown key 'txt'"),
        (
            with_item(kind="ocr"),
            "item 'greeting': kind is 'ocr'; expected 'speech' or 'audio-event'",
        ),
        (with_item(kind=None), "item 'greeting': Object missing required field `kind`"),
        (with_item(id=None), "item 2: Object missing required field `id`"),
        (with_item(id=" "), "item 2 has an empty id"),
        (with_item(id="kettle"), "item 'kettle' is there twice"),
        (with_item(text=""), "item 'greeting': text '' has no word to listen for"),
        (with_item(text="?!"), "item 'greeting': text '?!' has no word to listen for"),
        (with_item(question="Is it?"), "item 'greeting': it has a question"),
        (with_item(kind="audio-event", text=None), "item 'greeting': question '' asks nothing"),
        (with_item(kind="audio-event", question="Is it?"), "item 'greeting': it has a text"),
        (with_item(weight=0), "item 'greeting': weight is 0; a weight is finite and above 0"),
        (with_item(weight=-1), "item 'greeting': weight is -1;"),
        (with_item(weight=math.nan), "item 'greeting': weight is nan;"),
        (with_item(weight=math.inf), "item 'greeting': weight is inf;"),
        (with_item(weight="2"), "item 'greeting': weight: Expected `float`, got `str`"),
        (with_item(weight=True), "item 'greeting': weight: Expected `float`, got `bool`"),
        ({**KITCHEN, "name": ""}, "name is empty"),
        ({"items": [GREETING]}, "Object missing required field `name`"),
        ({"name": "kitchen"}, "Object missing required field `items`"),
        ({"name": "kitchen", "items": []}, "it has no items"),
        ({"name": "kitchen", "items": "greeting"}, "items: Expected `array`, got `str`"),
        ({"name": "kitchen", "items": ["greeting"]}, "item 1: Expected `object`, got `str`"),
        ({**KITCHEN, "schema": "screentest/audio-checklist@2"}, "this version reads"),
        ([GREETING], "a list, where a table with name and items belongs"),
        ("kitchen.toml", "a str, where a table"),
    ],
)
def test_a_document_that_contradicts_itself_is_refused_in_one_line(document, says):
    with pytest.raises(InputError) as caught:
        parse_checklist(document, "list.toml")
    assert caught.value.code == "bad_checklist"
    assert says in caught.value.message
    assert caught.value.message.startswith("list.toml: ")
    assert "checklist: " not in caught.value.message
    assert "\n" not in caught.value.message


def test_a_weight_too_large_for_a_number_is_refused():
    with pytest.raises(InputError, match="greeting"):
        parse_checklist(with_item(weight=10**400))


def test_a_checklist_made_by_hand_is_held_to_the_same_rules():
    item = ChecklistItem(id="a", kind="speech", text="hello")
    with pytest.raises(InputError, match="'a' is there twice"):
        Checklist(name="twice", items=(item, item))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.toml", b"name = ", "cannot be read"),
        ("a.json", b"{", "cannot be read"),
        ("a.json", b'{"name": "a", "name": "b"}', "key 'name' is there twice"),
        ("a.json", b"[" * 100_000, "cannot be read"),
        ("a.toml", b"\xff\xfe", "not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_document_is_refused_with_its_name(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        load_checklist(tmp_path / name)
    assert str(tmp_path / name) in caught.value.message
    assert "\n" not in caught.value.message


def test_a_missing_file_stays_a_missing_file_and_a_folder_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_checklist(tmp_path / "none.toml")
    with pytest.raises(InputError, match="a folder"):
        load_checklist(tmp_path)

"""Texts as spoken words, and the words of one found in another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.metrics.audio_content.words import find_words, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Good morning, everyone!", ("good", "morning", "everyone")),
        ("  --  ...  ", ()),
        ("Don't STOP", ("dont", "stop")),
        ("don\u2019t", ("dont",)),
        ("rock 'n' roll", ("rock", "n", "roll")),
        ("check-in at 7:30", ("check", "in", "at", "7", "30")),
        ("Straße", ("strasse",)),
        ("ＡＢＣ ①", ("abc", "1")),  # NFKC
        ("cafe\u0301", ("café",)),  # a mark of its own is composed
        ("soft\u00adhyphen", ("softhyphen",)),
        ("東京タワー", tuple("東京タワー")),
        ("第3章 Tokyo駅", ("第", "3", "章", "tokyo", "駅")),
        ("ｶﾞ", ("ガ",)),  # halfwidth, with its voicing mark
        ("สวัสดี", ("ส", "วั", "ส", "ดี")),
        ("안녕 하세요", ("안녕", "하세요")),
        ("नमस्ते दुनिया", ("नमस्ते", "दुनिया")),
        ("\u0301a", ("a",)),  # a mark without a letter
        ("50% = $5", ("50", "5")),
    ],
)
def test_text_is_cut_into_the_words_that_are_spoken(text, words):
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("asked", "said", "exact"),
    [
        ("open the door", "Please, OPEN the door!", True),
        ("open the door", "open the doors", False),
        ("open the door", "reopen the door", False),
        ("open the door", "open the green door", False),
        ("open the door", "the door open", False),
        ("open the door", "", False),
        ("art", "he started", False),
        ("two", "2", False),
        ("colour", "color", False),
        ("東京", "私は東京に住む", True),
        ("東京", "東 京", True),
        ("東京", "東北京都", False),
        ("a b", "ab", False),
        ("ab", "a b", False),
    ],
)
def test_exact_means_the_whole_words_one_after_the_other(asked, said, exact):
    assert find_words(words_of(asked), words_of(said)).exact is exact


@pytest.mark.parametrize(
    ("asked", "said", "likeness", "stretch"),
    [
        # One letter of nine is another.
        ("open door", "we open moor again", 1 - 1 / 9, "open moor"),
        # "show" to "shelf": o to e, w to l, and f comes in: 3 of 19.
        ("welcome to the show", "so welcome to the shelf then", 1 - 3 / 19, "welcome to the shelf"),
        # The stretch is of whole words: "started" costs 4 of 3, so nothing comes close.
        ("art", "started", 0.0, ""),
        # "the " is left out of 8.
        ("the door", "door", 1 - 4 / 8, "door"),
        # Of stretches that cost the same, the one that ends first.
        ("東京タワー", "東京タウン", 1 - 2 / 5, "東京タ"),
        ("hello", "", 0.0, ""),
        ("hello", "xxxxx", 0.0, ""),
    ],
)
def test_likeness_is_what_is_left_of_the_asked_characters(asked, said, likeness, stretch):
    found = find_words(words_of(asked), words_of(said))
    assert not found.exact
    assert found.likeness == pytest.approx(likeness, abs=1e-12)
    assert found.stretch == stretch


def test_a_near_match_above_0_85_is_not_exact():
    found = find_words(words_of("the train leaves at seven"), words_of("the trains leave at seven"))
    assert 0.85 < found.likeness < 1.0
    assert not found.exact


def test_a_long_transcript_is_searched_to_its_end():
    said = " ".join(["nothing of the kind"] * 3000 + ["open the blue doer"])
    found = find_words(words_of("open the blue door"), words_of(said))
    assert found.stretch == "open the blue doer"
    assert found.likeness == pytest.approx(1 - 1 / 18)


SOUNDS = st.text(alphabet="abc '東ー\u0301é", max_size=12)
ANY = st.text(max_size=20)


@given(ANY)
def test_words_of_words_are_the_same_words(text):
    words = words_of(text)
    assert words_of(" ".join(words)) == words


@given(st.one_of(ANY, SOUNDS), st.one_of(ANY, SOUNDS), st.one_of(ANY, SOUNDS))
def test_what_is_said_among_other_words_is_exact_and_like(before, asked, after):
    words = words_of(asked)
    if words:
        found = find_words(words, (*words_of(before), *words, *words_of(after)))
        assert found.exact
        assert found.likeness == 1.0


def stretches(words):
    return [words[a:b] for a in range(len(words)) for b in range(a, len(words) + 1)] or [()]


def spelled(words):
    """As the module lays words out; the scripts in these tests are Latin and Chinese alone."""
    text = ""
    for previous, word in zip(("東", *words), words, strict=False):
        apart = previous[0] not in "東ー" and word[0] not in "東ー"
        text += (" " if apart else "") + word
    return text


def edit_distance(a, b):
    """Wagner and Fischer's table, in full."""
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0] = range(len(a) + 1)
    table[0, :] = range(len(b) + 1)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (x != y)
            )
    return int(table[-1, -1])


@given(SOUNDS, SOUNDS)
def test_likeness_is_that_of_the_best_of_all_stretches(asked, said):
    words, others = words_of(asked), words_of(said)
    if not words:
        return
    found = find_words(words, others)
    wanted = spelled(words)
    least = min(edit_distance(wanted, spelled(part)) for part in stretches(others))
    assert found.likeness == pytest.approx(max(0.0, 1 - least / len(wanted)), abs=1e-12)
    assert 0.0 <= found.likeness <= 1.0
    assert found.exact == (words in stretches(others))
    assert found.exact == (found.likeness == 1.0)
    if found.likeness > 0.0:
        assert found.stretch in map(spelled, stretches(others))
        assert edit_distance(wanted, found.stretch) == least

"""Texts as the words that are spoken, and how much of one is said in another.

Two texts are compared without what is not spoken: NFKC, case folded, apostrophes inside words and
invisible characters left out, everything else that is no letter, digit or their mark read as a
space. ``"Don't STOP!"`` is ``dont stop``. Nothing is inferred: ``2`` is not ``two``, ``colour`` not
``color``. Where words are written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese)
each letter counts as a word.
"""

from __future__ import annotations

import bisect
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Heard", "Text", "find_words", "words_of"]

_APOSTROPHES = frozenset("'\u2019\u02bc\uff07")

# Blocks of the scripts whose words are not set apart, by first and last code point.
_WITHOUT_SPACES = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),  # iteration mark, closing mark, zero
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3040, 0x30FF),  # hiragana, katakana
    (0x3100, 0x312F),  # bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_STARTS = [first for first, _ in _WITHOUT_SPACES]


def _stands_alone(character: str) -> bool:
    """Whether a letter of this kind is a word by itself."""
    code = ord(character)
    at = bisect.bisect_right(_STARTS, code) - 1
    return at >= 0 and code <= _WITHOUT_SPACES[at][1]


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, each in the form in which they are compared.

    >>> words_of("Don't STOP - 東京!")
    ('dont', 'stop', '東', '京')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words: list[str] = []
    is_open = False  # whether the next letter belongs to the last word
    for character in folded:
        category = unicodedata.category(character)
        if category[0] in "LN":
            alone = _stands_alone(character)
            if is_open and not alone and not _stands_alone(words[-1][0]):
                words[-1] += character
            else:
                words.append(character)
            is_open = True
        elif category[0] == "M":
            if is_open:
                words[-1] += character
        elif character not in _APOSTROPHES and category not in ("Cf", "Cn"):
            is_open = False
    return tuple(words)


@dataclass(frozen=True)
class Text:
    """Words as one run of characters, with a space between two words that are written so.

    ``starts`` and ``ends`` say where words begin and end in it.
    """

    characters: str
    starts: frozenset[int]
    ends: frozenset[int]


@lru_cache(maxsize=8)
def _laid_out(words: tuple[str, ...]) -> Text:
    parts: list[str] = []
    starts, ends = set(), set()
    at = 0
    previous = ""
    for word in words:
        if previous and not _stands_alone(previous[0]) and not _stands_alone(word[0]):
            parts.append(" ")
            at += 1
        starts.add(at)
        at += len(word)
        ends.add(at)
        parts.append(word)
        previous = word
    return Text("".join(parts), frozenset(starts), frozenset(ends))


@dataclass(frozen=True)
class Heard:
    """How some words are found in a text.

    Attributes:
        exact: they are there, one after the other, as whole words.
        likeness: from 0 to 1; 1 exactly where ``exact``.
        stretch: the closest stretch of whole words, of several the one that ends first; empty where
            none comes close at all.
    """

    exact: bool
    likeness: float
    stretch: str


def find_words(asked: tuple[str, ...], said: tuple[str, ...]) -> Heard:
    """How the words ``asked`` are found among those that are ``said``.

    The likeness is 1 minus d / n: d the least number of characters to insert, leave out or replace
    that makes ``asked`` of a stretch of whole words of ``said``, n the characters of ``asked``; 0
    where that is below 0.

    >>> find_words(words_of("welcome to the show"), words_of("and welcome to the shelf"))
    Heard(exact=False, likeness=0.8421052631578947, stretch='welcome to the shelf')
    >>> find_words(words_of("the show"), words_of("Welcome to the show!")).exact
    True
    """
    wanted, text = _laid_out(asked), _laid_out(said)
    if _is_there(wanted.characters, text):
        return Heard(True, 1.0, wanted.characters)
    pattern = _codes(wanted.characters)
    codes = _codes(text.characters)
    least, end = len(pattern), None
    for at, distance in enumerate(_distances(pattern, codes, text.starts)):
        if at in text.ends and distance < least:
            least, end = distance, at
    if end is None:
        return Heard(False, 0.0, "")
    # The same from the end backwards, up to the first beginning of a word that costs as little.
    begin = 0
    back = codes[:end][::-1][: len(pattern) + least]
    for length, distance in enumerate(_distances(pattern[::-1], back, frozenset({0}))):
        if end - length in text.starts and distance == least:
            begin = end - length
            break
    return Heard(False, 1.0 - least / len(pattern), text.characters[begin:end])


def _is_there(wanted: str, text: Text) -> bool:
    at = text.characters.find(wanted)
    while at >= 0:
        if at in text.starts and at + len(wanted) in text.ends:
            return True
        at = text.characters.find(wanted, at + 1)
    return False


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _distances(
    pattern: NDArray[np.uint32], text: NDArray[np.uint32], starts: frozenset[int]
) -> list[int]:
    """For each end in ``text``, from 0 on, the edit distance of ``pattern`` to the closest stretch
    that begins at one of ``starts`` and ends there (Sellers 1980)."""
    steps = np.arange(len(pattern) + 1, dtype=np.int64)
    far = len(pattern) + len(text) + 1
    column = steps + (0 if 0 in starts else far)
    distances = [int(column[-1])]
    for at, code in enumerate(text, 1):
        new = np.empty_like(column)
        new[0] = 0 if at in starts else column[0] + 1
        np.minimum(column[1:] + 1, column[:-1] + (pattern != code), out=new[1:])
        # Leaving out characters of the pattern: each entry may come from any above it.
        column = np.minimum.accumulate(new - steps) + steps
        distances.append(int(column[-1]))
    return distances

"""Whether a judge said yes or no.

An answer counts where it begins with yes or no, set apart from what follows by punctuation or a
new line: ``"Yes."``, ``"**No** - a dog barks"``, ``"Answer: yes"``. ``"No one speaks"``,
``"Yes and no"`` and ``"I think so"`` are no answers. It also counts as a JSON object, fenced or
not, or a list with that one object, whose ``answer`` is ``"yes"``, ``"no"``, ``true`` or ``false``.

An answer whose own words take it back counts for nothing: ``"No, wait, yes"``, ``"Yes ... ANSWER:
NO"``, ``{"answer": "yes", "reason": "... so the answer is no"}``. Only what is certain is held
against it: a statement of the answer, or yes or no standing by itself. Whether the rest of the
reason fits is a question of meaning, which no rule decides.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

__all__ = ["parse_answer"]

_FENCE = re.compile(r"^```\w*\s*\n(.*?)\n?\s*```$", re.DOTALL)
_LABEL = re.compile(r"(?:(?:my|the|final|short)\s+)*answer(?:\s+is\b)?\W+")
# What sets a word apart is its end, or punctuation that joins it to no other: a hyphen or a slash
# does, and a question mark takes the word back.
_FIRST = re.compile(r"(yes|no)(?=\s*(?:$|[\n.,;:!)\]}\"”*_`<>|(\[{—–。、])|['’](?!\w)|\s+-+\s)")
# "The answer is no longer clear" states nothing, "the answer is no because ..." does.
_STATED = re.compile(
    r"\b(?:answer|verdict|conclusion)\b\W*"
    r"(?:(?:is|was|be|should|must|would|will|has|to|therefore|thus|then|so|actually|clearly|still)"
    r"\b\W*)*(?P<negated>not\b\W*)?"
    r"(?P<word>yes\b(?!-\w)|no\b(?!-\w|\s+(?!(?:because|since|as|and|but|so|it|there)\b)\w))"
)
# Words that lead over from an answer to its opposite: "Yes. Actually no."
_TURN = re.compile(r"^(?:(?:actually|wait|sorry|well|oh|hmm|correction|rather|but|or)\s+)+")
_SEGMENT = re.compile(r"[.!?;:,\n—–。、|]+|\s-+\s")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»")
_OPPOSITE = {True: "no", False: "yes"}
_VERDICTS = ("verdict", "result", "conclusion", "final_answer", "final answer")


def parse_answer(text: str) -> tuple[bool | None, str]:
    """Yes, no, or ``None`` with the reason why it is neither.

    >>> parse_answer("**Yes**, twice.")
    (True, '')
    >>> parse_answer("No, wait, yes.")
    (None, "the judge's answer takes itself back: 'No, wait, yes.'")
    """
    plain = text.strip()
    if not plain:
        return None, "the judge's answer is empty"
    if fenced := _FENCE.match(plain):
        plain = fenced[1].strip()
    if plain[:1] in ("{", "["):
        return _of_json(plain)
    said = _past_marks(unicodedata.normalize("NFKC", plain).casefold())
    if label := _LABEL.match(said):
        said = _past_marks(said[label.end() :])
    first = _FIRST.match(said)
    if first is None:
        return None, f"the judge's answer does not begin with yes or no: {_quote(text)}"
    answer = first[1] == "yes"
    if _takes_back(said[first.end() :], answer):
        return None, f"the judge's answer takes itself back: {_quote(text)}"
    return answer, ""


def _past_marks(text: str) -> str:
    at = 0
    while at < len(text) and unicodedata.category(text[at])[0] in "PSZC":
        at += 1
    return text[at:]


def _takes_back(reason: str, answer: bool) -> bool:
    """Whether this text, case folded, states the opposite of an answer."""
    for stated in _STATED.finditer(reason):
        says_yes = (stated["word"] == "yes") != (stated["negated"] is not None)
        if says_yes != answer:
            return True
    return any(
        _TURN.sub("", _word(part)) == _OPPOSITE[answer]
        for part in _SEGMENT.split(_QUOTED.sub(" ", reason))
    )


def _of_json(text: str) -> tuple[bool | None, str]:
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return None, f"the judge's answer is no JSON: {_quote(text)}"
    if text.startswith("["):
        if len(pairs) != 1:
            return None, f"the judge's answer is not one object: {_quote(text)}"
        pairs = pairs[0]
    if not _is_object(pairs):
        return None, f"the judge's answer is not one object: {_quote(text)}"
    answers = {_yes_or_no(value) for key, value in pairs if _key(key) == "answer"}
    answer = answers.pop() if len(answers) == 1 else None
    if answer is None:
        return None, f'the judge\'s answer has no "answer" of yes or no: {_quote(text)}'
    if any(_belies(key, value, answer) for key, value in pairs if _key(key) != "answer"):
        return None, f"the judge's answer takes itself back: {_quote(text)}"
    return answer, ""


def _is_object(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pair, tuple) for pair in value)


def _belies(key: str, value: Any, answer: bool) -> bool:
    """Whether another entry of the object states the opposite. A bare yes or no does so only where
    its key says that it is the verdict: it may answer something else."""
    said = _yes_or_no(value)
    if said is not None:
        return _key(key) in _VERDICTS and said is not answer
    return any(_takes_back(reason, answer) for reason in _texts(value))


def _key(key: str) -> str:
    return key.strip().casefold()


def _word(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip()


def _yes_or_no(value: Any) -> bool | None:
    if isinstance(value, str):
        value = _word(unicodedata.normalize("NFKC", value).casefold())
        return {"yes": True, "no": False, "true": True, "false": False}.get(value)
    return value if isinstance(value, bool) else None


def _texts(value: Any) -> Iterator[str]:
    """The texts of an entry; of an object inside it, whose answers may be to something else, none
    that is yes or no alone."""
    if isinstance(value, str):
        text = unicodedata.normalize("NFKC", value).casefold()
        if _yes_or_no(text) is None:
            yield text
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else f"{line[:77]}...")

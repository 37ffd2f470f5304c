"""Whether a judge's words are a yes, a no, or nothing that counts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.metrics.audio_content.answers import parse_answer

YES = [
    "yes",
    "Yes.",
    " YES!\n",
    "**Yes**",
    "**Yes**, twice",
    "**Yes** there is",
    "`yes`",
    "> yes",
    "- Yes",
    "✅ Yes",
    "“Yes”",
    "Yes: a bark",
    "Yes; a bark",
    "Yes - a bark",
    "Yes \u2014 a bark",
    "Yes\u2014a bark",
    "Yes (twice)",
    "Yes\nA dog barks.",
    "Yes\r\n\r\nA dog barks.",
    "Answer: yes",
    "**Answer:** Yes.",
    "Final answer: yes",
    "The answer is yes.",
    "ANSWER = YES",
    "<answer>yes</answer>",
    "Ｙｅｓ。",
    '{"answer": "yes"}',
    '{"Answer": "YES."}',
    '{"answer": true}',
    '{"reason": "a bark at 2 s", "answer": "yes"}',
    '```json\n{"answer": "yes"}\n```',
    "```\nyes\n```",
    '[{"n": 1, "answer": "yes"}]',
    # What is said in the sound, or of something else, takes nothing back.
    'Yes. The man says "no".',
    "Yes, the man says no.",
    "Yes. Actually, no doubt about it.",
    "Yes, but no music",
    "Yes. There is no music, but a dog barks.",
    "Yes. Answer: yes",
    "Yes. The answer is no longer in doubt",
    '{"answer": "yes", "music": "no"}',
    '{"answer": "yes", "verdict": "yes"}',
    '{"answer": "yes", "others": {"answer": "no"}}',
]

NO_ANSWER = [
    "",
    "  \n",
    "Nope",
    "Yeah",
    "yesterday",
    "I think so",
    "It says yes",
    "1. yes",
    "true",
    "Yes?",
    "No-one speaks",
    "No one speaks",
    "No doubt there is",
    "Yes and no",
    "yes or no",
    "yes/no",
    "yes there is a bark",
    '"answer": maybe',
    '{"answer": "maybe"}',
    '{"answer": null}',
    '{"answer": 1}',
    '{"answer": {"yes": true}}',
    '{"verdict": "yes"}',
    '{"answer": "yes"',
    "{}",
    "[]",
    "[1]",
    "[yes]",
    '["yes"]',
    '[{"answer": "yes"}, {"answer": "yes"}]',
    "[" * 100_000,
]

TAKEN_BACK = [
    "Yes. Actually no.",
    "Yes, but no",
    "No. Oh wait, actually yes.",
    "No, wait, yes",
    "No ... yes.",
    "Yes\n\nNo",
    "Yes, no, maybe",
    "Yes|No",
    "No, there is a bark, so the answer is yes.",
    "No. A dog barks at 2 s. The correct answer is therefore yes",
    "Yes ... ANSWER: NO",
    "Yes, at first. **Final answer:** **No**",
    "Yes. The answer is no because nothing is heard",
    "Yes. The answer is not yes.",
    "No. My verdict: yes",
    "Yes <answer>no</answer>",
    "The answer is yes. No, the answer is no.",
    '{"answer": "yes", "answer": "no"}',
    '{"answer": "yes", "verdict": "no"}',
    '{"answer": "no", "result": true}',
    '{"answer": "yes", "reason": "nothing is heard, so the answer is no"}',
    '{"answer": "no", "steps": [{"thought": "a bark. The answer is yes."}]}',
    '```json\n{"answer": "no", "reason": "Answer: yes"}\n```',
]


def opposite(text):
    swapped = {"yes": "no", "Yes": "No", "YES": "NO", "Ｙｅｓ": "Ｎｏ", "true": "false"}
    swapped |= {other: word for word, other in swapped.items()}
    return re.sub("|".join(swapped), lambda found: swapped[found[0]], text)


@pytest.mark.parametrize("text", YES[: YES.index('Yes. The man says "no".')])
def test_yes_and_no_set_apart_are_answers(text):
    assert parse_answer(text) == (True, "")
    assert parse_answer(opposite(text)) == (False, "")


@pytest.mark.parametrize("text", YES[YES.index('Yes. The man says "no".') :])
def test_a_reason_that_states_no_other_answer_is_left_alone(text):
    assert parse_answer(text) == (True, "")


@pytest.mark.parametrize("text", NO_ANSWER, ids=lambda text: text[:30])
def test_anything_else_is_no_answer(text):
    answer, reason = parse_answer(text)
    assert answer is None
    assert reason.startswith("the judge's answer ")
    assert "takes itself back" not in reason
    assert "\n" not in reason
    assert len(reason) < 200


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_an_answer_that_states_its_opposite_is_none(text):
    answer, reason = parse_answer(text)
    assert answer is None
    assert "takes itself back" in reason or "has no" in reason


@given(st.text())
def test_whatever_a_judge_says_is_read(text):
    answer, reason = parse_answer(text)
    assert (answer is None) == bool(reason)


@given(st.sampled_from(["yes", "no"]), st.text())
def test_an_answer_begins_with_the_word_that_it_is_read_as(word, rest):
    answer, _ = parse_answer(f"{word}{rest}")
    assert answer in (None, word == "yes")

"""A sound against a checklist, heard by models that these tests make up."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest import media
from screentest.errors import InputError, MediaError
from screentest.metrics import registry
from screentest.metrics.audio_content import (
    AudioContentFacts,
    AudioJudge,
    Transcriber,
    measure_content,
)

RATE = 8000
SILENCE = np.zeros((RATE // 2, 2), np.float32)


def speech(name, text, **more):
    return {"id": name, "kind": "speech", "text": text, **more}


def event(name, question=None, **more):
    return {"id": name, "kind": "audio-event", "question": question or f"Is {name} heard?", **more}


def checklist(*items):
    return {"name": "scene", "items": list(items)}


class Typist:
    """Writes what it was told to, or raises it."""

    name = "typist"
    version = "3"

    def __init__(self, text):
        self.text = text
        self.calls = []

    def transcribe(self, samples, sample_rate_hz):
        self.calls.append((samples, sample_rate_hz))
        if isinstance(self.text, BaseException):
            raise self.text
        return self.text


class Oracle:
    """Answers by the first word of the question's third: "Is bark heard?" by ``bark=``."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []

    def ask(self, samples, sample_rate_hz, question):
        self.asked.append((samples, sample_rate_hz, question))
        answer = self.answers[question.split()[1]]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def measured(*items, source=SILENCE, **models):
    return measure_content(source, checklist(*items), sample_rate=RATE, **models)


def reasons(facts):
    return {row.axis: row.reason for row in facts.unmeasured}


def not_applying(facts):
    return {row.axis for row in facts.unmeasured if not row.applies}


# --- what a whole answer looks like


def test_words_and_events_that_are_there_are_shares_of_their_weight():
    facts = measured(
        speech("hello", "Good morning, everyone"),
        speech("bye", "See you", weight=3),
        event("bark", weight=2, group="dog"),
        event("siren"),
        transcriber=Typist("good morning everyone and see ya"),
        judge=Oracle(bark="Yes, twice.", siren="No."),
    )
    # Of weight 4, the 1 is said; "see ya" for "see you" costs two of seven characters.
    assert facts.audio_speech_exact == 1 / 4
    assert facts.audio_speech_fuzzy == pytest.approx((1 + 3 * 5 / 7) / 4, abs=1e-15)
    assert facts.audio_event_recall == pytest.approx(2 / 3, abs=1e-15)
    assert facts.unmeasured == ()
    assert facts.transcript == "good morning everyone and see ya"
    assert [(a.id, a.exact, a.heard, a.answer) for a in facts.answers] == [
        ("hello", True, None, "good morning everyone"),
        ("bye", False, None, "see ya"),
        ("bark", None, True, "Yes, twice."),
        ("siren", None, False, "No."),
    ]
    assert facts.answers[2].group == "dog"
    assert facts.answers[2].asked == "Is bark heard?"
    assert all(answer.reason is None for answer in facts.answers)
    assert facts.transcriber == "typist 3"
    assert facts.judge == "Oracle"
    assert facts.checklist == "scene"
    assert facts.sound.sample_rate_hz == RATE
    assert msgspec.json.decode(msgspec.json.encode(facts), type=AudioContentFacts) == facts


def test_every_metric_of_the_family_is_a_field_of_the_facts():
    names = {spec.name for spec in registry.by_family("audio_content")}
    assert names == {"audio_event_recall", "audio_speech_exact", "audio_speech_fuzzy"}
    assert names <= set(AudioContentFacts.__struct_fields__)
    assert all(registry.spec(name).status == "measured" for name in names)


def test_models_get_the_samples_of_every_channel_read_only_and_the_question_as_written():
    sound = np.linspace(-1, 1, 2 * RATE, dtype=np.float32).reshape(RATE, 2)
    typist, oracle = Typist(""), Oracle(bark="yes")
    measured(
        speech("a", "a"), speech("b", "b"), event("bark"),
        source=sound, transcriber=typist, judge=oracle,
    )  # fmt: skip
    ((heard, rate),) = typist.calls
    ((listened, same_rate, question),) = oracle.asked
    for samples in (heard, listened):
        np.testing.assert_array_equal(samples, sound)
        assert samples.dtype == np.float32
        assert not samples.flags.writeable
    assert (rate, same_rate, question) == (RATE, RATE, "Is bark heard?")
    assert isinstance(typist, Transcriber)
    assert isinstance(oracle, AudioJudge)


def test_an_opened_sound_is_read_and_left_open(studio):
    path = studio("tone.wav", "-f", "lavfi", "-i", "sine=d=0.5:r=16000")
    with media.read_audio(path) as sound:
        facts = measure_content(sound, checklist(event("bark")), judge=Oracle(bark="no"))
        assert sum(len(block) for block in sound.blocks()) == 8000
    assert facts.audio_event_recall == 0.0
    again = measure_content(path, checklist(event("bark")), judge=Oracle(bark="no"))
    assert again == facts


# --- what is not known


def test_an_empty_transcript_is_an_answer():
    facts = measured(speech("hello", "Hello"), transcriber=Typist(""))
    assert (facts.audio_speech_exact, facts.audio_speech_fuzzy) == (0.0, 0.0)
    assert facts.transcript == ""
    assert facts.answers[0].reason is None


def test_without_a_transcriber_or_judge_nothing_is_measured_and_all_is_named():
    facts = measured(speech("hello", "Hello"), event("bark"))
    assert reasons(facts) == {
        "audio_speech_exact": "no transcriber was given (transcriber=, --transcriber)",
        "audio_speech_fuzzy": "no transcriber was given (transcriber=, --transcriber)",
        "audio_event_recall": "no judge was given (audio_judge=)",
    }
    assert not_applying(facts) == set()
    assert facts.audio_event_recall is facts.audio_speech_exact is None
    assert facts.transcriber is facts.judge is facts.transcript is None
    assert [answer.exact for answer in facts.answers] == [None, None]


def test_what_a_checklist_does_not_ask_for_does_not_apply_and_costs_no_call():
    typist, oracle = Typist("x"), Oracle()
    only_events = measured(event("bark"), transcriber=typist, judge=Oracle(bark="yes"))
    only_speech = measured(speech("x", "x"), transcriber=Typist("x"), judge=oracle)
    assert not_applying(only_events) == {"audio_speech_exact", "audio_speech_fuzzy"}
    assert not_applying(only_speech) == {"audio_event_recall"}
    assert reasons(only_speech) == {"audio_event_recall": "the checklist has no events"}
    assert typist.calls == oracle.asked == []


def test_one_unanswered_event_leaves_the_recall_unmeasured_and_the_answers_known():
    facts = measured(
        event("bark"), event("siren"), event("rain"),
        judge=Oracle(bark="yes", siren="Hard to tell.", rain="No"),
    )  # fmt: skip
    assert facts.audio_event_recall is None
    assert reasons(facts)["audio_event_recall"] == (
        "1 of 3 events have no answer; of the first: the judge's answer does not begin with yes or "
        "no: 'Hard to tell.'"
    )
    assert [answer.heard for answer in facts.answers] == [True, None, False]
    assert facts.answers[1].answer == "Hard to tell."


def test_an_answer_that_takes_itself_back_counts_neither_way():
    facts = measured(event("bark"), judge=Oracle(bark="Yes. Nothing barks, so the answer is no."))
    assert facts.audio_event_recall is None
    assert "takes itself back" in reasons(facts)["audio_event_recall"]


def test_a_judge_that_fails_once_is_asked_the_rest():
    oracle = Oracle(bark=RuntimeError("rate\nlimit"), siren="yes")
    facts = measured(event("bark"), event("siren"), judge=oracle)
    assert len(oracle.asked) == 2
    assert facts.answers[0].reason == "the judge failed: RuntimeError: rate limit"
    assert facts.answers[0].answer is None
    assert facts.answers[1].heard is True
    assert facts.audio_event_recall is None


class Mute(Exception):
    def __str__(self):
        raise ValueError("cannot even say")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("CUDA out\nof  memory"), "RuntimeError: CUDA out of memory"),
        (KeyError(), "KeyError"),
        (Mute(), "Mute"),
        (ValueError("x" * 1000), f"ValueError: {'x' * 185}..."),
        (ValueError("\ud800"), "ValueError: \\ud800"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_what_a_transcriber_raises_is_the_reason(error, reason):
    facts = measured(speech("a", "a"), speech("b", "b"), transcriber=Typist(error))
    assert reasons(facts)["audio_speech_exact"] == f"the transcriber failed: {reason}"
    assert reasons(facts)["audio_speech_fuzzy"] == f"the transcriber failed: {reason}"
    assert facts.transcript is None
    assert [answer.likeness for answer in facts.answers] == [None, None]
    msgspec.json.encode(facts)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_who_interrupts_a_model_interrupts_the_measurement(stop):
    with pytest.raises(stop):
        measured(speech("a", "a"), transcriber=Typist(stop()))
    with pytest.raises(stop):
        measured(event("bark"), judge=Oracle(bark=stop()))


@pytest.mark.parametrize("returned", [None, 1, b"yes", ["yes"], True])
def test_what_is_no_text_is_no_answer(returned):
    facts = measured(
        speech("a", "a"), event("bark"), transcriber=Typist(returned), judge=Oracle(bark=returned)
    )
    kind = type(returned).__name__
    for name, who in [("audio_speech_exact", "transcriber"), ("audio_event_recall", "judge")]:
        assert reasons(facts)[name] == f"the {who} returned a {kind}, where a str was expected"


def test_a_coroutine_is_no_answer_and_is_not_left_waiting(recwarn):
    class Later:
        async def ask(self, *_heard):
            return "yes"

    facts = measured(event("bark"), judge=Later())
    assert "returned a coroutine" in reasons(facts)["audio_event_recall"]
    assert not recwarn.list


def test_halves_of_surrogate_pairs_in_what_models_say_can_be_written():
    class Odd(Typist):
        name = "odd\ud800"

    facts = measured(speech("a", "a"), transcriber=Odd("a \udfff"))
    assert facts.transcript == "a \\udfff"
    msgspec.json.encode(facts)


def test_a_model_without_a_usable_name_is_called_by_its_type():
    class Nameless(Typist):
        name = 7

        @property
        def version(self):
            raise RuntimeError

    assert measured(speech("a", "a"), transcriber=Nameless("a")).transcriber == "Nameless"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_sound_that_is_not_finite_is_given_to_no_model(bad):
    spoiled = SILENCE.copy()
    spoiled[5, 1] = bad
    typist, oracle = Typist("a"), Oracle(bark="yes")
    facts = measured(
        speech("a", "a"), event("bark"), source=spoiled, transcriber=typist, judge=oracle
    )
    assert set(reasons(facts).values()) == {"1 of its samples are NaN or infinite"}
    assert typist.calls == oracle.asked == []


# --- refused


@pytest.mark.parametrize("argument", ["transcriber", "judge"])
def test_a_model_without_the_method_is_refused_before_anything_is_read(argument):
    with pytest.raises(InputError, match=f"{argument}=int: it has no method") as caught:
        measured(speech("a", "a"), source="/no/such/file", **{argument: 3})
    assert caught.value.code == "bad_instrument"


def test_a_bad_checklist_is_refused_before_anything_is_read():
    with pytest.raises(InputError, match="no items"):
        measure_content("/no/such/file", {"name": "a", "items": []})


def test_a_file_without_sound_is_no_answer_to_any_question(studio):
    with pytest.raises(MediaError) as caught:
        measure_content(studio.a_mp4(), checklist(event("bark")), judge=Oracle(bark="no"))
    assert caught.value.code == "no_audio_stream"


# --- properties


@given(
    st.lists(
        st.tuples(
            st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False),
            st.sampled_from(["yes", "no"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_recall_is_a_share_whatever_the_weights(rows):
    items = [event(f"e{k}", weight=weight) for k, (weight, _) in enumerate(rows)]
    answers = {f"e{k}": said for k, (_, said) in enumerate(rows)}
    recall = measured(*items, judge=Oracle(**answers)).audio_event_recall
    assert 0.0 <= recall <= 1.0
    heaviest = max(weight for weight, _ in rows)
    exact = math.fsum(w / heaviest for w, said in rows if said == "yes")
    assert recall == pytest.approx(exact / math.fsum(w / heaviest for w, _ in rows))
    if len(set(answers.values())) == 1:
        assert recall == (1.0 if "yes" in answers.values() else 0.0)

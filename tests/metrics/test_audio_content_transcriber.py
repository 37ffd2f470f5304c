"""The transcriber that the extra brings, on speech that ffmpeg synthesises."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from screentest import media
from screentest.errors import InputError, MissingBackendError
from screentest.metrics.audio_content import (
    TRANSCRIBERS,
    Transcriber,
    measure_content,
    transcriber_named,
)

SAID = (
    "the quick brown fox jumps over the lazy dog",
    "please open the door and come inside",
    "one two three four five",
    "the train leaves at seven in the morning",
    "i would like a cup of coffee",
    "turn left at the next corner",
)
VOICES = ("slt", "rms", "awb")
RATE = 16_000


def test_an_unknown_name_is_refused_with_those_that_are_known():
    for name in ("whisper", "", None):
        with pytest.raises(InputError, match="expected pocketsphinx") as caught:
            transcriber_named(name)
        assert caught.value.code == "unknown_transcriber"
    with pytest.raises(InputError, match="did you mean 'pocketsphinx'"):
        transcriber_named("pocketsfinx")


@pytest.mark.parametrize("name", TRANSCRIBERS)
def test_without_its_extra_the_message_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pocketsphinx", None)
    with pytest.raises(MissingBackendError, match=r"pip install 'screentest\[speech\]'"):
        transcriber_named(name)


@pytest.fixture(scope="module")
def pocketsphinx():
    pytest.importorskip("pocketsphinx", reason="pip install 'screentest[speech]'")
    return transcriber_named("pocketsphinx")


@pytest.fixture(scope="module")
def speak(ffmpeg, studio):
    """``speak(text, voice)``: the path of a wave file in which a voice of flite says it."""
    listed = subprocess.run([ffmpeg, "-hide_banner", "-filters"], capture_output=True, text=True)
    if " flite " not in listed.stdout:
        pytest.skip("this ffmpeg has no flite to speak with: apt-get install ffmpeg")

    def said(text, voice="slt", *more):
        spoken = ("-f", "lavfi", "-i", f"flite=text='{text}':voice={voice}")
        return studio("speech.wav", *spoken, "-af", "apad=pad_dur=0.5", *more)

    return said


@pytest.fixture(scope="module")
def heard(pocketsphinx, speak):
    """{(voice, text): transcript} of every sentence in every voice."""
    transcripts = {}
    for voice in VOICES:
        for text in SAID:
            with media.read_audio(speak(text, voice)) as sound:
                rate = sound.info.sample_rate_hz
                transcripts[voice, text] = pocketsphinx.transcribe(sound.samples, rate)
    return transcripts


def word_errors(said, heard):
    """Words left out, put in or replaced: the numerator of the word error rate."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        above, row = row, [i]
        for j, other in enumerate(heard, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (word != other)))
    return row[-1]


def test_clear_voices_are_heard_with_less_than_one_word_in_ten_wrong(heard):
    wrong = sum(word_errors(text.split(), got.split()) for (_, text), got in heard.items())
    words = sum(len(text.split()) for _, text in heard)
    assert wrong / words < 0.1, heard


@pytest.mark.parametrize("voice", VOICES)
def test_most_sentences_of_a_clear_voice_are_heard_to_the_letter(heard, voice):
    assert sum(heard[voice, text] == text for text in SAID) >= 4, heard


def test_what_is_said_is_exact_and_what_is_not_said_is_not(pocketsphinx, speak):
    path = speak("Please open the door, and come inside.", "rms")
    asked = {
        "name": "visit",
        "items": [
            {"id": "door", "kind": "speech", "text": "Open the door!"},
            {"id": "whole", "kind": "speech", "text": "Please open the door and come inside"},
            {"id": "window", "kind": "speech", "text": "Close the window"},
        ],
    }
    facts = measure_content(path, asked, transcriber=pocketsphinx)
    assert [answer.exact for answer in facts.answers] == [True, True, False], facts.transcript
    assert facts.answers[2].likeness < 0.6
    assert facts.audio_speech_exact == pytest.approx(2 / 3)
    assert 2 / 3 < facts.audio_speech_fuzzy < 1
    assert facts.transcriber.startswith("pocketsphinx en-us ")


def test_rate_and_channels_do_not_change_what_is_heard(pocketsphinx, speak):
    text = "please open the door and come inside"
    for more in [("-ar", 48000, "-ac", 2), ("-ar", 44100), ("-ar", 96000), ("-ar", 22050)]:
        with media.read_audio(speak(text, "rms", *more)) as sound:
            rate = sound.info.sample_rate_hz
            assert pocketsphinx.transcribe(sound.samples, rate) == text, more


def test_what_was_heard_before_changes_nothing(pocketsphinx, speak):
    with media.read_audio(speak(SAID[1], "slt")) as sound:
        rate, samples = sound.info.sample_rate_hz, sound.samples
    first = pocketsphinx.transcribe(samples, rate)
    pocketsphinx.transcribe(samples[::-1].copy(), rate)
    assert pocketsphinx.transcribe(samples, rate) == first != ""
    assert pocketsphinx.transcribe(samples[:, 0], rate) == first


@pytest.mark.parametrize(
    "sound",
    [
        np.zeros((0, 1), np.float32),
        np.zeros((1, 2), np.float32),
        np.zeros((5 * RATE, 1), np.float32),
        np.full((2 * RATE, 1), 0.5, np.float32),
        (0.3 * np.sin(np.arange(5 * RATE) * 2 * np.pi * 440 / RATE)[:, None]).astype(np.float32),
        np.random.default_rng(1).normal(0, 0.1, (5 * RATE, 1)).astype(np.float32),
    ],
    ids=["empty", "one sample", "silence", "constant", "tone", "noise"],
)
def test_where_nobody_speaks_nothing_is_heard(pocketsphinx, sound):
    assert pocketsphinx.transcribe(sound, RATE) == ""


def test_speech_without_a_pause_is_cut_where_it_is_quietest(pocketsphinx, speak, monkeypatch):
    module = sys.modules[type(pocketsphinx).__module__]
    text = " ".join(SAID[1:])
    with media.read_audio(speak(text, "rms")) as sound:
        rate, samples = sound.info.sample_rate_hz, sound.samples
    whole = pocketsphinx.transcribe(samples, rate)
    monkeypatch.setattr(module, "_LONGEST_S", 4)
    monkeypatch.setattr(module, "_SEARCHED_S", 2)
    spans = list(pocketsphinx._stretches(module._resampled(samples, rate)))
    assert len(spans) > 2
    assert all(0 < last - first <= 4 * RATE for first, last in spans)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    parts = pocketsphinx.transcribe(samples, rate)
    words = text.split()
    assert word_errors(words, parts.split()) <= word_errors(words, whole.split()) + len(spans)


def test_samples_that_are_not_finite_or_of_another_shape_are_refused(pocketsphinx):
    with pytest.raises(InputError, match="NaN"):
        pocketsphinx.transcribe(np.full((100, 1), np.nan, np.float32), RATE)
    with pytest.raises(InputError, match="shape"):
        pocketsphinx.transcribe(np.zeros((2, 2, 2), np.float32), RATE)
    assert isinstance(pocketsphinx, Transcriber)
